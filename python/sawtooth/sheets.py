"""Tables of published numbers as their files have them: rows of texts, of which each cell knows its line and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sawtooth.counted import counted
from sawtooth.errors import cut
from sawtooth.lines import lines, stretch

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_LARGEST = 1e100
"""What is beyond it, or nearer to 0 than one of it, no unit's factor and no rounding can be trusted with."""


class NoSheetError(Exception):
    """A file that is no table: what is wrong, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


@dataclass(frozen=True)
class Record:
    """A row: the number of the line that it begins in, what is written there, and its cells without the blanks around them."""

    line: int
    text: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        path: its file.
        columns: their names.
        records: its rows.

    """

    path: Path
    columns: Sequence[str]
    records: Sequence[Record]

    def texts(self, column: str) -> list[str]:
        """The cells of a column that are not empty, each once."""
        return [text for text in dict.fromkeys(record.cells[column] for record in self.records) if text]

    def only(self, column: str, wanted: Sequence[str]) -> Sheet:
        """The rows in which a column has one of some texts."""
        return replace(self, records=[record for record in self.records if record.cells[column] in wanted])

    def place(self, record: Record, column: str) -> str:
        """Where a cell is: `file:line:column`."""
        return _place(self.path, record.line, record.text, self.columns.index(column))


def read(content: str, path: Path) -> Sheet:
    """The table that a CSV file holds: names of columns, then rows; lines that begin with `#` are comments.

    Raises:
        NoSheetError: with file, line and column where it is none.

    """
    found = _records(content, path)
    head = next(found, None)
    if head is None:
        raise NoSheetError(f"{path} is empty", "it needs a line of column names, then rows")
    number, text, cells = head
    names = [cell.strip() for cell in cells]
    sign = next((sign for sign in ";\t" if len(names) == 1 and sign in text), None)
    if sign is not None:
        raise NoSheetError(
            f"{_place(path, number, text, 0)}: the cells stand apart by {'a tab' if sign == chr(9) else f'`{sign}`'}",
            "commas are needed between them, and points in numbers",
        )
    for at, name in enumerate(names):
        if name in names[:at]:
            raise NoSheetError(f"{_place(path, number, text, at)}: two columns are called `{cut(name)}`", "give each its own name")
    records: list[Record] = []
    for number, text, cells in found:
        if len(cells) != len(names):
            raise NoSheetError(
                f"{path}:{number}:1: {counted(len(cells), 'cell')}, where the line of names has {len(names)}",
                "a cell of which nothing is known is left empty, between its commas; one with a comma in it stands in quotes",
            )
        # Spreadsheets end what they save with rows of commas.
        if any(cell.strip() for cell in cells):
            records.append(Record(number, text, dict(zip(names, (cell.strip() for cell in cells), strict=True))))
    if not records:
        raise NoSheetError(f"{path} has no row below its line of names", "a row is what was published of one cell")
    return Sheet(path, names, records)


def number(text: str) -> float | None:
    """The number that a cell holds; None of words, of `nan` and `inf`, and of what is too large or too small to be worked with."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    # 1e-400 is no 0.
    small = value == 0 and any(letter in "123456789" for letter in text.lower().partition("e")[0])
    return None if small or abs(value) > _LARGEST or 0 < abs(value) < 1 / _LARGEST else value


def _records(content: str, path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Of each row the number of its first line, what is written there, and its cells; a cell in quotes may have several lines."""
    taken: list[str] = []
    begun = 0

    def fed() -> Iterator[str]:
        nonlocal begun
        for at, line in enumerate(lines(content), 1):
            if not taken:
                if not line.strip() or line.startswith("#"):
                    continue
                begun = at
            taken.append(line)
            yield f"{line}\n"

    reader = csv.reader(fed(), strict=True)
    while True:
        taken.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise NoSheetError(f"{path}:{begun}:1: this is no line of a table: {error}", "a CSV file is needed") from None
        if cells is None:
            return
        yield begun, "\n".join(taken), cells


def _place(path: Path, line: int, text: str, at: int) -> str:
    before = text[: stretch(text, at)[0]]
    return f"{path}:{line + before.count(chr(10))}:{len(before) - before.rfind(chr(10))}"
