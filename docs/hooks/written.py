"""Pages of validation say on which day and in which commit they were written, as git knows it; without git they say nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

FOLDER = "validation/"
_HEADING = re.compile(r"(?m)^# .*\n")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Puts it below the heading."""
    if not page.file.src_uri.startswith(FOLDER):
        return markdown
    return dated(markdown, said(Path(config.docs_dir) / page.file.src_uri))


def dated(markdown: str, sentence: str) -> str:
    """A page with a sentence below its heading."""
    heading = _HEADING.search(markdown)
    if not sentence or heading is None:
        return markdown
    return f"{markdown[: heading.end()]}\n*{sentence}*\n{markdown[heading.end() :]}"


def said(path: Path) -> str:
    """When a page was written last; empty where git does not know, as of a copy without its history."""
    if _git(path, "rev-parse", "--is-shallow-repository") != "false":
        return ""
    last = _git(path, "log", "-1", "--date=short", "--abbrev=8", "--format=%cd %h", "--", path.name)
    if not last:
        return ""
    day, commit = last.split()
    changed = ", and changed since" if _git(path, "status", "--porcelain", "--", path.name) else ""
    return f"This page was last written on {day}, in commit {commit}{changed}."


def _git(path: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=path.parent, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
