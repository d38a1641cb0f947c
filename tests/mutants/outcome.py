"""A mutant, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

SEEN = ("killed", "endless")
UNSEEN = ("survived", "unreached")
# Of each half of an area, how many have been read (the first of the lot), and how many nobody has (the last).
READ, FRESH = 200, 50


@dataclass(frozen=True)
class Mutant:
    """One small error.

    Attributes:
        area: cc, queue or tcp of the core; stats or metrics.
        file: within the sources.
        line: where, from 1.
        kind: cargo-mutants' genre, or the kind of Python, or `Literal`.
        what: in words, with the function.
        of_alike: which it is of those of the file that have the same words, from 1.

    """

    area: str
    file: str
    line: int
    kind: str
    what: str
    of_alike: int

    @property
    def key(self) -> str:
        """Names it, wherever in its file it is moved."""
        return f"{self.file}: {self.what} #{self.of_alike}"

    @property
    def lot(self) -> bytes:
        """A number drawn for it, the same for ever."""
        return sha256(self.key.encode()).digest()

    @property
    def studied(self) -> bool:
        """Whether it is of the half whose survivors were read when tests were first added; the other half was read later."""
        return self.lot[0] % 2 == 0


def drawn(mutants: Sequence[Mutant], sample: int | None) -> dict[int, str]:
    """Numbers, from 1, of the mutants to run and the set each is of: `read`, `fresh` or `other`.

    By lot, the areas and their halves in turn. `sample` of each half of an area are run, and its fresh ones; or all.
    """
    groups: dict[tuple[str, bool], list[int]] = {}
    for number in sorted(range(1, len(mutants) + 1), key=lambda number: mutants[number - 1].lot):
        groups.setdefault((mutants[number - 1].area, mutants[number - 1].studied), []).append(number)
    ranked = []
    for numbers in groups.values():
        fresh = max(READ, len(numbers) - FRESH)
        sets = [(number, "read" if rank < READ else "fresh" if rank >= fresh else "other") for rank, number in enumerate(numbers)]
        ranked.append(sets if sample is None else sets[: min(sample, fresh)] + sets[fresh:])
    return {number: of for turn in zip_longest(*ranked) for number, of in filter(None, turn)}


@dataclass
class Outcome:
    """What became of a mutant.

    Attributes:
        mutant: which.
        fate: killed, endless, survived, unreached or unviable.
        by: the test that saw it.
        stage: unit or all: the tests it was run against.
        of: the set it was drawn in.

    """

    mutant: Mutant
    fate: str
    by: str = ""
    stage: str = "unit"
    of: str = "read"


class Book:
    """Outcomes as they come, one a line of JSON: what was interrupted is not lost."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.unlink(missing_ok=True)

    def write(self, outcome: Outcome) -> None:
        """Adds one."""
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def load(path: Path) -> list[Outcome]:
    """The outcomes in a book, of each mutant the last."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    outcomes = [Outcome(Mutant(**row.pop("mutant")), **row) for row in rows]
    return list({each.mutant.key: each for each in outcomes}.values())
