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
