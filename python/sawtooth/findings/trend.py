"""`rising` and `falling`: whether a measure goes up or down along a factor, the other factors being equal.

The levels of the other factors, arms and replicates are strata: ranks are compared within each, and no designed cell is resampled. With
`ranks = "cells"` a cell has one rank, that of its mean: single runs scatter, and their ranks correlate less than those of what they have in common. A run that did not
finish has its rank where it took longer than all that did; a stratum in which the order is not known does not count, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.estimates import grouped
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.scales import p_value
from sawtooth.stats import Interval, Vector
from sawtooth.study.keys import Key

ALONG = Key("along", "factor", "needed", "along which it rises or falls, in the order of its levels")
STRATA = Key(
    "strata",
    "true or false",
    "`false`",
    "whether the other factors and arms are strata of one trend, instead of cells that must each show it",
)
RANKS = Key(
    "ranks", '`"runs"`, `"cells"`', '`"runs"`',
    "of what: of single runs, replicate by replicate, or of the `statistic` of each cell's runs",
)  # fmt: skip


def read(reader: Reader, tree: Mapping[str, Any], path: str, _spec: FindingSpec) -> dict[str, Any]:
    """The factor."""
    given = dict(tree)
    along = reader.one_of(given, "along", path, list(reader.levels), None)
    if along in reader.levels and len(reader.levels[along]) < 2:
        raise reader.error(f"`{along}` has one level", f"{path}.along", "a trend needs two")
    return {
        "along": along, "rising": tree["is"] == "rising", "strata": reader.truth(given, "strata", path, default=False),
        "ranks": reader.one_of(given, "ranks", path, ("runs", "cells"), "runs"),
    }  # fmt: skip


def weigh(data: Data) -> list[Evidence]:
    """Of each cell of the other factors, or of all together, whether there is a trend."""
    along, rising = str(data.spec.options["along"]), bool(data.spec.options["rising"])
    order = {level: at for at, level in enumerate(data.frame.sort("cell", maintain_order=True)[along].unique(maintain_order=True))}
    cells = [Cell("", data.frame, data.spoken)] if data.spec.options["strata"] else list(data.groups())
    of_runs = data.spec.options["ranks"] == "runs"
    # All values are of one item.
    keys = [*data.cells, "replicate" if of_runs else "item"]
    what = "" if of_runs else f" of the cells' {data.spec.statistic}s"

    def ranked(frame: pl.DataFrame) -> pl.DataFrame:
        return frame if of_runs else _together(frame, [*keys, along], data.spec.statistic)

    return [
        cell.counted(_evidence(cell.name, ranked(cell.values), keys, along, order, what, rising=rising))
        if cell.values.height
        else cell.untold()
        for cell in cells
    ]


def _together(frame: pl.DataFrame, keys: list[str], statistic: stats.Centre) -> pl.DataFrame:
    """One row for each cell: what its runs are together, at least and at most."""
    made: list[dict[str, object]] = []
    for first, (low, high) in grouped(frame.select(*keys, "low", "high"), keys, ["low", "high"]):
        least, most = stats.centre_between(low, high, statistic)
        # There is no geometric mean of what is not above 0.
        if not math.isnan(least.estimate):
            made.append({**{key: first[key] for key in keys}, "low": least.estimate, "high": most.estimate})
    return pl.DataFrame(made, schema={**dict.fromkeys(keys, pl.String), "low": pl.Float64, "high": pl.Float64})


def _evidence(
    name: str, frame: pl.DataFrame, keys: list[str], along: str, order: Mapping[str, int], what: str, *, rising: bool
) -> Evidence:
    """Of one group, its strata being what `keys` tell apart; `what` has ranks, in words."""
    ranked = frame.with_columns(place=pl.col(along).replace_strict(dict(order), return_dtype=pl.Float64))
    groups = [group for _, group in ranked.group_by(keys, maintain_order=True) if group.height > 1]
    strata = [
        (group["place"].to_numpy(), values)
        for group in groups if (values := _in_order(group["low"].to_numpy(), group["high"].to_numpy())) is not None
    ]  # fmt: skip
    left = len(groups) - len(strata)
    if not strata:
        present = frame[along].unique(maintain_order=True).to_list()
        words = (
            f"the runs have one level of `{along}` only: {written(present[0])}" if len(present) == 1
            else f"in each of {left} strata runs did not finish, so that their order is not known" if left
            else "no stratum has values at two levels"
        )  # fmt: skip
        return Evidence(name, lambda _: False, lambda _: False, words)
    found = stats.trend(strata)
    sign = 1.0 if rising else -1.0

    def shows(level: float) -> bool:
        return sign * found.rho > 0 and found.p <= 1 - level

    def denies(level: float) -> bool:
        return sign * found.rho < 0 and found.p <= 1 - level

    words = f"rank correlation{what} within {found.strata} {'stratum' if found.strata == 1 else 'strata'} {found.rho:+.2f}, {p_value(found.p)} ({found.method})"
    if left:
        words += f"; {left} of {len(groups)} strata do not count, as runs did not finish and their order is not known"
    interval = Interval(found.rho, found.low, found.high, found.n, found.method)
    limits = (0.0, math.inf) if rising else (-math.inf, 0.0)
    return Evidence(name, shows, denies, words, interval, limits, brief=f"rank correlation {found.rho:+.2f}", quantity="rank correlation")


def _in_order(low: Vector, high: Vector) -> Vector | None:
    """Values that stand in the same order as those between these bounds, which are the same of what is known; None if that order is not known."""
    order = np.lexsort((high, low))
    if bool((high[order][:-1] > low[order][1:]).any()):
        return None
    return np.where(np.isfinite(low), low, high)


KIND = Kind(
    ("rising", "falling"),
    "that it goes up, or down, along a factor, the others being equal",
    weigh,
    (ALONG, STRATA, RANKS),
    read,
    spans=("along",),
)
