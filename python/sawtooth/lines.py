"""The lines of a text and the cells of a line, counted as editors and the core count them: so a place that is told is where it is found."""

from __future__ import annotations

import unicodedata


def lines(text: str) -> list[str]:
    """The lines of a text, at least one. Line feeds end them; what else Unicode has for that (`str.splitlines`) does not."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def stretch(line: str, at: int) -> tuple[int, int]:
    """The characters of a cell of a line of CSV, the blanks around it left out: first, and the one after the last; cells count from 0."""
    first = count = 0
    if '"' not in line:
        # No comma is a part of a cell.
        cells = line.split(",")
        if at >= len(cells):
            return 0, max(1, len(line))
        return _within(cells[at], sum(map(len, cells[:at])) + at)
    opened = within = False
    for place, letter in enumerate(f"{line},"):
        if letter == '"' and (opened or place == first):
            opened, within = True, not within
        elif letter == "," and not within:
            if count == at:
                return _within(line[first:place], first)
            first, count, opened = place + 1, count + 1, False
    return 0, max(1, len(line))


def _within(cell: str, first: int) -> tuple[int, int]:
    """The characters of a cell that begins at `first`, without the blanks around it."""
    blanks = len(cell) - len(cell.lstrip()) if cell.strip() else 0
    return first + blanks, first + max(blanks + 1, len(cell.rstrip()))


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
