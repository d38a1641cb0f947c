"""`latency_under_load`: percentiles of a delay beside each other, over levels of load, and dashed what they are without it."""

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
from sawtooth.figures.places import MEASURE
from sawtooth.figures.several import PERCENTILES
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.hints import did_you_mean
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key

BASE = Key(
    "base", "level of `x`, or time", "none", "what it is without load: a level that is drawn as dashed lines, or a delay that is known"
)


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The base."""
    if "base" not in tree:
        return {}
    base, x = tree["base"], reader.text(dict(tree), "x", path, "")
    factors = [x] if x in reader.levels else [] if x == "arm" else list(reader.levels)
    arms = [] if x in reader.levels else list(reader.study.arms)
    same = [*(arm for arm in arms if arm == base), *(level for factor in factors for level in reader.same(factor, base))]
    if same:
        return {"base": same[0]}
    own = [*arms, *(written(level) for factor in factors for level in reader.levels[factor])]
    if isinstance(base, str) and not base[:1].isdigit():
        raise reader.error(f"`{x or 'x'}` has no level `{base}`, and it is no time", f"{path}.base", did_you_mean(base, own))
    return {"base_ns": reader.time(base, f"{path}.base", f'a level, or a time such as "5 ms"; {did_you_mean("", own)}')}


def fixed(_options: Mapping[str, Any]) -> dict[str, str]:
    """Percentiles are beside each other."""
    return {"curves": MEASURE}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import levels as plot

    divisor, unit = data.unit
    x, names = data.places["x"], list(data.spec.several)
    base = data.spec.options.get("base")
    levels = data.levels()
    if base is not None and base not in levels:
        raise DatasetError(f"no run is of `{base}`", f"`{x}` has {', '.join(levels)}")
    levels = [level for level in levels if level != base]
    panels = data.panels()
    rows: list[dict[str, object]] = []
    curves: list[dict[str, list[Estimate | None]]] = []
    lines: list[dict[str, float]] = []
    for panel in panels:
        here: dict[str, list[Estimate | None]] = {}
        dashed: dict[str, float] = {}
        for name in names:
            part = panel.frame.filter(pl.col(MEASURE) == name)
            found = {level: data.estimate(part.filter(pl.col(x) == level)) for level in ([base] if base is not None else []) + levels}
            without = found[base] if base is not None else None
            given = data.spec.options.get("base_ns")
            unloaded = given if given is not None else without.interval.estimate if without is not None else None
            if unloaded is not None and np.isfinite(unloaded):
                dashed[name] = unloaded / divisor
            here[name] = [(point := found[level]) and point.over(divisor) for level in levels]
            for level, point in found.items():
                if point is not None:
                    above = {} if unloaded is None else {"base": unloaded, "added": point.interval.estimate - unloaded}
                    rows.append({**shown.place(data, panel, ""), x: level, MEASURE: name, **row(point), **above})
        curves.append(here)
        lines.append(dashed)
    points = [point for panel in curves for series in panel.values() for point in series if point is not None]
    scale, note = shown.scale(data, [point.interval.estimate for point in points])
    words = data.spec.label or data.measure.words.partition("(")[2].rstrip(")").rpartition(".")[2].removesuffix("_ns").replace("_", " ")
    picture = partial(
        plot.draw, curves, shown.titles(panels), levels, names, (data.x_label, f"{words}{f' ({unit})' if unit else ''}"),
        scale=scale, dashed=lines, joined=False,
    )  # fmt: skip
    without_load = f"Dashed: `{base}`." if base is not None else "Dashed: the delay without load." if "base_ns" in data.spec.options else ""
    # Each run has several percentiles.
    each = data.frame.group_by("run", "item", maintain_order=True).agg(
        (pl.col("low") != pl.col("high")).any().alias("open"), pl.col("low").is_null().any().alias("none")
    )
    counts = each.height, int(each["open"].sum()), int(each["none"].sum())
    text = shown.sentences(
        f"{_list(names)} within each run.",
        estimates.said(points, data.spec.statistic, counted=counts),
        without_load,
        note,
        data.spec.view.rows.words,
    )
    return Drawn(picture, text, shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=data.measure.unit))


def _list(names: list[str]) -> str:
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return text[0].upper() + text[1:]


KIND = Kind(
    "latency_under_load", "percentiles of what rows have, such as `datagrams.delay_ns`, beside each other over levels of load, against what they are without",
    ("x", "panels", "rows"), draw, (PERCENTILES, BASE), read, fixed, percentiles=True,
)  # fmt: skip
