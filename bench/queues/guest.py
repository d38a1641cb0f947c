"""Runs inside a user-mode kernel, as its only process: feeds the kernel's queue disciplines. bench/queues/linux.py starts it.

The host's files are the root file system, read through hostfs. A pair of virtual Ethernet devices is the link; on its sending side a token
bucket of one packet is the transmitter, and the discipline is its child: the packet for which the bucket has no tokens yet has left the
discipline, and is the one in transmission. Packets go in through a packet socket at the times of the list; the other device shows what left
and when.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

TC, IP = "/usr/sbin/tc", "/sbin/ip"
ETH_P_ALL, ETH_P_IP, ETHERNET = 3, 0x0800, 14
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
SYS_FINIT_MODULE, MOUNT_NONE = 313, 0


def checked(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def load(modules: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for module in modules:
        with Path(module).open("rb") as file:
            if libc.syscall(SYS_FINIT_MODULE, file.fileno(), b"", 0) != 0 and ctypes.get_errno() != 17:
                raise OSError(ctypes.get_errno(), module)


def frame(number: int, flow: int, size: int, ecn: int) -> bytes:
    """A UDP packet of `size` bytes with its Ethernet header; in its data stands its number."""
    ip_bytes = size - ETHERNET
    udp = struct.pack("!HHHH", 1000 + flow, 5000, ip_bytes - 20, 0)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, ecn, ip_bytes, 0, 0, 64, 17, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack("!H", 0xFFFF & ~(total + (total >> 16))) + header[12:]
    content = header + udp + struct.pack("!Q", number)
    return b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x01" + struct.pack("!H", ETH_P_IP) + content.ljust(ip_bytes, b"\0")


def run(job: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Number, nanoseconds from the beginning and ECN field of every packet that left the transmitter."""
    checked(IP, "link", "add", "left", "type", "veth", "peer", "name", "right")
    for device in ("left", "right"):
        ipv6 = Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6")
        if ipv6.exists():
            ipv6.write_text("1")
        checked(IP, "link", "set", device, "up", "arp", "off")
    rate, burst = job["rate_bps"], job["burst_bytes"]
    checked(TC, "qdisc", "add", "dev", "left", "root", "handle", "1:", *f"tbf rate {rate}bit burst {burst}b limit 100000000".split())
    for command in job["commands"]:
        checked(TC, *command.format(dev="left").split())
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)
    out.bind(("left", ETH_P_IP))
    into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    into.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 30)
    into.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    into.bind(("right", ETH_P_ALL))
    into.setblocking(False)
    packets = [tuple(map(int, line.split())) for line in Path(job["arrivals"]).read_text().splitlines()]
    left: list[tuple[int, int, int]] = []

    # Packets' times are the system's, read by the kernel when the device gets them.
    begin = time.clock_gettime_ns(time.CLOCK_REALTIME) + 1_000_000_000

    def receive() -> None:
        while True:
            try:
                data, ancillary, _, _ = into.recvmsg(64, 64)
            except BlockingIOError:
                return
            if len(data) < 50 or data[12:14] != b"\x08\0":
                continue
            seconds, ns = struct.unpack("qq", ancillary[0][2])
            left.append((struct.unpack("!Q", data[42:50])[0], seconds * 1_000_000_000 + ns - begin, data[15] & 3))

    def wait(until_ns: int) -> None:
        now = time.clock_gettime_ns(time.CLOCK_REALTIME) - begin
        if until_ns > now:
            time.sleep((until_ns - now) / 1e9)

    # A bucket that is full lets a packet through without its transmission; these use that up, and go on until the first packet comes.
    wait(-100_000)
    for _ in range(4):
        out.send(frame(1 << 40, 9, burst, 0))
    for number, (ns, flow, size, ecn) in enumerate(packets):
        wait(ns)
        # The discipline may refuse it.
        with contextlib.suppress(OSError):
            out.send(frame(number, flow, size, ecn))
        if number % 256 == 0:
            receive()
    end = job["duration_ns"]
    while True:
        known = len(left)
        end += 1_000_000_000
        wait(end)
        receive()
        if len(left) == known:
            break
    checked(IP, "link", "del", "left")
    return [packet for packet in left if packet[0] < 1 << 40]


def main() -> None:
    directory = Path(sys.argv[1])
    outcome: dict[str, Any] = {}
    try:
        job = json.loads((directory / "job.json").read_text())
        load(job["modules"])
        outcome["begun"] = True
        for name, one in job["jobs"].items():
            with (directory / f"{name}.left").open("w") as file:
                file.writelines(f"{number} {ns} {ecn}\n" for number, ns, ecn in run(one))
    except Exception:
        outcome["error"] = traceback.format_exc()
    (directory / "outcome.json").write_text(json.dumps(outcome))
    os.sync()


main()
