"""`shares`: what a whole consists of, stacked, over levels: several items of one measure, or several measures.

Of each run there are shares; what is stacked are their means. Where the whole is a measure of its own, what the parts leave of it is there, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from sawtooth import estimates
from sawtooth.errors import DatasetError
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.levels import row
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures import Asked, Measure
from sawtooth.measures import unit as unit_of
from sawtooth.questions import Reader
from sawtooth.stats import Interval, Vector
from sawtooth.study.keys import Key

WHOLE = Key("whole", "[measure](measures.md)", "the sum of the parts", "what the parts are shares of, such as `lifetime_ns`")
OTHER = "other"
"""What the parts leave of the whole."""


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The whole."""
    if "whole" not in tree:
        return {}
    whole = reader.measure(dict(tree), path, "whole")
    return {"whole": whole}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import shares
    from sawtooth.plots.along import is_dense

    x, parts = data.places["x"], data.places["parts"]
    names, levels = data.order(parts), data.levels()
    whole = _whole(data)
    panels = data.panels()
    rows: list[dict[str, object]] = []
    stacks: list[list[shares.Stack | None]] = []
    for panel in panels:
        line: list[shares.Stack | None] = []
        for level in levels:
            group = panel.frame.filter(pl.col(x) == level)
            found = _shares(group, parts, names, whole) if group.height else None
            line.append(None if found is None else shares.Stack(found, any(part.bound for part in found)))
            for name, part in zip(names, found or (), strict=False):
                rows.append({**shown.place(data, panel, ""), x: level, parts: name, **row(part)})
        stacks.append(line)
    every = [stack for line in stacks for stack in line if stack is not None]
    if not any(np.isfinite(part.interval.estimate) for stack in every for part in stack.parts):
        raise DatasetError(f"no run tells what `{data.measure.name}` is a share of", "the whole is 0 in all of them")
    of = whole_words(data)
    picture = partial(
        shares.bars, stacks, shown.titles(panels), levels, names, (data.x_label, data.spec.label or f"share of {of}"), other=OTHER if "whole" in data.spec.options else "",
    )  # fmt: skip
    said = estimates.said([part for stack in every for part in stack.parts], "mean")
    said = said.replace("Means of ", "Mean shares of ", 1).partition(" Arrows: ")[0]
    lines = (
        "Lines: the interval of each part's own share, at its upper end."
        if any(part.n > 1 and max(part.interval.reach()) > 0 for stack in every for part in stack.parts) and not is_dense(levels)
        else ""
    )
    return Drawn(
        picture,
        shown.sentences(said, lines, _unfinished(every), shown.pooling(data)),
        shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=""),
    )


def whole_words(data: Data) -> str:
    """What the parts are shares of."""
    whole = data.spec.options.get("whole")
    if isinstance(whole, Measure):
        return whole.words if _each(data, whole) else f"{whole.words} of all"
    return "the sum of all parts" if data.spec.several else f"{data.measure.words} of all"


def _whole(data: Data) -> pl.DataFrame | None:
    """The whole of each run, and of each item if it is of items: run, item, whole_low, whole_high; None if it is the sum of the parts."""
    whole = data.spec.options.get("whole")
    if whole is None:
        return None
    assert isinstance(whole, Measure)
    if unit_of(whole).powers != unit_of(data.measure).powers:
        raise DatasetError(
            f"`{data.measure.name}` is no share of `{whole.name}`",
            f"one is in {data.measure.unit or 'plain numbers'}, the other in {whole.unit or 'plain numbers'}",
        )
    found = data.evaluator.observe(Asked(whole, data.spec.view))
    keys = ["run", "item"] if _each(data, whole) else ["run"]
    return found.group_by(keys, maintain_order=True).agg(whole_low=pl.col("low").sum(), whole_high=pl.col("high").sum())


def _each(data: Data, whole: Measure) -> bool:
    """Whether every item has a whole of its own."""
    return whole.kind == data.measure.kind and data.places["parts"] != "item"


def _shares(group: pl.DataFrame, parts: str, names: list[str], whole: pl.DataFrame | None) -> list[Estimate]:
    """The share of each part, in order: the mean of the runs'."""
    runs = group["run"].unique(maintain_order=True).to_list()
    low, high = np.zeros((len(names), len(runs))), np.zeros((len(names), len(runs)))
    unknown = np.zeros(len(runs), dtype=bool)
    place = {name: at for at, name in enumerate(names)}, {run: at for at, run in enumerate(runs)}
    for entry in group.select(parts, "run", "low", "high").iter_rows():
        name, run, least, most = entry
        if least is None:
            unknown[place[1][run]] = True
            continue
        low[place[0][name], place[1][run]] += least
        high[place[0][name], place[1][run]] += most
    if whole is None:
        of = None
    else:
        joined = group.unique(["run", "item"], maintain_order=True).join(whole, on=[key for key in ("run", "item") if key in whole.columns])
        known = joined.group_by("run", maintain_order=True).agg(pl.col("whole_low", "whole_high").first())
        by_run = {run: (least, most) for run, least, most in known.iter_rows()}
        of = np.array([by_run.get(run, (np.nan, np.nan)) for run in runs]).T
    found: list[Estimate] = []
    for at in range(len(names)):
        others = [each for each in range(len(names)) if each != at]
        least, most = _bounds(low[at], high[at], low[others].sum(axis=0), high[others].sum(axis=0), of)
        told = ~unknown & np.isfinite(least)
        found.append(_mean(least[told], most[told], int((~told).sum())))
    return found


def _bounds(low: Vector, high: Vector, others_low: Vector, others_high: Vector, whole: Vector | None) -> tuple[Vector, Vector]:
    """The least and the most that a part's share may be, of each run: shape (n,) each; not a number where the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if whole is not None:
            least, most = low / whole[1], high / whole[0]
        else:
            least = np.where(np.isfinite(others_high), low / (low + others_high), 0.0)
            most = np.where(np.isfinite(high), high / (high + others_low), 1.0)
            # What is known is one number, whichever way it is worked out.
            exact = (low == high) & (others_low == others_high)
            most = np.where(exact, least, most)
    return least, most


def _mean(least: Vector, most: Vector, unknown: int) -> Estimate:
    if not least.size:
        return Estimate(Interval(np.nan, -np.inf, np.inf, 0, "no run tells it"), unknown, 0, unknown)
    return estimates.of_bounds(least, most, "mean", unknown).within(0.0, 1.0)


def _unfinished(stacks: list[Any]) -> str:
    """What is said of shares that are only bounds."""
    bounded = sum(stack.bounded for stack in stacks)
    if not bounded:
        return ""
    return f"Hatched: what is not known of {bounded} of {len(stacks)} bars, in which runs did not finish; their parts are at least as large as drawn."


KIND = Kind(
    "shares", "what a whole consists of, stacked over the levels of `x`: `parts` are items of one measure, or several measures of a `whole`",
    ("x", "parts", "panels", "rows"), draw, (WHOLE,), read, several=True, flows="sum", statistic=False, scale=False,
)  # fmt: skip
