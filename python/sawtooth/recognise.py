"""How levels and units of two sides are recognised as the same: quantities by what they amount to (`10 ms` is `0.01 s`), names as text."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, cast

from sawtooth import _core
from sawtooth.study.levels import meaning

# How published tables spell units in the names of their columns, where that is not Sawtooth's way.
_SPELT = {"bytes": "B", "segments": "packets", "sec": "s", "seconds": "s", "msec": "ms"}


@functools.cache
def level(text: str | None) -> str:
    """What a factor's level is recognised by; a kernel's algorithm (`kernel:reno`) is the one of that name."""
    if text is None:
        return ""
    found = size(text)
    return text.removeprefix("kernel:") if found is None else f"{found[0]:.12g} {found[1]}"


def size(text: str) -> tuple[float, str] | None:
    """A level in base units, and of which kind it is; None if it is no quantity."""
    try:
        return _core.evaluate(text, {})
    except _core.ScenarioError:
        return None


def written(text: str) -> str:
    """A level as people read it: what stands for a table or a list, as plans have it, is its name and what else it says; all else is as it is."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return _in_words(json.loads(text))
    except ValueError:
        return text


def called(text: str, given: object) -> bool:
    """Whether a level, as plans have it, is what `given` says: the same table in another order or other units, what it is shown as, or its name."""
    if text[:1] not in ("{", "["):
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if not isinstance(given, str):
        return meaning(value) == meaning(given)
    name: object = cast(dict[str, Any], value).get("name") if isinstance(value, dict) else None
    return given in (_in_words(value), name)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        given = dict(cast(dict[str, Any], value))
        name = given.pop("name", None)
        rest = ", ".join(f"{key} = {_in_words(each)}" for key, each in given.items())
        return rest if name is None else f"{name} ({rest})" if rest else str(name)
    if isinstance(value, list):
        return ", ".join(_in_words(each) for each in cast(list[Any], value)) or "none"
    return value if isinstance(value, str) else json.dumps(value)


def unit_suffix(column: str) -> str:
    """The unit that a column's name ends in, in Sawtooth's spelling; empty if in none."""
    if "_" not in column:
        return ""
    last = column.rpartition("_")[2]
    unit = _SPELT.get(last, last)
    rate = re.fullmatch(r"([kKMGm]?)([bB])(?:it)?ps", unit)
    if rate:
        prefix = {"K": "k", "m": "M"}.get(rate[1], rate[1])
        unit = prefix + ("bit/s" if rate[2] == "b" else "B/s")
    return unit if amount(unit) else ""


def amount(unit: str) -> tuple[float, str] | None:
    """One of a unit in base units, and of what kind it is; None of what is no unit."""
    try:
        return _core.evaluate(f"1 {unit}", {}) if unit else None
    except _core.ScenarioError:
        return None
