"""The kernel that this runs on, this machine's in real time or a guest's: sockets in a network namespace of their own, whose one device is a TUN that the script is at the other end of.

This process leaves the machine's namespace for good, and each script has one of its own: so nothing of the machine is changed, and what a script sets nobody else sees.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading
import time as clock
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, cast

from sawtooth.conformance.agreed import SEND_BUFFER_BYTES, settings
from sawtooth.conformance.endpoint import NotApplicable, Returned, Sent, constant
from sawtooth.conformance.script import Call, Script, Segment
from sawtooth.conformance.tcp_info import tcp_info
from sawtooth.conformance.wire import Addresses, from_bytes, to_bytes
from sawtooth.errors import BackendUnavailable

_TUN = Path("/dev/net/tun")
_LOCAL, _REMOTE, _GATEWAY = IPv4Address("192.168.0.1"), IPv4Address("192.0.2.1"), IPv4Address("192.168.0.2")
_PORT, _PEER_PORT = 8080, 47_000
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 1, 0x1000
_NEW_NETWORK = 0x40000000
_RECEIVE_BUFFER_BYTES = 6 * 2**20
"""At most, which gives a window scale of 7: what it is otherwise depends on the machine's memory."""
_LEAD_SECS = 0.05
"""What setting up takes before the script's time begins."""
_SPIN_SECS = 0.001
"""Before a time that is waited for: sleeping would pass it."""


def require() -> None:
    """Raises `BackendUnavailable` if this machine cannot do it."""
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise BackendUnavailable(f"{_TUN} may not be opened", "a script needs a TUN device: root can load the module tun")
    if os.geteuid() != 0:
        raise BackendUnavailable("only root may make a network namespace for scripts", "run it in `unshare -Urn`, or use `--backend sim`")


class KernelEndpoint:
    """See `endpoint.Endpoint`."""

    compares_handshake_window = True

    def __init__(self, script: Script, spin_secs: float = _SPIN_SECS) -> None:
        del script
        self._spin_secs = spin_secs
        _unshare()
        with contextlib.suppress(OSError):
            # What else the machine does is not to be in the script's times.
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self._tun = _tun()
        Path("/proc/sys/net/ipv4/tcp_wmem").write_text(f"4096 {SEND_BUFFER_BYTES} {SEND_BUFFER_BYTES}")
        Path("/proc/sys/net/ipv4/tcp_rmem").write_text(f"4096 131072 {_RECEIVE_BUFFER_BYTES}")
        self._ends = Addresses((_LOCAL, _PORT), (_REMOTE, _PEER_PORT))
        self._sockets: dict[int, socket.socket] = {}
        self._next = 3
        self._connection: socket.socket | None = None
        self._blocked: dict[int, tuple[threading.Thread, list[Returned]]] = {}
        self._held: list[Sent] = []
        self._start = clock.monotonic() + _LEAD_SECS

    def wait(self, until: float) -> Sent | None:
        """See `endpoint.Endpoint`."""
        while not self._held:
            left = self._start + until - clock.monotonic()
            # What waits to be read has been sent before, if this process is late.
            if not self._hear(max(0.0, left)) and left < 0:
                return None
        return self._held.pop(0) if self._held[0].time <= until else None

    def receive(self, segment: Segment, time: float) -> None:
        """See `endpoint.Endpoint`."""
        self._until(time)
        os.write(self._tun, to_bytes(segment, self._ends))

    def call(self, call: Call, time: float, end: float | None) -> Returned | None:
        """See `endpoint.Endpoint`."""
        self._until(time)
        if end is None:
            return self._called(call, blocks=False)
        returned: list[Returned] = []
        thread = threading.Thread(target=lambda: returned.append(self._called(call, blocks=True)), daemon=True)
        thread.start()
        self._blocked[id(call)] = (thread, returned)
        return None

    def returned(self, call: Call) -> Returned:
        """See `endpoint.Endpoint`."""
        thread, returned = self._blocked.pop(id(call))
        thread.join(0.1)
        return returned[0] if returned else Returned(-1, "(it still blocks)")

    def shell(self, command: str) -> None:
        """See `endpoint.Endpoint`."""
        for name, value in settings(command).items():
            try:
                Path(f"/proc/sys/net/ipv4/{name}").write_text(value)
            except OSError as error:
                raise NotApplicable(f"the setting net.ipv4.{name} = {value} ({error.strerror})") from None

    def info(self, time: float) -> Mapping[str, int]:
        """See `endpoint.Endpoint`."""
        self._until(time)
        connection = self._connection or next(iter(self._sockets.values()), None)
        if connection is None:
            raise NotApplicable("TCP_INFO without a connection")
        return tcp_info(connection)

    def close(self) -> None:
        """See `endpoint.Endpoint`."""
        for each in self._sockets.values():
            each.close()
        os.close(self._tun)

    def _until(self, time: float) -> None:
        """Time passes, and what is sent meanwhile is kept."""
        while (left := self._start + time - clock.monotonic()) > 0:
            self._hear(left)

    def _hear(self, left: float) -> bool:
        """Keeps what is sent within a time; whether that was anything."""
        wait = left - self._spin_secs if left > self._spin_secs else 0
        readable, _, _ = select.select([self._tun], [], [], wait)
        if readable:
            now = clock.monotonic() - self._start
            segment = from_bytes(os.read(self._tun, 65_536), self._ends)
            if segment is not None:
                self._held.append(Sent(now, segment))
        return bool(readable)

    def _called(self, call: Call, *, blocks: bool) -> Returned:
        try:
            return Returned(self._done(call, blocks=blocks))
        except OSError as error:
            return Returned(-1, errno.errorcode.get(error.errno or 0, "EIO"))

    def _done(self, call: Call, *, blocks: bool) -> int:
        arguments: Sequence[Any] = call.arguments
        if call.name == "socket":
            return self._keep(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        one = self._sockets.get(arguments[0]) if arguments else None
        if one is None:
            raise OSError(errno.EBADF, "no such socket")
        one.setblocking(blocks)
        match call.name:
            case "bind":
                one.bind((str(_LOCAL), _PORT))
            case "listen":
                one.listen(arguments[1])
            case "accept" | "accept4":
                self._connection, _ = one.accept()
                return self._keep(self._connection)
            case "connect":
                self._connection = one
                one.connect((str(_REMOTE), _PEER_PORT))
            case "write" | "send" | "sendto":
                given = arguments[3:4]
                return one.send(bytes(arguments[2]), _flags(given[0] if given else 0))
            case "read" | "recv" | "recvfrom":
                return len(one.recv(arguments[2]))
            case "setsockopt":
                _set(one, *arguments[1:4])
            case "getsockopt":
                return 0
            case "fcntl":
                return 0 if call.result is None else call.result
            case "shutdown":
                one.shutdown(_flags(arguments[1]))
            case "close":
                self._sockets.pop(arguments[0]).close()
            case name:
                raise NotApplicable(f"the call {name}")
        return 0

    def _keep(self, one: socket.socket) -> int:
        number, self._next = self._next, self._next + 1
        self._sockets[number] = one
        return number


def _flags(given: Any) -> int:
    names: tuple[Any, ...] = cast("tuple[Any, ...]", given) if isinstance(given, tuple) else (given,)
    unknown = [name for name in names if not isinstance(name, int) and not hasattr(socket, str(name))]
    if unknown:
        raise NotApplicable(f"the flag {unknown[0]}")
    return sum(name if isinstance(name, int) else int(getattr(socket, str(name))) for name in names)


def _set(one: socket.socket, level: Any, name: Any, value: Any) -> None:
    plain = constant(value)
    if not isinstance(plain, (int, bytes)):
        raise NotApplicable(f"the socket's option {name}")
    known = getattr(socket, str(name), None) if isinstance(name, str) else name
    levels = {
        "SOL_TCP": socket.IPPROTO_TCP,
        "IPPROTO_TCP": socket.IPPROTO_TCP,
        "SOL_SOCKET": socket.SOL_SOCKET,
        "SOL_IP": socket.IPPROTO_IP,
    }
    if known is None or level not in levels:
        raise NotApplicable(f"the socket's option {name}")
    one.setsockopt(levels[level], known, plain)


def _unshare() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:
        raise BackendUnavailable(f"no network namespace can be made: {os.strerror(ctypes.get_errno())}", "use `--backend sim`")


def _tun() -> int:
    device = os.open(_TUN, os.O_RDWR)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"tun0", _IFF_TUN | _IFF_NO_PI))
    for command in (
        f"addr add {_LOCAL}/24 dev tun0",
        # Segments leave one by one, as scripts have them.
        "link set dev tun0 gso_max_segs 1",
        "link set dev tun0 up",
        "link set dev lo up",
        f"route add default via {_GATEWAY}",
    ):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    return device
