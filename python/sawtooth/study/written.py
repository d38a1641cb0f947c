"""A study's tree as the text of a file: so that one that was made in Python is kept with its results, and has places that errors can show."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(tree: Mapping[str, Any]) -> str:
    """TOML of tables, lists, texts, booleans and finite numbers, with a heading for each table."""
    return "\n".join(_section(tree, "")).lstrip("\n") + "\n"


def _section(table: Mapping[str, Any], path: str) -> list[str]:
    # What stands below a heading is its table's: values come first.
    lines = [f"{key_of(key)} = {text_of(value)}" for key, value in table.items() if not _headed(value)]
    for key, value in table.items():
        inner = f"{path}.{key_of(key)}" if path else key_of(key)
        if isinstance(value, Mapping):
            lines += ["", f"[{inner}]", *_section(cast(Mapping[str, Any], value), inner)]
        elif _headed(value):
            for each in cast(Sequence[Mapping[str, Any]], value):
                lines += ["", f"[[{inner}]]", *_section(each, inner)]
    return lines


def _headed(value: Any) -> bool:
    """Whether a value has headings: tables, and lists of nothing else."""
    if isinstance(value, Mapping):
        return True
    items = cast(list[Any], value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(each, Mapping) for each in items)


def key_of(key: str) -> str:
    """A key as a file has it: in quotes if it has other letters."""
    return key if _BARE.fullmatch(key) else text_of(key)


def text_of(value: Any) -> str:
    """A value as a file has it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(key)} = {text_of(each)}" for key, each in cast(Mapping[str, Any], value).items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, cast(list[Any], value))) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # What JSON escapes is escaped as TOML has it, but for one control that JSON leaves.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
