"""When a study's cells have replicates enough: its rule `repeat = { until = ... }`, over what was measured.

All arms of a cell have the same replicates, as they are compared in pairs; so a cell gets more as long as one of its arms needs more. A round adds no
more than would be needed if all intervals were narrow from now on: the rule never stops before the last replicate that there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from sawtooth.measures import Asked, Evaluator, Measure, View
from sawtooth.questions import Reader
from sawtooth.references import Reference
from sawtooth.stats import Progress, sequential
from sawtooth.study.until import Until

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset


@dataclass(frozen=True)
class Stopping:
    """A rule, and the measure that it looks at.

    Attributes:
        rule: as the study says it.
        asked: what is looked at: of each item of each arm.

    """

    rule: Until
    asked: Asked

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.asked.measure


def read(reader: Reader) -> Stopping | None:
    """A study's rule; None if its replicates are a number.

    Raises:
        StudyError: with its place, for what is no measure.

    """
    rule = reader.study.until
    return None if rule is None else _read(rule, reader)


def read_facts(facts: Mapping[str, Any], reader: Reader) -> Stopping:
    """The rule that results were made by, as their manifest tells it: their study may have another by now, or an option may have set it."""
    return _read(Until.of_facts(facts), reader)


def _read(rule: Until, reader: Reader) -> Stopping:
    measure = reader.measure({"of": rule.of}, rule.origin, "of")
    return Stopping(rule, Asked(measure, View(rows=reader.rows(dict(rule.view), rule.origin, [measure]))))


@dataclass
class Looks:
    """What has been seen of a study's cells, so that no replicate is looked at twice.

    Attributes:
        stopping: the rule.
        references: of the study.

    """

    stopping: Stopping
    references: Mapping[str, Reference]
    _seen: dict[tuple[int, str, str], Progress] = field(default_factory=dict[tuple[int, str, str], Progress])

    def more(self, dataset: Dataset) -> dict[int, int]:
        """Which cells need more replicates, and how many: cell to number.

        Args:
            dataset: with all runs of its plan done.

        """
        rule = self.stopping.rule
        had = dict(dataset.runs.group_by("cell", maintain_order=True).agg(pl.col("replicate").max()).iter_rows())
        unsettled = [cell for cell, number in had.items() if number < rule.most]
        frame = Evaluator(dataset, self.references).observe(self.stopping.asked).filter(pl.col("cell").is_in(unsettled))
        wanted: dict[int, int] = {}
        for (cell, arm, item), group in frame.sort("replicate").group_by("cell", "arm", "item", maintain_order=True):
            lacking = self._lacking((int(cell), str(arm), str(item)), group)  # type: ignore[arg-type]
            wanted[int(cell)] = max(wanted.get(int(cell), 0), lacking)  # type: ignore[arg-type]
        return {cell: min(wanted[cell], rule.most - had[cell]) for cell in unsettled if wanted.get(cell, 0)}

    def _lacking(self, key: tuple[int, str, str], group: pl.DataFrame) -> int:
        """How many replicates more one item of an arm needs at least."""
        rule = self.stopping.rule
        known = group.filter(pl.col("low").is_not_null())
        if known.is_empty():
            return 0
        if (known["low"] != known["high"]).any():
            # The mean of what did not finish has no upper end, however many there are: only the most ends this.
            return rule.most
        seen = sequential(known["low"].to_numpy(), rule.share, rule.confidence, rule.least, rule.most, self._seen.get(key))
        self._seen[key] = seen
        return 0 if seen.done else max(seen.soonest - known.height, 1)
