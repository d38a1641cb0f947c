"""A run as a data file of flent, which `flent -i FILE -p PLOT` draws and lays beside what flent measured.

Written by flent's documentation of its format (doc/data-format.rst), version 4. Which test the file is of follows from its flows: `tcp_nup`, `tcp_ndown` or `rrul_be_nflows`; its series are called as there, in Mbit/s and ms.
No ping is simulated: what stands in the series of pings is the senders' smoothed round-trip time, which the file's note says.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth import outputs
from sawtooth._core import version
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.stats import Vector
from sawtooth.trace import Trace, delivered

SUFFIXES = (".flent", ".flent.gz")
VERSION = 4
_STEP = 0.2
"""Seconds between two values: flent's own."""
_LEAST_STEPS = 50
"""In a short run they are nearer to each other."""
_BEGINS = "2000-01-01T00:00:00.000000Z"
_BEGAN_S = 946_684_800
_PING = "Ping (ms) ICMP"
_NOTE = "simulated by Sawtooth; no ping was: Ping (ms) ICMP is the mean of the senders' smoothed round-trip times"


@dataclass(frozen=True)
class _Stream:
    """A flow over time, vectors of shape (n,) with NaN where there is nothing.

    Attributes:
        name: of its series. row: of the table `flows`.
        mbps: in order delivered in each step, Mbit/s. rtt_ms: smoothed, at its end.

    """

    name: str
    row: Mapping[str, Any]
    mbps: Vector
    rtt_ms: Vector


def require_file(path: Path, study: Path | None = None) -> None:
    """Refuses what is no name of a data file of flent, which knows them by that.

    Raises:
        StudyError: that says so.

    """
    if not path.name.endswith(SUFFIXES):
        raise StudyError(
            f"`{path}` is no name for a data file of flent", hint="name a file that ends in .flent.gz, or in .flent to have it as text"
        )
    outputs.require(path, "flent's data", [] if study is None else [study])


def write(trace: Trace, title: str, path: Path, flows: Sequence[str] = ()) -> str:
    """Writes what a run did.

    Args:
        trace: of the run.
        title: in one line.
        path: of the file.
        flows: by name; all if none is named.

    Returns:
        The name of flent's test that the file is of.

    Raises:
        StudyError: for a flow that the run does not have, or a run of which nothing was sampled.
        DatasetError: if the file cannot be written.

    """
    made = document(trace, title, path.name, flows)
    text = json.dumps(made, indent=1, allow_nan=False).encode()
    # Without the time at which it was made, so that a run has one file.
    outputs.write(path, gzip.compress(text, mtime=0) if path.suffix == ".gz" else text, "flent's data")
    return made["metadata"]["NAME"]


def document(trace: Trace, title: str, filename: str, flows: Sequence[str] = ()) -> dict[str, Any]:
    """What the file holds."""
    names: list[str] = trace.flows["flow"].to_list()
    for flow in flows:
        if flow not in names:
            raise StudyError(f"the run has no flow `{flow}`", hint=did_you_mean(flow, names))
    chosen = trace.flows.filter(pl.col("flow").is_in(list(flows))) if flows else trace.flows
    if trace.series.is_empty():
        raise StudyError(
            "nothing of this run was sampled, and flent's files are of what happened over time", hint="does its backend sample?"
        )
    step = min(_STEP, trace.duration / _LEAST_STEPS)
    times: Vector = np.arange(int(np.floor(trace.duration / step + 1e-9)) + 1).astype(np.float64) * step
    against = _reverse(trace.run.scenario)
    ways: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for row in chosen.iter_rows(named=True):
        ways[_is_download(row["flow"], against)].append(row)
    down, up = ways[True], ways[False]
    test, words = ("rrul_be_nflows", " BE") if up and down else ("tcp_ndown", "") if down else ("tcp_nup", "")
    streams = {
        direction: [_stream(trace, row, f"TCP {direction}{words}::{number}", times) for number, row in enumerate(rows, 1)]
        for direction, rows in (("download", down), ("upload", up))
        if rows
    }
    results: dict[str, Vector] = {}
    about: dict[str, dict[str, Any]] = {}
    raw: dict[str, list[dict[str, float]]] = {}
    for direction, each in streams.items():
        for stream in each:
            results[stream.name], about[stream.name], raw[stream.name] = stream.mbps, _about(stream), _raw(stream, times, step)
        together = np.array([stream.mbps for stream in each])
        for name, values, unit in (
            ("avg", _mean(together), "Mbits/s"),
            ("sum", _sum(together), "Mbits/s"),
            ("fairness", _jain(together), "Idx"),
        ):
            if name == "fairness" and words:
                # That test has none.
                continue
            results[f"TCP {direction} {name}"] = values
            about[f"TCP {direction} {name}"] = {
                "UNITS": unit,
                "RUNNER": {"avg": "AverageRunner", "sum": "SumRunner", "fairness": "FairnessRunner"}[name],
            }
    every = [stream for each in streams.values() for stream in each]
    ping = _mean(np.array([stream.rtt_ms for stream in every]))
    results[_PING] = ping
    about[_PING] = {"UNITS": "ms", "RUNNER": "PingRunner"}
    raw[_PING] = [{"t": _BEGAN_S + float(t), "val": float(value)} for t, value in zip(times, ping, strict=True) if np.isfinite(value)]
    if words:
        results["TCP totals"] = _sum(np.array([stream.mbps for stream in every]))
        results["Ping (ms) avg"] = ping
        about |= {"TCP totals": {"UNITS": "Mbits/s", "RUNNER": "SumRunner"}, "Ping (ms) avg": {"UNITS": "ms", "RUNNER": "AverageRunner"}}
    for number, name in enumerate(results):
        about[name]["IDX"] = number
    counts = {f"{direction}_streams": str(len(each)) for direction, each in streams.items()}
    metadata = _metadata(test, title, filename, trace.duration, step) | {"TEST_PARAMETERS": counts, "SERIES_META": about}
    return {
        "version": VERSION,
        "x_values": [round(float(t), 9) for t in times],
        "results": {name: _listed(values) for name, values in results.items()},
        "raw_values": {name: raw.get(name, []) for name in results},
        "metadata": metadata,
    }


def _reverse(scenario: str) -> set[str]:
    """The names, as the scenario has them, of flows whose data come from the far end of their path."""
    flows: list[dict[str, Any]] = json.loads(scenario)["flows"]
    names = (str(flow.get("name", "flow" if len(flows) == 1 else f"flow{at}")) for at, flow in enumerate(flows, 1))
    return {name for name, flow in zip(names, flows, strict=True) if flow.get("direction") == "reverse"}


def _is_download(flow: str, against: set[str]) -> bool:
    """What a name says counts; else a download is what comes against the direction of the path."""
    return flow.startswith("down") or (not flow.startswith("up") and flow.partition("[")[0] in against)


def _stream(trace: Trace, row: Mapping[str, Any], name: str, times: Vector) -> _Stream:
    rows = trace.series.filter(pl.col("flow") == row["flow"]).sort("t_ns")
    at = rows["t_ns"].to_numpy().astype(float) * 1e-9
    begun = (row["start_ns"] or 0) * 1e-9
    # The state at each time is that of the last row before it; before the first there is none.
    last = np.searchsorted(at, times + 1e-12, side="right") - 1
    mbps = np.diff(delivered(rows, times), prepend=0.0) * 8e-6 / (times[1] - times[0])
    rtt = np.where(last >= 0, rows["srtt_ns"].cast(pl.Float64).fill_null(float("nan")).to_numpy()[last], np.nan) * 1e-6
    # The value of a time is of the step that ends there.
    mbps = np.where((times > begun) & (np.arange(times.size) > 0), mbps, np.nan)
    return _Stream(name, row, mbps, np.where(times >= begun, rtt, np.nan))


def _about(stream: _Stream) -> dict[str, Any]:
    """What flent keeps of a series, as netperf tells it."""
    row = stream.row
    told = {"MEAN_VALUE": row["goodput_bps"] / 1e6, "BYTES_RECVD": row["delivered_bytes"], "CONG_CONTROL": row["cc"], "FLOW": row["flow"]}
    again = {} if row.get("retransmits") is None else {"TCP_RETRANSMIT": row["retransmits"]}
    return {"UNITS": "Mbits/s", "RUNNER": "NetperfDemoRunner", **told, **again}


def _raw(stream: _Stream, times: Vector, step: float) -> list[dict[str, float]]:
    """Each step as its tool would have told it, with the round-trip time as flent's `tcp_rtt`."""
    found: list[dict[str, float]] = []
    for t, mbps, rtt in zip(times, stream.mbps, stream.rtt_ms, strict=True):
        if np.isfinite(mbps):
            found.append(
                {"t": _BEGAN_S + float(t), "dur": step, "val": float(mbps), **({"tcp_rtt": float(rtt)} if np.isfinite(rtt) else {})}
            )
    return found


def _metadata(test: str, title: str, filename: str, duration: float, step: float) -> dict[str, Any]:
    return {
        "NAME": test,
        "TITLE": title,
        "NOTE": _NOTE,
        "HOST": "simulated",
        "HOSTS": ["simulated"],
        "LOCAL_HOST": "simulated",
        "TIME": _BEGINS,
        "T0": _BEGINS,
        "LENGTH": duration,
        "TOTAL_LENGTH": duration,
        "STEP_SIZE": step,
        "FLENT_VERSION": f"Sawtooth {version()}",
        "IP_VERSION": 4,
        "DATA_FILENAME": filename,
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
    }


def _mean(values: Vector) -> Vector:
    there = np.isfinite(values).sum(axis=0)
    return np.where(there > 0, np.nansum(values, axis=0) / np.maximum(there, 1), np.nan)


def _sum(values: Vector) -> Vector:
    return np.where(np.isfinite(values).any(axis=0), np.nansum(values, axis=0), np.nan)


def _jain(values: Vector) -> Vector:
    """Jain's index of the streams that are there in a step: the square of the sum over n times the sum of squares."""
    there, squares = np.isfinite(values).sum(axis=0), np.nansum(values**2, axis=0)
    known = (there > 0) & (squares > 0)
    return np.where(known, np.nansum(values, axis=0) ** 2 / np.where(known, there * squares, 1.0), np.nan)


def _listed(values: Vector) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
