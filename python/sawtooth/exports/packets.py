"""The packets of a run, one after the other, from a capture that the simulator has just written; other captures are read by `sawtooth.captures`."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

EPOCH_NS = 946_684_800 * 10**9
"""Time 0 of a simulated run in its captures: the beginning of the year 2000, since 1970."""
_INTERFACE, _PACKET = 1, 6
_COMMENT, _FLAGS, _NAME = 1, 2, 2
_ETHERNET, _IPV4, _TCP = 14, 0x0800, 6
_SACK = 5
FIN, SYN, ACK = 1, 2, 16


@dataclass(frozen=True)
class Packet:
    """A TCP packet at a host.

    Attributes:
        t_ns: since the run began.
        flow: its name.
        outgoing: whether the host sent it.
        length: bytes of the IP packet. payload: those of TCP's payload.
        seq, ack: as the header has them. flags: its bits.
        sacks: left and right edges of its SACK blocks, the first first.

    """

    t_ns: int
    flow: str
    outgoing: bool
    length: int
    payload: int
    seq: int
    ack: int
    flags: int
    sacks: Sequence[tuple[int, int]]


def packets(path: Path) -> Iterator[Packet]:
    """The TCP packets of a capture at hosts, in the order of time; those that were damaged on their way are left out, as their hosts drop them."""
    names: list[str] = []
    with path.open("rb") as file:
        while True:
            head = file.read(8)
            if not head:
                return
            kind, length = struct.unpack("<II", head)
            body = _rest(file, length)
            if kind == _INTERFACE:
                names.append(next(value for code, value in _options(body, 8) if code == _NAME).decode())
            elif kind == _PACKET:
                found = _packet(body, names)
                if found is not None:
                    yield found


def _rest(file: BinaryIO, length: int) -> bytes:
    """What a block has between its two lengths."""
    return file.read(length - 8)[:-4]


def _options(body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(body):
        code, size = struct.unpack_from("<HH", body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _packet(body: bytes, names: Sequence[str]) -> Packet | None:
    interface, high, low, captured, _ = struct.unpack_from("<IIIII", body)
    frame = body[20 : 20 + captured]
    if struct.unpack_from(">H", frame, 12)[0] != _IPV4 or frame[_ETHERNET + 9] != _TCP:
        return None
    options = dict(_options(body, 20 + (captured + 3) // 4 * 4))
    if b"damaged" in options.get(_COMMENT, b""):
        return None
    length = struct.unpack_from(">H", frame, _ETHERNET + 2)[0]
    start = _ETHERNET + 4 * (frame[_ETHERNET] & 15)
    _, _, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", frame, start)
    header = 4 * (offset >> 4)
    outgoing = struct.unpack("<I", options[_FLAGS])[0] & 3 == 2
    payload = length - (start - _ETHERNET) - header
    sacks = _sacks(frame[start + 20 : start + header])
    t_ns = (high << 32 | low) - EPOCH_NS
    return Packet(t_ns, names[interface], outgoing, length, payload, seq, ack, flags, sacks)


def _sacks(options: bytes) -> list[tuple[int, int]]:
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        size = options[at + 1]
        if options[at] == _SACK:
            edges = struct.unpack_from(f">{(size - 2) // 4}I", options, at + 2)
            return list(zip(edges[::2], edges[1::2], strict=True))
        at += size
    return []
