"""The numbers of two flows beside each other, with their ratios. Each is of one run: nothing tells chance, so there is no verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from sawtooth.beside.drawn import over_time
from sawtooth.beside.sides import Side, side
from sawtooth.errors import DatasetError

WHY_NO_VERDICT = "One run on either side: no replicate tells what is chance, so ratios have no interval, and there is no verdict."


@dataclass(frozen=True)
class Beside:
    """Two flows.

    Attributes:
        sides: the two.
        numbers: a row for each: what, unit, first, second, ratio of the first to the second; null where it is not known.

    """

    sides: tuple[Side, Side]
    numbers: pl.DataFrame

    @property
    def labels(self) -> tuple[str, str]:
        """What the sides are called in a legend."""
        first, second = self.sides
        if first.name != second.name:
            return first.name, second.name
        return f"{first.name}: {first.flow}", f"{second.name}: {second.flow}"

    @property
    def notes(self) -> list[str]:
        """What is to be known of them."""
        first, second = self.sides
        same = (
            [f"both are {first.flow} of {first.name}, so nothing can be learnt of their agreement"]
            if first.row == second.row and first.name == second.name
            else []
        )
        return list(dict.fromkeys([*same, *(note for each in self.sides for note in each.notes)]))

    def figure(self) -> Figure:
        """Bytes in flight, smoothed round-trip time, and the rate of what was acknowledged, over time since each flow's start.

        Raises:
            DatasetError: if neither side has samples.

        """
        traces = [
            replace(each.trace, label=label, width=width)
            for each, label, width in zip(self.sides, self.labels, (1.6, 0.9), strict=True)
            if each.trace is not None
        ]
        if not traces:
            raise DatasetError("neither side has samples, so there is nothing to draw", "give the scenarios a `sample`, such as 100 ms")
        return over_time(traces, " beside ".join(dict.fromkeys(each.flow for each in self.sides)))


def beside(
    first: str | Path,
    second: str | Path,
    *,
    flows: tuple[str | None, str | None] = (None, None),
    cell: int | None = None,
    arm: str | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Beside:
    """Two flows beside each other.

    Args:
        first: a capture, a results directory, or a study, whose first run is simulated.
        second: likewise.
        flows: of each side its name, a part of it, or the number of its connection; the largest where it is None.
        cell: of results.
        arm: of results.
        on_progress: is told how far a capture has been read.

    Raises:
        SawtoothError: if one cannot be read, or has no such flow.

    """
    one, other = (
        side(Path(path), flow, cell=cell, arm=arm, on_progress=on_progress) for path, flow in zip((first, second), flows, strict=True)
    )
    return Beside((one, other), _numbers(one, other))


_COLUMNS = (
    ("segments sent", "", "sent_packets"),
    ("of them sent again", "", "retransmits"),
    ("fast retransmits", "", "fast_retransmits"),
    ("timeouts", "", "timeouts"),
    ("tail loss probes", "", "tail_loss_probes"),
    ("duplicate acknowledgements", "", "dupacks_in"),
    ("acknowledgements with SACK", "", "sacks_in"),
    ("marked CE", "", "ce_in"),
    ("acknowledged", "B", "acked_bytes"),
    ("lifetime", "ns", "lifetime_ns"),
    ("completion time", "ns", "completion_ns"),
)
_TRIPS = (
    ("round trip, least", "ns", "min_rtt_ns"),
    ("round trip, mean smoothed", "ns", "srtt_mean_ns"),
    ("round trip, largest", "ns", "max_rtt_ns"),
)
_LIMITS = (
    ("limited by the receiver's window", "limited_rwnd_ns"),
    ("limited by the source", "limited_source_ns"),
    ("limited by loss recovery", "limited_recovery_ns"),
    ("limited by waiting for timeouts", "limited_rto_ns"),
    ("limited by window, pacing and else", "limited_other_ns"),
)


def _numbers(one: Side, other: Side) -> pl.DataFrame:
    rows: list[tuple[str, str, float | None, float | None]] = []

    def add(what: str, unit: str, of: Callable[[Side], float | None]) -> None:
        rows.append((what, unit, of(one), of(other)))

    for what, unit, column in _COLUMNS:
        add(what, unit, lambda each, column=column: each.row[column])
    # What was acknowledged, over the lifetime, on both sides: a run's own goodput is of what was delivered, and counts to its end.
    add("goodput over the lifetime", "bit/s", lambda each: _over(each.row, "acked_bytes", 8e9))
    add("share sent again", "", lambda each: _over(each.row, "retransmits", 1.0, "sent_packets"))
    for what, unit, column in _TRIPS:
        add(what, unit, lambda each, column=column: each.row[column])
    add("most in flight", "B", _most_in_flight)
    for what, column in _LIMITS:
        add(what, "", lambda each, column=column: _over(each.row, column, 1.0))
    return pl.DataFrame(
        [(what, unit, *map(_float, values), _ratio(*values)) for what, unit, *values in rows],
        schema={"what": pl.String, "unit": pl.String, "first": pl.Float64, "second": pl.Float64, "ratio": pl.Float64},
        orient="row",
    )


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _over(row: dict[str, Any], column: str, times: float, by: str = "lifetime_ns") -> float | None:
    return None if row[column] is None or not row[by] else times * row[column] / row[by]


def _most_in_flight(one: Side) -> float | None:
    if "max_flight_bytes" in one.row:
        return one.row["max_flight_bytes"]
    return float(one.trace.flight.max()) if one.trace is not None and one.trace.flight.size else None


def _ratio(first: float | None, second: float | None) -> float | None:
    return None if first is None or not second else first / second
