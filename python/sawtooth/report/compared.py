"""A comparison as Python has it: rows as a frame, findings in a few lines, and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl
from markupsafe import escape

from sawtooth import arguments
from sawtooth.display import Card
from sawtooth.errors import DatasetError, as_path, cut, wrong_type
from sawtooth.measures import HOWS
from sawtooth.metrics.agreement import VERDICTS, Comparison
from sawtooth.metrics.matching import Unmatched
from sawtooth.report import compare
from sawtooth.report.compare import Question
from sawtooth.results.dataset import Dataset
from sawtooth.spoken import in_python, of_arguments

if TYPE_CHECKING:
    from sawtooth.report.document import Report

_SHOWN = ("metric", "arm", "item", "first", "second", "ratio", "ratio_low", "ratio_high", "verdict", "why")
"""Columns that a notebook shows, besides the factors: those with something in them."""


@dataclass(frozen=True, repr=False)
class Compared:
    """Sides laid beside each other, and what they were asked.

    Attributes:
        comparison: its rows, and what has no counterpart.
        first, others: where the sides are.
        asked: what is compared, and how.

    """

    comparison: Comparison
    first: Path
    others: Sequence[Path]
    asked: Question

    @property
    def numbers(self) -> pl.DataFrame:
        """One line per row, in base units: metric, sides, cell, factors, arm, item, verdict, and means, difference and ratio with their intervals."""
        return self.comparison.frame()

    @property
    def summary(self) -> list[str]:
        """The findings in a few lines."""
        return [of_arguments(line) for line in compare.summary(self.comparison)]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many rows agree, differ, and are not decided."""
        return {verdict: sum(row.verdict == verdict for row in self.comparison.rows) for verdict in VERDICTS}

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know of either side."""
        return [of_arguments(note) for note in self.comparison.notes]

    @property
    def unmatched(self) -> Sequence[Unmatched]:
        """What is on one side only."""
        return self.comparison.unmatched

    @in_python()
    def report(self, *, cell: int | None = None, flow: str | None = None) -> Report:
        """The comparison as a page with figures, whose `write(directory)` makes its files.

        Args:
            cell: whose window is drawn; by default the first.
            flow: of which flow; by default the first.

        Raises:
            DatasetError: if there is no such cell or flow.

        """
        from sawtooth.report.compare_page import page

        return page(self.comparison, self.first, self.others, replace(self.asked, cell=cell, flow=flow))

    def __repr__(self) -> str:
        """Its findings, and what must be known of the sides."""
        return "\n".join([Card("Comparison", self._name, "", {}).text(), *(f"  {line}" for line in self._lines)])

    def _repr_html_(self) -> str:
        """Its findings, and its rows as a table."""
        items = "".join(f"<li>{escape(line)}</li>" for line in self._lines)
        numbers = self.numbers
        columns = [name for name in (*self.comparison.factors, *_SHOWN) if name in numbers.columns and set(numbers[name]) - {"", None}]
        table = numbers.select(columns)._repr_html_()  # pyright: ignore[reportPrivateUsage]
        return f"{Card('Comparison', self._name, '', {}).html()}<ul>{items}</ul>{table}"

    @property
    def _name(self) -> str:
        return " against ".join(self.comparison.sides)

    @property
    def _lines(self) -> list[str]:
        return [*self.summary, *(f"note: {note}" for note in self.notes)]


@in_python()
def compared(
    first: Dataset,
    others: Sequence[Dataset | str | Path],
    *,
    metric: str | Sequence[str],
    tolerance: str | float,
    flows: str,
    of: str | Sequence[str] | None,
    arm: str | None,
    reference: str | Path | None,
    columns: Mapping[str, object],
    factors: Mapping[str, str] | None,
) -> Compared:
    """Holds a dataset against others, against published numbers, or its arms against each other; as `sawtooth compare` does.

    Args:
        first: the dataset.
        others: datasets, their directories, or one table of published numbers.
        metric: a measure or several.
        tolerance: of ratios.
        flows: how those of a block are taken together.
        of: only these items.
        arm: only this one.
        reference: what the results are held against, by its name, or a file.
        columns: what is said of a table's columns: value, sd, ci, n, unit and digits.
        factors: the table's columns of factors by the names of those.

    Raises:
        DatasetError: says what cannot be compared, and what to do.
        TypeError: if an argument is of another type.

    """
    directories = [each.directory if isinstance(each, Dataset) else _path(each) for each in others]
    what = "a measure is a text, and several are a list of them"
    if not isinstance(metric, str | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type(what, metric)
    metrics = [arguments.text(each, what) for each in ([metric] if isinstance(metric, str) else metric)]
    what = "an item is called by its name, and several by a list of them"
    if of is not None and not isinstance(of, str | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type(what, of)
    items = [arguments.text(each, what) for each in ([of] if isinstance(of, str) else of or ())]
    if isinstance(tolerance, bool) or not isinstance(tolerance, str | Real):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a tolerance is a share, such as 0.05 or `5 %`", tolerance)
    said = {name: None if given is None else _said(name, given) for name, given in columns.items() if name != "digits"}
    if factors is not None and not isinstance(factors, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("`factors` is a table of names and columns", factors)
    named = [f"{_said('factors', name)}={_said('factors', column)}" for name, column in (factors or {}).items()]
    digits = columns.get("digits")
    if digits is not None and arguments.whole(digits) is None:
        raise wrong_type("`digits` is a number of decimals", digits)
    reference = None if reference is None else str(_path(reference))
    published = compare.published(
        said.get("value"), sd=said.get("sd"), ci=said.get("ci"), n=said.get("n"), unit=said.get("unit"),
        digits=arguments.whole(digits), factors=named,
    )  # fmt: skip
    asked = Question(
        metrics,
        compare.tolerance(str(tolerance)),
        arguments.text(flows, f"`flows` is {', '.join(HOWS)}"),
        None if arm is None else arguments.text(arm, "an arm is called by its name"),
        reference,
        published,
        of=items,
    )
    return Compared(compare.compare(first.directory, directories, asked), first.directory, directories, asked)


def _path(given: str | Path) -> Path:
    path = as_path(given, "results are held against a Dataset, or the path of its directory or of a CSV file")
    try:
        path.exists()
    except OSError as error:
        raise DatasetError(f"cannot read {cut(str(path))}: {error.strerror}", "name another, or see what `ls -ld` says of it") from None
    return path


def _said(name: str, given: object) -> str:
    """What is said of a column: its name, or a number of observations."""
    number = arguments.whole(given)
    return str(number) if name == "n" and number is not None else arguments.text(cast(str, given), f"`{name}` names a column")
