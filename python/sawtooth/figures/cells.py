"""`cells`: every cell by itself, in the order of the sweep or of another measure, with a trend through all of them.

A design of hundreds of cells has no place for each factor, and means over factors would hide what differs. Here each cell has its point and its
interval, and neighbours are cells that differ in the innermost factors: what the outer ones do is seen as steps and slopes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from sawtooth import estimates
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.levels import row
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures import Asked, Measure
from sawtooth.questions import Reader
from sawtooth.study.keys import Key

ORDER = Key(
    "order",
    "[measure](measures.md)",
    "that of the sweep",
    "what cells stand in the order of: its mean over the chosen arms, items and runs",
)
TREND = Key("trend", "whole number from 3", "none", "a line of running medians of so many neighbouring cells")
BESIDE = Key("beside", "[measure](measures.md)", "none", "another measure of the same unit, such as one of a reference, as crosses")
_LEAST_TREND = 3
_ALONE = "these runs"


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The order, the trend and what stands beside."""
    given = dict(tree)
    found: dict[str, Any] = {key: reader.measure(given, path, key) for key in ("order", "beside") if key in given}
    if "beside" in found:
        from sawtooth import measures

        mine, other = (measures.unit(measure) for measure in (reader.measure(given, path), found["beside"]))
        if mine.powers != other.powers:
            said = f"`beside` is in {other.natural.name or 'plain numbers'} and `metric` in {mine.natural.name or 'plain numbers'}"
            raise reader.error(said, f"{path}.beside", "crosses stand on the same axis")
    if "trend" in given:
        trend = given["trend"]
        if not isinstance(trend, int) or isinstance(trend, bool) or trend < _LEAST_TREND:
            raise reader.error(
                f"`trend` is a whole number of cells from {_LEAST_TREND}, whose median is taken", f"{path}.trend", "such as trend = 17"
            )
        found["trend"] = trend
    return found


@dataclass(frozen=True)
class Group:
    """Neighbouring cells of one level of the outermost factor that varies: how many, and its name."""

    size: int
    name: str


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import cells

    divisor, unit = data.unit
    by = _order(data)
    beside = _beside(data)
    panels: list[cells.Panel] = []
    rows: list[dict[str, object]] = []
    points: list[Estimate] = []
    crosses = 0
    # A single curve is no level of anything: what matters is that it is not the crosses.
    order_of = {name: at for at, name in enumerate(data.curve_names())}
    names = list(order_of) if len(order_of) > 1 else [_ALONE]
    for panel in data.panels():
        frame = panel.frame.join(by, on="cell", maintain_order="left").sort("place", maintain_order=True)
        numbers: list[int] = frame["cell"].unique(maintain_order=True).to_list()
        places = {cell: at for at, cell in enumerate(numbers)}
        curves: dict[str, list[tuple[int, Estimate]]] = {}
        for curve, part in data.curves(frame):
            name = names[order_of[curve]]
            keys = ["cell", "arm", "item"]
            shown_of = part.select(*dict.fromkeys(["cell", *data.factors, "arm", "item", "low", "high"]))
            for first, found in estimates.of_groups(shown_of, keys, data.spec.statistic, data.range):
                points.append(found)
                at = places[int(first["cell"])]
                curves.setdefault(name, []).append((at, found.over(divisor)))
                rows.append(
                    {"place": at + 1, "cell": first["cell"], **{each: first[each] for each in (*data.factors, "arm", "item")}, **row(found)}
                )
        marks = beside.filter(pl.col("run").is_in(frame["run"].to_list())).select("cell", "beside").unique(maintain_order=True)
        crosses += marks.height
        panels.append(cells.Panel(curves, [(places[cell], value / divisor) for cell, value in marks.rows()], _groups(data, frame)))
    values = [value for panel in panels for series in panel.curves.values() for _, point in series for value in point.values]
    scale, note = shown.scale(data, values)
    order = data.spec.options.get("order")
    x_label = data.spec.x_label or (
        f"cells in the order of {order.words}" if order else f"cells by {', '.join(_varying(data, data.frame))}"
    )
    picture = partial(
        cells.draw, panels, shown.titles(data.panels()), names, (x_label, data.label(data.spec.label, data.measure, unit)),
        scale=scale, trend=data.spec.options.get("trend"), marks_name=_name_of(data.spec.options.get("beside")),
    )  # fmt: skip
    said = estimates.said(points, data.spec.statistic)
    return Drawn(
        shown.whole(picture, y=data.measure),
        shown.sentences(said, _said(data, order, crosses), note, shown.pooling(data)),
        shown.in_units(_with_beside(data, pl.DataFrame(rows, infer_schema_length=None), beside), unit=data.measure.unit),
    )


def _order(data: Data) -> pl.DataFrame:
    """Each cell's place: in the order of the sweep, or of the mean of another measure over what is shown."""
    found = data.frame.select("cell").unique(maintain_order=True)
    order = data.spec.options.get("order")
    if order is None:
        return found.select("cell", place=pl.col("cell").cast(pl.Float64))
    other = _values(data, order).group_by("cell", maintain_order=True).agg(place=pl.col("value").mean())
    # What is not known of stands last.
    return (
        found.join(other, on="cell", how="left", maintain_order="left")
        .with_columns(pl.col("place").fill_null(np.inf))
        .sort("place", "cell")
    )


def _beside(data: Data) -> pl.DataFrame:
    """Of each run the other measure's mean over the runs of its cell and arm."""
    other = data.spec.options.get("beside")
    if other is None:
        return data.frame.select("run", "cell").clear().with_columns(beside=pl.lit(0.0))
    found = _values(data, other).filter(pl.col("value").is_not_null())
    return found.select("run", "cell", "arm", beside=pl.col("value").mean().over("cell", "arm"))


def _values(data: Data, measure: Measure) -> pl.DataFrame:
    """Another measure of the runs and items that are shown, or of these runs if it has other items: run, cell, arm, item, value."""
    found = data.evaluator.observe(Asked(measure, data.spec.view))
    alike = not set(found["item"].unique()).isdisjoint(data.frame["item"].unique())
    keys = ["run", "item"] if alike else ["run"]
    return found.join(data.frame.select(keys).unique(), on=keys, how="semi").select("run", "cell", "arm", "item", value="low")


def _with_beside(data: Data, rows: pl.DataFrame, beside: pl.DataFrame) -> pl.DataFrame:
    """The numbers of the points with what stands beside them."""
    if "beside" not in data.spec.options:
        return rows
    return rows.join(beside.select("cell", "arm", "beside").unique(), on=["cell", "arm"], how="left", maintain_order="left")


def _name_of(beside: Measure | None) -> str:
    """What the legend calls crosses."""
    return "" if beside is None else "published" if beside.references else beside.words


def _varying(data: Data, frame: pl.DataFrame) -> list[str]:
    """The factors that vary and have no other place, the outermost first."""
    return [name for name in data.factors if name not in data.places.values() and frame[name].n_unique() > 1]


def _groups(data: Data, frame: pl.DataFrame) -> Sequence[Group]:
    """Neighbours of one level of the outermost factor; none where another measure has the order, or a level is every other cell's."""
    varying = _varying(data, frame)
    if "order" in data.spec.options or not varying:
        return []
    levels = frame.select("cell", varying[0]).unique(maintain_order=True)[varying[0]].to_list()
    found: list[Group] = []
    for level in levels:
        if found and found[-1].name == level:
            found[-1] = Group(found[-1].size + 1, level)
        else:
            found.append(Group(1, level))
    return found if len(found) == len(set(levels)) else []


def _said(data: Data, order: Measure | None, crosses: int) -> str:
    """How cells stand, and what lines and crosses are."""
    first = "Every cell by itself, in the order of the sweep."
    if order is not None:
        first = f"Every cell by itself, in the order of {order.words} (mean over what is shown)."
    trend, beside = data.spec.options.get("trend"), data.spec.options.get("beside")
    line = f"Lines: running medians of {trend} neighbouring cells." if trend else ""
    cross = f"Crosses: {beside.words}." if isinstance(beside, Measure) and crosses else ""
    return shown.sentences(first, line, cross)


KIND = Kind(
    "cells", "every cell by itself with its interval, in the order of the sweep or of another measure, and a trend through all of them",
    ("curves", "panels", "rows"), draw, (ORDER, TREND, BESIDE), read, each_run=True, along=True, symlog=True,
)  # fmt: skip
