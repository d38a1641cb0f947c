"""Parts of a page that a program fills: what stands between `<!-- NAME -->` and `<!-- /NAME -->`.

A page's program runs the studies that it tells of, or reads results that are given, and fills its blocks from them; with `--check` nothing is written, and the
page must already be so.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset


def filled(text: str, blocks: Mapping[str, str]) -> str:
    """A page's text with these blocks, each of which it has once.

    Raises:
        ValueError: if it lacks the marks of one, or has them twice.

    """
    for name, block in blocks.items():
        pattern = rf"(?s)(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)"
        text, times = re.subn(pattern, lambda found, block=block: found[1] + block + found[2], text)
        if times != 1:
            raise ValueError(f"the page has {times} blocks `<!-- {name} -->` ... `<!-- /{name} -->`, and should have one")
    return text


def write(
    pages: Path | Sequence[Path], commands: Sequence[Sequence[str]], make: Callable[..., Mapping[str, str]], arguments: Sequence[str]
) -> None:
    """Fills the blocks of a page, or of several, from results.

    Args:
        pages: which; of several each has some of the blocks.
        commands: what `sawtooth run` is told for each of the results.
        make: of the data sets in that order, block by name.
        arguments: directories of results in that order, of which those at the end may lack and are run first; and `--check`.

    """
    several = [pages] if isinstance(pages, Path) else pages
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(each) for each in arguments if each != "--check"]
        for at in range(len(paths), len(commands)):
            paths.append(Path(folder) / str(at))
            done = CliRunner().invoke(app, ["run", *commands[at], "--out", str(paths[-1])])
            if done.exit_code:
                sys.exit(done.output)
        blocks = make(*(Dataset.open(path) for path in paths))
    texts = {page: page.read_text(encoding="utf-8") for page in several}
    for page, text in texts.items():
        # What no page has is missed at each.
        elsewhere = {name for other, its in texts.items() if other != page for name in blocks if f"<!-- {name} -->" in its}
        own = {name: block for name, block in blocks.items() if f"<!-- {name} -->" in text or name not in elsewhere}
        made = filled(text, own)
        if "--check" not in arguments:
            page.write_text(made, encoding="utf-8")
        elif made != text:
            sys.exit(f"{page} is not what the runs say: python -m docs.{Path(sys.argv[0]).stem}")


def said(command: str, *words: object) -> str:
    """What a command prints that does what it should."""
    return printed(command, *words)


def printed(command: str, *words: object, exit_code: int = 0) -> str:
    """What a command prints that ends with this code."""
    ran = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(app, [command, *map(str, words)])
    if ran.exit_code != exit_code:
        sys.exit(ran.output or str(ran.exception))
    return ran.stdout.rstrip()


def console(command: str, printed: str) -> str:
    """What a terminal shows, below the command if that is to be shown, too."""
    prompt = f"$ {command}\n" if command else ""
    return "```console\n" + prompt + "".join(f"{line.rstrip()}\n" for line in printed.splitlines()) + "```\n"


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of a page."""
    head, *body = (f"| {' | '.join(str(cell).replace('|', '') for cell in line)} |\n" for line in (titles, *rows))
    return "".join([head, f"|{'---|' * len(titles)}\n", *body])


def verdicts(dataset: Dataset) -> str:
    """Every claim with its verdict, and in how many cells it is shown."""
    rows: list[list[str]] = []
    for verdict in Answers(dataset).verdicts():
        cells = verdict.evidence
        if len(cells) == 1:
            numbers = cells[0].words
        else:
            shown, denied = sum(each.shows(0.95) for each in cells), sum(each.denies(0.95) for each in cells)
            numbers = f"{shown} and {denied} of {len(cells)}" if cells else "follows from others"
        rows.append([verdict.claim, verdict.answer, numbers])
    return table(["Claim", "Verdict", "Cells that show it, and the contrary, each by itself"], rows)
