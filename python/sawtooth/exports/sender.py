"""A TCP sender as a protocol with packet numbers, such as QUIC, would show it: which transmission an acknowledgement is of, and which was lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from sawtooth._core import CapturedSegment

FIN, SYN, ACK = 1, 2, 16
"""Bits of a header (RFC 9293 §3.1)."""
_WRAP = 1 << 32
_COMPACT = 4096


@dataclass
class Sent:
    """A stretch of the stream as it was sent last.

    Attributes:
        first, end: its bytes, from 0.
        number: of the packet.
        t_ns: when that was.
        again: whether it had been sent before.
        arrived: whether it was acknowledged, selectively or cumulatively.

    """

    first: int
    end: int
    number: int
    t_ns: int
    again: bool = False
    arrived: bool = False


@dataclass(frozen=True)
class Acknowledged:
    """What an acknowledgement says that none before it did.

    Attributes:
        numbers: of the packets, ascending.
        rtt_ns: since the largest of them was sent, if it was sent once (Karn, RFC 6298 §3; RFC 9002 §5.1 takes the largest, too); None if that tells nothing.

    """

    numbers: Sequence[int]
    rtt_ns: int | None


@dataclass
class Sender:
    """One end of a connection, by the packets that it sends and gets.

    Attributes:
        number: of the next packet that it sends. received: of the next that it gets.
        recovers: the byte whose acknowledgement ends loss recovery; None outside of it.

    """

    number: int = 0
    received: int = 0
    recovers: int | None = None
    _base: int | None = None
    _other: int | None = None
    _got: int = 0
    _next: int = 0
    _una: int = 0
    _firsts: list[int] = field(default_factory=list[int])
    _sent: list[Sent] = field(default_factory=list[Sent])
    _head: int = 0
    _scanned: dict[int, int] = field(default_factory=dict[int, int])

    def offset(self, packet: CapturedSegment) -> int:
        """The byte of the stream that a packet of its own begins with, from 0."""
        if self._base is None:
            # SYN takes a number of its own (RFC 9293 §3.4).
            self._base = packet.seq + (1 if packet.flags & SYN else 0)
        return self._unwrapped(packet.seq)

    def offset_of_other(self, packet: CapturedSegment) -> int:
        """The byte of the other end's stream that a packet of that end begins with, from 0."""
        if self._other is None:
            self._other = packet.seq + (1 if packet.flags & SYN else 0)
        offset = _near(packet.seq - self._other, self._got)
        self._got = max(self._got, offset)
        return offset

    def send(self, packet: CapturedSegment) -> tuple[int, list[int]]:
        """Counts a packet of its own; its number, and those of the packets whose loss it repairs."""
        first = self.offset(packet)
        number = self.number
        self.number += 1
        size = packet.payload + (1 if packet.flags & FIN else 0)
        if packet.flags & SYN or not size:
            return number, []
        end = first + size
        lost: list[int] = []
        at = max(self._head, bisect_left(self._firsts, first + 1) - 1)
        while at < len(self._sent) and self._sent[at].first < end:
            entry = self._sent[at]
            if entry.end > first and not entry.arrived:
                if entry.number not in lost:
                    lost.append(entry.number)
                entry.number, entry.t_ns, entry.again = number, packet.t_ns, True
            at += 1
        if end > self._next:
            self._firsts.append(max(first, self._next))
            self._sent.append(Sent(max(first, self._next), end, number, packet.t_ns, again=bool(lost)))
            self._next = end
        if lost and self.recovers is None:
            self.recovers = self._next
        return number, lost

    def get(self, packet: CapturedSegment) -> Acknowledged:
        """Counts a packet of the other end, and takes its acknowledgement."""
        self.received += 1
        fresh: list[Sent] = []
        if not packet.flags & ACK:
            return Acknowledged([], None)
        una = self._unwrapped(packet.ack)
        for left, right in packet.sacks:
            self._take(self._unwrapped(left), self._unwrapped(right), fresh)
        if una > self._una:
            self._una = una
            while self._head < len(self._sent) and self._sent[self._head].end <= una:
                entry = self._sent[self._head]
                if not entry.arrived:
                    entry.arrived = True
                    fresh.append(entry)
                self._head += 1
            self._forget()
        if self.recovers is not None and self._una >= self.recovers:
            self.recovers = None
        if not fresh:
            return Acknowledged([], None)
        largest = max(fresh, key=lambda entry: entry.number)
        return Acknowledged(sorted({entry.number for entry in fresh}), None if largest.again else packet.t_ns - largest.t_ns)

    def _take(self, left: int, right: int, fresh: list[Sent]) -> None:
        """Marks what lies between two edges; of a block that has grown only the growth is looked at."""
        begin = max(self._scanned.get(left, left), left)
        at = max(self._head, bisect_left(self._firsts, begin))
        while at < len(self._sent) and self._sent[at].end <= right:
            entry = self._sent[at]
            if not entry.arrived:
                entry.arrived = True
                fresh.append(entry)
            begin = entry.end
            at += 1
        self._scanned[left] = begin

    def _forget(self) -> None:
        """Lets go of what is acknowledged, now and then."""
        if self._head >= _COMPACT:
            del self._firsts[: self._head], self._sent[: self._head]
            self._head = 0
            self._scanned = {left: right for left, right in self._scanned.items() if right > self._una}

    def _unwrapped(self, number: int) -> int:
        """A sequence number of its own stream as a byte from 0, by what is near to what was acknowledged last."""
        if self._base is None:
            # A capture that begins with a packet of the other end: its acknowledgement is of the first byte.
            self._base = number
        return _near(number - self._base, self._una)


def _near(number: int, byte: int) -> int:
    """The number without its wrap that is next to a byte."""
    near = (number - byte) % _WRAP
    return byte + (near - _WRAP if near >= _WRAP // 2 else near)
