"""What a rule is: a row that says what is wrong with a study or with its results, why that matters and what to do, and the function that finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sawtooth.errors import Place

if TYPE_CHECKING:
    import polars as pl

    from sawtooth.linting.setup import Setup, Subject
    from sawtooth.results.dataset import Dataset

Severity = Literal["error", "warning", "note"]
"""An error stops a study before it runs, a warning is told, a note only by `sawtooth lint`."""

GROUPS = {
    "SW0": "the file",
    "SW1": "design",
    "SW2": "statistics",
    "SW3": "path",
    "SW4": "buffers",
    "SW5": "traffic",
    "SW6": "cost",
    "SW7": "results",
}
"""What the first three characters of a code stand for."""


@dataclass(frozen=True)
class Hit:
    """One thing that a rule has found.

    Attributes:
        message: what is so, with its numbers.
        path: of what is meant, in the scenario's tree if there is a setup, else in the file.
        setup: the cell and arm in which it is so; None if it is of the study as a whole.
        key: whether the key is meant rather than its value.
        place: where it is written, if that is known already.
        hint: what to do, if that is more than the rule says.

    """

    message: str
    path: str = ""
    setup: Setup | None = None
    key: bool = False
    place: Place | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Rule:
    """A row of the table of rules.

    Attributes:
        code: SW, a digit for the group, and two more.
        name: a few words with hyphens.
        severity: what becomes of a study that breaks it.
        summary: what it finds, without a verb of its own: it ends the sentence "this finds".
        why: what goes wrong otherwise, with a study that had it.
        advice: what to do.
        check: finds it in a study before it runs.
        says: of warnings that the core or the plan give, how those of this rule begin or what is in them.
        mark: finds it in results: a frame of `run`, `item` and `text`.

    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    advice: str
    check: Callable[[Subject], Iterable[Hit]] | None = field(default=None, repr=False)
    says: Sequence[str] = ()
    mark: Callable[[Dataset], pl.DataFrame] | None = field(default=None, repr=False)

    @property
    def group(self) -> str:
        """What it is about: a word of `GROUPS`."""
        return GROUPS[self.code[:3]]
