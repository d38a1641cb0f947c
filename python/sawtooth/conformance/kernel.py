"""The kernel that this runs on, this machine's in real time or a guest's: sockets in a network namespace of their own, whose one device is a TUN that the script is at the other end of.

This process leaves the machine's namespace for good, and each script has one of its own: so nothing of the machine is changed, and what a script sets nobody else sees.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time as clock
from collections.abc import Mapping
from ipaddress import AddressValueError, IPv4Address

from sawtooth.conformance import icmp, network
from sawtooth.conformance.agreed import SEND_BUFFER_BYTES
from sawtooth.conformance.application import Application, opens
from sawtooth.conformance.commands import Effect
from sawtooth.conformance.endpoint import NotApplicable, OtherOutput, Returned, Sent
from sawtooth.conformance.script import Call, Script, Segment
from sawtooth.conformance.tcp_info import tcp_info
from sawtooth.conformance.wire import Addresses, from_bytes, to_bytes
from sawtooth.errors import BackendUnavailable

_LOCAL, _REMOTE = "192.168.0.1", "192.0.2.1"
_PORT, _PEER_PORT, _FIRST_PEER_PORT = 8080, 8080, 47_000
_RECEIVE_BUFFER_BYTES = 6 * 2**20
"""At most, which gives a window scale of 7: what it is otherwise depends on the machine's memory."""
_LEAD_SECS = 0.05
"""What setting up takes before the script's time begins."""
_SPIN_SECS = 0.001
"""Before a time that is waited for: sleeping would pass it."""
_STUCK = "(it still blocks)"


def require() -> None:
    """Raises `BackendUnavailable` if this machine cannot do it."""
    if not os.access(network.TUN, os.R_OK | os.W_OK):
        raise BackendUnavailable(f"{network.TUN} may not be opened", "a script needs a TUN device: root can load the module tun")
    if os.geteuid() != 0:
        raise BackendUnavailable("only root may make a network namespace for scripts", "run it in `unshare -Urn`, or use `--backend sim`")


class KernelEndpoint:
    """See `endpoint.Endpoint`."""

    compares_handshake_window = True
    has_offload = True

    def __init__(self, script: Script, spin_secs: float = _SPIN_SECS) -> None:
        self._spin_secs = spin_secs
        self._local, self._remote = _address(script, "local_ip", _LOCAL), _address(script, "remote_ip", _REMOTE)
        network.leave()
        with contextlib.suppress(OSError):
            # What else the machine does is not to be in the script's times.
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        self._tun = network.tun(self._local, self._remote)
        network.setting("tcp_wmem", f"4096 {SEND_BUFFER_BYTES} {SEND_BUFFER_BYTES}")
        network.setting("tcp_rmem", f"4096 131072 {_RECEIVE_BUFFER_BYTES}")
        self._ends = Addresses((self._local, 0), (self._remote, _PEER_PORT))
        self._peers = 0
        self._listens = False
        self._opening: int | None = None
        self._blocked: dict[int, tuple[threading.Thread, list[Returned | Exception]]] = {}
        self._held: list[Sent] = []
        self._start = clock.monotonic() + _LEAD_SECS
        self._application = Application((self._local, _PORT), (self._remote, _PEER_PORT), clock.time() + _LEAD_SECS)

        for event in script.events:
            if isinstance(event.what, Call) and not self._application.knows(event.what.name):
                raise NotApplicable(f"the call {event.what.name}")

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
        if self._listens and "S" in segment.flags and "." not in segment.flags:
            # Each connection that the peer opens is from a port of its own.
            self._listens = False
            self._held.clear()
            self._ends = Addresses((self._local, _PORT), (self._remote, _FIRST_PEER_PORT + self._peers))
            self._peers += 1
        os.write(self._tun, to_bytes(segment, self._ends))

    def foreign(self, text: str, time: float) -> None:
        """See `endpoint.Endpoint`."""
        self._until(time)
        os.write(self._tun, icmp.to_bytes(text, self._ends))

    def command(self, effect: Effect, time: float) -> None:
        """See `endpoint.Endpoint`."""
        self._until(time)
        network.apply(effect)

    def call(self, call: Call, time: float, end: float | None) -> Returned | None:
        """See `endpoint.Endpoint`."""
        self._until(time)
        self._look_at(call)
        if end is None:
            return self._application.call(call, blocks=False)
        returned: list[Returned | Exception] = []
        thread = threading.Thread(target=lambda: returned.append(self._blocking(call)), daemon=True)
        thread.start()
        self._blocked[id(call)] = (thread, returned)
        return None

    def returned(self, call: Call) -> Returned:
        """See `endpoint.Endpoint`."""
        thread, returned = self._blocked.pop(id(call))
        thread.join(0.1)
        found = returned[0] if returned else Returned(-1, _STUCK)
        if isinstance(found, Exception):
            raise found
        return found

    def info(self, time: float) -> Mapping[str, int]:
        """See `endpoint.Endpoint`."""
        self._until(time)
        connection = self._application.connection
        if connection is None:
            raise NotApplicable("TCP_INFO without a connection")
        return tcp_info(connection)

    def close(self) -> None:
        """See `endpoint.Endpoint`."""
        self._application.close()
        os.close(self._tun)

    def _look_at(self, call: Call) -> None:
        """Which connection the script's segments are of from now on: the one that was last opened."""
        match call:
            case Call("listen"):
                self._listens = True
            case Call("close", (which, *_)) if which == self._opening:
                self._opening = None
            case Call(_, (int(which), *_)) if which != self._opening and opens(call):
                self._opening = which
                self._held.clear()
                self._ends = Addresses((self._local, 0), (self._remote, _PEER_PORT))
            case _:
                pass

    def _blocking(self, call: Call) -> Returned | Exception:
        try:
            return self._application.call(call, blocks=True)
        except (NotApplicable, OtherOutput) as error:
            return error

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


def _address(script: Script, option: str, otherwise: str) -> IPv4Address:
    given = script.options.get(option, otherwise)
    if script.options.get("ip_version", "ipv4") != "ipv4":
        raise NotApplicable("IPv6")
    try:
        return IPv4Address(given)
    except AddressValueError:
        raise NotApplicable(f"the address {given}") from None
