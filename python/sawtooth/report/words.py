"""Texts of reports as a page and as Markdown have them: what a study's author wrote is text and no markup; words between backticks are code."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(r"([\\*_\[\]<>#|~$&!])")
# What begins a list or underlines a heading.
_BLOCK = re.compile(r"^(\d*)([-+=.)])(?=\s|$|[-+=])")


def html(text: str) -> Markup:
    """A text as a part of a page."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def markdown(text: str) -> str:
    """A text as a part of a Markdown file, in one line."""
    line = " ".join(text.split())
    parts = _CODE.split(line)
    # What stands between is every second part.
    return "".join(f"`{part.replace('|', '¦')}`" if at % 2 else _escaped(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", text)).replace("`", "\\`")


def slug(title: str) -> str:
    """A heading's name in addresses."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
