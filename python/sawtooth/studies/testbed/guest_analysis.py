"""How much two boots of one guest differ, beside two fetches of one boot; and every cell beside its published statistics."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import stats as scipy_stats

from sawtooth import Dataset
from sawtooth.report import Grid, Section

CELL = ["delay", "cpus", "memory"]


def sections(dataset: Dataset) -> list[Section]:
    """Shown after the figures."""
    fetches = dataset.runs.select("run", "arm", *CELL).join(dataset.flows().collect(), on="run")
    fetches = fetches.with_columns(seconds=pl.col("completion_ns") / 1e9)
    given = dataset.runs.sort("cell").select(CELL).unique(maintain_order=True)
    for name in ("mean", "max", "min", "sd", "cov"):
        value = pl.col("value").first() / (1 if name == "cov" else 1e9)
        found = dataset.measure(f"references.a.{name}").group_by(CELL, maintain_order=True).agg(value.alias(f"published_{name}"))
        given = given.join(found, on=CELL, how="left", maintain_order="left")
    return [_boots(fetches.filter(pl.col("seconds").is_not_null())), _cells(fetches, given)]


def _boots(fetches: pl.DataFrame) -> Section:
    """Variance components of log time, boots within cells and fetches within boots: nested analysis of variance (Sokal and Rohlf, chapter 10)."""
    title = "Boot to boot"
    logs = fetches.with_columns(log=pl.col("seconds").log()).filter(pl.col("run").n_unique().over("arm", *CELL) > 1)
    if logs.is_empty():
        return Section(title, ["One boot per cell: the spread between boots is not known."])
    boots = logs.group_by("arm", *CELL, "run", maintain_order=True).agg(
        n=pl.len().cast(pl.Float64), mean=pl.col("log").mean(), squares=((pl.col("log") - pl.col("log").mean()) ** 2).sum()
    )
    n, mean = pl.col("n"), pl.col("mean")
    cells = boots.group_by("arm", *CELL, maintain_order=True).agg(
        boots=pl.len(), fetches=n.sum(), within=pl.col("squares").sum(),
        # Of boots with unequal numbers of fetches, the usual n0 of the expected mean square.
        n0=n.sum() - (n**2).sum() / n.sum(), between=(n * (mean - (mean * n).sum() / n.sum()) ** 2).sum(),
    )  # fmt: skip
    freedom, inside = boots.height - cells.height, int(cells["fetches"].sum()) - boots.height
    squares = float(cells["between"].sum()) / freedom, float(cells["within"].sum()) / max(inside, 1)
    between = max(squares[0] - squares[1], 0.0) ** 0.5 / (float(cells["n0"].sum()) / freedom) ** 0.5
    p = float(scipy_stats.f.sf(squares[0] / squares[1], freedom, inside)) if squares[1] > 0 else 1.0
    words = (
        f"Over {boots.height} boots, two boots of one guest differ by {np.expm1(between):.1%} and two fetches of one boot by "
        f"{np.expm1(squares[1] ** 0.5):.1%} (standard deviations of log time; p = {p:.2g} for boots being alike)."
    )
    return Section(title, [words, "A study with one boot for each guest could not tell an effect of that size from a boot's luck."])


def _cells(fetches: pl.DataFrame, given: pl.DataFrame) -> Section:
    time, n = pl.col("seconds"), pl.col("n")
    table = fetches.group_by([*CELL, "arm"], maintain_order=True).agg(
        n=time.count(), mean_s=time.mean(), max_s=time.max(), min_s=time.min(), stdev_s=time.std(), cov=time.std() / time.mean(),
        boots=pl.col("run").n_unique(), unfinished=time.null_count(), retransmits=pl.col("retransmits").mean(), timeouts=pl.col("timeouts").mean(),
    )  # fmt: skip
    quantile = n.map_elements(lambda n: scipy_stats.t.ppf(0.975, n - 1), return_dtype=pl.Float64)
    table = given.join(table.with_columns(ci95_s=pl.col("stdev_s") / n.sqrt() * quantile), on=CELL, maintain_order="left")
    words = "Over fetches, as published; those of a boot are not independent, so that findings go by boots."
    return Section("All cells", [words], grids=[Grid("cells", table, "Tables 4.1, 5.1 and 7.1 to 7.6, ours and the published.")])
