"""What the vocabulary cannot say of the self-similar background study: the packets that were sent, duplicate ACKs at equal throughput, tables of all."""

# fmt: off
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import norm

from sawtooth import Dataset, stats, traffic
from sawtooth.plots.variance_time import variance_time
from sawtooth.report import Claimed, Grid, Plot, Section, held
from sawtooth.stats import Interval, Vector, hurst

WARM_UP = "16.6 %"
NEAR = 0.05  # of a Hurst parameter from the one asked for
MEASURES = {
    "mean_bps": ("mean(series.throughput_bps)", "1 s"), "sd_second_bps": ("sd(series.throughput_bps)", "1 s"),
    "cov_second": ("cov(series.throughput_bps)", "1 s"), "sd_tenth_bps": ("sd(series.throughput_bps)", "100 ms"),
    "cov_tenth": ("cov(series.throughput_bps)", "100 ms"), "cwnd_bytes": ("mean(series.cwnd_bytes)", None),
}  # fmt: skip
COUNTERS = {
    "CongSignals": "congestion_signals", "SegsRetrans": "retransmits", "DupAcksIn": "dupacks_in", "FastRetran": "fast_retransmits",
    "Timeouts": "timeouts", "SubsequentTimeouts": "subsequent_timeouts", "SACKsRcvd": "sacks_in", "DSACKDups": "dsacks_in",
    "by_receiver": "limited_rwnd_ns / lifetime_ns",
}  # fmt: skip
PAIRS = (("cwnd_bytes", "mean_bps"), ("DupAcksIn", "SegsRetrans"), ("SegsRetrans", "FastRetran"), ("DupAcksIn", "FastRetran"), ("DupAcksIn", "DSACKDups"))
BASE = {"RTT": "6 ms", "buffers": "1", "H": "0.8", "variance": "1", "queue": "100 packets"}


def sections(dataset: Dataset) -> list[Section]:
    """What the report shows after the study's figures."""
    runs = instruments(dataset)
    base = runs.filter(*(pl.col(name) == level for name, level in BASE.items()))
    means = runs.group_by("cell", *BASE, "background", "arm", maintain_order=True).agg(
        pl.len().alias("replicates"), pl.col(*MEASURES, *COUNTERS).mean(), se_mean_bps=pl.col("mean_bps").std() / pl.len().sqrt()
    )
    every = Section("All combinations", ["Means over replicates. Counters are called as in RFC 4898 and are of whole connections; `sd_` and `cov_` are of throughput in windows of a "
                    "second and of a tenth, after a sixth of the run; `by_receiver` is the share of the connection's life under the receiver's window."],
                    grids=[Grid("cells", means, "Every combination and stack")])  # fmt: skip
    return [sent(dataset), against_each_other(base), every]


def instruments(dataset: Dataset) -> pl.DataFrame:
    """A row per run, a column per measure and counter."""
    asked: dict[str, Callable[[], pl.DataFrame]] = {
        **{name: lambda of=of, width=width: dataset.measure(of, of="tcp", warm_up=WARM_UP, width=width) for name, (of, width) in MEASURES.items()},
        **{name: lambda of=of: dataset.measure(of, of="tcp") for name, of in COUNTERS.items()},
    }  # fmt: skip
    frames = {name: made() for name, made in asked.items()}
    first = next(iter(frames.values()))
    found = first.select("run", "cell", *BASE, "background", "arm", "replicate", "seed").with_columns(background_mbps=pl.col("background").str.split(" ").list.first().cast(pl.Float64))
    for name, frame in frames.items():
        found = found.join(frame.select("run", pl.col("value").alias(name)), on="run", how="left", maintain_order="left")
    return found


def against_each_other(base: pl.DataFrame) -> Section:
    """Rank correlations over runs, and duplicate ACKs at equal throughput."""
    rows: list[dict[str, object]] = []
    claims: list[Claimed] = []
    arms = base["arm"].unique(maintain_order=True).to_list()
    for arm in arms:
        own = base.filter(arm=arm)
        for x, y in PAIRS:
            if min(own[x].n_unique(), own[y].n_unique()) > 1:
                rho, low, high = stats.spearman_interval(own[x].to_numpy().astype(float), own[y].to_numpy().astype(float))
                rows.append({"arm": arm, "x": x, "y": y, "spearman": rho, "low": low, "high": high, "n": own.height})
    for arm in [each for each in arms if each != "vanilla"]:
        more = at_equal_throughput(base, arm)
        evidence = [held(lambda level, more=more: stats.mean_interval(more, level), above=0.0)] if more.size > 1 else []
        none = "" if evidence else "too few rates of background have throughputs in common"
        claims.append(Claimed(f"At equal throughput {arm} gets more duplicate ACKs than vanilla (450 to 750 Mbit/s of background)", evidence, why_none=none))
    grid = Grid("correlations", pl.DataFrame(rows), "Rank correlations over runs, with 95 % bootstrap interval", {"spearman": 2, "low": 2, "high": 2})
    text = "Duplicate ACKs at equal throughput: of each replicate both stacks' counts are interpolated over throughput, at 20 throughputs that both had."
    return Section("The instruments against each other", [text], grids=[grid] if rows else [], claims=claims)


def at_equal_throughput(base: pl.DataFrame, arm: str) -> Vector:
    """How many more duplicate ACKs than vanilla, of each replicate: the mean over throughputs that both had."""
    found: list[float] = []
    chosen = base.filter(pl.col("background_mbps").is_between(450, 750)).sort("mean_bps")
    for _, group in chosen.group_by("replicate", maintain_order=True):
        mine, theirs = (group.filter(arm=each) for each in (arm, "vanilla"))
        if min(mine.height, theirs.height) < 2:
            continue
        rates = [stats.vector(side["mean_bps"].to_list()) for side in (mine, theirs)]
        low, high = max(float(each.min()) for each in rates), min(float(each.max()) for each in rates)
        if low < high:
            at = stats.vector(np.linspace(low, high, 20).tolist())
            a, b = (stats.vector(np.interp(at, x, stats.vector(side["DupAcksIn"].to_list())).tolist()) for x, side in zip(rates, (mine, theirs), strict=True))
            found.append(float((a - b).mean()))
    return np.array(found)


def sent(dataset: Dataset) -> Section:
    """The background's packets, made once more from the seeds of every Hurst parameter and variance: estimates, and variance-time plots."""
    alike = [pl.col(name) == level for name, level in BASE.items() if name not in ("H", "variance")]
    runs = dataset.runs.filter(*alike, pl.col("arm") == "vanilla", pl.col("background") == "600 Mbit/s").sort("variance_value", "H_value", "replicate")
    found: list[dict[str, Any]] = []
    series: dict[str, dict[str, Vector]] = {}
    for row in runs.to_dicts():
        counts = packets(dataset, row)
        if counts.size < 8 * hurst.FEWEST or float(np.ptp(counts)) == 0.0:
            continue
        series.setdefault(row["variance"], {}).setdefault(f"H = {row['H']}", counts)
        of = {"variance": row["variance"], "H": row["H"], "asked": row["H_value"], "mean_packets": float(counts.mean()), "variance_packets": float(counts.var())}
        found += [{**of, "method": each.method, "hurst": each.hurst, "error": each.error} for each in hurst.estimates(counts)]
    text = ("Packets per period as they were sent beside 600 Mbit/s, by three estimators. They are whole, and between none and line rate: rounding adds 1/12 of a packet squared, without "
            "memory, and the limit cuts off the largest bursts. H = 1, as published, is the limit in which every period of a run has as many packets.")  # fmt: skip
    if not found:
        return Section("The background itself", [text, "These runs are too short for an estimate."])
    table = pl.DataFrame(found)
    by = table.group_by("variance", "H", "method", maintain_order=True).agg(
        replicates=pl.len(), measured=pl.col("hurst").mean(), sd=pl.col("hurst").std(), standard_error=(pl.col("error") ** 2).mean().sqrt(),
        mean_packets=pl.col("mean_packets").mean(), variance_packets=pl.col("variance_packets").mean(),
    )  # fmt: skip
    plots: list[Plot] = []
    for variance, own in series.items():
        shown = {label: own[label] for label in dict.fromkeys([next(iter(own)), "H = 0.8", list(own)[-1]]) if label in own}
        fits = {label: hurst.aggregated_variance(counts) for label, counts in shown.items()}
        plots.append(
            Plot(f"variance-time-{variance}", variance_time(shown, fits), f"Variance-time plot of the first replicates' background, with a variance of {variance} packets; lines: the fit.")
        )
    claims: list[Claimed] = []
    for (variance, method), group in table.group_by("variance", "method", maintain_order=True):
        cells = [held(lambda level, own=own: off(own, level), above=-NEAR, below=NEAR, cell=f"H {h}") for (h,), own in group.group_by("H", maintain_order=True)]
        claims.append(Claimed(f"With a variance of {variance} packets the background has the Hurst parameter asked for, within {NEAR:g} ({method})", cells))
    digits = {"measured": 3, "sd": 3, "standard_error": 3, "mean_packets": 2, "variance_packets": 2}
    return Section("The background itself", [text], plots=plots, grids=[Grid("hurst", by, "Measured Hurst parameters: means over replicates", digits)], claims=claims)


def off(group: pl.DataFrame, level: float) -> Interval:
    """Mean estimate less the parameter asked for, with the estimators' own standard errors."""
    values, errors = (group["hurst"] - group["asked"]).to_numpy(), group["error"].to_numpy()
    half, centre = float(norm.ppf(0.5 + level / 2)) * float(np.sqrt((errors**2).sum())) / values.size, float(values.mean())
    return Interval(centre, centre - half, centre + half, int(values.size), f"{level:.0%} interval by the estimator's error")


def packets(dataset: Dataset, row: dict[str, Any]) -> Vector:
    """Packets of the background in each period of a run: shape (periods,)."""
    scenario, known = dict(dataset.study.scenario), dataset.study.scenario.get("vars", {})
    scenario["vars"] = known | {name: row[name] for name in known if row.get(name) is not None}
    times, _ = traffic.departures(scenario, int(row["seed"]), "background")
    return traffic.counts(times, 1476e-6, float(row["time_value"]))
