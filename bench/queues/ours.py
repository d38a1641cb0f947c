"""The simulator's disciplines, fed with lists of packets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traffic import DURATION_S, RATE_BPS, Traffic

from sawtooth import _core


@dataclass(frozen=True)
class Flow:
    """What became of a flow's packets; the waits are summed over those that left, seconds, without their transmission."""

    arrived: int
    dropped: int
    marked: int
    waited_s: float


@dataclass(frozen=True)
class Fed:
    """What a discipline has done; the mean is over time, of packets that wait, if it could be seen."""

    flows: Sequence[Flow]
    mean_packets: float | None


def fed(queue: Mapping[str, Any], traffic: Traffic, seed: int) -> Fed:
    """What the simulator's discipline does, described as in a study file."""
    link = {"rate": f"{RATE_BPS} bit/s", "delay": "1 ms", "queue": dict(queue)}
    scenario = {"duration": f"{DURATION_S} s", "links": {"l": link}, "flows": [{"path": ["l"]}]}
    arrivals = [(packet.ns / 1e9, packet.flow, packet.size, packet.ecn) for packet in traffic.packets]
    flows, packets, _ = _core.feed_queue(json.dumps(scenario), seed, arrivals, DURATION_S)
    return Fed([Flow(*flow) for flow in flows], packets)
