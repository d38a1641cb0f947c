"""Where the variance of a quantity comes from: analysis of variance, main effects and additive scores over cells.

The unit is the cell (a combination of levels): published tables have nothing finer, so both sides are analysed alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from sawtooth import stats
from sawtooth.stats import Interval, Vector

# Sums of squares below this share of the total are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Term:
    """A line of an analysis of variance.

    Attributes:
        name: factors joined by " x ", or `rest`.
        freedom: degrees of freedom. share: of the total sum of squares.
        f, p: against the rest; null for the rest itself and where nothing is left over.

    """

    name: str
    freedom: int
    share: float
    f: float | None
    p: float | None


def analysis(cells: pl.DataFrame, value: str, terms: Sequence[Sequence[str]]) -> list[Term]:
    """Sequential analysis of variance: what each term explains beyond those before it, and the rest.

    With all combinations present the order does not matter. Terms without a degree of freedom of their own are left out.
    """
    y = stats.vector(cells[value].to_numpy())
    total = float(((y - y.mean()) ** 2).sum()) if y.size else 0.0
    design = np.ones((y.size, 1))
    rank, left = 1, total
    found: list[tuple[str, int, float]] = []
    for term in terms:
        wider = np.hstack([design, _indicators(cells, term)])
        wider_rank = int(np.linalg.matrix_rank(wider)) if y.size else rank
        if wider_rank == rank:
            continue
        residual = float(((y - wider @ np.linalg.lstsq(wider, y, rcond=None)[0]) ** 2).sum())
        found.append((" x ".join(term), wider_rank - rank, max(left - residual, 0.0)))
        design, rank, left = wider, wider_rank, residual
    freedom = int(y.size) - rank
    if total == 0.0:
        return [Term(name, own, 0.0, None, None) for name, own, _ in found] + [Term("rest", freedom, 0.0, None, None)]
    left = left if left > _ROUNDING * total else 0.0
    made = [Term(name, own, squares / total, *_f_test(squares, own, left, freedom)) for name, own, squares in found]
    return [*made, Term("rest", freedom, left / total, None, None)]


def _f_test(squares: float, own: int, left: float, freedom: int) -> tuple[float | None, float | None]:
    if freedom == 0 or left == 0.0:
        return None, None
    f = (squares / own) / (left / freedom)
    return f, float(cast(Any, scipy_stats.f.sf(f, own, freedom)))


def _indicators(cells: pl.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """One column per combination of levels, 1 where a row has it."""
    number = cells.select(pl.struct(names).rank("dense")).to_series().to_numpy() - 1
    return np.eye(int(number.max()) + 1)[number] if number.size else np.empty((0, 0))


@dataclass(frozen=True)
class Effect:
    """How much a level differs from the mean over levels: `change` is a ratio minus 1."""

    level: object
    change: Interval


def effects(cells: pl.DataFrame, value: str, factor: str) -> list[Effect]:
    """The main effect of every level of `factor` on a logarithm.

    Within each combination of the other columns that has all levels, a level is compared with the mean over levels. Intervals are t
    intervals over these combinations, at Bonferroni's level: together they hold with 95 %.
    """
    levels = sorted(cells[factor].unique().to_list())
    others = [name for name in cells.columns if name not in (factor, value)]
    complete = cells.filter(pl.col(factor).n_unique().over(others) == len(levels)) if others else cells
    change = pl.col(value) - (pl.col(value).mean().over(others) if others else pl.col(value).mean())
    changes = complete.with_columns(change=change)
    made: list[Effect] = []
    for level in levels:
        values = changes.filter(pl.col(factor) == level)["change"].to_numpy()
        if values.size == 0 or len(levels) < 2:
            continue
        interval = stats.mean_interval(values, 1 - 0.05 / len(levels))
        kind = interval.kind if values.size < 2 else "95 % for all levels together"
        # Rounding of a difference that is nil must not look like an effect.
        low, middle, high = (float(np.expm1(round(x, 12))) for x in (interval.low, interval.estimate, interval.high))
        made.append(Effect(level, Interval(middle, low, high, interval.n, kind)))
    return made


def largest(found: Sequence[Effect]) -> Effect:
    """The effect that is farthest from none, as a ratio."""
    return max(found, key=lambda effect: abs(float(np.log1p(effect.change.estimate))))


def without_effect(found: Sequence[Effect], margin: float) -> str:
    """Whether no level changes the quantity by more than `margin`: `yes`, `no` or `cannot distinguish`.

    `yes` takes every interval inside the margin, `no` one that lies outside.
    """
    if any(effect.change.low > margin or effect.change.high < -margin for effect in found):
        return "no"
    inside = bool(found) and all(-margin <= effect.change.low and effect.change.high <= margin for effect in found)
    return "yes" if inside else "cannot distinguish"


@dataclass(frozen=True)
class Scores:
    """What a factor's levels come to when all else is alike.

    Attributes:
        levels: of the factor, in alphabetical order. weights: shape (levels, cells); scores are weights @ values of the cells.

    """

    levels: list[str]
    weights: NDArray[np.float64]

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of values of shape (..., cells); shape (..., levels)."""
        return values @ self.weights.T


def additive(cells: pl.DataFrame, factor: str) -> Scores:
    """Scores by least squares: value = level of the factor + combination of all other columns.

    With every combination present they are plain means; where some are missing, levels are still compared like with like.
    """
    levels = sorted(cells[factor].unique().to_list())
    others = [name for name in cells.columns if name != factor]
    own = _indicators(cells, [factor])
    rest = _indicators(cells, others) if others else np.ones((cells.height, 1))
    wanted = np.hstack([np.eye(len(levels)), np.full((len(levels), rest.shape[1]), 1 / max(rest.shape[1], 1))])
    return Scores(levels, wanted @ np.linalg.pinv(np.hstack([own, rest])))


def between(scores: NDArray[np.float64]) -> Vector:
    """Variance between levels, of scores of shape (..., levels)."""
    return np.asarray(scores.var(axis=-1, ddof=1), dtype=np.float64)
