"""Writes the verdicts and numbers in the guide to traffic in the background: `python -m docs.background [--check] [STUDY SENSITIVITY KERNEL SIM]`.

Results directories of the four commands that the guide names; what is not given is run first, the whole of it some twenty minutes on two idle cores, and the
third needs user-mode Linux. With --check nothing is written, and the page must already be so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

import sawtooth
from docs.blocks import table, write
from sawtooth import stats
from sawtooth.findings.verdict import ANSWERS
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset

GUIDE = Path(__file__).parent / "guides/background.md"
STUDY = "self-similar-background"
COMMANDS = ([STUDY], [f"{STUDY}/sensitivity"], [f"{STUDY}/kernel"], [f"{STUDY}/kernel", "--backend", "sim"])
STACKS = {"vanilla": "vanilla", "highspeed": "HighSpeed TCP", "scalable": "Scalable TCP"}
PATHS = {"6 ms": "1", "60 ms": "10", "180 ms": "30"}
"""Round trips, each with the buffer that is to it what the published one is to 6 ms."""
ASSUMED = {"queue": "100 packets", "H": "0.8", "variance": "1", "buffers": "1"}
"""What the study assumes."""
WARM_UP = "16.6 %"
BPS, CWND = "mean(series.throughput_bps)", "mean(series.cwnd_bytes)"
COV = "cov(series.throughput_bps)"
LEFT = f"{BPS} / (1448 / 1500 * (1 Gbit/s - 1500 / 1472 * items.background.{BPS}))"


def blocks(study: Dataset, sensitivity: Dataset, kernel: Dataset, simulator: Dataset) -> dict[str, str]:
    """What stands between the guide's marks."""
    found, other = Answers(study).verdicts(), Answers(sensitivity).verdicts()
    standing = {verdict.claim: verdict for verdict in other}
    return {
        "answer": answer(found),
        "verdicts": verdicts(found, standing),
        "differs": differs(found, standing),
        "beyond": beyond([verdict for verdict in found if verdict.claim not in standing]),
        "numbers": numbers(study),
        "kernel": beside(kernel, simulator),
        "kernel-verdicts": agreement(Answers(kernel).verdicts(), Answers(simulator).verdicts()),
    }


def answer(found: Sequence[Verdict]) -> str:
    """The study's question in a sentence: what its verdicts on predictability come to."""
    told = {verdict.claim: verdict.said for verdict in found}
    middle = "From 425 to 775 Mbit/s of background the CoV of {} is higher than that of vanilla (windows of 1 s)"
    far = "With a round trip of {} and 425 to 775 Mbit/s of background the CoV of {} is higher than that of vanilla (windows of 1 s)"
    new = list(STACKS.values())[1:]
    rows = [("6 ms, as published", [told[middle.format(stack)] for stack in new])]
    rows += [(path, [told[far.format(path, stack)] for stack in new]) for path in list(PATHS)[1:]]
    return table(["Round trip", *new], [[path, *said] for path, said in rows])


def verdicts(found: Sequence[Verdict], standing: Mapping[str, Verdict]) -> str:
    """The published claims with their verdicts, and in how many of the combinations of what is assumed each has which answer."""
    rows: list[list[str]] = []
    for verdict in found:
        if verdict.claim not in standing:
            continue
        of = standing[verdict.claim].standing
        counts = of.counts if of is not None else {}
        rows.append([verdict.claim, verdict.said, *(str(counts.get(each, 0)) for each in ANSWERS)])
    return table(["Claim", "Verdict", *ANSWERS], rows)


def differs(found: Sequence[Verdict], standing: Mapping[str, Verdict]) -> str:
    """The claims of which the shorter runs say another thing than the study, assuming the same."""
    rows: list[list[str]] = []
    for verdict in found:
        of = standing[verdict.claim].standing if verdict.claim in standing else None
        if of is not None and (there := of.answers.get(tuple(ASSUMED[name] for name in of.factors))) not in (None, verdict.answer):
            rows.append([verdict.claim, verdict.answer, str(there)])
    return table(["Claim", "The study", "Shorter runs"], rows) if rows else "None.\n"


def beyond(found: Sequence[Verdict]) -> str:
    """The claims that are put to no other assumptions: ours, of what the authors left for later, and of the traffic itself."""
    rows: list[list[str]] = []
    for verdict in found:
        cells = verdict.evidence
        shown, denied = sum(each.shows(0.95) for each in cells), sum(each.denies(0.95) for each in cells)
        told = cells[0].words if len(cells) == 1 else f"{shown} and {denied} of {len(cells)}"
        rows.append([verdict.claim, verdict.said, told])
    return table(["Claim", "Verdict", "Numbers, or cells that show it, and the contrary, each by itself"], rows)


def means(
    dataset: Dataset, measure: str, cells: pl.Expr, *, width: str | None = None, sampled: bool = True, warm_up: str = WARM_UP
) -> list[float]:
    """The mean of a measure over some cells and their replicates, of each stack."""
    public = sawtooth.Dataset.of(dataset)
    found = public.measure(measure, of="tcp", warm_up=warm_up if sampled else None, width=width if sampled else None).filter(cells)
    return [stats.vector(found.filter(arm=arm)["value"].drop_nulls().to_list()).mean() for arm in STACKS]


def numbers(study: Dataset) -> str:
    """What stands behind the verdicts: means over rates of background and replicates, of each stack."""
    rate = pl.col("background").str.split(" ").list.first().cast(pl.Float64)

    def at(rtt: str) -> pl.Expr:
        base = {**ASSUMED, "RTT": rtt, "buffers": PATHS[rtt]}
        return pl.all_horizontal(pl.col(name) == level for name, level in base.items())

    middle, below = at("6 ms") & rate.is_between(425, 775), at("6 ms") & (rate < 425)
    rows = [
        ("0 to 400 Mbit/s: share of the time that the receiver's window held the flow back", "{:.0%}", means(study, "limited_rwnd_ns / lifetime_ns", below, sampled=False)),
        ("the same: throughput (Mbit/s)", "{:.0f}", [each / 1e6 for each in means(study, BPS, below)]),
        ("450 to 950 Mbit/s: share of what the background leaves", "{:.0%}", means(study, LEFT, at("6 ms") & (rate > 425))),
        ("450 to 750 Mbit/s: CoV, windows of 1 s", "{:.3f}", means(study, COV, middle, width="1 s")),
        ("the same: CoV, windows of 0.1 s", "{:.3f}", means(study, COV, middle, width="100 ms")),
        ("the same: mean congestion window (kB)", "{:.0f}", [each / 1e3 for each in means(study, CWND, middle)]),
        ("the same: throughput over the mean congestion window (1/s)", "{:.0f}", means(study, f"{BPS} / {CWND}", middle)),
        *((f"the same: {name} per run", "{:,.0f}", means(study, of, middle, sampled=False)) for name, of in (
            ("congestion signals", "congestion_signals"), ("packets retransmitted", "retransmits"), ("duplicate ACKs", "dupacks_in"), ("fast retransmits", "fast_retransmits"),
        )),
        ("the same: duplicate ACKs per packet retransmitted", "{:.1f}", means(study, "dupacks_in * 1 packets / retransmits", middle, sampled=False)),
        *((f"{rtt}, 0 to 950 Mbit/s: throughput (Mbit/s)", "{:.0f}", [each / 1e6 for each in means(study, BPS, at(rtt))]) for rtt in list(PATHS)[1:]),
        *((f"{rtt}, 500 to 700 Mbit/s: CoV, windows of 1 s", "{:.3f}", means(study, COV, at(rtt) & rate.is_between(425, 775), width="1 s")) for rtt in list(PATHS)[1:]),
        *((f"the same at {rtt}, without the first half of each run", "{:.3f}", means(study, COV, at(rtt) & rate.is_between(425, 775), width="1 s", warm_up="50 %")) for rtt in list(PATHS)[1:]),
    ]  # fmt: skip
    return table(
        ["Mean over these rates of background", *STACKS.values()],
        [[name, *(form.format(each).replace("%", " %") for each in values)] for name, form, values in rows],
    )


def beside(kernel: Dataset, simulator: Dataset) -> str:
    """The kernel's means beside the simulator's."""
    measures = (
        ("throughput (Mbit/s)", BPS, 1e6, None), ("CoV, windows of 1 s", COV, 1.0, "1 s"), ("mean congestion window (kB)", CWND, 1e3, None),
        ("packets retransmitted", "retransmits", 1.0, ""),
    )  # fmt: skip
    rows: list[list[str]] = []
    for background in ("20 Mbit/s", "60 Mbit/s"):
        for name, measure, unit, width in measures:
            sides = [
                means(side, measure, pl.col("background") == background, width=width, sampled=width != "") for side in (kernel, simulator)
            ]
            cells = [
                ", ".join(f"{value / unit:#.3g}" if value / unit < 100 else f"{value / unit:,.0f}" for value in pair)
                for pair in zip(*sides, strict=True)
            ]
            rows.append([background, name, *cells])
    return table(["Background", "", *(f"{stack}: kernel, simulator" for stack in STACKS.values())], rows)


def agreement(kernel: Sequence[Verdict], simulator: Sequence[Verdict]) -> str:
    """The same claims of both."""
    return table(
        ["Claim", "Kernel", "Simulator"], [[ours.claim, ours.said, theirs.said] for ours, theirs in zip(kernel, simulator, strict=True)]
    )


if __name__ == "__main__":
    write(GUIDE, COMMANDS, blocks, sys.argv[1:])
