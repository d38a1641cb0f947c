"""The traffic of others over time: in which steps its rate changed, and what kind of traffic does that.

Steps are those that make what was measured most likely, each with a price (optimal partitioning, Jackson et al. 2005). Traffic is on-off if it was gone more than once, steady if its steps
are about alike, and responsive otherwise: connections that take what they can begin, grow and yield.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sawtooth.fitting.unexplained import Between
from sawtooth.stats import Vector

_SHORTEST_S, _LONGEST_S, _MANY = 0.1, 0.5, 2000
"""Seconds of a stretch, and stretches of a capture."""
_PACKETS = 8
"""Packets of others in a stretch."""
_FINE_STRETCH_S, _FINE_STRETCH_PACKETS = 0.05, 4
"""The same of the stretches in which a simulation repeats the traffic."""
_PRICE = 12.0
"""Of a step, in units of twice the logarithm of a likelihood."""
_GONE, _ALIKE, _APART = 0.25, 0.25, 0.23
"""Of the rate while there was traffic: less is none; about so far from it is the same; steps of steady traffic deviate by less in the mean."""
_OFTEN, _BETWEEN = 2, 0.4
"""Traffic is on-off if it was gone so often, and had other rates for less than this share of the time."""
_EVEN, _LIKE_POISSON = 0.15, (0.6, 1.3)
"""Variance of the packets in a short stretch over their mean: of evenly spaced ones, and of independent ones."""
_REGULAR = 0.4
_FINE_S, _FINE_PACKETS, _FEWEST = 0.02, 6, 10
_SURELY = 0.95


@dataclass(frozen=True)
class Step:
    """A time in which a rate stays: seconds since the capture's first packet; bit/s, or as a share of the link's."""

    since_s: float
    until_s: float
    rate: float

    def times(self, factor: float) -> Step:
        """In another unit."""
        return Step(self.since_s, self.until_s, self.rate * factor)

    @property
    def lasts_s(self) -> float:
        """How long it is."""
        return self.until_s - self.since_s


@dataclass(frozen=True)
class Kind:
    """A kind of traffic.

    Attributes:
        name: none, steady, on-off or responsive; empty if it cannot be told.
        why: why it is that.
        even: whether its packets came evenly, rather than at random times.
        began_s: when there was some first.

    """

    name: str
    why: str
    even: bool = False
    began_s: float = 0.0


def stretches(came: Between, mean: float, sending_s: float) -> list[Step]:
    """The rate over time, as a share of the link's, in short stretches of one length; the arguments are those of `steps`."""
    edges, rates = _rates(came, max(_FINE_STRETCH_S, _FINE_STRETCH_PACKETS * sending_s / mean))
    return [Step(float(a), float(b), max(float(rate), 0.0)) for (a, b), rate in zip(pairwise(edges), rates, strict=True)]


def steps(came: Between, mean: float, sending_s: float) -> list[Step]:
    """The rate over time, as a share of the link's, in steps.

    Args:
        came: what came from others.
        mean: of it, as a share of the link's rate.
        sending_s: what a packet takes.

    """
    edges, rates = _rates(came, min(max(_SHORTEST_S, _PACKETS * sending_s / mean), _LONGEST_S))
    length = float(edges[1] - edges[0])
    # Of packets that come at random, of what is not known, and of whole packets.
    variance = (
        np.maximum(rates, 0.3 * mean) * sending_s / length + came.over(edges, came.idle**2 / 4) / length**2 + (sending_s / length) ** 2 / 12
    )
    cuts = _cuts(rates, 1 / variance)
    return [Step(float(edges[a]), float(edges[b]), float(np.average(rates[a:b], weights=1 / variance[a:b]))) for a, b in pairwise(cuts)]


def _rates(came: Between, length: float) -> tuple[Vector, Vector]:
    """Edges of stretches of about that length, seconds, and the rates within them."""
    begin, end = float(came.since[0]), float(came.until[-1])
    count = int(np.clip((end - begin) / length, _PACKETS, _MANY))
    edges = np.linspace(begin, end, count + 1)
    return edges, came.over(edges, came.busy) * count / (end - begin)


def _cuts(values: Vector, weights: Vector) -> list[int]:
    """Where steps begin, and the end: what the squared deviations from their means and the steps' prices are least with."""
    so_far = [np.concatenate([[0.0], np.cumsum(each)]) for each in (weights, weights * values, weights * values**2)]
    weight, first, second = so_far
    best = np.full(values.size + 1, math.inf)
    best[0] = -_PRICE
    before = np.zeros(values.size + 1, dtype=np.int64)
    for end in range(1, values.size + 1):
        deviations = second[end] - second[:end] - (first[end] - first[:end]) ** 2 / (weight[end] - weight[:end])
        total = best[:end] + deviations + _PRICE
        before[end] = int(np.argmin(total))
        best[end] = total[before[end]]
    found = [values.size]
    while found[-1] > 0:
        found.append(int(before[found[-1]]))
    return found[::-1]


def kind(came: Between, levels: list[Step], sending_s: float) -> Kind:
    """What the traffic is like."""
    rates, lasts = np.array([step.rate for step in levels]), np.array([step.lasts_s for step in levels])
    mean = float(np.average(rates, weights=lasts))
    high = rates >= mean * (1 - 1e-9)
    on = float(np.average(rates[high], weights=lasts[high]))
    gone = rates < _GONE * on
    first = int(np.argmax(~gone))
    often = int(np.sum(gone[first:]))
    between = float(np.sum(lasts[~gone & (np.abs(rates / on - 1) > _ALIKE)]) / np.sum(lasts))
    deviation = math.sqrt(float(np.average((rates - mean) ** 2, weights=lasts))) / mean
    scattered = _scatter(came, levels, on, sending_s)
    even = scattered is not None and scattered < _REGULAR
    began = levels[first].since_s if first > 0 else 0.0
    if often >= _OFTEN and between < _BETWEEN:
        return Kind("on-off", f"it was gone {often} times, for {np.sum(lasts[first:][gone[first:]]):.3g} s in all", even, began)
    if often == 0 and began == 0 and deviation < _APART:
        return Kind("steady", f"its rate was the same within {max(deviation, 0.01):.0%}, and its packets came {_spacing(scattered)}", even)
    if first > 0 and first == rates.size - 1 and scattered is not None:
        # It began, and stayed what it was.
        if scattered < _EVEN:
            return Kind("steady", f"it began after {began:.3g} s, and its packets came {_spacing(scattered)}", even, began)
        if _LIKE_POISSON[0] < scattered < _LIKE_POISSON[1]:
            return Kind(
                "", f"cannot tell whether it is steady or responsive: it began after {began:.3g} s, and stayed the same", even, began
            )
    return Kind("responsive", f"its rate changed by {deviation:.0%}, and not between two values", even, began)


def _spacing(scattered: float | None) -> str:
    if scattered is None:
        return "at unknown distances"
    return "evenly" if scattered < _REGULAR else "at random"


def _scatter(came: Between, levels: list[Step], on: float, sending_s: float) -> float | None:
    """Variance over mean of the packets in short stretches in which the queue surely was busy, by differences of neighbours; None if there are few."""
    begin, end = float(came.since[0]), float(came.until[-1])
    count = max(2, int((end - begin) / max(_FINE_S, _FINE_PACKETS * sending_s / max(on, 0.05))))
    edges = np.linspace(begin, end, count + 1)
    length = (end - begin) / count
    rates = came.over(edges, came.busy) / length
    sure = came.over(edges, np.where(came.idle == 0, came.until - came.since, 0.0)) / length > _SURELY
    starts = np.array([step.since_s for step in levels])
    levelled = np.array([step.rate for step in levels])[np.searchsorted(starts, (edges[:-1] + edges[1:]) / 2, side="right") - 1]
    usable = sure & (levelled > (1 - _ALIKE) * on)
    both = usable[1:] & usable[:-1]
    if int(np.sum(both)) <= _FEWEST:
        return None
    return float(np.mean(np.diff(rates)[both] ** 2)) / 2 * length / sending_s / on
