"""`scatter`: two measures of each run against each other, a point per run and item, nothing taken together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from sawtooth import estimates
from sawtooth.errors import DatasetError
from sawtooth.estimates import Bound
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.plane import AGAINST, read
from sawtooth.figures.spec import Drawn, Kind

if TYPE_CHECKING:
    from sawtooth.plots.scatter import Points


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import scatter

    against = data.spec.options["against"]
    is_known = pl.col("low").is_not_null() & pl.col("x_low").is_not_null()
    known = data.frame.filter(is_known)
    (x_divisor, x_unit), (y_divisor, y_unit) = data.scaled(against, data.frame.select(low="x_low")), data.unit
    ranges = against.within(data.spec.view.flows), data.range
    panels = data.panels()
    points = [
        {name: _points(part, ranges).over(x_divisor, y_divisor) for name, part in data.curves(panel.frame.filter(is_known))}
        for panel in panels
    ]
    every = _points(known, ranges)
    placed = int(every.placed.sum())
    if not placed:
        raise DatasetError(
            f"nothing bounds both `{data.measure.name}` and `{against.name}` in any run: none finished",
            "choose with `where` what some finished",
        )
    scales = [shown.scale(data, values[every.placed].tolist()) for values in (every.x, every.y)]
    scale, note = min(scales, key=lambda found: (found[0] == "log", not found[1]))
    labels = data.label(data.spec.x_label, against, x_unit), data.label(data.spec.label, data.measure, y_unit)
    picture = partial(scatter.runs, points, shown.titles(panels), data.curve_names(), labels, scale=scale)
    bounds = {"x_bound": every.x_bounds, "y_bound": every.y_bounds}
    numbers = known.select(
        *dict.fromkeys(["cell", *data.factors, "arm", "replicate", "item", *data.spec.view.by]),
        x=pl.Series(every.x).fill_nan(None), y=pl.Series(every.y).fill_nan(None),
        x_unfinished=pl.col("x_low") != pl.col("x_high"), y_unfinished=pl.col("low") != pl.col("high"),
        **{name: pl.Series(each, dtype=pl.String).replace("", None) for name, each in bounds.items() if any(each)},
    )  # fmt: skip
    return Drawn(
        shown.whole(picture, x=against, y=data.measure),
        shown.sentences(_said(known, data.frame.height, every), note, shown.pooling(data)),
        shown.in_units(numbers, x_unit=against.unit, y_unit=data.measure.unit),
    )


def _points(frame: pl.DataFrame, ranges: tuple[tuple[float, float], tuple[float, float]]) -> Points:
    """The points of runs, each a value or a bound."""
    from sawtooth.plots import scatter

    x, x_bounds = estimates.of_runs(frame["x_low"].to_numpy(), frame["x_high"].to_numpy(), ranges[0])
    y, y_bounds = estimates.of_runs(frame["low"].to_numpy(), frame["high"].to_numpy(), ranges[1])
    return scatter.Points(x, y, x_bounds, y_bounds)


def _said(known: pl.DataFrame, every: int, points: Points) -> str:
    """How many points there are, what each is, and what is not among them."""
    runs = known["run"].n_unique()
    of_runs = f"{known.height} points of {runs} runs" if known.height != runs else f"{runs} {'runs, each' if runs > 1 else 'run,'}"
    text = f"n = {of_runs}{', each' if known.height != runs else ''} by itself: no interval."
    unfinished = known.filter((pl.col("low") != pl.col("high")) | (pl.col("x_low") != pl.col("x_high"))).height
    if unfinished:
        # Of what is between two bounds the lower one is drawn.
        drawn: list[Bound] = ["at least" if bound == "between" else bound for bound in (*points.x_bounds, *points.y_bounds)]
        text += f" {estimates.bounds_said(drawn, f'{unfinished} did not finish')}"
    lost = len(points.x) - int(points.placed.sum())
    if lost:
        text += f" {lost} have no place, as nothing bounds one of the two; they are in the numbers."
    if every > known.height:
        text += f" {every - known.height} of {every} runs do not tell both."
    return text


KIND = Kind(
    "scatter", "two measures of each run against each other, `metric` upwards and `against` to the right; nothing is taken together",
    ("curves", "panels", "rows"), draw, (AGAINST,), read, each_run=True, statistic=False,
)  # fmt: skip
