"""The pages that the scripts here write, and tables in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table; `align` has a letter for every column: l as it is, r for numbers."""
    marks = ["---:" if letter == "r" else "---" for letter in align or "l" * len(header)]
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(marks) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def publish(text: str, page: Path, *, write: bool) -> None:
    """Writes a page, or else prints it."""
    if write:
        page.write_text(text, encoding="utf-8")
    else:
        print(text)
