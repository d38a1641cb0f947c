"""The size check: no source file above 600 lines of implementation, and those that are above it only shrink.

Lines that are blank, only a comment or part of a docstring are not counted, and neither are Rust's `#[cfg(test)]` modules: to explain
and to test costs nothing. `sizes.txt` has the files that are above the limit, with what they may have: exactly what they have now.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

LIMIT = 600
TABLE = Path(__file__).with_name("sizes.txt")
CRATES = "crates/*/src/**/*.rs"
PLACES = (CRATES, "python/**/*.py", "bench/**/*.py", "docs/**/*.py")
PAGE = "docs/development/guards.md"
HEAD = f"# Lines of implementation of the files that have more than {LIMIT}. A number here may only fall: see {PAGE}.\n"
# `#[cfg(test)] mod tests { ... }` with what attributes it has; rustfmt puts its last brace below its first word.
_TESTS = re.compile(r"^( *)#\[cfg\(test\)\]\n(?:\1#\[.*?\]\n)*\1(?:pub(?:\(\w+\))? )?mod \w+(?:;| \{.*?^\1\})$", re.MULTILINE | re.DOTALL)
RENEW = "python -m tests.guards sizes"
FREE = f"blank lines, comments and tests are not counted; see {PAGE}"


def found(root: Path, places: Sequence[str] = PLACES) -> dict[str, int]:
    """Lines of implementation of every source file, by its path from `root`."""
    paths = sorted({path for place in places for path in root.glob(place) if path.name != "tests.rs"})
    return {path.relative_to(root).as_posix(): lines(path) for path in paths}


def lines(path: Path) -> int:
    """Lines of implementation of one file."""
    text = path.read_text(encoding="utf-8")
    return python_lines(text) if path.suffix == ".py" else rust_lines(text)


def rust_lines(text: str) -> int:
    return sum(1 for line in _TESTS.sub("", text).splitlines() if line.strip() and not line.lstrip().startswith("//"))


def python_lines(text: str) -> int:
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
    counted: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in blank:
            counted.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        # Docstrings, and those of attributes: a string that is a statement.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            counted.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(counted)


def read(text: str) -> dict[str, int]:
    """The rows of the table."""
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {path: int(size) for size, path in rows}


def renewed(sizes: Mapping[str, int], allowed: Mapping[str, int]) -> str:
    """The table that fits: rows that fell are lowered, rows that are not needed go; none rises and none comes."""
    kept = {path: min(size, sizes[path]) for path, size in allowed.items() if sizes.get(path, 0) > LIMIT}
    return HEAD + "".join(f"{size:5} {path}\n" for path, size in sorted(kept.items()))


def faults(sizes: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    """What is wrong, one sentence for each file."""
    said: list[str] = []
    for path, size in sizes.items():
        may = allowed.get(path)
        if may is None and size > LIMIT:
            said.append(f"{path} has {size} lines of implementation; {LIMIT} is the limit: split it ({FREE})")
        elif may is not None and size > may:
            said.append(
                f"{path} has {size} lines of implementation; it may have {may} and only shrink: move what is new elsewhere ({FREE})"
            )
        elif may is not None and size < max(may, LIMIT + 1):
            said.append(f"{path} has shrunk from {may} to {size} lines: keep it so with `{RENEW}`")
    said += [f"{path} is gone: remove its row with `{RENEW}`" for path in allowed if path not in sizes]
    return said
