"""Where two versions of a study's file differ first in what decides its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import Place
from sawtooth.study.document import Document, shown
from sawtooth.study.paths import quoted

_NO_RUN = ("analysis", "caveats", "figures", "findings", "limits", "lint", "name", "question", "references", "report")
"""What no run depends on."""
_ORDERED = ("arms", "sweep")
"""Whose order is that of the runs."""


@dataclass(frozen=True)
class Difference:
    """The first place at which another version of a study says something else.

    Attributes:
        words: what it is called, and what was there.
        place: in the version of now.

    """

    words: str
    place: Place | None

    def __str__(self) -> str:
        """On one line."""
        return f"{self.words} ({self.place})" if self.place else self.words


def difference(before: str, now: Document) -> Difference | None:
    """What differs first between the text of a study and what it is now; None if nothing does that runs depend on, or the text cannot be read."""
    try:
        was, new = _core.parse_toml(before)[0], _core.parse_toml(now.text)[0]
    except _core.TomlError:
        return None
    return _values(was, new, now) or _order(was, new, now)


def _values(before: Mapping[str, Any], now: Mapping[str, Any], document: Document) -> Difference | None:
    ran, new = dict(_leaves(before, "")), dict(_leaves(now, ""))
    # The short form last: nothing tells whether it is what was run.
    for place in sorted(dict.fromkeys((*new, *ran)), key=lambda place: place.partition(".")[0] == "short"):
        if place not in ran:
            return Difference(f"`{place}` was not set", document.place(place, key=True))
        if place not in new:
            return Difference(f"`{place}` was {shown(ran[place])} and is not set", document.place(place) or document.start)
        if ran[place] != new[place]:
            return Difference(f"`{place}` was {shown(ran[place])}", document.place(place))
    return None


def _order(before: Mapping[str, Any], now: Mapping[str, Any], document: Document) -> Difference | None:
    """Of tables that say the same, in which order they said it."""
    for key in _ORDERED:
        if isinstance(was := before.get(key), dict) and [*(names := cast(dict[str, Any], was))] != [*now[key]]:
            return Difference(f"the order of `{key}` was {', '.join(names)}", document.place(key, key=True))
    return None


def _leaves(tree: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """The places of a study's values that runs depend on, and the values."""
    for key, value in tree.items():
        if not above and key in _NO_RUN:
            continue
        yield from _within(value, f"{above}.{quoted(key)}" if above else quoted(key))


def _within(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from _leaves(cast(dict[str, Any], value), place)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in cast(list[Any], value)):
        for at, each in enumerate(cast(list[Any], value)):
            yield from _within(each, f"{place}[{at}]")
    else:
        yield place, value
