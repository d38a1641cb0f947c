"""The simulator's endpoint: the sender and the receiver that simulations have, in virtual time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sawtooth import _core
from sawtooth.conformance.agreed import SEND_BUFFER_BYTES, Agreed, agreed
from sawtooth.conformance.endpoint import NotApplicable, Returned, Sent
from sawtooth.conformance.script import Call, Script, Segment

_ECN = ("noecn", "ect1", "ect0", "ce")
_ACE = {"E": 1, "W": 2, "A": 4}
"""Of each flag what it counts (RFC 9768 §3.2.2)."""
_ACE_OF_SYN = {"noecn": "W", "ect1": "EW", "ect0": "A", "ce": "WA"}
"""How the answer to a SYN says with which ECN field that came (RFC 9768 §3.1.1, table 2)."""
_LISTENING, _CONNECTED = "listening", "connected"
_WRITES = {"write": 2, "send": 2, "sendto": 2}
_READS = {"read": 2, "recv": 2, "recvfrom": 2}


class SimulatedEndpoint:
    """See `endpoint.Endpoint`."""

    compares_handshake_window = False

    def __init__(self, script: Script, stack: str) -> None:
        self._agreed = agreed(script)
        scenario = json.dumps(_scenario(self._agreed, stack))
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
        syn = "S" in segment.flags
        window = None if segment.window is None else segment.window << (0 if syn else self._agreed.peer_scale)
        # A script writes 0 where the simulator's segments have no timestamp.
        stamps = [max(1, stamp) if "." in segment.flags or at == 0 else 0 for at, stamp in enumerate(options.get("TS", (0, 0)))]
        # The first acknowledgement says how the answer to the SYN came, and counts nothing (RFC 9768 §3.2.2.1).
        counts = self._agreed.accurate and self._end.is_established
        marked = not syn and self._agreed.ecn and not self._agreed.accurate
        self._peer_ended |= "F" in segment.flags
        if "TS" not in options or not self._agreed.tcp["timestamps"]:
            stamps = [0, 0]
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
        found = self._called(call)
        return None if end is not None else found

    def returned(self, call: Call) -> Returned:
        """See `endpoint.Endpoint`."""
        if call.name == "connect":
            return Returned(0) if self._end.is_established else Returned(-1, "ETIMEDOUT")
        return self._called(call)

    def shell(self, command: str) -> None:
        """See `endpoint.Endpoint`: what commands set is known before the connection opens."""
        del command

    def info(self, time: float) -> Mapping[str, int]:
        """See `endpoint.Endpoint`."""
        self._advance(time)
        return self._end.info()

    def close(self) -> None:
        """See `endpoint.Endpoint`."""

    def _advance(self, time: float) -> None:
        # It stops whenever something leaves, which is looked at later.
        while self._end.advance(time):
            self._waiting += [Sent(said["time"], self._said(said)) for said in self._end.take()]
        self._waiting += [Sent(said["time"], self._said(said)) for said in self._end.take()]

    def _called(self, call: Call) -> Returned:
        arguments = call.arguments
        match call.name:
            case "socket":
                return self._socket("new")
            case "bind" | "setsockopt" | "fcntl" | "getsockopt" | "ioctl":
                if call.name == "ioctl":
                    raise NotApplicable("the call ioctl")
                return Returned(0 if call.result is None or call.result < 0 else call.result)
            case "listen":
                self._sockets[arguments[0]] = _LISTENING
                return Returned(0)
            case "accept" | "accept4":
                if not self._end.is_established or self._accepted:
                    return Returned(-1, "EAGAIN")
                self._accepted = True
                return self._socket(_CONNECTED)
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
                if arguments[1] == "SHUT_RD":
                    raise NotApplicable("the call shutdown of what is received")
                return self._close(_CONNECTED)
            case name if name in _WRITES:
                return self._write(call)
            case name if name in _READS:
                return self._take(arguments[_READS[name]])
            case name:
                raise NotApplicable(f"the call {name}")

    def _socket(self, state: str) -> Returned:
        number, self._next = self._next, self._next + 1
        self._sockets[number] = state
        return Returned(number)

    def _close(self, state: str | None) -> Returned:
        if state is None:
            return Returned(-1, "EBADF")
        if state == _CONNECTED and not self._closed:
            self._closed = True
            self._end.close()
        return Returned(0)

    def _write(self, call: Call) -> Returned:
        flags = call.arguments[3] if len(call.arguments) > 3 else 0
        if flags not in (0, "MSG_DONTWAIT", "MSG_NOSIGNAL"):
            raise NotApplicable(f"the flag {flags} of {call.name}")
        if self._closed:
            return Returned(-1, "EPIPE")
        length = call.arguments[_WRITES[call.name]]
        self._end.write(length)
        return Returned(length)

    def _take(self, most: int) -> Returned:
        there = self._end.delivered - self._read
        if there == 0 and not self._peer_ended:
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


def _scenario(found: Agreed, stack: str) -> dict[str, Any]:
    given = found.congestion_control or found.sysctl.get("tcp_congestion_control")
    known = {row["name"] for row in _core.registry()["cc"]} if given else set[str]()
    if given and given not in known:
        raise NotApplicable(f"the congestion control {given}")
    is_linux = stack.startswith("linux")
    memory = {"send_buffer_default": f"{SEND_BUFFER_BYTES} B"} if is_linux else {}
    name = given or ("cubic" if is_linux else "reno")
    link = {"rate": "1 Gbit/s", "delay": "1 ms"}
    flow = {"path": ["path"]}
    return {"duration": "1 s", "stack": stack, "tcp": memory | found.tcp, "cc": {"name": name}, "links": {"path": link}, "flows": [flow]}
