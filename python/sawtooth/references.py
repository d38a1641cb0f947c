"""Published or measured numbers that a study is held against: tables in files that it names.

    [[references]]
    name = "paper"
    file = "published.csv"
    source = "Author, Title, Venue 2003, table 2"
    keys = { limit = "buffer_packets" }
    columns = { goodput_bps = { column = "throughput", unit = "Mbit/s", sd = "sd", n = 30, digits = 2 } }

Rows are recognised by what their keys amount to: `10 ms` is `0.01 s`. The file's hash goes into the results' provenance.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from sawtooth.design import NOT_SET
from sawtooth.errors import DatasetError, Place
from sawtooth.measures.units import Unit
from sawtooth.recognise import level
from sawtooth.sheets import Sheet, number
from sawtooth.stats.interval import Interval

if TYPE_CHECKING:
    from pathlib import Path


_MOST_DIGITS = 100
"""Before and after the point: beyond them rounding changes nothing."""


PUBLISHED = "published"
"""What numbers of a reference are called that does not say it."""


@dataclass(frozen=True)
class Quantity:
    """One column of a reference.

    Attributes:
        column: what it is called in the file.
        unit: of its values.
        sd, ci: columns of its standard deviation over `n` observations, or of its 95 % confidence half-width.
        n: number of observations, or the column that has it.
        digits: decimals that the values are given with; None: as many as the file has, value by value.
        place: where a study says its unit, or could; None of a table that no study names.

    """

    column: str
    unit: Unit
    unit_name: str = ""
    sd: str | None = None
    ci: str | None = None
    n: int | str | None = None
    digits: int | None = None
    place: Place | None = None

    @property
    def spread(self) -> bool:
        """Whether something says how far its values can be trusted."""
        return self.sd is not None or self.ci is not None

    @property
    def said(self) -> str:
        """Its unit in words."""
        return self.unit_name or "plain numbers"


@dataclass(frozen=True)
class Reference:
    """A table of published numbers.

    Attributes:
        name: what expressions call it.
        digest: SHA-256 of what is in its file.
        source: where the numbers are from.
        keys: what a row is of: factor, `arm` or `item` to column and the unit that its values have.
        quantities: its columns by their names in expressions.
        sheet: its rows, without those that are left out.
        called: what figures call its numbers.

    """

    name: str
    digest: str
    source: str
    keys: Mapping[str, tuple[str, str]]
    quantities: Mapping[str, Quantity]
    sheet: Sheet
    called: str = PUBLISHED
    _tables: dict[str, pl.DataFrame] = field(default_factory=dict[str, pl.DataFrame], init=False, repr=False, compare=False)

    @property
    def path(self) -> Path:
        """Its file."""
        return self.sheet.path

    @property
    def exact(self) -> bool:
        """Whether nothing says how far its numbers can be trusted."""
        return not any(quantity.spread for quantity in self.quantities.values())

    @property
    def columns(self) -> Mapping[str, Unit]:
        """The units of its columns, by their names in expressions: all are told in the units that measures have."""
        return {name: quantity.unit.natural for name, quantity in self.quantities.items()}

    def table(self, column: str) -> pl.DataFrame:
        """One row per row of the file that has a value: the keys as what they are recognised by, label, value, error, freedom, n, digits, text, place.

        value and error (the standard error of the value; 0 if it is not told) are in the natural unit of their kind; n is the number of observations
        behind it, null if that is not told; digits is the place of
        the last digit that is given, in the file's unit, text what stands there, place where that is, and label the keys in words.
        """
        if column not in self._tables:
            self._tables[column] = self._table(self.quantities[column])
        return self._tables[column]

    def _table(self, quantity: Quantity) -> pl.DataFrame:
        factor = quantity.unit.factor(quantity.unit.natural)
        made: dict[str, list[object]] = {
            name: [] for name in (*self.keys, "label", "value", "error", "freedom", "n", "digits", "text", "place")
        }
        for record in self.sheet.records:
            text = record.cells[quantity.column]
            value = number(text)
            if value is None:
                continue
            error, freedom, count = _error(quantity, record.cells)
            cells = {name: _key(record.cells[key], unit) for name, (key, unit) in self.keys.items()}
            for name, cell in cells.items():
                made[name].append(cell if name in ("arm", "item") else _level(cell))
            made["label"].append(", ".join(f"{name} {cell or NOT_SET}" for name, cell in cells.items()))
            made["value"].append(value * factor)
            made["error"].append(error * factor)
            made["freedom"].append(freedom)
            made["n"].append(count)
            made["digits"].append(quantity.digits if quantity.digits is not None else _decimals(text))
            made["text"].append(text)
            made["place"].append(self.sheet.place(record, quantity.column))
        kinds = {
            **dict.fromkeys([*self.keys, "label"], pl.String),
            "value": pl.Float64,
            "error": pl.Float64,
            "freedom": pl.Float64,
            "n": pl.Float64,
            "digits": pl.Int64,
            "text": pl.String,
            "place": pl.String,
        }
        return pl.DataFrame(made, schema=kinds)

    def match(self, plan: pl.DataFrame, column: str) -> pl.DataFrame:
        """A frame run, value, error, freedom (and item, if rows are of items): what was published of each run's cell and arm, as `table` has it.

        Raises:
            DatasetError: if no row is of any of them.

        """
        table = self.table(column)
        mine = plan.select("run", *(name for name in self.keys if name != "item"))
        mine = mine.with_columns(recognised(name) for name in mine.columns if name not in ("run", "arm"))
        on = [name for name in self.keys if name != "item"]
        found = mine.join(table, on=on, how="inner") if on else mine.join(table, how="cross")
        if found.is_empty():
            wanted = ", ".join(f"{name} {plan[name][0]}" for name in on) if plan.height else "nothing"
            there = table["label"][0] if table.height else "nothing"
            raise DatasetError(
                f"no row of the reference `{self.name}` ({self.path}) is of a cell that was run",
                f"a cell is {wanted}; a row is {there}; `keys` says which column is which factor",
            )
        return found.select("run", *(["item"] if "item" in self.keys else []), "value", "error", "freedom")


def interval(value: float, error: float, freedom: float) -> Interval:
    """A published mean with its 95 % t interval; of one that nothing tells the error of, without an end.

    Args:
        value: the mean.
        error: its standard error, in the same unit.
        freedom: its degrees of freedom, as `Reference.table` has both.

    """
    if not error or not freedom:
        return Interval(value, -math.inf, math.inf, 1, "no error is told")
    from scipy import stats

    half = error * float(stats.t.ppf(0.975, freedom))
    return Interval(value, value - half, value + half, int(freedom) + 1 if math.isfinite(freedom) else 1, "95% t interval")


def has_digits(mean: float, published: float, digits: int, factor: float) -> bool:
    """Whether a mean is a published value to the digits that are given, both in the unit of results; `factor` is that of the file's unit."""
    return abs(_rounded(mean / factor, digits) - _rounded(published / factor, digits)) < 1e-9 * max(1.0, 10.0**-digits)


def _rounded(value: float, digits: int) -> float:
    """Rounded as a table is: halves away from 0, after noise of binary fractions is taken off."""
    scaled = value * 10.0**digits
    return math.copysign(math.floor(abs(scaled) + 0.5 + 1e-9), scaled) / 10.0**digits


def recognised(name: str) -> pl.Expr:
    """A factor's levels as what they are recognised by; empty where a cell leaves it as it is in the scenario."""
    return pl.col(name).map_elements(_level, return_dtype=pl.String, skip_nulls=False).alias(name)


def _level(text: str | None) -> str:
    return "" if text == NOT_SET else level(text)


def _key(text: str, unit: str) -> str:
    """A cell of a key as the study may have it: a number is followed by its unit, and what is not set by none."""
    return f"{text} {unit}".strip() if text and text != NOT_SET else ""


def _error(quantity: Quantity, cells: Mapping[str, str]) -> tuple[float, float, float | None]:
    """Standard error and degrees of freedom of a published mean: 0 and infinite if nothing tells them, so that it is taken as exact; and of how many it is.

    Where a column tells them of the others but not of this one, or of a single observation, the degrees of freedom are 0.
    """
    count = number(cells[quantity.n]) if isinstance(quantity.n, str) else None if quantity.n is None else float(quantity.n)
    column = quantity.ci or quantity.sd
    if column is None:
        return 0.0, math.inf, count
    spread = number(cells[column])
    if spread is None or (quantity.n is not None and (count is None or count <= 1)):
        return 0.0, 0.0, count
    if quantity.ci is not None:
        from scipy import stats

        freedom = math.inf if count is None else count - 1
        return spread / float(stats.t.ppf(0.975, freedom)), freedom, count
    assert count is not None
    return spread / math.sqrt(count), count - 1, count


def _decimals(text: str) -> int:
    """The place of the last digit of a number as it is written: 2 of `1.50`, -3 of `4e3`; what is beyond the digits of a number is not counted."""
    mantissa, _, exponent = text.lower().partition("e")
    return max(-_MOST_DIGITS, min(_MOST_DIGITS, len(mantissa.partition(".")[2]) - int(exponent or 0)))


def digest(content: bytes) -> str:
    """What tells one version of a file from another."""
    return hashlib.sha256(content).hexdigest()
