"""Figures that a study gets when it asks for none: by what its traffic is.

Endless flows: goodput, round-trip time and, of several that links bring together, fairness. Transfers: completion times by their levels and as distributions. Flows that arrive:
completion by size. Requests: how long answers took. Calls over UDP: one-way delay, jitter and loss. Arms stand on x if nothing is swept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from sawtooth import measures
from sawtooth.design import varying
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Measure, View
from sawtooth.measures.blocks import blocks
from sawtooth.metrics import sides
from sawtooth.questions import Choice
from sawtooth.report.common_links import apart
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Centre

_MOST_PANELS, _MOST_LEVELS = 8, 30


@dataclass(frozen=True)
class Shown:
    """A measure that is shown of a study that asks for nothing.

    Attributes:
        title: of its section. name: of its figure's files.
        measure: which.
        of: of which items; all if empty.
        by: columns that tell its values apart.
        scale: of its axis.
        statistic: of replicates.
        label: of its axis.

    """

    title: str
    name: str
    measure: Measure
    of: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    scale: str = "linear"
    statistic: Centre = "mean"
    label: str = ""

    def view(self) -> View:
        """How rows become values."""
        return View("mean", by=self.by)


def shown(dataset: Dataset) -> Iterator[Shown]:
    """What is shown of a dataset, the most telling first; who wants that alone waits for no more."""
    transfers, endless = _flows(dataset)
    if endless:
        yield Shown("Goodput", "goodput", measures.measure("goodput_bps"), endless)
        yield Shown(
            "Round-trip time",
            "round_trip_time",
            measures.measure("srtt_mean_ns"),
            endless,
            label="smoothed round-trip time, mean of samples",
        )
        if (
            dataset.flows()
            .filter(pl.col("cc") != "")
            .group_by("run", maintain_order=True)
            .len()
            .select(pl.col("len").max())
            .collect()
            .item()
            > 1
            and apart(dataset) is None
        ):
            yield Shown("Fairness", "fairness", measures.measure("jain"), label="Jain's index of goodputs")
    if transfers:
        yield Shown("Completion", "completion", measures.measure("completion_ns"), transfers, statistic="median", label="completion time")
        yield Shown(
            "Rate of transfers", "transfer_rate", measures.measure("transfer_rate_bps"), transfers, label="rate until the last byte"
        )
    if _has(dataset, "completions"):
        by_size = measures.measure("p50(completions.completion_ns)"), measures.measure("p99(completions.completion_ns)")
        yield Shown(
            "Completion by size", "completion_p50", by_size[0], by=("size_from_bytes",), scale="log", label="median completion time"
        )
        yield Shown(
            "Slowest completions by size",
            "completion_p99",
            by_size[1],
            by=("size_from_bytes",),
            scale="log",
            label="99th percentile of completion times",
        )
    if _has(dataset, "exchanges"):
        yield from [
            Shown(
                f"Answers: {words}", f"answers_{how}", measures.measure(f"{how}(exchanges.completion_ns)"), label=f"time to answer, {words}"
            )
            for how, words in (("p50", "median"), ("p99", "99th percentile"))
        ]
    if _has(dataset, "datagrams"):
        yield from [
            Shown(
                f"One-way delay: {words}", f"delay_{how}", measures.measure(f"{how}(datagrams.delay_ns)"), label=f"one-way delay, {words}"
            )
            for how, words in (("mean", "mean"), ("p95", "95th percentile"), ("p99", "99th percentile"))
        ]
        yield Shown("Jitter", "jitter", measures.measure("datagrams.jitter_ns"))
        yield Shown("Loss", "loss", measures.measure("datagrams.lost_packets / datagrams.sent_packets"), label="share of datagrams lost")


def figure(one: Shown, frame: pl.DataFrame, factors: Sequence[str]) -> FigureSpec | None:
    """The figure of a measure: every dimension of its values has a place; None if there are more than places, or more panels than a page holds.

    Args:
        one: the measure.
        frame: its values.
        factors: of the study, in the order of its sweep.

    """
    free = varying(frame, [*factors, "arm", "item", *one.by])
    # Of factors that are set together one is enough.
    free = [name for at, name in enumerate(free) if name not in factors or not _told_by(frame, name, free[:at])]
    swept = [name for name in free if name in factors]
    x = next(iter([*one.by, *reversed(swept), *(name for name in free if name not in swept)]), "arm")
    rest = [name for name in free if name != x]
    curves = next((name for name in ("arm", "item") if name in rest), rest[0] if rest else None)
    rest = [name for name in rest if name != curves]
    places: dict[str, str] = {"x": x, **({"curves": curves} if curves else {})}
    places |= dict(zip(("panels", "rows"), rest, strict=False))
    panels = math.prod(frame[name].n_unique() for name in rest)
    if len(rest) > 2 or panels > _MOST_PANELS or frame[x].n_unique() > _MOST_LEVELS:
        return None
    return FigureSpec(
        one.name, "levels", "", one.measure, one.view(), Choice(one.of), places, statistic=one.statistic, scale=one.scale, label=one.label
    )


def _told_by(frame: pl.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Whether one of the others says what level a dimension has, so that it needs no place of its own."""
    return any(
        frame.select(other, name).unique().height == frame[other].n_unique() and frame[other].n_unique() == frame[name].n_unique()
        for other in others
    )


def _flows(dataset: Dataset) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Blocks of flows of TCP that transfer so much and no more, and those that go on until the end."""
    items: list[str] = dataset.flows().filter(pl.col("cc") != "").select(blocks(pl.col("flow"))).collect()["flow"].to_list()  # fmt: skip
    sized = sides.transfers(dataset)
    asking = set(_items(dataset, "exchanges"))
    endless = [item for item in items if item not in sized and item not in asking]
    return tuple(item for item in items if item in sized), tuple(endless)


def _has(dataset: Dataset, table: str) -> bool:
    return dataset.table(table).head(1).collect().height > 0


def _items(dataset: Dataset, table: str) -> list[str]:
    return dataset.table(table).select(blocks(pl.col("flow"))).collect()["flow"].to_list() if _has(dataset, table) else []
