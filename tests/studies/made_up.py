"""Results of the Tahoe/Reno study that nobody ran: with the goodputs that its publication claims, with the contrary, or with ns-3.24's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

World = Literal["claimed", "contrary", "ns-3.24"]
Row = dict[str, Any]
# Of ten flows, with a standard deviation of 1: the first to start gets the least, or the most.
SPREAD = (np.arange(10.0) - 4.5) / np.arange(10.0).std(ddof=1)


class MadeUp(Dataset):
    """A study's results with other goodputs, in replicates that differ by a thousandth."""

    def __init__(self, directory: Path, world: World) -> None:
        super().__init__(directory)
        made: Callable[[Row], list[float]] = {"claimed": _claimed, "contrary": _contrary, "ns-3.24": _published()}[world]
        names = ("run", "flows", "queue", "window", "segment", "arm")
        noise = 1 + 1e-3 * np.random.default_rng(1).standard_normal((self.runs.height, 10))
        rows = [
            (row[0], rank, 8 * each * noise[at, rank - 1])
            for at, row in enumerate(self.runs.select(names).iter_rows())
            for rank, each in enumerate(made({name: _number(value) for name, value in zip(names, row, strict=True)}), 1)
        ]
        schema = {"run": self.runs.schema["run"], "rank": pl.UInt32, "made": pl.Float64}
        self.made = pl.DataFrame(rows, schema=schema, orient="row")

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        found = super().table(name, factors=factors)
        if name != "flows":
            return found
        ranked = found.with_columns(rank=pl.col("start_ns").rank("ordinal").over("run").cast(pl.UInt32))
        joined = ranked.join(self.made.lazy(), on=["run", "rank"], how="left", maintain_order="left")
        return joined.with_columns(goodput_bps=pl.col("made")).drop("rank", "made")


def _number(value: Any) -> Any:
    text = str(value).removesuffix(" B")
    return int(text) if text.isdigit() else value


def _flows(row: Row, mean: float, deviation: float, *, first: int) -> list[float]:
    """Bytes per second of each flow in the order of their start."""
    return [mean] if row["flows"] == 1 else list(mean / 10 + first * deviation * SPREAD)


def _claimed(row: Row) -> list[float]:
    window, queue, segment, arm = (row[name] for name in ("window", "queue", "segment", "arm"))
    large = window > 8000
    mean = {2000: 40e3, 8000: 60e3}.get(window, 150e3)
    mean *= ({128: 0.6, 256: 0.9, 512: 1.0} if large else {128: 1.2, 256: 1.1, 512: 1.0})[segment]
    if (window, queue) == (64000, 64000):
        mean *= {128: 1.0, 256: 0.9, 512: 1.1}[segment]
    mean *= 1.01 if (arm == "reno") == (window <= queue) else 0.99
    least = window == 2000 and queue >= 32000
    deviation = 10.0 if least else {128: 1600.0, 256: 2400.0, 512: 3200.0}[segment] * (0.25 if arm == "reno" else 1)
    return _flows(row, mean, deviation, first=1)


def _contrary(row: Row) -> list[float]:
    window, queue, segment, arm = (row[name] for name in ("window", "queue", "segment", "arm"))
    mean = {2000: 600e3, 8000: 500e3}.get(window, 300e3)
    mean *= ({128: 1.2, 256: 1.1, 512: 1.0} if window > 2000 else {128: 1.0, 256: 1.1, 512: 1.2})[segment]
    if window == 8000:
        mean *= {128: 1.0, 256: 1.2, 512: 1.5}[segment] if queue > 2000 else 1.0
    mean *= 1 + 0.1 * (queue == 2000) - 0.1 * (queue == 64000)
    if (window, queue) == (64000, 64000):
        mean *= {128: 1.0, 256: 1.5, 512: 0.8}[segment]
    mean *= 0.98 if (arm == "reno") == (window <= queue) else 1.02
    least = window == 2000 and queue >= 32000
    deviation = (9000.0 if least else 1100.0) * {128: 1.1, 256: 1.05, 512: 1.0}[segment] * (1.2 if arm == "reno" else 1)
    return _flows(row, mean, deviation, first=-1)


def _published() -> Callable[[Row], list[float]]:
    table = pl.read_csv(shipped.table("tahoe-vs-reno", "published.csv"), schema_overrides={"goodput_kbps_per_flow": pl.String})
    cells = {
        (row["arm"], row["n"], row["q_bytes"], row["win_bytes"], row["seg_bytes"]):
            [float(each) * 125 for each in row["goodput_kbps_per_flow"].split(";")]
        for row in table.iter_rows(named=True)
    }  # fmt: skip
    return lambda row: cells[row["arm"], row["flows"], row["queue"], row["window"], row["segment"]]
