"""Errors that a user can act on: what is wrong, where, what was expected, what to do.

The same text appears on the command line, in a notebook and in a report.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class SawtoothError(Exception):
    """Base of all errors that are about the user's input or surroundings, never about a bug."""


@dataclass(frozen=True)
class Place:
    """A stretch of one line of a text.

    Args:
        name: the file as the user named it, or `--set` for the command line.
        line: line number, from 1.
        column: first character, from 1.
        end_column: character after the last one.
        text: the line itself.

    """

    name: str
    line: int
    column: int
    end_column: int
    text: str

    def render(self) -> str:
        """The line with what is meant underlined, below `file:line:column`."""
        number = str(self.line)
        margin = " " * len(number)
        carets = "^" * max(1, min(self.end_column, len(self.text) + 1) - self.column)
        return (
            f"{margin}--> {self.name}:{self.line}:{self.column}\n"
            f"{margin} |\n"
            f"{number} | {self.text}\n"
            f"{margin} | {' ' * (self.column - 1)}{carets}"
        )


class StudyError(SawtoothError):
    """A study file, or an option that changes it, cannot be used."""

    def __init__(self, message: str, place: Place | None = None, hint: str | None = None) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        return _told("error", self.message, self.place, self.hint)


@dataclass(frozen=True)
class StudyWarning:
    """Something in a study that can be run and is hardly meant; the message says what will happen."""

    message: str
    place: Place | None = None
    hint: str | None = None

    def __str__(self) -> str:
        return _told("warning", self.message, self.place, self.hint)


def _told(kind: str, message: str, place: Place | None, hint: str | None) -> str:
    parts = [f"{kind}: {message}"]
    if place is not None:
        parts.append(place.render())
    if hint:
        parts.append(f"hint: {hint}")
    return "\n".join(parts)


class PlainError(SawtoothError):
    """An error without a place in a text."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        return f"error: {self.message}" + (f"\nhint: {self.hint}" if self.hint else "")


class BackendUnavailable(PlainError):
    """This machine cannot run the backend that was asked for."""


class RunFailed(PlainError):
    """A run that was asked for on its own failed."""


class DatasetError(PlainError):
    """A results directory cannot be read or written."""


def read_text(path: Path) -> str:
    """The text of a file the user named.

    Raises:
        StudyError: if there is no such file, or it is no text.

    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}", hint="`sawtooth list study` shows the studies that come along") from None
    except IsADirectoryError:
        raise StudyError(f"{path} is a directory, not a study file") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is no text: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror}") from None
