"""Scenarios' texts: all that does not differ between runs is written once and kept once."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from sawtooth.study import Study
from sawtooth.study.assign import Tree

# How a scenario is written, of which a run's identity is made.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_VARS = "vars"


_NONE: dict[str, Any] = {}


class Template:
    """What writes a scenario, given the variables that are drawn, as replicates differ in these alone; cells often differ in variables, too.

    Attributes:
        before, after: its text before its variables and after them.
        kept: each of its variables as it is written.
        limits: the study's, as text; nothing if it has none.
        others: values of variables that are others, by their paths `vars.NAME`.

    """

    __slots__ = ("_tree", "after", "before", "kept", "limits", "others")

    def __init__(self, before: str, after: str, kept: Mapping[str, str], limits: str, others: Mapping[str, Any], tree: Tree) -> None:
        self.before, self.after, self.kept, self.limits, self.others, self._tree = before, after, kept, limits, others, tree

    @classmethod
    def of(cls, tree: Tree, study: Study) -> Template:
        """Of a tree, which must not be changed any more."""
        members = _members(tree)
        before = "".join(f"{members[key]}," for key in sorted(members) if key < _VARS)
        after = "".join(f",{members[key]}" for key in sorted(members) if key > _VARS)
        limits = f',"limits":{json.dumps(study.raised)}' if study.raised else ""
        return cls(before, after, _members(tree.get(_VARS, {})), limits, _NONE, tree)

    def with_variables(self, values: Mapping[str, Any]) -> Template:
        """The same with other values of some variables, by their paths `vars.NAME`."""
        return Template(self.before, self.after, self.kept, self.limits, values, self._tree)

    @property
    def tree(self) -> Tree:
        """The scenario's tree."""
        if not self.others:
            return self._tree
        return {**self._tree, _VARS: {**self._tree[_VARS], **{path.removeprefix("vars."): value for path, value in self.others.items()}}}

    def identity(self, texts: Mapping[str, str | list[str]]) -> str:
        """The scenario's canonical text, with what is drawn, of which a run's identity is made."""
        return f"{self._open(texts)}}}"

    def __call__(self, texts: Mapping[str, str | list[str]]) -> str:
        """The same with the study's limits. They decide whether it runs, not what comes out, so they have no part in its identity."""
        return f"{self._open(texts)}{self.limits}}}"

    def _open(self, texts: Mapping[str, str | list[str]]) -> str:
        if not texts and not self.others and _VARS not in self._tree:
            return f"{{{self.before}{self.after[1:]}" if self.after else f"{{{self.before[:-1]}"
        members = dict(self.kept)
        for path, value in self.others.items():
            name = path.removeprefix("vars.")
            members[name] = _member(name, repr(value), value)
        return f'{{{self.before}"vars":{_joined(members | _members(texts) if texts else members)}{self.after}'


@functools.lru_cache(maxsize=1 << 16)
def _member(key: str, _as: str, value: Any) -> str:
    """A member of a table as it is written. What is equal, such as 1, 1.0 and true, may be written otherwise."""
    return f"{_CANONICAL.encode(key)}:{_CANONICAL.encode(value)}"


def _members(tree: Mapping[str, Any]) -> dict[str, str]:
    """The members of a table by their names, as they are written."""
    return {key: f"{_CANONICAL.encode(key)}:{_CANONICAL.encode(value)}" for key, value in tree.items()}


def _joined(members: Mapping[str, str]) -> str:
    return f"{{{','.join(members[key] for key in sorted(members))}}}"
