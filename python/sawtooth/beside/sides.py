"""What stands on a side: a flow of a capture, of a simulation that is captured as a sender would, or of the records of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth import captures, taps
from sawtooth.api import simulate
from sawtooth.beside.drawn import Trace
from sawtooth.captures import Capture
from sawtooth.errors import DatasetError, StudyError
from sawtooth.hints import did_you_mean
from sawtooth.kinds import Kind, kind
from sawtooth.results.dataset import Dataset, is_results
from sawtooth.stats import Vector
from sawtooth.study import Study


@dataclass(frozen=True)
class Side:
    """A flow, and where it is from.

    Attributes:
        name: of the file or directory.
        flow: its name.
        row: its numbers, by the columns of `flows`; what is not known is null.
        trace: over time; None if there are no samples.
        taken: of how many flows it is, and why this one.
        trips: where its round trips are from.
        notes: what is to be known of it.
        damage: of a capture, why it was not read to its end; None if it was.
        warning: the same in a sentence.

    """

    name: str
    flow: str
    row: dict[str, Any]
    trace: Trace | None
    taken: str
    trips: str
    notes: tuple[str, ...] = ()
    damage: str | None = None
    warning: str | None = None


_LEAST = "of round trips at most the least is known, as what both ends took together"
_PLACES = {
    "sender": ("at its sender", "round trips are from data to its acknowledgement there"),
    "near_sender": ("near its sender, behind a queue", _LEAST),
    "receiver": ("at its receiver", _LEAST),
    "middle": ("between its ends", _LEAST),
}
_ELSEWHERE = ("at a place that is not known", _LEAST)


def side(
    path: Path,
    flow: str | None = None,
    *,
    cell: int | None = None,
    arm: str | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Side:
    """The side that a path names: a capture, a results directory, or a study, whose first run is simulated.

    Args:
        path: of it.
        flow: its name, a part of it, or the number of its connection; the largest if none is named.
        cell: of results; by default the first, as the arm. The first replicate that ended well is taken.
        arm: of results.
        on_progress: is told how far a capture has been read.

    Raises:
        SawtoothError: if that cannot be.

    """
    if kind(path) is Kind.CAPTURE:
        return _of_capture(captures.read(path, on_progress=on_progress), flow)
    if is_results(path):
        return _of_results(Dataset.open(path), flow, cell, arm)
    return _of_study(path, flow)


def _of_capture(capture: Capture, flow: str | None, name: str | None = None, notes: tuple[str, ...] = ()) -> Side:
    found = captures.choose(capture, [] if flow is None else [flow])
    rows = capture.flows.filter(pl.col("flow").is_in(found) & (pl.col("sent_bytes") > 0)).sort(
        "sent_bytes", descending=True, maintain_order=True
    )
    if rows.is_empty():
        raise StudyError(f"{name or capture.name} has no flow of TCP that sent data", hint="`sawtooth analyze` tells what it has")
    row = rows.row(0, named=True)
    series = capture.series.filter(pl.col("flow") == row["flow"])
    where, trips = _PLACES.get(row["vantage"], _ELSEWHERE)
    if row["vantage"] != "sender":
        notes += (f"{row['flow']} of {name or capture.name} was captured {where}: its round trips and limits are not those of a sender",)
    taken = _taken(flow, capture.flows.filter((pl.col("transport") == "tcp") & (pl.col("sent_bytes") > 0)).height)
    trips = f"captured {where}: {trips}"
    return Side(
        name or capture.name, row["flow"], row, _trace(series, row["start_ns"]), taken, trips, notes, capture.damage, capture.warning
    )


def _taken(flow: str | None, flows: int) -> str:
    if flow is None:
        return f"the largest of {flows:,} flows" if flows > 1 else "the only flow"
    return f"named, of {flows:,} flows" if flows > 1 else "named, the only flow"


def _of_study(path: Path, flow: str | None) -> Side:
    study = Study.load(path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "simulated.pcapng"
        simulate(study, seed=1, captures=taps.wanted(file, ["sender"]))
        return _of_capture(captures.read(file), flow, f"{path}, simulated", ("of a study the first run is simulated, with seed 1",))


def _of_results(dataset: Dataset, flow: str | None, cell: int | None, arm: str | None) -> Side:
    runs = dataset.runs.join(dataset.status().filter(status="ok").select("run"), on="run", how="semi", maintain_order="left")
    name = str(dataset.directory)
    for value, column in ((cell, "cell"), (arm, "arm")):
        if value is not None:
            known = runs[column].unique(maintain_order=True).to_list()
            runs = runs.filter(pl.col(column) == value)
            if runs.is_empty():
                hint = did_you_mean(str(value), map(str, known)) if any(map(str, known)) else "it has none"
                raise DatasetError(f"no finished run of {name} is of {column} `{value}`", hint)
    if runs.is_empty():
        raise DatasetError(f"{name} holds no finished run yet", "`sawtooth run` with the same --out makes them")
    run = runs.row(0, named=True)
    flows = dataset.table("flows").filter((pl.col("run") == run["run"]) & (pl.col("cc") != "")).collect()
    row = _chosen(flows, flow, name)
    series = dataset.table("series").filter((pl.col("run") == run["run"]) & (pl.col("flow") == row["flow"])).collect()
    which = f"replicate {run['replicate']} of cell {run['cell']}" + (f", arm {run['arm']}" if run["arm"] else "")
    notes = [f"of {name} {which}, by its records, which take more round trips than a capture shows (docs/guides/compare.md)"]
    if series.is_empty():
        notes.append(f"{name} has no samples, so the figure lacks it: give the scenario a `sample`, such as 100 ms")
    row["limited_other_ns"] = _other(row)
    trace = None if series.is_empty() else _trace(series, row["start_ns"])
    return Side(name, row["flow"], row, trace, _taken(flow, flows.height), "round trips are those that its sender measured", tuple(notes))


def _chosen(flows: pl.DataFrame, flow: str | None, name: str) -> dict[str, Any]:
    if flows.is_empty():
        raise DatasetError(f"that run of {name} has no flow of TCP", "name another cell with --cell")
    if flow is None:
        return flows.sort("delivered_bytes", descending=True, maintain_order=True).row(0, named=True)
    names: list[str] = flows["flow"].to_list()
    found = [each for each in names if each == flow] or [each for each in names if flow in each]
    if not found:
        raise StudyError(f"no flow of {name} is `{flow}`", hint=did_you_mean(flow, names))
    return flows.row(by_predicate=pl.col("flow") == found[0], named=True)


def _other(row: dict[str, Any]) -> int | None:
    """What a capture does not tell apart."""
    parts = [row[f"limited_{part}_ns"] for part in ("cwnd", "pacing", "send_buffer", "nagle")]
    return None if any(part is None for part in parts) else sum(parts)


def _trace(series: pl.DataFrame, start_ns: int) -> Trace:
    """Its label is that of the side, which the figure gives."""

    def vector(name: str) -> Vector:
        return series[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    acked = np.maximum.accumulate(np.nan_to_num(vector("acked_bytes"))) if series.height else np.zeros(0)
    return Trace("", (vector("t_ns") - start_ns) / 1e9, np.nan_to_num(vector("flight_bytes")), acked, vector("srtt_ns") / 1e9)
