"""What a stretch of fuzzing came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Failure:
    """An input that did what none may.

    Attributes:
        kind: of fuzzing.
        what: happened; failures with the same first line count as one fault.
        saved: the input, which `python -m tests.fuzz --replay` takes.

    """

    kind: str
    what: str
    saved: Path


@dataclass
class Tally:
    """Attributes:
    inputs: tried.
    reached: of these, the ones that reached what is tried in the end: the simulator; for results, an open dataset or an error that names the damage.
    slowest: seconds that one of them took at most.
    failures: what was found.
    memory: bytes that the stretch took at most; whoever watches the process knows that.
    """

    inputs: int = 0
    reached: int = 0
    slowest: float = 0.0
    failures: list[Failure] = field(default_factory=list[Failure])
    memory: int = 0
