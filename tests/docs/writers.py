"""Numbers in the prose of programs that write pages: nothing fills them, so none may come, and those that are there only go: `python -m tests.docs.writers [--lower]`.

What such a program says around what it fills is somebody's words, as those of a page are. `writers.txt` has how many numbers of each program nothing accounts
for: exactly what it has now. docs/development/guards.md says what accounts for a number; in a program that is an expression in braces.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs import accounted

TABLE = Path(__file__).with_suffix(".txt")
HEAD = "# Numbers in the prose of programs that write pages, which nothing fills. One may only fall: see docs/development/guards.md.\n"
_PROSE = re.compile(r"[a-z]{2,} [a-z]{2,}")
_FEWEST_PAIRS = 2
"""Pairs of words that a text has to have to be prose: fewer have titles, keys and code."""


def programs() -> list[Path]:
    """Those by which pages say to be written, and those that fill blocks of pages."""
    said = {program for page in accounted.DOCS.rglob("*.md") if (program := accounted.writer(page.read_text(encoding="utf-8")))}
    found = {path for program in said for path in _sources(program)}
    found |= {path for path in accounted.DOCS.glob("*.py") if "docs.blocks" in path.read_text(encoding="utf-8")}
    return sorted(found)


def _sources(program: str) -> Iterator[Path]:
    name = program.removeprefix("-m ").replace(".", "/") if program.startswith("-m ") else program.removesuffix(".py")
    path = accounted.ROOT / f"{name}.py"
    return iter([path]) if path.is_file() else (accounted.ROOT / name).glob("*.py")


def unaccounted(source: str) -> list[str]:
    """The numbers in a program's prose, each with the line that its text begins in."""
    return [f"{line}: {number}" for line, text in _texts(ast.parse(source)) for number in accounted.unaccounted(text)]


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What a program says, with a hole for each expression; what tells of the program itself is nobody's to read on a page."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node}
    inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if id(node) in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        if len(_PROSE.findall(text)) >= _FEWEST_PAIRS and not re.search(r"(?m)^\w+(?:\.\w+)* = |^\[\[?\w+|;$", text):
            yield getattr(node, "lineno", 0), text


def found() -> dict[str, int]:
    """How many each program has."""
    counts = {path.relative_to(accounted.ROOT).as_posix(): len(unaccounted(path.read_text(encoding="utf-8"))) for path in programs()}
    return {path: count for path, count in counts.items() if count}


def read(text: str) -> dict[str, int]:
    """The rows of the table."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {path: int(count) for count, path in rows}


def faults(counts: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    """What is wrong, a sentence for each program."""
    said: list[str] = []
    for path in sorted(counts.keys() | allowed.keys()):
        count, may = counts.get(path, 0), allowed.get(path, 0)
        if count > may:
            said.append(
                f"{path} has {count} numbers in its prose that nothing fills, and may have {may}: `python -m tests.docs.writers` prints them"
            )
        elif count < may:
            said.append(
                f"{path} has {count} numbers in its prose that nothing fills, no longer {may}: keep it so with `python -m tests.docs.writers --lower`"
            )
    return said


def lowered(counts: Mapping[str, int], allowed: Mapping[str, int]) -> str:
    """The table that fits: rows that fell are lowered, rows that are not needed go; none rises and none comes."""
    kept = {path: min(count, counts[path]) for path, count in allowed.items() if path in counts}
    return HEAD + "".join(f"{count:4} {path}\n" for path, count in sorted(kept.items()))


def main() -> None:
    if "--lower" in sys.argv[1:]:
        TABLE.write_text(lowered(found(), read(TABLE.read_text(encoding="utf-8"))), encoding="utf-8")
        return
    for path in programs():
        for each in unaccounted(path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(accounted.ROOT)}:{each}")


if __name__ == "__main__":
    main()
