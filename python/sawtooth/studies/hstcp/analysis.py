"""What the vocabulary has no word for: Jain's index of flows' means over replicates, as it was published, and what is left of the published gain.

The published index is of a cell and not of a run: each flow's throughput is averaged over replicates first, which hides unfairness that changes sides.
"""

from __future__ import annotations

import math

import polars as pl

from sawtooth import Dataset, stats
from sawtooth.report import Claimed, Evidence, Grid, Section, fact, held

COLUMNS = {"newreno": "newreno", "sack": "hstcp", "highspeed": "hstcp"}  # the published column that each arm is held against
PUBLISHED = ["newreno", "sack"]  # the arms that were run under these names
HALF_DIGIT = 0.005 * (1 + 1e-6)  # two decimals were printed; the last bit of a sum is noise
KEPT = 0.95  # so much of a gain is most of it: not published
FACTORS = ["Bw", "Tp", "D", "N"]


def sections(dataset: Dataset) -> list[Section]:
    """The published numbers experiment by experiment, and what is left of the gain."""
    flows = dataset.table("flows", factors=True).collect()
    x = pl.col("throughput_bps")
    runs = (
        flows.group_by("cell", *FACTORS, "arm", "replicate", maintain_order=True)
        .agg(bps=x.sum(), jain=_jain(x))
        .sort("cell", "arm", "replicate")
    )
    compared = _compared(dataset, flows, runs)
    return [_gain(runs), _nothing_acknowledged(flows, runs), _agreement(flows, compared)]


def _jain(x: pl.Expr) -> pl.Expr:
    """0 if nothing got through at all, as published."""
    return pl.when((x**2).sum() > 0).then(x.sum() ** 2 / (pl.len() * (x**2).sum())).otherwise(0.0)


def _compared(dataset: Dataset, flows: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """One row per experiment and arm: ours and the published sum and index of means, and whether they agree as printed."""
    x = pl.col("throughput_bps")
    means = flows.group_by("cell", *FACTORS, "arm", "flow", maintain_order=True).agg(x.mean())
    ours = means.group_by("cell", *FACTORS, "arm", maintain_order=True).agg(bps=x.sum(), jain=_jain(x))
    published = pl.read_csv(dataset.manifest["references"]["published"]["text"].encode()).with_columns(
        pl.col("experiment").cast(ours["cell"].dtype)
    )
    theirs = [
        published.select(cell="experiment", arm=pl.lit(arm), published_bps=f"{column}_sum_bps", published_jain=f"{column}_jain")
        for arm, column in COLUMNS.items()
    ]
    rows: list[dict[str, object]] = []
    for (cell, arm), group in runs.group_by("cell", "arm", maintain_order=True):
        total, fair = stats.mean_interval(group["bps"].to_numpy()), stats.mean_interval(group["jain"].to_numpy())
        rows.append({"cell": cell, "arm": arm, "low_bps": total.low, "high_bps": total.high, "jain_per_run": fair.estimate})
    spread = pl.DataFrame(rows).with_columns(pl.col("cell").cast(ours["cell"].dtype))
    off = pl.col("bps") - pl.col("published_bps")
    same = pl.when(off == 0).then(0.0).otherwise(math.inf)
    return (
        ours.join(pl.concat(theirs), on=["cell", "arm"]).join(spread, on=["cell", "arm"])
        .with_columns(
            error=pl.when(pl.col("published_bps") > 0).then(off / pl.col("published_bps")).otherwise(same),
            exact=off.abs() <= HALF_DIGIT,
            jain_exact=(pl.col("jain") - pl.col("published_jain")).abs() <= HALF_DIGIT,
        ).sort("cell", "arm")
    )  # fmt: skip


def _agreement(flows: pl.DataFrame, compared: pl.DataFrame) -> Section:
    """Every experiment beside what was published, and how many agree."""
    arms = compared.group_by("arm", maintain_order=True).agg(
        against=pl.col("arm").first().replace_strict(COLUMNS), experiments=pl.len(), sums_as_printed=pl.col("exact").sum(),
        sums_within_0_1_percent=(pl.col("error").abs() <= 1e-3).sum(), jain_as_printed=pl.col("jain_exact").sum(),
        median_error=pl.col("error").abs().median(), largest_error=pl.col("error").abs().max(),
    ).sort("largest_error")  # fmt: skip
    columns = ("bps", "published_bps", "error", "exact", "jain", "published_jain", "jain_exact", "low_bps", "high_bps", "jain_per_run")
    wide = compared.select("cell", *FACTORS).unique(maintain_order=True)
    for arm in COLUMNS:
        names = {column: f"{arm}_{column}" for column in columns}
        wide = wide.join(compared.filter(arm=arm).select("cell", *columns).rename(names), on="cell", how="left", maintain_order="left")
    attested = flows.group_by("arm", "recovery", "cc", maintain_order=True).agg(flows=pl.len()).sort("arm")
    matched = compared.filter(pl.col("arm").is_in(PUBLISHED))
    digits = {f"{arm}_{name}": 2 for arm in COLUMNS for name in ("bps", "published_bps", "jain", "published_jain")}
    digits |= {f"{arm}_{name}": 3 for arm in COLUMNS for name in ("low_bps", "high_bps", "jain_per_run")} | {
        f"{arm}_error": 6 for arm in COLUMNS
    }
    return Section(
        "Experiment by experiment",
        ["Sums and indices are computed as published: each flow's throughput is averaged over replicates, then summed, and the index is that of the "
         "averages; beside it stands the mean of the runs' own indices, which hides nothing. The interval is of the sum, over replicates."],
        grids=[Grid("agreement", arms, "Each arm against a published column.", {"median_error": 8, "largest_error": 6}),
               Grid("attested", attested, "What each run attests about itself: the algorithms that were active."),
               Grid("experiments", wide, "Every experiment beside the published value.", digits)],
        claims=[Claimed(f"All {matched.height} published {what} come out again to the printed digit, the \"HighSpeed\" column's with SACK",
                        [_as_printed(row, ours, digit) for row in matched.to_dicts()])
                for what, ours, digit in (("sums of throughput", "bps", "exact"), ("indices of fairness", "jain", "jain_exact"))],
    )  # fmt: skip


def _as_printed(row: dict[str, object], ours: str, exact: str) -> Evidence:
    where = ", ".join([*(f"{name} {row[name]}" for name in FACTORS), str(row["arm"])])
    return fact(bool(row[exact]), f"{row[ours]:.2f} against the published {row[f'published_{ours}']:.2f}", cell=where)


def _gain(runs: pl.DataFrame) -> Section:
    """How much of what SACK gains HighSpeed TCP gains, too."""
    arms = {arm: runs.filter(arm=arm).select("cell", *FACTORS, "replicate", bps="bps") for arm in COLUMNS}
    beside = arms["newreno"].rename({"bps": "newreno"})
    for arm in ("sack", "highspeed"):
        beside = beside.join(
            arms[arm].select("cell", "replicate", pl.col("bps").alias(arm)), on=["cell", "replicate"], maintain_order="left"
        )
    gains = beside.with_columns(sack=pl.col("sack") - pl.col("newreno"), highspeed=pl.col("highspeed") - pl.col("newreno"))
    means = gains.group_by("cell", maintain_order=True).agg(pl.col("sack", "highspeed").mean())
    had = means.filter(pl.col("sack") > 0)
    kept = had.filter(pl.col("highspeed") >= KEPT * pl.col("sack")).height
    total, total_high = float(means["sack"].sum()), float(means["highspeed"].sum())
    evidence: list[Evidence] = []
    for _, group in gains.join(had.select("cell"), on="cell", how="semi").group_by("cell", maintain_order=True):
        left = (group["highspeed"] - KEPT * group["sack"]).to_numpy()
        where = ", ".join(f"{name} {group[name][0]}" for name in FACTORS)
        evidence.append(held(lambda level, left=left: stats.mean_interval(left, level), above=0.0, unit="bit/s", cell=where))
    return Section(
        "What is left of the published gain",
        [f"Summed over experiments, the published gain over NewReno (SACK's) is {total:,.0f} bit/s; that of HighSpeed TCP is {total_high:,.0f} bit/s: its "
         f"window adds {total_high - total:+,.0f} bit/s to what SACK alone gains. At least {KEPT:.0%} of the published gain is left in {kept} of the "
         f"{had.height} experiments that had one. These sums are the fastest links': in logarithms all experiments count alike."],
        claims=[Claimed(f"HighSpeed TCP keeps at least {KEPT:.0%} of SACK's gain in every experiment in which SACK has one", evidence)],
    )  # fmt: skip


def _nothing_acknowledged(flows: pl.DataFrame, runs: pl.DataFrame) -> Section:
    """How logarithms are taken where flows carried nothing."""
    silent = flows.group_by("cell", *FACTORS, "arm", maintain_order=True).agg(
        flows=pl.len(), without_a_packet=(pl.col("acked_packets") == 0).sum()
    ).filter(pl.col("without_a_packet") > 0).sort("cell", "arm")  # fmt: skip
    none = runs.filter(pl.col("bps") <= 0).select("cell", "arm").unique(maintain_order=True)
    named = ", ".join(f"{cell} ({arm})" for cell, arm in none.rows())
    whole = f"In these experiments a run carried nothing, has no logarithm, and counts in no mean of logarithms: {named}." if named else (
        "No run of any experiment carried nothing, so every run has its logarithm.")  # fmt: skip
    return Section(
        "Flows that carried nothing",
        [f"In {silent['cell'].n_unique()} of {runs['cell'].n_unique()} experiments some flow had no packet acknowledged by the end. As in the publication "
         f"its throughput is 0, in the sum over flows, whose logarithm is taken, and in Jain's index. {whole}"],
        grids=[Grid("silent", silent, "Flows of all replicates, and those of them without an acknowledged packet.")] if silent.height else [],
    )  # fmt: skip
