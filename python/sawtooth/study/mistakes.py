"""What an error says of a value of another type than its key takes: what was expected, what was found, and what to write instead.

Each makes a message and a hint, for whoever knows the place. All tables of a study are read with these, so that no key is without advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from sawtooth.errors import cut
from sawtooth.hints import did_you_mean
from sawtooth.study.document import shown

Said: TypeAlias = tuple[str, str]
"""A message and a hint."""

_EXAMPLES: Mapping[str, str] = {
    "against": '"srtt_ns"', "arm": '"reno"', "backend": '"sim"', "by": '"digits"', "caption": '"Goodput by the size of the buffer."', "cells": '"at least 90 %"',
    "claim": '"CUBIC carries more than Reno"', "columns": '{ goodput_bps = { column = "throughput", unit = "Mbit/s" } }',
    "file": '"published.csv"', "findings": '["first", "second"]', "flows": '"sum"', "is": '"above"', "keys": '{ limit = "buffer" }', "kind": '"levels"',
    "limits": "{ runs = 1e7 }", "max": "40", "metric": '"goodput_bps"', "min": "5", "name": '"goodput"', "of": '"bulk"',
    "question": '"Does a short queue cost throughput?"', "reference": '"paper.goodput_bps"', "report": '"generic"', "scale": '"log"', "seed": "7",
    "source": '"Author, Title, Venue 2003, table 2"', "statistic": '"median"', "than": '"9 Mbit/s"', "times": "1.1", "unit": '"Mbit/s"',
    "vars": '{ N = 4, Tp = "20 ms" }', "where": '{ limit = "1 bdp" }',
}  # fmt: skip


def example(key: str) -> str:
    """How a key is written; nothing of one that is not known here."""
    return f"such as {key} = {_EXAMPLES[key]}" if key in _EXAMPLES else ""


def no_text(key: str, found: object) -> Said:
    """Of what should be a text."""
    items = cast("list[object]", found) if isinstance(found, list) else []
    if len(items) == 1 and isinstance(items[0], str):
        hint = f"without the brackets: {key} = {shown(items[0])}"
    elif isinstance(found, bool | int | float):
        hint = example(key) or f"a text is written in quotes: {key} = {shown(str(shown(found)))}"
    else:
        hint = example(key) or f'a text is written in quotes, such as {key} = "..."'
    return f"`{key}` must be a text, found {shown(found)}", hint


def no_way_of_flows(found: str, known: Sequence[str]) -> Said:
    """Of how flows are taken together: elsewhere in a study `flows` are flows, and whoever names one here means that one alone."""
    hint = did_you_mean(found, known)
    if not hint.startswith("did you mean"):
        hint += f'; only some flows are chosen by `of`, such as of = "{cut(found)}"'
    return f"`flows` cannot be `{cut(found)}`", hint


def no_texts(key: str, what: str, found: object) -> Said:
    """Of what should be a name or a list of names, which `what` says."""
    return f"`{key}` is {what}, found {shown(found)}", example(key) or "names are written in quotes"


def nothing_chosen(key: str) -> Said:
    """Of an empty list or table, which is not all that there is."""
    return f"`{key}` is empty, which chooses nothing", f"leave `{key}` out for all, or name what is meant"


def no_table(key: str, found: object, what: str = "") -> Said:
    """Of what should be a table, of what `what` says."""
    name = key.rpartition(".")[2]
    hint = example(name) or f"write [{key}] and its keys below it" if "[" not in key else "write { ... } with its keys"
    return f"`{key}` must be a table{f' of {what}' if what else ''}, found {shown(found)}", hint


def no_list_of_tables(key: str) -> Said:
    """Of what should be a list of tables."""
    return f"`{key}` is a list of tables", f"write [[{key}]] above each"


def no_whole(key: str, minimum: int, found: object) -> Said:
    """Of what should be a whole number."""
    quotes = "without quotes, " if isinstance(found, str) else ""
    return (
        f"`{key}` must be a whole number of at least {minimum}, found {shown(found)}",
        f"{quotes}such as {key} = {_EXAMPLES.get(key, max(minimum, 1))}",
    )


def no_number(key: str, found: object) -> Said:
    """Of what should be a number above 0."""
    quotes = "without quotes, " if isinstance(found, str) else ""
    return f"`{key}` must be a number above 0, found {shown(found)}", f"{quotes}such as {key} = {_EXAMPLES.get(key, 2)}"


def no_truth(key: str, found: object) -> Said:
    """Of what should be true or false."""
    return f"`{key}` is true or false, found {shown(found)}", f"without quotes: {key} = true"


def lacks(path: str, key: str) -> Said:
    """Of a table without a key that it needs."""
    return f"`{path}` lacks `{key}`", example(key).replace("such as", "add", 1) or f"add {key} = ..."


def listed(value: object) -> list[Any]:
    """A value, or the values of a list."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]
