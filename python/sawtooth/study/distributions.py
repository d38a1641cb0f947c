"""Empirical distributions: text files of values and cumulative probabilities, which the core does not read itself.

A table such as `{ name = "empirical", file = "sizes.txt" }` anywhere in a scenario becomes one with the file's `points`. So what a run depends on is all in
its scenario, and its id changes when the file does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from sawtooth import _core, reading
from sawtooth.errors import Place, StudyError, hinted
from sawtooth.lines import lines
from sawtooth.study.folder import Folder

_EXAMPLE = "each line has a value and the probability of it or less, such as `1000 0.25`; the last probability is 1"


def inline_files(tree: Any, folder: Folder, locate: Callable[[str, str], StudyError]) -> None:
    """Puts the points of the files that empirical distributions name into the tree.

    Args:
        tree: a scenario's tree, which is changed.
        folder: where the files are.
        locate: makes an error of a message and the path of the offending value in the tree.

    Raises:
        StudyError: if a file cannot be read, or holds no cumulative distribution function; with file, line and column.

    """
    for path, table in list(_tables(tree, "")):
        if table.get("name") != "empirical" or "file" not in table:
            continue
        where = f"{path}.file"
        name = table["file"]
        if "points" in table:
            raise locate("`file` and `points` say the same twice: leave one of the two out", where)
        file = folder.file(name, lambda message, where=where: locate(message, where))
        try:
            text = reading.read_text(file, folder.most, _core.how_to_raise("file", folder.most + 1), "utf-8-sig")
        except OSError as error:
            raise locate(f"cannot read {file}: {error.strerror}", where) from None
        except reading.Unreadable as error:
            raise hinted(locate(error.message, where), error.hint) from None
        del table["file"]
        table["points"] = read_points(text, str(file))


def read_points(text: str, name: str) -> list[list[float]]:
    """The points of a cumulative distribution function.

    Args:
        text: on each line a value and a cumulative probability, apart by blanks or a comma; `#` begins a comment.
        name: of the file, for messages.

    Raises:
        StudyError: for the first line that is not a point, or not above the one before it; or if the last probability is not 1.

    """
    points: list[list[float]] = []
    place: Place | None = None
    for number, line in enumerate(lines(text), 1):
        words = [(match.group(), match.start()) for match in re.finditer(r"[^\s,]+", line.partition("#")[0])]
        if not words:
            continue
        first, last = words[0][1] + 1, words[-1][1] + len(words[-1][0]) + 1
        place = Place(name, number, first, last, line)
        if len(words) != 2:
            raise StudyError(f"expected a value and a probability, found {len(words)} words", place, _EXAMPLE)
        point: list[float] = []
        for word, start in words:
            at = Place(name, number, start + 1, start + len(word) + 1, line)
            try:
                point.append(float(word))
            except ValueError:
                raise StudyError(f"`{word}` is no number", at, _EXAMPLE) from None
        fault = _fault(point, points[-1] if points else [0.0, 0.0])
        if fault:
            message, which = fault
            word, start = words[which]
            hint = "divide by 100: probabilities, not per cent" if which == 1 and 1 < point[1] <= 100 else _EXAMPLE
            raise StudyError(message, Place(name, number, start + 1, start + len(word) + 1, line), hint)
        points.append(point)
    if place is None:
        raise StudyError(f"{name} holds no points", hint=_EXAMPLE)
    if points[-1][1] != 1.0:
        raise StudyError(f"the last cumulative probability must be 1, found {points[-1][1]:g}", place, _EXAMPLE)
    return points


def _fault(point: list[float], before: list[float]) -> tuple[str, int] | None:
    """What is wrong with a point after another one, and with which of its numbers."""
    value, probability = point
    if not 0.0 <= value < float("inf"):
        return f"a value cannot be {value:g}", 0
    if not 0.0 <= probability <= 1.0:
        return f"a cumulative probability is from 0 to 1, found {probability:g}", 1
    if value < before[0]:
        return f"values must ascend: {value:g} comes after {before[0]:g}", 0
    if probability < before[1]:
        return f"cumulative probabilities must ascend: {probability:g} comes after {before[1]:g}", 1
    return None


def _tables(tree: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All tables below a value, with their paths."""
    if isinstance(tree, dict):
        table = cast(dict[str, Any], tree)
        yield path, table
        for key, value in table.items():
            yield from _tables(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for index, value in enumerate(cast(list[Any], tree)):
            yield from _tables(value, f"{path}[{index}]")
