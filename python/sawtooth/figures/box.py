"""`box` and `violin`: every replicate as a point, with the quartiles of all, or the shape of their distribution, and the median with its interval.

Quartiles of fewer than five runs are only the runs again: there are points and the median then. A violin of fewer than ten runs would show the
kernel, not the runs: there is a box then; also where runs did not finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sawtooth import estimates
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.stats import Vector

if TYPE_CHECKING:
    from sawtooth.plots.replicates import Group

FEWEST_FOR_BOX, FEWEST_FOR_VIOLIN = 5, 10
"""Runs."""


def draw(data: Data, *, violin: bool = False) -> Drawn:
    """The figure; with violins where there are runs enough."""
    from sawtooth.plots import replicates

    divisor, unit = data.unit
    x, levels = data.places["x"], data.levels()
    panels, within = data.panels(), data.range
    rows: list[pl.DataFrame] = []
    found: list[dict[str, list[replicates.Group | None]]] = []
    for panel in panels:
        curves: dict[str, list[replicates.Group | None]] = {}
        for name, part in data.curves(panel.frame):
            line: list[replicates.Group | None] = []
            for level in levels:
                group = part.filter(pl.col(x) == level)
                known = group.filter(pl.col("low").is_not_null())
                if known.is_empty():
                    line.append(None)
                    continue
                low, high = (known[end].to_numpy() for end in ("low", "high"))
                values, bounds = estimates.of_runs(low, high, within)
                quartiles = _quartiles(low, high)
                shape = _shape(low / divisor) if violin and not any(bounds) else None
                box = None if len(low) < FEWEST_FOR_BOX else quartiles / divisor
                centre = estimates.of_frame(group, "median", within).over(divisor)
                made_of = None if box is None else (float(box[0]), float(box[1]), float(box[2]))
                line.append(replicates.Group(values / divisor, bounds, made_of, centre, shape))
                told = dict(zip(("q1", "median", "q3"), quartiles, strict=True))
                place = {**shown.place(data, panel, name), x: level}
                rows.append(
                    known.select(
                        *(pl.lit(value).alias(key) for key, value in place.items()), "replicate", value=pl.Series(values).fill_nan(None),
                        unfinished=pl.col("low") != pl.col("high"), bound=pl.Series(bounds, dtype=pl.String).replace("", None),
                    ).with_columns(*(pl.lit(float(value)).fill_nan(None).alias(key) for key, value in told.items()))
                )  # fmt: skip
            curves[name] = line
        found.append(curves)
    groups = [group for curves in found for line in curves.values() for group in line if group is not None]
    scale, note = shown.scale(data, [float(value) for group in groups for value in group.values if np.isfinite(value)])
    picture = partial(
        replicates.groups, found, shown.titles(panels), levels, data.curve_names(),
        (data.x_label, data.label(data.spec.label, data.measure, unit)), scale=scale,
    )  # fmt: skip
    said = estimates.said([group.centre for group in groups], "median").replace("Medians of", "Points: every run. Diamonds: medians of", 1)
    numbers = pl.concat(rows)
    lost = numbers.filter(bound="not bounded").height
    unplaced = f"{lost} of {numbers.height} runs have no point, as nothing bounds them." if lost else ""
    if not numbers["bound"].count():
        numbers = numbers.drop("bound")
    return Drawn(
        shown.whole(picture, y=data.spec.several.values() or data.measure),
        shown.sentences(said, _bodies(groups), unplaced, note, shown.pooling(data)),
        shown.in_units(numbers, unit=data.measure.unit),
    )


def _quartiles(low: Vector, high: Vector) -> Vector:
    """First quartile, median and third, shape (3,), of runs each of which is known from `low` to `high`: not known where these make two of it.

    One that has a bound on one side alone is infinite on the other. The definition is that of Hyndman and Fan's type 7 (The American Statistician 50,
    1996), which numpy takes.
    """
    least, most = (_of_ordered(np.sort(side)) for side in (low, high))
    open_ = np.where(np.isfinite(least), np.where(np.isfinite(most), np.nan, np.inf), np.where(np.isfinite(most), -np.inf, np.nan))
    return np.where(least == most, least, open_)


def _of_ordered(ordered: Vector) -> Vector:
    places = np.array([0.25, 0.5, 0.75]) * (len(ordered) - 1)
    below, above = ordered[np.floor(places).astype(int)], ordered[np.ceil(places).astype(int)]
    part = places - np.floor(places)
    # Between what is known and what has no bound nothing is known.
    with np.errstate(invalid="ignore"):
        between = np.where(np.isfinite(below), np.where(np.isfinite(above), below + part * (above - below), above), below)
    return np.where(part == 0, below, between)


def _shape(values: Vector) -> tuple[Vector, Vector] | None:
    """Places and densities of a distribution between its ends; None if there are too few runs, or all are alike."""
    if len(values) < FEWEST_FOR_VIOLIN or np.ptp(values) == 0:
        return None
    from scipy import stats

    places = np.linspace(float(values.min()), float(values.max()), 100, dtype=np.float64)
    density: Any = stats.gaussian_kde(values)
    return places, np.asarray(density(places), dtype=np.float64)


def _bodies(groups: Sequence[Group]) -> str:
    """What boxes and violins are, and where there are none."""
    violins = sum(group.violin is not None for group in groups)
    boxes = sum(group.violin is None and group.quartiles is not None for group in groups)
    parts: list[str] = []
    if violins:
        parts.append("Violins: density by a Gaussian kernel, between the least and the largest run.")
    if boxes:
        parts.append("Boxes: from the first quartile to the third, with the median.")
    bare = len(groups) - violins - boxes
    if bare:
        parts.append(f"No box of fewer than {FEWEST_FOR_BOX} runs.")
    return " ".join(parts)


KIND = Kind(
    "box", "every replicate as a point, with a box from the first quartile to the third and the median with its interval",
    ("x", "curves", "panels", "rows"), draw, statistic=False,
)  # fmt: skip
