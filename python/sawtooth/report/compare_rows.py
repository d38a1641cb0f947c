"""The rows of a comparison in words and numbers: how far each is from 1, what tells them apart, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from sawtooth import near_zero, stats
from sawtooth.measures import Measure
from sawtooth.metrics import sides
from sawtooth.metrics.agreement import Comparison
from sawtooth.metrics.matching import Row
from sawtooth.plots import paired
from sawtooth.plots.paired import Dot
from sawtooth.recognise import written
from sawtooth.scales import scale, scaled
from sawtooth.stats import Interval

MOST_PAIRS = 3
"""So many pairs of sides have sentences and figures of their own."""
MOST_LINES = 40
"""So many rows are read one by one; of more, those furthest from 1."""


def groups(comparison: Comparison) -> dict[tuple[Measure, tuple[str, str]], list[Row]]:
    """The rows by their metric and by what is over what; those of many pairs together."""
    found: dict[tuple[Measure, tuple[str, str]], list[Row]] = {}
    many = len({row.sides for row in comparison.rows}) > MOST_PAIRS
    for row in comparison.rows:
        found.setdefault((row.metric, ("first", "second") if many else row.sides), []).append(row)
    return found


def furthest(rows: Iterable[Row]) -> list[Row]:
    """The rows by how far their ratio is from 1; without a ratio last, a ratio of 0 or infinity first."""

    def distance(row: Row) -> float:
        ratio = row.ratio.estimate
        return -1.0 if math.isnan(ratio) else abs(math.log(ratio)) if positive(ratio) else math.inf

    return sorted(rows, key=distance, reverse=True)


def ratio_says_nothing(row: Row) -> bool:
    """Whether what a row's ratio is taken of may be 0: any number comes of that, and the difference tells instead."""
    return not row.bound and near_zero.may_be_zero(row.second)


def difference_of(row: Row) -> str:
    """A row's difference with its interval, in the unit of its measure."""
    return near_zero.words(row.difference, row.metric.unit)


def rank_correlation(rows: Sequence[Row]) -> str:
    """Whether the two sides order the rows alike, in words; empty of too few."""
    a, b = ([getattr(row, side).estimate for row in rows if not row.bound] for side in ("first", "second"))
    if len(a) < 3 or len(set(a)) < 2 or len(set(b)) < 2:
        return ""
    return f"; rank correlation {stats.spearman(a, b):.3f}"


def level_of(row: Row, name: str) -> str:
    """The level of a factor, of the arm, or of the flow, that a row has."""
    return row.arm if name == "arm" else row.item if name == "flow" else row.factors.get(name, "")


def groupings(comparison: Comparison, rows: Sequence[Row], most: int) -> list[str]:
    """Factors, arm and flow, as far as they have several levels but no more than `most`."""
    return [name for name in [*comparison.factors, "arm", "flow"] if 1 < len({level_of(row, name) for row in rows}) <= most]


def telling(comparison: Comparison, rows: Sequence[Row]) -> str:
    """The grouping whose levels explain most of the variance of the logarithms of the ratios; empty if there is none."""
    usable = [row for row in rows if positive(row.ratio.estimate)]
    logs = np.log([row.ratio.estimate for row in usable])

    def within(name: str) -> float:
        levels = [level_of(row, name) for row in usable]
        return sum(
            float(((own := logs[[x == level for x in levels]]) - own.mean()) @ (own - own.mean())) for level in dict.fromkeys(levels)
        )

    # A grouping into single rows would explain everything and say nothing.
    found = [
        name for name in groupings(comparison, usable, paired.MOST_LEVELS) if len({level_of(row, name) for row in usable}) < len(usable)
    ]
    return min(found, key=within) if found else ""


def ordered(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows by the amount of that level, then by their ratio."""

    def key(row: Row) -> tuple[float, str, float]:
        level = sides.level(level_of(row, name)) if name else ""
        try:
            amount = float(level.split(" ")[0])
        except ValueError:
            amount = math.inf
        return amount, level, row.ratio.estimate if math.isfinite(row.ratio.estimate) else math.inf

    return sorted(rows, key=key)


def dot(row: Row, rows: Sequence[Row], colour: str, divisor: float) -> Dot:
    """A row as figures draw it."""
    level = level_of(row, colour) if colour else ""
    return Dot(name_of(row, rows), level, scaled(row.first, divisor), scaled(row.second, divisor), row.ratio, row.bound)


def name_of(row: Row, among: Sequence[Row]) -> str:
    """A row in a few words: what it does not have in common with all the rows it is named `among`."""
    parts = [(name, written(text)) for name, text in row.factors.items() if len({other.factors.get(name) for other in among}) > 1]
    parts += [("", row.arm)] if len({other.arm for other in among}) > 1 else []
    parts += [("", row.pair)] if len({other.sides for other in among}) > 1 and row.arm != row.pair else []
    parts += [("", row.item)] if len({other.item for other in among}) > 1 else []
    short = [(name, text if len(text) <= 28 else text[:27] + "…") for name, text in parts if text]
    return ", ".join(f"{name} {text}" if text.replace(".", "").isdigit() else text for name, text in short) or f"cell {row.cell}"


def constants(rows: Sequence[Row]) -> str:
    """What all rows have in common, as a sentence."""
    same = [f"{name} {written(text)}" for name, text in rows[0].factors.items() if len({row.factors.get(name) for row in rows}) < 2]
    same += [rows[0].arm] if rows[0].arm and len({row.arm for row in rows}) < 2 else []
    return f" In all rows: {', '.join(same)}." if same else ""


def scale_of(metric: Measure, rows: Sequence[Row]) -> tuple[float, str]:
    """What the metric's numbers are divided by, and the unit they then have."""
    return scale(metric.unit, [side.estimate for row in rows for side in (row.first, row.second)])


def positive(ratio: float) -> bool:
    """Whether it has a logarithm."""
    return math.isfinite(ratio) and ratio > 0


def inside(row: Row, width: float) -> bool:
    """Whether a row's ratio lies within the tolerance."""
    return math.isnan(row.ratio.estimate) or 1 / (1 + width) <= row.ratio.estimate <= 1 + width


def pm(interval: Interval, divisor: float) -> str:
    """A mean with half its interval, or the least that it may be."""
    if interval.kind.startswith(("at least", "at most")):
        return f"{'≥' if interval.kind.startswith('at least') else '≤'} {interval.estimate / divisor:.4g}"
    half = (interval.high - interval.low) / 2 / divisor
    return f"{interval.estimate / divisor:.4g}" + (f" ± {half:.2g}" if math.isfinite(half) and half > 0 else "")


def range_of(interval: Interval) -> str:
    """An interval from end to end; empty if there is none."""
    if math.isfinite(interval.low) != math.isfinite(interval.high):
        return f"from {number_of(interval.low, 3)}" if math.isfinite(interval.low) else f"to {number_of(interval.high, 3)}"
    if not math.isfinite(interval.high - interval.low):
        return ""
    return f"{number_of(interval.low, 3)} to {number_of(interval.high, 3)}"


def number_of(value: float, digits: int) -> str:
    """A number with so many digits after the point; a dash if there is none."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def all_flows(comparison: Comparison) -> bool:
    """Whether all rows are of flows."""
    return all(row.metric.kind == "flow" for row in comparison.rows)
