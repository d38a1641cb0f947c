"""Tables of results, with the columns that the core's schema gives them."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sawtooth.recorded import schema

# Polars puts numpy in the place of a stand-in when it first meets an array, which two threads must not do at once: here one of them does.
pl.Series(np.zeros(0))
_DTYPES = {"u32": np.uint32, "u64": np.uint64, "i64": np.int64, "f64": np.float64}


def frame_of(columns: Mapping[str, tuple[str, bytes | list[str], bytes | None]]) -> pl.DataFrame:
    """A table of the core; of a column that may lack values the third part says of each whether it is there, of texts which of those that there are."""
    # By index and by mask: `gather` and `when` would make a query of each column, which takes longer than a short run.
    series: list[pl.Series] = []
    for name, (kind, values, more) in columns.items():
        if isinstance(values, list):
            assert more is not None
            series.append(pl.Series(name, values, dtype=pl.String)[pl.Series(np.frombuffer(more, dtype=np.uint32))])
            continue
        column = pl.Series(name, np.frombuffer(values, dtype=_DTYPES[kind]))
        if more is not None:
            column = column.zip_with(pl.Series(np.frombuffer(more, dtype=np.bool_)), pl.Series([None], dtype=column.dtype))
        series.append(column)
    return pl.DataFrame(series)


def as_table(name: str, rows: pl.DataFrame | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows, with `run`, in the columns of a table of the simulator; what they do not tell is null."""
    frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, infer_schema_length=None)
    return frame.select(
        pl.col("run").cast(pl.UInt32),
        *(pl.col(key).cast(kind) if key in frame.columns else pl.lit(None, kind).alias(key) for key, kind in column_types(name).items()),
    )


def column_types(name: str) -> dict[str, Any]:
    """The types of a table's columns, without `run`."""
    kinds = {"u64": pl.UInt64, "i64": pl.Int64, "f64": pl.Float64, "str": pl.String}
    return {column["name"]: kinds[column["type"]] for column in schema()[name]["columns"]}


def with_nulls(name: str, table: pl.LazyFrame) -> pl.LazyFrame:
    """A table in which -1 stood for what is unknown, with nulls for that."""
    columns = schema().get(name, {}).get("columns", [])
    # No count was below 0: of what was never measured counts said 0, which they say still.
    signed = {column["name"] for column in columns if column["nullable"] and column["type"] != "u64"}
    there = [column for column in table.collect_schema().names() if column in signed]
    return table.with_columns(pl.when(pl.col(column) != -1).then(column) for column in there)


def as_status(runs: Sequence[int], status: Sequence[str], messages: Sequence[str | None], tries: Sequence[int | None] = ()) -> pl.DataFrame:
    """The table `status`."""
    return pl.DataFrame(
        {"run": runs, "status": status, "message": messages, "tries": tries or [None] * len(runs)},
        schema={"run": pl.UInt32, "status": pl.String, "message": pl.String, "tries": pl.UInt8},
    )


PLAN = {"run", "id", "cell", "arm", "replicate", "seed", "round"}
"""Columns of a plan that are no factors."""


def factors_of(runs: pl.DataFrame) -> list[str]:
    """The factors that a plan varies, by the names of their columns in `runs`; beside each stands NAME_value, the number in its base unit."""
    return [name for name in runs.columns if name not in PLAN and f"{name}_value" in runs.columns]


def files_of(tables: Mapping[str, pl.DataFrame], as_csv: Collection[str]) -> dict[str, bytes]:
    """Tables as the contents of files: as Parquet, and those of `as_csv` as CSV, too."""
    made: dict[str, bytes] = {}
    for name, table in tables.items():
        with io.BytesIO() as buffer:
            table.write_parquet(buffer)
            made[f"{name}.parquet"] = buffer.getvalue()
        if name in as_csv:
            made[f"{name}.csv"] = table.write_csv().encode()
    return made


_GOODPUT = pl.col("goodput_bps")
SPAN = pl.when(_GOODPUT > 0).then((pl.col("delivered_bytes") * 8e9 / _GOODPUT).round())
"""Nanoseconds over which a row of `flows` has its goodput; null where nothing came."""


def goodput_of_one_span(span: pl.Expr = SPAN, within: Sequence[str] = ()) -> pl.Expr:
    """Each row's goodput over the one time from the first start to the last end of all rows, or of those that are alike in these columns: such goodputs can be added up.

    A rate over less than the whole time counts for as much of it: flows that start late add no more than a link carries. Where all have the same `span`, and where it is not
    known, nothing changes to the bit.
    """
    start = pl.col("start_ns")
    last, first = (start + span).max(), start.min()
    whole = last.over(within) - first.over(within) if within else last - first
    return _GOODPUT * (span / whole).fill_null(1.0)


def total_goodput(span: pl.Expr = SPAN) -> pl.Expr:
    """Bytes of all of a frame's rows over the one time from the first start to the last end; where all have the same `span`, the sum to the bit."""
    return goodput_of_one_span(span).sum()
