"""What `sawtooth simulate` shows people: a table in units that are easy to read. Programs get the records as they are."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import accumulate, takewhile

import polars as pl
from rich.table import Table
from rich.text import Text

from sawtooth import recorded, scales, streams

MOST_UPRIGHT = 8
"""Rows that are shown side by side, a column each: one column per flow reads better than one row of 25 columns."""
_NOTHING, _BETWEEN = "-", 2
_LONG, _MOST_DECIMALS = 1e9, 6
"""A number from which on digits are no longer counted, such as a threshold that nothing has set yet."""


def show(name: str, frame: pl.DataFrame) -> None:
    """Prints a table of a run to a terminal.

    Args:
        name: of the table.
        frame: its rows.

    """
    units = {column["name"]: column["unit"] for column in recorded.schema()[name]["columns"]}
    # What is told in seconds is not called one of nanoseconds.
    frame = frame.rename({column: _name(column) for column in frame.columns})
    units = {_name(column): unit for column, unit in units.items()}
    shown = {column: _texts(frame[column], units.get(column, "")) for column in frame.columns}
    console = streams.Console(markup=False, emoji=False, highlight=False)
    if frame.is_empty():
        console.print(f"the run has no row of `{name}`")
    elif frame.height <= MOST_UPRIGHT:
        console.print(_upright(frame, shown))
    else:
        for part in _parts(frame, shown, console.width):
            console.print(part)
    if {"throughput", "goodput"} <= {*frame.columns}:
        console.print(
            "From a flow's start to the end of the run: throughput of whole segments that were acknowledged, goodput of all that was delivered."
        )


def _name(column: str) -> str:
    return column.removesuffix("_ns").removesuffix("_bps")


def _texts(values: pl.Series, unit: str) -> tuple[list[str], str]:
    """A column's values, all in one unit, and that."""
    if values.dtype == pl.Boolean:
        return ["yes" if value else "no" if value is not None else _NOTHING for value in values], ""
    if not values.dtype.is_numeric():
        return [_NOTHING if value is None else str(value) for value in values], ""
    known = [float(value) for value in values if value is not None and math.isfinite(value)]
    # What is zero says nothing about the unit in which the others are easy to read.
    above = [abs(value) for value in known if value] or [1.0]
    divisor, unit = scales.scale(unit, above)
    # As many decimals of all, so that points stand below each other: four digits of one in the middle.
    usual = math.floor(math.log10(statistics.median(above) / divisor))
    decimals = 0 if values.dtype.is_integer() and divisor == 1 else min(max(3 - usual, 0), _MOST_DECIMALS)

    def said(value: float | None) -> str:
        if value is None:
            return _NOTHING
        return f"{value / divisor:.3g}" if abs(value) >= _LONG * divisor else f"{value / divisor:,.{decimals}f}"

    return [said(value) for value in values], "" if unit == "packet" or not known else unit


def _upright(frame: pl.DataFrame, shown: dict[str, tuple[list[str], str]]) -> Table:
    """A line for each column, with its unit behind the values."""
    first = frame.columns[0]
    named = frame[first].n_unique() == frame.height
    heads = shown[first][0] if named else [str(number) for number in range(1, frame.height + 1)]
    table = _table()
    table.add_column(Text(first if named and heads != [first] else ""), no_wrap=True)
    for head in heads:
        table.add_column(Text(head), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for column in frame.columns[named:]:
        texts, unit = shown[column]
        table.add_row(Text(column), *map(Text, texts), Text(unit))
    return table


def _parts(frame: pl.DataFrame, shown: dict[str, tuple[list[str], str]], width: int) -> Iterator[Table]:
    """A line for each row; columns that are too many for the terminal below each other, each time behind those that say of what and when."""
    heads = {column: f"{column} ({unit})" if unit else column for column, (_, unit) in shown.items()}
    widths = {column: max(map(len, [heads[column], *texts])) + _BETWEEN for column, (texts, _) in shown.items()}
    always = list(takewhile(lambda column: column == "t" or frame[column].dtype == pl.String, frame.columns))
    others = [column for column in frame.columns if column not in always]
    room = width - sum(widths[column] for column in always)
    while others:
        fitting = max(1, sum(taken <= room + _BETWEEN for taken in accumulate(widths[column] for column in others)))
        table = _table()
        columns = [*always, *others[:fitting]]
        for column in columns:
            table.add_column(Text(heads[column]), justify="right" if frame[column].dtype.is_numeric() else "left", no_wrap=True)
        for row in zip(*(shown[column][0] for column in columns), strict=True):
            table.add_row(*map(Text, row))
        yield table
        others = others[fitting:]


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0))
