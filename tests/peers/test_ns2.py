"""The simulator against the Debian package of ns-2, side by side in one run."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import sawtooth
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/ns2"))

import cases as series
from peer import run_case

COUNT = 40
SEED = 11
"""Another series than that of docs/validation/ns2.md."""


@pytest.mark.parametrize("part", [slice(0, 12), pytest.param(slice(12, COUNT), marks=pytest.mark.long)])
@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed (Debian package ns2); see `sawtooth doctor`")
def test_every_flow_has_as_many_packets_acknowledged_as_in_ns2(part: slice) -> None:
    chosen = series.cases(COUNT, SEED)[part]
    with ThreadPoolExecutor() as pool:
        references = list(pool.map(run_case, chosen))
    for case, reference in zip(chosen, references, strict=True):
        ours = sawtooth.simulate(series.scenario(case)).flows["acked_packets"].to_list()
        # ns-2 counts from -1: nothing acknowledged, not even the SYN.
        assert ours == [max(acked, 0) for acked in reference.acked], case
