"""Captures made byte by byte: pcap of raw IPv4, as many segments as a test asks for."""

from __future__ import annotations

import struct
from collections.abc import Iterable

SYN, ACK, FIN = 2, 16, 1
ENDS = (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")


def segment(sender: int, seq: int, ack: int, flags: int, payload: int = 0, *, ip_id: int = 0, window: int = 60000) -> bytes:
    """A packet between port 5000 of 10.0.0.1 (0) and port 80 of 10.0.0.2 (1); of the payload only its length is there."""
    ports = (5000, 80) if sender == 0 else (80, 5000)
    tcp = struct.pack("!HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, flags, window, 0, 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + payload, ip_id % 2**16, 0, 64, 6, 0) + ENDS[sender] + ENDS[1 - sender]
    return ip + tcp


def pcap(packets: Iterable[tuple[float, bytes]], link: int = 101) -> bytes:
    """The file of packets, with times in seconds."""
    file = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, link)]
    for time, packet in packets:
        microseconds = round(time * 1e6)
        length = struct.unpack("!H", packet[2:4])[0]
        file += [struct.pack("<IIII", *divmod(microseconds, 10**6), len(packet), length), packet]
    return b"".join(file)


def transfer(segments: int, lost_every: int = 0, size: int = 1000) -> list[tuple[float, bytes]]:
    """A transfer over a round trip of 40 ms, seen at the sender: a segment each 1 ms; each so many are lost once, and sent again 50 ms later."""
    packets = [(0.0, segment(0, 0, 0, SYN)), (0.04, segment(1, 0, 1, SYN | ACK)), (0.04001, segment(0, 1, 1, ACK))]
    sent: list[tuple[float, int, bool]] = []
    for number in range(segments):
        is_lost = bool(lost_every) and number % lost_every == lost_every - 1
        sent.append((0.05 + number * 1e-3, number, is_lost))
        if is_lost:
            sent.append((0.1003 + number * 1e-3, number, False))
    arrived: set[int] = set()
    expected = 0
    for ip_id, (at, number, is_lost) in enumerate(sorted(sent), 1):
        packets.append((at, segment(0, 1 + number * size, 1, ACK, size, ip_id=ip_id)))
        if not is_lost:
            arrived.add(number)
            while expected in arrived:
                arrived.discard(expected)
                expected += 1
            packets.append((at + 0.04, segment(1, 1, 1 + expected * size, ACK)))
    return sorted(packets, key=lambda each: each[0])
