"""Where the dimensions of a figure's values go: as the study says, and where it says nothing as most would have it.

What has several levels and no place is refused (`sawtooth.design`), both when the study is planned, of the items that its runs will have, and
when the figure is drawn, of those that they had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sawtooth.design import require_unmixed, varying
from sawtooth.figures.spec import FigureSpec, Kind
from sawtooth.measures.blocks import block

MEASURE = "measure"
"""The dimension that tells several measures of one figure apart."""
ORDER = ("x", "y", "parts", "curves", "panels", "rows")
"""Places, in the order in which they are told."""


def placed(spec: FigureSpec, kind: Kind, frame: pl.DataFrame, factors: Sequence[str]) -> dict[str, str]:
    """Place to dimension.

    Args:
        spec: the figure.
        kind: of which kind.
        frame: its values, or those that are expected: cell, factors, arm, item and the columns that tell rows apart.
        factors: of the study, in the order of its sweep.

    Raises:
        MixedError: if something has no place.

    """
    dimensions = [*factors, "arm", "item", *(name for name in spec.view.by if name not in factors), *([MEASURE] if spec.several else [])]
    places = {**kind.fixed(spec.options), **spec.places}

    def free() -> list[str]:
        return [name for name in varying(frame, dimensions) if name not in places.values()]

    if "parts" in kind.places and "parts" not in places:
        order = [name for name in (MEASURE, "item", "arm") if name in free()] or free()
        places["parts"] = next(iter(order), MEASURE if spec.several else "item")
    if "x" in kind.places and "x" not in places:
        swept = [name for name in free() if name in factors]
        order = [*reversed(swept), *(name for name in free() if name not in factors)]
        places["x"] = next(iter(order), next((name for name in (*reversed(factors), "arm", "item") if name not in places.values()), "item"))
    if "y" in kind.places and "y" not in places:
        swept = [name for name in free() if name in factors]
        unswept = [name for name in ("item", "arm", *free()) if name in free() and name not in factors] or [
            name for name in ("item", "arm") if name not in places.values()
        ]
        order = [*unswept, *reversed(swept)] if kind.samples else [*reversed(swept), *unswept]
        places["y"] = next(iter(order))
    if "curves" in kind.places and "curves" not in places:
        others = [name for name in free() if not (kind.along and name in factors)]
        order = [name for name in ("arm", "item") if name in others] or others
        places["curves"] = next(iter(order), next((name for name in ("item", "arm", *factors) if name not in places.values()), "item"))
    if not kind.each_run:
        # Runs that tell nothing are not drawn, and so they are not mixed with others; before anything was run nobody knows which.
        drawn = frame.filter(pl.col("low").is_not_null()) if "low" in frame.columns else frame
        require_unmixed(drawn, dimensions, list(dict.fromkeys(places.values())))
    return {name: places[name] for name in ORDER if name in places}


def without_base(spec: FigureSpec, kind: Kind, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The values that a kind shows, and those of the base that they are held against."""
    if not kind.base_apart or spec.base is None:
        return frame, frame.clear()
    along, to = spec.base
    of_base = (pl.col(along) == to) | (block(pl.col("item")) == to) if along == "item" else pl.col(along) == to
    return frame.filter(~of_base), frame.filter(of_base)


def unused(kind: Kind, places: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """Places that a kind has and that are free."""
    return [
        name
        for name in ("panels", "rows", "curves", "y", "x", "parts")
        if name in kind.places and name not in {**kind.fixed(options), **places}
    ]
