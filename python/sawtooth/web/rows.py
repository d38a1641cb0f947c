"""Rows of results' tables, some at a time: a page asks for those that it shows, also of millions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from starlette.requests import Request

from sawtooth.errors import DatasetError
from sawtooth.results.dataset import Dataset
from sawtooth.study.draws import unit_of, unit_of_text
from sawtooth.web.workbench import finite

_MOST_ROWS = 500
"""Of a table at a time."""

_WHOLE = 2**53
"""The largest number of which every smaller whole one is a number of JavaScript, too."""


def rows_of(frame: pl.LazyFrame, request: Request, units: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a page asks for of a table: from `offset` on at most `limit` rows, sorted `by` a column, `descending` or not; `units` of columns whose names do not tell them."""
    columns = frame.collect_schema()
    offset, limit = count(request, "offset", 0), min(count(request, "limit", 100), _MOST_ROWS)
    total = int(frame.select(pl.len()).collect().item())
    if (by := request.query_params.get("by")) and by in columns:
        # Only the column by which it is sorted is read of all rows.
        order = (
            frame.select(by)
            .with_row_index("row")
            .sort(by, descending="descending" in request.query_params, nulls_last=True, maintain_order=True)
        )
        at = order.slice(offset, limit).select("row").collect()["row"]
        chosen = frame.with_row_index("row").filter(pl.col("row").is_in(at.implode())).collect()
        shown = at.to_frame().join(chosen, on="row", how="left", maintain_order="left").drop("row")
    else:
        shown = frame.slice(offset, limit).collect()
    return {
        "columns": shown.columns,
        "units": [(units or {}).get(name, "") for name in shown.columns],
        "numeric": [columns[name].is_numeric() for name in shown.columns],
        "rows": [[cell(each) for each in row] for row in shown.iter_rows()],
        "offset": offset,
        "total": total,
    }


def units_of(dataset: Dataset) -> dict[str, str]:
    """The base units of what a study draws and varies: such columns are called by the study, so that their names do not tell them."""
    if not dataset.has_study:
        return {}
    study, runs = dataset.study, dataset.runs
    found: dict[str, str] = {}
    for column in runs.columns:
        if column.startswith("draw_"):
            name = column.removeprefix("draw_").partition("[")[0]
            found[column] = unit_of(study, name) if name in study.draws else ""
        elif column.endswith("_value") and (factor := column.removesuffix("_value")) in runs.columns:
            units = {unit_of_text(level, {}) for level in runs[factor].drop_nulls().unique()}
            found[column] = units.pop() if len(units) == 1 else ""
    return found


def of_run(dataset: Dataset, text: str) -> dict[str, Any]:
    """A run's row of the plan.

    Raises:
        DatasetError: if there is no such run.

    """
    found = dataset.runs.filter(pl.col("run") == int(text)).to_dicts() if text.isdecimal() and int(text) < 2**32 else []
    if not found:
        raise DatasetError(f"there is no run `{text[:40]}`", f"these results have runs 0 to {dataset.runs.height - 1}")
    return found[0]


def count(request: Request, name: str, usual: int) -> int:
    """A number of the address."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else usual


def cell(value: object) -> object:
    """A cell as JSON has it; a list is shown as text."""
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, int) and abs(value) > _WHOLE:
        # A browser would round it, and a seed is there to be copied.
        return str(value)
    return value if value is None or isinstance(value, str | int | bool) else str(value)
