"""Everything a study can name, in tables of rows, and each row in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from sawtooth import _core
from sawtooth.backends.registry import BACKENDS
from sawtooth.recorded import schema

Row: TypeAlias = dict[str, Any]


def table(kind: str) -> list[Row]:
    """One of the tables that `KINDS` names; studies are those that come along, and those in `studies` of this directory."""
    return _OWN[kind]() if kind in _OWN else _core.registry()[kind]


def words(row: Row) -> str:
    """A row in words, with what parameters it has."""
    text = row["summary"]
    if row.get("specification"):
        text += f" ({', '.join(row['specification'])})"
    if "default" in row:
        text += f" [{row['kind']}; default {row['default']}]"
    if row.get("unit"):
        text += f" [{row['unit']}]"
    if row.get("time"):
        text += f" [{' or '.join(row['time'])} time]"
    for param in row.get("params", ()):
        text += f"\n  {param['name']} = {param['default']}: {param['summary']}"
    return text


def _columns() -> list[Row]:
    return [
        {"name": f"{table}.{column['name']}", "summary": column["summary"], "unit": column["unit"]}
        for table, spec in schema().items()
        for column in spec["columns"]
    ]


def _metrics() -> list[Row]:
    from sawtooth.measures import listed

    return [{"name": name, "summary": summary, "unit": unit} for name, (unit, summary) in listed().items()]


def _figures() -> list[Row]:
    from sawtooth.figures import TABLE

    return [{"name": name, "summary": kind.summary} for name, kind in TABLE.items()]


def _findings() -> list[Row]:
    from sawtooth.findings import table as kinds

    return [{"name": name, "summary": kind.summary} for name, kind in kinds().items()]


def _rules() -> list[Row]:
    from sawtooth.linting import RULES

    return [
        {"name": rule.code, "summary": f"{rule.name} ({rule.severity}): {rule.summary}", "severity": rule.severity}
        for rule in RULES.values()
    ]


def _backends() -> list[Row]:
    return [{"name": row.name, "summary": row.summary, "time": list(row.clocks) or ["simulated"]} for row in BACKENDS.values()]


def _studies() -> list[Row]:
    from sawtooth.study import shipped

    here = Path("studies")
    own = sorted(here.glob("**/*.toml")) if here.is_dir() and not here.samefile(shipped.DIRECTORY) else []
    found = {**shipped.studies(), **{str(path): path for path in own}}
    return [{"name": name, "summary": _question(path), "path": str(path)} for name, path in found.items()]


def _question(path: Path) -> str:
    """A study's question; of a file that cannot be used, why not: the others are listed all the same."""
    from sawtooth.errors import StudyError
    from sawtooth.study import Study

    try:
        return Study.load(path).question
    except StudyError as error:
        return f"cannot be read: {error.message}"


_OWN: dict[str, Callable[[], list[Row]]] = {
    "backend": _backends,
    "column": _columns,
    "figure": _figures,
    "finding": _findings,
    "metric": _metrics,
    "rule": _rules,
    "study": _studies,
}

KINDS = (*_core.registry(), *_OWN)
"""Names of the tables."""
