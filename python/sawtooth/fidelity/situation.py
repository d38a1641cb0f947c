"""Where a flow is on the map: its algorithm, and what the link that decides offers it. What was compared and what is asked are placed alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sawtooth.linting.setup import Flow, Link, Subject, default
from sawtooth.plan import Plan

SLOW_ACKS = 0.2
"""An acknowledgement path of this share of the rate, or less, is a slow one: those that were compared have a fiftieth to a tenth."""
QUEUES = ("drop_tail", "step")
LINK_KEYS = frozenset({"rate", "delay", "queue", "loss", "reverse", "count"})
TCP_KEYS = frozenset({"ecn", "timer_tick"})
MARKED = ("dctcp", "prague")
"""Algorithms that ask for marks where nothing is set."""
_FAST = 10.0
"""A link that is so many times as fast as the bottleneck only adds its delay."""


@dataclass(frozen=True)
class Situation:
    """What a flow meets at the link that has least for it.

    Attributes:
        algorithm: its congestion control.
        rate_bps: of that link.
        rtt_s: propagation, both ways.
        buffer_bdp: what may wait at that link, as a share of rate times round trip.
        loss: probability that a packet is lost at random; 0 of none.
        marks: whether that link's queue marks packets, and the flow understands it (ECN).
        slow_acks: whether the way back is much slower.
        flows: how many cross that link.
        ends: whether it is a transfer of some size.

    """

    algorithm: str
    rate_bps: float
    rtt_s: float
    buffer_bdp: float
    loss: float
    marks: bool
    slow_acks: bool
    flows: float
    ends: bool


@dataclass(frozen=True)
class Asked:
    """A flow of one cell and arm of a study.

    Attributes:
        cell, arm: where it is.
        stack: its TCP.
        algorithm: its congestion control.
        situation: where it is on the map; None if it has no place there.
        unplaced: why it has none.
        unlike: what it has that no scenario had which was compared.

    """

    cell: int
    arm: str
    stack: str
    algorithm: str
    situation: Situation | None
    unplaced: str
    unlike: Sequence[str]


def asked(plan: Plan) -> list[Asked]:
    """All flows of TCP of a plan, those that are alike in a cell and arm once."""
    found: dict[tuple[object, ...], Asked] = {}
    for setup in Subject(plan).setups:
        for flow in setup.flows:
            if not flow.udp:
                each = _asked(flow)
                found.setdefault((each.cell, each.arm, each.algorithm, each.situation, each.unplaced, tuple(each.unlike)), each)
    return list(found.values())


def _asked(flow: Flow) -> Asked:
    setup = flow.setup
    placed = _placed(flow)
    situation, why = (None, placed) if isinstance(placed, str) else (placed, "")
    stack = str(setup.tree.get("stack", "rfc"))
    return Asked(setup.cell, setup.arm, stack, _algorithm(flow), situation, why, list(dict.fromkeys(_unlike(flow))))


def _algorithm(flow: Flow) -> str:
    """Its congestion control, a kernel's by the name of the simulator's."""
    return str(flow.cc["name"]).removeprefix("kernel:")


def _placed(flow: Flow) -> Situation | str:
    """Its place on the map, or why it has none."""
    link = flow.bottleneck
    if link is None or not link.rate_bps:
        return "the rate of its path changes"
    rtt = sum(each.delay_s + each.reverse_delay_s for each in flow.links) + 2 * flow.delay_s
    if rtt <= 0:
        return "its path has no delay"
    packet = flow.smss + flow.header
    waiting = flow.setup.queue_bytes(link, packet)
    if not waiting or not math.isfinite(waiting):
        return "nothing says how much may wait at its bottleneck"
    loss = _loss(flow)
    if loss is None:
        return "its losses are not those of chance alone"
    return Situation(
        algorithm=_algorithm(flow),
        rate_bps=link.rate_bps,
        rtt_s=rtt,
        buffer_bdp=waiting * 8 / (link.rate_bps * rtt),
        loss=loss,
        marks=link.queue["name"] != "drop_tail" and _understands_marks(flow),
        slow_acks=any(each.reverse_bps is not None and each.reverse_bps <= SLOW_ACKS * link.rate_bps for each in flow.links),
        flows=link.crossing,
        ends=not flow.endless,
    )


def _understands_marks(flow: Flow) -> bool:
    """Whether it asks for marks: as set, or else because its congestion control lives on them."""
    asks = any("ecn" in where.get("tcp", {}) for where in (flow.tree, flow.setup.tree))
    return flow.tcp("ecn") != "off" or (not asks and _algorithm(flow) in MARKED)


def _loss(flow: Flow) -> float | None:
    """The probability that a packet is lost on its way; None where that is no matter of chance alone."""
    arrives = 1.0
    for link in flow.links:
        model = link.tree.get("loss")
        if "drop" in link.tree:
            return None
        if model is None:
            continue
        tree = cast(Mapping[str, Any], model) if isinstance(model, dict) else {"name": "bernoulli", "probability": model}
        if tree["name"] != "bernoulli":
            return None
        p = flow.setup.quantity(tree.get("probability", default("loss", "bernoulli", "probability")), flow.variables)
        if p is None:
            return None
        arrives *= 1 - p.value
    return 1 - arrives


def _unlike(flow: Flow) -> Iterator[str]:
    """What no scenario had that was compared: the map tells nothing of what it does."""
    bottleneck = flow.bottleneck
    for link in flow.links:
        yield from (f"`{key}` of a link" for key in sorted(set(link.tree) - LINK_KEYS - {"drop"}))
        yield from (f"`{key}` of a way back" for key in sorted(set(link.tree.get("reverse", {})) - {"rate", "delay", "queue"}))
        if bottleneck is not None and link is not bottleneck and (link.rate_bps or 0.0) < _FAST * (bottleneck.rate_bps or 0.0):
            yield "a second link that is nearly as slow"
    if bottleneck is not None:
        if bottleneck.queue["name"] not in QUEUES:
            yield f"the queue `{bottleneck.queue['name']}`"
        yield from _beside(flow, bottleneck)
    for where in (flow.tree, flow.setup.tree):
        yield from (f"`tcp.{key}`" for key in sorted(set(where.get("tcp", {})) - TCP_KEYS))
        yield from (f"`{key}`" for key in ("host", "receiver_host") if key in where)
    if len(flow.cc) > 1:
        yield f"parameters of `{_algorithm(flow)}`"
    if "arrivals" in flow.tree:
        yield "flows that arrive"
    elif flow.source["name"] != "bulk":
        yield f"the source `{flow.source['name']}`"


def _beside(flow: Flow, link: Link) -> Iterator[str]:
    """Flows at the same link that are of another kind."""
    others = [each for each in flow.setup.flows if link in each.links]
    if any(each.udp for each in others):
        yield "UDP beside it"
    if any(not each.udp and _algorithm(each) != _algorithm(flow) for each in others):
        yield "another algorithm beside it"
