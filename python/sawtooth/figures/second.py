"""Another measure on an axis of its own at the right: what something costs beside what it brings, over the same levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sawtooth import estimates
from sawtooth.estimates import Estimate
from sawtooth.measures import Measure
from sawtooth.study.keys import Key

if TYPE_CHECKING:
    from sawtooth.figures.data import Data, Panel
    from sawtooth.questions import Reader

SECOND = Key("second", "[measure](measures.md)", "none", "another measure, on an axis of its own at the right")
LABEL = Key("second_label", "text", "the measure", "what that axis is called, without a unit")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The measure, and what its axis is called."""
    if "second" not in tree:
        if "second_label" in tree:
            raise reader.error("there is no second axis to call so", f"{path}.second_label", "`second` says what it has", key=True)
        return {}
    return {"second": reader.measure(dict(tree), path, "second"), "second_label": reader.text(dict(tree), "second_label", path, "")}


def measure_of(data: Data) -> Measure | None:
    """What the axis has; None if there is none."""
    found = data.spec.options.get("second")
    return found if isinstance(found, Measure) else None


def points(data: Data, panels: Sequence[Panel], measure: Measure) -> list[dict[str, list[Estimate | None]]]:
    """Of each panel and curve what it has at each level, in the measure's unit."""
    made: list[dict[str, list[Estimate | None]]] = []
    for panel in panels:
        curves: dict[str, list[Estimate | None]] = {}
        for name, part in data.curves(panel.frame):
            beside = part.filter(pl.col("x_low").is_not_null()).drop("low", "high").rename({"x_low": "low", "x_high": "high"})
            groups = [beside.filter(pl.col(data.places["x"]) == level) for level in data.levels()]
            curves[name] = [
                estimates.of_frame(group, data.spec.statistic, measure.within(data.spec.view.flows)) if group.height else None
                for group in groups
            ]
        made.append(curves)
    return made
