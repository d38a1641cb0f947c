"""`paired`: what each replicate has in two arms, or for two items, joined by a line; beside it the mean difference with its interval.

The differences share the scale of the values: 0 of theirs is at the mean of the base (Gardner and Altman, British Medical Journal 292, 1986).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sawtooth import estimates, stats
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.levels import row
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
        sides = {level: panel.frame.filter((pl.col(along) == level) & pl.col("low").is_not_null()) for level in levels}
        numbers = sorted({number for side in sides.values() for number in side["replicate"]})
        low, high = (_table(list(sides.values()), numbers, column) for column in ("low", "high"))
        found: list[Estimate] = []
        for at in range(1, len(levels)):
            found.append(_estimate(low[[0, at]], high[[0, at]], form))
            rows.append({**shown.place(data, panel, ""), along: levels[at], "to": to, **row(found[-1])})
        scale = 1.0 if form == "ratio" else divisor
        drawn.append(replicates.Pairs(low / divisor, high > low, [_scaled(each, scale) for each in found]))
    label = data.label(data.spec.label, data.measure, unit)
    beside = f"ratio to {to}" if form == "ratio" else f"difference to {to}{f' ({unit})' if unit else ''}"
    made = replicates.pairs(drawn, shown.titles(panels), levels, (data.spec.x_label, label, beside), ratio=form == "ratio")
    every = [each for pairs in drawn for each in pairs.against]
    return Drawn(made, shown.sentences(_said(every, form, to), shown.pooling(data)), pl.DataFrame(rows, infer_schema_length=None))


def _table(sides: list[pl.DataFrame], replicates: list[int], column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values, shape (levels, replicates), not a number where there is no run."""
    table = np.full((len(sides), len(replicates)), np.nan)
    place = {number: at for at, number in enumerate(replicates)}
    for at, side in enumerate(sides):
        for number, value in side.select("replicate", column).iter_rows():
            table[at, place[number]] = value
    return table


def _estimate(low: np.ndarray[Any, Any], high: np.ndarray[Any, Any], form: str) -> Estimate:
    """What the second side has more than the first, of pairs that are known."""
    there = ~np.isnan(low).any(axis=0)
    known = there & (low == high).all(axis=0)
    unfinished = int(there.sum() - known.sum())
    if not known.any():
        return Estimate(stats.Interval(np.nan, -np.inf, np.inf, 0, "no pair of runs is known"), int(there.sum()), unfinished)
    found = stats.ratio(low[1][known], low[0][known]) if form == "ratio" else stats.difference(low[1][known], low[0][known])
    if unfinished:
        # Those that finished are no fair choice of all, and the interval is of them only.
        found = replace(found, kind=f"{found.kind}, of {int(known.sum())} of {int(there.sum())} pairs that finished")
    return Estimate(found, int(there.sum()), unfinished)


def _scaled(found: Estimate, divisor: float) -> Estimate:
    interval = found.interval
    scaled = stats.Interval(interval.estimate / divisor, interval.low / divisor, interval.high / divisor, interval.n, interval.kind)
    return Estimate(scaled, found.n, found.unfinished)


def _said(found: list[Estimate], form: str, to: str) -> str:
    held = f"Ratio of means, divided by `{to}`" if form == "ratio" else f"Mean difference, less `{to}`"
    text = f"A line is one replicate; n = {estimates.number({each.n for each in found})} pairs of runs. At the right: {held[0].lower()}{held[1:]}{estimates.intervals(found)}."
    unfinished = sum(each.unfinished for each in found)
    if unfinished:
        text += f" Arrows: {unfinished} of {sum(each.n for each in found)} pairs have a run that did not finish, and are not in the {form}."
    return text


KIND = Kind(
    "paired", "what each replicate has in two arms, or for two items, as a line, and the mean difference, or ratio, with its interval beside",
    ("panels", "rows"), draw, (TO, ALONG, FORM), read, fixed, statistic=False, scale=False,
)  # fmt: skip
