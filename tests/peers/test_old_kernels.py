"""What the `linux-3.2` stack has of ns-2's agents, beside them: forward acknowledgement, and growth by acknowledgements."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/ns2"))

import old_kernels

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed (Debian package ns2); see `sawtooth doctor`")


@pytest.mark.parametrize("losses", old_kernels.LOSSES)
def test_fack_reduces_its_window_with_the_same_acknowledgement_as_ns2s(losses: str) -> None:
    theirs, ours = old_kernels.recovery("fack", old_kernels.LOSSES[losses])
    # Acknowledgements of segments that were sent one after the other come 0.8 ms apart.
    assert abs(ours.reduced_s - theirs.reduced_s) < 0.0001
    assert abs(ours.packets / theirs.packets - 1) < 0.02


def test_fack_reduces_its_window_before_sack_where_several_are_lost() -> None:
    (_, sack), (_, fack) = (old_kernels.recovery(name, old_kernels.LOSSES["three in a row"]) for name in ("sack", "fack"))
    assert sack.reduced_s - fack.reduced_s == pytest.approx(2 * 1040 * 8 / 10e6, abs=1e-6)


@pytest.mark.parametrize("sink", old_kernels.SINKS)
def test_counting_acknowledgements_ns2s_own_agent_delivers_the_same_packets(sink: str) -> None:
    theirs, ours = old_kernels.agent(sink)
    assert ours.packets == theirs.packets


def test_counting_acknowledgements_a_module_of_linux_is_as_slow_as_in_ns2() -> None:
    theirs, ours, segments = old_kernels.module("scalable", "every second")
    assert abs(ours.packets / theirs.packets - 1) < 0.03
    assert segments.packets > 2 * theirs.packets
