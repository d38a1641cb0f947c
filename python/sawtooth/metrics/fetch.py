"""Fetches: files downloaded one after another by the flows of a run.

A run is a block of fetches over one connection path: what the kernel remembers of one fetch may change the next, so fetches of a
block are no independent replicates. Statistics are given over fetches, as testbed studies publish them, and over blocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Vector

DRAWS = 1000
"""Bootstrap resamples."""
FEWEST_BLOCKS = 5
"""From so many blocks on, blocks are resampled rather than fetches; of fewer, resampled blocks hardly differ from each other."""


def per_fetch(dataset: Dataset, factors: Mapping[str, str]) -> pl.DataFrame:
    """One row per fetch: run, arm, replicate, fetch (from 1), the factors, seconds (null if not completed), retransmits, timeouts.

    Args:
        dataset: of a study whose flows are fetches, one after another.
        factors: name of each factor's column, and of the study's axis that it is. `delay_ms` is in milliseconds; names of
            congestion controls lose the prefix `kernel:`; other quantities are plain numbers.

    Raises:
        DatasetError: if the study lacks an axis.

    """
    flows = dataset.flows().select("run", "flow", "completion_ns", "retransmits", "timeouts").collect()
    return (
        cells(dataset, factors)
        .join(flows, on="run")
        .with_columns(
            fetch=pl.col("flow").map_elements(_number, return_dtype=pl.UInt32),
            seconds=pl.when(pl.col("completion_ns") >= 0).then(pl.col("completion_ns") / 1e9),
        )
        .drop("flow", "completion_ns")
        .sort("run", "fetch")
    )


def cells(dataset: Dataset, factors: Mapping[str, str]) -> pl.DataFrame:
    """The plan, one row per run: run, arm, replicate, the factors as in `per_fetch`."""
    missing = [axis for axis in factors.values() if axis not in dataset.runs.columns]
    if missing:
        raise DatasetError(
            f"{dataset.directory} has no factor `{missing[0]}`",
            f"this kind of report needs the axes {', '.join(factors.values())}; `report = ` of the study names the kind",
        )
    return dataset.runs.select("run", "arm", "replicate", *(_factor(name, axis) for name, axis in factors.items()))


def _factor(name: str, axis: str) -> pl.Expr:
    if name == "delay_ms":
        return (pl.col(f"{axis}_value") * 1000).round(3).alias(name)
    if name.endswith("_cc"):
        return pl.col(axis).str.strip_prefix("kernel:").alias(name)
    return pl.col(f"{axis}_value").alias(name)


def _number(flow: str) -> int:
    """The fetch's number: N of `fetch[N]`, and 1 of a flow that is alone."""
    found = re.search(r"\[(\d+)\]$", flow)
    return int(found[1]) if found else 1


def statistics(fetches: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The statistics that the testbed study published, one row per combination of `by`.

    Columns: n (completed fetches), mean_s, max_s, min_s, stdev_s, ci95_s (half-width of the t interval over fetches), cov; then
    blocks, ci95_blocks_s (half-width over means of blocks, which are independent), unfinished, retransmits and timeouts per fetch.
    Where there is too little for a value it is null.
    """
    rows: list[dict[str, object]] = []
    for key, group in fetches.group_by(by, maintain_order=True):
        done = group.filter(pl.col("seconds").is_not_null())
        times = stats.vector(done["seconds"].to_numpy())
        n = int(times.size)
        means = done.group_by("run", maintain_order=True).agg(pl.col("seconds").mean())["seconds"].to_numpy()
        stdev = float(times.std(ddof=1)) if n > 1 else None
        rows.append({
            **dict(zip(by, key, strict=True)), "n": n,
            "mean_s": float(times.mean()) if n else None, "max_s": float(times.max()) if n else None,
            "min_s": float(times.min()) if n else None, "stdev_s": stdev, "ci95_s": _half_width(times),
            "cov": stdev / float(times.mean()) if stdev is not None else None,
            "blocks": len(means), "ci95_blocks_s": _half_width(means), "unfinished": group.height - n,
            "retransmits": group["retransmits"].cast(pl.Float64).mean(), "timeouts": group["timeouts"].cast(pl.Float64).mean(),
        })  # fmt: skip
    kinds = {"n": pl.Int64, "blocks": pl.Int64, "unfinished": pl.Int64}
    numbers = ("mean_s", "max_s", "min_s", "stdev_s", "ci95_s", "cov", "ci95_blocks_s", "retransmits", "timeouts")
    schema = {**{name: fetches.schema[name] for name in by}, **kinds, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema={name: schema[name] for name in (rows[0] if rows else schema)})


def _half_width(values: Vector) -> float | None:
    if values.size < 2:
        return None
    interval = stats.mean_interval(values)
    return interval.high - interval.estimate


@dataclass(frozen=True)
class Means:
    """Mean times of cells with bootstrap resamples.

    Attributes:
        keys: one row per cell. mean_s: shape (cells,). draws_s: resampled means, shape (DRAWS, cells).
        units: how many values each cell's mean was resampled from, shape (cells,). kind: what these are.

    """

    keys: pl.DataFrame
    mean_s: Vector
    draws_s: NDArray[np.float64]
    units: NDArray[np.int64]
    kind: str

    def only(self, keys: pl.DataFrame) -> Means:
        """The cells that `keys` has too, in the order of `keys`."""
        at = keys.join(self.keys.with_row_index("at"), on=keys.columns, how="inner", maintain_order="left")
        index = at["at"].to_numpy()
        return Means(at.drop("at"), self.mean_s[index], self.draws_s[:, index], self.units[index], self.kind)

    def intervals(self) -> list[Interval]:
        """Each cell's mean with its 95 % percentile bootstrap interval."""
        low, high = np.quantile(self.draws_s, (0.025, 0.975), axis=0)
        return [
            Interval(float(mean), float(a), float(b), int(n), "95% bootstrap") if n > 1 else stats.mean_interval([float(mean)])
            for mean, a, b, n in zip(self.mean_s, low, high, self.units, strict=True)
        ]

    @property
    def resampled(self) -> bool:
        """Whether every cell had something to resample: with one value per cell there are no intervals."""
        return self.units.size > 0 and int(self.units.min()) > 1

    @property
    def log(self) -> Vector:
        """Natural logarithms of the means."""
        return np.log(self.mean_s)

    @property
    def log_draws(self) -> NDArray[np.float64]:
        """Natural logarithms of the resampled means."""
        return np.log(self.draws_s)


def resampled(fetches: pl.DataFrame, by: Sequence[str], seed: int = 1) -> Means:
    """Mean time of each cell that completed a fetch, resampled within cells: by block where most cells have enough of them.

    Most, so that a run that failed in one cell does not change how all others are resampled.
    """
    done = fetches.filter(pl.col("seconds").is_not_null()).sort(*by, "run", "fetch")
    counts = done.group_by(by, maintain_order=True).agg(pl.col("run").n_unique())["run"]
    by_block = done.height > 0 and float(counts.median() or 0) >= FEWEST_BLOCKS  # type: ignore[arg-type]
    generator = np.random.default_rng(seed)
    keys: list[tuple[object, ...]] = []
    means: list[float] = []
    draws: list[Vector] = []
    units: list[int] = []
    for key, group in done.group_by(by, maintain_order=True):
        parts = group.group_by("run", maintain_order=True).agg(pl.col("seconds").sum(), n=pl.len()) if by_block else group.with_columns(n=1)
        total, n = stats.vector(parts["seconds"].to_numpy()), stats.vector(parts["n"].to_numpy())
        chosen = generator.integers(0, len(total), (DRAWS, len(total)))
        keys.append(key)
        units.append(len(total))
        means.append(float(total.sum() / n.sum()))
        draws.append(total[chosen].sum(axis=1) / n[chosen].sum(axis=1))
    frame = pl.DataFrame(keys, schema={name: done.schema[name] for name in by}, orient="row")
    stacked = np.stack(draws, axis=1) if draws else np.empty((DRAWS, 0))
    return Means(frame, stats.vector(means), stacked, np.asarray(units, dtype=np.int64), "blocks" if by_block else "fetches")


def missing(dataset: Dataset, planned: pl.DataFrame, fetches: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Combinations of `by` that lack something: runs, not_done, failed, unfinished_fetches and a message of a run that failed."""
    runs = planned.join(dataset.status(), on="run", how="left")
    lost = fetches.filter(pl.col("seconds").is_null()).group_by("run", maintain_order=True).agg(unfinished=pl.len())
    return (
        runs.join(lost, on="run", how="left")
        .group_by(by, maintain_order=True)
        .agg(
            runs=pl.len(),
            not_done=pl.col("status").is_null().sum(),
            failed=(pl.col("status") != "ok").sum(),
            unfinished_fetches=pl.col("unfinished").fill_null(0).sum(),
            message=pl.col("message").filter(pl.col("status") != "ok").drop_nulls().first(),
        )
        .filter((pl.col("not_done") > 0) | (pl.col("failed") > 0) | (pl.col("unfinished_fetches") > 0))
    )


def missing_words(table: pl.DataFrame) -> str:
    """What `missing` found, in words."""
    return (
        f"{table.height} combinations of cell and arm are incomplete: {table['not_done'].sum()} runs were not done, {table['failed'].sum()} "
        f"failed, and {table['unfinished_fetches'].sum()} fetches did not complete in their run. Statistics are over completed fetches, so "
        "what leaves fetches unfinished looks faster than it is."
    )
