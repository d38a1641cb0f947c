"""Which setting explains the published times best, and how badly even that one does.

A setting is an arm with a queue and a loss. Its residual is the root mean square, over all delays and algorithms,
of the log of our mean over the published one. Against overfitting the setting is also chosen without a delay, or without an algorithm, and held against it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sawtooth import Dataset, stats
from sawtooth.plots import dots, heatmap
from sawtooth.report import Claimed, Evidence, Grid, Plot, Section

CELL = ["delay", "cc"]
DIGITS: dict[str, int] = {
    **dict.fromkeys(("residual", "shape", "residual_others", "residual_left_out"), 3),
    "factor": 2,
    "bias": 2,
    "spearman": 2,
}
RMS = (pl.col("log") ** 2).mean().sqrt()


def sections(dataset: Dataset) -> list[Section]:
    """Shown after the figures."""
    setting = ["arm", "queue", "loss"]
    times = dataset.measure("completion_ns", flows="each").filter(pl.col("low").is_not_null())
    published, error = (
        dataset.measure(f"references.b.{name}").select("run", pl.col("value").alias(name)) for name in ("mean", "error_share")
    )
    logs = (
        times.join(published, on="run").join(error, on="run").sort("cell", "arm", "replicate", maintain_order=True)
        .group_by([*setting, *CELL], maintain_order=True)
        .agg(ours_s=pl.col("value").mean() / 1e9, unfinished=pl.col("value").null_count(), published_s=pl.col("mean").first() / 1e9, error=pl.col("error_share").first())
        .with_columns(log=(pl.col("ours_s") / pl.col("published_s")).log())
    )  # fmt: skip
    every = dataset.runs.select(CELL).unique().height
    complete = logs.filter(pl.col("log").is_not_null().sum().over(setting) == every)
    if complete.is_empty():
        return [Section("The best setting", [f"No setting has all {every} cells of delay and algorithm, so none can be called best."])]
    ranked = _ranked(complete, setting)
    checked = pl.concat(_left_out(complete, setting, leave) for leave in CELL)
    queues, losses = (dataset.runs.sort("cell")[name].unique(maintain_order=True).to_list() for name in ("queue", "loss"))
    return [_best(complete, ranked, checked, setting), _surface(ranked, queues, losses), _at_best(complete, ranked, setting)]


def _ranked(logs: pl.DataFrame, setting: list[str]) -> pl.DataFrame:
    """Every setting, the smallest residual first."""
    log = pl.col("log")
    by_cc = logs.group_by([*setting, "cc"], maintain_order=True).agg(pl.col("ours_s", "published_s").log().mean())
    rho = by_cc.group_by(setting, maintain_order=True).agg(spearman=pl.corr("ours_s", "published_s", method="spearman"))
    made = logs.group_by(setting, maintain_order=True).agg(
        cells=pl.len(), residual=RMS, factor=RMS.exp(), bias=log.mean().exp(), shape=log.std(ddof=0), unfinished=pl.col("unfinished").sum()
    )
    return made.join(rho, on=setting, maintain_order="left").sort("residual", *setting)


def _left_out(logs: pl.DataFrame, setting: list[str], leave: str) -> pl.DataFrame:
    """For each level left out, by arm and of all arms: the setting that is best at the others, its residual there and at the one left out."""
    rows: list[dict[str, object]] = []
    levels = logs[leave].unique(maintain_order=True).to_list()
    for choice in [*logs["arm"].unique(maintain_order=True), "any"]:
        own = logs if choice == "any" else logs.filter(arm=choice)
        for level in levels if len(levels) > 1 else []:
            others = own.filter(pl.col(leave) != level).group_by(setting, maintain_order=True).agg(residual_others=RMS)
            chosen = others.sort("residual_others", *setting).head(1)
            there = own.filter(pl.col(leave) == level).join(chosen, on=setting, how="semi")
            left = {"choice": choice, "left_out": leave, "level": level, "residual_left_out": there.select(RMS).item()}
            rows.append({**left, **chosen.row(0, named=True)})
    return pl.DataFrame(rows, infer_schema_length=None)


def _judged(claim: str, limit: float, residuals: dict[str, float]) -> Claimed:
    """Below a limit both in sample and held out, or beyond it in both; chance has no part in it."""
    words = ", ".join(f"{name} {value:.3f}" for name, value in residuals.items()) + f", against {limit:.3f}"
    inside = [value < limit for value in residuals.values()]
    return Claimed(claim, [Evidence("", lambda _: all(inside), lambda _: not any(inside), words, chance=False)])


def _best(logs: pl.DataFrame, ranked: pl.DataFrame, checked: pl.DataFrame, setting: list[str]) -> Section:
    log = pl.col("published_s").log()
    target = logs.select(*CELL, "published_s", "error").unique(maintain_order=True)
    one, per_delay, noise = target.select(
        one=((log - log.mean()) ** 2).mean().sqrt(), per_delay=((log - log.mean().over("delay")) ** 2).mean().sqrt(), noise=(pl.col("error") ** 2).mean().sqrt()
    ).row(0)  # fmt: skip
    algorithms = target["cc"].n_unique()
    claims: list[Claimed] = []
    words: list[str] = []
    for arm in ["any", *logs["arm"].unique(maintain_order=True)]:
        best = (ranked if arm == "any" else ranked.filter(arm=arm)).row(0, named=True)
        said = ", ".join(f"{name} {best[name]}" for name in (setting if arm == "any" else setting[1:]))
        residuals = {"residual": best["residual"]}
        for leave, name in (("delay", "at delays left out"), ("cc", "at algorithms left out")):
            own = checked.filter(choice=arm, left_out=leave)["residual_left_out"].to_numpy() if checked.width else np.empty(0)
            residuals |= {name: float(np.sqrt((own**2).mean()))} if own.size else {}
        whose = "The best setting of all" if arm == "any" else f"The best setting of {arm}"
        fair = {name: value for name, value in residuals.items() if "algorithms" not in name}
        claims.append(_judged(f"{whose} explains the table better than one time per delay, alike for all algorithms", per_delay, fair))
        if arm == "any":
            claims.append(_judged(f"{whose} explains the table within three times the noise of its means", 3 * noise, fair))
        told = ", ".join(f"{value:.3f} {name}" for name, value in residuals.items() if name != "residual")
        fits = f"residual {best['residual']:.3f}, a typical factor of {best['factor']:.2f}, bias {best['bias']:.2f}"
        words.append(f"{whose}: {said}: {fits}; {told}.")
    words.append(
        f"To be held against: a single time for all cells leaves {one:.3f}; one time per delay {per_delay:.3f}, which has a number fitted to each delay, and "
        f"{per_delay * algorithms / (algorithms - 1):.3f} at algorithms left out; the published means themselves are uncertain by {noise:.3f}."
    )  # fmt: skip
    grids = [Grid("settings", ranked, "Every setting, best first. shape: the residual with the bias taken out.", DIGITS)]
    grids += [Grid("cross_check", checked, "Leaving out one delay, or one algorithm, at a time.", DIGITS)] if checked.width else []
    return Section("The best setting, and how badly it fits", words, claims=claims, grids=grids)


def _surface(ranked: pl.DataFrame, queues: list[str], losses: list[str]) -> Section:
    panels: list[heatmap.Matrix | None] = []
    for arm in sorted(ranked["arm"].unique()):
        values = np.full((len(queues), len(losses)), np.nan)
        for row in ranked.filter(arm=arm).to_dicts():
            values[queues.index(row["queue"]), losses.index(row["loss"])] = row["factor"]
        panels.append(heatmap.Matrix(arm, values))
    made = heatmap.matrices([heatmap.Strip(panels, "time", "typical factor")], queues, losses, "queue", "loss")
    words = "How far a setting's times are typically from the published: exponential of the residual."
    return Section("Residual by setting", plots=[Plot("residual", made, words)])


def _at_best(logs: pl.DataFrame, ranked: pl.DataFrame, setting: list[str]) -> Section:
    """Every cell at each arm's best setting, beside the published."""
    best = ranked.group_by("arm", maintain_order=True).first().select(setting)
    there = logs.join(best, on=setting, how="semi").with_columns(ratio=pl.col("log").exp())
    order = logs.group_by("cc", maintain_order=True).agg(pl.col("published_s").mean()).sort("published_s")["cc"].to_list()
    panels: dict[str, dict[str, list[stats.Interval | None]]] = {}
    for (delay,), part in there.group_by(["delay"], maintain_order=True):
        own = panels.setdefault(str(delay), {"published": [], **{arm: [] for arm in best["arm"]}})
        for name in order:
            row = part.filter(cc=name).row(0, named=True)
            value, half = row["published_s"], 1.96 * row["published_s"] * row["error"]
            own["published"].append(stats.Interval(value, value - half, value + half, 40, "published"))
            for arm in best["arm"]:
                ours = part.filter(cc=name, arm=arm)["ours_s"].to_list()
                own[arm].append(stats.unbounded(ours[0], 1, "mean") if ours else None)
    figure = dots.multiples(panels, order, "server's algorithm", "download time (s)", across=3)
    grid = Grid("at_best", there, "Every cell at each arm's best setting.", {"ours_s": 3, "published_s": 3, "log": 3, "ratio": 2})
    return Section(
        "Published and ours at the best settings",
        plots=[Plot("at_best", figure, "Mean download time at each arm's best setting.")],
        grids=[grid],
    )
