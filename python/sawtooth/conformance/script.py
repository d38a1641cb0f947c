"""What a script says: a plain list of events, each with its time and place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sawtooth.conformance.commands import Effect
from sawtooth.errors import Place


@dataclass(frozen=True)
class When:
    """The time of an event, in seconds.

    Args:
        least: the earliest; nothing stands for any time.
        most: the latest of a range, or the end of a call that blocks.
        relative: counted from the event before, not from the start.
        blocks: the call ends at `most`.

    """

    least: float | None = 0.0
    most: float | None = None
    relative: bool = True
    blocks: bool = False


@dataclass(frozen=True)
class Segment:
    """A segment of TCP, its numbers relative to the initial ones.

    Args:
        flags: letters, of SFRP.UEWA; `.` is ACK and `A` is AE (RFC 9768).
        start: the number of the first byte.
        length: bytes of data.
        ack: the acknowledgement number.
        window: as the header has it, not scaled.
        options: by kind, in order, without those that pad; `None`: whatever comes.
        ecn: the ECN field of the IP header, or `None` where it is not said.
        urgent: the urgent pointer.

    """

    flags: str
    start: int
    length: int
    ack: int | None = None
    window: int | None = None
    options: Mapping[str, Any] | None = field(default_factory=dict[str, Any])
    ecn: str | None = None
    urgent: int = 0

    @property
    def taken(self) -> int:
        """Numbers that it takes (RFC 9293 §3.4)."""
        return self.length + ("S" in self.flags) + ("F" in self.flags)

    def __str__(self) -> str:
        parts = [f"[{self.ecn}]"] if self.ecn else []
        parts += [self.flags or "-", f"{self.start}:{self.start + self.length}({self.length})"]
        parts += [f"ack {self.ack}"] if self.ack is not None else []
        parts += [f"win {self.window}"] if self.window is not None else []
        if self.options is None:
            parts.append("<...>")
        elif self.options:
            parts.append(f"<{','.join(_option(kind, value) for kind, value in self.options.items())}>")
        return " ".join(parts)


def _option(kind: str, value: Any) -> str:
    if kind == "sack":
        return " ".join(["sack", *(f"{start}:{end}" for start, end in value)])
    if kind == "TS":
        return f"TS val {value[0]} ecr {value[1]}"
    return kind if value is None else f"{kind} {value}"


@dataclass(frozen=True)
class Inbound:
    """The peer sends."""

    segment: Segment


@dataclass(frozen=True)
class Outbound:
    """The endpoint is to send."""

    segment: Segment


@dataclass(frozen=True)
class Call:
    """A system call, and what it is to return; a result of `None` is not looked at.

    Names of constants are strings, texts are bytes, `...` is `Ellipsis`, structures are dictionaries or lists.
    """

    name: str
    arguments: tuple[Any, ...]
    result: int | None
    error: str | None = None


@dataclass(frozen=True)
class Shell:
    """What commands of the shell do."""

    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Code:
    """Python about the fields of `TCP_INFO`."""

    text: str


@dataclass(frozen=True)
class Foreign:
    """A packet that is none of TCP, or in an envelope; whether it comes or is to leave."""

    text: str
    inbound: bool = True


What = Inbound | Outbound | Call | Shell | Code | Foreign


@dataclass(frozen=True)
class Event:
    """A line of a script."""

    when: When
    what: What
    place: Place


@dataclass(frozen=True)
class Script:
    """A whole script, and the options at its head."""

    name: str
    options: Mapping[str, str]
    events: tuple[Event, ...]
