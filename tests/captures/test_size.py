"""A capture of gigabytes is read in a memory that does not grow with it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from tests.captures.made import ACK, SYN, pcap, segment

_SEGMENTS = 10_000
_PAYLOAD = 1460


def connection() -> tuple[bytes, list[int]]:
    """A connection of 15 MB with all its bytes as records of pcap, and where records begin."""
    parts: list[bytes] = []
    starts: list[int] = []
    at = 0

    def add(microseconds: int, packet: bytes, payload: int = 0) -> None:
        nonlocal at
        record = struct.pack("<IIII", 0, microseconds, len(packet) + payload, len(packet) + payload) + packet + bytes(payload)
        starts.append(at)
        parts.append(record)
        at += len(record)

    add(0, segment(0, 0, 0, SYN))
    add(1, segment(1, 0, 1, SYN | ACK))
    add(2, segment(0, 1, 1, ACK))
    for number in range(_SEGMENTS):
        # One in a hundred is sent again.
        for copy in range(2 if number % 100 == 0 else 1):
            add(10 * number + 3 + copy, segment(0, 1 + number * _PAYLOAD, 1, ACK, _PAYLOAD, ip_id=number + copy), _PAYLOAD)
        add(10 * number + 8, segment(1, 1, 1 + (number + 1) * _PAYLOAD, ACK))
    return b"".join(parts), starts


def repeated(gigabytes: float) -> Iterator[bytes]:
    """Connections one after the other, each of another port and later."""
    block, starts = connection()
    content = np.frombuffer(block, dtype=np.uint8).copy()
    first = np.array(starts)
    # The port of end 0 is the first of its packets' two, and the second of the others'.
    is_sender = content[first + 16 + 15] == 1
    ports = first + 16 + 20 + np.where(is_sender, 0, 2)
    yield pcap([])
    for turn in range(int(gigabytes * 1e9 / len(block))):
        content[first] = turn % 256
        content[first + 1] = turn // 256
        content[ports + 1] = turn % 256
        content[ports] = 0x40 + turn // 256
        yield content.tobytes()


def peak_kib(gigabytes: float) -> tuple[int, bytes]:
    """The largest resident memory of `sawtooth analyze`, and what it said."""
    command = [sys.executable, "-m", "sawtooth.cli", "analyze", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for part in repeated(gigabytes):
            process.stdin.write(part)
        process.stdin.close()
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss, out


@pytest.mark.long
def test_two_gigabytes_take_hardly_more_memory_than_a_fifth_of_that() -> None:
    small, _ = peak_kib(0.4)
    large, out = peak_kib(2.0)
    assert b"sent again" in out
    assert large < 700 << 10, "the core's tables are bounded"
    assert large < 1.6 * small
