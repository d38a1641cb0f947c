"""Segments as bytes of IPv4 (RFC 791) and TCP (RFC 9293 §3.1), and back."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from sawtooth.conformance.endpoint import NotApplicable
from sawtooth.conformance.script import Segment

_FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "U": 32, "E": 64, "W": 128, "A": 256}
_ECN = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
_TCP = 6
_EOL, _NOP, _MSS, _WSCALE, _SACK_PERMITTED, _SACK, _STAMPS, _MD5, _FAST_OPEN, _EXPERIMENT = 0, 1, 2, 3, 4, 5, 8, 19, 34, 254
_FAST_OPEN_EXPERIMENT = b"\xf9\x89"
"""Of Fast Open before it had a kind of its own (RFC 7413 appendix A, RFC 6994)."""
_MOST_OPTION_BYTES = 40
_MODULUS = 2**32


@dataclass
class Addresses:
    """The two ends of a connection, and the initial sequence number of each; the local port is 0 until a SYN has left that says it."""

    local: tuple[IPv4Address, int]
    remote: tuple[IPv4Address, int]
    local_isn: int = 0
    remote_isn: int = 0


def to_bytes(segment: Segment, ends: Addresses) -> bytes:
    """A packet of the peer's."""
    options = b"".join(_option(kind, value, ends) for kind, value in (segment.options or {}).items())
    options += bytes([_NOP]) * (-len(options) % 4)
    if len(options) > _MOST_OPTION_BYTES:
        raise NotApplicable(f"{len(options)} bytes of options")
    flags = sum(_FLAGS[letter] for letter in segment.flags)
    if "S" in segment.flags:
        # A script numbers what follows from the initial number of its SYN.
        ends.remote_isn = segment.start
    sequence = (segment.start + (0 if "S" in segment.flags else ends.remote_isn)) % _MODULUS
    acknowledged = ((segment.ack or 0) + ends.local_isn) % _MODULUS if "." in segment.flags else 0
    words = ((20 + len(options)) // 4) << 12 | flags
    window = 65_535 if segment.window is None else segment.window
    tcp = struct.pack("!HHIIHHHH", ends.remote[1], ends.local[1], sequence, acknowledged, words, window, 0, segment.urgent)
    tcp += options + bytes(segment.length)
    pseudo = ends.remote[0].packed + ends.local[0].packed + struct.pack("!BBH", 0, _TCP, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    tos = _ECN[segment.ecn or "noecn"]
    head = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(tcp), 0, 0, 255, _TCP, 0) + ends.remote[0].packed + ends.local[0].packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + tcp


def from_bytes(packet: bytes, ends: Addresses) -> Segment | None:
    """A packet of the host's, if it is of this connection; its SYN says what its numbers begin with."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != _TCP:
        return None
    header = (packet[0] & 15) * 4
    tcp = packet[header : struct.unpack("!H", packet[2:4])[0]]
    port, remote_port, sequence, acknowledged, words, window = struct.unpack("!HHIIHH", tcp[:16])
    flags = "".join(letter for letter, bit in _FLAGS.items() if words & bit)
    if remote_port != ends.remote[1] or (ends.local[1] != port and (ends.local[1] or "S" not in flags)):
        return None
    if "S" in flags:
        ends.local_isn = sequence
        ends.local = (ends.local[0], port)
    length = len(tcp) - (words >> 12) * 4
    options = _options(tcp[20 : (words >> 12) * 4], ends)
    # A script has the numbers of SYNs as they are, and others from the initial ones on.
    offset = 0 if "S" in flags else ends.remote_isn
    ack = (acknowledged - offset) % _MODULUS if "." in flags else None
    ecn = next(word for word, bits in _ECN.items() if bits == packet[1] & 3)
    return Segment(flags, (sequence - ends.local_isn) % _MODULUS, length, ack, window, options, ecn)


def checksum(data: bytes) -> int:
    """The checksum of the Internet (RFC 1071)."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _option(kind: str, value: Any, ends: Addresses) -> bytes:
    match kind:
        case "mss":
            return struct.pack("!BBH", _MSS, 4, value)
        case "sackOK":
            return bytes([_NOP, _NOP, _SACK_PERMITTED, 2])
        case "wscale":
            return bytes([_NOP, _WSCALE, 3, value])
        case "TS":
            return struct.pack("!BBBBII", _NOP, _NOP, _STAMPS, 10, *value)
        case "sack":
            borders = [(border + ends.local_isn) % _MODULUS for block in value for border in block]
            return struct.pack(f"!BBBB{len(borders)}I", _NOP, _NOP, _SACK, 2 + 4 * len(borders), *borders)
        case "FO":
            cookie = _hexadecimal(kind, value)
            return struct.pack("!BB", _FAST_OPEN, 2 + len(cookie)) + cookie
        case "FOEXP":
            cookie = _hexadecimal(kind, value)
            return struct.pack("!BB2s", _EXPERIMENT, 4 + len(cookie), _FAST_OPEN_EXPERIMENT) + cookie
        case "md5":
            digest = _hexadecimal(kind, value)
            return struct.pack("!BB", _MD5, 2 + len(digest)) + digest
        case _:
            raise NotApplicable(f"the option {kind} of TCP")


def _hexadecimal(kind: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotApplicable(f"the option {kind} with `{text}`") from None


def _options(data: bytes, ends: Addresses) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    while at < len(data) and data[at] != _EOL:
        kind = data[at]
        if kind == _NOP:
            at += 1
            continue
        length = max(2, data[at + 1])
        value = data[at + 2 : at + length]
        if kind == _MSS:
            found["mss"] = int.from_bytes(value, "big")
        elif kind == _SACK_PERMITTED:
            found["sackOK"] = None
        elif kind == _WSCALE:
            found["wscale"] = value[0]
        elif kind == _STAMPS:
            found["TS"] = struct.unpack("!II", value)
        elif kind == _SACK:
            borders = [(border - ends.remote_isn) % _MODULUS for border in struct.unpack(f"!{len(value) // 4}I", value)]
            found["sack"] = list(zip(borders[::2], borders[1::2], strict=True))
        elif kind == _FAST_OPEN:
            found["FO"] = value.hex()
        elif kind == _EXPERIMENT and value[:2] == _FAST_OPEN_EXPERIMENT:
            found["FOEXP"] = value[2:].hex()
        elif kind == _MD5:
            found["md5"] = value.hex()
        else:
            found[f"option{kind}"] = value.hex()
        at += length
    return found
