"""One side of a comparison: what a metric is in every run of a dataset, or in a published table.

Cells of two sides are recognised by their factors, not by numbers: quantities by what they amount to (`10 ms` is `0.01 s`), names as
text, where a kernel's algorithm (`kernel:reno`) is the one of that name.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth import measures, reading
from sawtooth.errors import DatasetError, cut
from sawtooth.hints import did_you_mean
from sawtooth.lines import lines
from sawtooth.measures import Asked, ExpressionError, Measure, View, factors
from sawtooth.measures.blocks import block
from sawtooth.recognise import amount, level, unit_suffix
from sawtooth.results.dataset import Dataset

__all__ = ["Published", "chosen_measure", "factors", "level", "observe", "published", "read_table", "unit_suffix"]

_MOST_BYTES = 64_000_000
"""Of a table of published numbers."""


@dataclass(frozen=True)
class Published:
    """Columns of a table of published numbers: one row per cell.

    Attributes:
        value: column of the mean.
        sd, ci: columns of its standard deviation over `n` observations, or of its 95 % confidence half-width.
        n: number of observations, or the column that has it.
        unit: of the values; by default what the column's name ends in.
        factors: factor to column, where they are not called alike.

    """

    value: str
    sd: str | None = None
    ci: str | None = None
    n: str | None = None
    unit: str | None = None
    factors: Mapping[str, str] | None = None


def chosen_measure(name: str) -> Measure:
    """The measure that an expression names.

    Raises:
        DatasetError: if there is none.

    """
    try:
        return measures.measure(name)
    except ExpressionError as error:
        pointed = (
            f"{error.message} (at characters {error.span[0] + 1} to {error.span[1]})" if error.span != (0, len(name)) else error.message
        )
        raise DatasetError(pointed, error.hint) from None


def observe(dataset: Dataset, chosen: Measure, how: str, arm: str | None = None) -> pl.DataFrame:
    """One row per finished run and item: cell, factors, arm, replicate, seed, item, cc, value; see `sawtooth.measures.observe`.

    Args:
        dataset: whose runs.
        chosen: the measure; what a run does not tell, or has not finished, is null.
        how: `mean`, `sum`, `max` or `min` over the flows of a block, or `each` flow by itself.
        arm: of this arm only.

    """
    found = measures.observe(dataset, Asked(chosen, View(how)))
    if arm is not None:
        found = found.filter(arm=arm)
    if chosen.kind == "flow":
        item = pl.col("flow") if how == "each" else block(pl.col("flow"))
        names = (
            dataset.flows().group_by("run", item=item, maintain_order=True).agg(cc=pl.col("cc").unique().sort().str.join(", ")).collect()
        )
        found = found.join(names, on=["run", "item"], how="left", maintain_order="left")
    else:
        found = found.with_columns(cc=pl.lit(None, pl.String))
    return found.drop("run", "low", "high")


def read_table(path: Path) -> pl.DataFrame:
    """A table of published numbers, every column as text.

    Raises:
        DatasetError: if it cannot be read.

    """
    try:
        text = reading.read_text(path, _MOST_BYTES, "leave out what is not compared", "utf-8-sig")
        _require_different(path, next((line for line in lines(text) if line.strip() and not line.startswith("#")), ""))
        table = pl.read_csv(text.encode(), infer_schema=False, comment_prefix="#")
        table = table.rename({name: name.strip() for name in table.columns})
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    except reading.Unreadable as error:
        raise DatasetError(error.message, error.hint or "a CSV of published numbers is needed") from None
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"{path} is no table: {str(error).splitlines()[0]}", "it needs a line of column names, then rows") from None
    return table


def _require_different(path: Path, head: str) -> None:
    """Raises for two columns of one name; the library would call the second one otherwise."""
    try:
        names = [cell.strip() for cell in next(csv.reader([head]))]
    except csv.Error:
        return
    for at, name in enumerate(names):
        if name in names[:at]:
            raise DatasetError(f"{path} has two columns `{cut(name)}`", "give each its own name")


def _line(path: Path, table: pl.DataFrame, row: int) -> str:
    """Where a row of a table is in its file, in words; by its number among the rows if they are not one to a line."""
    found = enumerate(lines(reading.read_text(path, _MOST_BYTES, None, "utf-8-sig")), 1)
    numbers = [number for number, line in found if line.strip() and not line.startswith("#")]
    return f"line {numbers[row + 1]}" if len(numbers) == table.height + 1 else f"row {row + 1}"


def published(path: Path, columns: Published, chosen: Measure, names: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """The published numbers in the metric's unit: one row per cell with the factors it names, value, error and freedom.

    Args:
        path: of the CSV.
        columns: which of its columns are what.
        chosen: the metric they are held against.
        names: what its other columns may be: the study's factors, `cell`, `arm`, and `item` (a flow's name).

    Returns:
        The table, and the names in it.

    Raises:
        DatasetError: if a column is missing or holds no numbers, or two rows are of one cell.

    """
    table = read_table(path)
    matched = _matched_columns(path, table.columns, columns, names)
    scale = _scale(path, columns, chosen)
    value = _numbers(path, table, columns.value)
    spread = columns.ci or columns.sd
    count = _counts(path, table, columns)
    errors: list[tuple[float, float]] = [(0.0, math.inf)] * table.height
    if spread is not None:
        errors = [_error(columns, x, n) for x, n in zip(_numbers(path, table, spread), count, strict=True)]
    keys = {
        name: [cell if name in ("cell", "arm", "item") else _with_unit(cell, unit) for cell in table[column]]
        for name, (column, unit) in matched.items()
    }
    made = pl.DataFrame(
        {
            **{name: pl.Series(values, dtype=pl.String) for name, values in keys.items()},
            "value": [None if x is None else x * scale for x in value],
            "error": [error * scale for error, _ in errors],
            "freedom": [freedom for _, freedom in errors],
        },
        schema_overrides={"value": pl.Float64},
    )
    twice = made.group_by(list(matched), maintain_order=True).len().filter(pl.col("len") > 1)
    if twice.height:
        first = ", ".join(f"{name} {twice[name][0]}" for name in matched)
        others = [name for name in table.columns if name not in {column for column, _ in matched.values()}]
        raise DatasetError(
            f"{path} has {twice['len'][0]} rows for {first}",
            f"each cell needs one row; columns that are no factor of the study: {', '.join(others)}",
        )
    return made, list(matched)


def _matched_columns(path: Path, columns: Iterable[str], wanted: Published, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The column of each name, and the unit that the column's name ends in."""
    columns = list(columns)
    for column in (wanted.value, wanted.sd, wanted.ci, *(wanted.factors or {}).values()):
        if column is not None and column not in columns:
            raise DatasetError(f"{path} has no column `{column}`", did_you_mean(column, columns))
    for name in wanted.factors or {}:
        if name not in names:
            raise DatasetError(f"the study has no factor `{name}`", did_you_mean(name, names))
    matched: dict[str, tuple[str, str]] = {}
    for name in names:
        named = (wanted.factors or {}).get(name)
        for column in [named] if named else columns:
            unit = unit_suffix(column)
            if named or column == name or (unit and column == f"{name}_{column.rpartition('_')[2]}"):
                matched[name] = (column, unit if column != name else "")
                break
    if not matched:
        raise DatasetError(
            f"no column of {path} is a factor of the study",
            f"its columns are {', '.join(columns)}; the study has {', '.join(names)}; `--factor NAME=COLUMN` says which is which",
        )
    return matched


def _scale(path: Path, columns: Published, chosen: Measure) -> float:
    """What a published number is multiplied by to be in the metric's unit; 1 where a unit is unknown."""
    unit = columns.unit or unit_suffix(columns.value)
    theirs, ours = amount(unit), amount(chosen.unit)
    if columns.unit and theirs is None:
        raise DatasetError(f"unknown unit `{columns.unit}`", "such as s, ms, bit/s, Mbit/s, kB, packets")
    if theirs is None or ours is None:
        return 1.0
    if theirs[1] != ours[1]:
        raise DatasetError(
            f"`{columns.value}` of {path} is a {theirs[1]} ({unit}), `{chosen.name}` a {ours[1]} ({chosen.unit})",
            "--metric names ours, --value theirs, --unit the unit of theirs",
        )
    return theirs[0] / ours[0]


def _numbers(path: Path, table: pl.DataFrame, column: str) -> list[float | None]:
    numbers: list[float | None] = []
    for row, text in enumerate(table[column]):
        try:
            number = float(text) if text is not None and text.strip() else math.nan
        except ValueError:
            where = f"{path}, {_line(path, table, row)}"
            raise DatasetError(
                f"{where}: `{cut(str(text))}` in column `{column}` is no number", "leave it empty if it is not known"
            ) from None
        if number < 0:
            where = f"{path}, {_line(path, table, row)}"
            raise DatasetError(f"{where}: {cut(str(text))} in column `{column}` is negative", "ratios need values of at least 0")
        numbers.append(number if math.isfinite(number) else None)
    return numbers


def _counts(path: Path, table: pl.DataFrame, columns: Published) -> list[float | None]:
    if columns.n is None:
        if columns.sd is not None and columns.ci is None:
            raise DatasetError("a standard deviation says how far a mean can be trusted only with its number of observations", "add --n N")
        return [None] * table.height
    if columns.n in table.columns:
        return _numbers(path, table, columns.n)
    if not (columns.n.isascii() and columns.n.isdigit()):
        raise DatasetError(f"{path} has no column `{columns.n}`", "--n is a whole number or a column")
    return [float(columns.n)] * table.height


def _error(columns: Published, spread: float | None, n: float | None) -> tuple[float, float]:
    """Standard error and degrees of freedom of a published mean."""
    from scipy import stats as scipy_stats

    freedom = math.inf if n is None else n - 1
    if spread is None or freedom <= 0:
        return 0.0, 0.0
    if columns.ci is None:
        return spread / math.sqrt(freedom + 1), freedom
    return spread / float(scipy_stats.t.ppf(0.975, freedom)), freedom


def _with_unit(text: str | None, unit: str) -> str | None:
    return f"{text.strip()} {unit}".strip() if text is not None else None
