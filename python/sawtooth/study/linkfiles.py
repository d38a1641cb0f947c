"""Files that the links of a scenario name: delivery traces, tables of changes, measured jitter.

The core reads no file. So what a file holds is put into the scenario's tree in its place, and a mistake in it is reported by the file's
own name and line. Files are named relative to the study.

- `trace = { file = "up.trace" }`: one whole number of milliseconds per line, ascending (mahimahi's format).
- `changes = { file = "wifi.csv" }`: columns `at` (or `t`), and any of `rate`, `delay` and `loss`; cells are quantities such as `20 ms`, or
  plain numbers in seconds and bit/s. An empty cell leaves things as they are.
- `jitter = { name = "table", file = "rtt.txt" }`: one number of milliseconds per line, in any order.

Blank lines, and lines that begin with `#`, are left out.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

from sawtooth import _core, reading
from sawtooth.errors import Place, StudyError, cut, hinted
from sawtooth.lines import lines, stretch
from sawtooth.study.folder import Folder

Tree: TypeAlias = dict[str, Any]
Locate: TypeAlias = Callable[[str, str], StudyError]
"""An error with this message about this path of the scenario."""

_DIGITS = 15
"""Of a time of a trace: 30,000 years, and exact in binary64."""
_COLUMNS = {
    "at": ("time", "s", "1.5 s"),
    "rate": ("rate", "bit/s", "5 Mbit/s"),
    "delay": ("time", "s", "20 ms"),
    "loss": ("number", "", "0.01"),
}
"""Of each the dimension, the unit of plain numbers, and an example; `t` is `at`."""


def inline(scenario: Tree, folder: Folder, locate: Locate) -> None:
    """Puts what the files hold that links name into the scenario's tree.

    Args:
        scenario: the tree; it is changed.
        folder: where the files are.
        locate: makes the error about a path of the tree, for files that cannot be read.

    Raises:
        StudyError: for a file that cannot be read, or a line of it that cannot be used, with file, line and column.

    """
    links = scenario.get("links")
    for name, link in _tables(links):
        for path, direction in ((f"links.{name}", link), (f"links.{name}.reverse", link.get("reverse"))):
            if not isinstance(direction, dict):
                continue
            for key, (content, read) in _KINDS.items():
                table = cast(Tree, direction).get(key)
                if isinstance(table, dict) and "file" in table:
                    named = cast(Tree, table)
                    where = f"{path}.{key}.file"
                    file = folder.file(named["file"], lambda message, where=where: locate(message, where))
                    try:
                        values = read(file, _written(file), folder.most)
                    except OSError as error:
                        told = locate(f"cannot read {file}: {error.strerror}", where)
                        raise StudyError(told.message, told.place, "files are named from the folder of the study") from None
                    except reading.Unreadable as error:
                        raise hinted(locate(error.message, where), error.hint) from None
                    others = {other: value for other, value in named.items() if other != "file"}
                    cast(Tree, direction)[key] = {**others, content: values}


def _tables(tree: Any) -> Iterator[tuple[str, Tree]]:
    if isinstance(tree, dict):
        for name, value in cast(Tree, tree).items():
            if isinstance(value, dict):
                yield name, cast(Tree, value)


def _written(file: Path) -> int:
    """When a file was written: what is remembered of it holds until it is written again."""
    try:
        return file.stat().st_mtime_ns
    except ValueError:  # no name of a file, which reading it says
        return 0


def _lines(file: Path, most: float) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines(reading.read_text(file, most, _core.how_to_raise("file", most + 1), "utf-8-sig")), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _wrong(file: Path, number: int, line: str, message: str, hint: str | None = None, at: int | None = None) -> StudyError:
    """An error about a cell of a line, counted from 0, or about all of the line."""
    first, last = (len(line) - len(line.lstrip()), len(line.rstrip())) if at is None else stretch(line, at)
    return StudyError(message, Place(str(file), number, first + 1, last + 1, line), hint)


def _empty(file: Path, what: str, hint: str) -> reading.Unreadable:
    return reading.Unreadable(f"{file} holds no {what}", hint)


@functools.cache
def _trace(file: Path, _written: int, most: float) -> list[int]:
    millis: list[int] = []
    for number, line in _lines(file, most):
        text = line.strip()
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
            hint = "each line is a whole number of milliseconds: one opportunity to deliver 1500 bytes"
            raise _wrong(file, number, line, f"`{cut(text)}` is no time of a trace", hint)
        if millis and int(text) < millis[-1]:
            raise _wrong(
                file,
                number,
                line,
                f"{text} ms comes after {millis[-1]} ms: the times of a trace ascend",
                "write the lines in the order of their times",
            )
        millis.append(int(text))
    if not millis:
        raise _empty(file, "delivery opportunity", "each line is a whole number of milliseconds, such as 12")
    if millis[-1] == 0:
        raise reading.Unreadable(f"{file} has no opportunity after 0 ms", "its last time is the length of a lap")
    return millis


@functools.cache
def _changes(file: Path, _written: int, most: float) -> list[dict[str, str]]:
    found = list(_lines(file, most))
    if len(found) < 2:
        raise _empty(file, "row of changes", "a line of names, such as at,rate, and below it a line for each change, such as 5 s,2 Mbit/s")
    (head_number, head), *body = found
    columns = ["at" if cell.strip() == "t" else cell.strip() for cell in _cells(file, head_number, head)]
    for at, column in enumerate(columns):
        if column not in _COLUMNS:
            raise _wrong(file, head_number, head, f"unknown column `{cut(column)}`", "there are at (or t), rate, delay and loss", at)
        if column in columns[:at]:
            raise _wrong(file, head_number, head, f"two columns say `{column}`", "leave one of the two out", at)
    if "at" not in columns:
        raise _wrong(file, head_number, head, "the table has no column `at`", "it says when the row holds, such as 1.5 s")
    rows: list[dict[str, str]] = []
    last = -math.inf
    for number, line in body:
        cells = _cells(file, number, line)
        if len(cells) != len(columns):
            raise _wrong(file, number, line, f"{len(cells)} cells, where the first line has {len(columns)}")
        row: dict[str, str] = {}
        for at, (column, cell) in enumerate(zip(columns, cells, strict=True)):
            if cell.strip():
                value, row[column] = _cell(functools.partial(_wrong, file, number, line, at=at), column, cell.strip())
                if column == "at":
                    if value <= last:
                        raise _wrong(file, number, line, f"{cell.strip()} does not come after the row before: times ascend", None, at)
                    last = value
        if "at" not in row:
            raise _wrong(file, number, line, "a row without a time")
        rows.append(row)
    return rows


def _cells(file: Path, number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise _wrong(file, number, line, f"this is no line of a table: {error}") from None


def _cell(wrong: Callable[[str, str], StudyError], column: str, cell: str) -> tuple[float, str]:
    """A cell in base units, and as the scenario has it."""
    dimension, unit, example = _COLUMNS[column]
    what = "time" if column == "at" else column
    hint = f"such as {example}" + (f", or a plain number in {unit}" if unit else "")
    try:
        value, found = _core.evaluate(cell, {})
    except _core.ScenarioError as error:
        raise wrong(f"`{cut(cell)}` is no {what}: {error.message}", error.hint or hint) from None
    if found == "number":
        text = f"{value!r} {unit}".strip()
    elif found == dimension:
        text = cell
    else:
        raise wrong(f"`{cut(cell)}` is a {found}, where a {what} is expected", hint)
    if value < 0 or (column == "loss" and value > 1):
        bounds = "from 0 to 1" if column == "loss" else "not negative"
        raise wrong(f"a {what} is {bounds}, found {cut(cell)}", hint)
    return value, text


@functools.cache
def _quantiles(file: Path, _written: int, most: float) -> list[str]:
    found: list[float] = []
    for number, line in _lines(file, most):
        try:
            value = float(line)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise _wrong(file, number, line, f"`{line.strip()}` is no number of milliseconds")
        found.append(value)
    if len(found) < 2:
        raise _empty(file, "distribution: it takes at least two numbers", "each line is a number of milliseconds, such as 1.5")
    return [f"{value!r} ms" for value in sorted(found)]


_KINDS: dict[str, tuple[str, Callable[[Path, int, float], list[Any]]]] = {
    "trace": ("opportunities", _trace),
    "changes": ("rows", _changes),
    "jitter": ("quantiles", _quantiles),
}
