"""The kinds of fuzzing, one file each. A kind has

- `NAME`, and `SUMMARY`: what is random, what must hold, and what an input has to reach to count as one that got there;
- `WEIGHT`: its share of the time, beside the others: half is for valid scenarios, a quarter for texts, an eighth each for files and results;
- `fuzz(seed, seconds, work)`: tries inputs for that long, in the empty directory `work`; failures are saved in it;
- `replay(saved, work)`: tries one saved input, and raises whatever it did wrong;
- and if something has to be made first, `prepare()`, which is called once before the time runs.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, Protocol

from tests.fuzz.tally import Tally


class Kind(Protocol):
    """What a module of this package has."""

    NAME: str
    SUMMARY: str
    WEIGHT: float

    def fuzz(self, seed: int, seconds: float, work: Path) -> Tally: ...

    def replay(self, saved: Path, work: Path) -> None: ...


def names() -> list[str]:
    """Of all kinds; that of the runner's own tests is there only for these."""
    return ["study", "scenario", "files", "results", *(["planted"] if "SAWTOOTH_FUZZ_PLANTED" in os.environ else [])]


def named(name: str) -> Kind:
    """A kind; no other is loaded, which takes some seconds."""
    kind: Any = importlib.import_module(f"tests.fuzz.kinds.{name}")
    return kind


def prepare(kind: Kind) -> None:
    """Makes what a kind needs."""
    if make := getattr(kind, "prepare", None):
        make()
