"""Where the points of a figure of kind `levels` stand, for whoever draws them: reports, and the explorer's workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data, Panel

Points = Mapping[str, Sequence[Estimate | None]]
"""Of each curve a point per level, or nothing where no run is."""


@dataclass(frozen=True)
class Layout:
    """Panels with their curves, in their order.

    Attributes:
        panels: with their place in the figure.
        parts: of each panel the rows of each curve. found: its points in the measure's unit. curves: the same in the figure's.
        points: all of these that there are.
        divisor, unit: from the measure's unit to the figure's.
        scale, note: of the axis of values, and what is said of it.

    """

    panels: Sequence[Panel]
    parts: Sequence[Mapping[str, pl.DataFrame]]
    found: Sequence[Points]
    curves: Sequence[Points]
    points: Sequence[Estimate]
    divisor: float
    unit: str
    scale: str
    note: str


def laid_out(data: Data) -> Layout:
    """The layout of a figure's data."""
    divisor, unit = data.unit
    panels = data.panels()
    parts = [dict(data.curves(panel.frame)) for panel in panels]
    found = [{name: data.points(part) for name, part in panel.items()} for panel in parts]
    curves = [{name: [point and point.over(divisor) for point in series] for name, series in panel.items()} for panel in found]
    points = [point for panel in curves for series in panel.values() for point in series if point is not None]
    scale, note = shown.scale(data, [value for point in points for value in point.values])
    return Layout(panels, parts, found, curves, points, divisor, unit, scale, note)
