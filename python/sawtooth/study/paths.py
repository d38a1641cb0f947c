"""Paths: `links.bottleneck.rate`, `flows[0].tcp`, and `flows[*].tcp` for all of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence

PATH = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[(\d{1,9}|\*)\])*")
_TOKEN = re.compile(r"([^.\[\]]+)|\[(\d+|\*)\]")


def normal(path: str) -> str:
    """A path without a leading `scenario.`."""
    return path.removeprefix("scenario.")


def quoted(key: str) -> str:
    """A key as paths of the file write it: in quotes if it holds dots."""
    return f'"{key}"' if "." in key else key


def parent(path: str) -> str:
    """The path of what holds what is at a path."""
    depth = False
    for at in range(len(path) - 1, -1, -1):
        if path[at] == '"':
            depth = not depth
        if not depth and path[at] in ".[":
            return path[:at]
    return ""


def related(one: Sequence[str | int], other: Sequence[str | int]) -> bool:
    """Whether the steps of one path are those of the other, or lead to it."""
    return all(a == b for a, b in zip(one, other, strict=False))


def tokens(path: str) -> list[str | int]:
    """The steps of a path: keys and indices, `*` for all items."""
    steps: list[str | int] = []
    for match in _TOKEN.finditer(path):
        key, index = match.groups()
        steps.append(key if key is not None else index if index == "*" else int(index))
    return steps
