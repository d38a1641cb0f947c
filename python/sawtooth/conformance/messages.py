"""`sendmsg` and `recvmsg`: what a script says of `struct msghdr`, and what a kernel has filled in."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sawtooth.conformance.constants import number
from sawtooth.conformance.endpoint import NotApplicable, OtherOutput

_EXTENDED_ERROR = ("ee_errno", "ee_origin", "ee_type", "ee_code", "ee_pad", "ee_info", "ee_data")
_EXTENDED_ERROR_FORMAT = "=IBBBBII"
_STAMP_TOLERANCE_SECS = 0.01
_ROOM_BYTES = 4096


def buffers(message: Mapping[str, Any]) -> list[bytes]:
    """Zeros, as many as each part of `msg_iov` has."""
    return [bytes(number(length)) for _, length in message["msg_iov"]]


def send(one: socket.socket, message: Mapping[str, Any], flags: Any, address: tuple[str, int]) -> int:
    """`sendmsg`."""
    if message.get("msg_control"):
        raise NotApplicable("control messages of sendmsg")
    wanted = number(flags)
    if wanted & number("MSG_FASTOPEN"):
        return one.sendmsg(buffers(message), [], wanted, address)
    return one.sendmsg(buffers(message), [], wanted)


def receive(one: socket.socket, message: Mapping[str, Any], flags: Any, start: float) -> int:
    """`recvmsg`; `start` is when the script began, as this machine's clock tells the time."""
    most = sum(map(len, buffers(message)))
    data, control, came, _ = one.recvmsg(most, _ROOM_BYTES, number(flags))
    expected = message.get("msg_flags", ...)
    if expected is not ... and number(expected) != came:
        raise OtherOutput("recvmsg", f"msg_flags {number(expected):#x}", f"msg_flags {came:#x}")
    wanted = message.get("msg_control", ...)
    if wanted is not ...:
        _compare(cast("Sequence[Mapping[str, Any]]", wanted), control, start)
    return len(data)


def _compare(wanted: Sequence[Mapping[str, Any]], control: Sequence[tuple[int, int, bytes]], start: float) -> None:
    if len(wanted) != len(control):
        raise OtherOutput("recvmsg", f"{len(wanted)} control messages", f"{len(control)} control messages")
    for each, (level, kind, data) in zip(wanted, control, strict=True):
        head = number(each["cmsg_level"]), number(each["cmsg_type"])
        if head != (level, kind):
            raise OtherOutput("recvmsg", f"a control message {head}", f"a control message {(level, kind)}")
        expected = each["cmsg_data"]
        if not isinstance(expected, dict):
            came: dict[str, Any] = {"value": int.from_bytes(data, "little")}
            expected = {"value": number(expected)}
        elif "scm_sec" in expected:
            sec, nanos = struct.unpack("=qq", data[:16])
            moment = number(expected["scm_sec"]) + number(expected["scm_nsec"]) / 1e9
            after = sec + nanos / 1e9 - start
            if abs(after - moment) > _STAMP_TOLERANCE_SECS:
                raise OtherOutput("recvmsg", f"a timestamp of {moment:.6f}", f"a timestamp of {after:.6f}")
            continue
        else:
            came = dict(zip(_EXTENDED_ERROR, struct.unpack(_EXTENDED_ERROR_FORMAT, data[:16]), strict=True))
            expected = {name: number(value) for name, value in cast("dict[str, Any]", expected).items()}
        wrong = [name for name, value in expected.items() if came.get(name) != value]
        if wrong:
            shown = [", ".join(f"{name} {values.get(name)}" for name in wrong) for values in (expected, came)]
            raise OtherOutput("recvmsg", *shown)
