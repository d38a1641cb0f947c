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


class Template:
    """What writes a scenario, given the variables that are drawn, as replicates differ in these alone; cells often differ in variables, too.

    Attributes:
        before, after: its text before its variables and after them.
        kept: each of its variables as it is written.

    """

    __slots__ = ("_tree", "_values", "after", "before", "kept", "plain")

    def __init__(self, before: str, after: str, kept: Mapping[str, str], tree: Tree, values: Mapping[str, Any], *, plain: bool) -> None:
        self.before, self.after, self.kept, self.plain = before, after, kept, plain
        self._tree, self._values = tree, values

    @classmethod
    def of(cls, tree: Tree) -> Template:
        """Of a tree, which must not be changed any more."""
        members = _members(tree)
        before = "".join(f"{members[key]}," for key in sorted(members) if key < _VARS)
        after = "".join(f",{members[key]}" for key in sorted(members) if key > _VARS)
        return cls(before, after, _members(tree.get(_VARS, {})), tree, {}, plain=_VARS not in tree)

    def with_variables(self, values: Mapping[str, Any]) -> Template:
        """The same with other values of some variables, by their paths `vars.NAME`."""
        named = {path.removeprefix("vars."): value for path, value in values.items()}
        kept = {**self.kept, **{name: _member(name, repr(value), value) for name, value in named.items()}}
        return Template(self.before, self.after, kept, self._tree, named, plain=self.plain and not named)

    @property
    def tree(self) -> Tree:
        """The scenario's tree."""
        return {**self._tree, _VARS: {**self._tree[_VARS], **self._values}} if self._values else self._tree

    def __call__(self, texts: Mapping[str, str | list[str]]) -> str:
        """The scenario's canonical text, with what is drawn."""
        if self.plain and not texts:
            return f"{{{(self.before + self.after[1:]) if self.after else self.before[:-1]}}}"
        return f'{{{self.before}"vars":{_joined({**self.kept, **_members(texts)})}{self.after}}}'

    def limited(self, study: Study) -> Template:
        """With the study's limits. They decide whether it runs, not what comes out, so they have no part in its identity."""
        if not study.raised:
            return self
        limits = f',"limits":{json.dumps(study.raised)}'
        return Template(self.before, self.after + limits, self.kept, self._tree, self._values, plain=self.plain)


@functools.lru_cache(maxsize=1 << 16)
def _member(key: str, _as: str, value: Any) -> str:
    """A member of a table as it is written. What is equal, such as 1, 1.0 and true, may be written otherwise."""
    return f"{_CANONICAL.encode(key)}:{_CANONICAL.encode(value)}"


def _members(tree: Mapping[str, Any]) -> dict[str, str]:
    """The members of a table by their names, as they are written."""
    return {key: f"{_CANONICAL.encode(key)}:{_CANONICAL.encode(value)}" for key, value in tree.items()}


def _joined(members: Mapping[str, str]) -> str:
    return f"{{{','.join(members[key] for key in sorted(members))}}}"
