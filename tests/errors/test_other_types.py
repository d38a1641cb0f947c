"""Every key of shipped studies with a value of every other type: an error has a place and words, and there is never a traceback."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study, shipped
from tests.fuzz.kinds.study import written

DATE = "2026-01-01T00:00:00Z"
OTHERS: tuple[Any, ...] = (True, 7, -3.5, "text", DATE, [1, "a"], [[]], {"a": 1}, [], {})


@pytest.mark.parametrize(
    "name",
    [
        "gallery/slow-start-overshoot",
        pytest.param("hstcp", marks=pytest.mark.long),
        pytest.param("stall", marks=pytest.mark.long),
    ],
)
def test_a_value_of_another_type_is_told_where_it_stands(name: str) -> None:
    path = shipped.studies()[name]
    tree = _small(tomllib.loads(path.read_text()))
    make_plan(Study.parse(written(tree), path))
    tried = refused = 0
    for where in _steps(tree):
        for other in OTHERS:
            tried += 1
            # A date is written without quotes.
            text = written(_with(tree, where, other)).replace(f'"{DATE}"', DATE)
            try:
                make_plan(Study.parse(text, path, short=where[0] == "short"))
            except StudyError as error:
                refused += 1
                found = str(error)
                assert error.place is not None, (where, other, found)
                # In the study, or in a file that it names.
                assert f"--> {error.place.name}:{error.place.line}:{error.place.column}\n" in found, (where, other)
                # Words of this project, not those of a program about its own types.
                assert len(error.message.split()) >= 3, (where, other, found)
                assert not re.search(r"Traceback|NoneType|object has no|<class|\bint\(|\bdict\b|\bstr\b", error.message), (
                    where,
                    other,
                    found,
                )
    assert refused > 0.75 * tried, (refused, tried)


def _small(tree: dict[str, Any]) -> dict[str, Any]:
    """A study of few runs, of which every key is still there."""
    tree["repeat"] = 1
    # Levels that figures and findings speak of are there, too, and as many as a dip needs.
    told = json.dumps([tree.get("figures"), tree.get("findings")])
    tree["sweep"] = _shortened(tree.get("sweep", {}), told)
    return tree


def _shortened(sweep: Any, told: str) -> Any:
    if isinstance(sweep, dict):
        return {key: _shortened(value, told) for key, value in sweep.items()}
    if not isinstance(sweep, list):
        return sweep
    return [
        _shortened(value, told)
        for at, value in enumerate(sweep)
        if at < (3 if len(sweep) > 10 else 2) or any(json.dumps(each) in told for each in _levels(value))
    ]


def _levels(value: Any) -> list[Any]:
    """A level in words; of a case those that it sets. Numbers stand for much else."""
    return [each for each in (value.values() if isinstance(value, dict) else [value]) if isinstance(each, str)]


def _steps(value: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value of a tree."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*before, key)
        yield from _steps(item, (*before, key))


def _with(tree: dict[str, Any], where: tuple[str | int, ...], other: Any) -> dict[str, Any]:
    """A tree with another value somewhere."""
    made = copy.deepcopy(tree)
    holder: Any = made
    for step in where[:-1]:
        holder = holder[step]
    holder[where[-1]] = other
    return made
