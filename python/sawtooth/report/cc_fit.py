"""Which queue, loss and cache setting explains the published testbed table best, and how badly even that one does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.metrics import fetch
from sawtooth.plots import dots, heatmap
from sawtooth.plots.heatmap import Matrix, Strip
from sawtooth.report import cc_findings as findings
from sawtooth.report import testbed
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.testbed import PUBLISHED
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval

FACTORS = {"delay_ms": "delay", "server_cc": "cc", "queue_packets": "queue", "loss": "loss"}
SETTING = ["arm", "queue_packets", "loss"]
CELL = ["delay_ms", "server_cc"]


@dataclass(frozen=True)
class Reference:
    """What a residual is to be held against, root mean squares of log ratios over the same cells.

    Attributes:
        one_time: of a single time for all cells. per_delay: of one time per delay, alike for all algorithms.
        noise: of the published means themselves, from their standard deviations.

    """

    one_time: float
    per_delay: float
    noise: float


def build(dataset: Dataset) -> Report:
    """Ranks the settings by their residual against the published means."""
    planned = fetch.cells(dataset, FACTORS)
    fetches = fetch.per_fetch(dataset, FACTORS)
    target = published_means()
    logs = log_ratios(fetches, target)
    if logs.is_empty():
        raise DatasetError(
            f"{dataset.directory} holds no completed fetch of a published cell",
            "delays of 5, 10 and 20 ms and eleven algorithms are published",
        )
    wanted = planned.join(target, on=CELL, how="semi").select(CELL).unique().height
    ranked = rank_settings(logs, wanted)
    reference = references(target.join(logs.select(CELL).unique(), on=CELL, how="semi"))
    complete = ranked.filter("complete")
    arms = [arm for arm in dict.fromkeys(planned["arm"]) if arm in set(complete["arm"])]
    best = {testbed.label(arm): complete.filter(pl.col("arm") == arm).row(0, named=True) for arm in arms}
    held_out = cross_check(logs.join(complete.select(SETTING), on=SETTING, how="semi"))
    sections = [
        _best_section(complete, best, reference, held_out, wanted),
        _surface_section(ranked),
        _at_best_section(logs, fetches, target, best),
        Section(
            "All settings", [_columns_words()], grids=[Grid("settings", ranked, "Every setting, best first; incomplete ones last", _DIGITS)]
        ),
        testbed.missing_section(dataset, planned, fetches, [*SETTING, *CELL]),
    ]
    summary = _summary(complete, best, reference, held_out)
    return Report(dataset, [section for section in sections if section is not None], summary)


# --- residuals ----------------------------------------------------------------------------------------------------------


def published_means() -> pl.DataFrame:
    """Per delay and server: geometric mean of the published means over clients, whose algorithm does not matter."""
    return (
        testbed.scenario_b()
        .with_columns(
            error=pl.col("stdev_s").fill_null(pl.col("cov").median() * pl.col("mean_s")) / testbed.FETCHES**0.5 / pl.col("mean_s")
        )
        .group_by(CELL, maintain_order=True)
        .agg(published_s=pl.col("mean_s").log().mean().exp(), error=(pl.col("error") ** 2).mean().sqrt() / pl.len().sqrt())
    )


def log_ratios(fetches: pl.DataFrame, target: pl.DataFrame) -> pl.DataFrame:
    """One row per setting and published cell with a completed fetch: mean_s, published_s, log (of ours over published)."""
    return (
        fetch.statistics(fetches, [*SETTING, *CELL])
        .filter(pl.col("n") > 0)
        .join(target, on=CELL)
        .select(*SETTING, *CELL, "n", "unfinished", "mean_s", "published_s", log=(pl.col("mean_s") / pl.col("published_s")).log())
        .sort(*SETTING, *CELL)
    )


def rank_settings(logs: pl.DataFrame, wanted: int) -> pl.DataFrame:
    """One row per setting, smallest residual first; those that lack one of the `wanted` cells come last, they do not compete.

    Columns: cells, complete, residual (root mean square of log), factor (its exponential), bias (geometric mean ratio), shape
    (residual once the bias is taken out), spearman (of the algorithms' geometric means over delays), residual_N_ms per delay.
    """
    rows: list[dict[str, object]] = []
    delays = sorted(logs["delay_ms"].unique())
    for key, group in logs.group_by(SETTING, maintain_order=True):
        log = group["log"].to_numpy()
        residual = _rms(log)
        rows.append({
            **dict(zip(SETTING, key, strict=True)), "cells": group.height, "complete": group.height == wanted, "residual": residual,
            "factor": float(np.exp(residual)), "bias": float(np.exp(log.mean())), "shape": float(log.std()), "spearman": _spearman(group),
            **{f"residual_{delay:g}_ms": _at_delay(group, delay) for delay in delays},
            "unfinished": int(group["unfinished"].sum()),
        })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None).sort("complete", "residual", descending=[True, False], maintain_order=True)


def _rms(log: stats.Vector) -> float:
    return float(np.sqrt((log**2).mean()))


def _at_delay(group: pl.DataFrame, delay: float) -> float | None:
    part = group.filter(pl.col("delay_ms") == delay)
    return None if part.is_empty() else _rms(part["log"].to_numpy())


def _spearman(group: pl.DataFrame) -> float | None:
    """Rank correlation of the algorithms' times with the published ones, over those that have every delay."""
    every = group["delay_ms"].n_unique()
    means = (
        group.filter(pl.len().over("server_cc") == every)
        .group_by("server_cc", maintain_order=True)
        .agg(pl.col("mean_s", "published_s").log().mean().exp().round(findings.RANK_DIGITS))
    )
    x, y = means["mean_s"].to_numpy(), means["published_s"].to_numpy()
    return stats.spearman(x, y) if len(x) >= findings.FEWEST_TO_RANK and np.ptp(x) > 0 and np.ptp(y) > 0 else None


def references(target: pl.DataFrame) -> Reference:
    """What models that know less than a simulation of TCP leave over."""
    log = pl.col("published_s").log()
    found = target.select(
        one=((log - log.mean()) ** 2).mean().sqrt(),
        per_delay=((log - log.mean().over("delay_ms")) ** 2).mean().sqrt(),
        noise=(pl.col("error") ** 2).mean().sqrt(),
    ).row(0)
    return Reference(*(float(value) for value in found))


def cross_check(logs: pl.DataFrame) -> pl.DataFrame:
    """For every delay and choice of arms: the setting that is best at the other delays, and its residual at this one.

    Columns: arm (or `any`), delay_ms, setting (arm, queue_packets, loss), residual_others, residual_left_out. Empty with one delay.
    """
    rows: list[dict[str, object]] = []
    delays = sorted(logs["delay_ms"].unique())
    for arm in [*dict.fromkeys(logs["arm"]), "any"]:
        own = logs if arm == "any" else logs.filter(pl.col("arm") == arm)
        for delay in delays if len(delays) > 1 else []:
            square = (pl.col("log") ** 2).mean().sqrt()
            others = (
                own.filter(pl.col("delay_ms") != delay)
                .group_by(SETTING, maintain_order=True)
                .agg(residual=square)
                .sort("residual", *SETTING)
            )
            chosen = others.row(0, named=True)
            left_out = own.filter(pl.col("delay_ms") == delay, *(pl.col(name) == chosen[name] for name in SETTING))
            rows.append({
                "choice": arm, "delay_ms": delay, **{name: chosen[name] for name in SETTING}, "residual_others": chosen["residual"],
                "residual_left_out": _rms(left_out["log"].to_numpy()),
            })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def held_out_residual(checked: pl.DataFrame, choice: str) -> float | None:
    """Root mean square of the residuals at the delays left out (all delays have the same cells)."""
    if checked.is_empty():
        return None
    own = checked.filter(choice=choice)["residual_left_out"].to_numpy()
    return _rms(own)


# --- sections -----------------------------------------------------------------------------------------------------------

_DIGITS = {"residual": 3, "factor": 2, "bias": 2, "shape": 3, "spearman": 2, "residual_others": 3, "residual_left_out": 3,
           **{f"residual_{delay}_ms": 3 for delay in (5, 10, 20)}}  # fmt: skip


def _name(row: dict[str, object]) -> str:
    return f"{testbed.label(str(row['arm']))}, queue {row['queue_packets']:g} packets, loss {row['loss']:g}"


def _words(row: dict[str, object]) -> str:
    rho = "" if row["spearman"] is None else f", Spearman's rho of the ranking {row['spearman']:.2f}"
    return (
        f"{_name(row)}: residual {row['residual']:.3f}, a typical factor of {row['factor']:.2f}; bias {row['bias']:.2f}; {row['shape']:.3f} with the bias "
        f"taken out{rho}"
    )


def _judgement(residual: float, reference: Reference) -> str:
    """How good a residual is, against models that know nothing of TCP and against the published noise."""
    if residual >= reference.one_time:
        return "bad: a single time for all cells fits better"
    if residual >= reference.per_delay:
        return "poor: one time per delay, the same for every algorithm, fits better"
    if residual > 3 * reference.noise:
        return "partial: better than one time per delay, but far outside the noise of the published means"
    return "good: near the noise of the published means"


def _summary(complete: pl.DataFrame, best: dict[str, dict[str, object]], reference: Reference, held_out: pl.DataFrame) -> list[str]:
    if complete.is_empty():
        return ["no setting has every cell: nothing can be ranked"]
    first = complete.row(0, named=True)
    residual = float(first["residual"])
    made = [f"best of {complete.height} settings: {_words(first)}", f"this fit is {_judgement(residual, reference)}"]
    left_out = held_out_residual(held_out, "any")
    if left_out is not None:
        made.append(
            f"with every delay left out in turn, the setting chosen by the others leaves {left_out:.3f} there (in sample {residual:.3f})"
        )
    made += [f"best with {label}: {_words(row)}" for label, row in best.items() if row != first]
    return made


def _best_section(
    complete: pl.DataFrame, best: dict[str, dict[str, object]], reference: Reference, held_out: pl.DataFrame, wanted: int
) -> Section:
    title = "The best setting, and how badly it fits"
    if complete.is_empty():
        return Section(title, [f"No setting has all {wanted} cells (delay and algorithm), so none can be called best."])
    first = complete.row(0, named=True)
    verdicts: list[Verdict] = []
    for row in best.values():
        residual = float(str(row["residual"]))
        left_out = held_out_residual(held_out, str(row["arm"]))
        check = "" if left_out is None else f"; {left_out:.3f} at delays left out"
        for claim, limit in (
            ("explains the table better than one time per delay, alike for all algorithms", reference.per_delay),
            ("explains the table within three times the noise of its means", 3 * reference.noise),
        ):
            inside = residual < limit and (left_out is None or left_out < limit)
            outside = residual >= limit and (left_out is None or left_out >= limit)
            answer = "yes" if inside else "no" if outside else "cannot distinguish"
            verdicts.append(Verdict(f"{_name(row)} {claim}", answer, f"residual {residual:.3f}{check}, against {limit:.3f}"))
    near = complete.filter(pl.col("residual") <= 1.05 * float(first["residual"])).height
    paragraphs = [
        f"Overall best of {complete.height} settings: {_words(first)}. This fit is {_judgement(float(first['residual']), reference)}. {near} of them, this "
        "one included, lie within 5 % of its residual.",
        "The residual is the root mean square of the natural logarithm of our mean over the published one, over all delays and algorithms; the "
        "published means are averaged over clients. To be held against: a single time for all cells leaves "
        f"{reference.one_time:.3f}, one time per delay {reference.per_delay:.3f}; the published means themselves are uncertain by {reference.noise:.3f}.",
    ]
    grids = [Grid("best", pl.DataFrame(list(best.values()), infer_schema_length=None), "Best setting of each arm", _DIGITS)]
    if not held_out.is_empty():
        left = "; ".join(
            f"{testbed.label(arm) if arm != 'any' else 'any arm'} {held_out_residual(held_out, arm):.3f}"
            for arm in dict.fromkeys(held_out["choice"])
        )
        paragraphs.append(
            "Against overfitting: each delay is left out in turn, the best setting is chosen by the others, and its residual is taken at the "
            f"delay left out. Root mean square of these: {left}."
        )
        grids.append(Grid("cross_check", held_out, "Leaving out one delay at a time", _DIGITS))
    return Section(title, paragraphs, verdicts=verdicts, grids=grids)


def _surface_section(ranked: pl.DataFrame) -> Section:
    queues, losses = sorted(ranked["queue_packets"].unique()), sorted(ranked["loss"].unique())
    panels: list[Matrix | None] = []
    for arm in dict.fromkeys(ranked.sort("arm")["arm"]):
        values = np.full((len(queues), len(losses)), np.nan)
        for row in ranked.filter(pl.col("arm") == arm, "complete").to_dicts():
            values[queues.index(row["queue_packets"]), losses.index(row["loss"])] = row["factor"]
        panels.append(Matrix(testbed.label(arm), values))
    figure = heatmap.matrices(
        [Strip(panels, "time", "typical factor")], [f"{queue:g}" for queue in queues], [f"{loss:g}" for loss in losses],
        "queue (packets)", "loss probability",
    )  # fmt: skip
    return Section(
        "Residual by queue and loss",
        plots=[Plot("a_residual", figure, "How far a setting's times are typically from the published ones: the exponential of the residual, 1 were "
                    "a perfect fit. A dash is a setting that lacks a cell.")],
    )  # fmt: skip


def _at_best_section(logs: pl.DataFrame, fetches: pl.DataFrame, target: pl.DataFrame, best: dict[str, dict[str, object]]) -> Section | None:
    if not best:
        return None
    servers = (
        target.group_by("server_cc", maintain_order=True).agg(pl.col("published_s").log().mean()).sort("published_s")["server_cc"].to_list()
    )
    servers = [server for server in servers if server in set(logs["server_cc"])]
    delays = sorted(logs["delay_ms"].unique())
    published = {
        (row["delay_ms"], row["server_cc"]): Interval(
            row["published_s"],
            row["published_s"] * np.exp(-1.96 * row["error"]),
            row["published_s"] * np.exp(1.96 * row["error"]),
            testbed.FETCHES,
            "published",
        )
        for row in target.to_dicts()
    }
    sources = {PUBLISHED: published}
    for label, row in best.items():
        own = fetches.filter(*(pl.col(name) == row[name] for name in SETTING))
        means = fetch.resampled(own, CELL)
        sources[f"{label}: {row['queue_packets']:g} packets, loss {row['loss']:g}"] = {
            tuple(key): interval for key, interval in zip(means.keys.rows(), means.intervals(), strict=True)
        }
    panels = {
        f"{delay:g} ms": {name: [own.get((delay, server)) for server in servers] for name, own in sources.items()} for delay in delays
    }
    chosen = pl.concat([
        logs.filter(*(pl.col(name) == row[name] for name in SETTING)).with_columns(ratio=pl.col("log").exp()) for row in best.values()
    ])  # fmt: skip
    return Section(
        "Published and ours at the best settings",
        plots=[Plot("b_at_best", dots.multiples(panels, servers, "server's algorithm", "download time (s)", across=3),
                    "Mean download time by algorithm at each arm's best setting beside the published one; 95 % intervals; one panel per one-way delay.")],
        grids=[Grid("at_best", chosen.sort(*CELL, "arm"), "Every cell at each arm's best setting",
                    {"mean_s": 3, "published_s": 3, "log": 3, "ratio": 2})],
    )  # fmt: skip


def _columns_words() -> str:
    return (
        "residual: root mean square of the log ratio; factor: its exponential; bias: geometric mean of the ratio, ours over published; shape: "
        "residual with the bias taken out; spearman: of the algorithms' ranking; residual_N_ms: at one delay."
    )
