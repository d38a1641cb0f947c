"""What the simulator's `linux` stack once did otherwise than Linux 6.1, packet by packet: scenarios of `bench/linux/fuzz.py` (`--keep`) with the kernel's packets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/linux"))

import fuzz

CASES = sorted(fuzz.CORPUS.glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_each_packet_leaves_as_the_kernels_did(path: Path) -> None:
    assert fuzz.differences(json.loads(path.read_text())) == []


def test_a_packet_that_leaves_later_is_told() -> None:
    case = json.loads(CASES[0].read_text())
    flow = next(iter(case["packets"]))
    case["packets"][flow][3][0] += 2 * fuzz.MICROSECOND_NS
    assert any("not 1448 B" in said for said in fuzz.differences(case))
