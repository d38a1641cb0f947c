"""Quantities with units, where a command line takes them."""

from __future__ import annotations

from sawtooth import _core
from sawtooth.errors import StudyError


def seconds(text: str) -> float:
    """A time as people write it, such as `2.5 s` or `300 ms`.

    Raises:
        StudyError: if it is none.

    """
    try:
        value, unit = _core.evaluate(text, {})
    except _core.ScenarioError as error:
        raise StudyError(f"`{text}` is not a time: {error.message}", hint="such as '2.5 s' or '300 ms'") from None
    if unit != "time":
        raise StudyError(f"`{text}` is not a time", hint="such as '2.5 s' or '300 ms'")
    return value
