"""Tables of the pages that the scripts here write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table; `align` has a letter for every column: l as it is, r for numbers."""
    marks = ["---:" if letter == "r" else "---" for letter in align or "l" * len(header)]
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(marks) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
