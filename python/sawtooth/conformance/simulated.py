"""The simulator's endpoint: the sender and the receiver that simulations have, in virtual time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sawtooth import _core
from sawtooth.conformance.agreed import SEND_BUFFER_BYTES, Agreed, agreed
from sawtooth.conformance.commands import Effect
from sawtooth.conformance.endpoint import NotApplicable, OtherOutput, Returned, Sent, constant
from sawtooth.conformance.script import Call, Script, Segment

_ECN = ("noecn", "ect1", "ect0", "ce")
_ACE = {"E": 1, "W": 2, "A": 4}
"""Of each flag what it counts (RFC 9768 §3.2.2)."""
_ACE_OF_SYN = {"noecn": "W", "ect1": "EW", "ect0": "A", "ce": "WA"}
"""How the answer to a SYN says with which ECN field that came (RFC 9768 §3.1.1, table 2)."""
_LISTENING, _CONNECTED = "listening", "connected"
_WRITES = ("write", "send", "sendto")
_READS = ("read", "recv", "recvfrom")


class SimulatedEndpoint:
    """See `endpoint.Endpoint`."""

    compares_handshake_window = False
    has_offload = False

    def __init__(self, script: Script, stack: str, hz: int | None = None) -> None:
        self._agreed = agreed(script)
        scenario = json.dumps(_scenario(self._agreed, stack, hz))
        try:
            self._end = _core.ScriptedEndpoint(scenario, self._agreed.active, self._agreed.borders)
        except _core.ScenarioError as error:
            raise NotApplicable(f"what both ends agree on: {error}") from None
        self._sockets: dict[int, str] = {}
        self._next = 3
        self._accepted = False
        self._connecting = False
        self._read = 0
        self._closed = False
        self._peer_ended = False
        self._hears_nothing = False
        self._peer_isn = 0
        self._peer_stamp = 0
        self._waiting: list[Sent] = []

    def wait(self, until: float) -> Sent | None:
        """See `endpoint.Endpoint`."""
        if not self._waiting:
            self._end.advance(until)
            self._waiting = [Sent(said["time"], self._said(said)) for said in self._end.take()]
        if self._waiting and self._waiting[0].time <= until:
            return self._waiting.pop(0)
        return None

    def receive(self, segment: Segment, time: float) -> None:
        """See `endpoint.Endpoint`."""
        self._advance(time)
        for letter, what in {"R": "a reset (RST)", "U": "urgent data (URG)"}.items():
            if letter in segment.flags:
                raise NotApplicable(what)
        options = segment.options or {}
        for kind in options:
            if kind not in ("mss", "sackOK", "TS", "wscale", "sack"):
                raise NotApplicable(f"the option {kind} of TCP")
        if not {"S", "."} & set(segment.flags):
            # Without an acknowledgement it is dropped (RFC 9293 §3.10.7.4, fifth).
            return
        syn = "S" in segment.flags
        if syn:
            self._peer_isn = segment.start
            segment = replace(segment, start=0)
        window = None if segment.window is None else segment.window << (0 if syn else self._agreed.peer_scale)
        if window == 0 and not syn:
            # Applications in the simulator read at once, so no window of theirs is ever closed.
            raise NotApplicable("a window of 0, and its probes (RFC 9293 §3.8.6.1)")
        # A script writes 0 where the simulator's segments have no timestamp.
        stamps = [max(1, stamp) if "." in segment.flags or at == 0 else 0 for at, stamp in enumerate(options.get("TS", (0, 0)))]
        # The first acknowledgement says how the answer to the SYN came, and counts nothing (RFC 9768 §3.2.2.1).
        counts = self._agreed.accurate and self._end.is_established
        marked = not syn and self._agreed.ecn and not self._agreed.accurate
        self._peer_ended |= "F" in segment.flags
        if not self._agreed.tcp["timestamps"]:
            stamps = [0, 0]
        elif "TS" in options:
            self._peer_stamp = stamps[0]
        else:
            # What comes without timestamps changes nothing of what is echoed.
            stamps = [self._peer_stamp, 0]
        refused = self._end.receive(
            {
                "time": time,
                "syn": syn,
                "fin": "F" in segment.flags,
                "push": "P" in segment.flags,
                "start": segment.start,
                "length": segment.length,
                "ack": segment.ack if "." in segment.flags else None,
                "window": 65_535 if window is None else window,
                "sack": [list(block) for block in options.get("sack", ())],
                "stamps": stamps,
                "ecn": _ECN.index(segment.ecn or "noecn") if self._agreed.ecn else 0,
                "ece": marked and "E" in segment.flags,
                "cwr": marked and "W" in segment.flags,
                "ace": sum(bit for letter, bit in _ACE.items() if letter in segment.flags) if counts else None,
            }
        )
        if refused is not None:
            raise NotApplicable(refused)

    def call(self, call: Call, time: float, end: float | None) -> Returned | None:
        """See `endpoint.Endpoint`."""
        self._advance(time)
        if end is not None and call.name != "connect":
            # What it waits for has come by its end, or has not.
            return None
        found = self._understood(call)
        return None if end is not None else found

    def returned(self, call: Call) -> Returned:
        """See `endpoint.Endpoint`."""
        if call.name == "connect":
            return Returned(0) if self._end.is_established else Returned(-1, "ETIMEDOUT")
        return self._understood(call)

    def command(self, effect: Effect, time: float) -> None:
        """See `endpoint.Endpoint`: what commands set is known before the connection opens."""
        del effect, time

    def foreign(self, text: str, time: float) -> None:
        """See `endpoint.Endpoint`."""
        del time
        raise NotApplicable(f"a packet that is none of TCP: {text}")

    def info(self, time: float) -> Mapping[str, int]:
        """See `endpoint.Endpoint`."""
        self._advance(time)
        return {**self._end.info(), "tcpi_advmss": self._agreed.offered["mss"]}

    def close(self) -> None:
        """See `endpoint.Endpoint`."""

    def _advance(self, time: float) -> None:
        # It stops whenever something leaves, which is looked at later.
        while self._end.advance(time):
            self._waiting += [Sent(said["time"], self._said(said)) for said in self._end.take()]
        self._waiting += [Sent(said["time"], self._said(said)) for said in self._end.take()]

    def _understood(self, call: Call) -> Returned:
        try:
            return self._called(call)
        except (IndexError, KeyError, TypeError, ValueError):
            raise NotApplicable(f"the call {call.name} with these arguments") from None

    def _called(self, call: Call) -> Returned:
        arguments = call.arguments
        match call.name:
            case "socket":
                if set(arguments) & {"IPPROTO_UDP", "AF_INET6", "SOCK_DGRAM"}:
                    raise NotApplicable("sockets of other protocols")
                return self._socket("new", call)
            case "bind" | "setsockopt" | "fcntl":
                return Returned(0 if call.result is None or call.result < 0 else call.result)
            case "getsockopt":
                return self._get(str(arguments[2]), arguments[3])
            case "ioctl":
                return self._ask(str(arguments[1]), arguments[2:])
            case "recvmsg":
                return self._receive_message(arguments)
            case "listen":
                self._sockets[arguments[0]] = _LISTENING
                return Returned(0)
            case "accept" | "accept4":
                if not self._end.is_established or self._accepted:
                    return Returned(-1, "EAGAIN")
                self._accepted = True
                return self._socket(_CONNECTED, call)
            case "connect":
                self._sockets[arguments[0]] = _CONNECTED
                if self._connecting:
                    return Returned(-1, "EISCONN" if self._end.is_established else "EALREADY")
                self._connecting = True
                self._end.connect()
                return Returned(-1, "EINPROGRESS")
            case "close":
                return self._close(self._sockets.pop(arguments[0], None))
            case "shutdown":
                if arguments[1] != "SHUT_WR":
                    self._hears_nothing = True
                return Returned(0) if arguments[1] == "SHUT_RD" else self._close(_CONNECTED)
            case name if name in _WRITES:
                return self._write(call)
            case name if name in _READS:
                if arguments[1] == "NULL":
                    return Returned(-1, "EFAULT")
                return self._take(arguments[2])
            case name:
                raise NotApplicable(f"the call {name}")

    def _socket(self, state: str, call: Call) -> Returned:
        """By the script's number, which a kernel's need not be."""
        number = call.result if call.result is not None and call.result >= 0 else self._next
        self._next = max(self._next, number) + 1
        self._sockets[number] = state
        return Returned(number)

    def _get(self, name: str, expected: Any) -> Returned:
        there = {"SO_ERROR": 0, "TCP_MAXSEG": self._end.info()["tcpi_snd_mss"]}
        if name not in there:
            raise NotApplicable(f"the socket's option {name}")
        if constant(expected) not in (..., there[name]):
            raise OtherOutput("getsockopt", constant(expected), there[name])
        return Returned(0)

    def _ask(self, name: str, expected: tuple[Any, ...]) -> Returned:
        if name not in ("SIOCINQ", "FIONREAD"):
            raise NotApplicable(f"the call ioctl with {name}")
        there = self._end.delivered - self._read
        if expected and constant(expected[0]) not in (..., there):
            raise OtherOutput("ioctl", constant(expected[0]), there)
        return Returned(0)

    def _receive_message(self, arguments: tuple[Any, ...]) -> Returned:
        """Data, and what is left of them where that is asked for (`TCP_INQ`), which is 1 at their end."""
        message, flags = arguments[1:3]
        if flags not in (0, "MSG_DONTWAIT"):
            raise NotApplicable(f"the flag {flags} of recvmsg")
        taken = self._take(sum(length for _, length in message["msg_iov"]))
        left = self._end.delivered - self._read or int(self._peer_ended)
        for control in message.get("msg_control", ()):
            if control["cmsg_type"] != "TCP_CM_INQ":
                raise NotApplicable(f"the control message {control['cmsg_type']}")
            if control["cmsg_data"] != left:
                raise OtherOutput("recvmsg", control["cmsg_data"], left)
        return taken

    def _close(self, state: str | None) -> Returned:
        if state is None:
            return Returned(-1, "EBADF")
        if state == _CONNECTED and not self._closed:
            self._closed = True
            self._end.close()
        return Returned(0)

    def _write(self, call: Call) -> Returned:
        _, buffer, length, *more = call.arguments
        flags = more[0] if more else 0
        if flags not in (0, "MSG_DONTWAIT", "MSG_NOSIGNAL"):
            raise NotApplicable(f"the flag {flags} of {call.name}")
        if self._closed:
            return Returned(-1, "EPIPE")
        if buffer == "NULL":
            return Returned(-1, "EFAULT")
        if call.result is not None and call.result != length:
            raise NotApplicable("a write that is not taken whole (memory of sockets)")
        self._end.write(length)
        return Returned(length)

    def _take(self, most: int) -> Returned:
        there = self._end.delivered - self._read
        if there == 0 and not self._peer_ended and not self._hears_nothing:
            return Returned(-1, "EAGAIN")
        taken = min(most, there)
        self._read += taken
        return Returned(taken)

    def _said(self, said: _core.ScriptedSegment) -> Segment:
        syn, ack, window, ace = said["syn"], said["ack"], said["window"], said["ace"]
        letters = ("S" if syn else "") + ("F" if said["fin"] else "") + ("P" if said["push"] else "") + ("." if ack is not None else "")
        if syn:
            asked = "EW" if self._agreed.asks_ecn and ack is None else "E" if self._agreed.ecn else ""
            marks = _ACE_OF_SYN[self._agreed.syn_field] if self._agreed.accurate else asked
            options = dict(self._agreed.offered)
            if "TS" in options:
                options["TS"] = tuple(said["stamps"])
            ack = None if ack is None else ack + self._peer_isn
        else:
            marks = ("E" if said["ece"] else "") + ("W" if said["cwr"] else "")
            if ace is not None:
                marks = "".join(letter for letter, bit in _ACE.items() if ace & bit)
            options = {"TS": tuple(said["stamps"])} if self._agreed.tcp["timestamps"] else {}
            options |= {"sack": [tuple(block) for block in said["sack"]]} if said["sack"] and "sackOK" in self._agreed.offered else {}
        segment = Segment(
            letters + marks, said["start"], said["length"], ack, None if window is None else window >> self._agreed.scale, options
        )
        return replace(segment, ecn=_ECN[said["ecn"]])


def _scenario(found: Agreed, stack: str, hz: int | None) -> dict[str, Any]:
    given = found.congestion_control or found.sysctl.get("tcp_congestion_control")
    known = {row["name"] for row in _core.registry()["cc"]} if given else set[str]()
    if given and given not in known:
        raise NotApplicable(f"the congestion control {given}")
    is_linux = stack.startswith("linux")
    memory = {"send_buffer_default": f"{SEND_BUFFER_BYTES} B"} if is_linux else {}
    ticks = {"timer_tick": f"{1 / hz} s"} if hz else {}
    name = given or ("cubic" if is_linux else "reno")
    link = {"rate": "1 Gbit/s", "delay": "1 ms"}
    flow = {"path": ["path"]}
    return {
        "duration": "1 s",
        "stack": stack,
        "tcp": memory | ticks | found.tcp,
        "cc": {"name": name},
        "links": {"path": link},
        "flows": [flow],
    }
