"""How far the intervals of a study's headline measure have narrowed while it runs: of what is stored so far, which cell is the worst, and where runs fail.

It is looked at, and nothing follows from it: a study that is ended when its intervals please has other intervals than it says. The rule
`repeat = { until = ... }` is for that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import estimates, figures, near_zero
from sawtooth.design import MixedError
from sawtooth.errors import SawtoothError
from sawtooth.figures.data import Data
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Evaluator, Measure, factors, measure
from sawtooth.near_zero import half
from sawtooth.presentation import Presentation, presentation
from sawtooth.recognise import written
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval
from sawtooth.study import Study

_SOONEST = 2.0
"""Seconds between two looks, at least."""
_RARELY = 20.0
"""So many times what a look took, until the next: it takes a twentieth of one processor at most."""
_SIGNS = "▁▂▃▄▅▆▇█"
_LONGEST = 24
"""Looks that a line shows."""


@dataclass(frozen=True)
class Widest:
    """The widest interval among cells and arms that have two replicates or more.

    Attributes:
        measure: its name.
        where: its cell and arm.
        interval: in the unit that the measure has, `unit`.
        statistic: of which the interval is, such as the mean.
        in_unit: whether it is told in its unit, also where a share of the estimate could be told.

    """

    measure: str
    where: str
    interval: Interval
    unit: str = ""
    statistic: str = "mean"
    in_unit: bool = False

    @property
    def share(self) -> float | None:
        """Half its width, as a share of the estimate; None of one that may be 0, of which shares say nothing."""
        return None if self.in_unit else near_zero.share(self.interval)

    @property
    def size(self) -> tuple[bool, float]:
        """By which intervals are ordered: those that may be 0 are the widest, and among themselves by what they are in their unit."""
        return (True, half(self.interval)) if self.share is None else (False, self.share)

    @property
    def words(self) -> str:
        """As a line has it: half the interval's width as a share of the estimate, or both in their unit."""
        if self.share is None:
            return f"{self.statistic} {near_zero.words(self.interval, self.unit)}"
        return f"interval ±{_percent(self.share)} % of the {self.statistic}"


@dataclass(frozen=True)
class Failing:
    """The cell and arm of which the most runs have failed: `failed` of the `done`."""

    where: str
    failed: int
    done: int


class Narrowing:
    """What `sawtooth run` tells beside how far it is (`progress.Below`)."""

    def __init__(self, study: Study, directory: Path) -> None:
        self._study, self._directory = study, directory
        self._shown: Presentation | None = None
        self._next = time.monotonic() + _SOONEST
        self._found: Widest | None = None
        self._failing: Failing | None = None
        self._sizes: list[tuple[bool, float]] = []
        self._in_unit = False

    def said(self) -> str:
        """The lines as they are now; looked at anew every few seconds."""
        self._renew()
        lines: list[str] = []
        if found := self._found:
            lines.append(f"{found.measure}: {found.words} {sparkline([size for _, size in self._sizes])} worst cell: {found.where}")
        if failing := self._failing:
            lines.append(f"most failures, {failing.failed} of {failing.done} runs: {failing.where}")
        return "\n".join(lines)

    def facts(self) -> dict[str, object]:
        """The same for programs: `widest` and `failing`, as far as there are any."""
        self._renew()
        facts: dict[str, object] = {}
        if found := self._found:
            share = found.share if found.share is None else round(found.share, 6)
            interval = {name: getattr(found.interval, name) for name in ("estimate", "low", "high")}
            facts["widest"] = {"measure": found.measure, "where": found.where, "share": share, **interval, "unit": found.unit}
        if failing := self._failing:
            facts["failing"] = {"where": failing.where, "failed": failing.failed, "done": failing.done}
        return facts

    def _renew(self) -> None:
        began = time.monotonic()
        if began < self._next:
            return
        found, failing = self._look()
        if found:
            # What is told in its unit now, and was a share before, cannot be told to be narrower.
            self._sizes = [*(size for size in self._sizes if size[0] == found.size[0]), found.size][-_LONGEST:]
        # What could not be looked at for a moment is as it was.
        self._found, self._failing = found or self._found, failing or self._failing
        ended = time.monotonic()
        self._next = ended + max(_SOONEST, _RARELY * (ended - began))

    def _look(self) -> tuple[Widest | None, Failing | None]:
        failing = None
        try:
            if self._shown is None:
                self._shown = presentation(self._study)
            dataset = Dataset(self._directory)
            failing = most_failing(dataset)
            found = widest(dataset, self._shown, in_unit=self._in_unit)
            # What may have been 0 once is near it: to tell it by turns in its unit and as a share would show no narrowing.
            self._in_unit = self._in_unit or (found is not None and found.share is None)
            return found, failing
        except (SawtoothError, MixedError):
            # Nothing of it is stored yet, not all that a figure keeps apart, or not what is asked for: the report says so, and the run goes on.
            return None, failing


def widest(dataset: Dataset, shown: Presentation, *, in_unit: bool = False) -> Widest | None:
    """The widest interval of the headline measure: that of the study's first figure of one number per run, else goodput.

    Args:
        dataset: as far as it is.
        shown: what its study shows.
        in_unit: whether intervals are held against each other in their unit, and not as shares of what they are of.

    """
    spec = next((figure for figure in shown.figures if isinstance(figure.measure, Measure) and not figure.several), None)
    spec = spec or FigureSpec("headline", "levels", measure=measure("goodput_bps"))
    assert isinstance(spec.measure, Measure)
    names = factors(dataset)
    arms = dataset.runs["arm"].unique(maintain_order=True).to_list()
    data = Data(Evaluator(dataset, shown.references), spec, figures.TABLE[spec.kind], shown.references, arms)
    found: Widest | None = None
    for row, estimate in estimates.of_groups(data.frame, ["cell", "arm", "item"], spec.statistic, data.range):
        interval = estimate.interval
        this = Widest(_called(spec), _place(names, row), interval, spec.measure.unit, spec.statistic, in_unit)
        if estimate.n >= 2 and math.isfinite(half(interval)) and (found is None or this.size > found.size):
            found = this
    return found


def _called(spec: FigureSpec) -> str:
    """What a figure shows, in few words: its label, or the measure; a formula tells nobody anything in a line, and has the figure's name."""
    assert isinstance(spec.measure, Measure)
    return spec.label or (spec.measure.name if spec.measure.name.isidentifier() else spec.name)


def most_failing(dataset: Dataset) -> Failing | None:
    """Where the most runs have failed, of those that are stored; nothing if none has."""
    status = dataset.status()
    if (status["status"] == "ok").all():
        return None
    names = factors(dataset)
    failed = (pl.col("status") != "ok").sum().alias("failed")
    of_runs = dataset.runs.join(status.select("run", "status"), on="run", maintain_order="left")
    counted = of_runs.group_by("cell", "arm", *names, maintain_order=True).agg(failed, pl.len().alias("done"))
    row = counted.sort("failed", descending=True, maintain_order=True).row(0, named=True)
    return Failing(_place(names, row), int(row["failed"]), int(row["done"]))


def _place(names: Sequence[str], row: Mapping[str, Any]) -> str:
    """A cell and arm in words, by the levels of the factors."""
    parts = [*(f"{name} {written(str(row[name]))}" for name in names if row.get(name) is not None), str(row["arm"] or "")]
    return ", ".join(part for part in parts if part) or "in its one cell"


def _percent(share: float) -> str:
    return f"{100 * share:,.0f}" if share >= 1 else f"{100 * share:.2g}"


def sparkline(values: Sequence[float]) -> str:
    """Values as small bars, from the least to the most, by their logarithms: intervals narrow by shares of themselves."""
    logs = [math.log(value) if value > 0 else -math.inf for value in values]
    least, most = min((each for each in logs if math.isfinite(each)), default=0.0), max(logs, default=0.0)
    steps = (len(_SIGNS) - 1) / (most - least) if most > least else 0.0
    return "".join(_SIGNS[round((max(each, least) - least) * steps)] for each in logs)
