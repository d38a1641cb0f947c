"""`lanes`: what happened when in one run, a lane per flow: loss episodes, stalls, transfers, each from its beginning as long as it took."""

from __future__ import annotations

from functools import partial

import polars as pl

from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.figures.time import REPLICATE, read


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import lanes

    wanted = data.spec.options["replicate"]
    known = data.frame["replicate"].unique().sort().to_list()
    number = wanted if wanted in known else known[0]
    frame = data.frame.filter(replicate=number)
    lasting = data.measure.unit == "ns"
    levels = data.order(data.places["y"])
    panels = data.panels()
    drawn: list[list[lanes.Events]] = []
    for panel in panels:
        here = panel.frame.filter(replicate=number)
        drawn.append(
            [
                lanes.Events(
                    levels.index(level), name, part["t_ns"].to_numpy() / 1e9,
                    part["low"].to_numpy() / 1e9 if lasting else None, (part["low"] != part["high"]).to_numpy(),
                )
                for name, curve in data.curves(here)
                for (level,), part in curve.group_by(data.places["y"], maintain_order=True)
            ]
        )  # fmt: skip
    ends = frame["t_ns"] + (frame["low"] if lasting else 0)
    start = (data.spec.view.rows.start_ns or 0.0) / 1e9
    picture = partial(lanes.draw, drawn, shown.titles(panels), levels, data.curve_names(), (start, float(ends.to_numpy().max()) / 1e9))
    numbers = frame.select(
        *dict.fromkeys(["cell", *data.factors, "arm", "item", *data.spec.view.by]),
        "t_ns",
        value="low",
        unfinished=pl.col("low") != pl.col("high"),
    )
    text = f"Replicate {number} of {len(known)}: {frame.height} rows of `{next(iter(data.measure.tables))}`."
    unfinished = frame.filter(pl.col("low") != pl.col("high")).height
    if unfinished:
        text += f" Open at the right: {unfinished} that did not end before the run did."
    return Drawn(picture, shown.sentences(text, data.spec.view.rows.words), shown.in_units(numbers, unit=data.measure.unit))


KIND = Kind(
    "lanes", "what happened when in one replicate, a lane per level of `y`: events as marks, or from their time as long as `metric` says they took",
    ("y", "curves", "panels", "rows"), draw, (REPLICATE,), read, samples=True, timed=True, statistic=False, scale=False,
)  # fmt: skip
