"""The values of a finding: of each cell that it speaks of, those of its replicates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from sawtooth.design import NOT_SET, require_unmixed, varying
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.measures import Asked, Evaluator, Measure, factors, undefined
from sawtooth.questions import Choice, require_items
from sawtooth.recognise import written
from sawtooth.references import Reference
from sawtooth.scales import scale


class Data:
    """What a finding is decided of.

    Attributes:
        frame: the values of its side: cell, factors, arm, replicate, item, low, high, value; known ones.
        cells: dimensions that tell its cells apart.

    """

    def __init__(
        self, evaluator: Evaluator, spec: FindingSpec, kind: Kind, references: Mapping[str, Reference], arms: Sequence[str]
    ) -> None:
        assert spec.measure is not None
        self.evaluator = evaluator
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
        self.cells = [name for name in varying(self.frame, [*self.factors, "arm"]) if name not in self.spans]
        require_unmixed(self.frame, dimensions, [*self.cells, *self.spans])

    def side(self, choice: Choice) -> pl.DataFrame:
        """The values of a side that are known."""
        require_items(self.observed, choice.of, self.measure.name)
        return choice.select(self.observed).filter(pl.col("low").is_not_null())

    def untold(self, *, advised: bool = False) -> str:
        """How many of the runs of both sides tell nothing, which therefore do not count, and why; empty if all do. `advised`: and what to do."""
        sides = pl.concat([choice.select(self.observed) for choice in self.spec.choices]).unique(["run", "item"], maintain_order=True)
        sides = undefined.explained(self.evaluator, Asked(self.measure, self.spec.view), sides)
        rest = sides.filter(pl.col("low").is_null(), pl.col("why").is_null())
        if self.measure.referred and rest.height:
            # Of which cells a reference has no number is told by itself.
            known = self.evaluator.observe(Asked(self.measure.unreferred, self.spec.view)).filter(pl.col("low").is_not_null())
            rest = rest.join(known, on="run", how="anti")
        other = rest["run"].n_unique()
        why = undefined.words(sides)
        parts = [
            f"no value of `{self.measure.name}`: {why}" if why else "",
            f"{other} of {sides['run'].n_unique()} runs do not tell `{self.measure.name}`" if other else "",
            undefined.advice(why) if advised else "",
        ]
        return "; ".join(part for part in parts if part)

    def groups(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """The cells by what they are called, each with its values."""
        if self.frame.is_empty():
            return
        if not self.cells:
            yield "", self.frame
            return
        ordered = self.frame.sort("cell", maintain_order=True)
        for key, group in ordered.group_by(self.cells, maintain_order=True):
            yield (
                ", ".join(
                    f"{name} {written(str(level))}" if name != "arm" else str(level) for name, level in zip(self.cells, key, strict=True)
                ),
                group,
            )

    def apart(self, other: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
        """The other side by the levels that its `where` names several of, each by itself; with what tells them apart in words."""
        choice = self.spec.options.get("other")
        several = [name for name in varying(other, list(choice.where)) if name in self.told_there] if choice is not None else []
        if not several:
            yield "", other
            return
        for key, group in other.sort("cell", maintain_order=True).group_by(several, maintain_order=True):
            yield ", ".join(f"{name} {level}" for name, level in zip(several, key, strict=True)), group

    @property
    def told_there(self) -> set[str]:
        """Factors whose levels the other side says itself."""
        choice = self.spec.options.get("other")
        mine = self.spec.choice.where
        return {name for name, levels in choice.where.items() if mine.get(name) != levels} if choice is not None else set()

    def pairs(self, group: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
        """The replicates of a cell beside those of the other side: what the cell has in common with it is equal."""
        told = self.told_there | {"arm" for choice in self.spec.choices if choice.arms}
        same = [name for name in self.cells if name not in told]
        there = other.join(group.select(same).unique(), on=same, how="semi") if same else other
        mine = group.select("replicate", "low", "high")
        return mine.join(there.select("replicate", low_other="low", high_other="high"), on="replicate", maintain_order="left")

    def unit(self, values: Sequence[float]) -> tuple[float, str]:
        """What numbers are divided by to be read, and the unit that they then have."""
        return scale(self.measure.unit, [abs(value) for value in values])
