"""`difference`: what arms differ in from one of them, replicate by replicate, with a line where they do not; or their ratio."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from sawtooth.design import paired
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import pairs, shown
from sawtooth.figures.data import Data, named
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.hints import did_you_mean
from sawtooth.questions import Reader
from sawtooth.study.keys import Key

TO = Key("to", "arm", "the first arm", "what the others are held against; with `along` a level of it")
ALONG = Key("along", 'factor, `"arm"` or `"item"`', '`"arm"`', "what differs between the two sides")
FORM = Key("form", '`"difference"`, `"ratio"`', '`"difference"`', "how they are held against it")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The base and the form."""
    given = dict(tree)
    along = reader.one_of(given, "along", path, [*reader.levels, "arm", "item"], "arm")
    known = list(reader.study.arms) if along == "arm" else list(reader.levels.get(along, {}))
    if along != "item" and len(known) < 2:
        raise reader.error("there is nothing that differs: the study has no two arms", path, 'write [arms], or along = "FACTOR"')
    if along in reader.levels:
        to = reader.level(along, given["to"], f"{path}.to") if "to" in given else known[0]
    else:
        to = reader.text(given, "to", path, known[0] if known else None)
        if known and to not in known:
            raise reader.error(f"there is no arm `{to}`", f"{path}.to", did_you_mean(to, known))
    form = reader.one_of(given, "form", path, ("difference", "ratio"), "difference")
    return {"along": along, "to": to, "form": form}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import levels

    along, to, form = (data.spec.options[key] for key in ("along", "to", "form"))
    divisor, unit = (1.0, "") if form == "ratio" else data.unit
    joined = _pairs(data, along, to)
    panels = data.panels()
    x, x_levels = data.places["x"], data.levels()
    curves: list[dict[str, list[Estimate | None]]] = []
    rows: list[dict[str, object]] = []
    for panel in panels:
        here: dict[str, list[Estimate | None]] = {}
        beside = joined.join(panel.frame.select("run", "item"), on=["run", "item"], how="semi")
        for name, part in data.curves(beside):
            series: list[Estimate | None] = []
            for level in x_levels:
                group = part.filter(pl.col(x) == level)
                found = _estimate(group, form) if group.height else None
                series.append(found and found.over(divisor))
                if found is not None:
                    rows.append({**shown.place(data, panel, name), x: level, **pairs.row(found)})
            here[name] = series
        curves.append(here)
    points = [point for panel in curves for series in panel.values() for point in series if point is not None]
    what = data.spec.label or data.measure.words
    base = named(along, to)
    others = data.order(along)
    if len(others) == 1 and along not in (x, data.places.get("panels"), data.places.get("rows")):
        # Neither a legend nor a title says which it is.
        what = f"{what} of {named(along, others[0])}"
    label = f"{what}: ratio to {base}" if form == "ratio" else f"{what}: difference to {base}{f' ({unit})' if unit else ''}"
    scale = data.spec.scale if form == "ratio" else "linear"
    picture = partial(
        levels.draw,
        curves,
        shown.titles(panels),
        x_levels,
        data.curve_names(),
        (data.x_label, label),
        scale=scale,
        line_at=1.0 if form == "ratio" else 0.0,
    )
    return Drawn(
        picture,
        shown.sentences(pairs.said(points, form, to, others[0] if len(others) == 1 else ""), shown.pooling(data)),
        shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit="" if form == "ratio" else data.measure.unit),
    )


def _pairs(data: Data, along: str, to: str) -> pl.DataFrame:
    """Every run with what the base has in the same replicate, other things being equal."""
    if data.base.is_empty():
        raise DatasetError(f"no run is of `{to}`", "it is what the others are held against")
    keys = [name for name in (*data.factors, "arm", "item", *data.spec.view.by, "replicate") if name != along]
    keys = [name for name in dict.fromkeys(keys) if name in data.base.columns]
    return paired(data.frame, data.base, [name for name in keys if name != "replicate"], data.evaluator.dataset.runs)


def _estimate(group: pl.DataFrame, form: str) -> Estimate:
    names = ("low", "high", "low_other", "high_other")
    there = group.drop_nulls(names)
    low, high, low_other, high_other = (there[name].to_numpy() for name in names)
    return pairs.of_pairs((low, high), (low_other, high_other), form, group.height - there.height)


KIND = Kind(
    "difference", "what arms differ in from one of them, or levels of a factor, pair by pair of runs; `form = \"ratio\"` divides",
    ("x", "curves", "panels", "rows"), draw, (TO, ALONG, FORM), read, base_apart=True, statistic=False,
)  # fmt: skip
