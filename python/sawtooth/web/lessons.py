"""Guided lessons: settings of the playground with a question, what to look for, and what the simulation shows.

Each is a file of the folder `lessons`. Its numbers are made by its own settings whenever it is read: none is written there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.web.play import play
from sawtooth.web.requests import query
from sawtooth.web.setting import parse

_FOLDER = Path(__file__).parent / "lessons"
_UNITS = {"mbps": " Mbit/s", "ms": " ms", "kb": " kB", "percent": " %"}
# One after the other, and beside what else is asked: the second who opens a lesson has what was made for the first.
_POOL = ThreadPoolExecutor(1, "lessons")
_MOST_SECONDS = 30.0
"""Of a lesson's simulation: settings that come along take no long time, on a busy machine either."""


@dataclass(frozen=True)
class Step:
    """A setting to open. name: in the claims. address: of the setting. look: what to look for; of an answer's, nothing."""

    name: str
    title: str
    address: str
    look: str = ""


@dataclass(frozen=True)
class Claim:
    """What the simulation shows: a sentence with numbers in braces, and a number of its own that is above, or below, another."""

    says: str
    number: str
    above: float | None
    below: float | None

    def holds(self, numbers: Mapping[str, float]) -> bool:
        """Whether the simulation shows it."""
        value = _core.evaluate(self.number, dict(numbers))[0]
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)

    def said(self, numbers: Mapping[str, float]) -> str:
        """The sentence with its numbers."""
        return re.sub(r"\{([^}]+)\}", lambda found: _written(found[1], numbers), self.says)


@dataclass(frozen=True)
class Lesson:
    """A lesson: a question, steps, what they show, where it is from, and something to try, with its answers and the settings that make them."""

    name: str
    title: str
    question: str
    intro: str
    steps: Sequence[Step]
    claims: Sequence[Claim]
    exercise: str
    tries: Sequence[Step]
    answers: Sequence[Claim]
    sources: Sequence[Mapping[str, str]]

    def numbers(self) -> dict[str, float]:
        """What its settings come to: STEP_NUMBER of all flows together, and STEP_GROUP_NUMBER of a group; what was not measured is not there."""
        found: dict[str, float] = {}
        for step in (*self.steps, *self.tries):
            for name, value in _of_setting(step.address).numbers.items():
                found[f"{step.name}_{name}"] = value
        return found

    def axes(self) -> dict[str, float]:
        """Up to where axes go by the kind of their curves: the same in all steps, so that these can be held against each other."""
        peaks = [_of_setting(step.address).peaks for step in self.steps]
        return {kind: max(each.get(kind, 0.0) for each in peaks) for kind in sorted({kind for each in peaks for kind in each})}


@cache
def lessons() -> Mapping[str, Lesson]:
    """All of them by name, in their order."""
    found: dict[str, Lesson] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        tree, _ = _core.parse_toml(path.read_text(encoding="utf-8"))
        name = path.stem.partition("-")[2]
        found[name] = Lesson(
            name,
            tree["title"],
            tree["question"],
            tree["intro"],
            [Step(each["name"], each["title"], each["set"], each["look"]) for each in tree["steps"]],
            _claims(tree["claims"]),
            tree["exercise"],
            [Step(each["name"], each["title"], each["set"]) for each in tree["tries"]],
            _claims(tree["answers"]),
            tree["sources"],
        )
    return found


def _claims(rows: Sequence[Mapping[str, Any]]) -> list[Claim]:
    return [Claim(each["says"], each["number"], each.get("above"), each.get("below")) for each in rows]


@dataclass(frozen=True)
class _Done:
    """What a setting came to: its numbers, and the highest value of each kind of curves."""

    numbers: Mapping[str, float]
    peaks: Mapping[str, float]


@lru_cache(maxsize=256)
def _of_setting(address: str) -> _Done:
    played = play(parse(address), seconds=_MOST_SECONDS)
    head = played.head
    numbers: dict[str, Any] = dict(head["numbers"])
    for group in head["groups"]:
        name = group["name"].replace("-", "_")
        numbers |= {f"{name}_{key}": value for key, value in group.items() if key not in ("name", "group", "limit")}
    peaks: dict[str, float] = {}
    for curve in head["curves"]:
        peaks[curve["kind"]] = float(np.nanmax(np.append(played.columns[curve["column"]], peaks.get(curve["kind"], 0.0))))
    return _Done({key: float(value) for key, value in numbers.items() if value is not None}, peaks)


def _written(expression: str, numbers: Mapping[str, float]) -> str:
    """A number with three digits, and its unit if its name ends in one."""
    value = _core.evaluate(expression, dict(numbers))[0]
    unit = _UNITS.get(expression.rpartition("_")[2], "") if expression in numbers else ""
    digits = f"{value:.3g}" if 0 < abs(value) < 1000 else f"{value:,.0f}"
    return f"{digits}{unit}"


# --- what pages get


def every(_: Request) -> Response:
    """All lessons, in their order."""
    return JSONResponse({"lessons": [{"name": each.name, "title": each.title, "question": each.question} for each in lessons().values()]})


async def one(request: Request) -> Response:
    """A lesson with its numbers."""
    name = query(request, "name")
    if name not in lessons():
        raise DatasetError(f"there is no lesson `{name[:40]}`", did_you_mean(name[:40], list(lessons())))
    return JSONResponse(await asyncio.get_running_loop().run_in_executor(_POOL, _told, lessons()[name]))


def _told(lesson: Lesson) -> dict[str, Any]:
    numbers = lesson.numbers()
    names = list(lessons())
    at = names.index(lesson.name)
    return {
        "name": lesson.name,
        "title": lesson.title,
        "question": lesson.question,
        "intro": lesson.intro,
        "steps": [{"title": step.title, "address": parse(step.address).address(), "look": step.look} for step in lesson.steps],
        "shown": [claim.said(numbers) for claim in lesson.claims],
        "axes": lesson.axes(),
        "exercise": lesson.exercise,
        "answers": [claim.said(numbers) for claim in lesson.answers],
        "tries": [{"title": each.title, "address": parse(each.address).address()} for each in lesson.tries],
        "sources": list(lesson.sources),
        "before": names[at - 1] if at else None,
        "next": names[at + 1] if at + 1 < len(names) else None,
        "number": at + 1,
        "of": len(names),
    }
