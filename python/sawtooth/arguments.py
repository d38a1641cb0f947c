"""What the functions of the package are given, made of plain Python: numbers of numpy, tuples and paths are as good."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast

from sawtooth.errors import StudyError, cut, wrong_type

MOST_JOBS = 1024
"""Threads: more than that no machine starts."""
_DEEPEST = 64


_PLAIN = "--unit"
"""The option of which nothing is a value: numbers without a unit."""


def require_words(words: Sequence[str]) -> None:
    """Refuses empty words of a command line: as the name of a file an empty one would be taken for the directory that one is in.

    Raises:
        StudyError: that names the option.

    """
    for before, word in zip(["", *words], words, strict=False):
        option = word[:-1] if word.startswith("--") and word.endswith("=") and word.count("=") == 1 else before if not word.strip() else ""
        if (word.strip() and not option) or option == _PLAIN:
            continue
        named = f"`{option}` is given nothing" if option.startswith("-") and "=" not in option else "an argument is empty"
        raise StudyError(named, hint="write a value, or leave it out; is a variable of the shell not set?")


def plain(value: Any, path: str = "", depth: int = 0, what: str = "a scenario") -> Any:
    """A copy of a tree, or a part of it, of what JSON has: numbers of numpy become Python's, tuples lists, paths texts; `what` it is of."""
    if depth > _DEEPEST:
        raise StudyError(f"{what} is nested {_DEEPEST} deep at most (at `{cut(path)}`)")
    if isinstance(value, Mapping):
        for key in cast(Mapping[Any, Any], value):
            if not isinstance(key, str):
                raise StudyError(f"the keys of {what} are texts, found {key!r}{f' (at `{path}`)' if path else ''}")
        table = cast(Mapping[str, Any], value)
        return {key: plain(each, f"{path}.{key}" if path else key, depth + 1, what) for key, each in table.items()}
    if isinstance(value, list | tuple):
        return [plain(each, f"{path}[{at}]", depth + 1, what) for at, each in enumerate(cast(Sequence[Any], value))]
    if isinstance(value, os.PathLike):
        value = os.fsdecode(cast("os.PathLike[str]", value))
    if isinstance(value, str) and not encodable(value):
        raise StudyError(f"texts of {what} are Unicode, found {cut(ascii(value))} (at `{path}`)")
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Integral) and abs(int(value)) < 2**64:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(value):
        return float(value)
    found = "a number that is too large" if isinstance(value, Integral) else repr(value) if isinstance(value, Real) else None
    found = found or f"a value of type {type(value).__name__}"
    raise StudyError(f"{what} holds tables, lists, texts, true and false, and finite numbers; found {found} (at `{path}`)")


def encodable(text: str) -> bool:
    """Whether a text has no half letters, such as names of files that are not UTF-8 have."""
    return text.isascii() or text.encode(errors="replace").decode() == text


def text(value: object, what: str) -> str:
    """A text; `what` says which is expected.

    Raises:
        TypeError: if it is none, or holds half letters.

    """
    if not isinstance(value, str) or not encodable(value):
        raise wrong_type(what, value)
    return str(value)


def whole(value: object) -> int | None:
    """A whole number, of Python or of numpy; None if it is none."""
    return None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)


def seed(value: object) -> int:
    """The seed of random numbers.

    Raises:
        TypeError: if it is no whole number.
        StudyError: if it has more than 64 bits, or a sign.

    """
    number = whole(value)
    if number is None:
        raise wrong_type("a seed is a whole number", value)
    if not 0 <= number < 2**64:
        raise StudyError(f"a seed is from 0 to 2^64 - 1, found {cut(str(number) if abs(number) < 2**999 else 'a longer number')}")
    return number


def number(value: object, what: str) -> float:
    """A finite number, of Python or of numpy; `what` says which is expected.

    Raises:
        TypeError: if it is none.

    """
    if isinstance(value, bool):
        raise wrong_type(what, value)
    if isinstance(value, Real) and not (isinstance(value, Integral) and abs(int(value)) > 2**1000):
        found = float(value)
        if math.isfinite(found):
            return found
    raise wrong_type(what, value)
