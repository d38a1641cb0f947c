"""One run in detail: what its windows, round-trip times and queues did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from sawtooth import _core
from sawtooth.backends.registry import Simulator
from sawtooth.counted import counted
from sawtooth.errors import RunFailed, StudyError
from sawtooth.hints import did_you_mean
from sawtooth.plan import Plan, Run, grown
from sawtooth.plots.trace import Curve, Panel, over_time
from sawtooth.quantities import seconds
from sawtooth.stats import Vector
from sawtooth.taps import Wanted, comments

MOST_CURVES = 6
"""As many as can be told apart by colour."""
_MOST_ACKS = 3e6
"""Beyond so many segments a run is sampled: a row per acknowledgement would take too much memory."""
_SAMPLES = 4000


@dataclass(frozen=True)
class Which:
    """Which run of a plan; what is None may be any. Cells and replicates count from 1, runs from 0."""

    run: int | None = None
    cell: int | None = None
    arm: str | None = None
    replicate: int | None = None


@dataclass(frozen=True)
class Trace:
    """What one run did over time.

    Attributes:
        run: which one.
        duration: simulated seconds.
        flows, links: the usual tables, of this run.
        series: a row per flow and acknowledgement or sample. queues: a row per sample and direction of a link; None if the backend cannot tell.
        recorded: other tables that were asked for, by name.

    """

    run: Run
    duration: float
    flows: pl.DataFrame
    links: pl.DataFrame
    series: pl.DataFrame
    queues: pl.DataFrame | None
    recorded: Mapping[str, pl.DataFrame] = field(default_factory=dict[str, pl.DataFrame])


def choose(plan: Plan, which: Which) -> Run:
    """The first run of the plan that is meant.

    Raises:
        StudyError: if there is none.

    """
    if which.arm is not None and which.arm not in plan.study.arms:
        arms = list(plan.study.arms)
        raise StudyError(f"there is no arm `{which.arm}`", hint=did_you_mean(which.arm, arms) if arms else "the study has no arms")
    study = plan.study
    if which.replicate is not None and study.planned < which.replicate <= study.most:
        # Replicates by a rule: any that a cell might come to.
        plan = grown(plan, {cell.number: which.replicate - study.repeat for cell in plan.cells})
    for run in plan.runs:
        if all(wanted is None or wanted == is_ for wanted, is_ in ((which.run, run.index), (which.cell, run.cell),
               (which.arm, run.arm), (which.replicate, run.replicate))):  # fmt: skip
            return run
    numbers = [str(cell.number) for cell in plan.cells]
    cells = ", ".join(numbers if len(numbers) <= 8 else [*numbers[:4], "...", *numbers[-2:]])
    hint = f"it has runs 0 to {len(plan.runs) - 1}, cells {cells} and replicates 1 to {study.most}; `sawtooth plan` shows them"
    raise StudyError("no run of the study is the one asked for", hint=hint)


def span(begin: str, end: str | None, run: Run) -> tuple[float, float]:
    """The stretch of time that is asked for, in seconds.

    Raises:
        StudyError: if that is no time, or none of the run's.

    """
    duration = duration_of(run)
    first, last = seconds(begin), duration if end is None else min(seconds(end), duration)
    if not 0 <= first < last:
        raise StudyError(f"from {begin} to {end or 'the end'} is no time of the run", hint=f"it takes {duration:g} s")
    return first, last


def duration_of(run: Run) -> float:
    """How long a run takes, seconds."""
    tree: dict[str, Any] = json.loads(run.scenario)
    return _core.evaluate(str(tree["duration"]), tree.get("vars", {}))[0]


def summary(trace: Trace, flows: Sequence[str] = ()) -> list[str]:
    """A line per flow that is drawn."""
    names = trace.flows["flow"].to_list()
    shown = list(flows) or names[:MOST_CURVES]
    lines: list[str] = []
    for row in trace.flows.filter(pl.col("flow").is_in(shown)).iter_rows(named=True):
        known = {name: value for name, value in row.items() if value is not None}
        # Of what completes a reader would take it for the rate until then.
        parts = [f"goodput {_rate(row['goodput_bps'])}{' to the end of the run' if 'completion_ns' in known else ''}"]
        if "retransmits" in known:
            parts.append(f"{row['retransmits']} retransmitted")
        if "timeouts" in known:
            parts.append(counted(row["timeouts"], "timeout"))
        if "srtt_mean_ns" in known:
            parts.append(f"mean RTT {row['srtt_mean_ns'] / 1e6:.1f} ms")
        if "completion_ns" in known:
            parts.append(f"done in {row['completion_ns'] / 1e9:.3f} s")
        lines.append(f"{row['flow']}: {', '.join(parts)}")
    if len(names) > len(shown) and not flows:
        lines.append(f"... and {len(names) - len(shown)} more flows; --flow NAME draws others")
    return lines


def _rate(bps: float) -> str:
    """In the unit in which pages have it."""
    return f"{bps / 1e6:,.4g} Mbit/s" if bps >= 1e6 else f"{bps / 1e3:,.4g} kbit/s"


def untold(trace: Trace, flows: Sequence[str], span: tuple[float, float]) -> list[str]:
    """A line per flow that is drawn and of which the stretch has no sample: its panels are empty."""
    lines: list[str] = []
    for name in list(flows) or trace.flows["flow"].to_list()[:MOST_CURVES]:
        times = trace.series.filter(flow=name)["t_ns"].to_numpy() * 1e-9
        if ((times >= span[0]) & (times <= span[1])).any():
            continue
        others = f"it has {len(times):,}, from {times.min():.6g} s to {times.max():.6g} s" if len(times) else "nor has the rest of the run"
        lines.append(f"{name} has no sample from {span[0]:.6g} s to {span[1]:.6g} s; {others}")
    return lines


def take(plan: Plan, run: Run, backend: Simulator, captures: Wanted | None = None, record: Sequence[str] = ()) -> Trace:
    """Does the run once more, recording what it does over time, its packets if they are wanted, and other tables as `record` of a scenario has them.

    Raises:
        RunFailed: with the backend's words.

    """
    tree = json.loads(run.scenario)
    simulated = not plan.study.on_kernels
    duration = duration_of(run)
    sampled = _sampled(duration)
    per_ack = sampling(run) == "ack"
    # Samples do not change a simulation: one takes down every acknowledgement, another the queues.
    wanted: list[dict[str, Any]] = ([{"sample": "ack"}] if per_ack else []) + ([{"sample": sampled}] if simulated or not per_ack else [])
    if record:
        wanted[0]["record"] = list(record)
    texts, seeds = [json.dumps({**tree, **each}) for each in wanted], [run.seed] * len(wanted)
    # Of the first of them: the others have the same packets.
    captured = [captures.of_scenario(run.scenario, comments(plan, run))] if captures else []
    batch = backend.run_batch(texts, seeds, captured)
    for message in batch.errors.values():
        raise RunFailed(f"the run failed: {message}")
    tables = batch.tables
    last = len(wanted) - 1
    queues = tables["queues"].filter(run=last) if "queues" in tables else None
    return Trace(run, duration, tables["flows"].filter(run=0), tables["links"].filter(run=0), tables["series"].filter(run=0), queues,
                 {name: tables[name].filter(run=0) for name in record if name in tables})  # fmt: skip


def sampling(run: Run) -> str:
    """How a run is sampled that is looked at in detail: at each acknowledgement, as `sample = "ack"` says, or in steps if it has too many."""
    return "ack" if run.cost <= _MOST_ACKS else _sampled(duration_of(run))


def _sampled(duration: float) -> str:
    return f"{duration / _SAMPLES:.9f} s"


def delivered(rows: pl.DataFrame, times: Vector) -> Vector:
    """Bytes that had been delivered in order by each of some times, in seconds: those of the last row until then, or none before the first.

    Args:
        rows: of `series`, of one flow, in the order of time.
        times: shape (n,).

    """
    # The state at each time is that of the last row before it.
    last = np.searchsorted(_seconds(rows["t_ns"]), times + 1e-12, side="right") - 1
    return np.where(last >= 0, rows["delivered_bytes"].to_numpy().astype(float)[last], 0.0)


def differs_from(one: Trace, other: Trace) -> float | None:
    """From when on two traces differ, seconds: the time of the first row of a series, or of a queue's, that only one of them has; None if they are equal."""
    found = [_first_difference(one.series, other.series)]
    if one.queues is not None and other.queues is not None:
        found.append(_first_difference(one.queues, other.queues))
    times = [time for time in found if time is not None]
    return min(times) * 1e-9 if times else None


def _first_difference(one: pl.DataFrame, other: pl.DataFrame) -> int | None:
    """Both in the order of time, row by row; rows of one time stand in the order of what they are of."""
    first, second = (frame.sort("t_ns", maintain_order=True) for frame in (one, other))
    shared = min(first.height, second.height)
    unlike = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name} other")) for name in first.columns)
    both = pl.concat([first.head(shared), second.head(shared).rename(lambda name: f"{name} other")], how="horizontal")
    at = both.select(unlike.arg_true()).to_series()
    place = int(at[0]) if at.len() else shared
    times = [int(frame["t_ns"][place]) for frame in (first, second) if place < frame.height]
    return min(times) if times else None


def figure(
    trace: Trace,
    title: str,
    flows: Sequence[str] = (),
    links: Sequence[str] = (),
    span: tuple[float, float] | None = None,
    most_points: int = 3000,
    lost: Mapping[str, Vector] | None = None,
) -> Figure:
    """Window and threshold, smoothed round-trip time, and queues with what they dropped, over time.

    Args:
        trace: of the run.
        title: in one line.
        flows: which; by default the first of them.
        links: whose queues; by default those that held the most.
        span: from and to, seconds; by default all.
        most_points: of a curve.
        lost: when packets were lost on the wire, by link, seconds.

    Raises:
        StudyError: for a flow or link that the run does not have.

    """
    names = trace.flows["flow"].to_list()
    shown = _known("flow", flows, names) or names[:MOST_CURVES]
    windows: list[Curve] = []
    delays: list[Curve] = []
    for name in shown:
        rows = trace.series.filter(flow=name).sort("t_ns")
        t = _seconds(rows["t_ns"])
        windows.append(Curve(name, t, _scaled(rows["cwnd_bytes"], 1e-3), _scaled(rows["ssthresh_bytes"], 1e-3)))
        delays.append(Curve(name, t, _scaled(rows["srtt_ns"], 1e-6)))
    panels = [Panel("cwnd, ssthresh (kB)", windows, 1.5), Panel("smoothed RTT (ms)", delays)]
    if trace.queues is not None:
        panels.append(_queues(trace.queues, links, lost or {}))
    return over_time(panels, title, span or (0.0, trace.duration), most_points=most_points)


def _queues(queues: pl.DataFrame, links: Sequence[str], lost: Mapping[str, Vector]) -> Panel:
    forward = queues.filter(direction="forward")
    peaks = forward.group_by("link", maintain_order=True).agg(pl.col("backlog_packets").max().alias("peak"))
    held = peaks.sort("peak", descending=True, maintain_order=True)
    telling = (pl.col("peak") > 1) | pl.col("link").is_in(list(lost))
    busiest = held.filter(telling)["link"].to_list()[:MOST_CURVES] or held["link"].to_list()[:1]
    curves: list[Curve] = []
    marks: dict[str, Vector] = {}
    for name in (shown := _known("link", links, peaks["link"].to_list()) or busiest):
        rows = forward.filter(link=name).sort("t_ns")
        t = _seconds(rows["t_ns"])
        label = f"queue of {name}"
        curves.append(Curve(label, t, rows["backlog_packets"].to_numpy().astype(float)))
        dropped = np.diff(rows["dropped_packets"].to_numpy().astype(float), prepend=0.0) > 0
        if dropped.any():
            marks[label] = t[dropped]
    return Panel(
        "queue (packets)", curves, 1.0, marks, {f"queue of {name}": times for name, times in lost.items() if name in shown}, whole=True
    )


def _known(what: str, asked: Sequence[str], there: Sequence[str]) -> list[str]:
    for name in asked:
        if name not in there:
            raise StudyError(f"the run has no {what} `{name}`", hint=did_you_mean(name, there))
    return list(asked)


def _seconds(t_ns: pl.Series) -> Vector:
    return t_ns.to_numpy().astype(float) * 1e-9


def _scaled(values: pl.Series, factor: float) -> Vector:
    """In another unit; what was not measured or is unbounded is nothing."""
    array = values.to_numpy().astype(float) * factor
    return np.where(np.isfinite(array), array, np.nan)
