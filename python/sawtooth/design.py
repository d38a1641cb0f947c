"""Which values are replicates of one another, and which are not.

A figure gives each dimension of its values a place: a factor of the sweep, the arm, the item, or a column that tells rows apart is its x, its curves
or its panels, or one level of it is chosen. What has no place would be taken together with the replicates, as if it were chance; so it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from sawtooth.recognise import written
from sawtooth.study.written import key_of, text_of

NOT_SET = "as in the scenario"
"""The level of a factor in a cell that leaves it alone."""


class MixedError(Exception):
    """Values that are no replicates of one another would be taken together: of which dimensions, and which levels each has."""

    def __init__(self, levels: Mapping[str, Sequence[str]]) -> None:
        self.levels = levels
        super().__init__(
            f"it would take {' and '.join(_said(name, found) for name, found in levels.items())} together as if they were replicates"
        )


def varying(frame: pl.DataFrame, dimensions: Sequence[str]) -> list[str]:
    """Those of some dimensions that have more than one level."""
    return [name for name in dimensions if name in frame.columns and frame[name].n_unique() > 1]


def require_unmixed(frame: pl.DataFrame, dimensions: Sequence[str], placed: Sequence[str]) -> None:
    """Refuses values that share all of `placed` and are of different cells, arms or items.

    Args:
        frame: with columns cell, arm, item and the dimensions.
        dimensions: all of them.
        placed: those that have a place.

    Raises:
        MixedError: that names what lacks a place.

    """
    if frame.is_empty():
        return
    whole = [name for name in ("cell", *dimensions) if name in frame.columns]
    distinct = frame.select(whole).unique(maintain_order=True)
    keys = [name for name in placed if name in distinct.columns]
    if not keys:
        groups = [distinct]
    else:
        crowded = distinct.group_by(keys, maintain_order=True).len().filter(pl.col("len") > 1)
        if crowded.is_empty():
            return
        groups = [distinct.join(crowded.head(1).select(keys), on=keys, nulls_equal=True)]
    group = groups[0]
    if group.height < 2:
        return
    mixed = [name for name in varying(group, dimensions) if name not in placed] or ["cell"]
    raise MixedError(
        {name: [str(level) if level is not None else NOT_SET for level in group[name].unique(maintain_order=True)] for name in mixed}
    )


def paired(mine: pl.DataFrame, there: pl.DataFrame, on: Sequence[str], runs: pl.DataFrame) -> pl.DataFrame:
    """Each of `mine` beside the value of the other side that is of the same replicate, as `low_other` and `high_other`; null where that run told none.

    An arm may have fewer replicates than others. Pairs are of those that both have; but a side whose runs are all alike is taken to be so in every
    replicate of another that varies, and all of those count.

    Args:
        mine: values, with the columns replicate, low and high; with `arm`, if arms are held against each other.
        there: likewise.
        on: what is equal on both sides, besides the replicate.
        runs: all runs that were planned: arm, replicate.

    """
    first, second = held(mine, there, on, runs), held(there, mine, on, runs)
    other = second.select(*on, "replicate", low_other="low", high_other="high")
    joined = first.join(other, on=[*on, "replicate"], how="left", nulls_equal=True, maintain_order="left")
    made = _made(runs)
    if "arm" not in mine.columns or "arm" in on or there.is_empty() or len({*made.values()}) < 2:
        return joined
    # A replicate that one side was not to have is no pair that is missing.
    least = min(made[arm] for arm in there["arm"].unique())
    both = pl.min_horizontal(pl.lit(least), pl.col("arm").replace_strict(made, return_dtype=pl.Int64))
    return joined.filter(pl.col("low_other").is_not_null() | (pl.col("replicate") <= both))


def held(side: pl.DataFrame, against: pl.DataFrame, on: Sequence[str], runs: pl.DataFrame) -> pl.DataFrame:
    """Values, and where those of an arm with fewer replicates are all alike the same in the others of `against`, if that varies or has no values itself."""
    made = _made(runs)
    if "arm" not in side.columns or len({*made.values()}) < 2:
        return side
    here = [name for name in side.columns if name not in ("run", "replicate", "seed", "low", "high", "value")]
    planned, low, number = pl.col("arm").replace_strict(made, return_dtype=pl.Int64), pl.col("low"), pl.len().alias("number")
    alike = (low == pl.col("high")).fill_null(value=False).all() & (low.n_unique() == 1)
    still = side.group_by(here, maintain_order=True).agg(pl.exclude("replicate").first(), number, alike=alike)
    still = still.filter("alike", pl.col("number") > 1, pl.col("number") == planned).drop("alike", "number")
    if "low" in against.columns:
        keys = [*on, pl.lit(0).alias("all")]
        varying = against.group_by(keys, maintain_order=True).agg(varies=low.n_unique() > 1).filter("varies").drop("varies")
        still = still.with_columns(all=pl.lit(0)).join(varying, on=[*on, "all"], how="semi", nulls_equal=True)
    more = still.join(against.select("replicate").unique(maintain_order=True), how="cross").filter(pl.col("replicate") > planned)
    return pl.concat([side, more.select(side.columns)])


def _made(runs: pl.DataFrame) -> dict[str, int]:
    """How many replicates each arm was to have."""
    return dict(runs.group_by("arm", maintain_order=True).agg(pl.col("replicate").max().cast(pl.Int64)).iter_rows())


def advice(error: MixedError, places: Sequence[str]) -> str:
    """What to add to a figure or finding so that nothing is mixed.

    Args:
        error: what is.
        places: keys that give a dimension a place and are free.

    """
    parts: list[str] = []
    for name, levels in error.levels.items():
        if name == "cell":
            parts.append("the cells differ in nothing that is called by a name; give them factors")
            continue
        level = text_of(levels[0])
        chosen = {"arm": f"arm = {level}", "item": f"of = {level}"}.get(name, f"where = {{ {key_of(name)} = {level} }}")
        place = f"{places[0]} = {text_of(name)}" if places else ""
        parts.append(
            f"add {place}{f' ({_or(places[1:])} will do, too)' if len(places) > 1 else ''}, or {chosen}" if place else f"add {chosen}"
        )
        places = places[1:]
    return "; ".join(parts)


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _said(name: str, levels: Sequence[str]) -> str:
    shown = ", ".join(map(written, levels[:4])) + (", ..." if len(levels) > 4 else "")
    what = {"arm": "arms", "item": "items", "cell": "cells"}.get(name, f"levels of `{name}`")
    return f"{len(levels)} {what} ({shown})"
