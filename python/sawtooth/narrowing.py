"""How far the intervals of a study's headline measure have narrowed while it runs: of what is stored so far, where the widest one is.

It is looked at, and nothing follows from it: a study that is ended when its intervals please has other intervals than it says. The rule
`repeat = { until = ... }` is for that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth import estimates, figures
from sawtooth.errors import SawtoothError
from sawtooth.figures.data import Data
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Evaluator, Measure, factors, measure
from sawtooth.presentation import Presentation, presentation
from sawtooth.recognise import written
from sawtooth.results.dataset import Dataset
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
        share: half its width, as a share of the estimate.

    """

    measure: str
    where: str
    share: float


class Narrowing:
    """What a terminal shows below the bar."""

    def __init__(self, study: Study, directory: Path) -> None:
        self._study, self._directory = study, directory
        self._shown: Presentation | None = None
        self._next = time.monotonic() + _SOONEST
        self._said = ""
        self._shares: list[float] = []

    def said(self) -> str:
        """The line as it is now; looked at anew every few seconds."""
        began = time.monotonic()
        if began >= self._next:
            if found := self._look():
                self._shares = [*self._shares, found.share][-_LONGEST:]
                self._said = f"{found.measure}: widest interval ±{100 * found.share:.2g} %, {found.where} {sparkline(self._shares)}"
            ended = time.monotonic()
            self._next = ended + max(_SOONEST, _RARELY * (ended - began))
        return self._said

    def _look(self) -> Widest | None:
        try:
            if self._shown is None:
                self._shown = presentation(self._study)
            return widest(Dataset(self._directory), self._shown)
        except SawtoothError:
            # Nothing of it is stored yet, or not what is asked for: the report says so, and the run goes on.
            return None


def widest(dataset: Dataset, shown: Presentation) -> Widest | None:
    """The widest interval of the headline measure: that of the study's first figure of one number per run, else goodput.

    Args:
        dataset: as far as it is.
        shown: what its study shows.

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
        share = (interval.high - interval.low) / 2 / abs(interval.estimate) if interval.estimate else math.nan
        if estimate.n >= 2 and math.isfinite(share) and (found is None or share > found.share):
            parts = [*(f"{name} {written(str(row[name]))}" for name in names if row.get(name) is not None), str(row["arm"] or "")]
            found = Widest(spec.measure.name, ", ".join(part for part in parts if part) or "in its one cell", share)
    return found


def sparkline(values: Sequence[float]) -> str:
    """Values as small bars, from the least to the most, by their logarithms: intervals narrow by shares of themselves."""
    logs = [math.log(value) if value > 0 else -math.inf for value in values]
    least, most = min((each for each in logs if math.isfinite(each)), default=0.0), max(logs, default=0.0)
    steps = (len(_SIGNS) - 1) / (most - least) if most > least else 0.0
    return "".join(_SIGNS[round((max(each, least) - least) * steps)] for each in logs)
