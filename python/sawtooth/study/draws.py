"""Random draws of a study: one value, or a list of them, for each cell and replicate.

A draw depends on the study's seed, on its own name, and on its cell and replicate, and on nothing else.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.study import Study, drawtables
from sawtooth.study.sweep import Cell

_WHOLE = 2**53
"""Up to here every whole number is one of binary64."""
_BESIDE = "files are named from the directory of the study"
_NOUNS = {
    "time": "a time", "rate": "a rate", "bytes": "a number of bytes", "packets": "a number of packets", "number": "a plain number",
    "bdp": "a number of bandwidth-delay products",
}  # fmt: skip
_UNITS = {"time": "s", "rate": "bit/s", "bytes": "B", "packets": "packets", "bdp": "bdp", "number": ""}


def seed_of(seed: int, name: str) -> int:
    """The seed of what is called `name`."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:8], "little") >> 1


def draw(
    study: Study, cell: Cell, variables: dict[str, Any], replicates: Sequence[int]
) -> list[tuple[dict[str, str | list[str]], dict[str, float]]]:
    """Each draw of some replicates: of each as the scenario's text, and in base units. `variables` are the scenario's, which ends of ranges may name.

    Raises:
        StudyError: with its place, for a draw that cannot be made.

    """
    found: list[tuple[dict[str, str | list[str]], dict[str, float]]] = [({}, {}) for _ in replicates]
    for name, settings in study.draws.items():
        items = [name] if "count" not in settings else [f"{name}[{number}]" for number in range(1, settings["count"] + 1)]
        numbers_of, unit = _drawer(study, name, settings, cell, variables, items)
        for replicate, (texts, values) in zip(replicates, found, strict=True):
            written = [f"{number!r} {unit}".strip() for number in numbers_of(replicate)]
            texts[name] = written if "count" in settings else written[0]
            values |= {item: _core.evaluate(text, {})[0] for item, text in zip(items, written, strict=True)}
    return found


def unit_of(study: Study, name: str) -> str:
    """The base unit of a draw, in which plans have its values; empty for plain numbers, and where only a cell tells it."""
    settings = study.draws[name]
    text = f"1 {settings['unit']}" if settings["distribution"] == "table" else str(settings["low"])
    return unit_of_text(text, study.scenario.get("vars", {}))


def unit_of_text(text: str, variables: dict[str, Any]) -> str:
    """The base unit of a quantity; empty for what is none."""
    try:
        return _UNITS[_core.evaluate(text, variables)[1]]
    except _core.ScenarioError:
        return ""


Numbers = Sequence[int] | Sequence[float] | Sequence[int | float]


def _drawer(
    study: Study, name: str, settings: dict[str, Any], cell: Cell, variables: dict[str, Any], items: Sequence[str]
) -> tuple[Callable[[int], Numbers], str]:
    """What gives the numbers of a draw for a replicate of a cell, and their unit."""
    kind = settings["distribution"]
    if kind == "table":
        _unit(study, name, settings)
        return _column(study, name, settings, cell), settings["unit"]
    low, high, dimension = _range(study, name, settings, variables)

    def seed(replicate: int) -> int:
        return seed_of(study.seed, f"draw/{name}/{cell.key}/{replicate}")

    if kind == "uniform":
        return lambda replicate: [_core.draw_uniform(seed(replicate), item, low, high) for item in items], _UNITS[dimension]
    first, end = _whole_range(study, name, (low, high, dimension), settings)
    return lambda replicate: [_core.draw_uniform_integer(seed(replicate), item, first, end) for item in items], settings["unit"]


def _range(study: Study, name: str, settings: dict[str, Any], variables: dict[str, Any]) -> tuple[float, float, str]:
    """Both ends of a range in base units, and what they are."""
    low = _evaluate(study, f"draws.{name}.low", settings["low"], variables)
    high = _evaluate(study, f"draws.{name}.high", settings["high"], variables)
    if low[1] != high[1]:
        raise study.document.error(
            f"`low` is {_NOUNS[low[1]]} and `high` is {_NOUNS[high[1]]}", f"draws.{name}.high", "write both in units of one kind"
        )
    if not low[0] < high[0]:
        raise study.document.error(
            f"the range of `{name}` is empty: from {low[0]:g} to {high[0]:g}", f"draws.{name}.high", "let `high` be above `low`"
        )
    if not math.isfinite(high[0] - low[0]):
        wrong = "low" if not math.isfinite(low[0]) else "high"
        raise study.document.error(f"the range of `{name}` has no end", f"draws.{name}.{wrong}", "no number is that large")
    return low[0], high[0], low[1]


def _whole_range(study: Study, name: str, ends: tuple[float, float, str], settings: dict[str, Any]) -> tuple[int, int]:
    """The first whole number of units, and that after the last."""
    low, high, dimension = ends
    scale, kind = _unit(study, name, settings)
    if kind != dimension:
        place = f"draws.{name}.unit"
        raise study.document.error(f"`unit` is for {_NOUNS[kind]}, and `low` is {_NOUNS[dimension]}", place, _unit_hint(dimension))
    first, end = _first_whole(low / scale), _first_whole(high / scale)
    for key, number in (("low", first), ("high", end)):
        if abs(number) > _WHOLE:
            message = f"`{key}` is {number / 1:g} {settings['unit']}: whole numbers are drawn up to 2^53"
            raise study.document.error(message, f"draws.{name}.{key}", "take a larger unit, or the distribution `uniform`")
    if first >= end:
        message = f"there is no whole number of {settings['unit']} in the range of `{name}`".replace("  ", " ")
        raise study.document.error(message, f"draws.{name}", "take a smaller unit, or the distribution `uniform`")
    return first, end


def _first_whole(number: float) -> int:
    """The first whole number at or above `number`, forgiving the rounding of one division."""
    return math.ceil(number - 1e-9 * max(1.0, abs(number))) if math.isfinite(number) else _WHOLE + 1


def _unit(study: Study, name: str, settings: dict[str, Any]) -> tuple[float, str]:
    """What one of a draw's unit is in base units, and of what."""
    before = "1 "
    try:
        return _core.evaluate(before + settings["unit"], {})
    except _core.ScenarioError as error:
        within = (max(error.span[0] - len(before), 0), error.span[1] - len(before)) if error.span else None
        raise StudyError(error.message, study.document.place(f"draws.{name}.unit", within=within), error.hint) from None


def _unit_hint(dimension: str) -> str:
    unit = _UNITS[dimension]
    return f'for example unit = "{unit}"' if unit else 'for a number unit = ""'


def _evaluate(study: Study, origin: str, text: Any, variables: dict[str, Any]) -> tuple[float, str]:
    try:
        return _core.evaluate(str(text), variables)
    except _core.ScenarioError as error:
        hint = error.hint or 'a number, a quantity such as "20 ms", or an expression of variables'
        raise StudyError(error.message, study.document.place(origin, within=error.span), hint) from None


def _column(study: Study, name: str, settings: dict[str, Any], cell: Cell) -> Callable[[int], Numbers]:
    """What finds the number for a replicate of a cell in a draw's table."""
    origin = f"draws.{name}"
    path = study.folder.file(settings["file"], lambda message: study.document.error(message, f"{origin}.file"))
    table = drawtables.read(
        path, settings["row"], study.folder.most, lambda message: study.document.error(message, f"{origin}.file", _BESIDE)
    )
    row = str(cell.number)
    if row not in table.rows:
        raise study.document.error(f"{path} has no row for {settings['row']} {row}", f"{origin}.file")

    def look_up(replicate: int) -> Numbers:
        column = settings["column"].replace("{replicate}", str(replicate))
        if column not in table.columns:
            raise study.document.error(f"{path} has no column `{column}`", f"{origin}.column", "is `repeat` larger than the file?")
        number = table.number(row, column)
        try:
            _core.evaluate(f"{number!r} {settings['unit']}", {})
        except _core.ScenarioError as error:
            raise table.error(error.message, row, column) from None
        return [number]

    return look_up
