"""What `sawtooth report` prints: the question, the verdicts with the number that decides each, and in its last lines what was found and where the report is."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from rich.table import Table
from rich.text import Text

from sawtooth import streams
from sawtooth.counted import counted
from sawtooth.report import closing
from sawtooth.report.document import Report
from sawtooth.report.origin import is_short

_STYLES = {"yes": "green", "no": "red", "mixed": "yellow", "cannot distinguish": "dim"}
_WIDEST, _WIDE = 120, 100
"""Lines are not longer than that; from the second on an answer stands in one line."""
_LINES = 2
"""Of a caveat."""


def show(made: Report, page: Path, *, verbose: bool = False) -> None:
    """Prints a report: to a terminal as wide as it is, to a pipe in whole lines. `verbose`: with all numbers of each verdict, and whole caveats."""
    if verbose:
        lines = [*_warnings(made), *(f"caveat: {caveat}" for caveat in made.caveats), *closing.whole(made)]
    elif sys.stdout.isatty():
        return _on_terminal(made, page)
    else:
        marks = _marks(made)
        lines = [
            *_title(made),
            *_warnings(made),
            *(f"caveat: {_short(caveat)}" for caveat in made.caveats),
            *(f"{each.said}: {each.claim}{marks.get(each.caveat, '')} ({closing.number(each)})" for each in made.verdicts),
            *(f"caveat{mark}: {_short(caveat)}" for caveat, mark in marks.items()),
            *made.told,
        ]
    print("\n".join([*lines, *_last(made, page)]))
    return None


def _on_terminal(made: Report, page: Path) -> None:
    console = streams.Console(markup=False, emoji=False, highlight=False)
    width = min(console.width, _WIDEST)
    marks = _marks(made)

    def folded(text: str, *, before: str = "", most: int | None = None, style: str = "") -> None:
        lines = textwrap.wrap(text, width, initial_indent=before, subsequent_indent=" " * len(before), max_lines=most, placeholder=" ...")
        for line in lines:
            console.print(Text(line, style=style), soft_wrap=True)

    for line in _title(made):
        folded(line, style="bold")
    for line in _warnings(made):
        folded(line, style="yellow")
    if made.caveats:
        console.print()
        folded(f"{counted(len(made.caveats), 'caveat')}, whole in the report:")
        for caveat in made.caveats:
            folded(caveat, before="  - ", most=_LINES)
    if made.verdicts:
        console.print()
        table = Table(box=None, pad_edge=False, show_header=False, width=width)
        table.add_column(min_width=3, max_width=18 if width >= _WIDE else 11)
        table.add_column(ratio=1)
        table.add_column(max_width=34 if width >= _WIDE else 24)
        for each in made.verdicts:
            style = _STYLES[each.answer]
            table.add_row(
                Text(each.said, style=style), Text(f"{each.claim}{marks.get(each.caveat, '')}"), Text(closing.number(each), style=style)
            )
        console.print(table)
        for caveat, mark in marks.items():
            folded(caveat, before=f"{mark.strip()} ", most=_LINES)
    for line in made.told:
        folded(line, before="  ")
    *found, path = _last(made, page)
    if found:
        console.print()
    for line in found:
        for at, part in enumerate(textwrap.wrap(line, width, subsequent_indent="  ")):
            console.print(Text(part, style="bold" if not at and line is found[0] else ""), soft_wrap=True)
    # A path is there to be copied: it is not folded.
    console.print(Text(path), soft_wrap=True)


def _title(made: Report) -> list[str]:
    manifest = made.dataset.manifest
    name, question = (str(manifest.get(key, "")) for key in ("name", "question"))
    title = f"{name} (short form)" if is_short(made.dataset) else name
    return [f"{title}: {question}" if question else title] if name else []


def _warnings(made: Report) -> list[str]:
    """In full: they say how the rest is to be taken."""
    return [f"warning: {each}" for each in made.warnings]


def _last(made: Report, page: Path) -> list[str]:
    """What was found, in words, and where the report is."""
    return [*(closing.found(made.verdicts) if made.verdicts else []), f"report: {page}"]


def _marks(made: Report) -> dict[str, str]:
    """What is to be known of single claims, each with the mark that refers to it."""
    caveats = dict.fromkeys(verdict.caveat for verdict in made.verdicts if verdict.caveat)
    return {caveat: f" [{at}]" for at, caveat in enumerate(caveats, 1)}


def _short(text: str) -> str:
    """The first sentence."""
    first = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
    return first if first == text else f"{first} ..."
