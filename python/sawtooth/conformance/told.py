"""What has become of a script, as plain facts: what is printed, written as JSON, and handed out of a guest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sawtooth.conformance.endpoint import Endpoint
from sawtooth.conformance.parse import load
from sawtooth.conformance.running import FAILED, Outcome, run
from sawtooth.conformance.script import Script
from sawtooth.errors import StudyError

INVALID = "has a mistake"


@dataclass(frozen=True)
class Told:
    """What has become of a script; where and why, as far as there is more to say than that it has passed.

    Args:
        script: its path.
        verdict: one of `running`, or `INVALID`.
        reason: what differs, what the endpoint lacks, or what the mistake is.
        line, column: of the event, from 1.
        expected, came: what the script says there, and what the endpoint did.

    """

    script: str
    verdict: str
    reason: str = ""
    line: int | None = None
    column: int | None = None
    expected: str = ""
    came: str = ""

    def __str__(self) -> str:
        if self.verdict == INVALID:
            return f"{self.script}: {INVALID}\n{self.reason}"
        place = self.script if self.line is None else f"{self.script}:{self.line}:{self.column}"
        line = f"{place}: {self.verdict}" + (f": {self.reason}" if self.reason else "")
        return f"{line}\n  expected: {self.expected}\n  came:     {self.came}" if self.verdict == FAILED else line


def of_path(path: Path, make: Callable[[Script], Endpoint], tolerance: float, defined: Mapping[str, str]) -> Told:
    """Runs the script of a file.

    Raises:
        StudyError: if there is no such file.

    """
    try:
        script = load(path, defined)
    except StudyError as error:
        if error.place is None:
            raise
        return Told(str(path), INVALID, str(error))
    return _of(run(script, lambda: make(script), tolerance))


def _of(outcome: Outcome) -> Told:
    place = outcome.event.place if outcome.event else None
    line, column = (place.line, place.column) if place else (None, None)
    return Told(outcome.script, outcome.verdict, outcome.reason, line, column, outcome.expected, outcome.came)
