"""Flows over time, on one time axis: bytes in flight, smoothed round-trip times, and the rate of what was acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots import trace
from sawtooth.plots.trace import Curve, Panel
from sawtooth.stats import Vector

_WINDOW_S = 0.5
"""Over which rates are taken."""
_OF_A_SHORT_ONE = 20
"""Windows that a flow has at least."""


@dataclass(frozen=True)
class Trace:
    """A flow over time, vectors of shape (n,): what holds from each time on.

    Attributes:
        label: in the legend.
        t: seconds since the flow's first packet, ascending.
        flight: bytes in flight.
        acked: bytes that were acknowledged cumulatively.
        srtt: smoothed round-trip times in seconds; None where they are not shown.
        width: of its lines, in points.

    """

    label: str
    t: Vector
    flight: Vector
    acked: Vector
    srtt: Vector | None = None
    width: float = 0.9


def over_time(traces: Sequence[Trace], title: str, end: float | None = None) -> Figure:
    """A panel for each of the three, with all flows in it.

    Args:
        traces: which; without any smoothed round-trip time there is no panel of these.
        title: of the figure.
        end: seconds; by default when the last flow ends.

    """
    last = max((float(each.t[-1]) for each in traces if each.t.size), default=1.0) if end is None else end
    window = min(_WINDOW_S, last / _OF_A_SHORT_ONE)
    flight = [Curve(each.label, each.t, each.flight / 1e3, width=each.width) for each in traces]
    trips = [Curve(each.label, each.t, each.srtt * 1e3, width=each.width) for each in traces if each.srtt is not None]
    rate = [Curve(each.label, *_rates(each, window), width=each.width) for each in traces]
    panels = [Panel("in flight (kB)", flight, 2.0), Panel("smoothed RTT (ms)", trips), Panel("acknowledged (Mbit/s)", rate)]
    return trace.over_time([panel for panel in panels if panel.curves], title, (0.0, last))


def _rates(one: Trace, window: float) -> tuple[Vector, Vector]:
    """What was acknowledged in the window before each time, in Mbit/s."""
    last = float(one.t[-1]) if one.t.size else 0.0
    t = np.linspace(0, last, max(2, min(2000, round(8 * last / window))) + 1)[1:]
    begin = np.maximum(t - window, 0.0)
    return t, (_at(one, t) - _at(one, begin)) * 8e-6 / np.maximum(t - begin, 1e-9)


def _at(one: Trace, t: Vector) -> Vector:
    """What had been acknowledged by then: on a straight line between samples, so that their spacing draws no pattern."""
    return np.interp(t, one.t, one.acked) if one.t.size else np.zeros_like(t)
