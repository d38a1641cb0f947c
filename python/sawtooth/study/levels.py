"""When two levels of a sweep are one: they would make the same runs twice, with one identity, and count them as more evidence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, cast

from sawtooth import _core


def first_repeated(levels: Iterable[Iterable[tuple[str, Any]]]) -> tuple[int, int] | None:
    """The first level that sets what an earlier one sets, and that one.

    Args:
        levels: of each, paths and values; a later value of a path takes the place of an earlier one.

    """
    seen: dict[Hashable, int] = {}
    for index, level in enumerate(levels):
        earlier = seen.setdefault(frozenset({path: meaning(value) for path, value in level}.items()), index)
        if earlier != index:
            return index, earlier
    return None


def meaning(value: Any) -> Hashable:
    """What a value stands for, whatever it is written as: `1 s` is `1000 ms`, and `1` is `1.0`. What variables stand for is not known here."""
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, int | float):
        return "number", value
    if isinstance(value, dict):
        return "table", frozenset((key, meaning(item)) for key, item in cast(dict[str, Any], value).items())
    if isinstance(value, list):
        return "list", tuple(meaning(item) for item in cast(list[Any], value))
    if value is None:
        return "nothing"
    try:
        number, unit = _core.evaluate(value, {})
    except (_core.ScenarioError, UnicodeEncodeError):
        return "text", value
    return unit, number
