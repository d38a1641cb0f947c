"""Parts of guides that are files of the repository: what an algorithm that works needs, and the lessons of the explorer."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.blocks import filled, table

ROOT = Path(__file__).parents[1]
ALGORITHM = ROOT / "docs/guides/write-a-congestion-control.md"
TEACHING = ROOT / "docs/guides/teach.md"
RECIPE = ROOT / "tests/recipes/congestion-control.toml"
LESSONS = ROOT / "python/sawtooth/web/lessons"


def pages() -> dict[Path, str]:
    """The guides with what is in the files now."""
    return {
        ALGORITHM: filled(ALGORITHM.read_text(encoding="utf-8"), algorithm(tomllib.loads(RECIPE.read_text(encoding="utf-8")))),
        TEACHING: filled(TEACHING.read_text(encoding="utf-8"), {"lessons": lessons(LESSONS)}),
    }


def algorithm(recipe: Mapping[str, Any]) -> dict[str, str]:
    """The new file and the lines of the example that a test compiles and runs."""
    new = "".join(
        f"`{Path(name).with_stem('NAME').as_posix()}`, here with `{Path(name).stem}` for NAME:\n\n```rust\n{file['text'].strip()}\n```\n"
        for name, file in recipe["new"].items()
    )
    lines: dict[str, list[str]] = {}
    for edit in recipe["lines"]:
        lines.setdefault(edit["file"], []).append(f"{edit['text'].strip()}\n```\n\nbehind `{edit['after'].strip()}`")
    said = [f"In `{file}`:\n\n" + ",\n\n".join(f"```{_language(file)}\n{one}" for one in each) + ".\n" for file, each in lines.items()]
    return {"new": new, "lines": "\n".join(said)}


def _language(file: str) -> str:
    # Not `toml`: a line is no study.
    return "rust" if file.endswith(".rs") else "text"


def lessons(folder: Path) -> str:
    """Each lesson with its question and its exercise."""
    rows: list[list[str]] = []
    for path in sorted(folder.glob("*.toml")):
        lesson = tomllib.loads(path.read_text(encoding="utf-8"))
        rows.append([lesson["title"], lesson["question"], " ".join(lesson["exercise"].split())])
    return table(["Lesson", "Question", "Exercise"], rows)
