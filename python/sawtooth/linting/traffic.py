"""Rules about traffic: how much of it there is in a run, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sawtooth.linting.each import of_flows, of_setups, rate, size, time
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Flow, Link, Setup, Subject

FEW_TRIPS, FEW_PACKETS = 20, 100
"""A flow that has less of them in a run is hardly in its steady state: slow start alone takes some ten round trips."""
_LONGER, _LONGER_S = 50, 5.0


def _trips(flow: Flow) -> Hit | None:
    if not flow.endless or flow.life_s is None or flow.life_s <= 0 or flow.rtt_s <= 0:
        return None
    trips = flow.life_s / flow.rtt_s
    if trips >= FEW_TRIPS:
        return None
    number = f"{trips:.1f}" if trips >= 0.1 else f"{trips:.1g}"
    return Hit(f"a run has {number} round trips of {time(flow.rtt_s)}, without any queue", "duration", flow.setup)


def _packets(flow: Flow) -> Hit | None:
    if not flow.endless or flow.life_s is None or flow.life_s <= 0 or flow.share_bps is None:
        return None
    packets = flow.share_bps * flow.life_s / 8 / flow.smss
    if packets >= FEW_PACKETS:
        return None
    return Hit(f"a flow's share of a run is {packets:.0f} packets", "duration", flow.setup)


def _outlasts(setup: Setup) -> Iterator[Hit]:
    """A run whose transfers could all be over in a fiftieth of it."""
    if not setup.flows or any(not flow.finite or flow.rate_bps is None or flow.start_s is None for flow in setup.flows):
        return
    total = sum((flow.size_bytes or 0.0) * flow.number for flow in setup.flows)
    slowest = min(flow.rate_bps or 0.0 for flow in setup.flows)
    last = max(flow.start_s or 0.0 for flow in setup.flows)
    trips = max(flow.rtt_s * (2 + math.log2(1 + (flow.size_bytes or 0.0) / flow.smss)) for flow in setup.flows)
    least = last + total * 8 / slowest + trips
    if setup.duration_s > _LONGER * least and setup.duration_s > least + _LONGER_S:
        yield Hit(
            f"transfers of {size(total)} can be over after {time(least)}, and the run goes on until {time(setup.duration_s)}",
            "duration",
            setup,
        )


def _slow_start(subject: Subject) -> Iterator[Hit]:
    """Algorithms are compared by transfers that fit into the path and its queue: nothing makes them leave slow start."""
    if not subject.varied("cc") or subject.study.on_kernels:
        return
    for setup in subject.setups:
        flows = setup.flows
        if (
            not flows
            or any(not flow.finite or _lossy(link) for flow in flows for link in flow.links)
            or any(not flow.finite for flow in flows)
        ):
            continue
        for link in {id(flow.bottleneck): flow.bottleneck for flow in flows if flow.bottleneck}.values():
            across = [flow for flow in flows if link in flow.links]
            total = sum((flow.size_bytes or 0.0) * flow.number for flow in across)
            room = setup.queue_bytes(link, across[0].smss + across[0].header) if link.queue["name"] == "drop_tail" else None
            if room is not None and all(_first_queue(flow, link) for flow in across) and total < room:
                yield Hit(
                    f"transfers of {size(total)} fit into the queue of `{link.name}` ({size(room)}): without a loss no algorithm leaves slow start for it",
                    across[0].at,
                    setup,
                )


def _first_queue(flow: Flow, link: Link) -> bool:
    return flow.links[0] is link or flow.bottleneck is link


def _lossy(link: Link) -> bool:
    return any(key in link.tree for key in ("loss", "drop", "outages", "changes", "walk", "trace", "jitter", "reorder", "corrupt"))


def _in_step(setup: Setup) -> Iterator[Hit]:
    """Flows that are alike in all begin at the same instant."""
    if setup.study.draws or setup.study.on_kernels:
        return
    seen: dict[tuple[float, float, int, str], Flow] = {}
    for flow in setup.flows:
        link = flow.bottleneck
        if not flow.endless or link is None or flow.start_s is None or link.queue["name"] != "drop_tail" or _lossy(link):
            continue
        key = (flow.start_s, round(flow.rtt_s, 9), id(link), str(flow.cc))
        if key in seen:
            yield Hit(
                f"flows with the same round trip start at the same instant ({time(flow.start_s) if flow.start_s else '0 s'}) at `{link.name}`: they move in step",
                flow.at,
                setup,
            )
            return
        seen[key] = flow


def _udp(setup: Setup) -> Iterator[Hit]:
    offered: dict[int, tuple[Link, float, Flow]] = {}
    for flow in setup.flows:
        if not flow.udp:
            continue
        bps = setup.quantity(flow.source.get("rate", flow.source.get("mean")), flow.variables)
        for link in flow.links if bps else ():
            before = offered.get(id(link), (link, 0.0, flow))
            number = 1.0 if link.label != link.name else flow.number
            offered[id(link)] = (link, before[1] + (bps.value if bps else 0.0) * number, before[2])
    for link, bps, flow in offered.values():
        if link.rate_bps and bps >= link.rate_bps and flow.source["name"] != "pareto_on_off":
            yield Hit(
                f"packets of UDP come at {rate(bps)} to `{link.name}`, which has {rate(link.rate_bps)}: nothing is left for anybody else",
                flow.at,
                setup,
            )
            return


def _inherits(setup: Setup) -> Iterator[Hit]:
    """Flows one after the other over one path, the later of which begin with the threshold of the earlier ones."""
    kernel = setup.tree.get("kernel", {}).get("metrics_cache")
    starts: dict[str, set[float]] = {}
    for flow in setup.flows:
        cache = kernel if setup.study.on_kernels else flow.tcp("metrics_cache")
        if flow.finite and cache == "with_ssthresh" and flow.start_s is not None:
            known = starts.setdefault(flow.at, set())
            known.add(flow.start_s)
            if len(known) == 2:
                path = "kernel.metrics_cache" if setup.study.on_kernels else "tcp.metrics_cache"
                yield Hit(
                    "later transfers begin with the slow-start threshold that earlier ones have left in the cache of metrics", path, setup
                )


def _sampled(setup: Setup) -> Iterator[Hit]:
    sample = setup.quantity(setup.tree.get("sample")) if setup.tree.get("sample") != "ack" else None
    if sample and sample.value * 10 > setup.duration_s:
        yield Hit(
            f"a sample every {time(sample.value)} of a run of {time(setup.duration_s)}: {setup.duration_s / sample.value:.0f} of them",
            "sample",
            setup,
        )


RULES = (
    Rule(
        "SW501", "start-after-end", "error", "a flow that starts when the run is over",
        "It sends nothing, and means over flows have a zero in them.",
        "Start it earlier, or make the run longer.",
        says=("the run ends at",),
    ),
    Rule(
        "SW502", "few-round-trips", "warning", f"runs of less than {FEW_TRIPS} round trips for a flow that is to last",
        "It has barely left slow start: what is measured is the start. In the published HighSpeed study round trips take up to 14 s in runs of 50 s.",
        "Make the run longer, or ask about completion times of transfers.",
        check=of_flows(_trips),
    ),
    Rule(
        "SW503", "few-packets", "warning", f"runs in which a flow's share of the bottleneck is less than {FEW_PACKETS} packets",
        "One packet more or less changes its throughput by per cents, and fairness is that of a lottery. In the published HighSpeed study 32 senders share some six packets at 1 kbit/s.",
        "Make the run longer, or leave these cells out.",
        check=of_flows(_packets),
    ),
    Rule(
        "SW504", "outlasted", "warning", "a run that goes on for long after its transfers",
        "A rate over the run's time is of the silence then: 0.2 s of transfer in 20 s are a hundredth of the rate.",
        "Shorten `duration`, and ask for `completion_ns`.",
        check=of_setups(_outlasts),
    ),
    Rule(
        "SW505", "only-slow-start", "warning", "congestion controls that are compared by transfers that the bottleneck's queue holds altogether",
        "Nothing is lost and nothing tells them to slow down, so most are the same program. A published study compares eleven of them by downloads of 1 MB.",
        "Use larger transfers or smaller queues; or vary the initial window, which is what decides.",
        check=_slow_start,
    ),
    Rule(
        "SW506", "in-step", "warning", "flows alike that start at the same instant, with nothing random",
        "At a drop-tail queue they lose packets by phase and not by chance (Floyd and Jacobson 1992): who wins is decided by the order in the file.",
        "Draw their starts (`[draws]`).",
        check=of_setups(_in_step),
    ),
    Rule(
        "SW507", "udp-overload", "warning", "packets of UDP at or above the rate of a link",
        "They fill its queue for ever, and TCP beside them starves whatever its algorithm.",
        "Lower their rate.",
        check=of_setups(_udp),
    ),
    Rule(
        "SW508", "overload", "warning", "flows that arrive faster than their link can carry",
        "There are more and more of them, so no mean over the run is a property of anything but its length.",
        "Lower `rate` or `size`, or give a `load` below 1.",
        says=("the offered load",),
    ),
    Rule(
        "SW509", "inherited-threshold", "warning", "transfers that inherit a slow-start threshold from earlier ones over the same path",
        "One early loss slows all later downloads: a published matrix of congestion controls shows Linux's cache of metrics (before 5.6) as much as the algorithms.",
        "Switch the cache off (`metrics_cache`), or say in `[lint]`, `ignore = { SW509 = \"why\" }` that it is what is studied.",
        check=of_setups(_inherits),
    ),
    Rule(
        "SW510", "few-samples", "warning", "time series with less than ten samples in a run",
        "A figure over time shows a few straight lines.",
        "Sample more often.",
        check=of_setups(_sampled),
    ),
    Rule(
        "SW511", "fluid-flows", "warning", "flows that are simulated together as a fluid, which is an approximation",
        "Windows of many flows follow equations of their means: what packets do to each other at a full queue is not in them.",
        "Compare one cell with the same flows by packets, without `model`; docs/validation/fluid.md has the errors.",
        says=("is a fluid: an approximation",),
    ),
)  # fmt: skip
