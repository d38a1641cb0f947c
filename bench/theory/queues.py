"""Queues fed with Poisson packets of UDP, and a link shared by connections that come and go: what queueing theory has formulas for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import formulas

from sawtooth.backends import sim

RATE_BPS = 100e6
LONG_S = 100.0
# The last second has no arrivals, so that nothing is under way at the end.
QUIET_S = 1.0
UNBOUNDED = 1_000_000


@dataclass(frozen=True)
class Kind:
    """Some of the packets: how many of all, their mean size, and whether sizes are exponentially distributed or constant."""

    share: float
    mean_bytes: int
    exponential: bool

    def moments(self) -> tuple[float, float]:
        """Of the service time, seconds and seconds squared."""
        mean = self.mean_bytes * 8 / RATE_BPS
        return mean, mean * mean * (2 if self.exponential else 1)


@dataclass(frozen=True)
class System:
    name: str
    kinds: tuple[Kind, ...]

    def moments(self) -> tuple[float, float]:
        both = [(kind.share, *kind.moments()) for kind in self.kinds]
        return sum(share * first for share, first, _ in both), sum(share * second for share, _, second in both)

    def rate(self, load: float) -> float:
        """Packets per second."""
        return load / self.moments()[0]


MM1 = System("M/M/1", (Kind(1, 5000, True),))
SYSTEMS = (
    MM1,
    System("M/D/1", (Kind(1, 1250, False),)),
    System("M/G/1, four of five packets 500 B and one 8000 B", (Kind(0.8, 500, False), Kind(0.2, 8000, False))),
    System("M/G/1, four of five exponential about 2000 B and one about 6000 B", (Kind(0.8, 2000, True), Kind(0.2, 6000, True))),
)


@dataclass(frozen=True)
class Check:
    """A quantity in replicates, and what a formula says of it."""

    system: str
    load: float
    quantity: str
    formula: float
    values: Sequence[float]


def checks(replicates: int) -> list[Check]:
    found: list[Check] = []
    for system in SYSTEMS:
        for load in (0.3, 0.6, 0.8, 0.9):
            runs = [run(system, load, UNBOUNDED, seed) for seed in range(1, replicates + 1)]
            wait = formulas.pollaczek_khinchine(system.rate(load), *system.moments())
            found.append(Check(system.name, load, "mean wait, us", 1e6 * wait, [run["wait_mean_ns"] / 1e3 for run in runs]))
            if system is MM1:
                quantile = formulas.exponential_wait_quantile(0.99, load, system.moments()[0])
                found.append(
                    Check("M/M/1", load, "99th percentile of the wait, us", 1e6 * quantile, [run["wait_p99_ns"] / 1e3 for run in runs])
                )
                others = load / (1 - load)
                found.append(
                    Check("M/M/1", load, "packets that an arriving one finds", others, [run["found_mean_packets"] for run in runs])
                )
            if len(system.kinds) > 1 and load == 0.8:
                for kind in range(len(system.kinds)):
                    values = [run[f"wait_of_{kind}_ns"] / 1e3 for run in runs]
                    found.append(Check(system.name, load, f"mean wait of the {('small', 'large')[kind]} alone, us", 1e6 * wait, values))
            found.append(Check(system.name, load, "Little: backlog / (rate x wait)", 1.0, [run["little"] for run in runs]))
    for places in (5, 10):
        for load in (0.8, 1.2):
            runs = [run(MM1, load, places, seed) for seed in range(1, replicates + 1)]
            expected = formulas.blocked(load, places)
            found.append(Check(f"M/M/1/{places}", load, "dropped, %", 100 * expected, [100 * run["dropped"] for run in runs]))
            found.append(
                Check(f"M/M/1/{places}", load, "packets sent less those delivered and dropped", 0.0, [run["missing"] for run in runs])
            )
    return found


def run(system: System, load: float, places: int, seed: int) -> dict[str, float]:
    flows: list[dict[str, Any]] = [
        {
            "name": f"kind{number}",
            "path": ["l"],
            "transport": "udp",
            "stop": f"{LONG_S} s",
            "source": {
                "name": "poisson",
                "rate": f"{system.rate(load) * kind.share * kind.mean_bytes * 8} bit/s",
                "size": f"{kind.mean_bytes} B",
                "sizes": "exponential" if kind.exponential else "constant",
            },
        }
        for number, kind in enumerate(system.kinds)
    ]
    queue = {"name": "drop_tail", "limit": f"{places} packets"}
    link = {"rate": f"{RATE_BPS} bit/s", "queue": queue}
    tree = {"duration": f"{LONG_S + QUIET_S} s", "record": ["waits", "link_flows"], "links": {"l": link}, "flows": flows}
    batch = sim.run_batch([json.dumps(tree)], [seed])
    assert not batch.errors, batch.errors
    links, waits, by_flow, sent = (
        batch.tables[name].filter(batch.tables[name]["direction"] == "forward") if name != "datagrams" else batch.tables[name]
        for name in ("links", "waits", "link_flows", "datagrams")
    )
    row, wait = links.row(0, named=True), waits.row(0, named=True)
    through = (row["arrived_packets"] - row["dropped_packets"]) / (LONG_S + QUIET_S)
    return {
        "wait_mean_ns": wait["wait_mean_ns"],
        "wait_p99_ns": wait["wait_p99_ns"],
        "found_mean_packets": wait["found_mean_packets"],
        "dropped": row["dropped_packets"] / row["arrived_packets"],
        "little": row["backlog_mean_packets"] / (through * row["wait_mean_ns"] / 1e9),
        "missing": float(sent["sent_packets"].sum() - sent["delivered_packets"].sum() - row["dropped_packets"]),
        **{f"wait_of_{flow['flow'][-1]}_ns": flow["wait_mean_ns"] for flow in by_flow.iter_rows(named=True)},
    }


def shared(replicates: int) -> list[Check]:
    """Transfers over a link that TCP shares; windows fill the path and little more, so that a flow's share is its window's."""
    found: list[Check] = []
    sizes: dict[str, Any] = {"constant": "500 kB", "exponential": {"name": "exponential", "mean": "500 kB"}}
    for name, size in sizes.items():
        for load in (0.3, 0.5, 0.7):
            link = {"rate": "10 Mbit/s", "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "100000 packets"}}
            tree = {
                "duration": "3000 s",
                "stack": "linux",
                "tcp": {"window_limit": "20 packets"},
                "links": {"l": link},
                "flows": [{"name": "web", "path": ["l"], "arrivals": {"load": load, "size": size}}],
            }
            batch = sim.run_batch([json.dumps(tree)] * replicates, list(range(1, replicates + 1)))
            assert not batch.errors, batch.errors
            times = [value / 1e6 for value in batch.tables["arrivals"]["completion_mean_ns"]]
            whole = 500_000 * 8 * 1500 / 1448 / 10e6
            found.append(Check(f"M/G/1, shared, {name} sizes", load, "mean time, ms", 1e3 * formulas.processor_sharing(load, whole), times))
    return found


def far(check: Check, spread: Callable[[Sequence[float]], float]) -> float:
    """Standard errors between mean and formula; 0 where both are the same."""
    mean = math.fsum(check.values) / len(check.values)
    error = spread(check.values) / math.sqrt(len(check.values))
    return 0.0 if mean == check.formula else abs(mean - check.formula) / error if error > 0 else math.inf
