"""Writes the verdicts in the README of the HighSpeed TCP study: `python -m docs.hstcp [--check] [PUBLISHED ONE UNSCALED FRESH]`.

Results directories of `hstcp`, of two parts of `hstcp/gigabit`: all its cells at 1 Gbit/s, and those with the published window limit
and queues at all rates; and of `hstcp/random`. What is not given is run first, which takes some minutes. With --check nothing is written, and the page must already be so.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from docs.blocks import table, write
from sawtooth import analysis, stats
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
    return [["hstcp"], *([str(folder / f"{name}.toml"), "--short"] for name in PARTS), ["hstcp/random"]]


def blocks(published: Dataset, one: Dataset, unscaled: Dataset, fresh: Dataset) -> dict[str, str]:
    """What stands between the page's marks."""
    first, *parts, again = (Answers(each).verdicts() for each in (published, one, unscaled, fresh))
    heads = ["Claim", "At 1 Gbit/s", "", "Not scaled, at 1, 10 and 100 Gbit/s", ""]
    return {
        "strata": strata(analysis.Dataset.of(published)),
        "verdicts": answers(["Claim", "Verdict", "Number"], first),
        "fresh": anew(first, again),
        "gigabit": answers(heads, *parts),
    }


def strata(published: analysis.Dataset) -> str:
    """What the trends of SACK's gain by Tp and by N come to in other readings."""
    gain = published.measure("log10(sum(throughput_bps) / arms.newreno.sum(throughput_bps))", arm="sack")
    found: list[str] = []
    for along in ("Tp", "N"):
        others = [name for name in ("Bw", "Tp", "D", "N") if name != along]
        means = gain.group_by("cell", along, *others, maintain_order=True).agg(pl.col("value").mean())
        pairs = [(group["cell"].to_numpy(), group["value"].to_numpy()) for _, group in means.group_by(others, maintain_order=True)]
        telling = [pair for pair in pairs if len(set(pair[1])) > 1]
        by_run = gain.group_by(*others, "replicate", maintain_order=True)
        runs = stats.trend([(group["cell"].to_numpy(), group["value"].to_numpy()) for _, group in by_run])
        found.append(
            f"By {along} these are {len(pairs) - len(telling)} of {len(pairs)} of SACK's gain, without which its correlation is {stats.trend(telling).rho:+.2f}; "
            f'of single runs (`ranks = "runs"`) it is {runs.rho:+.2f}.'
        )
    return f"- Strata in which all is alike count as no association. {' '.join(found)}\n"


def anew(first: Sequence[Verdict], again: Sequence[Verdict]) -> str:
    """What fresh start intervals say of the same claims, and of the published sums."""
    said = {verdict.claim: verdict.said for verdict in first}
    both = [verdict for verdict in again if verdict.claim in said]
    other = [f'"{verdict.claim}" is {verdict.said}' for verdict in both if verdict.said != said[verdict.claim]]
    cells = [cell for verdict in again if verdict.claim not in said for cell in verdict.evidence]
    inside = sum(cell.shows(0.95) for cell in cells)
    alike = (
        f"of {len(both)} claims that it shares have other verdicts: {'; '.join(other)}"
        if other
        else f"the verdicts on the {len(both)} claims that it shares are the same"
    )
    return (
        f"With fresh start intervals (`random.toml`) {alike}. {inside} of {len(cells)} published sums ({100 * inside / len(cells):.1f} %) "
        "lie where means of 30 other runs would in 95 %.\n"
    )


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
