"""What the axes of a sweep set must not be set again later, by another axis or by an arm: tables and figures would name levels that no run had.

Assignments are applied in the order of the axes, then those of the arm. A later one may add to what an earlier one has set (a queue, then its limit), and
may say the same again; it may not take it away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from sawtooth.errors import StudyError
from sawtooth.study import Assignment, Study
from sawtooth.study.assign import OPTIONAL_TABLES
from sawtooth.study.document import shown
from sawtooth.study.paths import tokens

Steps = tuple[str | int, ...]


class _Missing:
    """What is at a path where there is nothing."""


_MISSING = _Missing()


def check_overlaps(study: Study) -> None:
    """Refuses a study that sets what a factor varies once more.

    Raises:
        StudyError: at what is set later; it names the place of the factor.

    """
    before: dict[Steps, list[Assignment]] = {}
    for block in study.sweep:
        own = _by_path(assignment for level in block for assignment in level)
        if found := _lost(before, own):
            raise _by_axis(study, *found)
        for steps, assignments in own.items():
            before.setdefault(steps, []).extend(assignments)
    for arm, assignments in study.arms.items():
        if found := _lost(before, _by_path(assignments)):
            raise _by_arm(study, arm, *found)


def overwrites(first: Assignment, second: Assignment) -> bool:
    """Whether the second, which is set later, takes away what the first has set, in whole or in part."""
    return _lost(_by_path([first]), _by_path([second])) is not None


def _by_path(assignments: Iterable[Assignment]) -> dict[Steps, list[Assignment]]:
    found: dict[Steps, list[Assignment]] = {}
    for assignment in assignments:
        found.setdefault(tuple(tokens(assignment.path)), []).append(assignment)
    return found


def _lost(
    before: Mapping[Steps, Sequence[Assignment]], after: Mapping[Steps, Sequence[Assignment]]
) -> tuple[Assignment, Assignment] | None:
    """The first two of which the later one takes away what the earlier one has set."""
    for earlier, later in _related(before, after):
        for first in before[earlier]:
            if len(later) > len(earlier) and _at(first.value, earlier[-1], later[len(earlier) :]) is _MISSING:
                continue  # It is added to, whatever the later one sets.
            for second in after[later]:
                if _overwritten(first, second, earlier, later):
                    return first, second
    return None


def _related(before: Mapping[Steps, object], after: Mapping[Steps, object]) -> Iterator[tuple[Steps, Steps]]:
    """Paths of which one is the other, or leads to it."""
    for later in after:
        for end in range(1, len(later) + 1):
            if later[:end] in before:
                yield later[:end], later
    for earlier in before:
        for end in range(1, len(earlier)):
            if earlier[:end] in after:
                yield earlier, earlier[:end]


def _overwritten(first: Assignment, second: Assignment, earlier: Steps, later: Steps) -> bool:
    if len(later) <= len(earlier):
        return _at(second.value, later[-1], earlier[len(later) :]) != first.value
    return _at(first.value, earlier[-1], later[len(earlier) :]) != second.value


def _at(value: Any, key: str | int, steps: Steps) -> Any:
    """What is at `steps` within the value of `key`; what is no table where there must be one stands for itself."""
    for step in steps:
        if isinstance(value, str) and key in OPTIONAL_TABLES:
            value = {"name": value}
        if isinstance(value, list) and isinstance(step, int) and step < len(cast(list[Any], value)):
            value = cast(list[Any], value)[step]
        elif isinstance(value, dict):
            value = cast(dict[Any, Any], value).get(step, _MISSING)
            if value is _MISSING:
                return _MISSING
        else:
            break
        key = step
    return cast(Any, value)


def _by_arm(study: Study, arm: str, first: Assignment, second: Assignment) -> StudyError:
    message = (
        f"the arm `{arm}` sets {_what(first, second)}{place_of(study, axis_of(first.origin), key=True)}: "
        f"its runs would be called {shown(first.value)} and have {_had(first, second)}"
    )
    hint = "leave it out of the arm; if arms have other values, sweep a variable (`vars.NAME`) that they use in theirs, or make them cases of one block"
    return study.document.error(message, second.origin, hint, key=True)


def _by_axis(study: Study, first: Assignment, second: Assignment) -> StudyError:
    message = (
        f"this axis sets {_what(first, second)}{place_of(study, axis_of(first.origin), key=True)}: "
        f"runs would be called {shown(first.value)} and have {_had(first, second)}"
    )
    hint = "vary it in one place: what belongs together is a zip, or cases"
    if len(tokens(second.path)) < len(tokens(first.path)):
        hint = f"write this axis before `{first.path}`: what is set later adds to it; or make both cases of one block"
    return study.document.error(message, axis_of(second.origin), hint, key=True)


def _what(first: Assignment, second: Assignment) -> str:
    if first.path == second.path:
        return f"`{first.path}`, which the sweep varies"
    return f"`{second.path}`, and the sweep varies `{first.path}`"


def place_of(study: Study, origin: str, *, key: bool = False) -> str:
    """Where something is written, for the end of a sentence; nothing if that is in no text."""
    place = study.document.place(origin, key=key)
    return f" at {place}" if place else ""


def _had(first: Assignment, second: Assignment) -> str:
    earlier, later = tuple(tokens(first.path)), tuple(tokens(second.path))
    if len(later) > len(earlier):
        return f"`{second.path}` = {shown(second.value)}"
    found = _at(second.value, later[-1], earlier[len(later) :])
    return "what is there by default" if found is _MISSING else shown(found)


def axis_of(origin: str) -> str:
    """Where an axis is written, of where one of its levels is."""
    return origin[: origin.rindex("[")] if origin.endswith("]") and not origin.startswith("--set") else origin
