"""`above`, `below`, `at least`, `at most` and `within`: a measure against a quantity, or against what it is elsewhere, replicate by replicate.

`at least` is the claim of what is equal, too, such as of two arms that do the same where nothing is lost; `above` is not shown by it.

`within` is equivalence: two one-sided tests (Schuirmann 1987), so that it is shown only by data that could have shown the contrary.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.findings import bounded, power
from sawtooth.findings.average import averaged
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.direction import ROUNDING, Bounds, difference, differences, direction
from sawtooth.findings.spec import THAN, FindingSpec, Kind
from sawtooth.findings.verdict import DIFFERENCE, Evidence
from sawtooth.questions import Choice, Reader
from sawtooth.scales import p_value
from sawtooth.stats import Interval, Vector
from sawtooth.study.keys import Key, names

THAN_KEY = Key("than", "quantity, or [table](#than)", "needed", "what it is held against")
_SUCH = 'such as than = "9 Mbit/s", or than = { arm = "reno" }'
MARGIN = Key("margin", 'share such as `"5 %"`, or quantity', "needed", "how far it may be away, on either side")


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """What it is held against."""
    found = against(reader, tree, path, spec)
    return {**found, "below": tree["is"] in ("below", "at most"), "equal": tree["is"] in ("at least", "at most")}


def read_within(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """What it is held against, and how far it may be away."""
    return {**against(reader, tree, path, spec), **read_margin(reader, tree, path, spec)}


def read_margin(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, float]:
    """How far it may be away: a share, `relative`, or in the unit of the measure, `absolute`."""
    assert spec.measure is not None
    if "margin" not in tree:
        raise reader.error(f"`{spec.kind}` needs a margin", path, 'such as margin = "5 %"')
    place = f"{path}.margin"
    value, unit = reader.quantity(tree["margin"], place, 'such as margin = "5 %"')
    if value <= 0:
        raise reader.error("a margin is above 0", place, 'such as margin = "5 %"')
    if unit.plain and spec.measure.unit:
        return {"relative": reader.share(tree["margin"], place, "margin")}
    return {"absolute": reader.in_unit(tree["margin"], spec.measure, place)}


def against(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """A bound, or the other side and what it is multiplied by."""
    assert spec.measure is not None
    than = tree.get("than")
    if isinstance(than, dict):
        where = f"{path}.than"
        other = cast(dict[str, Any], than)
        reader.known(other, names(THAN), where)
        times = reader.number(other, "times", where, 1.0)
        stated, side = reader.choice(other, where, [spec.measure]), spec.choice
        # What the other side does not say is as on the first.
        kept = tuple(each for each in side.relations if not {each.factor, each.other} & {*stated.where})
        full = Choice(
            stated.of or side.of, stated.arms or side.arms, {**side.where, **stated.where}, tuple(dict.fromkeys([*kept, *stated.relations]))
        )
        if full.arms and not side.arms:
            raise reader.error("the finding compares with an arm and names none itself", path, 'add arm = "..." above `than`')
        if full == side:
            raise reader.error("both sides of the finding are the same", where, "name another arm, item or level")
        return {"other": full, "times": times}
    if than is None or isinstance(than, bool | list):
        raise reader.error("a finding needs `than`: a quantity, or a table that names the other side", f"{path}.than", _SUCH)
    side = next((key for key, known in (("arm", reader.context.arms), ("of", spec.choice.of)) if than in known), None)
    return {"bound": reader.in_unit(than, spec.measure, f"{path}.than", f'write than = {{ {side} = "{than}" }}' if side else None)}


def weigh(data: Data) -> list[Evidence]:
    """Of each cell, whether its values are beyond the bound or the other side."""
    below = bool(data.spec.options["below"])
    return _each(data, lambda name, first, second: _cell(name, first, second, data, below=below, options=data.spec.options))


def weigh_within(data: Data) -> list[Evidence]:
    """Of each cell, whether its values are within the margin."""
    return _each(data, lambda name, first, second: _within(name, first, second, data))


def one(name: str, mine: pl.DataFrame, there: pl.DataFrame | None, data: Data, *, below: bool, paired: bool = False) -> Evidence | None:
    """The evidence of one comparison that is a part of another claim; None if no replicate has both sides.

    Args:
        name: of the part.
        mine: the values of the one side.
        there: those of the other; None where a bound is the other.
        data: of the finding.
        below: whether the first is to be below the second.
        paired: whether both are of one cell, and are held against each other as they are.

    """
    first = (mine["low"].to_numpy(), mine["high"].to_numpy())
    if there is None:
        return _cell(name, first, None, data, below=below, options=data.spec.options) if mine.height else None
    joined = data.beside(mine, there) if paired else data.pairs(mine, there)
    if not joined.height:
        return None
    first, second = ((joined[f"low{of}"].to_numpy(), joined[f"high{of}"].to_numpy()) for of in ("", "_other"))
    return _cell(name, first, second, data, below=below, options={"times": 1.0, **data.spec.options})


def near(name: str, mine: pl.DataFrame, there: pl.DataFrame, data: Data) -> Evidence:
    """Whether one side is within the margin of the other, of the replicates that both have, as a part of another claim."""
    joined = mine.join(there.select("replicate", low_other="low", high_other="high"), on="replicate", maintain_order="left")
    return _within(name, _bounds(joined, ""), _bounds(joined, "_other"), data)


def _each(data: Data, one: Callable[[str, Bounds, Bounds | None], Evidence]) -> list[Evidence]:
    """The evidence of each cell, from the values of both sides, replicate by replicate; there are none of the other side where a bound is."""
    cells, why = _sides(data), "no replicate has values of both sides" if data.spec.options.get("other") is not None else ""
    if data.spec.wanted.average and cells:
        empty = [cell.name for cell in cells if cell.values.is_empty()]
        why = f"{len(empty)} of {len(cells)} cells have no value ({empty[0]})" if empty else "no replicate has a value in every cell"
        cells = [averaged(cells, data.spec.statistic)]
    return [
        cell.counted(one(cell.name, _bounds(cell.values, ""), _bounds(cell.values, "_other") if data.spec.options.get("other") is not None else None))
        if cell.values.height else cell.untold(why)
        for cell in cells
    ]  # fmt: skip


def _sides(data: Data) -> list[Cell]:
    """Each cell, or each of its comparisons, with the values of a replicate in a row: low, high, and those of the other side if there is one."""
    other = data.spec.options.get("other")
    if other is None:
        # Not by `select`, which plans a query for each of hundreds of cells.
        return [replace(cell, values=cell.values[["replicate", "low", "high"]]) for cell in data.groups()]
    there = [(level, data.paired_groups(side)) for level, side in data.apart(other)]
    return [
        replace(cell, name=", ".join(part for part in (cell.name, level and f"against {level}") if part), values=pairs(cell))
        for cell in data.groups() for level, pairs in there
    ]  # fmt: skip


def _bounds(frame: pl.DataFrame, of: str) -> Bounds:
    return frame[f"low{of}"].to_numpy(), frame[f"high{of}"].to_numpy()


def _possible(interval: Interval, second: Bounds | None, data: Data, options: Mapping[str, Any]) -> Interval:
    """An interval of what a measure is above a bound, as it is shown: nothing that the measure cannot be. It decides nothing."""
    if second is not None:
        return interval
    bound = float(options["bound"])
    return interval.within(*(end - bound for end in data.measure.within(data.spec.view.flows)))


def _cell(name: str, first: Bounds, second: Bounds | None, data: Data, *, below: bool, options: Mapping[str, Any]) -> Evidence:
    found = direction(first, second, options, data.spec.statistic, below=below)
    least, most = found.reach(0.95)
    clear = found.shows(0.95) or found.denies(0.95)
    doubt = "" if clear else bounded.unfinished(first, second) or power.words(
        differences(first, second, options), data, bounded=np.isfinite(most.high - least.low)
    )  # fmt: skip
    least, most = (_possible(each, second, data, options) for each in (least, most))
    limits = (-math.inf, 0.0) if below else (0.0, math.inf)
    text = bounded.words(first, second, data, (least, most), options)
    if found.p_shown is not None:
        text += _by_signs(
            found.p_shown, ("not above" if below else "not below") if options.get("equal") else "below" if below else "above", len(first[0])
        )
    elif found.p_denied is not None:
        text += _by_signs(found.p_denied, "above" if below else "below", len(first[0]))
    return Evidence(
        name,
        found.shows,
        found.denies,
        text,
        bounded.between(least, most),
        limits,
        data.measure.unit,
        doubt,
        quantity=_apart(options),
        read_in=data.unit,
        sides=bounded.sides(first, second, data, options),
    )


def _apart(options: Mapping[str, Any]) -> str:
    """What the interval is of, where the other side is taken several times, too."""
    times = float(options.get("times", 1.0))
    return DIFFERENCE if times == 1 else f"value less {times:g} times the other's"


def _by_signs(p: float, side: str, n: int) -> str:
    return f"; all {n} runs are {side}: sign test, {p_value(p)}, of the direction of a typical run, not of how large the mean is"


def _within(name: str, first: Bounds, second: Bounds | None, data: Data) -> Evidence:
    options, statistic = data.spec.options, data.spec.statistic
    middle = float(options["bound"]) if second is None else float(options["times"]) * float(np.mean(second[0]))
    margin = float(options["absolute"]) if "absolute" in options else abs(middle) * float(options["relative"])

    @functools.cache
    def sides(level: float) -> tuple[tuple[Interval, Interval], tuple[Interval, Interval]]:
        """What it is above the lower limit, at least and at most, and above the upper one."""
        if second is not None and "relative" in options:
            # The limits are shares of the other side, replicate by replicate (Sasabuchi, Biometrika 67, 1980).
            share = float(options["relative"])
            times = [float(options["times"]) * factor for factor in (1 - share, 1 + share)]
            ends = (first[0], second[1]), (first[1], second[0])
            ratios = [(ratio, float(other.mean())) for mine, other in ends if (ratio := _one_ratio(mine, other)) is not None]
            if len(ratios) == len(ends):
                # So is what it is of them in every run: no chance in that, however the runs differ, as where the difference is always the same.
                low, high = (tuple(stats.unvaried((ratio - each) * mean, len(first[0]), level) for ratio, mean in ratios) for each in times)
                return (low[0], low[1]), (high[0], high[1])
            low, high = (difference(first, second, {**options, "times": each}, statistic, level) for each in times)
            return low, high
        least, most = difference(first, second, options, statistic, level)
        return (least.less(-margin), most.less(-margin)), (least.less(margin), most.less(margin))

    def shows(level: float) -> bool:
        # Two one-sided tests at a are intervals of 1 - 2 a.
        above_low, above_high = sides(max(2 * level - 1, 0.5))
        return above_low[0].low > 0 and above_high[1].high < 0

    def denies(level: float) -> bool:
        # Also the most that it may be is below the lower limit, or also the least above the upper one.
        above_low, above_high = sides(level)
        return above_low[1].high < 0 or above_high[0].low > 0

    least, most = (_possible(each, second, data, options) for each in difference(first, second, options, statistic, 0.95))
    shown = bounded.between(least, most)
    doubt = "" if shows(0.95) or denies(0.95) else bounded.unfinished(first, second) or power.words(
        differences(first, second, options), data, margin, bounded=np.isfinite(shown.high - shown.low)
    )  # fmt: skip
    text = bounded.words(first, second, data, (least, most), options)
    return Evidence(
        name,
        shows,
        denies,
        text,
        shown,
        (-margin, margin),
        data.measure.unit,
        doubt,
        quantity=_apart(options),
        read_in=data.unit,
        sides=bounded.sides(first, second, data, options),
    )


def _one_ratio(a: Vector, b: Vector) -> float | None:
    """How many times the other side it is, if that is so in every run; None where runs differ in it, or did not finish."""
    if len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all() and bool((b > 0).all())):
        return None
    ratios = a / b
    return float(ratios[0]) if float(np.ptp(ratios)) <= ROUNDING * abs(float(ratios[0])) else None


KIND = Kind(
    ("above", "below"),
    "that it is above or below a quantity, or `times` what it is elsewhere",
    weigh,
    (THAN_KEY,),
    read,
    averages=True,
    bounds=True,
)
NO_LESS = Kind(
    ("at least", "at most"),
    "that it is not below, or not above, a quantity, or `times` what it is elsewhere: equal runs show it",
    weigh, (THAN_KEY,), read, averages=True, bounds=True,
)  # fmt: skip
WITHIN = Kind(
    ("within",),
    "that it is no further than `margin` from a quantity, or from what it is elsewhere",
    weigh_within,
    (THAN_KEY, MARGIN),
    read_within,
    averages=True,
    bounds=True,
)
