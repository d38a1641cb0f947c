"""The page of the Python interface is written by `docs/generate.py`, for whoever reads it as a file; the site has all of each name in its place."""

from __future__ import annotations

import re
from typing import Any

_NAME = re.compile(r"(?s)<!-- api (\S+) -->\n.*?<!-- /api -->\n")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Lets mkdocstrings tell what stands between the marks."""
    return _NAME.sub(lambda found: f"::: {found[1]}\n", markdown)
