"""What was measured beside what is simulated."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from sawtooth.fitting.control import Run, measure
from sawtooth.fitting.scenario import Fit
from sawtooth.plots.trace import Curve, Panel, over_time
from sawtooth.stats import Vector

_MEASURED = "measured"
_BESIDE = 2
"""Simulations that are drawn: the nearest, and the next."""


def figure(found: Fit) -> Figure:
    """Bytes in flight, and the rate of what was acknowledged, over time."""
    runs = {_MEASURED: measure(found.seen)}
    for name in list(found.control.runs)[:_BESIDE]:
        runs[f"simulated, {name} ({found.control.distances[name]:.1%} away)"] = found.control.runs[name]
    flight = [Curve(label, run.t, run.flight / 1e3, width=2.4 if label == _MEASURED else 0.9) for label, run in runs.items()]
    rate = [Curve(label, run.t[1:], _rates(run), width=2.4 if label == _MEASURED else 0.9) for label, run in runs.items()]
    end = float(next(iter(runs.values())).t[-1])
    return over_time(
        [Panel("in flight (kB)", flight, 2.0), Panel("acknowledged (Mbit/s)", rate)], f"{found.flow} of {found.name}", (0.0, end)
    )


def _rates(run: Run) -> Vector:
    """Over half a second or so, Mbit/s."""
    across = max(1, round(0.5 / float(run.t[1] - run.t[0])))
    before = np.concatenate([np.zeros(across), run.acked[:-across]])[1:]
    since = np.maximum(run.t[1:] - np.concatenate([np.zeros(across), run.t[:-across]])[1:], 1e-9)
    return (run.acked[1:] - before) * 8e-6 / since
