"""Runs a script against an endpoint, event by event, and says whether it has passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sawtooth.conformance import asserting
from sawtooth.conformance.endpoint import Endpoint, NotApplicable, OtherOutput, Returned, Sent
from sawtooth.conformance.script import Call, Code, Event, Foreign, Inbound, Outbound, Script, Segment, Shell, When

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"
TOLERANCE_SECS = 0.004
"""What times may differ by, unless a script says otherwise."""
_MOMENT_SECS = 1e-9
_LONGEST_SECS = 120.0
"""Waited for what may come at any time."""


@dataclass(frozen=True)
class Outcome:
    """What has become of a script.

    Args:
        script: its name.
        verdict: `PASSED`, `FAILED` or `NOT_APPLICABLE`.
        reason: what differs, or what the endpoint lacks.
        event: where that is.
        expected: what the script says there.
        came: what the endpoint did.

    """

    script: str
    verdict: str
    reason: str = ""
    event: Event | None = None
    expected: str = ""
    came: str = ""


class _Differs(Exception):
    def __init__(self, reason: str, expected: str, came: str) -> None:
        super().__init__(reason)
        self.reason, self.expected, self.came = reason, expected, came


def run(script: Script, make: Callable[[], Endpoint], tolerance: float = TOLERANCE_SECS) -> Outcome:
    """Runs a script against an endpoint that is made for it."""
    given = script.options.get("tolerance_usecs", "")
    run = _Run(float(given) / 1e6 if given.isdigit() else tolerance, strict="strict_segments" in script.options)
    event: Event | None = None
    try:
        run.endpoint = make()
        try:
            for event in script.events:
                run.step(event)
            run.finish()
        finally:
            run.endpoint.close()
    except NotApplicable as lacking:
        return Outcome(script.name, NOT_APPLICABLE, str(lacking), event)
    except OtherOutput as output:
        return Outcome(script.name, FAILED, f"what {output.what} fills in differs", run.blamed or event, output.expected, output.came)
    except _Differs as difference:
        return Outcome(script.name, FAILED, difference.reason, run.blamed or event, difference.expected, difference.came)
    return Outcome(script.name, PASSED)


class _Run:
    endpoint: Endpoint

    def __init__(self, tolerance: float, *, strict: bool) -> None:
        self._tolerance = tolerance
        self._strict = strict
        self._rest: Sent | None = None
        self._base = 0.0
        self._blocked: list[tuple[float, Event, Call]] = []
        self._stamps: dict[int, int] = {}
        self.blamed: Event | None = None

    def step(self, event: Event) -> None:
        """Does what an event says, or looks whether it happens."""
        self.blamed = None
        least, most = self._times(event.when)
        if least is not None:
            # What comes at the time at which a call returns may be why it does.
            self._unblock(least if isinstance(event.what, Call | Code) else least - _MOMENT_SECS)
        match event.what:
            case Outbound(segment):
                self._expect(segment, least, most)
                return
            case Inbound(segment):
                self.endpoint.receive(self._with_live_stamps(segment), self._at(least))
            case Call() as call:
                self._call(event, call, self._at(least), most if event.when.blocks else None)
            case Code(text):
                wrong = asserting.failures(text, self.endpoint.info(self._at(least)))
                if wrong:
                    raise _Differs("an assertion does not hold", text.strip(), "; ".join(wrong))
            case Shell(effects=effects):
                for effect in effects:
                    self.endpoint.command(effect, self._at(least))
            case Foreign(text, True):
                self.endpoint.foreign(text, self._at(least))
            case Foreign(text):
                raise NotApplicable(f"a packet that is none of TCP: {text}")
        self._base = self._at(least)

    def finish(self) -> None:
        """Calls that block yet return."""
        self._unblock(float("inf"))

    def _at(self, least: float | None) -> float:
        return self._base if least is None else least

    def _times(self, when: When) -> tuple[float | None, float | None]:
        if when.least is None:
            return None, None
        base = self._base if when.relative else 0.0
        return base + when.least, None if when.most is None else base + when.most

    def _call(self, event: Event, call: Call, time: float, end: float | None) -> None:
        returned = self.endpoint.call(call, time, end)
        if end is not None:
            self._blocked.append((end, event, call))
            self._blocked.sort(key=lambda each: each[0])
        elif returned is not None:
            _compare_results(call, returned)

    def _unblock(self, time: float) -> None:
        while self._blocked and self._blocked[0][0] <= time:
            _, event, call = self._blocked.pop(0)
            self.blamed = event
            _compare_results(call, self.endpoint.returned(call))
            self.blamed = None

    def _expect(self, expected: Segment, least: float | None, most: float | None) -> None:
        last = self._base + _LONGEST_SECS if least is None else (most if most is not None else least) + self._tolerance
        sent = self._next(last)
        shown = _when(least, most)
        if sent is None:
            raise _Differs("no segment came", f"{shown} {expected}", f"nothing until {last:.6f}")
        first = sent.segment.length
        if not self._strict:
            sent = self._gathered(self._divided(sent, expected), expected, last)
        if least is not None and not least - self._tolerance <= sent.time <= last:
            raise _Differs("the time differs", f"{shown} {expected}", _shown(sent))
        joined = not self.endpoint.has_offload and sent.segment.length > first
        wrong = self._differences(expected, sent.segment, unsaid="P" if joined else "")
        if wrong:
            raise _Differs(f"differs in {' and '.join(wrong)}", f"{shown} {expected}", _shown(sent))
        self._base = sent.time if least is None or most is not None else least

    def _next(self, last: float) -> Sent | None:
        sent, self._rest = self._rest, None
        return sent or self.endpoint.wait(last)

    def _divided(self, sent: Sent, expected: Segment) -> Sent:
        """The first of several segments that a host has left to segmentation offload, where a script has them one by one."""
        whole = sent.segment
        if whole.start != expected.start or not 0 < expected.length < whole.length:
            return sent
        rest = replace(whole, start=whole.start + expected.length, length=whole.length - expected.length)
        self._rest = Sent(sent.time, rest)
        return Sent(sent.time, replace(whole, length=expected.length, flags="".join(set(whole.flags) - set("PF"))))

    def _gathered(self, sent: Sent, expected: Segment, last: float) -> Sent:
        """Several segments that a script writes as one, as segmentation offload does."""
        while sent.segment.start == expected.start and 0 < sent.segment.length < expected.length:
            more = self._next(last)
            if more is None or more.segment.start != sent.segment.start + sent.segment.length or not more.segment.length:
                self._rest = more
                break
            more = self._divided(more, replace(expected, start=more.segment.start, length=expected.length - sent.segment.length))
            joined = replace(more.segment, start=sent.segment.start, length=sent.segment.length + more.segment.length)
            sent = Sent(sent.time, joined)
        return sent

    def _differences(self, expected: Segment, came: Segment, unsaid: str) -> list[str]:
        """What differs, without flags that are `unsaid`."""
        wrong: list[str] = []
        if (set(expected.flags) ^ set(came.flags)) - set(unsaid):
            wrong.append("flags")
        # With which number an endpoint begins is its own.
        start = came.start if "S" in expected.flags else expected.start
        if (start, expected.length) != (came.start, came.length):
            wrong.append("sequence numbers")
        if "." in expected.flags and expected.ack != came.ack:
            wrong.append("the acknowledgement number")
        modelled = came.window is not None and ("S" not in came.flags or self.endpoint.compares_handshake_window)
        if modelled and expected.window is not None and expected.window != came.window:
            wrong.append("the window")
        if expected.ecn is not None and came.ecn is not None and expected.ecn != came.ecn:
            wrong.append("the ECN field")
        if "S" in expected.flags:
            # Of each connection they begin anew.
            self._stamps.clear()
        if expected.options is not None:
            wrong += self._option_differences(dict(expected.options), dict(came.options or {}))
        return wrong

    def _option_differences(self, expected: dict[str, Any], came: dict[str, Any]) -> list[str]:
        wrong = [f"the option {kind}" for kind in sorted(expected.keys() ^ came.keys())]
        for kind in expected.keys() & came.keys():
            if kind == "TS":
                self._stamps.setdefault(expected[kind][0], came[kind][0])
                same = expected[kind][1] == came[kind][1]
            elif kind == "sack":
                same = [tuple(block) for block in expected[kind]] == [tuple(block) for block in came[kind]]
            elif kind == "wscale" and not self.endpoint.compares_handshake_window:
                same = True
            else:
                same = expected[kind] == came[kind]
            if not same:
                wrong.append(f"the option {kind}")
        return wrong

    def _with_live_stamps(self, segment: Segment) -> Segment:
        """What the peer echoes are timestamps of the script: the endpoint's own are others, as far after the first one."""
        options = dict(segment.options or {})
        if "TS" not in options or not self._stamps:
            return segment
        value, echo = options["TS"]
        if echo in self._stamps:
            options["TS"] = (value, self._stamps[echo])
        else:
            first, live = next(iter(self._stamps.items()))
            options["TS"] = (value, (live + echo - first) % 2**32)
        return replace(segment, options=options)


def _compare_results(call: Call, returned: Returned) -> None:
    if call.result is None:
        return
    differs = call.result != returned.result or (call.error is not None and call.error != returned.error)
    if differs:
        expected = Returned(call.result, call.error)
        raise _Differs(f"what {call.name} returns differs", str(expected), str(returned))


def _when(least: float | None, most: float | None) -> str:
    if least is None:
        return "*"
    return f"{least:.6f}" if most is None else f"{least:.6f}~{most:.6f}"


def _shown(sent: Sent) -> str:
    return f"{sent.time:.6f} {sent.segment}"
