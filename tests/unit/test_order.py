"""What is shown does not depend on which thread was first."""

from __future__ import annotations

import ast
from pathlib import Path

import sawtooth


def test_every_grouping_keeps_its_order() -> None:
    # Polars gives groups in the order in which its threads find them unless it is told otherwise: panels and the last digits of sums
    # would change from one report to the next.
    lacking: list[str] = []
    calls = 0
    for path in sorted(Path(sawtooth.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "group_by":
                calls += 1
                if not any(keyword.arg == "maintain_order" for keyword in node.keywords):
                    lacking.append(f"{path.name}:{node.lineno}")
    assert calls > 40
    assert not lacking
