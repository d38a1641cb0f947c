"""An algorithm's law, measured from its window: on a long path without a queue, where one packet is lost.

Nothing but the algorithm moves the window there: every round trip takes 100 ms, so growth per round trip and the share that a loss
leaves can be held against the equations of its specification.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbells import Case
from twin import Peer, Twin, kept, thinned

from sawtooth.backends import sim

RTT_S = 0.1
CASE = Case("one loss", 100e6, RTT_S / 2, 100_000, 6.0, only_lost=(600,))
Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Law:
    """What a window did, in segments."""

    slow_start: float
    """Factor by which it grows in a round trip before the loss."""
    before: float
    """When the loss is found."""
    kept: float
    """Share of it in the third round trip after."""
    window: float
    """In the fifth round trip after the loss, and from there on"""
    growth: float
    """by so many segments per round trip, the mean of ten."""


def theirs(peer: Peer, twin: Twin, keep: Path | None) -> Law | None:
    return law(kept(peer, CASE, twin, keep, trace=True).window)


def ours(peer: Peer, twin: Twin) -> Law | None:
    return law(our_curve(peer, CASE, twin))


def our_curve(peer: Peer, case: Case, twin: Twin) -> Curve:
    """The first flow's window in the simulator: seconds, segments."""
    tree: dict[str, Any] = peer.scenario(case, twin) | {"sample": "ack"}
    batch = sim.run_batch([json.dumps(tree)], [1])
    assert not batch.errors, batch.errors
    series = batch.tables["series"].filter(batch.tables["series"]["flow"] == tree["flows"][0]["name"])
    smss = int(tree["tcp"]["smss"].split()[0])
    return [(t / 1e9, cwnd / smss) for t, cwnd in zip(series["t_ns"], series["cwnd_bytes"], strict=True)]


def law(curve: Curve) -> Law | None:
    """None if there is no reduction."""
    lost = drop_at(curve)
    if lost is None:
        return None
    before = at(curve, lost - 1e-6)
    window = at(curve, lost + 5 * RTT_S)
    return Law(
        slow_start=at(curve, 4.5 * RTT_S) / at(curve, 3.5 * RTT_S),
        before=before,
        kept=at(curve, lost + 2.5 * RTT_S) / before,
        window=window,
        growth=(at(curve, lost + 15 * RTT_S) - window) / 10,
    )


def drop_at(curve: Curve) -> float | None:
    """When the window first falls, after the first round trips, by a tenth within one round trip."""
    for t, value in curve:
        if t > 3 * RTT_S and at(curve, t + RTT_S) < 0.9 * value and at(curve, t + 1e-3) < value:
            return t + 1e-6
    return None


def at(curve: Curve, t: float) -> float:
    """The window at that time."""
    place = bisect.bisect_right(curve, (t, float("inf")))
    return curve[max(0, place - 1)][1]


@dataclass(frozen=True)
class Habits:
    """What a window did over a whole run."""

    reductions: int
    """Falls by more than a tenth within a round trip."""
    kept: float
    """The mean share of the window that one left; 1 without any."""
    mean: float
    """Segments, over time."""


def habits(curve: Curve, round_trip_s: float, end_s: float) -> Habits:
    """`round_trip_s`: within which a reduction is complete; `end_s`: when the run ends."""
    curve = thinned(curve)
    shares: list[float] = []
    until = 0.0
    times = [t for t, _ in curve]
    for place, (t, value) in enumerate(curve):
        if t < until:
            continue
        ahead = [w for _, w in curve[place + 1 : bisect.bisect_right(times, t + round_trip_s)]]
        if ahead and min(ahead) < 0.9 * value and ahead[0] < value:
            shares.append(min(ahead) / value)
            until = t + round_trip_s
    area = sum(value * (after - t) for (t, value), after in zip(curve, [*times[1:], end_s], strict=True))
    return Habits(len(shares), sum(shares) / len(shares) if shares else 1.0, area / (end_s - times[0]))
