"""`scatter`: two measures of each run against each other, a point per run and item, nothing taken together."""

from __future__ import annotations

import polars as pl

from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.plane import AGAINST, read
from sawtooth.figures.spec import Drawn, Kind


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import scatter

    shown.require_least(data, "low", "x_low")
    against = data.spec.options["against"]
    is_known = pl.col("low").is_not_null() & pl.col("x_low").is_not_null()
    known = data.frame.filter(is_known)
    (x_divisor, x_unit), (y_divisor, y_unit) = data.scaled(against, data.frame.select(low="x_low")), data.unit
    panels = data.panels()
    points = [
        {
            name: scatter.Points(
                part["x_low"].to_numpy() / x_divisor, part["low"].to_numpy() / y_divisor,
                (part["x_low"] != part["x_high"]).to_numpy(), (part["low"] != part["high"]).to_numpy(),
            )
            for name, part in data.curves(panel.frame.filter(is_known))
        }
        for panel in panels
    ]  # fmt: skip
    scales = [shown.scale(data, known[column].to_list()) for column in ("x_low", "low")]
    scale, note = min(scales, key=lambda found: (found[0] == "log", not found[1]))
    labels = data.label(data.spec.x_label, against, x_unit), data.label(data.spec.label, data.measure, y_unit)
    made = scatter.runs(points, shown.titles(panels), data.curve_names(), labels, scale=scale)
    numbers = known.select(
        *dict.fromkeys(["cell", *data.factors, "arm", "replicate", "item", *data.spec.view.by]),
        x="x_low", y="low", x_unfinished=pl.col("x_low") != pl.col("x_high"), y_unfinished=pl.col("low") != pl.col("high"),
    )  # fmt: skip
    return Drawn(made, shown.sentences(_said(known, data.frame.height), note, shown.pooling(data)), numbers)


def _said(known: pl.DataFrame, every: int) -> str:
    """How many points there are, what each is, and what is not among them."""
    runs = known["run"].n_unique()
    points = f"{known.height} points of {runs} runs" if known.height != runs else f"{runs} {'runs, each' if runs > 1 else 'run,'}"
    text = f"n = {points}{', each' if known.height != runs else ''} by itself: no interval."
    unfinished = known.filter((pl.col("low") != pl.col("high")) | (pl.col("x_low") != pl.col("x_high"))).height
    if unfinished:
        text += f" Arrows: {unfinished} did not finish, the value is at least that."
    if every > known.height:
        text += f" {every - known.height} of {every} runs do not tell both."
    return text


KIND = Kind(
    "scatter", "two measures of each run against each other, `metric` upwards and `against` to the right; nothing is taken together",
    ("curves", "panels", "rows"), draw, (AGAINST,), read, each_run=True, statistic=False,
)  # fmt: skip
