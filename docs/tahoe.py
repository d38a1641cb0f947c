"""Writes the verdicts and numbers in the guide to the Tahoe/Reno study: `python -m docs.tahoe [--check] [RANDOM FIXED UNREAD OTHER]`.

Results directories of the four commands that the guide names; what is not given is run first, which takes some minutes. With --check
nothing is written, and the page must already be so.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from docs.blocks import table, verdicts, write
from sawtooth.findings.verdict import ANSWERS
from sawtooth.measures import Asked, measure
from sawtooth.measures.resolve import Context
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset

GUIDE = Path(__file__).parent / "guides/tahoe-vs-reno.md"
COMMANDS = (["tahoe-vs-reno/random"], ["tahoe-vs-reno"], ["tahoe-vs-reno", "--set", 'vars.unread="segment"'], ["tahoe-vs-reno/sensitivity"])


def blocks(random: Dataset, fixed: Dataset, unread: Dataset, other: Dataset) -> dict[str, str]:
    """What stands between the guide's marks."""
    return {"verdicts": verdicts(random), "standing": standing(other), "agreement": agreement(fixed, unread), "left": left(unread)}


def standing(dataset: Dataset) -> str:
    """In how many combinations of what is assumed each claim has which answer."""
    found = [verdict for verdict in Answers(dataset).verdicts() if verdict.standing is not None]
    rows: list[list[str]] = []
    for verdict in found:
        assert verdict.standing is not None
        counts = verdict.standing.counts
        rows.append([verdict.claim, *(str(counts.get(answer, "")) for answer in ANSWERS)])
    return table(["Claim", *ANSWERS], rows)


def ratios(dataset: Dataset) -> pl.DataFrame:
    """Goodput over that of ns-3.24, and drops of both, in every cell."""
    answers = Answers(dataset)
    context = Context(answers.shown.references)
    asked = {"ratio": "goodput_bps / reference.goodput_bps", "ours": "links.dropped_packets", "theirs": "reference.drops"}
    found = {name: answers.evaluator.observe(Asked(measure(text, context))) for name, text in asked.items()}
    frame = found["ratio"].select("run", "cell", "flows", "queue", "window", "segment", "arm", ratio="value")
    for name in ("ours", "theirs"):
        values = found[name].filter(pl.col("item").is_in(["bottleneck forward", "flows"]))
        frame = frame.join(values.select("run", pl.col("value").alias(name)), on="run")
    return frame.sort("cell", "arm", descending=[False, True])


def agreement(fixed: Dataset, unread: Dataset) -> str:
    """In how many cells goodput is within 5 % of ns-3.24's, with both windows."""
    near = [(frame.filter((pl.col("ratio") - 1).abs() <= 0.05).height, frame.height) for frame in (ratios(fixed), ratios(unread))]
    return f"Goodput is within 5 % of ns-3.24's in {near[0][0]} of {near[0][1]} cells, and with its window in {near[1][0]}.\n"


def left(unread: Dataset) -> str:
    """The cells that are not."""
    rows: list[list[str]] = []
    for row in ratios(unread).filter((pl.col("ratio") - 1).abs() > 0.05).iter_rows(named=True):
        place = [str(row[name]) for name in ("flows", "queue", "window", "segment", "arm")]
        rows.append([*place, f"{row['ratio']:.3f}", f"{row['ours']:.0f}, {row['theirs']:.0f}"])
    return table(["Flows", "Queue", "Window", "Segment", "", "Ours over ns-3.24's", "Drops, ours and ns-3's"], rows)


if __name__ == "__main__":
    write(GUIDE, COMMANDS, blocks, sys.argv[1:])
