"""Runs the tutorial, cell by cell, and writes what the cells show into it: `python docs/notebook.py [--check]`.

The notebook is the source of its own cells. With --check nothing is written; a test does that, so that what it shows is what this version shows.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TUTORIAL = Path(__file__).parent / "start" / "tutorial.ipynb"


def shown(notebook: dict[str, Any], directory: Path) -> dict[str, Any]:
    """The notebook as it is after all of its cells were run, in order, in a directory."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[dict[str, Any]] = []
    count = 0
    with _inside(directory):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                outputs = _run("".join(cell["source"]), names, f"cell {count} of {TUTORIAL.name}", count)
                cells.append({**cell, "execution_count": count, "outputs": outputs})
            else:
                cells.append(cell)
    return {**notebook, "cells": cells}


def text(notebook: dict[str, Any]) -> str:
    """What its file holds."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _run(source: str, names: dict[str, Any], where: str, count: int) -> list[dict[str, Any]]:
    """What a cell shows: what it prints, and the value of an expression at its end."""
    body = ast.parse(source, where).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value: Any = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), where, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(content: str) -> list[str]:
    return content.splitlines(keepends=True)


@contextlib.contextmanager
def _inside(directory: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Writes the notebook, or says whether it is as it should be."""
    before = TUTORIAL.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        after = text(shown(json.loads(before), Path(directory)))
    if "--check" not in sys.argv[1:]:
        TUTORIAL.write_text(after, encoding="utf-8")
    elif after != before:
        sys.exit("docs/start/tutorial.ipynb does not show what its cells show: run `python docs/notebook.py`")


if __name__ == "__main__":
    main()
