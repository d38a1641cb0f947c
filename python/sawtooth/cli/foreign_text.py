"""What `sawtooth analyze` does with a file of iperf3 or flent, and says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from sawtooth import foreign, outputs
from sawtooth.counted import counted, form
from sawtooth.errors import StudyError
from sawtooth.foreign import Measured
from sawtooth.hints import did_you_mean
from sawtooth.plots import style
from sawtooth.plots.trace import Curve, Panel, over_time
from sawtooth.stats import Vector
from sawtooth.tables import files_of

MOST_TOLD = 20
"""Flows that are told one by one."""
_MOST_CURVES = 6
_MOST_POINTS = 3000
_PANELS = (("throughput_bps", "throughput (Mbit/s)", 1e-6), ("srtt_ns", "smoothed RTT (ms)", 1e-6), ("rtt_ns", "round trip (ms)", 1e-6), ("cwnd_bytes", "cwnd (kB)", 1e-3))  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A measurement, which of its flows are told, and the files that were written."""

    measured: Measured
    flows: pl.DataFrame
    written: list[Path]


def told(file: str, flows: Sequence[str], times: tuple[str | None, str | None], directory: Path | None) -> Told:
    """Reads a file, and writes its tables and a figure if they are wanted.

    Raises:
        SawtoothError: if it cannot be read or written, or has no such flow.

    """
    measured = foreign.read(Path(file))
    if times != (None, None):
        raise StudyError(f"--from and --to are for captures, and {file} is none", hint="leave them out: its figure shows all of it")
    chosen = measured.flows.filter(pl.col("flow").is_in(_chosen(measured, flows))) if flows else measured.flows
    written: list[Path] = []
    if directory is not None:
        tables = {"flows": measured.flows, "series": measured.series}
        contents = files_of(tables, tables)
        written.append(directory / "flows.csv")
        if measured.series.height:
            contents |= style.files_of(_figure(measured, chosen["flow"].to_list()), "series")
            written.append(directory / "series.svg")
        outputs.write_all(directory, contents)
    return Told(measured, chosen, written)


def _chosen(measured: Measured, wanted: Sequence[str]) -> list[str]:
    names: list[str] = measured.flows["flow"].to_list()
    found: list[str] = []
    for each in wanted:
        fit = [name for name in names if name == each] or [name for name in names if each in name]
        if not fit:
            raise StudyError(f"no flow of {measured.name} is `{each}`", hint=did_you_mean(each, names))
        found += fit
    return found


def _figure(measured: Measured, flows: Sequence[str]) -> Figure:
    """What the file tells over time, of the first of the flows."""
    panels: list[Panel] = []
    last = 0.0
    for column, label, factor in _PANELS:
        curves: list[Curve] = []
        for flow in flows:
            rows = measured.series.filter((pl.col("flow") == flow) & pl.col(column).is_not_null() & pl.col("t_ns").is_not_null())
            if rows.height and len(curves) < _MOST_CURVES:
                times = rows["t_ns"].to_numpy().astype(float) * 1e-9
                last = max(last, float(np.max(times)))
                values = rows[column].to_numpy().astype(float) * factor
                if column == "throughput_bps" and not rows["from_ns"].has_nulls():
                    times, values = stretches(rows["from_ns"].to_numpy().astype(float) * 1e-9, times, values)
                curves.append(Curve(flow, times, values))
        if curves:
            panels.append(Panel(label, curves))
    title = f"{Path(measured.name).name}: {measured.program}"
    return over_time(panels, title, (0.0, last or 1.0), most_points=_MOST_POINTS)


def stretches(begin: Vector, end: Vector, values: Vector) -> tuple[Vector, Vector]:
    """What is of a stretch of time, as a value that holds until the next: from the stretch's begin to its end, and nothing between stretches; shapes (n,), seconds."""
    times: list[float] = []
    drawn: list[float] = []
    for at, value in enumerate(values):
        times.append(float(begin[at]))
        drawn.append(float(value))
        is_last = at + 1 == len(values)
        # Clocks are read one after the other: stretches that follow each other may be some microseconds apart.
        if is_last or abs(begin[at + 1] - end[at]) > 0.01 * abs(end[at] - begin[at]):
            times += [float(end[at])] * 2
            drawn += [float(value), np.nan]
    return np.array(times), np.array(drawn)


def as_json(done: Told) -> dict[str, Any]:
    """The same for other programs."""
    measured = done.measured
    return {
        "file": measured.name,
        "format": "flent" if measured.program.startswith("flent") else "iperf3",
        "program": measured.program,
        **measured.facts,
        "damage": measured.damage,
        "untold": list(measured.untold),
        "flows": done.flows.to_dicts(),
        "series": measured.series.filter(pl.col("flow").is_in(done.flows["flow"].to_list())).to_dicts(),
        "written": [str(path) for path in done.written],
    }


def lines(done: Told) -> Iterator[str]:
    """A few lines on the measurement and on each flow."""
    measured, facts = done.measured, done.measured.facts
    about = [str(facts[name]) for name in ("test", "title", "transport", "role") if facts.get(name)]
    duration = f", {facts['duration_ns'] / 1e9:g} s" if facts.get("duration_ns") else ""
    yield f"{measured.name}: {measured.program}, {', '.join(about)}{duration}, {counted(measured.flows.height, 'flow')}, {counted(measured.series.height, 'row')} over time"
    if measured.damage is not None:
        yield f"  not whole: {measured.damage}"
    for number, row in enumerate(done.flows.head(MOST_TOLD).iter_rows(named=True), 1):
        direction = f" ({row['direction']})" if row["direction"] else ""
        yield f"{number}. {row['flow']}{direction}: {'; '.join(_parts(row)) or 'nothing is told'}"
    if done.flows.height > MOST_TOLD:
        yield more(done.flows.height)
    for sentence in measured.untold:
        yield f"  not told: {sentence}" if sentence.startswith(("iperf3 has no", "UDP has no")) else f"  note: {sentence}"
    for path in done.written:
        yield f"{'tables' if path.suffix == '.csv' else 'figure'}: {path}"


def more(flows: int) -> str:
    """What is said of flows that are not told one by one."""
    return f"... and {flows - MOST_TOLD:,} more {form(flows - MOST_TOLD, 'flow', 'flows')}; --flow tells others, --out writes all"


def _parts(row: dict[str, Any]) -> Iterator[str]:
    if row["goodput_bps"] is not None:
        lasted = f" in {row['lifetime_ns'] / 1e9:.6g} s" if row["lifetime_ns"] is not None else ""
        received = f"{row['delivered_bytes']:,} B{lasted}, " if row["delivered_bytes"] is not None else ""
        yield f"{received}{row['goodput_bps'] / 1e6:.6g} Mbit/s received"
    elif row["sending_bps"] is not None:
        yield f"{row['sending_bps'] / 1e6:.6g} Mbit/s sent, what arrived is not told"
    if row["retransmits"] is not None:
        yield f"{row['retransmits']:,} sent again"
    if row["lost_packets"] is not None:
        yield (
            f"{row['lost_packets']:,} of {counted(row['sent_packets'], 'packet')} lost"
            if row["sent_packets"] is not None
            else f"{counted(row['lost_packets'], 'packet')} lost"
        )
    if row["jitter_ns"] is not None:
        yield f"jitter {row['jitter_ns'] / 1e6:.4g} ms"
    if row["srtt_mean_ns"] is not None:
        yield f"smoothed RTT {_times(row, 'srtt_min_ns', 'srtt_mean_ns', 'srtt_max_ns')} ms (least/mean/most of the samples)"
    if row["rtt_mean_ns"] is not None:
        yield f"round trips {_times(row, 'min_rtt_ns', 'rtt_mean_ns', 'rtt_median_ns', 'rtt_p99_ns', 'max_rtt_ns')} ms (least/mean/median/99 %/most)"


def _times(row: dict[str, Any], *names: str) -> str:
    return "/".join("?" if row[name] is None else f"{row[name] / 1e6:.4g}" for name in names)
