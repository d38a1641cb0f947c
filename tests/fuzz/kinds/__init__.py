"""The kinds of fuzzing, one file each. A kind has

- `NAME`, and `SUMMARY`: what is random, and what must hold;
- `WEIGHT`: its share of the time, beside the others;
- `fuzz(seed, seconds, work)`: tries inputs for that long, in the empty directory `work`; failures are saved in it;
- `replay(saved, work)`: tries one saved input, and raises whatever it did wrong;
- and if something has to be made first, `prepare()`, which is called once before the time runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tests.fuzz.tally import Tally


class Kind(Protocol):
    """What a module of this package has."""

    NAME: str
    SUMMARY: str
    WEIGHT: float

    def fuzz(self, seed: int, seconds: float, work: Path) -> Tally: ...

    def replay(self, saved: Path, work: Path) -> None: ...


def table() -> dict[str, Kind]:
    """All kinds by name."""
    from tests.fuzz.kinds import files, results, scenario, study

    kinds: tuple[Kind, ...] = (study, scenario, files, results)
    return {kind.NAME: kind for kind in kinds}
