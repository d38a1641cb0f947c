"""Errors as Python says them: what the command line calls `--out` is the argument `out` there.

Messages are written once, with the options of the command line; what only Python calls, such as `sawtooth.run`, has them said of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from sawtooth.errors import Place, PlainError, StudyError

_NAMES = {"factor": "factors", "set": "options"}
"""Arguments that are called otherwise than their options."""
_COMMAND = re.compile(r"(`sawtooth [^`]*`)")
"""A command is one of the shell, whoever reads of it."""
_WAYS = (
    # What stands beside its own name.
    (re.compile(r" \(`--[a-z]+`\)"), ""),
    (re.compile(r"`--no-files`(?: \(`files=False`\))?"), "`files=False`"),
    (re.compile(r"`?--set ([\w.]+=[\w.]+(?: [\w%/]+(?=$|[;,.]))?)`?"), r'`options=["\1"]`'),
    (re.compile(r"`?--backend (\w+)`?"), r'`options=["backend=\1"]`'),
    (re.compile(r"`?--factor NAME=COLUMN`?"), "`factors`"),
    (re.compile(r"`?--factor (\w+)=(\w*)`?"), r'`factors={"\1": "\2"}`'),
)
_OPTION = re.compile(r"`?--([a-z-]+)(?: [A-Z]{2,}\b)?`?")


@contextmanager
def in_python() -> Generator[None]:
    """Within it, and in a function that it decorates, errors name arguments."""
    try:
        yield
    except (StudyError, PlainError) as error:
        error.message, error.hint = of_arguments(error.message), error.hint and of_arguments(error.hint)
        if isinstance(error, StudyError):
            error.place = of_options(error.place)
        raise


def of_options(place: Place | None) -> Place | None:
    """The same place, in the argument where the command line has an option."""
    return replace(place, name="options") if place is not None and place.name == "--set" else place


def of_arguments(text: str) -> str:
    """What is said of options of the command line, said of arguments: `--metric COLUMN` is `metric`."""
    parts = _COMMAND.split(text.replace("`sawtooth run STUDY --out DIR`", "`sawtooth.run(study, out)`"))
    return "".join(part if at % 2 else _said(part) for at, part in enumerate(parts))


def _said(text: str) -> str:
    for found, instead in _WAYS:
        text = found.sub(instead, text)
    return _OPTION.sub(lambda option: f"`{_NAMES.get(option[1], option[1])}`", text)
