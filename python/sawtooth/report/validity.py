"""What is not to be read into results, as the rules of `sawtooth lint` mark it: one entry per rule, however many cells it marks.

A rule may mark hundreds of flows, which would hide another that marks one; so the entries are read, and the marks themselves are a table of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from sawtooth import linting
from sawtooth.counted import form, plural
from sawtooth.linting.rule import Rule, Severity
from sawtooth.measures import factors
from sawtooth.recognise import written

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset

MOST_SHOWN = 12
"""Of more marks the table is in its file only."""
_MOST_NAMED = 3
_KINDS: Mapping[str, str] = {"cell": "cell", "arm": "arm", "item": "flow"}
_ORDER: Sequence[Severity] = ("error", "warning", "note")


@dataclass(frozen=True)
class Entry:
    """What one rule marks.

    Attributes:
        rule: the row of the table of rules.
        where: in how many cells, in which arms, of which items, in how many of their runs; joined only where all of them are marked.
        example: one of the marks, if it says more than `where`.
        marks: how many there are.

    """

    rule: Rule
    where: str
    example: str
    marks: int

    @property
    def text(self) -> str:
        """What it finds, where, and what to do."""
        return f"{self.rule.code}, {self.rule.severity}: {self.rule.summary}. {self.where}{f', such as {self.example}' if self.example else ''}. {self.rule.advice}"

    def facts(self) -> dict[str, object]:
        """For programs."""
        return {
            "code": self.rule.code, "severity": self.rule.severity, "summary": self.rule.summary, "where": self.where, "example": self.example,
            "marks": self.marks, "advice": self.rule.advice,
        }  # fmt: skip


@dataclass(frozen=True)
class Validity:
    """The marks of some results.

    Attributes:
        entries: of each rule that marks any, the most severe first.
        marks: a row per cell, arm, item and rule: cell, factors, arm, item, code, runs, of, text; arm and item only if there are any.
        cells: how many cells are marked, of how many.

    """

    entries: Sequence[Entry]
    marks: pl.DataFrame
    cells: tuple[int, int]

    @property
    def said(self) -> str:
        """How much is marked."""
        marked, cells = self.cells
        rules = "one rule marks" if len(self.entries) == 1 else f"{len(self.entries)} rules mark"
        return f"{rules} numbers of {_cells(marked, cells)}, which may be about something else than they seem"


def validity(dataset: Dataset) -> Validity | None:
    """The marks of results; None if there are none."""
    found = linting.marks(dataset)
    if found.is_empty():
        return None
    names = factors(dataset)
    cells = dataset.runs.select("cell", *names).unique("cell", keep="first", maintain_order=True)
    marks = found.join(cells.with_columns(pl.col("cell").cast(found["cell"].dtype)), on="cell", how="left", maintain_order="left")
    # Arms and flows stand as the study has them.
    flows = dataset.flows(factors=True).select("cell", "arm", "flow").unique(maintain_order=True).collect()
    arms = pl.col("arm").cast(pl.Enum(dataset.runs["arm"].unique(maintain_order=True)))
    marks = marks.sort(
        "cell", arms, pl.col("item").cast(pl.Enum(["", *flows["flow"].unique(maintain_order=True)])), "code", maintain_order=True
    )
    marks = marks.select("cell", *names, *(name for name in ("arm", "item") if found[name].ne("").any()), "code", "runs", "of", "text")
    # What failed has no flow, and is a place nevertheless.
    places = dataset.runs.select("cell", "arm").unique().join(flows.rename({"flow": "item"}), on=["cell", "arm"], how="left")
    entries = [
        _entry(linting.RULES[str(code)], group, names, places)
        for (code,), group in marks.sort("code", maintain_order=True).group_by("code", maintain_order=True)
    ]
    entries.sort(key=lambda entry: _ORDER.index(entry.rule.severity))
    return Validity(entries, marks, (marks["cell"].n_unique(), cells.height))


def _entry(rule: Rule, marks: pl.DataFrame, names: Sequence[str], places: pl.DataFrame) -> Entry:
    parts = _places(marks, places)
    parts[0] = f"In {parts[0]}"
    shares = marks.select((pl.col("runs") / pl.col("of")).alias("share"), "runs", "of").sort("share", maintain_order=True)
    least, most = (f"{shares['runs'][at]} of {shares['of'][at]}" for at in (0, -1))
    parts.append(f"in {least} runs" if least == most else f"in {least} to {most} runs")
    first = marks.row(0, named=True)
    where = [*(f"{name} {written(str(first[name]))}" for name in names), *(str(first[name]) for name in ("arm", "item") if first.get(name))]
    text = str(first["text"])
    told = ", ".join(parts)
    # What has one cell, arm and flow is all there is: no example of anything.
    return Entry(rule, told if where else f"{told}: {text}", f"{', '.join(where)}: {text}" if where else "", marks.height)


def _places(marks: pl.DataFrame, places: pl.DataFrame) -> list[str]:
    """Where marks are, in words: cells, arms and flows each by themselves if every one of them is marked with all others, else joined and counted."""
    kinds = [kind for kind in _KINDS if kind in marks.columns and not (kind == "item" and marks[kind].eq("").all())]
    tied = [kind for kind in kinds if not _apart(marks.select(kinds), kind)]
    words = {kind: _named(kind, marks, places) for kind in kinds if kind not in tied}
    if tied:
        words[tied[0]] = _tied(marks.select(tied).unique(maintain_order=True), places)
    return [word for kind in kinds if (word := words.get(kind))]


def _apart(marks: pl.DataFrame, kind: str) -> bool:
    """Whether each of a kind is marked with all that any of the kind is marked with."""
    return marks.n_unique() == math.prod(part.n_unique() for part in (marks.select(kind), marks.drop(kind)) if part.width)


def _tied(marks: pl.DataFrame, places: pl.DataFrame) -> str:
    """How many of the cells, arms and flows that are not each marked with all others."""
    first, *others = marks.columns
    if first == "cell" and len(others) == 1 and marks[others[0]].n_unique() <= _MOST_NAMED:
        return ", ".join(
            f"{_cells(group.height, _known(places, ['cell', others[0]]).filter(pl.col(others[0]).eq(str(name))).height)} of {_KINDS[others[0]]} {name}"
            for (name,), group in marks.group_by(others[0], maintain_order=True)
        )
    *kinds, last = (f"{_KINDS[kind]}s" for kind in marks.columns)
    return f"{marks.height} of {_known(places, marks.columns).height} {', '.join(kinds)} and {last}"


def _known(places: pl.DataFrame, kinds: Sequence[str]) -> pl.DataFrame:
    """What there is of the kinds in the results."""
    return places.select(kinds).drop_nulls().unique()


def _cells(marked: int, cells: int) -> str:
    """So many of the cells."""
    return "the only cell" if cells == 1 else f"all {cells} cells" if marked == cells else f"{marked} of {cells} cells"


def _named(kind: str, marks: pl.DataFrame, places: pl.DataFrame) -> str:
    """The arms or items that are marked, or how many they are; of cells how many."""
    if kind == "cell":
        return _cells(marks["cell"].n_unique(), places["cell"].n_unique())
    found = [each for each in marks[kind].unique(maintain_order=True) if each]
    if not found:
        return ""
    what = form(len(found), _KINDS[kind], plural(_KINDS[kind]))
    return f"{what} {', '.join(found)}" if len(found) <= _MOST_NAMED else f"{len(found)} {what} such as {found[0]}"
