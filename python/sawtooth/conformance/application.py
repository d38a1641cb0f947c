"""The application of a script on a kernel: each system call as it is written, and whether what it fills in is what the script says."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address
from typing import Any, cast

from sawtooth.conformance import messages
from sawtooth.conformance.constants import number
from sawtooth.conformance.endpoint import NotApplicable, OtherOutput, Returned
from sawtooth.conformance.script import Call

Address = tuple[IPv4Address, int]
_ERRORS = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}
"""One number has two names."""
_FORCED = {"SO_SNDBUF": 32, "SO_RCVBUF": 33}
"""As `SO_SNDBUFFORCE` and `SO_RCVBUFFORCE`: what this machine allows at most is none of a script's."""
_LIBC = ctypes.CDLL(None, use_errno=True)


class Application:
    """Sockets by the numbers that the script has for them.

    Args:
        local, remote: what `bind` and `connect` are to, where a script says `...`.
        start: when the script begins, as this machine's clock tells the time.

    """

    def __init__(self, local: Address, remote: Address, start: float) -> None:
        self._local = str(local[0]), local[1]
        self._remote = str(remote[0]), remote[1]
        self._start = start
        self._open: dict[int, socket.socket | select.epoll | int] = {}
        self._renamed: list[socket.socket | select.epoll | int] = []
        self._does_not_block: set[int] = set()
        self.connection: socket.socket | None = None
        """What assertions are about: the last that was opened."""
        self._calls: dict[str, Callable[[Call, bool], int]] = {
            "socket": self._socket,
            "bind": self._bind,
            "listen": self._listen,
            "accept": self._accept,
            "accept4": self._accept,
            "connect": self._connect,
            "shutdown": self._shutdown,
            "close": self._close,
            "setsockopt": self._set,
            "getsockopt": self._get,
            "fcntl": self._fcntl,
            "ioctl": self._ioctl,
            "poll": self._poll,
            "epoll_create": self._epoll_create,
            "epoll_create1": self._epoll_create,
            "epoll_ctl": self._epoll_ctl,
            "epoll_wait": self._epoll_wait,
            "pipe": self._pipe,
            "splice": self._splice,
            "sendmsg": self._sendmsg,
            "recvmsg": self._recvmsg,
            **dict.fromkeys(("write", "send", "sendto"), self._write),
            **dict.fromkeys(("read", "recv", "recvfrom"), self._read),
        }

    def knows(self, name: str) -> bool:
        """Whether there is such a call here."""
        return name in self._calls

    def call(self, call: Call, *, blocks: bool) -> Returned:
        """Does it; `OtherOutput` if it fills in something else, `NotApplicable` if it is none of those known here."""
        if call.name not in self._calls:
            raise NotApplicable(f"the call {call.name}")
        try:
            return Returned(self._calls[call.name](call, blocks))
        except OSError as error:
            return Returned(-1, _ERRORS.get(error.errno or 0, "EIO"))
        except (IndexError, KeyError, TypeError, ValueError):
            raise NotApplicable(f"the call {call.name} with these arguments") from None

    def close(self) -> None:
        """The script is over."""
        for each in (*self._open.values(), *self._renamed):
            os.close(each) if isinstance(each, int) else each.close()

    def _keep(self, one: socket.socket | select.epoll | int, wanted: int | None) -> int:
        """The script's number of it, or the next free one if it says none; what had that number before stays open."""
        if wanted is None or wanted < 0:
            wanted = next(each for each in range(3, 2**31) if each not in self._open)
        if wanted in self._open:
            self._renamed.append(self._open[wanted])
        self._open[wanted] = one
        return wanted

    def _one(self, call: Call, blocks: bool | None = None) -> socket.socket:
        one = self._open.get(number(call.arguments[0]))
        if not isinstance(one, socket.socket):
            raise OSError(errno.EBADF, "no such socket")
        if blocks is not None:
            one.setblocking(blocks)
        return one

    def _file(self, given: Any) -> int:
        one = self._open.get(number(given))
        if one is None:
            raise OSError(errno.EBADF, "no such file")
        return one if isinstance(one, int) else one.fileno()

    def _socket(self, call: Call, _: bool) -> int:
        family = socket.AF_INET if call.arguments[0] is ... else number(call.arguments[0])
        if family != socket.AF_INET:
            raise NotApplicable("IPv6")
        return self._keep(socket.socket(family, number(call.arguments[1]), number(call.arguments[2])), call.result)

    def _bind(self, call: Call, _: bool) -> int:
        if call.arguments[1] is not ...:
            raise NotApplicable("an address of bind")
        self._one(call).bind(self._local)
        return 0

    def _listen(self, call: Call, _: bool) -> int:
        self._one(call).listen(number(call.arguments[1]))
        return 0

    def _shutdown(self, call: Call, _: bool) -> int:
        self._one(call).shutdown(number(call.arguments[1]))
        return 0

    def _accept(self, call: Call, blocks: bool) -> int:
        self.connection, _ = self._one(call, blocks).accept()
        return self._keep(self.connection, call.result)

    def _connect(self, call: Call, blocks: bool) -> int:
        if call.arguments[1] is not ...:
            raise NotApplicable("an address of connect")
        self.connection = self._one(call, blocks)
        self.connection.connect(self._remote)
        return 0

    def _close(self, call: Call, _: bool) -> int:
        one = self._open.pop(number(call.arguments[0]), None)
        if one is None:
            raise OSError(errno.EBADF, "no such file")
        if one is self.connection:
            self.connection = None
        if isinstance(one, int):
            os.close(one)
        else:
            one.close()
        return 0

    def _write(self, call: Call, blocks: bool) -> int:
        one = self._one(call, blocks)
        _, buffer, length, flags, family = _five(call)
        is_opening = opens(call)
        if is_opening:
            self.connection = one
        if buffer == "NULL" or family is not ...:
            # What Python would not do.
            address = struct.pack("=H", socket.AF_INET if family is ... else number(family))
            address += struct.pack("!H4s8x", self._remote[1], socket.inet_aton(self._remote[0]))
            data = None if buffer == "NULL" else bytes(length)
            return _checked(
                _LIBC.sendto(one.fileno(), data, length, flags, address if is_opening else None, len(address) if is_opening else 0)
            )
        return one.sendto(bytes(length), flags, self._remote) if is_opening else one.send(bytes(length), flags)

    def _sendmsg(self, call: Call, blocks: bool) -> int:
        one = self._one(call, blocks)
        _, message, flags = call.arguments
        if opens(call):
            self.connection = one
        return messages.send(one, message, flags, self._remote)

    def _recvmsg(self, call: Call, blocks: bool) -> int:
        _, message, flags = call.arguments
        return messages.receive(self._one(call, blocks), message, flags, self._start)

    def _read(self, call: Call, blocks: bool) -> int:
        one = self._one(call, blocks)
        _, buffer, length, flags, _ = _five(call)
        if buffer == "NULL":
            return _checked(_LIBC.recv(one.fileno(), None, length, flags))
        return len(one.recv(length, flags))

    def _set(self, call: Call, _: bool) -> int:
        one, (level, name, value, *length) = self._one(call), call.arguments[1:]
        size = length[0] if length and isinstance(length[0], int) else 4
        match value:
            case bytes():
                data = value[:size].ljust(size, b"\0")
            case {"onoff": onoff, "linger": linger}:
                data = struct.pack("=ii", number(onoff), number(linger))
            case [bytes() as text]:
                data = text
            case [only]:
                data = (number(only) % 2**32).to_bytes(4, "little")[:size]
            case int():
                data = (value % 2**32).to_bytes(4, "little")[:size]
            case _:
                raise NotApplicable(f"the socket's option {name}")
        if name in _FORCED:
            with contextlib.suppress(PermissionError):
                one.setsockopt(socket.SOL_SOCKET, _FORCED[name], data)
                return 0
        one.setsockopt(number(level), number(name), data)
        return 0

    def _get(self, call: Call, _: bool) -> int:
        one, (level, name, value, *_length) = self._one(call), call.arguments[1:]
        match value:
            case bytes():
                came: Any = one.getsockopt(number(level), number(name), max(1, len(value)))
                expected: Any = value
            case [bytes() as expected]:
                came = one.getsockopt(number(level), number(name), max(1, len(expected)))
            case [only]:
                came = one.getsockopt(number(level), number(name)) % 2**32
                expected = came if only is ... else number(only) % 2**32
            case builtins if builtins is ...:
                one.getsockopt(number(level), number(name), 64)
                return 0
            case _:
                raise NotApplicable(f"the socket's option {name}")
        if came != expected:
            raise OtherOutput("getsockopt", expected, came)
        return 0

    def _fcntl(self, call: Call, _: bool) -> int:
        which, command = number(call.arguments[0]), number(call.arguments[1])
        self._file(which)
        if command == fcntl.F_GETFL:
            return os.O_RDWR | (os.O_NONBLOCK if which in self._does_not_block else 0)
        if command != fcntl.F_SETFL:
            raise NotApplicable(f"the call fcntl with {call.arguments[1]}")
        # Whether a call blocks is said by its time in the script, which is where this is looked at.
        (self._does_not_block.add if number(call.arguments[2]) & os.O_NONBLOCK else self._does_not_block.discard)(which)
        return 0

    def _ioctl(self, call: Call, _: bool) -> int:
        data = fcntl.ioctl(self._file(call.arguments[0]), number(call.arguments[1]), bytes(4))
        came = int.from_bytes(data, "little")
        match call.arguments[2:]:
            case ([expected],) if number(expected) != came:
                raise OtherOutput("ioctl", number(expected), came)
            case _:
                return 0

    def _poll(self, call: Call, blocks: bool) -> int:
        watched = cast("Sequence[dict[str, Any]]", call.arguments[0])
        poll = select.poll()
        for each in watched:
            poll.register(self._file(each["fd"]), number(each["events"]))
        came = dict(poll.poll(number(call.arguments[2]) if blocks else 0))
        for each in watched:
            events = came.get(self._file(each["fd"]), 0)
            if "revents" in each and number(each["revents"]) != events:
                raise OtherOutput("poll", f"revents {number(each['revents']):#x}", f"revents {events:#x}")
        return len(came)

    def _epoll_create(self, call: Call, _: bool) -> int:
        return self._keep(select.epoll(), call.result)

    def _epoll(self, given: Any) -> select.epoll:
        one = self._open.get(number(given))
        if not isinstance(one, select.epoll):
            raise OSError(errno.EBADF, "no such set")
        return one

    def _epoll_ctl(self, call: Call, _: bool) -> int:
        one, file = self._epoll(call.arguments[0]), self._file(call.arguments[2])
        match call.arguments[1]:
            case "EPOLL_CTL_ADD":
                one.register(file, number(call.arguments[3]["events"]))
            case "EPOLL_CTL_MOD":
                one.modify(file, number(call.arguments[3]["events"]))
            case _:
                one.unregister(file)
        return 0

    def _epoll_wait(self, call: Call, blocks: bool) -> int:
        expected = call.arguments[1]
        wanted = cast("list[dict[str, Any]]", expected if isinstance(expected, list) else [expected])
        came = self._epoll(call.arguments[0]).poll(number(call.arguments[3]) / 1000 if blocks else 0, number(call.arguments[2]))
        for each, (_, events) in zip(wanted, came, strict=False):
            if number(each["events"]) != events:
                raise OtherOutput("epoll_wait", f"events {number(each['events']):#x}", f"events {events:#x}")
        return len(came)

    def _pipe(self, call: Call, _: bool) -> int:
        wanted = cast("Sequence[int]", call.arguments[0])
        for end, which in zip(os.pipe(), wanted, strict=True):
            self._keep(end, which)
        return 0

    def _splice(self, call: Call, _: bool) -> int:
        source, _, target, _, length, flags = call.arguments
        return os.splice(self._file(source), self._file(target), number(length), flags=number(flags) | os.SPLICE_F_NONBLOCK)


def _five(call: Call) -> tuple[Any, Any, int, int, Any]:
    """Which socket, the buffer, its length, flags and an address, of which `write` has no more than `read`."""
    which, buffer, length, *more = call.arguments
    return which, buffer, number(length), number(more[0]) if more else 0, more[1] if more[1:] else ...


def opens(call: Call) -> bool:
    """Whether it opens a connection (RFC 7413 §4.2.1, for `MSG_FASTOPEN`)."""
    if call.name in ("sendto", "send", "sendmsg"):
        flags = call.arguments[3 if call.name != "sendmsg" else 2]
        return bool(number(flags) & number("MSG_FASTOPEN"))
    return call.name == "connect"


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
