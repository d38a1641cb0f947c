"""What a script is run against: a host's end of a connection, simulated or a kernel's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sawtooth.conformance.commands import Effect
from sawtooth.conformance.script import Call, Segment


class NotApplicable(Exception):
    """A script asks for what an endpoint does not have."""


class OtherOutput(Exception):
    """A call has filled in something else than the script says."""

    def __init__(self, what: str, expected: Any, came: Any) -> None:
        super().__init__(what)
        self.what, self.expected, self.came = what, str(expected), str(came)


@dataclass(frozen=True)
class Sent:
    """A segment that the endpoint has sent, and when, in seconds from the start."""

    time: float
    segment: Segment


@dataclass(frozen=True)
class Returned:
    """What a call has returned."""

    result: int
    error: str | None = None

    def __str__(self) -> str:
        return f"{self.result}" + (f" {self.error}" if self.error else "")


class Endpoint(Protocol):
    """One end of one connection, and its application."""

    compares_handshake_window: bool
    """Whether the window of SYNs and the shift of window scaling are the endpoint's."""

    has_offload: bool
    """Whether several segments that leave at once are a burst, whose end has PSH."""

    def wait(self, until: float) -> Sent | None:
        """The next segment that it sends, until a time at which it gives nothing."""
        ...

    def receive(self, segment: Segment, time: float) -> None:
        """A segment of the peer's arrives."""
        ...

    def call(self, call: Call, time: float, end: float | None) -> Returned | None:
        """The application calls; of a call that blocks nothing before `end`."""
        ...

    def returned(self, call: Call) -> Returned:
        """What a call that blocked has returned."""
        ...

    def command(self, effect: Effect, time: float) -> None:
        """What a command of the shell does."""
        ...

    def foreign(self, text: str, time: float) -> None:
        """A packet arrives that is none of TCP."""
        ...

    def info(self, time: float) -> Mapping[str, int]:
        """Fields of `TCP_INFO` at a time."""
        ...

    def close(self) -> None:
        """The script is over."""
        ...


def constant(value: Any) -> Any:
    """What an array of one value has in it, as options of sockets are written."""
    match value:
        case [only]:
            return only
        case _:
            return value
