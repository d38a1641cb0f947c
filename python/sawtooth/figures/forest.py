"""`forest`: the verdicts on all findings of the study: how far estimate and interval of each cell are from the limits of its claim."""

from __future__ import annotations

from functools import partial

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.figures.data import Data
from sawtooth.figures.levels import known
from sawtooth.figures.spec import Drawn, Kind

_SCHEMA = {
    "claim": pl.String, "answer": pl.String, "cell": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
    "interval": pl.String, "limit_low": pl.Float64, "limit_high": pl.Float64, "unit": pl.String,
}  # fmt: skip


def draw(data: Data) -> Drawn:
    """The figure.

    Raises:
        DatasetError: if the study has no findings.

    """
    from sawtooth.plots import forest

    verdicts = data.verdicts()
    if not verdicts:
        raise DatasetError("the study has no findings", "write [[findings]]; a forest is of their verdicts")
    rows = [
        (
            verdict.claim, verdict.answer, each.cell, known(each.interval.estimate), each.interval.low, each.interval.high, each.interval.n,
            each.interval.kind, *each.limits, each.unit,
        )
        for verdict in verdicts
        for each in verdict.weighed
        if each.interval is not None
    ]  # fmt: skip
    return Drawn(partial(forest.forest, verdicts), forest.said(verdicts), pl.DataFrame(rows, schema=_SCHEMA, orient="row"))


KIND = Kind(
    "forest", "the verdicts on all findings: estimate and interval of each cell against the limits of its claim", (), draw,
    statistic=False, scale=False, measured=False,
)  # fmt: skip
