"""The functions of expressions: what they make of rows of a run, or of values that there is one of already.

A value is known from `low` to `high`; both are the same where it was measured, and `high` is infinite where the run ended before it was there.
What makes one number of many keeps to that: it is made of all the lows, and of all the highs. That is right for what grows with each of its
values; of what does not, such as a standard deviation, nothing is known if one value is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Aggregate:
    """Makes one number of the rows of a run and item.

    Attributes:
        said: how captions say it.
        made: of the values of the group.
        grows: whether it grows with each of its values.
        plain: whether its result has no unit.

    """

    said: str
    made: Callable[[pl.Expr], pl.Expr]
    grows: bool = True
    plain: bool = False


def _jain(x: pl.Expr) -> pl.Expr:
    """Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984); of nothing at all there is none."""
    return pl.when((x**2).sum() > 0).then(x.sum() ** 2 / (x.count() * (x**2).sum()))


def quantile(share: float) -> Callable[[pl.Expr], pl.Expr]:
    """The least value that so large a share of all values does not exceed: one of them, as a percentile of a few samples is."""

    def made(x: pl.Expr) -> pl.Expr:
        # ceil(share * n) is its rank (Hyndman and Fan 1996, definition 1); the product is rounded first, so that 0.95 * 20 is 19.
        rank = (share * x.len() - 1e-9).ceil().clip(1, None).cast(pl.Int64) - 1
        return x.sort().gather(rank).first()

    return made


AGGREGATES: Mapping[str, Aggregate] = {
    "mean": Aggregate("mean", lambda x: x.mean()),
    "median": Aggregate("median", lambda x: x.median()),
    "sum": Aggregate("sum", lambda x: x.sum()),
    "min": Aggregate("least", lambda x: x.min()),
    "max": Aggregate("largest", lambda x: x.max()),
    "first": Aggregate("first", lambda x: x.first()),
    "last": Aggregate("last", lambda x: x.last()),
    "count": Aggregate("number", lambda x: x.len().cast(pl.Float64), plain=True),
    "sd": Aggregate("standard deviation", lambda x: x.std(), grows=False),
    "cov": Aggregate("coefficient of variation", lambda x: pl.when(x.mean() > 0).then(x.std() / x.mean()), grows=False, plain=True),
    "jain": Aggregate("Jain's index", _jain, grows=False, plain=True),
}
_PERCENTILE = re.compile(r"p(\d{1,2})(\d*)")


def percentile(name: str) -> float | None:
    """The share that `p95` or `p999` names; None if it names none."""
    match = _PERCENTILE.fullmatch(name)
    share = float(f"0.{match[1]:>02}{match[2]}") if match else 0.0
    return share if 0 < share < 1 else None


def share_above(bound: float) -> Callable[[pl.Expr], pl.Expr]:
    """How large a share of all values is above it: 0 of no value that is, which a number of chosen rows would not tell."""
    return lambda x: (x > bound).cast(pl.Float64).mean()


def aggregate(name: str, share: float | None = None) -> Aggregate | None:
    """The function called so that makes one number of rows; of `quantile` the one of that share, of `share_above` that of a bound."""
    if name == "share_above":
        return None if share is None else Aggregate("share above the bound", share_above(share), plain=True)
    share = percentile(name) if name != "quantile" else share
    if share is not None:
        text = f"{100 * share:.4g}"
        ending = "th" if text[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th")
        return Aggregate(f"{text}{ending} percentile", quantile(share))
    return AGGREGATES.get(name)


@dataclass(frozen=True)
class Elementwise:
    """A function of single values, which grows with them where it is defined; `above` is what they must exceed."""

    made: Callable[[pl.Expr], pl.Expr]
    above: float | None


CHOOSING: Mapping[str, tuple[str, bool]] = {
    "at_min": ("whose second value is least", False),
    "at_max": ("whose second value is largest", True),
}
"""Functions of two values of rows, which take the first of the row that the second chooses (of several the first): how captions say it, and
whether the second is to be the largest."""
ELEMENTWISE: Mapping[str, Elementwise] = {
    "log2": Elementwise(lambda x: x.log(2.0), 0.0),
    "log10": Elementwise(lambda x: x.log(10.0), 0.0),
    "ln": Elementwise(lambda x: x.log(), 0.0),
}
HOWS = ("mean", "sum", "max", "min", "each")
"""How the flows of a block, or the rows of a run and item, are taken together where an expression does not say it."""


def known() -> list[str]:
    """The names of all functions."""
    return [*AGGREGATES, "p50", "p95", "p99", "p999", "quantile", "share_above", *CHOOSING, *ELEMENTWISE]


def combined(sign: str, left: tuple[pl.Expr, pl.Expr], right: tuple[pl.Expr, pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
    """Two values from low to high, put together by `+ - * /`: the least and the most that it may be; null where it is undefined."""
    if left[0] is left[1] and right[0] is right[1]:
        value = _finite(_exact(sign, left[0], right[0]))
        return value, value
    if sign == "+":
        return left[0] + right[0], left[1] + right[1]
    if sign == "-":
        return left[0] - right[1], left[1] - right[0]
    corners = [_exact(sign, a, b) for a in left for b in right]
    # What has no bound is finite, however large: infinity over infinity, or 0 times it, is between the other corners.
    low, high = (
        made(*(pl.when(corner.is_not_nan()).then(corner) for corner in corners)) for made in (pl.min_horizontal, pl.max_horizontal)
    )
    # Where both are known it is one number; through 0 nothing is known.
    sound = pl.all_horizontal(*(corner.is_not_null() for corner in corners))
    if sign == "/":
        sound &= (right[0] > 0) | (right[1] < 0)
    exact = (left[0] == left[1]) & (right[0] == right[1])
    return pl.when(exact | sound).then(_unless(exact, corners[0], low)), pl.when(exact | sound).then(_unless(exact, corners[0], high))


def _exact(sign: str, a: pl.Expr, b: pl.Expr) -> pl.Expr:
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    return a * b if sign == "*" else a / b


def _unless(exact: pl.Expr, value: pl.Expr, bound: pl.Expr) -> pl.Expr:
    return pl.when(exact).then(_finite(value)).otherwise(bound)


def _finite(value: pl.Expr) -> pl.Expr:
    """The value where it is a number: 0 / 0 and 1 / 0 are none."""
    return pl.when(value.is_finite()).then(value)
