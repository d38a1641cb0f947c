"""Writes the verdicts in the README of the HighSpeed TCP study: `python -m docs.hstcp [--check] [PUBLISHED RANDOM ONE UNSCALED]`.

Results directories of `hstcp`, of `hstcp/random`, and of two parts of `hstcp/gigabit`: all its cells at 1 Gbit/s, and those with the published window limit
and queues at all rates. What is not given is run first, which takes some minutes. With --check nothing is written, and the page must already be so.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from docs.blocks import write
from sawtooth.report import closing
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

PAGE = shipped.DIRECTORY / "hstcp/README.md"
PARTS = {"one": '"vars.Bw" = ["1 Gbit/s"]', "unscaled": '"vars.scale" = [1]'}
"""Of the study at gigabit rates: what its short form is in each part that is run."""


def commands(folder: Path) -> list[list[str]]:
    """What is run; the parts are written to a folder."""
    text = shipped.studies()["hstcp/gigabit"].read_text(encoding="utf-8")
    for name, levels in PARTS.items():
        part, times = re.subn(r"(?ms)^\[short\]\n.*?\n\n", f"[short]\n{levels}\n\n", text)
        assert times == 1
        (folder / f"{name}.toml").write_text(part, encoding="utf-8")
    return [["hstcp"], ["hstcp/random"], *([str(folder / f"{name}.toml"), "--short"] for name in PARTS)]


def blocks(published: Dataset, random: Dataset, one: Dataset, unscaled: Dataset) -> dict[str, str]:
    """What stands between the page's marks."""
    first, again, *parts = ([*Answers(each).verdicts()] for each in (published, random, one, unscaled))
    return {"verdicts": table(["Claim", "Verdict", "Number"], first), "random": fresh(first, again), "gigabit": gigabit(*parts)}


def table(heads: Sequence[str], *those: Sequence[Verdict]) -> str:
    """Every claim with its verdict, and the number that decides it, of each of several results."""
    rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in zip(*those, strict=True):
        cells = [part for each in row for part in (("not run", "") if each.untold else (each.said, closing.number(each)))]
        rows.append(f"| {' | '.join([row[0].claim, *cells])} |")
    return "\n".join(rows) + "\n"


def fresh(first: Sequence[Verdict], again: Sequence[Verdict]) -> str:
    """What other start intervals say."""
    before = {verdict.claim: verdict.said for verdict in first}
    same = [verdict for verdict in again if verdict.claim in before]
    other = [verdict for verdict in same if verdict.said != before[verdict.claim]]
    told = "; ".join(f"{verdict.claim}: {verdict.said}, {closing.number(verdict)}" for verdict in other)
    rest = [verdict for verdict in again if verdict.claim not in before]
    counted = "; ".join(f"{verdict.claim}: {verdict.said}, {closing.number(verdict)}" for verdict in rest)
    alike = f"{len(same) - len(other)} of the {len(same)} claims that both studies make have the same verdict"
    return f"With fresh start intervals (`random.toml`) {alike}{f'; other: {told}' if told else ''}.\n\nOnly there: {counted}.\n"


def gigabit(one: Sequence[Verdict], unscaled: Sequence[Verdict]) -> str:
    """The claims at gigabit rates in both parts."""
    return table(["Claim", "At 1 Gbit/s", "", "Not scaled, at 1, 10 and 100 Gbit/s", ""], one, unscaled)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write(PAGE, commands(Path(scratch)), blocks, sys.argv[1:])
