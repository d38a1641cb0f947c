"""Numbers of things in words: `1 run`, `2 runs`, `1,000 batches`. The one place in which a plural is made."""

from __future__ import annotations

_ES = ("s", "x", "z", "ch", "sh")


def counted(number: int, one: str) -> str:
    """So many of what is named by its singular."""
    return f"{number:,} {form(number, one, plural(one))}"


def plural(one: str) -> str:
    """Of a word that has a regular one."""
    if one.endswith("y") and one[-2] not in "aeiou":
        return f"{one[:-1]}ies"
    return one + ("es" if one.endswith(_ES) else "s")


def form(number: float | str, one: str, many: str) -> str:
    """The word that goes with a number, which may be in words: `is` or `are`."""
    return one if number in {1, "1"} else many
