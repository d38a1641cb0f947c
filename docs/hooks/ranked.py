"""Who searches wants to know how something is done or what it means, before how it is measured and how the code is kept."""

from __future__ import annotations

from typing import Any

# How much a find on these pages counts, where others count 1; the last that fits. Every page has packets, and the one on their losses is short.
WEIGHTS = {
    "start/": 2.0,
    "guides/": 1.5,
    "reference/": 1.5,
    "reference/loss.md": 3.0,
    # What begins with the word is not what is about it.
    "guides/captures.md": 3.0,
    "validation/": 0.5,
    "development/": 0.3,
    "source/": 0.2,
}


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Gives the search its weight of a page."""
    for folder, weight in WEIGHTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta["search"] = {"boost": weight}
    return markdown
