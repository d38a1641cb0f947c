"""What a campaign has come to, all its runs together: results/fuzz/counts.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.fuzz.tally import Tally


@dataclass
class Fault:
    """Failures that are alike.

    Attributes:
        times: that it was met.
        saved: the first input that showed it.
        seed: of the stretch that met it first.
        mended: whether it does no harm any more, by the time that the page was written.

    """

    times: int
    saved: str
    seed: int
    mended: bool = False


@dataclass
class Sum:
    """What one kind has come to.

    Attributes:
        inputs: tried.
        reached: of these, what came to the end; see `Tally`.
        seconds: that processes were given, side by side ones each for itself.
        slowest: seconds that one input took at most.
        memory: bytes that a process took at most.
        faults: by what they have in common.

    """

    inputs: int = 0
    reached: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    memory: int = 0
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])

    def add(self, tally: Tally) -> None:
        """A stretch; its failures are counted where they are saved."""
        self.inputs += tally.inputs
        self.reached += tally.reached
        self.slowest = max(self.slowest, tally.slowest)
        self.memory = max(self.memory, tally.memory)

    def add_all(self, other: Sum) -> None:
        """Those of another campaign."""
        self.inputs += other.inputs
        self.reached += other.reached
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.memory = max(self.memory, other.memory)
        for what, fault in other.faults.items():
            if what in self.faults:
                self.faults[what].times += fault.times
            else:
                self.faults[what] = fault


@dataclass
class Run:
    """One run of the command: of what, with which seeds (the first and the last stretch's), for how long, and how many processes side by side."""

    commit: str
    first: int
    last: int
    seconds: float
    jobs: int


@dataclass
class Counts:
    """Runs, and sums of all of them by kind."""

    runs: list[Run] = field(default_factory=list[Run])
    kinds: dict[str, Sum] = field(default_factory=dict[str, Sum])

    @property
    def inputs(self) -> int:
        """Of all kinds."""
        return sum(each.inputs for each in self.kinds.values())

    @property
    def reached(self) -> int:
        """Of all kinds."""
        return sum(each.reached for each in self.kinds.values())

    def of(self, kind: str) -> Sum:
        """The kind's, new if there is none."""
        return self.kinds.setdefault(kind, Sum())

    def add(self, other: Counts) -> None:
        """Those of another campaign. Seeds that both had would be the same inputs."""
        for run in other.runs:
            for mine in self.runs:
                if run.first <= mine.last and mine.first <= run.last and run.commit == mine.commit:
                    raise ValueError(f"seeds {run.first} to {run.last} are there twice")
        self.runs += other.runs
        for kind, each in other.kinds.items():
            self.of(kind).add_all(each)

    def text(self) -> str:
        """As JSON, with what the kinds add up to."""
        return json.dumps({"inputs": self.inputs, "reached": self.reached, **asdict(self)}, indent=2) + "\n"

    def save(self, path: Path) -> None:
        """Whole or not at all."""
        new = path.with_name(f".{path.name}.tmp")
        new.write_text(self.text())
        new.replace(path)


def load(path: Path) -> Counts:
    """What `save` has written."""
    tree = json.loads(path.read_text())
    kinds = {
        name: Sum(**{**each, "faults": {what: Fault(**fault) for what, fault in each["faults"].items()}})
        for name, each in tree["kinds"].items()
    }
    return Counts([Run(**run) for run in tree["runs"]], kinds)
