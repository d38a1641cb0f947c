"""The cells that a finding speaks of, also those that have no value: a claim about all of them is not shown by the rest.

A cell in which there is no such item, as another flow at a level without others, is none of them; nor is one of which a reference that the measure is
made with has no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from sawtooth.findings.verdict import Evidence
from sawtooth.measures import Asked, Evaluator, Measure
from sawtooth.measures.blocks import block
from sawtooth.measures.tables import FLOW, LINK
from sawtooth.questions import Choice


@dataclass(frozen=True)
class Cell:
    """A cell of a finding.

    Attributes:
        name: its factors in words; empty if there is one cell only.
        values: those of its runs that are known, with the columns replicate, low and high.
        plan: its rows of what is `spoken` of.
        key: its levels of what tells cells apart.

    """

    name: str
    values: pl.DataFrame
    plan: pl.DataFrame
    key: tuple[object, ...] = ()

    @property
    def runs(self) -> int:
        """How many runs of it came to an end."""
        return int(self.plan["runs"].sum())

    def untold(self, why: str = "") -> Evidence:
        """Evidence that tells nothing: there is no value, or `why`."""
        none = (
            "no run of it is stored that came to an end"
            if not self.runs
            else f"none of {self.runs} runs has a value"
            if self.runs > 1
            else "its run has no value"
        )
        return Evidence(self.name, lambda _: False, lambda _: False, (self.runs and why) or none)

    def counted(self, found: Evidence) -> Evidence:
        """Evidence with how many runs do not count in it."""
        columns = [self.values[name].to_list() for name in ("cell", "arm", "replicate") if name in self.values.columns]
        lost = self.runs - len({*zip(*columns, strict=True)})
        text = f"{found.words}; {lost} of {self.runs} runs {'has' if lost == 1 else 'have'} no value to compare"
        return replace(found, words=text) if lost > 0 else found


def spoken(evaluator: Evaluator, measure: Measure, choice: Choice, known: pl.DataFrame, plan: pl.DataFrame) -> pl.DataFrame:
    """The cells and arms that are spoken of: the plan's columns cell, factors, arm; of which item, if it is one; how many runs came to an end.

    Args:
        evaluator: of the results.
        measure: what the finding is about.
        choice: of cells, arms and items.
        known: the values that there are, with cell and arm.
        plan: all runs that were planned: run, cell, factors, arm.

    """
    ended = plan.join(evaluator.plan.select("run"), on="run", how="semi")
    keys = ["cell", "arm"]
    chosen = replace(choice, of=()).select(plan)
    runs = ended.group_by(keys, maintain_order=True).agg(pl.col("run").n_unique().alias("runs"))
    cells = chosen.drop("run").unique(maintain_order=True).join(runs, on=keys, how="left", nulls_equal=True, maintain_order="left")
    cells = cells.with_columns(pl.col("runs").fill_null(0), item=pl.lit(choice.of[0] if len(choice.of) == 1 else None, pl.String))
    without = cells.filter(pl.col("runs") > 0).join(known, on=keys, how="anti", nulls_equal=True)
    if without.is_empty():
        return cells
    there = ended.join(without, on=keys, how="semi", nulls_equal=True)
    there = there.join(_items(evaluator, measure, choice.of), on="run", how="semi").join(
        _unpublished(evaluator, measure), on="run", how="anti"
    )
    lacking = without.join(there, on=keys, how="anti", nulls_equal=True)
    return cells.join(lacking, on=keys, how="anti", nulls_equal=True)


def _items(evaluator: Evaluator, measure: Measure, names: Sequence[str]) -> pl.DataFrame:
    """The runs that have one of these items, or any if none is named."""
    tables = {FLOW: ("flows", "arrivals"), LINK: ("links",)}.get(measure.kind, ())
    if not tables:
        return evaluator.plan.select("run")
    item = pl.col("flow") if measure.kind == FLOW else pl.col("link") + " " + pl.col("direction")
    found = pl.concat(
        evaluator.dataset.table(table).select("run", item=item.cast(pl.String)) for table in tables if table in evaluator.dataset.tables
    )
    if names:
        found = found.filter(pl.col("item").is_in(list(names)) | block(pl.col("item")).is_in(list(names)))
    return found.select("run").unique().collect()


def _unpublished(evaluator: Evaluator, measure: Measure) -> pl.DataFrame:
    """The runs that would have a value if a reference had one of their cells."""
    if not measure.referred:
        return evaluator.plan.select("run").clear()
    return evaluator.observe(Asked(measure.unreferred)).filter(pl.col("low").is_not_null()).select("run").unique()
