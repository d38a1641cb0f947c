"""Tables as they are read: columns with a heading, a side on which they stand, and texts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sawtooth.recognise import written
from sawtooth.scales import scale

if TYPE_CHECKING:
    from sawtooth.report.document import Grid

# What the names of columns in base units end in.
_UNITS = {"_ns": "ns", "_bps": "bit/s", "_bytes": "B"}
_QUANTITY = re.compile(r"[-+<>≤≥]?\s*\d[\d.,]*(e[-+]?\d+)?( ?[A-Za-zµ%/]+)?")
_LEAST_P = 0.001


@dataclass(frozen=True)
class Cell:
    """What is shown, and the number behind it if there is one."""

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Column:
    """A column: its heading, whether it stands at the right as numbers and quantities do, and its cells."""

    heading: str
    right: bool
    cells: Sequence[Cell]


def columns(grid: Grid) -> list[Column]:
    """The columns of a table, of the rows that a page shows."""
    frame = grid.shown
    return [_column(name, frame[name].to_list(), grid.digits.get(name)) for name in frame.columns]


def _column(name: str, values: Sequence[Any], digits: int | None) -> Column:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    ending = next((ending for ending in _UNITS if name.endswith(ending)), None)
    divisor, heading = 1.0, name
    if ending is not None and numbers:
        divisor, unit = scale(_UNITS[ending], [float(number) for number in numbers if math.isfinite(number)])
        heading, digits = f"{name.removesuffix(ending)} ({unit})", digits if divisor == 1.0 else None
    probability = name == "p" or name.startswith("p_") or name.endswith("_p")
    cells = [_cell(value, divisor, digits, probability=probability) for value in values]
    texts = [cell.text for cell in cells if cell.text not in ("", "-", "not set")]
    return Column(heading, bool(numbers) or (bool(texts) and all(_QUANTITY.fullmatch(text) for text in texts)), cells)


def _cell(value: Any, divisor: float, digits: int | None, *, probability: bool) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if not isinstance(value, int | float):
        return Cell(written(str(value)))
    if isinstance(value, float) and not math.isfinite(value):
        return Cell("-")
    if probability and value < _LEAST_P:
        return Cell(f"< {_LEAST_P}", value)
    return Cell(_number(value if divisor == 1.0 else value / divisor, digits), value)


def _number(value: float, digits: int | None) -> str:
    """A number as a reader wants it."""
    if isinstance(value, int):
        return str(value)
    if digits is not None:
        return f"{value:,.{digits}f}"
    return f"{value:,.4g}" if abs(value) < 1e4 or abs(value) >= 1e15 else f"{value:,.0f}"
