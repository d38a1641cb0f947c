"""How studies, plans, results and reports show themselves: a few lines in a shell, a small table in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST, _LONGEST = 6, 40
"""Levels that are named one by one; letters of each."""


@dataclass(frozen=True)
class Card:
    """What an object says of itself.

    Attributes:
        kind: what it is, such as `Dataset`.
        name: which.
        question: what it asks, or nothing.
        facts: by what they are of; empty ones are left out.

    """

    kind: str
    name: str
    question: str
    facts: Mapping[str, str]

    def text(self) -> str:
        """Lines for a shell, the first of which says enough."""
        facts = self._facts()
        widest = max(map(len, facts), default=0)
        head = f"<{self.kind} {self.name}{': ' if self.question else ''}{self.question}>"
        return "\n".join(map(_harmless, [head, *(f"  {what:{widest}}  {fact}" for what, fact in facts.items())]))

    def html(self) -> str:
        """A table for a notebook; all that users wrote is text."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(what)}</th><td style='text-align:left'>{html.escape(fact)}</td></tr>"
            for what, fact in self._facts().items()
        )
        question = f"<br>{html.escape(self.question)}" if self.question else ""
        return f"<div><b>{html.escape(self.kind)} {html.escape(self.name)}</b>{question}<table>{rows}</table></div>"

    def _facts(self) -> dict[str, str]:
        return {what: fact for what, fact in self.facts.items() if fact}


def _harmless(line: str) -> str:
    """Without what a terminal takes for a command."""
    return line if line.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in line)


def first_of(names: Sequence[object], most: int = 5) -> str:
    """The first of some names, whole, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def few(values: Iterable[Any]) -> str:
    """Values in a line: the first of many, and how many there are."""
    texts = [text if len(text := str(value)) <= _LONGEST else f"{text[: _LONGEST - 3]}..." for value in values]
    return ", ".join(texts) if len(texts) <= _MOST else f"{', '.join(texts[: _MOST - 1])}, ... ({len(texts):,} in all)"
