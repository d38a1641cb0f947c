"""ICMP (RFC 792, RFC 1191) as a script says it, as bytes: an error that quotes a segment of the host's."""

from __future__ import annotations

import re
import struct

from sawtooth.conformance.endpoint import NotApplicable
from sawtooth.conformance.wire import Addresses, checksum

_TEXT = re.compile(r"icmp (\w+)(?: (?!mtu)(\w+))?(?: mtu (\d+))?(?: \[(\d+):(\d+)\((\d+)\)\])?")
_TYPES = {"unreachable": 3, "source_quench": 4, "time_exceeded": 11, "parameter_problem": 12}
_CODES = {
    "net_unreachable": 0,
    "host_unreachable": 1,
    "protocol_unreachable": 2,
    "port_unreachable": 3,
    "frag_needed": 4,
    "source_route_failed": 5,
}
_ICMP, _TCP = 1, 6
_MODULUS = 2**32


def to_bytes(text: str, ends: Addresses) -> bytes:
    """A packet of the peer's; `NotApplicable` if the text says no such error."""
    found = _TEXT.fullmatch(text)
    if found is None or found[1] not in _TYPES or (found[2] and found[2] not in _CODES):
        raise NotApplicable(f"a packet that is none of TCP: {text}")
    _, code, mtu, start, _, length = found.groups()
    sequence = (int(start or 0) + ends.local_isn) % _MODULUS
    quoted = struct.pack("!HHIIHHHH", ends.local[1], ends.remote[1], sequence, 0, 5 << 12 | 16, 0, 0, 0)
    inner = _ip(ends.local[0].packed, ends.remote[0].packed, _TCP, len(quoted) + int(length or 0)) + quoted
    error = struct.pack("!BBHHH", _TYPES[found[1]], _CODES.get(code or "", 0), 0, 0, int(mtu or 0)) + inner
    error = error[:2] + struct.pack("!H", checksum(error)) + error[4:]
    return _ip(ends.remote[0].packed, ends.local[0].packed, _ICMP, len(error)) + error


def _ip(source: bytes, destination: bytes, protocol: int, length: int) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 255, protocol, 0) + source + destination
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:]
