"""Everything a study can name, in tables of rows, and each row in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.measures import measures
from sawtooth.study import Study

KINDS = (*_core.registry(), "column", "metric", "study")
"""Names of the tables."""


def tables() -> dict[str, list[dict[str, Any]]]:
    """All of them; studies are those of this directory."""
    found: dict[str, list[dict[str, Any]]] = dict(_core.registry())
    found["column"] = [
        {"name": f"{table}.{column['name']}", "summary": column["summary"], "unit": column["unit"]}
        for table, spec in _core.schema().items()
        for column in spec["columns"]
    ]
    found["metric"] = [
        {"name": metric.name.removeprefix("flows."), "summary": metric.summary, "unit": metric.unit} for metric in measures().values()
    ]
    found["study"] = [{"name": str(path), "summary": _question(path)} for path in sorted(Path("studies").glob("**/*.toml"))]
    return found


def _question(path: Path) -> str:
    """A study's question; of a file that cannot be used, why not: the others are listed all the same."""
    try:
        return Study.load(path).question
    except StudyError as error:
        return f"cannot be read: {error.message}"


def words(row: dict[str, Any]) -> str:
    """A row in words, with what parameters it has."""
    text = row["summary"]
    if row.get("specification"):
        text += f" ({', '.join(row['specification'])})"
    if "default" in row:
        text += f" [{row['kind']}; default {row['default']}]"
    if row.get("unit"):
        text += f" [{row['unit']}]"
    for param in row.get("params", ()):
        text += f"\n  {param['name']} = {param['default']}: {param['summary']}"
    return text
