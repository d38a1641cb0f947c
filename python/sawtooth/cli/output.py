"""What commands print: JSON for other programs, tables."""

from __future__ import annotations

import json
from typing import Any

import polars as pl


def print_json(value: Any) -> None:
    """Writes a value to standard output, indented."""
    print(json.dumps(value, indent=2))


def upright(frame: pl.DataFrame) -> pl.DataFrame:
    """One column per row, headed by what the rows are of."""
    name = frame.columns[0]
    rows = frame[name].cast(pl.String).to_list()
    if len(set(rows)) == frame.height:
        # A flow without a name is called "flow", as the column is; then the column goes without.
        return frame.drop(name).transpose(include_header=True, header_name="" if name in rows else name, column_names=rows)
    return frame.transpose(include_header=True, header_name="", column_names=[str(at) for at in range(1, frame.height + 1)])
