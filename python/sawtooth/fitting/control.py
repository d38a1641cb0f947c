"""Which congestion control a sender had: that whose simulation in the fitted scenario comes nearest to what was measured.

A simulation gets the losses besides overflow where they were, by the number of the packet, so that chance does not stand between it and the measurement.

**Distance.** A window's course is a chain in which a packet more or less at one loss moves the time of the next, so that even the right one is soon out of step with a real kernel. So bytes in flight are
held against each other in three ways, of which none needs all losses to come at the same times: at the same times in the first round trips, where slow start ends and what the first losses leave is seen; in
order of size, which asks for no time; and where as many bytes had been acknowledged, which is where the same packets were lost. How far apart two runs are is the geometric mean of the three.
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
_FEWEST_SAMPLES, _MOST_SAMPLES = 400, 10_000
_EACH_ROUND_TRIP = 2
"""Samples of a run in a round trip, if these are not too many."""
_BEGINNING = 20
"""Round trips in which runs are held against each other at the same times."""
_LEAST = 1e-3
"""How far apart runs are at least, each way: so that being the same in one way does not outweigh the others."""
_FARTHEST = 0.3
"""A simulation that is farther away explains nothing."""
_FAR = 0.1
"""One that is farther away is told to be far."""
_FEW_LOSSES, _SMALL = 5, 30
"""Packets lost, and packets in flight, below which that is why congestion controls are not told apart."""
_APART, _APART_BESIDE = 1.1, 1.08
"""The second nearest is at least so many times as far, or the two are not told apart; the latter beside traffic of others, which is repeated not to the packet and so sets all farther away."""


@dataclass(frozen=True)
class Run:
    """A flow over time, measured or simulated: shape (n,), seconds and bytes; `beginning`: how many samples its first round trips have."""

    t: Vector
    flight: Vector
    acked: Vector
    beginning: int


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


def control(seen: Packets, floor_s: float, scenarios: Sequence[Mapping[str, Any]], names: Sequence[str] = CONTROLS) -> Control:
    """Simulates each in the scenarios, which have all but `cc` and perhaps other flows, and names the one that comes nearest.

    Args:
        seen: the flow.
        floor_s: the round trip of a full packet if nothing is queued.
        scenarios: of each way of holding runs against each other the one counts in which the simulation comes nearest.
        names: what is compared.

    Raises:
        StudyError: if there is no such congestion control.

    """
    measured = measure(seen, floor_s)
    far: dict[str, float] = {}
    runs: dict[str, Run] = {}
    for name in names:
        found = [run for each in scenarios if (run := _simulated({**each, "cc": name}, measured)) is not None]
        if found:
            apart = np.array([distances(measured, run) for run in found])
            far[name] = mean_distance(np.min(apart, axis=0))
            runs[name] = found[int(np.argmin([mean_distance(each) for each in apart]))]
    order = sorted(far, key=far.__getitem__)
    needed = _APART if len(scenarios[0]["flows"]) == 1 else _APART_BESIDE
    more = more_capture(seen.lost.size, float(np.mean(measured.flight)) / max(seen.segment, 1.0))
    return named({name: far[name] for name in order}, {name: runs[name] for name in order}, needed, more)


def _simulated(scenario: Mapping[str, Any], measured: Run) -> Run | None:
    """A run of the scenario, sampled as the measurement is; None if it fails."""
    step = round(float(measured.t[1] - measured.t[0]) * 1e9)
    try:
        # Traffic of others may be hundreds of flows, whose rows would take most of the time.
        series = simulate({**scenario, "sample": f"{step} ns"}, series_of=FLOW).tables["series"]
    except RunFailed:
        return None
    t, flight, acked = (series[column].fill_null(0).to_numpy().astype(np.float64) for column in ("t_ns", "flight_bytes", "acked_bytes"))
    return Run(t / 1e9, flight, acked, measured.beginning)


def measure(seen: Packets, floor_s: float) -> Run:
    """The flow as a simulation samples it: the state just before each of so many times."""
    end = float(seen.since[-1])
    samples = int(np.clip(_EACH_ROUND_TRIP * end / floor_s, _FEWEST_SAMPLES, _MOST_SAMPLES)) if floor_s > 0 else _FEWEST_SAMPLES
    t = np.linspace(0, end, samples + 1)
    at = np.searchsorted(seen.since, t, side="left") - 1
    flight = np.where(at >= 0, seen.flight[np.maximum(at, 0)], 0.0)
    acked = np.where(at >= 0, seen.acked[np.maximum(at, 0)], 0.0)
    return Run(t, flight, acked, int(np.searchsorted(t, _BEGINNING * floor_s)))


def distances(one: Run, other: Run) -> Vector:
    """How far apart the bytes in flight are, as shares of their mean, shape (3,): at the same times in the beginning, in order of size, and where as many bytes had been acknowledged."""
    n = min(one.t.size, other.t.size)
    a, b = one.flight[:n], other.flight[:n]
    acked = np.linspace(0.0, min(float(one.acked[n - 1]), float(other.acked[n - 1])), n)
    first = max(min(one.beginning, n), 1)
    return np.array([_apart(a[:first], b[:first]), _apart(np.sort(a), np.sort(b)), _apart(_when(one, n, acked), _when(other, n, acked))])


def mean_distance(apart: Vector) -> float:
    """The geometric mean of distances."""
    return max(float(np.exp(np.mean(np.log(apart + _LEAST)))) - _LEAST, 0.0)


def _apart(one: Vector, other: Vector) -> float:
    return float(np.mean(np.abs(one - other))) / (float(np.mean(one)) or 1.0)


def _when(run: Run, n: int, acked: Vector) -> Vector:
    """The bytes in flight when so many bytes had been acknowledged."""
    return run.flight[np.maximum(np.searchsorted(run.acked[:n], acked, side="right") - 1, 0)]


def more_capture(losses: int, window: float) -> str:
    """What capture would tell those apart that are about as near, by how many packets were lost and how many were in flight in the middle."""
    if losses < _FEW_LOSSES:
        return f"{losses} packets were lost, and what a loss leaves tells most: capture until {_FEW_LOSSES} or more are"
    if window < _SMALL:
        return f"with {window:.0f} packets in flight they do nearly the same: capture where more are, over a longer path or a larger buffer"
    return "capture another transfer from its first packet on: each beginning tells anew"


def named(far: dict[str, float], runs: dict[str, Run], apart: float, more: str) -> Control:
    """The nearest, if it is near and the next is `apart` times as far; `far` has the nearest first, `more` says what capture would tell what cannot be told."""
    names = list(far)
    if far[names[0]] > _FARTHEST:
        return Control(None, f"cannot tell: the nearest, {names[0]}, is {far[names[0]]:.0%} away", far, runs)
    if len(names) > 1 and far[names[1]] < apart * far[names[0]] + 1e-3:
        alike = [name for name in names if far[name] < apart * far[names[0]] + 1e-3]
        how = f", {far[names[0]]:.1%} away, which is far" if far[names[0]] > _FAR else ""
        return Control(None, f"cannot tell: {', '.join(alike)} are about as near{how}; {more}", far, runs)
    is_far = ", which is far: another congestion control than those compared may be nearer" if far[names[0]] > _FAR else ""
    second = f"{';' if is_far else ','} {names[1]} {far[names[1]]:.1%}" if len(names) > 1 else ""
    return Control(names[0], f"its simulation is {far[names[0]]:.1%} away{is_far}{second}", far, runs)
