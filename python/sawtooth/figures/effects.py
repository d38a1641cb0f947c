"""`effects`: what each factor of a full factorial does, and each interaction: its share of the variance, or the means of its levels.

Arms and items are factors like those of the sweep. Replicates are blocks: each is one run of the whole design (`stats.factorial`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from sawtooth import estimates
from sawtooth.counted import counted
from sawtooth.design import varying
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data, Panel
from sawtooth.figures.levels import row
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.questions import Reader
from sawtooth.scales import p_value
from sawtooth.stats.factorial import Factorial, Source, factorial
from sawtooth.study.keys import Key

SHOW = Key(
    "show", '`"shares"`, `"means"`', '`"shares"`', "of `effects`: shares of the variance, or the means of levels and of what interacts"
)
CLEAR = 0.05
"""An effect is told from chance if its adjusted p is below."""
MOST_INTERACTIONS = 3
"""Interactions whose means are drawn: the largest of those that are told from chance."""


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """What is shown."""
    return {"show": reader.one_of(dict(tree), "show", path, ("shares", "means"), "shares")}


def draw(data: Data) -> Drawn:
    """The figure.

    Raises:
        DatasetError: if the runs are no full factorial with replicates, or some did not finish.

    """
    panels, dimensions = data.panels(), dimensions_of(data)
    found = [analysed(panel.frame, dimensions, data.measure.name) for panel in panels]
    return _means(data, panels, found, dimensions) if data.spec.options["show"] == "means" else _shares(data, panels, found)


def dimensions_of(data: Data) -> list[str]:
    """What is varied within a panel: factors, arms and items."""
    return [name for name in varying(data.frame, [*data.factors, "arm", "item"]) if name not in data.places.values()]


def analysed(frame: pl.DataFrame, dimensions: Sequence[str], what: str) -> Factorial:
    """The effects of some dimensions on values of replicates.

    Args:
        frame: of runs: the dimensions, replicate, low, high.
        dimensions: of the design; each of more than one level in it.
        what: is measured, for messages.

    Raises:
        DatasetError: if the runs are no full factorial with replicates, or some did not finish.

    """
    if not dimensions:
        raise DatasetError(f"effects on `{what}` need something that varies", "sweep a factor, or give the study arms")
    open_ = frame.filter(pl.col("low").is_null() | (pl.col("low") != pl.col("high"))).height
    if open_:
        raise DatasetError(
            f"effects on `{what}` need values of all runs: {open_} did not finish it", "choose levels with `where` at which all did"
        )
    if frame["replicate"].n_unique() < 2:
        raise DatasetError(f"effects on `{what}` need replicates: there is one", "write repeat = 5 or more")
    try:
        found = factorial(frame, dimensions, "low")
    except ValueError as error:
        raise DatasetError(
            f"effects on `{what}` need a full factorial: {error}", "choose levels with `where` that were all run with each other"
        ) from None
    if replicates(found) < 2:
        raise DatasetError(f"effects on `{what}` need two replicates of all combinations: there is one", "write repeat = 5 or more")
    if not found.error[0] > 0:
        raise DatasetError(
            f"effects on `{what}` need replicates that differ: nothing in these is chance", "draw the flows' starts ([draws])"
        )
    return found


def _size(found: Factorial) -> int:
    """How many combinations a design has."""
    made = 1
    for source in found.sources:
        if len(source.factors) == 1:
            made *= len(source.effects)
    return made


def replicates(found: Factorial) -> int:
    """How many replicates have all combinations: those that were analysed."""
    return found.runs // _size(found)


def clear(source: Source) -> bool:
    """Whether an effect is told from chance."""
    return source.p_holm < CLEAR


def said(found: Factorial) -> str:
    """How the effects were found, for captions."""
    text = (
        f"A full factorial of {_size(found)} combinations, n = {replicates(found)} replicates as blocks; F tests, p adjusted by Holm for the "
        f"{counted(len(found.sources), 'effect')}. {100 * found.blocks:.3g} % of the variance lies between replicates, {100 * found.error[0]:.3g} % is left to "
        "chance."
    )
    left = len(found.left_out)
    return (
        f"{text} {left} {'replicate lacks' if left == 1 else 'replicates lack'} combinations and {'is' if left == 1 else 'are'} left out."
        if left
        else text
    )


def _shares(data: Data, panels: Sequence[Panel], found: Sequence[Factorial]) -> Drawn:
    from sawtooth.plots import effects

    drawn = [
        [
            effects.Bar(source.name, source.share, clear(source), p_value(source.p_holm))
            for source in sorted(each.sources, key=lambda one: -one.share)
        ]
        for each in found
    ]
    rows = [each.table().with_columns(*(pl.lit(level).alias(name) for name, level in shown.place(data, panel, "").items()))
            for panel, each in zip(panels, found, strict=True)]  # fmt: skip
    picture = partial(effects.shares, drawn, shown.titles(panels), f"share of the variance of {data.spec.label or data.measure.words} (%)")
    text = shown.sentences(
        *dict.fromkeys(said(each) for each in found), "Filled: told from chance.", effects.left_out(drawn), shown.pooling(data)
    )
    return Drawn(picture, text, pl.concat(rows))


def _means(data: Data, panels: Sequence[Panel], found: Sequence[Factorial], dimensions: Sequence[str]) -> Drawn:
    from sawtooth.plots import effects

    if len(panels) > 1:
        raise DatasetError("means of effects have panels of their own", "leave `panels` and `rows` out, and choose with `where`")
    (panel,), (each,) = panels, found
    # A level's mean over replicates that others lack would be one of other combinations, too.
    complete = panel.frame.filter(~pl.col("replicate").is_in(list(each.left_out)))
    divisor, unit = data.unit
    interactions = sorted((one for one in each.sources if len(one.factors) == 2 and clear(one)), key=lambda one: -one.share)[
        :MOST_INTERACTIONS
    ]
    terms = [*((name,) for name in dimensions), *(one.factors for one in interactions)]
    rows: list[dict[str, object]] = []
    drawn: list[effects.Means] = []
    for term in terms:
        x, of = term[0], term[1] if len(term) == 2 else None
        curves: dict[str, list[Estimate | None]] = {}
        for curve in [""] if of is None else data.order(of):
            series: list[Estimate | None] = []
            for level in data.order(x):
                part = complete.filter(pl.col(x) == level, *([pl.col(of) == curve] if of else []))
                point = _marginal(part)
                rows.append({"source": " x ".join(term), "level": level, "with": f"{of} {curve}" if of else "", **row(point)})
                series.append(point.over(divisor))
            curves[curve] = series
        drawn.append(effects.Means(x, of or "", data.order(x), curves))
    picture = partial(effects.means, drawn, data.label(data.spec.label, data.measure, unit))
    points = [point for one in drawn for series in one.curves.values() for point in series if point is not None]
    text = shown.sentences(
        "Means over everything else, from the mean of each replicate.", estimates.said(points, "mean", "replicates"), said(each),
        "Beside the factors: what interacts beyond chance." if interactions else "No two factors interact beyond chance.", shown.pooling(data),
    )  # fmt: skip
    return Drawn(picture, text, shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=data.measure.unit))


def _marginal(frame: pl.DataFrame) -> Estimate:
    """The mean over all that a frame has, one value per replicate."""
    each = frame.group_by("replicate", maintain_order=True).agg(pl.col("low").mean()).sort("replicate")
    return estimates.of_frame(each.with_columns(high="low"), "mean")


KIND = Kind(
    "effects", "main effects and interactions of a full factorial: shares of the variance, or means", ("panels", "rows"), draw, (SHOW,), read,
    each_run=True, statistic=False, scale=False,
)  # fmt: skip
