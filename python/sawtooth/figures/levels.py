"""`levels`: what replicates are together, with its interval, over the levels of a dimension; beside it what was published, and a second measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from sawtooth import estimates
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import second, shown
from sawtooth.figures.data import Data, Panel
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures.resolve import Referred
from sawtooth.questions import Reader
from sawtooth.recognise import size, written
from sawtooth.references import PUBLISHED, interval
from sawtooth.stats import Interval
from sawtooth.study.keys import Key

REFERENCE = Key(
    "reference",
    '`"REFERENCE.COLUMN"`',
    "none",
    "published values that are shown as crosses beside the points, or as dots if there are many",
)
BOUNDARY = Key("boundary", "quantity", "none", "where among the levels of `x` a vertical line stands, such as the size of a window")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The reference, the second measure, and where a line stands."""
    found = second.read(reader, tree, path)
    if "reference" in tree:
        found["reference"] = shown.beside(reader, tree, path, reader.measure(dict(tree), path))
    if "boundary" in tree:
        # Refused as what it is; then in the units of levels.
        reader.quantity(tree["boundary"], f"{path}.boundary", 'such as boundary = "32 KiB"')
        found["boundary"] = reader.amount(str(tree["boundary"]), f"{path}.boundary", None)
        found["boundary_name"] = written(str(tree["boundary"]))
    return found


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import levels
    from sawtooth.plots.along import is_dense

    divisor, unit = data.unit
    panels = data.panels()
    found = [
        {name: [points[level].estimate if level in points else None for level in data.levels()] for name, points in laid.curves.items()}
        for laid in data.laid()
    ]
    curves = [{name: [point and point.over(divisor) for point in series] for name, series in panel.items()} for panel in found]
    points = [point for panel in curves for series in panel.values() for point in series if point is not None]
    scale, note = shown.scale(data, [value for point in points for value in point.values])
    term = data.spec.options.get("reference")
    published = _published(data, term) if isinstance(term, Referred) else []
    called = data.references[term.reference].called if isinstance(term, Referred) else PUBLISHED
    marks = [{name: [mark and mark.over(divisor) for mark in series] for name, series in panel.items()} for panel in published]
    right, beside = second.measure_of(data), None
    on_the_right: list[dict[str, list[Estimate | None]]] = []
    if right is not None:
        on_the_right = second.points(data, panels, right)
        by, its_unit = data.scaled(right, data.frame.select(low="x_low", high="x_high"))
        scaled = [{name: [point and point.over(by) for point in series] for name, series in panel.items()} for panel in on_the_right]
        beside = levels.Second(scaled, data.label(data.spec.options["second_label"], right, its_unit))
    picture = partial(
        levels.draw, curves, shown.titles(panels), data.levels(), data.curve_names(),
        (data.x_label, data.label(data.spec.label, data.measure, unit)),
        scale=scale, marks=marks, marks_name=called, second=beside, boundary=_boundary(data),
        boundary_name=data.spec.options.get("boundary_name", ""),
    )  # fmt: skip
    every = [*points, *(point for panel in on_the_right for series in panel.values() for point in series if point is not None)]
    return Drawn(
        shown.whole(picture, y=data.spec.several.values() or data.measure, right=right),
        shown.sentences(
            estimates.said(every, data.spec.statistic), note, _said(marks, called, "Dots" if is_dense(data.levels()) else "Crosses"),
            "Dashed, on the right axis: " + (data.spec.options["second_label"] or right.words) + "." if right is not None else "",
            shown.pooling(data),
        ),
        numbers(data, panels, found, published, on_the_right),
    )  # fmt: skip


def _boundary(data: Data) -> float | None:
    """Where among the levels the line stands; between two of them by how far it is from each.

    Raises:
        DatasetError: if the levels are no quantities of its kind, or none is on one side of it.

    """
    if "boundary" not in data.spec.options:
        return None
    at, kind = data.spec.options["boundary"]
    amounts = [size(level) for level in data.levels()]
    known = [each[0] for each in amounts if each is not None and each[1] == kind]
    if len(known) < len(amounts) or known != sorted(known):
        raise DatasetError(f"`boundary` needs levels of `{data.places['x']}` that are quantities of its kind, in order", "leave it out")
    if not known[0] <= at <= known[-1]:
        return None
    after = next(number for number, value in enumerate(known) if value >= at)
    if known[after] == at:
        return float(after)
    return after - 1 + (at - known[after - 1]) / (known[after] - known[after - 1])


def numbers(
    data: Data,
    panels: Sequence[Panel],
    found: Sequence[Mapping[str, Sequence[Estimate | None]]],
    published: Sequence[Mapping[str, Sequence[Interval | None]]] = (),
    beside: Sequence[Mapping[str, Sequence[Estimate | None]]] = (),
) -> pl.DataFrame:
    """The points as rows, in the measure's unit.

    Place, estimate, interval, its method, runs, unfinished ones and what they leave, what was `published`, and what the second measure is (`beside`).
    """
    rows = [
        {**shown.place(data, panel, name), data.places["x"]: level, **row(point), **(_mark(published[at][name][step]) if published else {}),
         **(_beside(beside[at][name][step]) if beside else {})}
        for at, (panel, curves) in enumerate(zip(panels, found, strict=True))
        for name, series in curves.items()
        for step, (level, point) in enumerate(zip(data.levels(), series, strict=True))
        if point is not None
    ]  # fmt: skip
    right = second.measure_of(data) if beside else None
    units = {"unit": data.measure.unit, **({"second_unit": right.unit} if right is not None else {})}
    return shown.in_units(pl.DataFrame(rows, infer_schema_length=None), **units)


def _beside(found: Estimate | None) -> dict[str, object]:
    """The second measure as cells of a table."""
    cells = row(found) if found is not None else {"estimate": None, "low": None, "high": None}
    return {f"second_{name}": cells[name] for name in ("estimate", "low", "high")}


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


def _said(marks: Sequence[Mapping[str, Sequence[Interval | None]]], called: str, signs: str) -> str:
    """What the crosses are, or dots where levels are dense."""
    every = [mark for panel in marks for given in panel.values() for mark in given if mark is not None]
    told = sum(math.isfinite(mark.high - mark.low) for mark in every)
    if not every:
        return ""
    what = "what was published" if called == PUBLISHED else called
    if not told:
        return f"{signs}: {what}."
    others = f", of {told} of {len(every)}" if told < len(every) else ""
    return f"{signs}: {what}, with 95 % t intervals of its means{others}."


KIND = Kind(
    "levels", "what replicates are together, with its interval, over the levels of `x`; beside it a `reference`, and a `second` measure on the right axis",
    ("x", "curves", "panels", "rows"), draw, (REFERENCE, second.SECOND, second.LABEL, BOUNDARY), read,
)  # fmt: skip
