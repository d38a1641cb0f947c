"""The simulator: runs of a batch, one after the other, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sawtooth import _core
from sawtooth.backends.batch import Batch

# Polars puts numpy in the place of a stand-in when it first meets an array, which two threads must not do at once: here one of them does.
pl.Series(np.zeros(0))
_DTYPES = {"u64": np.uint64, "i64": np.int64, "f64": np.float64}


def run_batch(scenarios: Sequence[str], seeds: Sequence[int]) -> Batch:
    """Runs scenarios (JSON text) with their seeds. A run that fails is reported; the others go on."""
    outcome = _core.simulate(list(scenarios), list(seeds))
    tables: dict[str, pl.DataFrame] = {}
    for name, columns in outcome["tables"].items():
        series = [_series(column, *told) for column, told in columns.items()]
        tables[name] = pl.DataFrame(series).with_columns(pl.col("run").cast(pl.UInt32))
    return Batch(
        tables=tables,
        errors=dict(outcome["errors"]),
        deliveries=sum(effort[2] for effort in outcome["efforts"]),
        events=sum(effort[1] for effort in outcome["efforts"]),
    )


def _series(name: str, kind: str, values: bytes | list[str], known: bytes | None) -> pl.Series:
    """A column; of one that may lack values, `known` says of each whether it is there."""
    if isinstance(values, list):
        return pl.Series(name, values)
    series = pl.Series(name, np.frombuffer(values, dtype=_DTYPES[kind]))
    if known is None:
        return series
    there = pl.Series(np.frombuffer(known, dtype=np.bool_))
    return pl.select(pl.when(there).then(series).alias(name)).to_series()
