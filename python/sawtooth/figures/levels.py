"""`levels`: what replicates are together, with its interval, over the levels of a dimension; beside it what was published, if there is that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sawtooth import estimates
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data, Panel
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures.resolve import Referred
from sawtooth.questions import Reader
from sawtooth.references import PUBLISHED, interval
from sawtooth.stats import Interval
from sawtooth.study.keys import Key

REFERENCE = Key("reference", '`"REFERENCE.COLUMN"`', "none", "published values that are shown as crosses beside the points")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The reference."""
    if "reference" not in tree:
        return {}
    return {"reference": shown.beside(reader, tree, path, reader.measure(dict(tree), path))}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import levels

    divisor, unit = data.unit
    panels = data.panels()
    found = [{name: data.points(part) for name, part in data.curves(panel.frame)} for panel in panels]
    curves = [{name: [point and point.over(divisor) for point in series] for name, series in panel.items()} for panel in found]
    points = [point for panel in curves for series in panel.values() for point in series if point is not None]
    scale, note = shown.scale(data, [value for point in points for value in point.values])
    term = data.spec.options.get("reference")
    published = _published(data, term) if isinstance(term, Referred) else []
    called = data.references[term.reference].called if isinstance(term, Referred) else PUBLISHED
    marks = [{name: [mark and mark.over(divisor) for mark in series] for name, series in panel.items()} for panel in published]
    made = levels.draw(
        curves, shown.titles(panels), data.levels(), data.curve_names(),
        (data.spec.x_label or data.places["x"], data.label(data.spec.label, data.measure, unit)),
        scale=scale, marks=marks, marks_name=called,
    )  # fmt: skip
    return Drawn(
        made,
        shown.sentences(estimates.said(points, data.spec.statistic), note, _said(marks, called), shown.pooling(data)),
        numbers(data, panels, found, published),
    )


def numbers(
    data: Data,
    panels: Sequence[Panel],
    found: Sequence[Mapping[str, Sequence[Estimate | None]]],
    published: Sequence[Mapping[str, Sequence[Interval | None]]] = (),
) -> pl.DataFrame:
    """The points as rows: place, estimate, interval, its method, runs, unfinished ones and what they leave, in the measure's unit, and what was `published`."""
    rows = [
        {**shown.place(data, panel, name), data.places["x"]: level, **row(point), **(_mark(published[at][name][step]) if published else {})}
        for at, (panel, curves) in enumerate(zip(panels, found, strict=True))
        for name, series in curves.items()
        for step, (level, point) in enumerate(zip(data.levels(), series, strict=True))
        if point is not None
    ]
    return shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=data.measure.unit)


def row(found: Estimate) -> dict[str, object]:
    """An estimate as cells of a table; where runs did not finish, whether it is a bound, and the `most` of what is between two."""
    interval = found.interval
    bound = {"bound": found.bound or None} if found.unfinished else {}
    bound |= {"most": found.most} if found.bound == "between" else {}
    return {
        "estimate": known(interval.estimate),
        "low": interval.low,
        "high": interval.high,
        "n": found.n,
        "unfinished": found.unfinished,
        **bound,
        "interval": interval.kind,
    }


def known(value: float) -> float | None:
    """A number as a cell of a table: none where it is none."""
    return value if math.isfinite(value) else None


def _mark(found: Interval | None) -> dict[str, object]:
    """What was published as cells of a table; its interval where one can be told."""
    if found is None:
        return {"published": None, "published_low": None, "published_high": None}
    told = math.isfinite(found.high - found.low)
    return {
        "published": found.estimate,
        "published_low": found.low if told else None,
        "published_high": found.high if told else None,
    }


def _published(data: Data, term: Referred) -> list[dict[str, list[Interval | None]]]:
    """Of each panel and curve, what was published at each level, with its interval."""
    plan = data.evaluator.plan
    found = data.references[term.reference].match(plan, term.column).join(plan.select("run", "cell", "arm"), on="run")
    keys = ["cell", "arm", *(["item"] if "item" in found.columns else [])]
    values = found.select(*keys, published="value", error="error", freedom="freedom").unique(maintain_order=True)
    result: list[dict[str, list[Interval | None]]] = []
    for panel in data.panels():
        curves: dict[str, list[Interval | None]] = {}
        for name, part in data.curves(panel.frame):
            known: list[Interval | None] = []
            for level in data.levels():
                group = part.filter(pl.col(data.places["x"]) == level).join(values, on=keys)
                given: list[tuple[float, float, float]] = group.select("published", "error", "freedom").rows()
                known.append(interval(*given[0]) if given else None)
            curves[name] = known
        result.append(curves)
    return result


def _said(marks: Sequence[Mapping[str, Sequence[Interval | None]]], called: str) -> str:
    """What the crosses are."""
    every = [mark for panel in marks for given in panel.values() for mark in given if mark is not None]
    told = sum(math.isfinite(mark.high - mark.low) for mark in every)
    if not every:
        return ""
    what = "what was published" if called == PUBLISHED else called
    if not told:
        return f"Crosses: {what}."
    others = f", of {told} of {len(every)}" if told < len(every) else ""
    return f"Crosses: {what}, with 95 % t intervals of its means{others}."


KIND = Kind(
    "levels", "what replicates are together, with its interval, over the levels of `x`; a `reference` beside it",
    ("x", "curves", "panels", "rows"), draw, (REFERENCE,), read,
)  # fmt: skip
