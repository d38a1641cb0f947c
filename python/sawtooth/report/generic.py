"""The report of any study: throughput and fairness of each cell and arm, and what the arms differ in."""

from __future__ import annotations

import math

import polars as pl

from sawtooth import stats
from sawtooth.metrics import throughput
from sawtooth.plots import curves
from sawtooth.presentation import OWN_FIGURES
from sawtooth.report import answers
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.results.dataset import Dataset


def build(dataset: Dataset) -> Report:
    """Means with intervals per cell and arm; with several arms, paired differences to the first."""
    flows = throughput.per_flow(dataset)
    if flows.is_empty():
        return _of_arrivals(dataset)
    runs = throughput.per_run(flows)
    factors = factor_table(dataset)
    cells = factors.join(throughput.per_cell(runs), on="cell").sort("cell")
    arms = list(dict.fromkeys(str(arm) for arm in dataset.runs["arm"]))
    answer = answers.section(dataset)
    sections = [
        *([answer] if answer else []),
        Section(
            "Throughput and fairness",
            ["Throughput is the sum over flows of acknowledged bits per second since each flow's start; Jain's index is computed per "
             "run. Means over replicates with 95 % t intervals."],
            grids=[Grid("cells", cells, "Every cell and arm", {"sum_bps": 1, "jain_run_mean": 4})],
            plots=_plot(runs, factors, arms),
        )
    ]  # fmt: skip
    summary = [
        *(answers.summary(answer) if answer else []),
        f"{cells.height} combinations of cell and arm; throughput from {cells['sum_bps'].min():,.0f} to {cells['sum_bps'].max():,.0f} bit/s",
    ]
    if len(arms) > 1:
        gains = factors.join(throughput.gains(runs, arms[0]), on="cell").sort("arm", "cell")
        sections.append(Section(
            f"Differences to {arms[0]}",
            ["Paired by replicate (all arms share seeds and draws). p_holm is the paired t test's p-value, adjusted by Holm for the "
             "number of cells. An interval that holds 0 means: these data cannot distinguish the arms."],
            grids=[Grid("differences", gains, f"Every cell, arm minus {arms[0]}", {"gain_bps": 1, "jain_gain": 4})],
        ))  # fmt: skip
        for arm in arms[1:]:
            clear = gains.filter((pl.col("arm") == arm) & (pl.col("p_holm") < 0.05))
            more = clear.filter(pl.col("gain_bps") > 0).height
            total = gains.filter(pl.col("arm") == arm).height
            summary.append(
                f"{arm} against {arms[0]}: more in {more}, less in {clear.height - more} of {total} cells; the rest cannot be distinguished"
            )
    return Report(dataset, sections, summary)


def _of_arrivals(dataset: Dataset) -> Report:
    """Of a study all of whose flows arrive and leave: how long they took, by their sizes."""
    runs = dataset.runs.lazy().select("run", "cell", "arm")
    times = [
        (pl.col(f"completion_{what}_ns").filter(pl.col("completed") > 0).mean() / 1e6).alias(f"{what}_ms")
        for what in ("mean", "p50", "p99")
    ]
    bins = (
        dataset.table("completions")
        .join(runs, on="run")
        .group_by("cell", "arm", "flow", "size_from_bytes", "size_below_bytes", maintain_order=True)
    )
    found = bins.agg(pl.col("started", "completed").sum(), *times).collect()
    found = factor_table(dataset).join(found, on="cell").sort("cell", "arm", "flow", "size_from_bytes")
    text = "Time from arrival to the last byte delivered, of flows by their sizes: means over replicates of each run's mean, median and 99th percentile."
    grid = Grid("completions", found, "Every cell, arm and bin of sizes", {"mean_ms": 1, "p50_ms": 1, "p99_ms": 1})
    started, completed = found["started"].sum(), found["completed"].sum()
    return Report(dataset, [Section("Completion times", [text], grids=[grid])], [f"{started:,} flows arrived, {completed:,} completed"])


def factor_table(dataset: Dataset) -> pl.DataFrame:
    """One row per cell with its factors as text."""
    fixed = {"run", "id", "cell", "arm", "replicate", "seed"}
    names = [name for name in dataset.runs.columns if name not in fixed and not name.endswith("_value") and not name.startswith("draw_")]
    return dataset.runs.select("cell", *names).unique(maintain_order=True)


def _plot(runs: pl.DataFrame, factors: pl.DataFrame, arms: list[str]) -> list[Plot]:
    names = [name for name in factors.columns if name != "cell"]
    if not names or factors.height > 60:
        return []
    # Cases may set several things at a time: then the one that tells them apart is the axis.
    names = next(([name] for name in names if factors[name].n_unique() == factors.height), names)
    if factors.select(names).n_unique() < factors.height or math.prod(factors[name].n_unique() for name in names) > factors.height:
        return []
    last = names[-1]
    levels = list(dict.fromkeys(str(level) for level in factors[last]))
    panels: dict[str, dict[str, list[stats.Interval]]] = {}
    for key, group in factors.group_by(names[:-1], maintain_order=True) if len(names) > 1 else [((), factors)]:
        title = ", ".join(f"{name} {value}" for name, value in zip(names[:-1], key, strict=True))
        by_level = {str(row[last]): row["cell"] for row in group.to_dicts()}
        panels[title] = {
            arm or "throughput": [
                stats.mean_interval((runs.filter((pl.col("cell") == by_level[level]) & (pl.col("arm") == arm))["sum_bps"] / 1e6).to_numpy())
                for level in levels
            ]
            for arm in arms
        }
    if len(panels) > 6 or len(levels) > 12:
        return []
    finite = [x for series in panels.values() for curve in series.values() for i in curve for x in (i.estimate, i.high) if x < float("inf")]
    made = curves.panels(panels, levels, last, "throughput (Mbit/s)", (0.0, 1.05 * max([*finite, 1e-9])))
    return [Plot(OWN_FIGURES["generic"], made, "Sum of throughputs over flows; mean over replicates with 95 % t interval.")]
