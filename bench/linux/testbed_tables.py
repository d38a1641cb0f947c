"""The testbed's published tables as one that can be held against runs: what is exchanged in them put right, and what is left out filled by nothing.

    python bench/linux/testbed_tables.py      # writes published-b.csv and published-b-by-server.csv beside the study

The publication has a table of means (4.2, 5.1.2) and thirty detailed tables (7.7 to 7.19). Held against the means, most detailed tables have the rows of RENO and
SCALABLE exchanged; one holds other measurements. `details` says of each row where its statistics are from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

STUDY = Path(__file__).resolve().parents[2] / "python/sawtooth/studies/testbed"
CELL = ["delay_ms", "server_cc", "client_cc"]
DETAILS = ["max_s", "min_s", "stdev_s", "ci95_s", "cov"]
FETCHES = 40
ALIKE = 0.005
"""Printed with two decimals: values agree if they are printed alike."""
AS_PRINTED, EXCHANGED, OTHER, NONE = "table", "table, rows exchanged back", "other measurements", "none"
SWAP = {"reno": "scalable", "scalable": "reno"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=STUDY)
    out: Path = parser.parse_args().out
    means, tables = read("published-b-means.csv"), read("published-b-stats.csv")
    whole = mended(means, tables)
    head = "# Written by bench/linux/testbed_tables.py from published-b-means.csv and published-b-stats.csv.\n"
    (out / "published-b.csv").write_text(head + whole.write_csv(), encoding="utf-8")
    (out / "published-b-by-server.csv").write_text(head + by_server(whole).write_csv(float_precision=4), encoding="utf-8")
    print(compare_tables(means, tables).group_by("details", maintain_order=True).len())


def read(name: str) -> pl.DataFrame:
    """A table as it was published; its numbers as they are printed."""
    return pl.read_csv(STUDY / name, infer_schema=False)


def compare_tables(means: pl.DataFrame, tables: pl.DataFrame) -> pl.DataFrame:
    """Each detailed table held against the table of means: delay_ms, server_cc, rows, rows_alike, rows_alike_exchanged, details."""
    found: list[dict[str, object]] = []
    for (delay, server), group in tables.group_by("delay_ms", "server_cc", maintain_order=True):
        mine = {row["client_cc"]: float(row["mean_s"]) for row in group.to_dicts()}
        theirs = {row["client_cc"]: float(row["mean_s"]) for row in means.filter(delay_ms=delay, server_cc=server).to_dicts()}
        alike = sum(abs(mine[client] - theirs[client]) < ALIKE for client in mine)
        crossed = sum(abs(mine[client] - theirs[SWAP.get(client, client)]) < ALIKE for client in mine)
        details = AS_PRINTED if alike == len(mine) else EXCHANGED if crossed == len(mine) else OTHER
        found.append({
            "delay_ms": delay, "server_cc": server, "rows": len(mine), "rows_alike": alike, "rows_alike_exchanged": crossed, "details": details,
        })  # fmt: skip
    return pl.DataFrame(found)


def mended(means: pl.DataFrame, tables: pl.DataFrame) -> pl.DataFrame:
    """One row per cell: the mean of the table of means, n, the other statistics where there are any, and `details`, where these are from."""
    state = compare_tables(means, tables).select("delay_ms", "server_cc", "details")
    back = pl.when(pl.col("details") == EXCHANGED).then(pl.col("client_cc").replace(SWAP)).otherwise(pl.col("client_cc"))
    right = tables.join(state, on=["delay_ms", "server_cc"]).with_columns(client_cc=back).drop("mean_s")
    return (
        means.join(right, on=CELL, how="left", maintain_order="left")
        .with_columns(pl.col("details").fill_null(NONE), n=pl.lit(FETCHES))
        .select(*CELL, "n", "mean_s", *DETAILS, "details")
    )


def by_server(whole: pl.DataFrame) -> pl.DataFrame:
    """Per delay and server: the geometric mean of the means over clients, whose algorithm does not matter; and its standard error as a share of it.

    Where no standard deviation is published, the median coefficient of variation stands in.
    """
    numbers = whole.with_columns(pl.col("mean_s", *DETAILS).cast(pl.Float64))
    error = pl.col("stdev_s").fill_null(pl.col("cov").median() * pl.col("mean_s")) / FETCHES**0.5 / pl.col("mean_s")
    return (
        numbers.with_columns(error=error)
        .group_by("delay_ms", "server_cc", maintain_order=True)
        .agg(mean_s=pl.col("mean_s").log().mean().exp(), error_share=(pl.col("error") ** 2).mean().sqrt() / pl.len().sqrt())
    )


if __name__ == "__main__":
    main()
