"""`plane`: two measures against each other, a point with both intervals for each cell, arm and item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from sawtooth import estimates
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.levels import row
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures import Measure
from sawtooth.questions import Reader
from sawtooth.study.document import shown as shown_value
from sawtooth.study.keys import Key

AGAINST = Key("against", "[measure](measures.md)", "needed", "what the horizontal axis has")
TURNED = Key(
    "turned",
    "`true` or `false`",
    "`false`",
    "whether the horizontal axis runs from large to small, so that of a delay the better side is at the right",
)


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The other measure, and which way its axis runs."""
    turned = tree.get("turned", False)
    if not isinstance(turned, bool):
        raise reader.error(f"`turned` is true or false, found {shown_value(turned)}", f"{path}.turned", "such as turned = true")
    return {"against": reader.measure(dict(tree), path, "against"), "turned": turned}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import plane

    against = data.spec.options["against"]
    (x_divisor, x_unit), (y_divisor, y_unit) = data.scaled(against, data.frame.select(low="x_low")), data.unit
    panels: list[dict[str, list[tuple[Estimate, Estimate]]]] = []
    rows: list[dict[str, object]] = []
    for panel in data.panels():
        curves: dict[str, list[tuple[Estimate, Estimate]]] = {}
        for name, part in data.curves(panel.frame):
            for _, group in part.group_by("cell", "arm", "item", maintain_order=True):
                # A point is of what both measures know: an item of a cell and arm.
                if group["low"].null_count() == group.height or group["x_low"].null_count() == group.height:
                    continue
                right = group.select(low="x_low", high="x_high")
                x, y = (
                    estimates.of_frame(side, data.spec.statistic, measure.within(data.spec.view.flows))
                    for side, measure in ((right, against), (group, data.measure))
                    if isinstance(measure, Measure)
                )
                curves.setdefault(name, []).append((x.over(x_divisor), y.over(y_divisor)))
                named = group.select(*data.factors, "arm", "item").row(0, named=True)
                rows.append(
                    {
                        **named,
                        **{f"x_{key}": value for key, value in row(x).items()},
                        **{f"y_{key}": value for key, value in row(y).items()},
                    }
                )
        panels.append(curves)
    if not any(
        all(math.isfinite(side.interval.estimate) for side in pair) for panel in panels for series in panel.values() for pair in series
    ):
        raise DatasetError(
            f"nothing bounds both `{data.measure.name}` and `{against.name}` in any cell: runs did not finish",
            "choose with `where` what some finished",
        )
    pairs = [pair for panel in panels for series in panel.values() for pair in series]
    sides = [[value for pair in pairs for value in pair[side].values] for side in (0, 1)]
    scale, note = min((shown.scale(data, values) for values in sides), key=lambda found: (found[0] == "log", not found[1]))
    labels = data.label(data.spec.x_label, against, x_unit), data.label(data.spec.label, data.measure, y_unit)
    picture = partial(
        plane.panels, panels, shown.titles(data.panels()), data.curve_names(), labels, scale=scale, turned=bool(data.spec.options["turned"])
    )
    low, high, x_low, x_high = (pl.col(name) for name in ("low", "high", "x_low", "x_high"))
    # Each run is in both intervals.
    counts = (
        data.frame.height,
        data.frame.filter((low != high) | (x_low != x_high)).height,
        data.frame.filter(low.is_null() | x_low.is_null()).height,
    )
    said = estimates.said([point for pair in pairs for point in pair], data.spec.statistic, counted=counts)
    return Drawn(
        picture,
        shown.sentences(said, _undrawn(pairs), note, shown.pooling(data)),
        shown.in_units(pl.DataFrame(rows, infer_schema_length=None), x_unit=against.unit, y_unit=data.measure.unit),
    )


def _undrawn(pairs: list[tuple[Estimate, Estimate]]) -> str:
    """How many points have no place, as nothing bounds one of their measures."""
    lost = sum(not all(point.values for point in pair) for pair in pairs)
    return (
        f"{lost} of {estimates.counted({len(pairs)}, 'point')} have no place, as nothing bounds one of the two; they are in the numbers."
        if lost
        else ""
    )


KIND = Kind(
    "plane", "two measures against each other, `metric` upwards and `against` to the right: a point with both intervals for each cell, arm and item",
    ("curves", "panels", "rows"), draw, (AGAINST, TURNED), read, each_run=True,
)  # fmt: skip
