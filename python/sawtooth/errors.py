"""Errors that a user can act on: what is wrong, where, what was expected, what to do.

The same text appears on the command line, in a notebook and in a report.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sawtooth import reading
from sawtooth.lines import columns

_MOST_BYTES = 16 * 2**20
"""Of a study file."""


class SawtoothError(Exception):
    """Base of all errors that are about the user's input or surroundings, never about a bug."""


_WIDEST = 160
"""Characters of a line that an error shows."""


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

    def __str__(self) -> str:
        """`file:line:column`."""
        return f"{self.name}:{self.line}:{self.column}"

    def render(self) -> str:
        """The line with what is meant underlined, below `file:line:column`; of a very long line what is around it."""
        number = str(self.line)
        margin = " " * len(number)
        text, first, last = self.text, self.column - 1, min(self.end_column - 1, len(self.text))
        if len(text) > _WIDEST:
            start = min(max(0, first - _WIDEST // 2), len(text) - _WIDEST)
            before, after = ("..." if start else ""), ("..." if start + _WIDEST < len(text) else "")
            text, shift = f"{before}{text[start : start + _WIDEST]}{after}", len(before) - start
            first, last = first + shift, min(last + shift, len(before) + _WIDEST)
        # What would end the line or move the carets is shown as a blank.
        text = "".join(letter if letter.isprintable() else " " for letter in text)
        carets = "^" * max(1, columns(text[first:last]))
        blanks = " " * columns(text[:first])
        return f"{margin}--> {self}\n{margin} |\n{number} | {text}\n{margin} | {blanks}{carets}"


class StudyError(SawtoothError):
    """A study file, or an option that changes it, cannot be used."""

    def __init__(self, message: str, place: Place | None = None, hint: str | None = None) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        return _told("error", self.message, self.place, self.hint)


def hinted(error: StudyError, hint: str | None) -> StudyError:
    """The same error with what to do."""
    return StudyError(error.message, error.place, hint or error.hint)


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


class ClusterError(PlainError):
    """Workers elsewhere cannot do what they are to do."""


class CaptureUnreadable(PlainError):
    """A file is no capture, or none that is read."""


class FileUnreadable(PlainError):
    """A file that another program wrote cannot be read."""


def cut(text: str) -> str:
    """A text that may be very long, for a message."""
    return text if len(text) <= 40 else f"{text[:36]}..."


def wrong_type(what: str, found: object) -> TypeError:
    """The error about an argument of another type than `what` says."""
    kind = type(found).__name__
    return TypeError(f"{what}, found {'an' if kind[0] in 'aeiou' else 'a'} {kind}: {cut(repr(found))}")


def as_path(value: Any, what: str) -> Path:
    """The path that `what` says is expected.

    Raises:
        TypeError: if it is something else.

    """
    try:
        if isinstance(value, str | os.PathLike) and b"\0" not in os.fsencode(cast("str | os.PathLike[str]", value)):
            return Path(os.fsdecode(cast("str | os.PathLike[str]", value)))
    except UnicodeEncodeError:
        # Half a letter, which is no byte of a file's name either.
        pass
    raise wrong_type(what, cast(object, value))


def _within(directory: Path) -> str:
    """What to name instead of a directory."""
    try:
        if (directory / "manifest.json").is_file():
            return f"it holds results; the study that they are of is {directory / 'study.toml'}"
        found = sorted(path.name for path in directory.glob("*.toml"))
    except OSError:
        found = []
    if not found:
        return "name a file; `sawtooth list study` shows the studies that come along"
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return f"name a file in it: {', '.join(found[:3])}{more}"


def read_text(path: Path) -> str:
    """The text of a file the user named.

    Raises:
        StudyError: if there is no such file, or it is no text, or too much of it.

    """
    if str(path) == "-":
        raise StudyError(
            "a study is read from a file, not from standard input", hint="what it names is found from where it is: put it into a file"
        )
    try:
        return reading.read_text(path, _MOST_BYTES, "a study is written by hand; put tables into files that it names")
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}", hint="`sawtooth list study` shows the studies that come along") from None
    except IsADirectoryError:
        raise StudyError(f"{path} is a directory, not a study file", hint=_within(path)) from None
    except reading.Unreadable as error:
        place = Place(str(path), *error.where[:2], error.where[1] + 1, error.where[2]) if error.where else None
        raise StudyError(error.message, place, error.hint or "a study is a text in UTF-8: save it as one") from None
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror}", hint="name another, or see what `ls -ld` says of it") from None


class OutputLost(PlainError):
    """Standard output cannot be written."""


class ReaderGone(SystemExit):
    """Nobody reads standard output any more (`| head` has seen enough): the command ends, and nothing is wrong."""

    def __init__(self) -> None:
        super().__init__(0)
