"""The bottleneck of a path, as a capture at the sender shows it: rate, propagation, buffer, loss.

Rate: while the bottleneck is busy, data arrives at its rate. Rates over few acknowledgements crowd there (the densest half of half of them and so on: Robertson and
Cryer 1974); the rate is that of stretches of acknowledgements that come about as fast. Propagation: the least round trip less its transmission times, of the handshake and of data.
Buffer: packets that are dropped at a full queue were sent where round trips were about the longest; these say how full it was. Loss: the share that was lost elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sawtooth.fitting.packets import Packets
from sawtooth.stats import Vector, median, share

FEWEST_PACKETS = 100
"""Packets with data below which nothing is fitted."""
_FEW_ACKS, _ACKS = 2, 5
"""Acknowledgements that a rate is first looked for over."""
_NEAR = 0.15
"""Rates that differ by less are of the same stretch."""
_FEWEST_STRETCH, _FEWEST_STRETCHES = 6, 6
_SYN = 60
"""Bytes of a packet of a handshake."""
_CLOCKS = 0.002
"""Of a delay: no interval is narrower."""
_BUSY = 2.0
"""Packets at the bottleneck from which on it surely is busy."""
_ROOM = 1.0
"""Packets by which what was queued is not known exactly."""
_FEWEST_FULL = 3
_FRACTION = 0.5
"""Of a packet, by which a queue may seem longer than it is."""
_EXACT = 0.05
"""The same, where nothing held an acknowledgement back."""
_HELD, _HELD_SHARE, _SLACK = 1e-3, 0.05, 1e-4
"""Seconds, and share of a round trip, for which Linux holds an acknowledgement with SACK back, and how late that may be besides (`tcp_comp_sack_delay_ns`, `tcp_comp_sack_slack_ns`)."""
_REACH = 8
"""Round trips speak of a queue for the time that so many packets take."""
_BELOW, _BELOW_SHARE = 2.5, 0.2
"""By so many packets, or that share of a queue if it is less, a full queue may look shorter."""
_LONGEST, _NEARLY = 0.999, 0.7
"""A queue that is full is at least so long as this share of the round trips tells, times that."""
_USUAL = 0.99
"""The share of round trips that tells how long a queue of another kind was, beyond which hosts may have been late."""
_HURRY = 0.5
"""Transmission times between acknowledgements of packets that left the bottleneck one after the other."""
_SHORT, _PLAIN = 0.4, 20.0
"""Losses that depend on a queue so much shorter than it was at other times, and make that likelier by this, are not of drop-tail."""
_OFTEN_MARKED = 0.5
"""Of acknowledgements: of more than that the bits are no marks but AccECN's counter (RFC 9768 §3.2.2), which is not 0 to begin with."""
_DECIDED, _MORE = 8.0, 2.0
"""Losses depend on the queue if that makes them likelier by this, in natural logarithms, and so many times as frequent."""


@dataclass(frozen=True)
class Estimate:
    """What was found, in the unit of the field that has it.

    Attributes:
        value: None if it cannot be told.
        low, high: an interval; of what cannot be told, what is known of it.
        why: how it was found, or why not.

    """

    value: float | None
    low: float
    high: float
    why: str


@dataclass(frozen=True)
class Path:
    """A bottleneck.

    Attributes:
        rate_bps: of IP packets. delay_s: both ways. buffer_packets: full packets, the one in transmission included. loss: of a packet, besides overflow.
        lost, strays: numbers of the packets with data that were lost, from 1 as the sender sent them: all, and those besides overflow.
        overflowed: how many were lost at a full queue.
        floor_s: the round trip of a full packet if nothing is queued.
        not_drop_tail: by what it is seen that the queue is managed (CoDel, PIE, RED, ...); None if it may be one with drop-tail.
        assumed_packets: the buffer of a study where it was not told; None: twice what was seen in it.

    """

    rate_bps: Estimate
    delay_s: Estimate
    buffer_packets: Estimate
    loss: Estimate
    lost: tuple[int, ...]
    strays: tuple[int, ...]
    overflowed: int
    floor_s: float
    not_drop_tail: str | None
    assumed_packets: float | None = None


def path(seen: Packets, rate: Estimate | None = None) -> Path:
    """Rate, propagation, buffer and loss of the bottleneck that the packets crossed; the rate is known if others shared it."""
    if rate is None:
        crowd = _crowd(seen)
        _, floor = _delay(seen, crowd)
        rate = _rate(seen, crowd, floor)
    assert rate.value is not None
    delay, floor = _delay(seen, rate.value)
    queued = queued_packets(seen, rate.value, floor)
    lost, sent = around(seen, queued, seen.lost, rate.value), around(seen, queued, seen.sent, rate.value)
    prompt = queued[seen.prompt & ~_hurried(seen, rate.value)]
    usual, longest = (float(each) for each in np.quantile(prompt, [_USUAL, _LONGEST])) if prompt.size else (0.0, 0.0)
    managed = _managed(seen, lost, sent, usual)
    edge = math.inf if managed else _edge(lost, sent, longest)[0]
    full = lost >= edge
    return Path(
        rate_bps=rate,
        delay_s=delay,
        buffer_packets=_buffer(seen, queued, seen.lost[full], rate.value, floor, managed),
        loss=_loss(lost, sent, edge, _amid(seen.lost, full, _REACH * 8 * seen.packet / rate.value)),
        lost=tuple(np.unique(seen.lost_number).tolist()),
        strays=tuple(np.unique(seen.lost_number[~full]).tolist()),
        overflowed=int(full.sum()),
        floor_s=floor,
        not_drop_tail=managed,
    )


def _hurried(seen: Packets, rate_bps: float) -> NDArray[np.bool_]:
    """Which round trips ended nearer to others than the bottleneck sends packets, but not at once: a host that had other things to do took them in late, one after the other."""
    came = seen.asked + seen.took
    order = np.argsort(came, kind="stable")
    apart = np.diff(came[order])
    near = (apart > 0) & (apart < _HURRY * 8 * seen.packet / rate_bps)
    found = np.zeros(order.size, dtype=bool)
    found[order[1:]] |= near
    found[order[:-1]] |= near
    return found


def queued_packets(seen: Packets, rate_bps: float, floor: float) -> Vector:
    """Full packets at the bottleneck, itself included, that each round trip speaks of."""
    return np.maximum(seen.took - floor, 0.0) * rate_bps / 8 / seen.packet + 1


def _crowd(seen: Packets) -> float:
    """The most frequent rate of a few acknowledgements, bit/s."""
    modes = [_mode_over(seen, count) for count in (_FEW_ACKS, _ACKS)]
    # Of a window of as few acknowledgements as are counted each stretch has a pause: a round trip.
    return modes[0] if modes[0] > 2 * modes[1] else modes[1]


def _mode_over(seen: Packets, count: int) -> float:
    gained, spent = seen.arrived[count:] - seen.arrived[:-count], seen.at[count:] - seen.at[:-count]
    usable = spent > 0
    return math.exp(mode(np.log(8 * seen.packet / seen.segment * gained[usable] / spent[usable])))


def _rate(seen: Packets, crowd: float, floor: float) -> Estimate:
    """The rate of stretches of acknowledgements of packets that were queued: then the bottleneck was busy all the time."""
    factor = 8 * seen.packet / seen.segment
    queued = queued_packets(seen, crowd, floor)
    came = seen.asked + seen.took
    order = np.argsort(came, kind="stable")
    last = np.clip(np.searchsorted(came[order], seen.at, side="right") - 1, 0, came.size - 1)
    # A round trip that came long ago says nothing of now.
    busy = (queued[order][last] > _BUSY) & (seen.at - came[order][last] < _REACH * 8 * seen.packet / crowd)
    rates: list[float] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], busy.astype(int), [0]])))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        if end - first >= _FEWEST_STRETCH:
            rates += [
                factor * float(seen.arrived[to] - seen.arrived[begin]) / float(seen.at[to] - seen.at[begin])
                for begin, to in _pieces(int(first), int(end) - 1)
            ]
    near = [rate for rate in rates if abs(math.log(rate / crowd)) < _NEAR]
    if len(near) < _FEWEST_STRETCHES:
        return Estimate(
            crowd,
            crowd * (1 - _NEAR),
            crowd * (1 + _NEAR),
            "the most frequent rate of a few acknowledgements: the queue was too seldom busy",
        )
    found = median(near)
    # An acknowledgement that was delayed makes a stretch look slower, and nothing makes it faster: the most frequent is nearer than the middle.
    value = math.exp(mode(np.log(np.array(near))))
    return Estimate(
        value,
        min(found.low, value * 0.999),
        max(found.high, value * 1.001),
        f"the most frequent of {len(near)} stretches in which packets were queued",
    )


def _pieces(first: int, last: int, most: int = 60) -> list[tuple[int, int]]:
    """A stretch in pieces of about so many acknowledgements."""
    count = max(1, (last - first) // most)
    edges = np.linspace(first, last, count + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def mode(values: Vector) -> float:
    """The half-sample mode (Robertson and Cryer 1974; Bickel and Frühwirth 2006)."""
    kept = np.sort(values)
    while kept.size > 3:
        half = (kept.size + 1) // 2
        first = int(np.argmin(kept[half - 1 :] - kept[: kept.size - half + 1]))
        kept = kept[first : first + half]
    return float(np.median(kept))


def _delay(seen: Packets, rate_bps: float) -> tuple[Estimate, float]:
    """The propagation both ways, and what a full packet takes where nothing is queued, seconds."""
    acknowledgement = seen.header * 8 / rate_bps
    sending = seen.packet * 8 / rate_bps
    of_data = float(np.min(seen.took)) - sending - acknowledgement
    least = seen.row["min_rtt_ns"] / 1e9
    if seen.row["handshake"] == "whole" and least < np.min(seen.took):
        of_handshake = least - 2 * _SYN * 8 / rate_bps
        found, apart = min(of_data, of_handshake), abs(of_data - of_handshake)
        why = "the least round trip less its transmission times, of the handshake and of data"
    else:
        # The least may be of a segment behind another.
        found, apart = of_data, sending
        why = "the least round trip of data less its transmission times"
    apart = max(apart, _CLOCKS * abs(found))
    floor = found + sending + acknowledgement
    low = max(found - apart, 0.0)
    if seen.row["handshake"] != "whole":
        low, why = 0.0, f"{why}; without the connection's beginning it is not known that the queue was ever empty"
    return Estimate(max(found, 0.0), low, max(found + apart, 0.0), why), floor


def around(seen: Packets, queued: Vector, times: Vector, rate_bps: float) -> Vector:
    """How many packets were queued when others were sent: the most of those just before, just after and about then; NaN where none is near."""
    packet = 8 * seen.packet / rate_bps
    first, last = np.searchsorted(seen.asked, times - packet / 2), np.searchsorted(seen.asked, times + packet / 2, side="right")
    first, last = np.maximum(first - 1, 0), np.minimum(last + 1, seen.asked.size)
    first += seen.asked[first] < times - _REACH * packet
    last -= seen.asked[last - 1] > times + _REACH * packet
    return most(queued, first, last)


def most(values: Vector, first: NDArray[np.int64], last: NDArray[np.int64]) -> Vector:
    """The largest of `values[first[i]:last[i]]`, NaN of none: by the largest of 1, 2, 4, ... from each place on."""
    found = np.full(first.size, np.nan)
    length, largest = 1, values
    while True:
        inside = (last - first >= length) & (last - first < 2 * length)
        found[inside] = np.maximum(largest[first[inside]], largest[last[inside] - length])
        if not np.any(last - first >= 2 * length):
            return found
        largest = np.maximum(largest[:-length], largest[length:])
        length *= 2


def _managed(seen: Packets, lost: Vector, sent: Vector, usual: float) -> str | None:
    """By what it is seen that the queue is not one with drop-tail, which loses packets only where it is longest; None if it is not."""
    if told := marked(seen):
        return told
    edge, gain = _edge(lost, sent, 0.0)
    if gain > _PLAIN and edge < _SHORT * usual:
        return f"packets were lost from a queue of {max(edge, 0.0):.3g} packets on, and it was longer than {usual:.3g} at other times"
    return None


def marked(seen: Packets) -> str | None:
    """What marks (ECN) tell of the queue, if there were some."""
    marks = seen.row["ecn_signals"] or 0
    return f"{marks} acknowledgements told of marks (ECN)" if 0 < marks < _OFTEN_MARKED * seen.since.size else None


def _edge(lost: Vector, sent: Vector, longest: float) -> tuple[float, float]:
    """From how long a queue on packets are lost because it is full, infinite if losses do not depend on it; and by how much that makes them likelier (the logarithm).

    Of all lengths at which something was lost the one that parts losses best in two shares, below it and from it on: the most likely one. A queue with
    drop-tail that was longer at other times was not full.
    """
    known, among = np.sort(lost[np.isfinite(lost)]), np.sort(sent[np.isfinite(sent)])
    edges = np.unique(known)
    edges = edges[edges >= _NEARLY * longest - _ROOM]
    if known.size < 2 or edges.size == 0:
        return math.inf, 0.0
    above, of = known.size - np.searchsorted(known, edges), among.size - np.searchsorted(among, edges - _ROOM)
    below, under = known.size - above, among.size - of
    gain = _likelihood(above, of) + _likelihood(below, under) - _likelihood(np.array([known.size]), np.array([among.size]))[0]
    # Where a queue is full nearly always there are edges, too, from which on less is lost.
    gain[above / np.maximum(1, of) <= _MORE * below / np.maximum(1, under)] = 0.0
    best = int(np.argmax(gain))
    if gain[best] <= _DECIDED:
        return math.inf, 0.0
    # Those that are a little below are of full queues, too.
    return float(edges[best]) - min(_BELOW, _BELOW_SHARE * float(edges[best])), float(gain[best])


def _likelihood(lost: NDArray[Any], of: NDArray[Any]) -> Vector:
    """The logarithm of how likely so many losses of so many packets are, at the share that makes them most likely."""
    lost, of = np.minimum(lost, of).astype(np.float64), of.astype(np.float64)
    share_lost = lost / np.maximum(of, 1)
    kept = of - lost
    return lost * np.log(np.maximum(share_lost, 1e-300)) + kept * np.log(np.maximum(1 - share_lost, 1e-300))


def _buffer(seen: Packets, queued: Vector, overflowed: Vector, rate_bps: float, floor: float, managed: str | None) -> Estimate:
    """The queue that packets found room in just when others did not."""
    if managed:
        return Estimate(
            None,
            float(np.quantile(queued, 0.999)),
            math.inf,
            f"cannot tell: the queue is not drop-tail: {managed}; it has room for what was queued",
        )
    if overflowed.size == 0:
        # A few round trips may be of hosts that had other things to do.
        most = float(np.quantile(queued, 0.999))
        return Estimate(
            None,
            most,
            math.inf,
            "cannot tell: no losses crowd where the queue was longest, so it was never seen full; it has room for what was queued",
        )
    packet = 8 * seen.packet / rate_bps
    after = (
        np.clip(np.searchsorted(overflowed, seen.asked), 1, overflowed.size - 1)
        if overflowed.size > 1
        else np.zeros(seen.asked.size, dtype=int)
    )
    apart = np.minimum(np.abs(seen.asked - overflowed[after]), np.abs(seen.asked - overflowed[np.maximum(after - 1, 0)]))
    near = apart < _REACH * packet
    found = queued[seen.at_once & near]
    if found.size < _FEWEST_FULL:
        # Round trips of acknowledgements that waited for another packet are longer by that.
        found = queued[near] - 1
    surely = _at_least(seen, queued, near, (min(_HELD, _HELD_SHARE * floor) + _SLACK) / packet)
    value = math.ceil(surely - _EXACT if surely is not None else float(np.quantile(found, 0.9)) - _FRACTION)
    low, high = min(0.98 * value - 1, float(np.quantile(found, 0.5))), max(value, float(np.quantile(found, 0.99))) + 1
    return Estimate(value, low, high, f"what was queued when {overflowed.size} packets were dropped at a full queue")


def _at_least(seen: Packets, queued: Vector, near: NDArray[np.bool_], held: float) -> float | None:
    """How much was queued there: by acknowledgements that were not held back, or, if that is more, by others that told of one packet, less what these may have been held.

    None if both are too few. `held` is in packets. The packet in transmission has left in part, so that what room there is for is the next whole number.
    """
    told = (queued[seen.first & near], queued[seen.alone & ~seen.first & near] - held)
    return max((float(np.quantile(each, 0.9)) for each in told if each.size >= _FEWEST_FULL), default=None)


def _amid(times: Vector, full: NDArray[np.bool_], reach: float) -> int:
    """How many met a queue that did not look full, and were lost so near to others that it may have been: what chance loses is seldom together."""
    near = np.diff(times) < reach
    together = np.append(near, False) | np.append(False, near)
    return int(np.sum(together[: times.size] & ~full))


def _loss(lost: Vector, sent: Vector, edge: float, uncertain: int) -> Estimate:
    """Of what was sent while the queue was not full, and known not to be; the interval begins where it would without those that are uncertain."""
    count, of = int(np.sum(lost < edge)), int(np.sum(sent < edge))
    if of < FEWEST_PACKETS:
        return Estimate(None, 0.0, 1.0, "cannot tell: the queue was full nearly always")
    found = share(count, of)
    low = share(max(count - uncertain, 0), of).low
    return Estimate(found.estimate, low, found.high, f"{count} of {of} packets were lost that met a queue that was not full")
