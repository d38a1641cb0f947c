"""`time`: samples over time, of one replicate, with the others behind it if they are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.questions import Reader
from sawtooth.study import document
from sawtooth.study.keys import Key

REPLICATE = Key("replicate", "whole number from 1", "`1`", "which one is shown")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The replicate."""
    given = tree.get("replicate", 1)
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= reader.study.planned:
        raise reader.error(
            f"there is no replicate {document.shown(given)}", f"{path}.replicate", f"they are counted from 1 to {reader.study.planned}"
        )
    return {"replicate": given}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots.trace import Curve, Panel, over_time

    wanted = data.spec.options["replicate"]
    known = data.frame["replicate"].unique().sort().to_list()
    number = wanted if wanted in known else known[0]
    divisor, unit = data.unit
    label = data.label(data.spec.label, data.measure, unit)
    names = data.curve_names()
    panels: list[Panel] = []
    for panel in data.panels():
        frame = panel.frame.filter(replicate=number)
        # Each thinner than the one before, so that of curves that coincide none is hidden.
        curves = [
            Curve(
                name, part["t_ns"].to_numpy() / 1e9, part["low"].to_numpy() / divisor,
                width=0.9 + 0.4 * (len(names) - 1 - names.index(name)),
            )
            for name, part in data.curves(frame.sort("t_ns", maintain_order=True))
        ]  # fmt: skip
        title = ", ".join(part for part in (panel.row, panel.column) if part)
        panels.append(Panel(f"{title}\n{label}" if title else label, curves))
    end = float(data.frame["t_ns"].to_numpy().max()) / 1e9
    numbers = data.frame.filter(replicate=number).select(
        *dict.fromkeys(["cell", *data.factors, "arm", "item"]), "t_ns", pl.col("low").alias("value")
    )
    start = (data.spec.view.rows.start_ns or 0.0) / 1e9
    return Drawn(
        shown.whole(partial(over_time, panels, "", (start, end), width=6.5), y=data.measure),
        shown.sentences(f"Replicate {number} of {len(known)}.", shown.pooling(data)),
        shown.in_units(numbers, unit=data.measure.unit),
    )


KIND = Kind(
    "time",
    "samples over time, of one replicate",
    ("curves", "panels", "rows"),
    draw,
    (REPLICATE,),
    read,
    samples=True,
    timed=True,
    statistic=False,
    scale=False,
)
