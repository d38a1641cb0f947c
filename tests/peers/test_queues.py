"""CoDel and DualPI2, which leave nothing to chance, beside the RFCs' pseudo-code on the same packets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/queues"))

import ours
import pseudocode
import traffic
from pseudocode import Codel, Discipline, DualPi2
from traffic import Traffic

CODEL: dict[str, Any] = {"name": "codel", "limit": "501 packets"}
DUALPI2: dict[str, Any] = {"name": "dualpi2", "limit": "313500 B", "classic_share": 0.0625}


@pytest.mark.parametrize(
    ("queue", "rfc", "load"),
    [
        (CODEL, lambda: Codel(500), traffic.POISSON),
        (CODEL, lambda: Codel(500), traffic.HALF),
        (CODEL, lambda: Codel(500), traffic.STEPS),
        (DUALPI2, lambda: DualPi2(312_500), traffic.L4S),
        (DUALPI2, lambda: DualPi2(312_500), traffic.L4S_OVERLOAD),
    ],
)
def test_every_packet_fares_as_in_the_pseudo_code(queue: dict[str, Any], rfc: Callable[[], Discipline], load: Traffic) -> None:
    found, expected = ours.fed(queue, load, 1), pseudocode.fed(rfc(), load)
    for one, other in zip(found.flows, expected.flows, strict=True):
        assert (one.arrived, one.dropped, one.marked) == (other.arrived, other.dropped, other.marked)
        # Sums of as many waits in another order.
        assert one.waited_s == pytest.approx(other.waited_s, rel=1e-9)
