"""A real connection between two kernels' network namespaces, over a path that delays, drops, turns round and doubles; captured at both ends.

Packets go through TUN devices and this process, so nothing is needed of the kernel but those and namespaces. All of it ends with the process that made it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
ADDRESSES = ("10.99.0.1", "10.99.0.2")


def need(*programs: str) -> None:
    """Skips where a program or a permission is missing, with a word."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def need_network() -> None:
    need("tcpdump", "ip")
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("network namespaces and /dev/net/tun need root")


@dataclass
class Path2:
    """What happens to packets on their way; rates of packets with data from end 0 to end 1."""

    delay_s: float = 0.01
    rate_bps: float = 20e6
    queue: int = 40
    loss: float = 0.004
    late: float = 0.004
    twice: float = 0.002
    seed: int = 1
    dropped: int = field(default=0, init=False)


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Ends:
    """Two namespaces with a TUN device each."""

    def __init__(self) -> None:
        self.names = [f"sawcap-{os.getpid()}-{end}" for end in (0, 1)]
        self.devices: list[int] = []

    def __enter__(self) -> Ends:
        for end, name in enumerate(self.names):
            _run("ip", "netns", "add", name)
            self.devices.append(self._inside(end, _tun))
            for command in (f"addr add {ADDRESSES[end]}/24 dev tun0", "link set lo up", "link set tun0 txqueuelen 1000 up"):
                _run("ip", "-n", name, *command.split())
        return self

    def __exit__(self, *_: object) -> None:
        for device in self.devices:
            os.close(device)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def _inside(self, end: int, work):
        """What `work` comes to, done in the namespace of that end by a thread of its own."""
        came: list[object] = []

        def run() -> None:
            handle = os.open(f"/run/netns/{self.names[end]}", os.O_RDONLY)
            _enter(handle)
            os.close(handle)
            came.append(work())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return came[0]

    def socket(self, end: int) -> socket.socket:
        made = self._inside(end, lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        assert isinstance(made, socket.socket)
        return made


def _tun() -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22s", b"tun0", _IFF_TUN | _IFF_NO_PI, b""))
    return device


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _forward(ends: Ends, path: Path2, over: threading.Event) -> None:
    draw = random.Random(path.seed)
    waiting: list[tuple[float, int, int, bytes]] = []
    free_at, serial = [0.0, 0.0], 0
    while not over.is_set():
        pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.05
        ready, _, _ = select.select(ends.devices, [], [], min(pause, 0.05))
        now = time.monotonic()
        for device in ready:
            end = ends.devices.index(device)
            with contextlib.suppress(BlockingIOError):
                while packet := os.read(device, 65536):
                    takes = 8 * len(packet) / path.rate_bps
                    if free_at[end] - now > path.queue * takes:
                        path.dropped += 1
                        continue
                    free_at[end] = max(now, free_at[end]) + takes
                    at = free_at[end] + path.delay_s
                    copies = 1
                    if end == 0 and len(packet) > 500:
                        lot = draw.random()
                        if lot < path.loss:
                            path.dropped += 1
                            continue
                        at += 0.004 if lot < path.loss + path.late else 0.0
                        copies = 2 if lot > 1 - path.twice else 1
                    for _ in range(copies):
                        serial += 1
                        heapq.heappush(waiting, (at, serial, 1 - end, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(waiting)
            with contextlib.suppress(OSError):
                os.write(ends.devices[end], packet)


@contextlib.contextmanager
def _captured(ends: Ends, directory: Path) -> Generator[None]:
    recorders = [
        subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                name,
                "tcpdump",
                "-i",
                "tun0",
                "-w",
                str(directory / f"{who}.pcap"),
                "-s",
                "128",
                "--immediate-mode",
                "-B",
                "16384",
                "-Z",
                "root",
                "tcp",
            ],
            stderr=subprocess.PIPE,
        )
        for name, who in zip(ends.names, ("sender", "receiver"), strict=True)
    ]
    for recorder in recorders:
        assert recorder.stderr is not None
        while b"listening" not in (line := recorder.stderr.readline()):
            assert line, "tcpdump ended"
    try:
        yield
    finally:
        time.sleep(0.2)
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(10)
            assert recorder.stderr is not None
            recorder.stderr.close()


def transfer(directory: Path, path: Path2, size: int = 3_000_000, *, sack: bool = True) -> None:
    """Sends so many bytes from end 0 to end 1; leaves sender.pcap and receiver.pcap in the directory."""
    over = threading.Event()
    with Ends() as ends:
        for name in ends.names:
            for setting in (f"net.ipv4.tcp_sack={int(sack)}", "net.ipv4.tcp_no_metrics_save=1"):
                _run("ip", "netns", "exec", name, "sysctl", "-qw", setting)
        forwarder = threading.Thread(target=_forward, args=(ends, path, over), daemon=True)
        forwarder.start()
        try:
            with _captured(ends, directory), ends.socket(1) as listener:
                listener.bind((ADDRESSES[1], 5001))
                listener.listen()
                sink = threading.Thread(target=_drain, args=(listener,), daemon=True)
                sink.start()
                with ends.socket(0) as sender:
                    sender.connect((ADDRESSES[1], 5001))
                    sender.sendall(bytes(size))
                    sender.shutdown(socket.SHUT_WR)
                    assert sender.recv(1) == b""
                sink.join(10)
                time.sleep(0.3)
        finally:
            over.set()
            forwarder.join()


def _drain(listener: socket.socket) -> None:
    taken, _ = listener.accept()
    with taken:
        while taken.recv(1 << 16):
            pass
