"""The reference page of the Python interface, from signatures and docstrings; between its marks the site shows all of a name (`docs/hooks/api.py`)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import sawtooth

Table = Callable[[Sequence[str], Iterable[Sequence[str]]], str]
# What whoever has one asks of it; what only commands call is left out.
MEMBERS = {
    "Dataset": ("open", "measure", "figure", "finding", "compare", "table", "tables", "column", "status", "complete", "digest", "study", "notes", "changes", "kernels"),
    "Plan": ("size", "cost", "notes", "table"),
    "Records": ("table", "flows", "links", "series", "queues", "variables", "episodes", "completions", "exchanges", "datagrams", "packets"),
    "Study": ("load", "parse", "of", "replicates"),
    "Place": ("render",),
}  # fmt: skip
# What is imported by itself, for one purpose, and the guide that uses it.
MODULES = {
    "sawtooth.stats": "../concepts/statistics.md",
    "sawtooth.report": "../guides/figures-and-findings.md#what-the-vocabulary-cannot-say",
    "sawtooth.captures": "../guides/analyze.md",
    "sawtooth.fitting": "../guides/fit.md",
    "sawtooth.advising": "../guides/advise.md",
    "sawtooth.beside": "../guides/compare.md#how-do-i-lay-a-capture-beside-a-simulation",
    "sawtooth.foreign": "../guides/exchange.md",
    "sawtooth.importing": "../guides/exchange.md",
    "sawtooth.traffic": "../guides/background.md",
}
_WIDTH = 140
# Those of which every name is told here.
WHOLE = ("sawtooth.stats", "sawtooth.report")


def page(table: Table) -> str:
    """Every public name: how it is called, and what it does."""
    text = (
        "# Python\n\nWhat `import sawtooth` offers; [the guide](../guides/python.md) shows how it is used. Names of columns carry their units: `_bps` is bit/s, besides `_bytes`, `_ns` and `_packets`. "
        "Tables are polars data frames. A mistake is a `sawtooth.SawtoothError`, which says what is wrong, where, and what to do; an argument of another type a `TypeError`.\n\n"
    )
    text += table(
        ("Name", "What it is"),
        ((f"[`{name}`](#{name.lower()})", _first(getattr(sawtooth, name))) for name in _ordered(sawtooth.__all__)),
    )
    for name in _ordered(sawtooth.__all__):
        text += f"\n## {name}\n\n" + _marked(table, f"sawtooth.{name}", getattr(sawtooth, name), MEMBERS.get(name, ()))
    text += "\n## Modules for one purpose\n\n"
    text += table(
        ("Module", "What it is for"), ((f"`{name}`", f"{_first(import_module(name))} [How]({guide})") for name, guide in MODULES.items())
    )
    for module in WHOLE:
        text += f"\n## {module}\n"
        for name, value in ((name, getattr(import_module(module), name)) for name in import_module(module).__all__):
            if inspect.isroutine(value) or inspect.isclass(value):
                # By where it is: a function may be called as its module is.
                text += f"\n### {name}\n\n" + _marked(table, f"{module}.{name}", value, (), f"{value.__module__}.{value.__qualname__}")
    return text


def _ordered(names: Iterable[str]) -> list[str]:
    """What is called first, then what that gives, then mistakes."""
    found = [name for name in names if name != "Place"]
    functions = sorted(
        (name for name in found if inspect.isroutine(getattr(sawtooth, name))), key=lambda name: name not in ("simulate", "run")
    )
    mistakes = [name for name in found if _is_error(getattr(sawtooth, name))]
    return [*functions, *(name for name in found if name not in {*functions, *mistakes}), *mistakes, "Place"]


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _marked(table: Table, path: str, value: Any, members: Sequence[str], home: str = "") -> str:
    """How a name is called, and what it is; home is where it is found if not where it is offered."""
    text = f"```python\n{_call(path, value)}\n```\n\n" if inspect.isroutine(value) else ""
    text += f"<!-- api {home or path}{' members=' if members else ''}{','.join(members)} -->\n{_first(value)}\n"
    if members:
        text += "\n" + table(
            ("Of it", "What it is"), ((_called(value, name), _first(inspect.getattr_static(value, name))) for name in members)
        )
    return text + "<!-- /api -->\n"


def _called(owner: type, name: str) -> str:
    """A member as it is written: a method with its brackets."""
    return f"`{name}`" if isinstance(inspect.getattr_static(owner, name), property) or not callable(getattr(owner, name)) else f"`{name}()`"


def _call(path: str, function: Any) -> str:
    """How it is called: parameters with their defaults, as the formatter writes them. Types are told where the function is."""
    signature = inspect.signature(function)
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    words = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)).replace("'", '"')
    return f"{path}{words}" if len(path + words) <= _WIDTH else f"{path}(\n    {words[1:-1]}\n)"


def _first(value: Any) -> str:
    """The first paragraph of what it says of itself, on one line."""
    inner = getattr(value, "__func__", getattr(value, "func", value))
    text = inspect.getdoc(inner) or ""
    return re.sub(r"\s+", " ", text.split("\n\n")[0])
