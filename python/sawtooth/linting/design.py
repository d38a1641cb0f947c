"""Rules about the design: what is varied must reach what is measured, and the order of runs must not be a factor of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sawtooth import _core
from sawtooth.backends.registry import BACKENDS
from sawtooth.linting.each import of_setups
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Flow, Quantity, Setup, Subject, default


def _receivers(subject: Subject) -> Iterator[Hit]:
    """A receiver's algorithm decides something only where the receiver sends data."""
    varied = subject.varied("receiver_cc")
    if not varied or not subject.study.on_kernels:
        return  # The simulator's scenarios are compared themselves: SW101.
    if any(flow.source["name"] == "request_response" for setup in subject.setups for flow in setup.flows):
        return
    for path in varied:
        origin = _origin(subject, path)
        yield Hit(f"`{path}` is varied, and the receiving ends send no data: only the sender's algorithm acts", origin, key=True)


def _origin(subject: Subject, path: str) -> str:
    """Where the axis or arm is written that sets a path."""
    for block in subject.study.sweep:
        for level in block:
            for each in level:
                if each.path == path:
                    return each.origin[: each.origin.rindex("[")] if each.origin.endswith("]") else each.origin
    return next((each.origin for arm in subject.study.arms.values() for each in arm if each.path == path), "sweep")


def _drift(subject: Subject) -> Iterator[Hit]:
    study = subject.study
    if not study.on_kernels or study.order != "cells" or len(subject.setups) < 2 or study.planned < 2:
        return
    backend = BACKENDS[study.backend]
    if any(backend.clock(_core.kernel_settings(json.dumps(setup.tree))["time"]) == "real" for setup in subject.setups):
        yield Hit("runs in real time follow each other cell by cell: what drifts meanwhile falls on some cells and not on others", "order")


def _below_window(setup: Setup) -> Iterator[Hit]:
    """An algorithm that is Reno below so many segments, on a path that never holds as many."""
    told: set[str] = set()
    for flow in setup.flows:
        name = flow.cc["name"]
        if flow.at in told or flow.udp or name not in ("highspeed", "scalable", "bic") or (most := _most_segments(flow)) is None:
            continue
        low = setup.quantity(flow.cc.get("low_window", default("cc", name, "low_window")), flow.variables)
        if low is not None and most < low.value:
            told.add(flow.at)
            path = f"{flow.at}.cc" if "cc" in flow.tree else "cc"
            yield Hit(f"{name} is Reno below {low.value:.0f} segments, and path and queue hold {most:.0f} at most", path, setup)


def _most_segments(flow: Flow) -> float | None:
    """The most segments that can be outstanding: what the path and its queues hold, or the window's limit."""
    if flow.rate_bps is None:
        return None
    packet = flow.smss + flow.header
    waiting = [flow.setup.queue_bytes(link, packet) for link in flow.links]
    if None in waiting:
        return None
    held = flow.rate_bps * flow.rtt_s / 8 + sum(each or 0.0 for each in waiting)
    window = flow.window_bytes
    return min(held / packet, window[0] / flow.smss if window else float("inf")) + 1


def _ends_early(setup: Setup) -> Iterator[Hit]:
    told: set[str] = set()
    for flow in setup.flows:
        threshold = flow.tcp("initial_ssthresh") if not flow.udp else "none"
        if flow.at in told or not isinstance(threshold, Quantity) or flow.share_bps is None or not (flow.endless or flow.finite):
            continue
        bytes_ = flow.bytes_of("initial_ssthresh") or 0.0
        if bytes_ < flow.share_bps * flow.rtt_s / 8 / 2:
            told.add(flow.at)
            own = "initial_ssthresh" in flow.tree.get("tcp", {})
            yield Hit(
                f"slow start ends at {bytes_ / flow.smss:.0f} segments, and the flow's share of the path holds {flow.share_bps * flow.rtt_s / 8 / flow.smss:.0f}",
                f"{flow.at}.tcp.initial_ssthresh" if own else "tcp.initial_ssthresh", setup,
            )  # fmt: skip


RULES = (
    Rule(
        "SW101", "no-effect", "warning", "levels, arms or options that make no difference to any run",
        "Means of such levels differ by chance alone, and a table of them looks like a result. The published HighSpeed study never switched HighSpeed TCP on.",
        "Set it where it is read, nearer to the flow or link; or leave it out.",
        says=("make no difference", "makes no difference"),
    ),
    Rule(
        "SW102", "receiver-algorithm", "warning", "a congestion control of receiving ends that is varied, where these send no data",
        "A published matrix of clients and servers has eleven algorithms on both sides, although only the server sends: ten of eleven columns are replicates.",
        "Vary `cc`, or let the receiver answer (`request_response`); if it is to show that it makes no difference, say so in `[lint]`, `ignore = { SW102 = \"why\" }`.",
        check=_receivers,
    ),
    Rule(
        "SW103", "no-reading", "warning", "a TCP parameter that is set where nothing reads it",
        "The study says that something is on, or has a value, and it is not so: the loss recovery, or ECN that is off, leaves it unread.",
        "Set what reads it, too, or leave it out.",
        says=("has no effect", "have no effect"),
    ),
    Rule(
        "SW104", "drift", "warning", "runs in real time that follow each other cell by cell",
        "A machine that warms up, or a neighbour that comes and goes, makes a difference between cells that the algorithms have not (Box, Hunter and Hunter 2005, chapter 4).",
        'Write `order = "blocks"`: each replicate of all cells, in a random order.',
        check=_drift,
    ),
    Rule(
        "SW105", "below-its-window", "warning", "HighSpeed, Scalable or BIC on a path that never holds the window from which they differ from Reno",
        "They are Reno there (RFC 3649 section 5: 38 segments), so the comparison says nothing. Most cells of the published HighSpeed study are of that kind.",
        "Leave these cells out, or make the path longer, faster or its queue larger; if it is to show that they are alike, say so in `[lint]`, `ignore = { SW105 = \"why\" }`.",
        check=of_setups(_below_window),
    ),
    Rule(
        "SW106", "early-threshold", "note", "an initial slow-start threshold below half of what a flow's share of the path holds",
        "Such a flow grows by one segment per round trip from then on, and the start may take longer than the run.",
        "Leave `initial_ssthresh` out, unless it is what the study is about.",
        check=of_setups(_ends_early),
    ),
)  # fmt: skip
