"""A figure of two results beside each other as a file: drawn as the report draws one, on the axis of values that the page has, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sawtooth.estimates import Estimate
from sawtooth.figures import levels as kind
from sawtooth.plots import levels
from sawtooth.plots.ticks import Ticks
from sawtooth.recognise import level
from sawtooth.report.answers import Answers
from sawtooth.report.document import Plot
from sawtooth.web import workbench
from sawtooth.web.workbench import Side

_Series = list[Estimate | None]


def drawn(first: Answers, second: Answers, labels: Sequence[str], keys: Mapping[str, Any]) -> Plot:
    """What `workbench.beside` lays out for the page.

    Raises:
        StudyError: with its place in what is asked, and of which side it is.
        DatasetError: likewise.

    """
    spec, sides = workbench.sides_of(first, second, labels, keys)
    page, along = workbench.on_page(sides, spec, keys), workbench.levels_of(sides)
    # Panels of both, as one grid: a level that only one side has is empty in the other's.
    rows, columns = (list(dict.fromkeys(panel[place] for panel in page["panels"])) for place in ("row", "column"))
    curves, numbers = _curves(sides, along, page["y"]["divisor"]), [_numbers(side) for side in sides]
    made = levels.draw(
        [curves.get((level(row), level(column)), {}) for row in rows for column in columns], (rows, columns), along, page["curves"],
        (spec.x_label or page["x"]["dimension"], page["y"]["label"]), scale=page["y"]["scale"],
    )  # fmt: skip
    levels.on_axis(made, Ticks(**page["y"]["axis"]), page["y"]["scale"])
    return Plot(str(keys.get("name", "figure")), made, page["caption"], pl.concat(numbers, how="diagonal_relaxed"))


def _curves(sides: Sequence[Side], along: Sequence[str], divisor: float) -> dict[tuple[str, str], dict[str, _Series]]:
    """The points of each panel, by the names that curves have on the page; one per level."""
    at = {level(each): number for number, each in enumerate(along)}
    found: dict[tuple[str, str], dict[str, _Series]] = {}
    for side in sides:
        for laid in side.data.laid():
            here = found.setdefault((level(laid.row), level(laid.column)), {})
            for name, own in laid.curves.items():
                series: _Series = [None] * len(along)
                for each, point in own.items():
                    series[at[level(each)]] = point.estimate.over(divisor)
                here[workbench.called(sides, side, name)] = series
    return found


def _numbers(side: Side) -> pl.DataFrame:
    """The points of a side as the file of its own figure has them, with its name before."""
    data = side.data
    found = [
        {name: [own[each].estimate if each in own else None for each in data.levels()] for name, own in laid.curves.items()}
        for laid in data.laid()
    ]
    numbers = kind.numbers(data, data.panels(), found)
    return numbers.select(pl.lit(side.label).alias("results"), pl.all())
