"""The scenarios that every peer runs, and the simulator's form of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Flow:
    """One bulk transfer; its sender may stand behind a link of its own, which never queues."""

    name: str = "flow"
    start_s: float = 0.0
    access_delay_s: float = 0.0


@dataclass(frozen=True)
class Case:
    """One bottleneck and the flows across it."""

    name: str
    rate_bps: float
    delay_s: float
    queue: int
    """Packets, without the one in transmission."""
    duration_s: float
    flows: tuple[Flow, ...] = (Flow(),)
    every_lost: int = 0
    """Every so many packets one is lost."""
    only_lost: tuple[int, ...] = ()
    """These packets are lost, counted from 1."""

    @property
    def drop(self) -> list[int]:
        """All packets that are lost, counted from 1 as they arrive at the bottleneck."""
        most = int(self.rate_bps * self.duration_s / 8 / 1000)
        return [*self.only_lost, *(range(self.every_lost, most, self.every_lost) if self.every_lost else ())]

    @property
    def has_access_links(self) -> bool:
        return any(flow.access_delay_s for flow in self.flows)


ACCESS_BPS = 1e9
ACCESS_PACKETS = 100_000


def unequal(start_s: float) -> Case:
    """Two flows, one from 30 ms further away."""
    flows = (Flow("near", 0.0, 0.001), Flow("far", start_s, 0.031))
    return Case("two round-trip times", 10e6, 0.01, 50, 20.0, flows=flows)


# A product of rate and round-trip time is counted in packets of 1500 bytes.
CASES: tuple[tuple[Case, ...], ...] = (
    (Case("10 Mbit/s 20 ms, 0.2 BDP", 10e6, 0.01, 4, 20.0),),
    (Case("10 Mbit/s 20 ms, 1 BDP", 10e6, 0.01, 17, 20.0),),
    (Case("10 Mbit/s 20 ms, 5 BDP", 10e6, 0.01, 83, 20.0),),
    (Case("50 Mbit/s 80 ms, 1 BDP", 50e6, 0.04, 333, 15.0),),
    (Case("100 Mbit/s 10 ms, 1 BDP", 100e6, 0.005, 83, 8.0),),
    (Case("100 Mbit/s 100 ms, 1 BDP", 100e6, 0.05, 833, 10.0),),
    (Case("every 100th lost", 10e6, 0.02, 1000, 20.0, every_lost=100),),
    # At a full queue the phases of the flows decide whose packet is lost: the mean of three starts.
    tuple(unequal(start_s) for start_s in (1.0, 1.137, 1.274)),
)
"""Each is run as often as it has cases, and what a flow delivers is their mean."""


def scenario(case: Case, cc: Any, stack: str, tcp: Mapping[str, Any], *, receiver_links: bool = False) -> dict[str, Any]:
    """The simulator's tree; `receiver_links` puts receivers behind links of their own, too, where senders are."""
    links: dict[str, Any] = {"bottleneck": link(case.rate_bps, case.delay_s, case.queue)}
    if case.drop:
        links["bottleneck"]["drop"] = case.drop
    flows: list[dict[str, Any]] = []
    for i, flow in enumerate(case.flows):
        path = ["bottleneck"]
        if case.has_access_links:
            links[f"sender{i}"] = link(ACCESS_BPS, flow.access_delay_s, ACCESS_PACKETS)
            path = [f"sender{i}", *path]
            if receiver_links:
                links[f"receiver{i}"] = link(ACCESS_BPS, 0.0, ACCESS_PACKETS)
                path.append(f"receiver{i}")
        flows.append({"name": flow.name, "path": path, "start": f"{flow.start_s!r} s"})
    return {"duration": f"{case.duration_s!r} s", "stack": stack, "cc": cc, "tcp": dict(tcp), "links": links, "flows": flows}


def link(rate_bps: float, delay_s: float, packets: int) -> dict[str, Any]:
    """One link of the tree, alike in both directions."""
    return {"rate": f"{rate_bps!r} bit/s", "delay": f"{delay_s!r} s", "queue": {"name": "drop_tail", "limit": f"{packets} packets"}}
