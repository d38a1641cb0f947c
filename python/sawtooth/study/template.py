"""Scenarios' texts: all that does not differ between runs is written once and kept once.

Cells often differ in plain values alone, such as a rate or a variable. Those are slots of a text that is made of the first such cell's tree; for the
others no tree is made.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any, cast

from sawtooth.study.assign import OPTIONAL_TABLES, Assignment, Tree
from sawtooth.study.model import Study
from sawtooth.study.paths import related, tokens

# How a scenario is written, of which a run's identity is made.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_VARS = "vars"
_NONE: dict[str, Any] = {}
# What stands in a tree where a slot will be in its text; nobody can write it, as it is another one each time.
_SLOT = f"{secrets.token_hex(16)}-{{}}"
# Steps of paths by which files are named that are put into a tree: what is there decides more than a value.
_DECISIVE = frozenset({"file", "name", "points", "trace", "changes", "jitter"})
# So many texts are kept: of cells in order a few are in use at a time.
_MOST = 256
Texts = Mapping[str, str | list[str]]
"""The variables that are drawn, as they are written."""
Kind = tuple[str | tuple[str, str], ...]
"""An arm, and of each assignment of a cell its path, with the value as it is written if that is no slot."""


class Template:
    """What writes a scenario, given the variables that are drawn, as replicates differ in these alone.

    Attributes:
        values: those of its cell's slots, by their paths.

    """

    __slots__ = ("_form", "values")

    def __init__(self, form: _Form, values: Mapping[str, Any]) -> None:
        self._form, self.values = form, values

    @classmethod
    def of(cls, tree: Tree, study: Study) -> Template:
        """Of a tree, which must not be changed any more."""
        return cls(_Form(tree, (), study), _NONE)

    @property
    def variables(self) -> dict[str, Any]:
        """Those of the scenario, without what is drawn."""
        own = self._form.variables
        return {**own, **{name: self.values[path] for name, path in self._form.swept.items()}} if self._form.swept else own

    def identity(self, texts: Texts) -> str:
        """The scenario's canonical text, with what is drawn, of which a run's identity is made."""
        text, drawn = self._form.of_cell(self.values)
        return text % tuple([written(texts[name]) for name in drawn]) if drawn else text

    def limited(self, identity: str) -> str:
        """A text of its own with the study's limits. They decide whether it runs, not what comes out, so they have no part in its identity."""
        return f"{identity[:-1]}{self._form.limits}}}"

    def __call__(self, texts: Texts) -> str:
        """The scenario's text, with the study's limits."""
        return self.limited(self.identity(texts))


class Templates:
    """Templates of cells that differ in plain values alone, arm by arm, as they are found."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._slots: dict[tuple[str, tuple[str, ...]], tuple[bool, ...]] = {}
        self._forms: dict[Kind, _Form] = {}

    def kind(self, arm: str, assignments: Sequence[Assignment]) -> Kind:
        """What decides a cell's text but for its slots: where it puts plain values, and what else it puts where.

        Args:
            arm: of the runs.
            assignments: of the cell.

        """
        paths = tuple([each.path for each in assignments])
        slots = self._slots.get((arm, paths))
        if slots is None:
            slots = self._slots[arm, paths] = _slots(paths, self._study.arms.get(arm, ()))
        return (arm, *[
            each.path if slot and isinstance(each.value, str | int | float) else (each.path, _CANONICAL.encode(each.value))
            for slot, each in zip(slots, assignments, strict=True)
        ])  # fmt: skip

    def find(self, kind: Kind, values: Mapping[str, Any]) -> Template | None:
        """That of another cell of the kind, with the values of this one, by their paths."""
        form = self._forms.get(kind)
        return None if form is None else Template(form, values)

    def add(self, kind: Kind, tree: Tree, values: Mapping[str, Any]) -> Template:
        """That of a cell of which the tree was made, which must not be changed any more."""
        if len(self._forms) >= _MOST:
            del self._forms[next(iter(self._forms))]
        form = self._forms[kind] = _Form(tree, [each for each in kind[1:] if isinstance(each, str)], self._study)
        return Template(form, values)


class _Form:
    """A scenario's text with slots.

    Attributes:
        text: with `%s` for each slot.
        slots: for each in order the name of the variable that is drawn, or else None and the path whose value stands there.
        variables: of the tree. swept: those of them that have a slot, with their paths.
        limits: the study's, as text; nothing if it has none.

    """

    __slots__ = ("_latest", "limits", "slots", "swept", "text", "variables")

    def __init__(self, tree: Tree, paths: Sequence[str], study: Study) -> None:
        self.limits = f',"limits":{json.dumps(study.raised)}' if study.raised else ""
        self.variables: dict[str, Any] = tree.get(_VARS, _NONE)
        self.swept = {str(steps[1]): path for path in paths if (steps := tokens(path))[0] == _VARS}
        found = [*((None, path) for path in paths), *((name, name) for name in study.draws)]
        marked = tree
        for at, (drawn, path) in enumerate(found):
            # The name of a draw is no path: what it may be is looked at later.
            marked = _replaced(marked, tokens(path) if drawn is None else (_VARS, path), _SLOT.format(at))
        text = _CANONICAL.encode(marked).replace("%", "%%")
        places = {encode_basestring_ascii(_SLOT.format(at)): slot for at, slot in enumerate(found)}
        order = sorted(places, key=text.index)
        for place in order:
            text = text.replace(place, "%s")
        self.slots = [places[place] for place in order]
        self.text = text
        self._latest: tuple[Mapping[str, Any], str, list[str]] | None = None

    def of_cell(self, values: Mapping[str, Any]) -> tuple[str, list[str]]:
        """The text of a cell with these values, with `%s` for each variable that is drawn, and their names in order; where none is, the text itself.

        That of one cell is kept, whose runs follow each other; all cells' would take memory.
        """
        latest = self._latest
        if latest is None or latest[0] is not values:
            drawn = [name for name, _ in self.slots if name is not None]
            filled = tuple([written(values[path]).replace("%", "%%") if name is None else "%s" for name, path in self.slots])
            # Per cents stay doubled until the last slots are filled.
            text = (
                self.text.replace("%%", "%%%%") % filled if drawn else self.text % tuple([written(values[path]) for _, path in self.slots])
            )
            self._latest = latest = values, text, drawn
        return latest[1], latest[2]


def written(value: Any) -> str:
    """A value as it stands in a scenario's text."""
    return encode_basestring_ascii(value) if type(value) is str else _CANONICAL.encode(value)


def _slots(paths: Sequence[str], arm: Sequence[Assignment]) -> tuple[bool, ...]:
    """Of each path that a cell assigns to whether a plain value there is a slot: nothing that comes later has to do with it, and no file is named by it."""
    steps = [tokens(path) for path in paths]
    later = [*steps, *(tokens(each.path) for each in arm)]
    return tuple(
        _DECISIVE.isdisjoint(own)
        and own[-1] not in OPTIONAL_TABLES
        and (own[0] != _VARS or len(own) == 2)
        and not any(related(own, other) for other in later[at + 1 :])
        for at, own in enumerate(steps)
    )


def _replaced(tree: Any, steps: Sequence[str | int], value: Any) -> Any:
    """A tree with another value at a path; what is not on the way to it is shared."""
    if not steps:
        return value
    step = steps[0]
    if isinstance(step, int):
        items = list(cast(list[Any], tree))
        items[step] = _replaced(items[step], steps[1:], value)
        return items
    table: Tree = dict(cast(Tree, tree))
    table[step] = _replaced(table.get(step, {}), steps[1:], value)
    return table
