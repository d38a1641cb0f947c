"""Times at which the path was silent: data were sent again and again, and nothing arrived.

The threshold is not chosen here. RFC 9293 section 3.8.3 (RFC 1122 section 4.2.3.5) has a sender take the path for broken from three retransmissions of the same segment on (R1): so a
stretch in which nothing arrives counts as silence if one segment was sent again three times in it, all in vain. Timers double meanwhile, so three losses by chance, without any arrival between them, are rare.

When it began is known within what the next acknowledgement would have taken. If what had been sent before arrived after it, packets waited, and it ended when they did. Otherwise they were lost, and it ended
after the last copy that was in vain, and before the one that was answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sawtooth.fitting.packets import Numbers, Packets
from sawtooth.stats import Vector

_R1 = 3
"""Retransmissions of a segment (RFC 9293 section 3.8.3)."""
_OF_ROUND_TRIPS = ("asked", "took", "at_once", "prompt", "alone", "first", "asked_number")
"""Fields of `Packets` that have an entry for each round trip."""


@dataclass(frozen=True)
class Silence:
    """A stretch without arrivals; seconds since the flow's first packet.

    Attributes:
        since_s, until_s: when the last came before it, and the first after it, or when the capture ended.
        again: how many times a segment was sent again in vain. vain_s: when it was for the last time.
        waited: whether what had been sent before arrived after it.
        began_s: when the link went down. ended_low_s, ended_high_s: between which times it came up again; ended_s: when, as a study has it.
        reached_s: when the last was sent that arrived before.

    """

    since_s: float
    until_s: float
    again: int
    vain_s: float
    waited: bool
    began_s: float
    ended_low_s: float
    ended_high_s: float
    ended_s: float
    reached_s: float

    @property
    def words(self) -> str:
        """What was seen."""
        after = ", and what had been sent before arrived after it" if self.waited else f", the last time in vain at {self.vain_s:.4g} s"
        return (
            f"nothing arrived from {self.since_s:.4g} s to {self.until_s:.4g} s, though a segment was sent again {self.again} times{after}"
        )

    @property
    def outage(self) -> dict[str, str]:
        """As a link of a scenario has it."""
        return {"from": f"{self.began_s:.4f} s", "until": f"{self.ended_s:.4f} s"} | ({"packets": "wait"} if self.waited else {})


def silences(seen: Packets) -> list[Silence]:
    """All of a flow, in order."""
    return [*_silences(seen)]


def _silences(seen: Packets) -> Iterator[Silence]:
    least, end = float(np.min(seen.took)), float(seen.since[-1])
    before, after = [*seen.at[:1], *seen.at[:-1]], [*seen.at[1:], end]
    for last, since, until in zip(map(float, before), map(float, seen.at), map(float, after), strict=True):
        copies = _of_one_segment(seen, since, until)
        # The last that was sent a round trip before the first arrival is what that answers; at the end of a capture there is none.
        vain = copies if until == end else copies[: max(int(np.sum(copies <= until - least)) - 1, 0)]
        if vain.size < _R1:
            continue
        came = seen.asked + seen.took
        waited = bool(np.any((seen.asked <= since) & (came >= until)))
        # It ended between these; any time between does the same to packets that are lost, and the middle is farthest from where it would not.
        low, high = (until - least, until) if waited else (float(vain[-1]), float(copies[vain.size]) if vain.size < copies.size else end)
        # The last acknowledgement had still to come back, half of the least round trip, and the next would have been as long after it as it was after the one before.
        began = since - least / 2 + min(since - last, least) / 2
        reached = seen.asked[came <= since]
        yield Silence(
            since, until, vain.size, float(vain[-1]), waited, max(began, 0.0), low, high, end if until == end else (low + high) / 2,
            float(np.max(reached)) if reached.size else since,
        )  # fmt: skip


def _of_one_segment(seen: Packets, since: float, until: float) -> Vector:
    """When the segment was sent again that was most often, between these times."""
    first, last = np.searchsorted(seen.again, [since, until])
    if last - first < _R1:
        return seen.again[:0]
    times, begins = seen.again[first:last], seen.again_from[first:last]
    found, counts = np.unique(begins, return_counts=True)
    return times[begins == found[np.argmax(counts)]]


def unheard(seen: Packets, found: Sequence[Silence]) -> tuple[Packets, Numbers]:
    """The flow without what is of the path's silence, and so neither of its queue nor of chance: losses, whose numbers are told, and round trips that lasted through it."""
    silent, through = np.zeros(seen.lost.size, dtype=bool), np.zeros(seen.asked.size, dtype=bool)
    for each in found:
        silent |= (seen.lost > each.reached_s) & (seen.lost <= max(each.vain_s, each.until_s if each.waited else 0.0))
        through |= (seen.asked < each.until_s) & (seen.asked + seen.took >= each.until_s) & (seen.asked <= max(each.vain_s, each.since_s))
    heard: dict[str, Any] = {each.name: getattr(seen, each.name)[~through] for each in fields(seen) if each.name in _OF_ROUND_TRIPS}
    return replace(seen, lost=seen.lost[~silent], lost_number=seen.lost_number[~silent], **heard), seen.lost_number[silent]
