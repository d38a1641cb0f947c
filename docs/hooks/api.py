"""The page of the Python interface is written by `docs/generate.py`, for whoever reads it as a file; the site has all of each name in its place."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(r"(?s)<!-- api (\S+?)(?: members=(\S+))? -->\n.*?<!-- /api -->\n")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Lets mkdocstrings tell what stands between the marks."""
    return _NAME.sub(lambda found: told(found[1], found[2] or ""), markdown)


def told(name: str, members: str) -> str:
    """What mkdocstrings is asked for: a name, and those of its members that are public."""
    inherited = "      inherited_members: true\n" if members else ""
    return f"::: {name}\n    options:\n{inherited}      members: [{', '.join(filter(None, members.split(',')))}]\n"
