"""What the report of the self-similar background study is made of: the runs, which part of the study they belong to, and means of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats, traffic
from sawtooth.metrics import instruments
from sawtooth.report.needs import require
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Vector, hurst

BASE = "vanilla"
ARMS = {"vanilla": "vanilla", "highspeed": "HighSpeed TCP", "scalable": "Scalable TCP"}
WINDOWS = {"second": 1_000_000_000, "tenth": 100_000_000}
WINDOW_WORDS = {"second": "1 s", "tenth": "0.1 s"}
PARTS = ("RTT", "buffers", "H", "variance", "queue")
"""Factors besides the background's rate, in the order in which the study varies them; also names of its variables."""
LINE_RATE = 1e9
# Application bytes of a full segment, and what it is on the link (the study's stack: timestamps).
PAYLOAD = 1448 / 1500
MEGA = 1e6
WINDOW_LIMITED = 0.5
"""Share of a connection's life in which the receiver's window held it back, from which on a cell says nothing about congestion control."""


class Data:
    """What all sections use.

    Attributes:
        runs: one row per run: run, cell, arm, replicate, seed, factors (text and `_value`), instruments (`metrics.instruments`), `relative`
            (buffer against the one that is to this path what the published one is to the published path) and `background_mbps`.
        cells: one row per cell and arm: mean receiver-limited share, and whether that makes it window-limited.
        arms: those that there are, vanilla first.

    """

    def __init__(self, dataset: Dataset) -> None:
        require(dataset, "self-similar", tuple(ARMS), BASE, (*PARTS, "background"))
        self.dataset = dataset
        self.published: dict[str, str] = {name: str(value) for name, value in dataset.study.tree["vars"].items()}
        measured = instruments.per_run(dataset, WINDOWS).drop("flow")
        plan = dataset.runs.drop("id")
        rtt = self._value(dataset, "RTT")
        self.runs = plan.join(measured, on="run").with_columns(
            relative=pl.col("buffers_value") * rtt / pl.col("RTT_value"), background_mbps=pl.col("background_value") / MEGA
        )
        self.arms = [arm for arm in ARMS if arm in set(self.runs["arm"])]
        self.cells = (
            self.runs.group_by("cell", "arm", maintain_order=True)
            .agg(by_receiver=pl.col("by_receiver").mean())
            .with_columns(window_limited=pl.col("by_receiver") > WINDOW_LIMITED)
        )
        self.base = self.where()

    @staticmethod
    def _value(dataset: Dataset, name: str) -> float:
        """Of the published path, in base units."""
        text = str(dataset.study.tree["vars"][name])
        return float(dataset.runs.filter(pl.col(name) == text)[f"{name}_value"].first() or np.nan)  # type: ignore[arg-type]

    def where(self, *free: str, fitted: bool = False) -> pl.DataFrame:
        """Runs as published but for the factors named; `fitted`: with the buffer that fits the path, whatever its length."""
        chosen = [pl.col(name) == self.published[name] for name in PARTS if name not in free and not (fitted and name == "buffers")]
        chosen += [(pl.col("relative") - 1).abs() < 1e-9] if fitted else []
        return self.runs.filter(*chosen)

    def levels(self, frame: pl.DataFrame, name: str) -> list[str]:
        """Of a factor, as texts in the order of their values."""
        return list(dict.fromkeys(frame.sort(f"{name}_value")[name]))

    def departures(self, row: dict[str, Any]) -> Vector:
        """Packets of the background in each period of a run: shape (periods,)."""
        scenario = copy.deepcopy(self.dataset.study.scenario)
        known = scenario.get("vars", {})
        scenario["vars"] = known | {name: row[name] for name in known if name in row and row[name] is not None}
        source = next(flow["source"] for flow in scenario["flows"] if flow.get("transport") == "udp")
        times, _ = traffic.departures(scenario, int(row["seed"]), "background")
        period = float(str(source["period"]).split()[0]) * 1e-6
        return traffic.counts(times, period, float(row["time_value"]))


def left_over(background_mbps: pl.Expr) -> pl.Expr:
    """Application Mbit/s that the background leaves of the link."""
    return (LINE_RATE / MEGA - background_mbps) * PAYLOAD


def mean(frame: pl.DataFrame, column: str, divisor: float = 1.0) -> Interval:
    """Over replicates."""
    return stats.mean_interval(vector(frame, column) / divisor)


def vector(frame: pl.DataFrame, column: str) -> Vector:
    """What is not null of a column."""
    return stats.vector(frame[column].drop_nulls().cast(pl.Float64).to_numpy())


def against(frame: pl.DataFrame, arm: str, column: str) -> tuple[Vector, Vector]:
    """Of cells and replicates that both have: the means over cells of vanilla and of `arm`, one value per replicate, shapes (replicates,)."""
    mine, theirs = (frame.filter(arm=each).select("cell", "replicate", pl.col(column).cast(pl.Float64)) for each in (arm, BASE))
    both = mine.join(theirs, on=["cell", "replicate"], suffix="_base").drop_nulls()
    # A replicate of which cells are missing is not comparable.
    whole = both.group_by("replicate", maintain_order=True).agg(pl.len(), pl.col(column).mean(), pl.col(f"{column}_base").mean())
    whole = whole.filter(pl.col("len") == pl.col("len").max()).sort("replicate")
    return vector(whole, f"{column}_base"), vector(whole, column)


def hurst_table(data: Data, rows: Sequence[dict[str, Any]]) -> tuple[pl.DataFrame, dict[tuple[str, str, str], list[Vector]]]:
    """What three estimators find in the background of these runs.

    Returns:
        One row per run and estimator: variance, H, background, replicate, method, hurst, error; and the counts by (variance, H, background).

    """
    found: list[dict[str, object]] = []
    counts: dict[tuple[str, str, str], list[Vector]] = {}
    for row in rows:
        series = data.departures(row)
        counts.setdefault((row["variance"], row["H"], row["background"]), []).append(series)
        if series.size < 8 * hurst.FEWEST or float(np.ptp(series)) == 0.0:
            continue
        of: dict[str, object] = {
            name: row[name] for name in ("variance", "variance_value", "H", "H_value", "background", "background_mbps", "replicate")
        }
        of |= {"mean_packets": float(series.mean()), "variance_packets": float(series.var())}
        found += [{**of, "method": each.method, "hurst": each.hurst, "error": each.error} for each in hurst.estimates(series)]
    return pl.DataFrame(found), counts
