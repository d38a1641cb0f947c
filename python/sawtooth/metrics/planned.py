"""The cells that a side was to run, and of those without a finished run why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sawtooth.results.dataset import Dataset

Key = tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """A cell, and arm, of a plan.

    Attributes:
        cell: its number.
        factors: that cells are recognised by.
        arm: its name.
        lacking: why none of its runs is there; empty if one is.

    """

    cell: int
    factors: Mapping[str, str]
    arm: str
    lacking: str


def planned(dataset: Dataset, key: Callable[[Mapping[str, Any]], Key], names: Sequence[str], arm: str | None) -> dict[Key, Planned]:
    """What a dataset was to run, by what it is recognised by.

    Args:
        dataset: whose plan.
        key: what a line of a plan is recognised by.
        names: of the factors.
        arm: only this one.

    """
    status = dataset.status().select("run", "status")
    cells = (
        dataset.runs.join(status, on="run", how="left")
        .group_by("cell", *names, "arm", maintain_order=True)
        .agg(runs=pl.len(), done=(pl.col("status") == "ok").sum(), failed=(pl.col("status") != "ok").sum())
    )
    return {
        key(line): Planned(line["cell"], {name: str(line[name]) for name in names if line[name] is not None}, line["arm"], _lacking(line))
        for line in cells.to_dicts()
        if arm is None or line["arm"] == arm
    }


def _lacking(line: Mapping[str, Any]) -> str:
    """Why a cell has no finished run."""
    runs, failed = line["runs"], line["failed"]
    if line["done"]:
        return ""
    if failed == runs:
        return "its run failed" if runs == 1 else f"all {runs:,} runs failed"
    if not failed:
        return "its run is not done yet" if runs == 1 else f"none of {runs} runs is done yet"
    return f"{failed} of {runs} runs failed, the others are not done yet"
