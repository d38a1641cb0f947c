"""Results that are not what was run: verdicts of a study must come out otherwise on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset


class Altered(Dataset):
    """A study's results with other labels: of its runs (arms, levels of factors), or of its flows.

    Attributes:
        runs_as: column of runs to what each of its values is called instead.
        flows_as: name of a flow to what it is called instead.

    """

    def __init__(
        self, directory: Path, runs_as: Mapping[str, Mapping[str, str]] | None = None, flows_as: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(directory)
        self.flows_as = dict(flows_as or {})
        for column, names in (runs_as or {}).items():
            self.runs = self.runs.with_columns(pl.col(column).replace(dict(names)))

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        found = super().table(name, factors=factors)
        return (
            found.with_columns(pl.col("flow").cast(pl.String).replace(self.flows_as)) if "flow" in found.collect_schema().names() else found
        )


def answers(dataset: Dataset) -> dict[str, str]:
    """The verdicts on its claims."""
    return {verdict.claim: verdict.answer for verdict in Answers(dataset).verdicts()}


def swapped(first: str, second: str) -> dict[str, str]:
    """Each for the other."""
    return {first: second, second: first}
