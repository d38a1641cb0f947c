"""The report of one-way latencies: where the time of a message goes, layer by layer, from the call of write until the reader has it.

A study asks for it with `report = "latency"` and `record = ["layers"]`; its flows have hosts at both ends.
"""

from __future__ import annotations

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.metrics import layers
from sawtooth.metrics.layers import PARTS
from sawtooth.plots import stacked_bars
from sawtooth.plots.stacked_bars import Group
from sawtooth.presentation import OWN_FIGURES
from sawtooth.report import answers
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.report.generic import factor_table
from sawtooth.results.dataset import Dataset

_MOST_PANELS, _MOST_BARS = 8, 24
# Beside the factors: what tells bars of a cell apart.
_SERIES = ("arm", "flow")
# Up the other side are the counterparts of what is on the way down: the same colours, hatched.
_DOWN, _WIRE = 4, 2
_LOOKS = [
    stacked_bars.Part(part.name, at if at < _DOWN + _WIRE else len(PARTS) - 1 - at, at >= _DOWN + _WIRE) for at, part in enumerate(PARTS)
]


def build(dataset: Dataset) -> Report:
    """What the study asks for, then latency by layer: bars, a table per cell and arm, and what the parts are.

    Raises:
        DatasetError: if nothing of layers was recorded, or no message was read.

    """
    latencies = by_cell(dataset)
    factors = factor_table(dataset)
    answer = answers.section(answers.Answers(dataset))
    shown = factors.join(latencies, on="cell", maintain_order="left_right").sort("cell", maintain_order=True)
    # What is the same everywhere tells nothing.
    shown = shown.drop(name for name in _SERIES if shown[name].n_unique() == 1)
    micros = {part.column: part.column.replace("_ns", "_us") for part in PARTS} | {"total_ns": "total_us"}
    grid = shown.with_columns((pl.col(ns) / 1e3).round(6) for ns in micros).rename(micros)
    meanings = pl.DataFrame({"part": [part.name for part in PARTS], "what takes it": [part.what for part in PARTS]})
    sections = [
        *([answer] if answer else []),
        Section(
            "Latency by layer",
            ["The time of a message, of its last byte, from the call of write until the reading application has it: means over messages and replicates, of each block of flows. The parts "
             "of each message add up to its time exactly. Of a message of several packets they are those of the packet that brings the last byte: "
             "while it waits, those before it are transmitted."],
            plots=_plots(shown, factors),
            grids=[
                Grid("latency_by_layer", grid, "Every cell and arm, in µs", dict.fromkeys(micros.values(), 1)),
                Grid("parts", meanings, "What the parts are"),
            ],
        ),
    ]  # fmt: skip
    known = shown.filter(pl.col("messages") > 0).sort("total_ns", maintain_order=True)
    low, high = (_told(row) for row in (known.row(at, named=True) for at in (0, -1)))
    return Report(dataset, sections, [*(answers.summary(answer) if answer else []), f"shortest: {low}", f"longest: {high}"])


def by_cell(dataset: Dataset) -> pl.DataFrame:
    """Means over messages, flows of a block and replicates, in order of cells, arms and blocks.

    Returns:
        Columns: cell, arm, flow (the name of a block), messages, unread (how many had not been read), the parts and total_ns.

    Raises:
        DatasetError: if nothing of layers was recorded, or no message was read.

    """
    finished = dataset.status().filter(status="ok").select("run")
    recorded = dataset.layers().collect().join(finished, on="run", how="semi")
    if recorded.is_empty():
        raise DatasetError("nothing was recorded of layers", 'this report needs flows with `host`, and record = ["layers"] in [scenario]')
    plan = dataset.runs.select("run", "cell", "arm")
    arms = {str(arm): at for at, arm in enumerate(plan["arm"].unique(maintain_order=True))}
    columns = [*(part.column for part in PARTS), "total_ns"]
    read = pl.col("total_ns").is_not_null()
    found = (
        layers.messages(recorded)
        .join(plan, on="run", maintain_order="left")
        .with_columns(pl.col("flow").str.replace(r"\[\d+\](\.requests)?$", "$1"))
        .group_by("cell", "arm", "flow", maintain_order=True)
        .agg(read.sum().alias("messages"), read.not_().sum().alias("unread"), pl.col(columns).filter(read).mean())
        .sort("cell", pl.col("arm").replace_strict(arms, return_dtype=pl.Int32), maintain_order=True)
    )
    if not found["messages"].sum():
        raise DatasetError("no message was read to its end", "both ends of a flow need a host, and `duration` must be long enough")
    return found


def _told(row: dict[str, object]) -> str:
    known = [*(part.column for part in PARTS), "total_ns", "cell", "messages", "unread"]
    factors = ", ".join(
        f"{name} {value}" if name not in _SERIES else str(value) for name, value in row.items() if name not in known and value
    )
    longest = max(PARTS, key=lambda part: float(str(row[part.column])))
    share = float(str(row[longest.column])) / float(str(row["total_ns"]))
    return f"{f'{factors}: ' if factors else ''}{float(str(row['total_ns'])) / 1e3:,.1f} µs, of which {longest.name} {share:.0%}"


# --- figures ------------------------------------------------------------------------------------------------------------


def _plots(shown: pl.DataFrame, factors: pl.DataFrame) -> list[Plot]:
    names = independent(factors)
    # A bar of nothing is where no message was read.
    told = shown.with_columns(pl.col(part.column for part in PARTS).fill_null(0.0))
    # The factor that varies fastest makes the panels: of messages of a size each, bars can be compared.
    panel, rows = (names[-1], names[:-1]) if names else (None, [])
    levels = told[panel].unique(maintain_order=True).to_list() if panel else [""]
    step = max(1.0, (len(levels) - 1) / (_MOST_PANELS - 1))
    some = [levels[round(at * step)] for at in range(min(len(levels), _MOST_PANELS))]

    def series(row: dict[str, object]) -> str:
        return ", ".join(str(row[name]) for name in _SERIES if row.get(name))

    panels: dict[str, list[Group]] = {}
    for level in some:
        part = told.filter(pl.col(panel) == level) if panel else told
        groups = part.group_by(rows, maintain_order=True) if rows else [((), part)]
        panels[f"{panel} {level}" if panel else ""] = [
            Group(", ".join(map(str, key)), {series(row): [row[each.column] / 1e3 for each in PARTS] for row in group.to_dicts()})
            for key, group in groups
        ]
    if max((sum(len(group.bars) for group in groups) for groups in panels.values()), default=0) > _MOST_BARS:
        return []
    made = stacked_bars.horizontal(panels, _LOOKS, "time (µs)")
    left_out = f" Of {len(levels)} levels of {panel} {len(some)} are shown." if len(some) < len(levels) else ""
    caption = f"Where the time of a message goes, from write to read; each panel has its own scale. Hatched: up the reading host.{left_out}"
    return [Plot(OWN_FIGURES["latency"], made, caption)]


def independent(factors: pl.DataFrame) -> list[str]:
    """Names of the factors that tell the cells apart; those that only vary with others are left out, the last of them first."""
    names = [name for name in factors.columns if name != "cell" and factors[name].n_unique() > 1]
    cells = factors.select(names).n_unique() if names else 1
    for name in reversed(names[:]):
        rest = [other for other in names if other != name]
        if rest and factors.select(rest).n_unique() == cells:
            names = rest
    return names
