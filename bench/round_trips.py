"""How many round trips a sender measures by the rule of its stack, counted of what a capture at it shows.

There are three rules (RFC 6298 §3, RFC 7323 §4.1), each as `crates/sawtooth-core/src/tcp/recovery` has it:

- of recoveries by the time of each segment (`rack`, `fack`): each acknowledgement that delivers, cumulatively or by SACK, a segment that was sent once, unless it also acknowledges one that was
  sent again; else each that acknowledges something, if it has a timestamp
- of the others with timestamps: each acknowledgement of something new
- of the others without: one segment at a time, until it is acknowledged or a loss begins to be repaired (Karn)

Who answers a SYN measures the handshake besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PER_SEGMENT = {"rack", "fack"}
"""Recoveries of the first rule."""


class Segment(Protocol):
    """A segment that was sent: the number after its last, and how often."""

    end: int
    times: list[float]


@dataclass
class RoundTripCount:
    """The count of one flow, to be told of what is sent and acknowledged in the order of the capture.

    Attributes:
        is_per_segment: whether the recovery is of the first rule.
        samples: round trips so far.

    """

    is_per_segment: bool
    samples: int = 0
    _timed: int | None = None
    _acked: int = 0
    _ack_time: float = -1.0
    _ack_is_new: bool = False
    _recovery_point: int = 0

    def on_sent(self, end: int, time: float, *, highest: int | None) -> None:
        """A segment leaves; `highest`: the number after all that was sent before, if it has been sent before."""
        if highest is None:
            if self._timed is None:
                self._timed = end
            return
        # Without an acknowledgement at this moment a timer has expired; with a duplicate one a loss is found, unless one is being repaired.
        is_timer = time > self._ack_time
        is_found = not self._ack_is_new and self._acked >= self._recovery_point
        if is_timer or is_found:
            self._timed = None
            self._recovery_point = highest

    def on_handshake(self, answers: int) -> None:
        """The other side's SYN has been answered so often when it acknowledges that."""
        self.samples += answers == 1

    def on_ack(self, ack: int, time: float, delivered: Sequence[Segment], *, has_echo: bool) -> None:
        """An acknowledgement comes, and delivers what was not before; `has_echo`: with a timestamp."""
        if ack < self._acked:
            return
        is_new = ack > self._acked
        if self.is_per_segment:
            has_original = any(len(segment.times) == 1 for segment in delivered)
            repairs = any(len(segment.times) > 1 and segment.end <= ack for segment in delivered)
            self.samples += (has_original and not repairs) or (is_new and has_echo)
        elif has_echo:
            self.samples += is_new
        elif self._timed is not None and ack >= self._timed:
            self.samples += 1
            self._timed = None
        self._acked, self._ack_time, self._ack_is_new = ack, time, is_new
