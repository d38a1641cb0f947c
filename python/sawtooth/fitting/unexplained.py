"""The traffic of others at the bottleneck, as a capture of one flow shows it.

A queue that sends packets in order tells of others what it does not explain by the flow's own packets (Lindley 1952). While it is busy, two of these leave it apart by their own
transmission times and those of all that came between: what is more than their own came from others. Where the queue may have run empty between the two, and the second one met packets
of others, the link counts as having been busy with them all the time between; if it met none, as idle: on average over many such times that is right, if the flow's packets come at times that do
not depend on the others' (PASTA, Wolff 1982).

The rate of the link is that of packets that left the sender together: nobody comes between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sawtooth.fitting.packets import Numbers, Packets
from sawtooth.fitting.path import Estimate, mode, most
from sawtooth.stats import Vector

_TOGETHER = 0.3
"""Packets were sent together if the bottleneck set them apart by more than so many times."""
_ALIKE = 0.005
"""Rates that differ by less are the same."""
_FEWEST_TOGETHER, _SHARE_TOGETHER = 8, 0.04
"""Pairs of which a rate is told; of all pairs, those that have to agree."""
_CLEARLY, _SHARP = 0.3, 0.002
"""What so many of all pairs agree on, or what they agree on within so little, is no chance among times of busy hosts."""
_MOSTLY, _JITTER = 0.75, 0.02
"""What so many of all pairs agree on is their rate, if within this: clocks of kernels in real time are no better."""
_FASTEST = 50
"""Times the usual rate of the flow: what came faster had waited at a host."""
_WAITED = 4
"""An acknowledgement of one packet may have waited for another if that was sent so many transmission times later."""
_MET = 0.1
"""Of a packet: what is more than that was there."""
_HELD, _HELD_SHARE = 1e-3, 0.06
"""Seconds, and share of a round trip, for which Linux may hold an acknowledgement with SACK back (`tcp_comp_sack_delay_ns`)."""


@dataclass(frozen=True)
class Between:
    """What came from others between packets of a flow of which a round trip is known; shape (n,), seconds.

    Attributes:
        since, until: when these packets came to the queue.
        met: transmission times of what had surely come. idle: how long the link had perhaps nothing else to do.
        busy: what it was busy with others in all: `met`, and `idle` where they were met.

    """

    since: Vector
    until: Vector
    met: Vector
    idle: Vector
    busy: Vector

    @property
    def seconds(self) -> float:
        """The time that is covered."""
        return float(self.until[-1] - self.since[0])

    def over(self, edges: Vector, what: Vector) -> Vector:
        """The sum of `what` between these times, spread evenly within each stretch, shape (edges - 1,)."""
        times = np.concatenate([self.since[:1], self.until])
        return np.diff(np.interp(edges, times, np.concatenate([[0.0], np.cumsum(what)])))


_TOO_FEW = Estimate(None, 0.0, math.inf, "too few packets were sent together")
_NOT_ONE = Estimate(None, 0.0, math.inf, "packets that were sent together did not arrive at one rate")
"""Then arrivals contradict that there is a queue with one rate, from which they come at once: hosts are busy, or the path is another one."""


def contradicts(rate: Estimate) -> bool:
    """Whether it is such a rate."""
    return rate is _NOT_ONE


def highest_rate(seen: Packets, usual_bps: float) -> Estimate:
    """The rate, bit/s, at which packets arrived that had been sent together: the highest at which several pairs agree. No value if there are none, or they do not agree. `usual_bps` is the rate that there would be without others."""
    order = np.argsort(seen.asked_number, kind="stable")
    number, sent, came = seen.asked_number[order], seen.asked[order], (seen.asked + seen.took)[order]
    more, later, apart = np.diff(number), np.diff(came), np.diff(sent)
    together = (more > 0) & (later > 0) & (apart <= _TOGETHER * later)
    if int(np.sum(together)) < _FEWEST_TOGETHER:
        return _TOO_FEW
    rates = np.log(8 * seen.packet * more[together] / later[together])
    rates = np.sort(rates[rates < math.log(_FASTEST * usual_bps)])
    if rates.size == 0:
        return _NOT_ONE
    agreeing = np.searchsorted(rates, rates + _ALIKE) - np.searchsorted(rates, rates - _ALIKE)
    enough = np.flatnonzero(agreeing >= max(_FEWEST_TOGETHER / 2, _SHARE_TOGETHER * rates.size))
    if enough.size == 0:
        return of_most(rates)
    near = rates[np.abs(rates - rates[enough[-1]]) < 2 * _ALIKE]
    value = math.exp(mode(near))
    spread = float(np.quantile(np.abs(near - math.log(value)), 0.9))
    if near.size < _CLEARLY * rates.size and spread > _SHARP:
        return of_most(rates)
    return _told(value, spread, f"the highest at which pairs of packets that were sent together arrived, {near.size} of {rates.size}")


def of_most(rates: Vector) -> Estimate:
    """Where the highest is that of a few that were late or early by chance: the rate of most of them, of these logarithms, if there is one."""
    middle = mode(rates)
    near = rates[np.abs(rates - middle) < _JITTER]
    if near.size < max(_FEWEST_TOGETHER, _MOSTLY * rates.size):
        return _NOT_ONE
    spread = float(np.quantile(np.abs(near - middle), 0.9))
    return _told(math.exp(middle), spread, f"at which most pairs of packets that were sent together arrived, {near.size} of {rates.size}")


def _told(value: float, spread: float, why: str) -> Estimate:
    spread = max(1e-3, spread)
    return Estimate(value, value * (1 - spread), value * (1 + spread), why)


def between(seen: Packets, rate_bps: float, floor_s: float, dropped: Numbers) -> Between | None:
    """What others sent meanwhile.

    Args:
        seen: the flow.
        rate_bps: of the bottleneck.
        floor_s: the round trip of a full packet if nothing is queued.
        dropped: numbers of the flow's packets that found the queue full, and so were never transmitted.

    """
    sending = 8 * seen.packet / rate_bps
    kept = np.ones(seen.sent.size, dtype=bool)
    kept[dropped - 1] = False
    work = sending * np.cumsum(kept)
    # What a packet's transmission ends at, less all work up to it, is what the one before had, or its own arrival.
    start = np.where(kept, seen.sent - work + sending, -np.inf)
    following = np.append(seen.sent, np.inf)[np.minimum(seen.asked_number, seen.sent.size)]
    usable = np.flatnonzero((seen.prompt | (following - seen.asked < _WAITED * sending)) & kept[seen.asked_number - 1])
    # Of two round trips of a packet the first is of its arrival.
    numbers, first = np.unique(seen.asked_number[usable], return_index=True)
    if numbers.size < 2:
        return None
    usable = usable[first]
    left = seen.asked[usable] + np.maximum(seen.took[usable] - floor_s, 0.0) + sending
    done = work[numbers - 1]
    latest = np.maximum((left - done)[:-1], most(start, numbers[:-1], numbers[1:]))
    expected = done[1:] + latest
    met = left[1:] - expected
    idle = expected - left[:-1] - np.diff(done)
    idle[idle < 1e-9] = 0.0
    late = seen.at_once[usable][1:]
    surely = met > _MET * sending + np.where(late, min(_HELD, _HELD_SHARE * floor_s), 0.0)
    met = np.where((idle > 0) & ~surely, 0.0, met)
    # What an acknowledgement that may have been held back cannot tell is as elsewhere.
    known = float(np.sum(idle[~late]))
    usual = float(np.sum(idle[~late & surely])) / known if known > 0 else 0.0
    return Between(
        seen.asked[usable][:-1], seen.asked[usable][1:], met, idle, met + idle * np.where(surely, 1.0, np.where(late, usual, 0.0))
    )
