"""What was measured beside what is simulated."""

from __future__ import annotations

from matplotlib.figure import Figure

from sawtooth.beside import Trace, over_time
from sawtooth.fitting.control import measure
from sawtooth.fitting.scenario import Fit

_MEASURED = "measured"
_BESIDE = 2
"""Simulations that are drawn: the nearest, and the next."""


def figure(found: Fit) -> Figure:
    """Bytes in flight, and the rate of what was acknowledged, over time."""
    runs = {_MEASURED: measure(found.seen, found.path.floor_s)}
    for name in list(found.control.runs)[:_BESIDE]:
        runs[f"simulated, {name} ({found.control.distances[name]:.1%} away)"] = found.control.runs[name]
    traces = [Trace(label, run.t, run.flight, run.acked, width=2.4 if label == _MEASURED else 0.9) for label, run in runs.items()]
    return over_time(traces, f"{found.flow} of {found.name}", float(runs[_MEASURED].t[-1]))
