"""Writes the verdicts in the README of the HighSpeed TCP study: `python -m docs.hstcp [--check] [PUBLISHED ONE UNSCALED]`.

Results directories of `hstcp` and of two parts of `hstcp/gigabit`: all its cells at 1 Gbit/s, and those with the published window limit
and queues at all rates. What is not given is run first, which takes some minutes. With --check nothing is written, and the page must already be so.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from docs.blocks import table, write
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
    return [["hstcp"], *([str(folder / f"{name}.toml"), "--short"] for name in PARTS)]


def blocks(published: Dataset, one: Dataset, unscaled: Dataset) -> dict[str, str]:
    """What stands between the page's marks."""
    first, *parts = (Answers(each).verdicts() for each in (published, one, unscaled))
    heads = ["Claim", "At 1 Gbit/s", "", "Not scaled, at 1, 10 and 100 Gbit/s", ""]
    return {"verdicts": answers(["Claim", "Verdict", "Number"], first), "gigabit": answers(heads, *parts)}


def answers(heads: Sequence[str], *those: Sequence[Verdict]) -> str:
    """Every claim with its verdict, and the number that decides it, of each of several results."""
    rows = [
        [row[0].claim, *(part for each in row for part in (("not run", "") if each.untold else (each.said, closing.number(each))))]
        for row in zip(*those, strict=True)
    ]
    return table(heads, rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write(PAGE, commands(Path(scratch)), blocks, sys.argv[1:])
