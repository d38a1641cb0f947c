"""Time-sequence graph of a flow, its flight size and its round-trip times, one above the other.

As Tim Shepard drew it ("TCP Packet Trace Analysis", MIT, 1991): what is sent as bars from its first number to its last, acknowledgements as a staircase below, the
edge of the receiver's window as one above. What is sent again, and what is acknowledged selectively, has colours of its own. Where both would cover each other, what is sent is a broad line under the
staircase. What is beyond a panel is said beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sawtooth.plots.style import COLOURS, figure, legend_above
from sawtooth.plots.trace import thinned
from sawtooth.stats import Vector

DATA, AGAIN, ACKS, SACKS, EDGE, LATE = COLOURS
_MOST_BARS = 4000
"""Bars of new data; more share bars, which no eye can tell apart."""
_MOST_VECTORS = 2000
"""More marks than that are drawn as dots of the figure, so that its file stays small: each of them is there."""
_MOST_POINTS = 3000
_EDGE = "edge of the window"
_NEAR = 0.02
"""Part of the panel's height: what is sent and not acknowledged takes less in an overview, and lines cover each other."""


@dataclass(frozen=True)
class TimeSequence:
    """What is drawn.

    Attributes:
        series, marks: rows of the flow, as the tables of captures have them.
        title: in one line.
        span: from and to, seconds.

    """

    series: pl.DataFrame
    marks: pl.DataFrame
    title: str
    span: tuple[float, float]


def time_sequence(drawn: TimeSequence) -> Figure:
    """The figure; of any number of packets it has no more parts than can be seen, and every retransmission."""
    inside = pl.col("t_ns").is_between(int(drawn.span[0] * 1e9), int(drawn.span[1] * 1e9))
    series, marks = drawn.series.filter(inside), drawn.marks.filter(inside)
    made, axes = figure(8.0, 8.0, rows=3, share_x=True, heights=[3.0, 1.2, 1.2])
    legend = _sequence(axes[0], series, marks)
    _flight(axes[1], series)
    _round_trips(axes[2], series)
    axes[2].set_xlabel("time since the first packet of the capture (s)")
    axes[0].set_xlim(*drawn.span)
    axes[0].set_title(drawn.title, loc="left", fontsize=9)
    legend_above(made, axes[0], legend)
    return made


def _sequence(axis: Axes, series: pl.DataFrame, marks: pl.DataFrame) -> list[tuple[Line2D, str]]:
    """The graph itself; what its legend has."""
    unit, name = _unit(series, marks)
    fresh = series.drop_nulls("new_to_bytes")
    t, low, high = _bars(_times(fresh), _vector(fresh, "new_from_bytes") / unit, _vector(fresh, "new_to_bytes") / unit)
    legend = [_stairs(axis, series, "window_edge_bytes", unit, EDGE, _EDGE)]
    legend += [_stairs(axis, series, "acked_bytes", unit, ACKS, "acknowledged")]
    kinds = (
        (("sack",), SACKS, 1.0, "acknowledged selectively"),
        (("reordered", "duplicate"), LATE, 2.0, "late, or twice"),
        (("retransmission", "needless"), AGAIN, 2.0, "sent again"),
    )
    top = max(float(np.max(high, initial=0.0)), float(_vector(series, "acked_bytes").max(initial=0.0) / unit))
    bottom = min(float(np.min(low, initial=top)), float(np.nanmin(_vector(series, "acked_bytes"), initial=top * unit) / unit))
    reach = top - bottom or 1.0
    if len(t):
        flight = float(np.median(_vector(series, "flight_bytes"))) / unit
        legend.append(_broad(axis, t, high) if flight < _NEAR * reach else _lines(axis, t, low, high, DATA, 1.0, "sent"))
    for names, colour, width, label in kinds:
        rows = marks.filter(pl.col("kind").is_in(names))
        if rows.height:
            legend.append(
                _lines(axis, _times(rows), _vector(rows, "from_bytes") / unit, _vector(rows, "to_bytes") / unit, colour, width, label)
            )
    legend += _points(axis, marks, unit)
    # A window that is never nearly filled would leave no room for what is sent.
    edges = _vector(series, "window_edge_bytes") / unit
    edge = float(np.nanmax(edges, initial=0.0))
    top = min(max(top, edge), top + 0.35 * reach)
    if edge > top + 0.05 * reach:
        _say(axis, f"the edge of the window goes up to {edge:,.4g} {name}, above this panel", inside=True)
        if float(np.nanmin(edges)) > top + 0.05 * reach:
            legend = [each for each in legend if each is None or each[1] != _EDGE]
    axis.set_ylim(bottom - 0.03 * reach, top + 0.05 * reach)
    axis.set_ylabel(f"sequence number ({name})")
    return [each for each in legend if each is not None]


def _points(axis: Axes, marks: pl.DataFrame, unit: float) -> list[tuple[Line2D, str]]:
    """What has no length: marks of congestion, closed windows, the ends of the connection."""
    legend: list[tuple[Line2D, str]] = []
    for kind, marker, colour, label in (
        ("ce", "x", AGAIN, "marked CE"),
        ("zero_window", "v", EDGE, "window closed"),
        ("reset", "D", "black", "reset"),
    ):
        rows = marks.filter(pl.col("kind") == kind)
        if rows.height:
            (line,) = axis.plot(
                _times(rows), _vector(rows, "to_bytes") / unit, marker, color=colour, markersize=4, rasterized=rows.height > _MOST_VECTORS
            )
            legend.append((line, label))
    return legend


def _lines(axis: Axes, t: Vector, low: Vector, high: Vector, colour: str, width: float, label: str) -> tuple[Line2D, str]:
    """Upright bars."""
    ends = np.stack([np.stack([t, low], axis=1), np.stack([t, high], axis=1)], axis=1)
    bars = LineCollection(list(ends), colors=colour, linewidths=width, capstyle="projecting", rasterized=len(t) > _MOST_VECTORS)
    axis.add_collection(bars)
    if label == "sent again":
        # A segment of a long transfer is less than a dot high.
        axis.plot(t, high, "_", color=colour, markersize=5, markeredgewidth=1.0, rasterized=len(t) > _MOST_VECTORS)
    return Line2D([], [], color=colour, linewidth=2.0), label


def _broad(axis: Axes, t: Vector, high: Vector) -> tuple[Line2D, str]:
    """What is sent, as a line that is seen on both sides of the staircase of what is acknowledged."""
    (line,) = axis.plot(
        *thinned(t, high, _MOST_POINTS), drawstyle="steps-post", color=DATA, linewidth=2.6, solid_joinstyle="round", zorder=1.5
    )
    return line, "sent"


def _say(axis: Axes, text: str, *, inside: bool = False) -> None:
    """What a panel does not show, above it; or within, where curves that rise leave room."""
    place, moved = ((0.0, 1.0), (6, -3)) if inside else ((1.0, 1.0), (0, 3))
    across, up = ("left", "top") if inside else ("right", "bottom")
    axis.annotate(
        text, place, xycoords="axes fraction", xytext=moved, textcoords="offset points", ha=across, va=up, fontsize=7.5, color="0.25"
    )


def _legend(axis: Axes) -> None:
    """That of a lower panel, above it and to the left, where it hides nothing."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=7.5, borderaxespad=0.0, handlelength=1.5)


def _stairs(axis: Axes, series: pl.DataFrame, column: str, unit: float, colour: str, label: str) -> tuple[Line2D, str] | None:
    known = series.drop_nulls(column)
    if not known.height:
        return None
    t, y = thinned(_times(known), _vector(known, column) / unit, _MOST_POINTS)
    (line,) = axis.plot(t, y, drawstyle="steps-post", color=colour, linewidth=0.9)
    return line, label


def _flight(axis: Axes, series: pl.DataFrame) -> None:
    unit, name = 1e3, "kB"
    t, y = thinned(_times(series), _vector(series, "flight_bytes") / unit, _MOST_POINTS)
    axis.plot(t, y, drawstyle="steps-post", color=DATA, linewidth=0.9, label="flight size")
    top = float(np.max(y, initial=0.0)) or 1.0
    known = series.drop_nulls(["window_edge_bytes", "acked_bytes"])
    window = (_vector(known, "window_edge_bytes") - _vector(known, "acked_bytes")) / unit
    near = np.where(window <= 1.5 * top, window, np.nan)
    if not np.isnan(near).all():
        axis.plot(
            *thinned(_times(known), near, _MOST_POINTS), drawstyle="steps-post", color=EDGE, linewidth=0.8, label="the receiver's window"
        )
        top = max(top, float(np.nanmax(near)))
    if np.isnan(near).any():
        _say(axis, f"the receiver's window goes up to {float(np.nanmax(window)):,.4g} {name}, above this panel")
    elif not known.height:
        _say(axis, "the receiver's window is not known")
    axis.set_ylim(0.0, 1.08 * top)
    axis.set_ylabel(f"flight size ({name})")
    _legend(axis)


def _round_trips(axis: Axes, series: pl.DataFrame) -> None:
    samples, smoothed = series.drop_nulls("rtt_ns"), series.drop_nulls("srtt_ns")
    t, y = thinned(_times(samples), _vector(samples, "rtt_ns") / 1e6, _MOST_POINTS)
    axis.plot(t, y, ".", color=DATA, markersize=2.5, rasterized=len(t) > _MOST_VECTORS, label="each sample")
    axis.plot(
        *thinned(_times(smoothed), _vector(smoothed, "srtt_ns") / 1e6, _MOST_POINTS),
        color=AGAIN,
        linewidth=0.8,
        label="smoothed (RFC 6298)",
    )
    axis.set_ylim(0.0, 1.08 * (float(np.max(y, initial=0.0)) or 1.0))
    axis.set_ylabel("data to ack (ms)")
    if samples.height:
        _legend(axis)
    else:
        _say(axis, "no round trip could be measured")


def _bars(t: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector, Vector]:
    """Bars of stretches of the span, from the lowest number in each to the highest."""
    if len(t) <= _MOST_BARS:
        return t, low, high
    places = ((t - t[0]) / (t[-1] - t[0] or 1.0) * _MOST_BARS).astype(np.int64)
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return t[first], np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)


def _unit(series: pl.DataFrame, marks: pl.DataFrame) -> tuple[float, str]:
    """Bytes in a unit of the axis, and its name."""
    most = max(
        float(np.nanmax(_vector(series, "acked_bytes"), initial=0.0)), float(np.nanmax(_vector(series, "new_to_bytes"), initial=0.0))
    )
    most = max(most, float(_vector(marks, "to_bytes").max(initial=0.0)))
    return (1e6, "MB") if most >= 2e6 else (1e3, "kB") if most >= 2e3 else (1.0, "B")


def _times(rows: pl.DataFrame) -> Vector:
    return rows["t_ns"].to_numpy() / 1e9


def _vector(rows: pl.DataFrame, column: str) -> Vector:
    return rows[column].cast(pl.Float64).to_numpy()
