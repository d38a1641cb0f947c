"""Errors that a user can act on, as pages get them: the same words and places as on the command line."""

from __future__ import annotations

from typing import Any

from sawtooth.errors import Place, PlainError, SawtoothError, StudyError
from sawtooth.linting import Diagnostic


class NotAllowedError(PlainError):
    """It would write or run something, and the explorer was started to read."""

    def __init__(self, what: str) -> None:
        super().__init__(f"this explorer may not {what}", "start it with `sawtooth serve --allow-run`")


def place_of(place: Place | None) -> dict[str, Any] | None:
    """Where in a text, from 1 on; the end is the column after the last character."""
    if place is None:
        return None
    return {"name": place.name, "line": place.line, "column": place.column, "end": place.end_column, "text": place.text}


def problem(error: SawtoothError) -> dict[str, Any]:
    """What is wrong, where, and what to do."""
    place = error.place if isinstance(error, StudyError) else None
    message = getattr(error, "message", None) or str(error)
    told = {"message": message, "hint": getattr(error, "hint", None), "place": place_of(place)}
    # Where a page can offer to do it.
    return told | {"repeatable": True} if getattr(error, "repeatable", False) else told


def diagnosed(each: Diagnostic) -> dict[str, Any]:
    """What lint says of a study."""
    return {
        "rule": each.rule.code,
        "severity": str(each.severity),
        "message": each.message,
        "hint": each.hint,
        "place": place_of(each.place),
    }
