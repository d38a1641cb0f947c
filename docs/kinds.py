"""The reference pages of the kinds of figures and of findings, from their tables: a section for each, with all of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sawtooth import figures, findings
from sawtooth.figures import spec as figure_spec
from sawtooth.study.keys import Key

Table = Callable[[Sequence[str], Iterable[Sequence[str]]], str]


def of_figures(table: Table) -> str:
    """What each `kind` of `[[figures]]` shows, its places and its keys."""
    text = (
        "# Kinds of figures\n\nWhat `kind` of [`[[figures]]`](study.md#figures) can be. Besides the keys that [every figure](study.md#figures) has, a kind has places, "
        "each of which stands for a dimension of the results, and keys of its own. [The guide](../guides/figures.md) has an example of each.\n\n"
    )
    text += table(("Kind", "What it shows"), ((_to(name), kind.summary) for name, kind in figures.TABLE.items()))
    for name, kind in figures.TABLE.items():
        text += f"\n## {name}\n\n{_sentence(kind.summary)}\n"
        shared = [figure_spec.STATISTIC] if kind.statistic else []
        shared += [figure_spec.SCALE] if kind.scale else []
        text += _keys(table, [*(figure_spec.PLACES[place] for place in kind.places), *kind.keys, *shared])
    return text


def of_findings(table: Table) -> str:
    """What each `is` of `[[findings]]` claims, and its keys."""
    text = (
        "# Kinds of findings\n\nWhat `is` of [`[[findings]]`](study.md#findings) can say. Besides these keys there are those that [every finding](study.md#findings) has; "
        "[the guide](../guides/figures-and-findings.md) says how a verdict is made.\n\n"
    )
    every = findings.table()
    text += table(("`is`", "What is claimed of the measure"), ((_to(name), kind.summary) for name, kind in every.items()))
    for name, kind in every.items():
        text += f"\n## {name}\n\n{_sentence(kind.summary)}\n"
        others = [_to(word) for word in kind.words if word != name]
        if others:
            text += f"\nIts counterpart is {' or '.join(others)}.\n"
        if kind.averages:
            text += '\nWith `cells = "on average"` it is claimed of the mean over cells.\n'
        text += _keys(table, kind.keys)
        if any(key.name == "than" for key in kind.keys):
            text += "\nWhere `than` is a table, [it has keys of its own](study.md#than).\n"
    return text


def _to(name: str) -> str:
    return f'[`"{name}"`](#{name.replace(" ", "-")})'


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _keys(table: Table, keys: Iterable[Key]) -> str:
    rows = [(f"`{key.name}`", key.kind, key.default, key.summary) for key in keys]
    # Links of these tables are within the page of the study file.
    moved = [[cell.replace("](#", "](study.md#") for cell in row] for row in rows]
    return "\n" + table(("Key", "Value", "Default", "Meaning"), moved) if rows else ""
