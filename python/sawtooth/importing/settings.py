"""What a measurement was made with: what its user says, what its file's name says, and what the file itself tells."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sawtooth import _core, reading
from sawtooth.errors import StudyError, cut
from sawtooth.foreign import Measured
from sawtooth.hints import did_you_mean
from sawtooth.importing.files import Source
from sawtooth.scales import scale
from sawtooth.tables import PLAN

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_HOLE = re.compile(r"\{([^{}]*)\}")
_TABLE_BYTES = 1_000_000

Settings = Mapping[str, str]
NOT_TOLD = "not told"
"""The level of a factor that nothing is known of."""


@dataclass(frozen=True)
class Given:
    """What a user says of files.

    Attributes:
        every: factors of all of them.
        pattern: of their names, with factors in braces, such as `{cc}-{rtt}-*.json`; empty for none.
        table: the factors of files by patterns of their names, those of a later one before those of an earlier one.
        ignored: settings that files tell and that are to make no difference.

    """

    every: Settings = field(default_factory=dict[str, str])
    pattern: str = ""
    table: Mapping[str, Settings] = field(default_factory=dict[str, Settings])
    ignored: Sequence[str] = ()

    @classmethod
    def of(cls, options: Sequence[str] = (), pattern: str = "", table: Path | None = None, ignored: Sequence[str] = ()) -> Given:
        """As a command has it.

        Args:
            options: `NAME=VALUE` each.
            pattern: of names.
            table: a TOML file with a table for each pattern of names.
            ignored: names of settings.

        Raises:
            StudyError: for what is none.

        """
        every: dict[str, str] = {}
        for option in options:
            name, sign, value = option.partition("=")
            if not sign or not value:
                raise StudyError(f"`--set {option}` sets nothing", hint="write NAME=VALUE, such as --set rtt='20 ms'")
            if name in every:
                raise StudyError(f"`--set {option}` sets `{name}` a second time", hint=f"it is `{every[name]}` already")
            every[_factor(name, f"--set {option}")] = value
        _holes(pattern)
        if unknown := next((name for name in ignored if name not in TOLD), None):
            raise StudyError(f"files tell no setting `{unknown}`", hint=did_you_mean(unknown, TOLD))
        return cls(every, pattern, _table(table) if table is not None else {}, ignored)


@dataclass(frozen=True)
class Factors:
    """What measurements differ in.

    Attributes:
        each: the factors of each measurement.
        names: of all factors, in order.
        told: those of them that the files tell.
        along: other settings that differ between files, but not between those whose factors are the same.

    """

    each: Sequence[Settings]
    names: Sequence[str]
    told: Sequence[str]
    along: Sequence[str]


def factors(sources: Sequence[Source], given: Given) -> Factors:
    """What each measurement was made with: what is given and, where files of which the same is given differ, what they tell: as much of it as tells them apart.

    Raises:
        StudyError: if the pattern does not fit the name of a file, or a pattern of the table none.

    """
    made = [{**given.every, **_of_name(source.path, given.pattern), **_of_table(source.path, given.table)} for source in sources]
    for pattern in given.table:
        if not any(_fits(source.path, pattern) for source in sources):
            raise StudyError(f"no file is called like `{pattern}`", hint=f"the first is {sources[0].path}")
    names = list(dict.fromkeys(name for each in made for name in each))
    own = [told_by(source.measured) for source in sources]
    told: list[str] = []
    differ = [name for name in TOLD if name not in names and name not in given.ignored and len({each.get(name) for each in own}) > 1]
    for name in differ:
        if not _same_within(made, [each.get(name) for each in own]):
            told.append(name)
            made = [{**each, **({name: tells[name]} if name in tells else {})} for each, tells in zip(made, own, strict=True)]
    whole = [{name: each.get(name, NOT_TOLD) for name in [*names, *told]} for each in made]
    return Factors(whole, [*names, *told], told, [name for name in differ if name not in told])


def _same_within(made: Sequence[Settings], values: Sequence[str | None]) -> bool:
    """Whether all whose factors are the same have the same value."""
    found: dict[tuple[tuple[str, str], ...], str | None] = {}
    return all(found.setdefault(tuple(sorted(each.items())), value) == value for each, value in zip(made, values, strict=True))


TOLD = {
    "tool": "iperf3 or flent",
    "test": "flent's name of it",
    "cc": "the congestion control of all streams",
    "transport": "of iperf3: tcp, udp or sctp",
    "direction": "upload, download, or both",
    "streams": "how many",
    "target": "the rate that iperf3 was to send at (`-b`)",
    "title": "what flent's user called it",
    "duration": "that was asked for",
    "omitted": "time at the beginning that iperf3 leaves out (`-O`)",
    "block": "bytes that iperf3 writes at a time (`-l`)",
}
"""Settings that files tell, in the order in which they are looked at."""


def told_by(measured: Measured) -> dict[str, str]:
    """What a file tells of how it was measured."""
    facts, streams = measured.facts, measured.flows.filter(measured.flows["rtt_mean_ns"].is_null())
    controls = streams["cc"].drop_nulls().unique().sort().to_list()
    directions = streams["direction"].drop_nulls().unique().sort().to_list()
    found: dict[str, Any] = {
        "tool": "flent" if measured.program.startswith("flent") else "iperf3",
        "test": facts.get("test"),
        "title": facts.get("title"),
        "transport": facts.get("transport"),
        "direction": " and ".join(directions) or None,
        "streams": streams.height,
        "cc": " + ".join(controls) or None,
        "duration": _quantity(facts.get("duration_ns"), "ns"),
        "omitted": _quantity(facts.get("omitted_ns"), "ns"),
        "target": _quantity(facts.get("target_bps"), "bit/s"),
        "block": _quantity(facts.get("block_bytes"), "B"),
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _quantity(value: float | None, unit: str) -> str | None:
    if value is None:
        return None
    divisor, shown = scale(unit, [value])
    return f"{value / divisor:.12g} {shown}"


def _factor(name: str, where: str) -> str:
    """A factor's name.

    Raises:
        StudyError: if it can be none.

    """
    if not _NAME.fullmatch(name) or name in PLAN or name.endswith("_value"):
        raise StudyError(
            f"`{where}`: {cut(name)!r} cannot name a factor" + (", as it names a column of every plan" if name in PLAN else ""),
            hint="a name has letters, digits, dots, dashes and underscores, and begins with a letter",
        )
    return name


def _holes(pattern: str) -> list[str]:
    """The factors that a pattern names.

    Raises:
        StudyError: if it names none, or one twice.

    """
    names = [_factor(name, f"--pattern {pattern}") for name in _HOLE.findall(pattern)]
    if pattern and not names:
        raise StudyError(f"`--pattern {pattern}` names no factor", hint="write it in braces: '{cc}-{rtt}-*.json'")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise StudyError(f"`--pattern {pattern}` names `{twice}` twice", hint="write * for what is of no interest")
    return names


def _of_name(path: Path, pattern: str) -> dict[str, str]:
    """What a file's name says: of its last parts, as many as the pattern has."""
    if not pattern:
        return {}
    text = "/".join(path.parts[-(pattern.count("/") + 1) :])
    found = re.fullmatch(_expression(pattern), text)
    if found is None:
        raise StudyError(f"{path} is not called like the pattern `{pattern}`", hint="name its files only, or write * where names differ")
    return dict(zip(_holes(pattern), found.groups(), strict=True))


def _expression(pattern: str) -> str:
    """A pattern as a regular expression with a group for each factor."""
    parts = _HOLE.split(pattern)
    # Every second part is a name.
    return "".join("([^/]+?)" if at % 2 else "[^/]*".join(map(re.escape, part.split("*"))) for at, part in enumerate(parts))


def _table(path: Path) -> dict[str, dict[str, str]]:
    """The factors of files by patterns of their names.

    Raises:
        StudyError: with its place, for what is no such file.

    """
    such = 'such as ["cubic-*.json"] and below it cc = "cubic"'
    try:
        tree, _ = _core.parse_toml(reading.read_text(path, _TABLE_BYTES))
    except _core.TomlError as error:
        raise StudyError(f"{path}:{error.line}:{error.column}: {error.message}", hint=error.hint or such) from None
    except reading.Unreadable as error:
        raise StudyError(error.message, hint=error.hint) from None
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror}", hint=f"name a TOML file {such}") from None
    made: dict[str, dict[str, str]] = {}
    for pattern, entry in cast(Mapping[str, Any], tree).items():
        if not isinstance(entry, dict):
            raise StudyError(f"{path}: `{pattern}` is no table of factors", hint=f"write a heading for each pattern of names, {such}")
        factors = cast(Mapping[str, Any], entry)
        if wrong := next((name for name, value in factors.items() if isinstance(value, dict | list | bool)), None):
            raise StudyError(f'{path}: `{wrong}` of ["{pattern}"] is no text or number', hint=f"a factor has one level in a file, {such}")
        made[pattern] = {_factor(name, f'["{pattern}"] in {path}'): str(value) for name, value in factors.items()}
    return made


def _of_table(path: Path, table: Mapping[str, Settings]) -> dict[str, str]:
    made: dict[str, str] = {}
    for pattern, factors in table.items():
        if _fits(path, pattern):
            made |= factors
    return made


def _fits(path: Path, pattern: str) -> bool:
    return fnmatch.fnmatchcase("/".join(path.parts[-(pattern.count("/") + 1) :]), pattern)
