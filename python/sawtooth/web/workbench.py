"""A figure of kind `levels` as the workbench draws it: points with their intervals as the report makes them, and every replicate.

Nothing is left to the browser but where ink goes. What would take together what are no replicates is refused as in a study file, with the same words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from sawtooth import analysis, estimates, figures
from sawtooth.estimates import Estimate
from sawtooth.figures import layout as layouts
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import FigureSpec
from sawtooth.recognise import size, written
from sawtooth.report.answers import Answers
from sawtooth.study.written import written as toml


def laid_out(answers: Answers, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The figure that the keys of a `[[figures]]` block ask for.

    Args:
        answers: over the results.
        keys: of the block, of kind `levels`.

    Returns:
        `x`: its dimension, label, and levels with what each amounts to in base units, if all are quantities of one kind. `y`: label and scale; values are in that unit.
        `places`: where each dimension went. `panels`: each with `row`, `column` and curves; a curve has `points`, one per level (null without a run), and its runs as
        columns: `at` (number of the level), `value`, `run`. `caption`, and `toml`: the lines of a study file that make the figure.

    Raises:
        StudyError: with its place in what is asked.
        DatasetError: if these results do not hold it.

    """
    return analysis.laid_out(answers, {**keys, "kind": "levels"}, lambda spec: _laid_out(answers, spec, keys))


def _laid_out(answers: Answers, spec: FigureSpec, keys: Mapping[str, Any]) -> dict[str, Any]:
    data = Data(answers.evaluator, spec, figures.TABLE["levels"], answers.shown.references, answers.arms)
    levels, layout = data.levels(), layouts.laid_out(data)
    panels = [
        {
            "row": panel.row,
            "column": panel.column,
            "curves": [
                {
                    "name": name,
                    "points": [point and _point(point) for point in points],
                    "runs": _runs(parts[name], data, levels, layout.divisor),
                }
                for name, points in curves.items()
            ],
        }
        for panel, parts, curves in zip(layout.panels, layout.parts, layout.curves, strict=True)
    ]
    caption = shown.sentences(
        spec.caption,
        estimates.said(layout.points, spec.statistic),
        layout.note,
        shown.pooling(data),
        shown.without_value(data),
        shown.chosen(spec),
    )
    return {
        "x": {
            "dimension": data.places["x"],
            "label": spec.x_label or data.places["x"],
            "levels": [written(level) for level in levels],
            "amounts": _amounts(levels),
        },
        "y": {"label": data.label(spec.label, data.measure, layout.unit), "unit": layout.unit, "scale": layout.scale},
        "curves": data.curve_names(),
        "places": data.places,
        "panels": panels,
        "caption": caption,
        "toml": as_toml(keys),
    }


def as_toml(keys: Mapping[str, Any]) -> str:
    """The lines of a study file that make a figure."""
    return toml({"figures": [{"name": "figure", **keys}]})


def _point(point: Estimate) -> dict[str, Any]:
    interval = point.interval
    return {
        "estimate": finite(interval.estimate),
        "low": finite(interval.low),
        "high": finite(interval.high),
        "n": point.n,
        "unfinished": point.unfinished,
        "bound": point.bound,
        "most": finite(point.most),
        "interval": interval.kind,
    }


def _runs(part: pl.DataFrame, data: Data, levels: list[str], divisor: float) -> dict[str, list[Any]]:
    """Every run of a curve by itself: what it is, or the bound that is known of it."""
    told = part.filter(pl.col("low").is_not_null())
    at = told[data.places["x"]].replace_strict({level: number for number, level in enumerate(levels)}, return_dtype=pl.Int64)
    values, _ = estimates.of_runs(told["low"].to_numpy().astype(float), told["high"].to_numpy().astype(float), data.range)
    return {"at": at.to_list(), "value": [finite(value / divisor) for value in values.tolist()], "run": told["run"].to_list()}


def _amounts(levels: list[str]) -> list[float] | None:
    """Levels in base units; None if they are no quantities of one kind, or two of them are the same."""
    found = [size(level) for level in levels]
    known = [each for each in found if each is not None]
    if len(known) < max(len(levels), 2) or len({kind for _, kind in known}) > 1:
        return None
    amounts = [amount for amount, _ in known]
    return amounts if len(set(amounts)) == len(amounts) else None


def finite(value: float | None) -> float | None:
    """A number that JSON has: null for what is none."""
    return value if value is not None and math.isfinite(value) else None
