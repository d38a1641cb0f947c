"""How the computed measures are made: each is a function from a dataset to a frame run, item, value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import polars as pl

from sawtooth.measures import over_time
from sawtooth.measures.computed import TOGETHER
from sawtooth.tables import total_goodput

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset


_GOODPUT = pl.col("goodput_bps")
OF_TCP = pl.col("cc") != ""
"""The rows of flows of TCP: those of UDP stand in the same table, with no congestion control, and acknowledge nothing."""
JAIN = pl.when((_GOODPUT**2).sum() > 0).then(_GOODPUT.sum() ** 2 / (pl.len() * (_GOODPUT**2).sum()))
"""Jain's index of the goodputs of a frame's rows."""


_ACTIVE = pl.coalesce("completion_ns", "lifetime_ns")
TRANSFER_RATE = pl.when(_ACTIVE > 0).then(pl.col("delivered_bytes") * 8e9 / _ACTIVE)
"""Of each row of flows what it delivered, over the time until it was done, or until the run's end; bit/s."""


def _tcp(dataset: Dataset) -> pl.LazyFrame:
    return dataset.flows().filter(OF_TCP)


def _transfer_rate(dataset: Dataset) -> pl.DataFrame:
    return _tcp(dataset).select("run", item="flow", value=TRANSFER_RATE).collect()


def _together(dataset: Dataset, value: pl.Expr) -> pl.DataFrame:
    return _tcp(dataset).group_by("run", maintain_order=True).agg(value=value).select("run", item=pl.lit(TOGETHER), value="value").collect()


def _least_share(dataset: Dataset) -> pl.DataFrame:
    return _together(dataset, pl.when(_GOODPUT.sum() > 0).then(_GOODPUT.min() * pl.len() / _GOODPUT.sum()))


def _steadiness(column: str) -> Callable[[Dataset], pl.DataFrame]:
    def made(dataset: Dataset) -> pl.DataFrame:
        return over_time.steadiness(over_time.windows(dataset)).select("run", item="flow", value=column)

    return made


def _over_time_jain(dataset: Dataset) -> pl.DataFrame:
    found = over_time.jain(over_time.windows(dataset)).group_by("run", maintain_order=True).agg(value=pl.col("jain").mean())
    return found.select("run", item=pl.lit(TOGETHER), value="value")


def _convergence(dataset: Dataset) -> pl.DataFrame:
    found = over_time.convergence(over_time.windows(dataset))
    return found.select("run", item=pl.lit(TOGETHER), value=pl.col("time_ns").cast(pl.Float64))


MADE: Mapping[str, Callable[[Dataset], pl.DataFrame]] = {
    "transfer_rate_bps": _transfer_rate,
    "jain": lambda dataset: _together(dataset, JAIN),
    "least_share": _least_share,
    "total_goodput_bps": lambda dataset: _together(dataset, total_goodput()),
    "throughput_sd_bps": _steadiness("sd_bps"),
    "throughput_cov": _steadiness("cov"),
    "jain_over_time": _over_time_jain,
    "convergence_ns": _convergence,
}
"""How each of `sawtooth.measures.computed.COMPUTED` is made."""
