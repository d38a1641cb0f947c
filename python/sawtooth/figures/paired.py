"""`paired`: what each replicate has in two arms, or for two items, joined by a line; beside it the mean difference with its interval.

The differences share the scale of the values: 0 of theirs is at the mean of the base (Gardner and Altman, British Medical Journal 292, 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from sawtooth.design import paired
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import pairs, shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.hints import did_you_mean
from sawtooth.questions import Reader
from sawtooth.study.keys import Key

TO = Key("to", "arm, or item", "the first", "of `paired`: what the others are held against")
ALONG = Key("along", '`"arm"`, `"item"`', '`"arm"`', "of `paired`: what differs between the two sides")
FORM = Key("form", '`"difference"`, `"ratio"`', '`"difference"`', "how they are held against it")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The base and the form."""
    given = dict(tree)
    along = reader.text(given, "along", path, "arm")
    if along in reader.levels:
        raise reader.error(
            f"levels of `{along}` are no pairs",
            f"{path}.along",
            "only arms and items of a run share its draws; take difference, levels or box",
        )
    reader.one_of(given, "along", path, ("arm", "item"), "arm")
    known = list(reader.study.arms)
    if along == "arm" and len(known) < 2:
        raise reader.error("there is nothing that differs: the study has no two arms", path, 'write [arms], or along = "item"')
    to = reader.text(given, "to", path, "")
    if along == "arm" and to and to not in known:
        raise reader.error(f"there is no arm `{to}`", f"{path}.to", did_you_mean(to, known))
    return {"along": along, "to": to, "form": reader.one_of(given, "form", path, ("difference", "ratio"), "difference")}


def fixed(options: Mapping[str, Any]) -> dict[str, str]:
    """The horizontal axis is what differs."""
    return {"x": str(options["along"])}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import replicates

    along, form = data.spec.options["along"], data.spec.options["form"]
    levels = data.order(along)
    to = data.spec.options["to"] or levels[0]
    if to not in levels or len(levels) < 2:
        raise DatasetError(f"there is nothing to hold against `{to}`", f"the runs have {', '.join(levels)} only")
    levels = [to, *(level for level in levels if level != to)]
    divisor, unit = data.unit
    panels = data.panels()
    drawn: list[replicates.Pairs] = []
    rows: list[dict[str, object]] = []
    for panel in panels:
        known, runs = panel.frame.filter(pl.col("low").is_not_null()), data.evaluator.dataset.runs
        of = {level: known.filter(pl.col(along) == level) for level in levels}
        numbers = sorted(known["replicate"].unique())
        low, high = (_table(list(of.values()), numbers, column) for column in ("low", "high"))
        found: list[Estimate] = []
        for level in levels[1:]:
            joined, back = paired(of[level], of[to], (), runs), paired(of[to], of[level], (), runs)
            told = joined.drop_nulls("low_other")
            sides = [(told[f"low{side}"].to_numpy(), told[f"high{side}"].to_numpy()) for side in ("", "_other")]
            lacking = joined["low_other"].null_count() + back["low_other"].null_count()
            found.append(pairs.of_pairs(sides[0], sides[1], form, lacking))
            rows.append({**shown.place(data, panel, ""), along: level, "to": to, **pairs.row(found[-1])})
        scale = 1.0 if form == "ratio" else divisor
        drawn.append(replicates.Pairs(low / divisor, high / divisor, [each.over(scale) for each in found]))
    label = data.label(data.spec.label, data.measure, unit)
    beside = f"ratio to {to}" if form == "ratio" else f"difference to {to}{f' ({unit})' if unit else ''}"
    picture = partial(replicates.pairs, drawn, shown.titles(panels), levels, (data.spec.x_label, label, beside), ratio=form == "ratio")
    every = [each for one in drawn for each in one.against]
    zero = f"{'1' if form == 'ratio' else '0'} is at the bound that there is of the mean of `{to}`, where a run of it did not finish."
    said = pairs.said(every, form, to)
    text = shown.sentences(
        f"A line is one replicate. At the right: {said[0].lower()}{said[1:]}",
        zero if any((one.least[0] < one.most[0]).any() for one in drawn) else "",
        shown.pooling(data),
    )
    return Drawn(
        picture, text, shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit="" if form == "ratio" else data.measure.unit)
    )


def _table(sides: list[pl.DataFrame], replicates: list[int], column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values, shape (levels, replicates), not a number where there is no run."""
    table = np.full((len(sides), len(replicates)), np.nan)
    place = {number: at for at, number in enumerate(replicates)}
    for at, side in enumerate(sides):
        for number, value in side.select("replicate", column).iter_rows():
            table[at, place[number]] = value
    return table


KIND = Kind(
    "paired", "what each replicate has in two arms, or for two items, as a line, and the mean difference, or ratio, with its interval beside",
    ("panels", "rows"), draw, (TO, ALONG, FORM), read, fixed, statistic=False, scale=False,
)  # fmt: skip
