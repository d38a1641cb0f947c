"""The kernel's list of TCP sockets, through netlink's `sock_diag` (man 7 sock_diag). Needs no privilege.

Requests and answers are packed here by hand, since a general netlink library takes too long for them: a thousand sockets with all attributes
cost pyroute2 0.9 140 to 220 ms, and this module 3 ms.
"""

from __future__ import annotations

import errno
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sawtooth.errors import PlainError
from sawtooth.live.tcp_info import HEADER_BYTES, KERNEL_WITH_COUNTERS, LENGTH_WITH_COUNTERS, MEASURED, Sockets, header, join, measured

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY, _NLMSG_ERROR, _NLMSG_DONE = 20, 2, 3
_NLM_F_REQUEST, _NLM_F_DUMP, _NLM_F_DUMP_INTR = 1, 0x300, 0x10
_INFO, _CONG, _SKMEMINFO = 2, 4, 7
_EXTENSIONS = sum(1 << (number - 1) for number in (_INFO, _CONG, _SKMEMINFO))
# States by their numbers in the kernel (include/net/tcp_states.h as man 8 ss names them): those in which a connection may still send.
_SENDING = sum(1 << number for number in (1, 2, 4, 8, 9, 11))
_LISTEN = 1 << 10
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI")
_ID_BYTES = 48
_BUFFER_BYTES = 1 << 18
_AT_A_TIME = 64
"""Look-ups in one datagram: their answers fit into any receive buffer."""
Block = NDArray[np.uint8]
"""Messages of one length, shape (messages, bytes)."""
FAMILIES = (socket.AF_INET, socket.AF_INET6)


class _Run(NamedTuple):
    """Messages that follow upon one another in a datagram and are alike: of one length, kind and set of flags."""

    kind: int
    flags: int
    serials: NDArray[np.uint32]
    block: Block


class LiveError(PlainError):
    """The live sockets of this machine cannot be seen as was asked."""


@dataclass(frozen=True)
class Listener:
    """A socket that listens: its port, and the inode that `/proc/PID/fd` names it by."""

    port: int
    inode: int


class SockDiag:
    """A channel to the kernel's list of sockets, of the network namespace that it was opened in.

    Attributes:
        read_ns: when, on the monotonic clock, the last connections were read; as near as can be told, since the counters go on.

    """

    def __init__(self) -> None:
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
        except (AttributeError, OSError) as error:
            raise LiveError(f"this system has no sock_diag netlink: {error}", "live sockets need Linux 4.10 or later") from None
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self._socket.settimeout(5)
        self._buffer = np.empty(_BUFFER_BYTES, np.uint8)
        self._serial = 0
        self.read_ns = 0

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def connections(self) -> Sockets:
        """All connections that may send, of both families.

        Raises:
            LiveError: if the kernel does not list them, or does not measure what holds them back.

        """
        began = time.monotonic_ns()
        messages = [block for family in FAMILIES for block in self._dump(family, _SENDING, _EXTENSIONS)]
        self.read_ns = (began + time.monotonic_ns()) // 2
        return decode(messages)

    def listeners(self) -> list[Listener]:
        """All sockets that listen.

        Raises:
            LiveError: as for `connections`.

        """
        heads = [header(block) for family in FAMILIES for block in self._dump(family, _LISTEN, 0)]
        return [Listener(*row) for head in heads for row in zip(head["sport"].tolist(), head["inode"].tolist(), strict=True)]

    def again(self, known: Sockets) -> Sockets:
        """Those of `known` that are still there, as they are now; costs time by their number, not by that of all sockets."""
        began = time.monotonic_ns()
        found: list[Block] = []
        for start in range(0, len(known), _AT_A_TIME):
            found += self._look_up(known[start : start + _AT_A_TIME])
        self.read_ns = (began + time.monotonic_ns()) // 2
        return decode(found)

    def _look_up(self, known: Sockets) -> list[Block]:
        families, ids = known["family"].tolist(), known["id"]
        length = _HEADER.size + _REQUEST.size + _ID_BYTES
        first = self._serial + 1
        self._serial += len(known)
        self._socket.send(b"".join(
            _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, first + at, 0)
            + _REQUEST.pack(family, socket.IPPROTO_TCP, _EXTENSIONS, 0xFFFF_FFFF) + ids[at].tobytes()
            for at, family in enumerate(families)
        ))  # fmt: skip
        found: list[Block] = []
        waiting = np.ones(len(known), dtype=np.bool_)
        while waiting.any():
            for run in self._receive():
                ours = (run.serials >= first) & (run.serials <= self._serial)
                waiting[run.serials[ours] - first] = False
                # An error is that of a connection that has ended (ENOENT, or ESTALE where its addresses are another's now).
                if run.kind == _SOCK_DIAG_BY_FAMILY and ours.any():
                    found.append(run.block[ours])
        return found

    def _dump(self, family: int, states: int, extensions: int) -> list[Block]:
        # A list that changed while it was being read may lack sockets: then it is read once more, and the third time taken as it is.
        for _ in range(2):
            messages, interrupted = self._dump_once(family, states, extensions)
            if not interrupted:
                return messages
        return self._dump_once(family, states, extensions)[0]

    def _dump_once(self, family: int, states: int, extensions: int) -> tuple[list[Block], bool]:
        self._serial += 1
        serial = self._serial
        payload = _REQUEST.pack(family, socket.IPPROTO_TCP, extensions, states) + bytes(_ID_BYTES)
        header = _HEADER.pack(_HEADER.size + len(payload), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST | _NLM_F_DUMP, serial, 0)
        self._socket.send(header + payload)
        messages: list[Block] = []
        interrupted = ended = False
        while not ended:
            for run in self._receive():
                # A datagram answers one request.
                if run.serials[0] != serial:
                    continue
                if run.kind == _NLMSG_ERROR:
                    raise _refused(-struct.unpack_from("=i", run.block[0].tobytes())[0])
                if run.kind == _SOCK_DIAG_BY_FAMILY:
                    messages.append(run.block)
                interrupted |= bool(run.flags & _NLM_F_DUMP_INTR)
                ended |= run.kind == _NLMSG_DONE
        return messages, interrupted

    def _receive(self) -> list[_Run]:
        """The next datagram."""
        try:
            size = self._socket.recv_into(self._buffer.data)
        except TimeoutError:
            raise LiveError("the kernel does not answer on sock_diag") from None
        except OSError as error:
            raise _refused(error.errno or 0) from None
        # The buffer is used again. The last message may lack what fills it up to a multiple of four.
        datagram = self._buffer[: (size + 3) & ~3].copy()
        found: list[_Run] = []
        at = 0
        while at + _HEADER.size <= len(datagram):
            length, kind, flags, _, _ = _HEADER.unpack_from(datagram.data, at)
            step = (length + 3) & ~3
            count = (len(datagram) - at) // max(step, _HEADER.size)
            if length < _HEADER.size or not count:
                raise LiveError("what the kernel answers on sock_diag is cut off")
            # Length, kind and flags are the first eight bytes.
            begins: NDArray[np.uint64] = np.ndarray((count,), np.uint64, datagram, at, (step,))
            alike = begins == begins[0]
            if not alike.all():
                count = int(np.argmin(alike))
            serials: NDArray[np.uint32] = np.ndarray((count,), np.uint32, datagram, at + 8, (step,))
            end = at + count * step
            found.append(_Run(kind, flags, serials, datagram[at:end].reshape(count, step)[:, _HEADER.size :]))
            at = end
        return found


def _refused(number: int) -> LiveError:
    if number == errno.ENOENT:
        return LiveError("this kernel cannot list its TCP sockets: it has no tcp_diag", "root can `modprobe tcp_diag`")
    if number in (errno.EPERM, errno.EACCES):
        return LiveError(
            "sock_diag was refused: this user or container may not list sockets", "run it as root, or outside of the container"
        )
    return LiveError(f"sock_diag failed: {errno.errorcode.get(number, number)}")


def decode(messages: Sequence[Block]) -> Sockets:
    """What messages of `sock_diag` say, one row each; sockets of which the kernel measures nothing (half-open, timed wait) are left out.

    Args:
        messages: without netlink's headers, those of one length in a block.

    Raises:
        LiveError: if this kernel's `tcp_info` ends before the counters that are needed.

    """
    # Messages of one length nearly always have the same attributes at the same places, so each such group is taken at once.
    groups: dict[int, list[Block]] = {}
    for block in messages:
        groups.setdefault(block.shape[1], []).append(block)
    parts: list[Sockets] = []
    for group in groups.values():
        rows = np.concatenate(group)
        while len(rows):
            places = _attributes(rows[0].tobytes())
            alike = np.ones(len(rows), dtype=np.bool_)
            for at, _, _ in places:
                # Attributes begin at multiples of four.
                heads = rows.view(np.uint32)[:, at // 4 - 1]
                alike &= heads == heads[0]
            same = rows if alike.all() else rows[alike]
            part = _decode_alike(same, places)
            if part is not None:
                parts.append(part)
            rows = rows[~alike]
    return join(parts) if parts else np.zeros(0, dtype=MEASURED)


def _attributes(message: bytes) -> list[tuple[int, int, int]]:
    """Place, length and kind of the attributes that follow the header."""
    found: list[tuple[int, int, int]] = []
    at = HEADER_BYTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if length < 4:
            break
        found.append((at + 4, length - 4, kind & 0x3FFF))
        at += (length + 3) & ~3
    return found


def _decode_alike(rows: Block, places: Sequence[tuple[int, int, int]]) -> Sockets | None:
    by_kind = {kind: rows[:, at : at + length] for at, length, kind in places}
    if _INFO not in by_kind:
        return None
    length = by_kind[_INFO].shape[1]
    if length < LENGTH_WITH_COUNTERS:
        raise LiveError(
            f"this kernel does not measure what holds connections back: its tcp_info has {length} bytes, the counters end at {LENGTH_WITH_COUNTERS}",
            f"`sawtooth stall` needs Linux {KERNEL_WITH_COUNTERS} or later",
        )
    return measured(rows, by_kind[_INFO], by_kind.get(_SKMEMINFO), by_kind.get(_CONG))
