"""What is written for readers of git forges (CommonMark with tables) reads the same in the site (Python-Markdown)."""

from __future__ import annotations

import re
from html import unescape

import pytest
from markdown import Markdown
from markdown_it import MarkdownIt

from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
TAGS = ("h1", "h2", "h3", "h4", "table", "tr", "ol", "ul", "li", "img", "em", "strong")


def texts(html: str) -> str:
    """The words of a page, without marks."""
    return "".join(unescape(re.sub(r"(?s)<!--.*?-->|<[^>]*>", "", html)).split())


def counted(html: str) -> dict[str, int]:
    return {tag: len(re.findall(rf"<{tag}[ >/]", html)) for tag in TAGS}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_same_parts_as_on_a_git_forge(name: str) -> None:
    forge, site = both((DOCS / name).read_text(encoding="utf-8"))
    assert counted(site) == counted(forge)
    assert texts(site) == texts(forge)


def both(text: str) -> tuple[str, str]:
    """The page as either makes it, without highlighting."""
    forge = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    return forge, Markdown(extensions=["tables", "fenced_code", "toc"]).convert(text)


@pytest.mark.parametrize(
    "text", ["a:\n- list", "1. a\n   1. nested", "- a\n\n    ```\n    code\n    ```\n- b", "| a |\n|---|\n| `x \\| y` |"]
)
def test_what_reads_otherwise_is_found(text: str) -> None:
    forge, site = both(text)
    assert (counted(site), texts(site)) != (counted(forge), texts(forge))
