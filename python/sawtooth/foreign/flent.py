"""flent's data files (`.flent`, `.flent.gz`): what its documentation of the format (doc/data-format.rst) says, and what versions 1 to 4 of it have.

A test's series are throughputs in Mbit/s or times in ms. Each that a tool measured is a flow here; those that flent computes of others (sums, averages, fairness) are left out, since they
come out of these again. A flow's total is what its tool told at the end (`MEAN_VALUE` of the series' metadata), else the mean of what it told meanwhile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from statistics import fmean, median
from typing import Any

import numpy as np

from sawtooth.errors import cut
from sawtooth.foreign.jsontext import Node, Text
from sawtooth.foreign.measured import Measured, flows_of, ns, series_of

VERSION = 4
"""Of the format, the latest that is known."""
_COMPUTED = re.compile(r"(avg|sum|fairness|totals?)( *$|::)")
_COMPUTERS = {"AverageRunner", "SumRunner", "FairnessRunner", "DiffMinRunner", "NullRunner", "ComputingRunner"}
_TO_BPS = {"Mbits/s": 1e6, "Mbit/s": 1e6, "Kbits/s": 1e3, "Gbits/s": 1e9, "bits/s": 1.0}
_MS = 1_000_000
_LARGEST = 2**53
_STEPS = "values over time are flent's, which it interpolates at its own steps; totals are those of the tools"
_NO_STATE = (
    "flent tells no losses, congestion windows or round-trip times of flows unless its test asks for them; pings are told by themselves"
)
_NO_RETRANSMITS = "retransmissions are told only where netperf was built to tell them"


def is_one(values: Sequence[Node]) -> bool:
    """Whether a file is one of flent's."""
    first = values[0].value
    return isinstance(first, dict) and "results" in first and "metadata" in first and "x_values" in first


def read(source: Text, values: Sequence[Node]) -> Measured:
    """What a test of flent measured.

    Args:
        source: the file.
        values: the only value in it.

    Raises:
        FileUnreadable: with file, line and column, for what flent would not have written, or a later version would.

    """
    whole = values[0]
    if len(values) > 1:
        values[1].fail("a second result begins here", "put each result into a file of its own")
    version = whole.count("version")
    if version is not None and version > VERSION:
        whole.member("version").fail(f"the file has version {version} of flent's format", f"versions 1 to {VERSION} are read")
    metadata, raw = whole.object("metadata"), whole.object("raw_values")
    about = metadata.object("SERIES_META")
    times = [_value(each) for each in whole.list("x_values")]
    for each, time in zip(whole.list("x_values"), times, strict=True):
        if time is None:
            each.fail("a value of `x_values` is a number of seconds, found null")
    rows: list[dict[str, Any]] = []
    series: list[dict[str, Any]] = []
    others: list[str] = []
    for name, result in whole.object("results").items():
        listed = whole.object("results").list(name)
        if len(listed) != len(times):
            result.fail(
                f"`{name}` has {len(listed)} values, and `x_values` {len(times)}", "each series has a value, or null, for each of its times"
            )
        meta = about.object(name)
        if meta.text("RUNNER") in _COMPUTERS or _COMPUTED.search(name):
            continue
        unit = meta.text("UNITS") or (
            "ms" if "(ms)" in name or "Ping" in name else "Mbits/s" if name.startswith(("TCP", "UDP", "HTTP")) else ""
        )
        told = [_value(each) for each in listed]
        points = [value for each in raw.list(name) if (value := each.number("val")) is not None] if raw.has(name) else []
        flow = _flow(name, unit, meta, points or [value for value in told if value is not None])
        if flow is None:
            others.append(name)
        else:
            rows.append(flow)
        series += [_point(name, unit, time, value) for time, value in zip(times, told, strict=True) if value is not None]
    facts = {
        "test": metadata.text("NAME"),
        "title": metadata.text("TITLE") or None,
        "time": metadata.text("TIME"),
        "begun_s": _begun(metadata.text("TIME")),
        "duration_ns": ns(metadata.number("LENGTH")),
        "step_ns": ns(metadata.number("STEP_SIZE")),
        "format_version": version if version is not None else 1,
        "series_not_read_as_flows": others,
    }
    failed = metadata.count("FAILED_RUNNERS") if metadata.has("FAILED_RUNNERS") else 0
    damage = None if not failed else f"{failed} of its tools failed, as flent says"
    program = f"flent {metadata.text('FLENT_VERSION') or metadata.text('NETPERF_WRAPPER_VERSION') or 'of an unknown version'}"
    return Measured(source.name, program, facts, flows_of(rows), series_of(series), [_STEPS, _NO_STATE, _NO_RETRANSMITS], damage)


def _begun(text: str | None) -> float | None:
    """Seconds since 1970 of a time as flent writes it; None of what is none."""
    try:
        return None if text is None else datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _value(node: Node) -> float | None:
    if node.value is None:
        return None
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        node.fail(f"a number or null is needed, found {cut(repr(node.value))}")
    value = float(node.value) if abs(node.value) <= _LARGEST else math.inf
    return value if math.isfinite(value) else None


def _flow(name: str, unit: str, meta: Node, points: Sequence[float]) -> dict[str, Any] | None:
    """A series as a flow: a stream with a throughput, or pings; None of another kind."""
    words = name.lower()
    row: dict[str, Any] = {"flow": name, "tool": meta.text("RUNNER"), "start_ns": None}
    if unit in _TO_BPS:
        bps = meta.number("MEAN_VALUE") if meta.has("MEAN_VALUE") else fmean(points) if points else None
        # What netperf does not know it tells as -1, in a text.
        again = meta.value.get("TCP_RETRANSMIT")
        return row | {
            "transport": "udp" if words.startswith("udp") else "tcp",
            "direction": "download" if "download" in words else "upload" if "upload" in words else None,
            "cc": meta.text("CONG_CONTROL"),
            "goodput_bps": None if bps is None else bps * _TO_BPS[unit],
            "sent_bytes": meta.count("BYTES_SENT"),
            "delivered_bytes": meta.count("BYTES_RECVD"),
            "lifetime_ns": ns(meta.number("ELAPSED_TIME")),
            "retransmits": int(again) if isinstance(again, int | str) and str(again).isdecimal() and int(again) <= _LARGEST else None,
        }
    if unit == "ms":
        row["transport"] = "udp" if "udp" in words else "icmp" if "icmp" in words or "ping" in words else None
        if points:
            row |= {
                "rtt_mean_ns": ns(fmean(points), _MS),
                "min_rtt_ns": ns(min(points), _MS),
                "max_rtt_ns": ns(max(points), _MS),
            }
            row |= {"rtt_median_ns": ns(median(points), _MS), "rtt_p99_ns": ns(float(np.quantile(points, 0.99)), _MS)}
        return row
    return None


def _point(name: str, unit: str, time: float | None, value: float) -> dict[str, Any]:
    row: dict[str, Any] = {"flow": name, "t_ns": ns(time)}
    if unit in _TO_BPS:
        return row | {"throughput_bps": value * _TO_BPS[unit]}
    if unit == "ms":
        return row | {"rtt_ns": ns(value, _MS)}
    return row | {"value": float(value), "unit": unit}
