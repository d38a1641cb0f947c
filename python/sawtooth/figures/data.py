"""The values of a figure, laid out: panels of curves of points, each point the values of replicates and nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sawtooth import estimates, stats
from sawtooth.coverage import Lack, lacks
from sawtooth.design import NOT_SET
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures.against import ApartError, of_side, paired
from sawtooth.figures.places import MEASURE, placed, without_base
from sawtooth.figures.spec import FigureSpec, Kind
from sawtooth.measures import Asked, Evaluator, Measure, Samples, factors, undefined
from sawtooth.measures.blocks import name_of_block
from sawtooth.questions import Choice, require_items
from sawtooth.recognise import size, written
from sawtooth.references import Reference
from sawtooth.scales import scale
from sawtooth.stats import Vector

if TYPE_CHECKING:
    from sawtooth.plots.standing import Decided


@dataclass(frozen=True)
class Panel:
    """A part of a figure with axes of its own: its row's and column's titles, and its values."""

    row: str
    column: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Runs:
    """Some runs of a figure: of each the least and the most that its value is, not a number where nothing is known, and its number; of shape (n,)."""

    low: Vector
    high: Vector
    run: Vector

    @property
    def known(self) -> bool:
        """Whether all values are known, to the end."""
        return bool(np.isfinite(self.low).all()) and np.array_equal(self.low, self.high)


@dataclass(frozen=True)
class Point:
    """What a curve has at a level: its runs, and what they are together, in the measure's unit."""

    runs: Runs
    estimate: Estimate


@dataclass(frozen=True)
class Laid:
    """A panel of points: its row's and column's titles, and by the names of curves the points at each level along x, where there are runs."""

    row: str
    column: str
    curves: Mapping[str, Mapping[str, Point]]


class Data:
    """What a figure is drawn of.

    Attributes:
        spec: what was asked for.
        frame: its values: cell, factors, arm, replicate, item, `by`, low, high, value; of samples t_ns, too.
        base: the values of what others are held against, of kinds that show these alone.
        places: place to dimension.
        factors: of the study.
        arms: in the study's order.
        references: of the study.
        verdicts: makes those on the study's findings.

    """

    def __init__(
        self,
        evaluator: Evaluator,
        spec: FigureSpec,
        kind: Kind,
        references: Mapping[str, Reference],
        arms: Sequence[str],
        verdicts: Callable[[], Sequence[Decided]] = tuple,
    ) -> None:
        self.evaluator = evaluator
        self.spec = spec
        self.kind = kind
        self.references = references
        self.arms = arms
        self.verdicts = verdicts
        self.factors = factors(evaluator.dataset)
        if kind.measured:
            other = spec.options.get("against", spec.options.get("second"))
            self.frame = self._beside(other) if other is not None else self.of(self.measure) if not spec.several else self._several()
            self.frame, self.base = without_base(spec, kind, self.frame)
            if self.frame.is_empty():
                raise DatasetError(f"there is nothing to hold against `{spec.options['to']}`", "choose something else than it")
            self.places = placed(spec, kind, self.frame, self.factors)
        else:
            self.frame, self.base, self.places = evaluator.plan, evaluator.plan.clear(), {}

    def _several(self) -> pl.DataFrame:
        """The values of several measures, told apart by the column `measure`."""
        return pl.concat(self.of(measure).with_columns(pl.lit(name).alias(MEASURE)) for name, measure in self.spec.several.items())

    def _beside(self, other: object) -> pl.DataFrame:
        """The values of a measure, each with x_low and x_high of the one that is shown beside it; these are null where it is not known."""
        mine_of = self.measure
        assert isinstance(mine_of, Measure)
        assert isinstance(other, Measure)
        observed = [self.evaluator.observe(Asked(measure, self.spec.view)) for measure in (mine_of, other)]
        items = pl.concat(frame.select("item") for frame in observed)
        require_items(items, self.spec.choice.of, self.measure.name)
        mine, theirs = (
            self._chosen(frame, measure, of_side(self.spec.choice, frame))
            for frame, measure in zip(observed, (mine_of, other), strict=True)
        )
        theirs = theirs.select("run", "item", *(name for name in self.spec.view.by if name in theirs.columns), x_low="low", x_high="high")
        try:
            both = paired(mine, theirs, ["run"], [*self.spec.view.by], (self.measure, other))
        except ApartError as error:
            raise DatasetError(str(error), error.hint) from None
        if both.filter(pl.col("low").is_not_null() & pl.col("x_low").is_not_null()).is_empty():
            raise DatasetError(f"no run tells both `{self.measure.name}` and `{other.name}` of what was chosen")
        return both

    def of(self, measure: Measure | Samples) -> pl.DataFrame:
        """The values of a measure, of the figure's choice and view."""
        if isinstance(measure, Samples):
            return self._chosen(self.evaluator.samples(measure.term, self.spec.view), measure)
        return self._chosen(self.evaluator.observe(Asked(measure, self.spec.view)), measure)

    def _chosen(self, found: pl.DataFrame, measure: Measure | Samples, choice: Choice | None = None) -> pl.DataFrame:
        """Those of the chosen arms, cells and items, which are known."""
        # Arms stand in the order of the study's file.
        order = {arm: at for at, arm in enumerate(self.arms)}
        found = found.sort(pl.col("arm").replace_strict(order, default=len(order), return_dtype=pl.Int64), maintain_order=True)
        choice = choice or self.spec.needed
        require_items(found, choice.of, measure.name)
        found = choice.select(found).with_columns(pl.col(name).fill_null(NOT_SET) for name in self.factors)
        if found.filter(pl.col("low").is_not_null()).is_empty():
            why = self.undefined(measure, found) or "; ".join(each.words for each in self.lacking(measure, choice))
            raise DatasetError(
                f"no run tells `{measure.name}` of what was chosen{f': {why}' if why else ''}",
                undefined.advice(why) or "`sawtooth list metric` says what each needs",
            )
        return found

    def lacking(self, measure: Measure | Samples, choice: Choice) -> list[Lack]:
        """Of which cells references that a measure is made with have no number."""
        if isinstance(measure, Samples) or not measure.referred:
            return []
        asked = self.evaluator.observe(Asked(measure.unreferred, self.spec.view)).filter(pl.col("low").is_not_null())
        asked = asked.select(*(pl.col(name).fill_null(NOT_SET) for name in self.factors), "arm", "item")
        return lacks(measure.referred, self.references, choice.select(asked))

    def every_item(self) -> list[str]:
        """All items that the measure is of, whichever were chosen, those of a block by their numbers."""
        assert isinstance(self.measure, Measure)
        return _by_numbers(self.evaluator.observe(Asked(self.measure, self.spec.view))["item"].unique(maintain_order=True).to_list())

    def undefined(self, measure: Measure | Samples, found: pl.DataFrame) -> str:
        """Why the expression has no value in some runs, and in how many of these; empty if it is not the cause."""
        if isinstance(measure, Samples):
            return ""
        return undefined.words(undefined.explained(self.evaluator, Asked(measure, self.spec.view), found))

    # --- units

    @cached_property
    def unit(self) -> tuple[float, str]:
        """What values are divided by to be read, and the unit that they then have."""
        return self.spec.unit or self.scaled(self.measure, self.frame)

    @cached_property
    def range(self) -> tuple[float, float]:
        """What the measure, or one of several, can be."""
        ranges = [
            each.within(self.spec.view.flows) for each in self.spec.several.values() or [self.measure] if isinstance(each, Measure)
        ] or [(-math.inf, math.inf)]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    @property
    def measure(self) -> Measure | Samples:
        """What is shown."""
        assert self.spec.measure is not None
        return self.spec.measure

    def scaled(self, measure: Measure | Samples, frame: pl.DataFrame) -> tuple[float, str]:
        """As `unit`, of another measure."""
        low, high = pl.col("low"), pl.col("high") if "high" in frame.columns else pl.col("low")
        bound = frame.select(value=pl.when(low.is_finite()).then(low).otherwise(high).abs())
        return scale(measure.unit, bound.filter(pl.col("value").is_finite())["value"].to_numpy())

    def label(self, given: str, measure: Measure | Samples, unit: str) -> str:
        """Of an axis: what the study calls the measure, or its column's name, and the unit."""
        return f"{given or measure.words}{f' ({unit})' if unit else ''}"

    # --- layout

    def panels(self) -> list[Panel]:
        """The panels, row by row; a panel without values is there, too, if its row and column are."""
        columns = [column for column, _ in self._groups(self.frame, self.places.get("panels"))]
        found: list[Panel] = []
        for row, of_row in self._groups(self.frame, self.places.get("rows")):
            parts = dict(self._groups(of_row, self.places.get("panels")))
            found += [
                Panel(self._title("rows", row), self._title("panels", column), parts.get(column, of_row.clear())) for column in columns
            ]
        return found

    def curves(self, frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
        """The curves of a panel by their names, in the order that they have in the whole figure."""
        for level, part in self._groups(frame, self.places.get("curves")):
            yield self._title("curves", level), part

    def curve_names(self) -> list[str]:
        """The names of all curves."""
        return [self._title("curves", level) for level, _ in self._groups(self.frame, self.places.get("curves"))]

    @property
    def x_label(self) -> str:
        """Of the horizontal axis: what the study calls it, or its dimension, unless that has nothing but what has no name, as the arm of a study without arms."""
        return self.spec.x_label or (self.places["x"] if any(self.levels()) else "")

    def levels(self) -> list[str]:
        """The levels along x, in the order of the cells, or of arms and items."""
        return self.order(self.places["x"])

    def order(self, dimension: str) -> list[str]:
        """The levels of a dimension: of a factor in the order of the cells, of others as they come."""
        if dimension not in self._orders:
            self._orders[dimension] = self._order(dimension)
        return self._orders[dimension]

    @cached_property
    def _orders(self) -> dict[str, list[str]]:
        """The orders that were asked for."""
        return {}

    def _order(self, dimension: str) -> list[str]:
        present = [str(level) for level in self.frame[dimension].unique(maintain_order=True)]
        if dimension == "item" and not any(name_of_block(name) != name for name in self.spec.choice.of):
            return _by_numbers(present)
        if dimension not in self.factors:
            return present
        # Of all cells: those without a run would else change the order of the others.
        planned = self.evaluator.dataset.runs.sort("cell", maintain_order=True)[dimension].fill_null(NOT_SET).unique(maintain_order=True)
        return in_order([level for level in planned.to_list() if level in present])

    def laid(self) -> list[Laid]:
        """As `panels`, `curves` and levels along x have them: the points of a report's figure and of the page's, all taken apart at once, their intervals made at once."""
        places = [self.places.get(place) for place in ("rows", "panels", "curves", "x")]
        keys = [name for name in places if name is not None]
        found: dict[tuple[str, ...], Runs] = {}
        for row, (low, high, run) in estimates.grouped(self.frame.select(*keys, "low", "high", "run"), keys, ["low", "high", "run"]):
            found[tuple("" if name is None else str(row[name]) for name in places)] = Runs(low, high, run)
        if self.spec.statistic == "mean":
            stats.made_ready(each.low for each in found.values() if each.known)
        made = {key: Point(runs, estimates.of_values(runs.low, runs.high, self.spec.statistic, self.range)) for key, runs in found.items()}
        rows, columns, curves, levels = ([""] if name is None else self.order(name) for name in places)
        return [
            Laid(
                self._title("rows", row),
                self._title("panels", column),
                {
                    self._title("curves", curve): own
                    for curve in curves
                    if (own := {level: made[key] for level in levels if (key := (row, column, curve, level)) in made})
                },
            )
            for row in rows for column in columns
        ]  # fmt: skip

    def estimate(self, frame: pl.DataFrame) -> Estimate | None:
        """What some runs are together, in the measure's unit: None of no runs."""
        return estimates.of_frame(frame, self.spec.statistic, self.range) if frame.height else None

    def _groups(self, frame: pl.DataFrame, dimension: str | None) -> list[tuple[str, pl.DataFrame]]:
        if dimension is None:
            return [("", frame)]
        return self._parts(frame, dimension)

    def _parts(self, frame: pl.DataFrame, dimension: str) -> list[tuple[str, pl.DataFrame]]:
        """The rows of each level, in the order of levels: taken apart all at once, as a figure has hundreds of points."""
        parts = {str(level): part for (level,), part in frame.partition_by(dimension, as_dict=True).items()}
        return [(level, parts[level]) for level in self.order(dimension) if level in parts]

    def _title(self, place: str, level: str) -> str:
        """A level as a panel's or curve's name: a bare number, and what another dimension of the figure has, too, says of what it is one.

        A panel's title stands alone, where a legend's entries stand together: there a quantity such as 50 ms says of what it is one, too, and so does a switch.
        """
        if place not in self.places or level == "":
            return level
        dimension = self.places[place]
        alone = place in _ALONE and dimension in self.factors and bool(_BARE.match(level))
        return f"{dimension} = {written(level)}" if alone or dimension in self._alike else named(dimension, level)

    @cached_property
    def _alike(self) -> set[str]:
        """Dimensions with a place that have a level in common with another, such as windows and queues of 2000 B."""
        levels = {name: set(self.frame[name].unique().to_list()) for name in self.places.values() if name in self.frame.columns}
        return {name for name, mine in levels.items() for other in levels if other != name and mine & levels[other]}


_ALONE = ("panels", "rows")
"""Places whose levels are titles."""
_BARE = re.compile(r"[-+.]?\d|(on|off|true|false|yes|no)$")
"""Levels that are values of anything."""


def _by_numbers(items: list[str]) -> list[str]:
    """Items with the flows of a block by their numbers, not by the letters of these."""
    blocks = list(dict.fromkeys(map(name_of_block, items)))
    return sorted(items, key=lambda item: (blocks.index(name_of_block(item)), len(item), item))


def named(dimension: str, level: str) -> str:
    """A level in words: a bare number says of what it is one."""
    return written(level) if re.search("[a-zA-Z]", level) else f"{dimension} = {written(level)}"


def in_order(levels: list[str]) -> list[str]:
    """Levels as they are if they rise or fall, or are no quantities of one kind; in disorder, as several grids of a sweep have them, by size."""
    amounts = [size(level) for level in levels]
    known = [each[0] for each in amounts if each is not None]
    if (
        len(known) < len(levels)
        or len({each[1] for each in amounts if each is not None}) != 1
        or known in (sorted(known), sorted(known, reverse=True))
    ):
        return levels
    return [level for _, level in sorted(zip(known, levels, strict=True))]
