"""The published testbed study of eleven congestion controls: its tables, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.metrics import fetch
from sawtooth.metrics.fetch import DRAWS, Means
from sawtooth.report.document import Grid, Section
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

PUBLISHED = "published"
ARMS = {"cache": "cache on", "no-cache": "cache off", "virtual": "virtual time", "real": "real time"}
STATISTICS = ["n", "mean_s", "max_s", "min_s", "stdev_s", "ci95_s", "cov"]
FETCHES = 40
CELL = ["delay_ms", "server_cc", "client_cc"]
DETAILS = ["max_s", "min_s", "stdev_s", "ci95_s", "cov"]
# Printed with two decimals: values agree if they are printed alike.
ALIKE = 0.005


def label(arm: str) -> str:
    """An arm of ours, in words."""
    return ARMS.get(arm, arm or "ours")


def missing_section(dataset: Dataset, planned: pl.DataFrame, fetches: pl.DataFrame, by: Sequence[str]) -> Section | None:
    """Which combinations of `by` lack runs or fetches; nothing if none does."""
    table = fetch.missing(dataset, planned, fetches, by)
    if table.is_empty():
        return None
    return Section("What is missing", [fetch.missing_words(table)], grids=[Grid("missing", table, "Incomplete cells")])


def scenario_a() -> pl.DataFrame:
    """Guest resources: delay_ms, cpus, memory_gb, mean_s and the other statistics."""
    return _read("published-a.csv").rename({"ram_gb": "memory_gb"}).with_columns(pl.col("cpus", "memory_gb").cast(pl.Float64))


def scenario_b() -> pl.DataFrame:
    """Eleven by eleven algorithms, one row per cell: mean_s, and where there is a detailed table its statistics, rows put right.

    `details` says where they come from: `table`, `table, rows exchanged back`, `other measurements` or `none`.
    """
    means, tables = _read("published-b-means.csv"), _read("published-b-stats.csv")
    state = compare_tables(means, tables, scenario_a()).select("delay_ms", "server_cc", "details")
    back = pl.col("details") == EXCHANGED
    right = (
        pl.when(back & (pl.col("client_cc") == "reno")).then(pl.lit("scalable"))
        .when(back & (pl.col("client_cc") == "scalable")).then(pl.lit("reno"))
        .otherwise(pl.col("client_cc"))
    )  # fmt: skip
    mended = tables.join(state, on=["delay_ms", "server_cc"]).with_columns(client_cc=right).drop("mean_s")
    return (
        means.join(mended, on=CELL, how="left", maintain_order="left")
        .with_columns(pl.col("details").fill_null("none"), n=pl.lit(FETCHES))
        .select(*CELL, "n", "mean_s", *DETAILS, "details")
    )


AS_PRINTED = "table"
EXCHANGED = "table, rows exchanged back"
OTHER = "other measurements"


def compare_tables(means: pl.DataFrame, tables: pl.DataFrame, resources_study: pl.DataFrame) -> pl.DataFrame:
    """Each detailed table held against the table of means, one row per delay and server algorithm.

    Columns: rows, rows_alike (mean printed alike), rows_alike_exchanged (with RENO and SCALABLE exchanged), details, remark.
    """
    found: list[dict[str, object]] = []
    for (delay, server), group in tables.group_by("delay_ms", "server_cc", maintain_order=True):
        mine = {row["client_cc"]: float(row["mean_s"]) for row in group.to_dicts()}
        chosen = means.filter((pl.col("delay_ms") == delay) & (pl.col("server_cc") == server))
        theirs = {row["client_cc"]: float(row["mean_s"]) for row in chosen.to_dicts()}
        swap = {"reno": "scalable", "scalable": "reno"}
        alike = sum(abs(mine[client] - theirs[client]) < ALIKE for client in mine)
        crossed = sum(abs(mine[client] - theirs[swap.get(client, client)]) < ALIKE for client in mine)
        if alike == len(mine):
            details, remark = AS_PRINTED, ""
        elif crossed == len(mine):
            details, remark = EXCHANGED, "the RENO and SCALABLE rows are exchanged"
        else:
            details, remark = OTHER, "its means are not those of the table of means" + _twin(group, str(server), resources_study)
        found.append({
            "delay_ms": delay, "server_cc": server, "rows": len(mine), "rows_alike": alike, "rows_alike_exchanged": crossed,
            "details": details, "remark": remark,
        })  # fmt: skip
    return pl.DataFrame(found)


def _twin(table: pl.DataFrame, server: str, resources_study: pl.DataFrame) -> str:
    """The row of the resources study that is, digit by digit, this table's row of equal algorithms (that study used CUBIC)."""
    columns = ["delay_ms", "mean_s", *DETAILS]
    same = table.filter((pl.col("client_cc") == server) & (pl.col("server_cc") == "cubic")).select(columns)
    row = resources_study.join(same, on=columns).to_dicts()
    if len(row) != 1:
        return ""
    return f"; its row for cubic is that of scenario A with {row[0]['cpus']:g} CPUs and {row[0]['memory_gb']:g} GB"


def check() -> pl.DataFrame:
    """`compare_tables` of the published files."""
    return compare_tables(_read("published-b-means.csv"), _read("published-b-stats.csv"), scenario_a())


def resampled_means(table: pl.DataFrame, seed: int = 1) -> Means:
    """The published means with parametric resamples: normal, with the published standard deviation of 40 fetches.

    Where that is not published, the median coefficient of variation of the same delay stands in.
    """
    typical = pl.col("cov").median().over("delay_ms").fill_null(pl.col("cov").median())
    error = table.select(pl.col("stdev_s").fill_null(pl.col("mean_s") * typical) / FETCHES**0.5).to_series().to_numpy()
    mean = stats.vector(table["mean_s"].to_numpy())
    draws = mean + np.random.default_rng(seed).normal(size=(DRAWS, mean.size)) * error
    return Means(table.select(CELL), mean, np.maximum(draws, 0.01), np.full(mean.size, FETCHES), "normal errors")


def _read(name: str) -> pl.DataFrame:
    return pl.read_csv(shipped.table("testbed", name)).with_columns(pl.col("delay_ms").cast(pl.Float64))
