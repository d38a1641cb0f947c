"""What shipped studies have in an analysis of their own stays small, and stands on public names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from sawtooth.study import shipped

MOST_LINES = 150
PUBLIC = {"sawtooth", "sawtooth.report", "sawtooth.stats", "sawtooth.plots", "sawtooth.figures", "polars", "numpy", "scipy", "matplotlib"}
STANDARD = {"__future__", "collections", "dataclasses", "functools", "itertools", "math", "typing"}


def analyses() -> list[Path]:
    return sorted(shipped.DIRECTORY.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", analyses(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_analysis_is_short_and_public(path: Path) -> None:
    assert len(path.read_text().splitlines()) < MOST_LINES
    for name in imported(path):
        first = name.partition(".")[0]
        # Names below `plots`, `stats` and `figures` are those of single kinds.
        assert first in STANDARD or name in PUBLIC or first in PUBLIC - {"sawtooth"} or name.rpartition(".")[0] in PUBLIC - {"sawtooth"}, (
            name
        )
    assert any(path.name in study.read_text() for study in path.parent.glob("*.toml")), "no study names it"
