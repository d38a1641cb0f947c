"""What to do about a value that the core refuses without saying it: what its key takes, and how that is written."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from sawtooth import _core
from sawtooth.study.paths import parent, tokens
from sawtooth.study.written import text_of

_LAST = re.compile(r"\[\d+\]$")


def advice(path: str, found: object, within: object, hint: str | None) -> str | None:
    """A hint about the value at a path of the scenario: what the core says, unless there is more to say.

    Args:
        path: in the scenario's tree.
        found: what is there.
        within: the table that it is in, as far as that is known.
        hint: of the core, if it has one.

    """
    row = _key(path) or _key(_LAST.sub("", path))
    if row is not None and _is_amount(found):
        example = json.loads(row["example"])
        if isinstance(example, dict) and row["kind"].startswith("name, or table"):
            # `queue = "50 packets"`: it is a parameter of what should be named.
            last = list(cast(dict[str, Any], example))[-1]
            return f"write {row['key']} = {text_of({**example, last: found})}"
    if hint:
        return hint
    if row is not None:
        return f"`{row['key']}`: {row['summary']} ({_takes(row)}); such as {row['key']} = {text_of(json.loads(row['example']))}"
    if path.startswith("vars."):
        return 'a variable is a number, a quantity such as "20 ms", an expression of other variables, or a list of these'
    holder = _key(parent(path))
    if holder is not None and holder["of"] and path.endswith(".name"):
        return f"`sawtooth list {holder['of']}` shows all"
    row = _parameter(path, within)
    return f"`{row['name']}`: {row['summary']} ({row['kind']}; by default {row['default']})" if row else None


def _key(path: str) -> Mapping[str, Any] | None:
    named = _general(path)
    # The other direction of a link has the keys of a link.
    return _keys().get(named) or _keys().get(named.replace(".reverse", "", 1))


@functools.cache
def _keys() -> Mapping[str, Mapping[str, Any]]:
    return {row["name"]: row for row in _core.registry()["key"]}


def _general(path: str) -> str:
    """A path as the table of keys has it: `links.NAME.rate`, `flows[].cc`."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r"^(links|hosts)\.[^.\[]+", r"\1.NAME", path))


def _takes(row: Mapping[str, Any]) -> str:
    return f"{row['kind']} `{row['of']}`" if row["of"] else str(row["kind"])


def _parameter(path: str, within: object) -> Mapping[str, Any] | None:
    """The row of a parameter, such as `queue.limit`: of what the table names, or of any if all take the same."""
    holder = _key(parent(path))
    name = tokens(path)[-1] if path else ""
    if holder is None or not holder["of"]:
        return None
    named: object = cast(dict[str, Any], within).get("name") if isinstance(within, dict) else within
    rows = _core.registry()[holder["of"]]
    rows = [row for row in rows if row["name"] == named] or rows
    found = [row for each in rows for row in each.get("params", [each]) if row["name"] == name]
    return found[0] if found and len({row["kind"] for row in found}) == 1 else None


def _is_amount(found: object) -> bool:
    """Whether a text is a number with a unit."""
    if not isinstance(found, str):
        return False
    try:
        return _core.evaluate(found, {})[1] != "number"
    except _core.ScenarioError:
        return False
