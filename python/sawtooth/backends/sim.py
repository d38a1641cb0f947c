"""The simulator: runs of a batch, one after the other, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sawtooth import _core
from sawtooth.backends.batch import Batch

# Polars puts numpy in the place of a stand-in when it first meets an array, which two threads must not do at once: here one of them does.
pl.Series(np.zeros(0))
_DTYPES = {"u32": np.uint32, "u64": np.uint64, "i64": np.int64, "f64": np.float64}


def run_batch(scenarios: Sequence[str], seeds: Sequence[int], captures: Sequence[_core.CaptureRequest] = ()) -> Batch:
    """Runs scenarios (JSON text) with their seeds. A run that fails is reported; the others go on. `captures`: what is captured of the first of them."""
    outcomes = run_share(scenarios, seeds, captures=captures)
    assert outcomes is not None
    return gather([outcomes])


def run_share(
    scenarios: Sequence[str], seeds: Sequence[int], stop: _core.StopRequest | None = None, captures: Sequence[_core.CaptureRequest] = ()
) -> _core.Outcomes | None:
    """Runs some of a batch; what comes out is for `gather`. Nothing does once it is told to stop."""
    return _core.run_all(list(scenarios), list(seeds), stop, list(captures))


def gather(outcomes: Sequence[_core.Outcomes]) -> Batch:
    """The batch of which these shares are, in the order of its runs. Tables are made here and not of each share: that takes as long as several short runs."""
    outcome = _core.outcomes_of(list(outcomes))
    return Batch(
        tables={name: _frame(columns) for name, columns in outcome["tables"].items()},
        errors=dict(outcome["errors"]),
        deliveries=sum(effort[2] for effort in outcome["efforts"]),
        events=sum(effort[1] for effort in outcome["efforts"]),
    )


def _frame(columns: Mapping[str, tuple[str, bytes | list[str], bytes | None]]) -> pl.DataFrame:
    """A table; of a column that may lack values the third part says of each whether it is there, of texts which of those that there are."""
    series: list[pl.Series] = []
    lacking: list[pl.Expr] = []
    for name, (kind, values, more) in columns.items():
        if isinstance(values, list):
            assert more is not None
            series.append(pl.Series(name, values, dtype=pl.String).gather(pl.Series(np.frombuffer(more, dtype=np.uint32))))
            continue
        series.append(pl.Series(name, np.frombuffer(values, dtype=_DTYPES[kind])))
        # All at once, below: a query for each column would take longer than a short run.
        if more is not None:
            lacking.append(pl.when(pl.lit(pl.Series(np.frombuffer(more, dtype=np.bool_)))).then(pl.col(name)).alias(name))
    frame = pl.DataFrame(series)
    return frame.with_columns(lacking) if lacking else frame
