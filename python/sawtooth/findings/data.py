"""The values of a finding: of each cell that it speaks of, those of its replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import polars as pl

from sawtooth.design import NOT_SET, paired, require_unmixed, varying
from sawtooth.findings.cells import Cell, spoken
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.measures import Asked, Evaluator, Measure, factors, undefined
from sawtooth.questions import Choice, require_items
from sawtooth.recognise import written
from sawtooth.references import Reference
from sawtooth.scales import scale

_SIDES = ["replicate", "low", "high", "low_other", "high_other"]


class Data:
    """What a finding is decided of.

    Attributes:
        runs: all that were planned.
        frame: the values of its side: cell, factors, arm, replicate, item, low, high, value; known ones.
        spoken: the cells and arms that it speaks of, also those without a value, and how many runs of each came to an end.
        cells: dimensions that tell its cells apart.

    """

    def __init__(
        self, evaluator: Evaluator, spec: FindingSpec, kind: Kind, references: Mapping[str, Reference], arms: Sequence[str]
    ) -> None:
        assert spec.measure is not None
        self.evaluator = evaluator
        self.runs = evaluator.dataset.runs
        self.spec = spec
        self.references = references
        self.arms = arms
        self.factors = factors(evaluator.dataset)
        self.measure: Measure = spec.measure
        observed = evaluator.observe(Asked(spec.measure, spec.view))
        self.observed = observed.with_columns(pl.col(name).fill_null(NOT_SET) for name in self.factors)
        self.frame = self.side(spec.choice)
        self.spans = [str(spec.options[name]) for name in kind.spans if spec.options.get(name)]
        dimensions = [*self.factors, "arm", "item"]
        self.plan = evaluator.dataset.runs.select("run", "cell", *self.factors, "arm").with_columns(pl.col(self.factors).fill_null(NOT_SET))
        self.spoken = spoken(evaluator, spec.measure, spec.choice, self.frame, self.plan)
        self.cells = [name for name in varying(self.spoken, [*self.factors, "arm"]) if name not in self.spans]
        require_unmixed(self.frame, dimensions, [*self.cells, *self.spans])

    def side(self, choice: Choice) -> pl.DataFrame:
        """The values of a side that are known."""
        require_items(self.observed, choice.of, self.measure.name)
        return choice.select(self.observed).filter(pl.col("low").is_not_null())

    def untold(self, *, advised: bool = False) -> str:
        """Why runs of either side have no value, where the measure is it, and how many; empty of nothing. `advised`: and what to do."""
        sides = pl.concat([choice.select(self.observed) for choice in self.spec.choices]).unique(["run", "item"], maintain_order=True)
        sides = undefined.explained(self.evaluator, Asked(self.measure, self.spec.view), sides)
        why = undefined.words(sides)
        parts = [
            f"no value of `{self.measure.name}`: {why}" if why else "",
            undefined.advice(why) if advised else "",
        ]
        return "; ".join(part for part in parts if part)

    def groups(self) -> Iterator[Cell]:
        """The cells that are spoken of, each with its values."""
        if not self.cells:
            if self.spoken.height:
                yield Cell("", self.frame, self.spoken)
            return
        values, none = parted(self.frame, self.cells), self.frame.clear()
        plans = parted(self.spoken.sort("cell", maintain_order=True), self.cells)
        for key, group in plans.items():
            name = ", ".join(
                f"{name} {written(str(level))}" if name != "arm" else str(level) for name, level in zip(self.cells, key, strict=True)
            )
            yield Cell(name, values.get(key, none), group, key)

    def apart(self, other: Choice) -> list[tuple[str, pl.DataFrame]]:
        """The other side by the levels that its `where` names several of, each by itself; with what tells them apart in words."""
        there = self.side(other)
        assert self.spec.measure is not None
        cells = spoken(self.evaluator, self.spec.measure, other, there, self.plan)
        several = [name for name in varying(cells, list(other.where)) if name in self.told_there]
        if not several:
            return [("", there)]
        values = there.partition_by(several, maintain_order=True, as_dict=True)
        levels = cells.sort("cell", maintain_order=True).select(several).unique(maintain_order=True).rows()
        return [
            (", ".join(f"{name} {written(str(level))}" for name, level in zip(several, key, strict=True)), values.get(key, there.clear()))
            for key in levels
        ]

    @property
    def told_there(self) -> set[str]:
        """Factors whose levels the other side says itself."""
        choice = self.spec.options.get("other")
        mine = self.spec.choice.where
        return {name for name, levels in choice.where.items() if mine.get(name) != levels} if choice is not None else set()

    @cached_property
    def same(self) -> list[str]:
        """What a cell has in common with the other side."""
        told = self.told_there | {"arm" for choice in self.spec.choices if choice.arms}
        return [name for name in self.cells if name not in told]

    def pairs(self, group: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
        """The replicates of a cell beside those of the other side: what the cell has in common with it is equal."""
        there = other.join(group.select(self.same).unique(), on=self.same, how="semi") if self.same else other
        return self.beside(group, there)

    def paired_groups(self, other: pl.DataFrame) -> Callable[[Cell], pl.DataFrame]:
        """What `pairs` makes of each cell of `groups`, found all at once where arms have equally many replicates: of hundreds of cells that takes a tenth of the time."""
        if not self.equally_many or not self.cells:
            return lambda cell: self.pairs(cell.values, other)
        joined = paired(self.frame, other, self.same, self.runs).select(*self.cells, *_SIDES).drop_nulls(_SIDES)
        found, none = parted(joined, self.cells), joined.clear()
        return lambda cell: found.get(cell.key, none)[_SIDES]

    @cached_property
    def equally_many(self) -> bool:
        """Whether every arm was to have as many replicates as the others."""
        return self.runs.group_by("arm", maintain_order=True).agg(pl.col("replicate").max())["replicate"].n_unique() < 2

    def beside(self, mine: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
        """Both sides of one cell, of each replicate that has both."""
        return paired(mine, there, (), self.runs).select(_SIDES).drop_nulls()

    @cached_property
    def unit(self) -> tuple[float, str]:
        """What all numbers of the finding are divided by to be read, and the unit that they then have: that in which the values of both sides are read."""
        if self.spec.unit is not None:
            return self.spec.unit
        frame = pl.concat([self.frame, *(self.side(choice) for choice in self.spec.choices[1:])])
        known = pl.concat([frame["low"], frame["high"]]).abs()
        return scale(self.measure.unit, known.filter(known.is_finite() & (known > 0)).to_numpy())


def parted(frame: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[object, ...], pl.DataFrame]:
    """The rows of each level of `keys`, as `partition_by` has them as a dictionary, which plans a query for each of them."""
    levels = frame.select(keys).unique(maintain_order=True).rows()
    return dict(zip(levels, frame.partition_by(keys, maintain_order=True), strict=True))
