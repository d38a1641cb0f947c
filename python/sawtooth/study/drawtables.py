"""Tables of draws: a CSV file with a row per cell (or whatever `row` names), and columns of numbers.

A mistake in such a file is reported by the file's own name, line and column.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth import _core, reading
from sawtooth.errors import Place, StudyError, cut, hinted
from sawtooth.lines import lines, stretch


@dataclass(frozen=True)
class Line:
    """A line of a table, with its cells."""

    file: Path
    number: int
    text: str
    cells: Sequence[str]

    def error(self, message: str, at: int | None = None, hint: str | None = None) -> StudyError:
        """An error about one of its cells, or about all of it."""
        first, last = (0, len(self.text)) if at is None else stretch(self.text, at)
        return StudyError(message, Place(str(self.file), self.number, first + 1, last + 1, self.text), hint)


@dataclass(frozen=True)
class Table:
    """A table whose rows have names.

    Attributes:
        columns: of each name its position.
        rows: by what the column says that names them.

    """

    columns: Mapping[str, int]
    rows: Mapping[str, Line]

    def number(self, row: str, column: str) -> int | float:
        """A number of the table; whole ones are `int`.

        Raises:
            StudyError: if there stands something else.

        """
        line, at = self.rows[row], self.columns[column]
        text = line.cells[at].strip()
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise line.error(f"`{cut(text)}` is no number", at, f"`{column}` holds numbers in the draw's unit")
        return int(number) if number.is_integer() else number

    def error(self, message: str, row: str, column: str) -> StudyError:
        """An error about a cell."""
        return self.rows[row].error(message, self.columns[column])


def read(file: Path, row: str, most: float, locate: Callable[[str], StudyError]) -> Table:
    """The table in a file.

    Args:
        file: a CSV file, with the names of its columns in its first line.
        row: the column that names the rows.
        most: bytes that it may have.
        locate: makes the error about a file that cannot be read.

    Raises:
        StudyError: for a file that cannot be read, or a line of it that cannot be used, with file, line and column.

    """
    try:
        return _read(file, row, most, file.stat().st_mtime_ns)
    except OSError as error:
        raise locate(f"cannot read {file}: {error.strerror}") from None
    except reading.Unreadable as error:
        raise hinted(locate(error.message), error.hint) from None


@functools.cache
def _read(file: Path, row: str, most: float, _written: int) -> Table:
    # Spreadsheets begin what they save with a mark of its encoding.
    content = reading.read_text(file, most, _core.how_to_raise("file", most + 1), "utf-8-sig")
    found = [_line(file, number, text) for number, text in enumerate(lines(content), 1) if text.strip()]
    if not found:
        raise StudyError(f"{file} is empty", hint="its first line has the names of its columns")
    head, *body = found
    columns: dict[str, int] = {}
    for at, cell in enumerate(head.cells):
        name = cell.strip()
        if name in columns:
            raise head.error(f"two columns are called `{cut(name)}`", at, "give each its own name")
        columns[name] = at
    if row not in columns:
        raise head.error(f"the table has no column `{row}`", hint="`row` names the column that names the rows")
    rows: dict[str, Line] = {}
    for line in body:
        if len(line.cells) != len(head.cells):
            raise line.error(f"{len(line.cells)} cells, where the first line has {len(head.cells)}")
        at = columns[row]
        name = line.cells[at].strip()
        if name in rows:
            raise line.error(f"line {rows[name].number} is of {row} `{cut(name)}` already", at, "leave one of the two out")
        rows[name] = line
    return Table(columns, rows)


def _line(file: Path, number: int, text: str) -> Line:
    try:
        return Line(file, number, text, next(csv.reader([text], strict=True)))
    except csv.Error as error:
        raise Line(file, number, text, ()).error(f"this is no line of a table: {error}") from None
