"""Which congestion control a sender had: that whose simulation in the fitted scenario comes nearest to what was measured.

A simulation gets the losses besides overflow where they were, by the number of the packet, so that chance does not stand between it and the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sawtooth.api import simulate
from sawtooth.errors import RunFailed
from sawtooth.fitting.packets import Packets
from sawtooth.stats import Vector

CONTROLS = ("reno", "cubic", "bbr", "vegas", "htcp", "bic", "westwood", "illinois")
"""Those that are compared unless others are named: of Linux, and told apart on the paths that the page of validation has."""
FLOW = "flow"
"""The name of the flow that is fitted, in the scenarios."""
_SAMPLES = 400
_FARTHEST = 0.3
"""A simulation that is farther away explains nothing."""
_FAR = 0.1
"""One that is farther away is told to be far."""
_APART, _APART_BESIDE = 1.15, 1.08
"""The second nearest is at least so many times as far, or the two are not told apart; the latter beside traffic of others, which is repeated not to the packet and so sets all farther away."""


@dataclass(frozen=True)
class Run:
    """A flow over time, measured or simulated: shape (n,), seconds and bytes."""

    t: Vector
    flight: Vector
    acked: Vector


@dataclass(frozen=True)
class Control:
    """What was found.

    Attributes:
        name: None if it cannot be told.
        why: why it is that, or why it cannot be told.
        distances: of each that was compared, nearest first.
        runs: their simulations.

    """

    name: str | None
    why: str
    distances: dict[str, float]
    runs: dict[str, Run]


def control(seen: Packets, scenarios: Sequence[Mapping[str, Any]], names: Sequence[str] = CONTROLS) -> Control:
    """Simulates each in the scenarios, which have all but `cc` and perhaps other flows, and names the one that comes nearest in any of them.

    Raises:
        StudyError: if there is no such congestion control.

    """
    measured = measure(seen)
    best: dict[str, tuple[float, Run]] = {}
    for name in names:
        found = [(distance(measured, run), run) for each in scenarios if (run := _simulated({**each, "cc": name}, measured)) is not None]
        if found:
            best[name] = min(found, key=lambda each: each[0])
    order = sorted(best, key=lambda name: best[name][0])
    apart = _APART if len(scenarios[0]["flows"]) == 1 else _APART_BESIDE
    return named({name: best[name][0] for name in order}, {name: best[name][1] for name in order}, apart)


def _simulated(scenario: Mapping[str, Any], measured: Run) -> Run | None:
    """A run of the scenario, sampled as the measurement is; None if it fails."""
    step = round(float(measured.t[1] - measured.t[0]) * 1e9)
    try:
        series = simulate({**scenario, "sample": f"{step} ns"}).tables["series"]
        series = series.filter(series["flow"] == FLOW)
    except RunFailed:
        return None
    t, flight, acked = (series[column].fill_null(0).to_numpy().astype(np.float64) for column in ("t_ns", "flight_bytes", "acked_bytes"))
    return Run(t / 1e9, flight, acked)


def measure(seen: Packets) -> Run:
    """The flow as a simulation samples it: the state just before each of so many times."""
    end = float(seen.since[-1])
    t = np.linspace(0, end, _SAMPLES + 1)
    at = np.searchsorted(seen.since, t, side="left") - 1
    flight = np.where(at >= 0, seen.flight[np.maximum(at, 0)], 0.0)
    acked = np.where(at >= 0, seen.acked[np.maximum(at, 0)], 0.0)
    return Run(t, flight, acked)


def distance(one: Run, other: Run) -> float:
    """How far apart the bytes in flight are: half at the same times, half in order of size, which does not ask when."""
    n = min(one.t.size, other.t.size)
    a, b = one.flight[:n], other.flight[:n]
    scale = float(np.mean(a)) or 1.0
    return float((np.mean(np.abs(a - b)) + np.mean(np.abs(np.sort(a) - np.sort(b)))) / 2 / scale)


def named(far: dict[str, float], runs: dict[str, Run], apart: float) -> Control:
    """The nearest, if it is near and the next is `apart` times as far; `far` has the nearest first."""
    names = list(far)
    if far[names[0]] > _FARTHEST:
        return Control(None, f"cannot tell: the nearest, {names[0]}, is {far[names[0]]:.0%} away", far, runs)
    if len(names) > 1 and far[names[1]] < apart * far[names[0]] + 1e-3:
        alike = [name for name in names if far[name] < apart * far[names[0]] + 1e-3]
        how = f", {far[names[0]]:.1%} away, which is far" if far[names[0]] > _FAR else ""
        return Control(None, f"cannot tell: {', '.join(alike)} are about as near{how}", far, runs)
    is_far = ", which is far: another congestion control than those compared may be nearer" if far[names[0]] > _FAR else ""
    second = f"{';' if is_far else ','} {names[1]} {far[names[1]]:.1%}" if len(names) > 1 else ""
    return Control(names[0], f"its simulation is {far[names[0]]:.1%} away{is_far}{second}", far, runs)
