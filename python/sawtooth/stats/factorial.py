"""Main effects and interactions of a full factorial design.

Every combination of levels has been run in every replicate. A combination's effect is what it has beyond the effects of its parts: the
mean over all else, with the means over each of its factors taken out. In a balanced design these parts are orthogonal, and their squares
add up to the total (Montgomery, Design and Analysis of Experiments, 8th edition, 2012, chapter 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sawtooth.stats.interval import Interval, Vector, percent
from sawtooth.stats.multiplicity import holm
from sawtooth.stats.quantiles import f_tail, t_quantile

if TYPE_CHECKING:
    import polars as pl

# Sums of squares below this share of the total are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Effect:
    """How far the mean of a combination of levels is from what its parts say; of one level, from the mean over all.

    Attributes:
        levels: one per factor of the term. change: in the unit of the value, with an interval that holds together with the term's others.

    """

    levels: tuple[object, ...]
    change: Interval


@dataclass(frozen=True)
class Source:
    """A line of the analysis of variance: a factor, or an interaction of several.

    Attributes:
        factors: of the term. freedom: its degrees of freedom.
        share: of the total sum of squares (eta squared).
        f, p: against the error; p_holm: adjusted for all terms. Not numbers where there is no error to compare with.
        effects: of each combination of its levels.

    """

    factors: tuple[str, ...]
    freedom: int
    share: float
    f: float
    p: float
    p_holm: float
    effects: tuple[Effect, ...]

    @property
    def name(self) -> str:
        """Factors joined by " x "."""
        return " x ".join(self.factors)

    @property
    def reach(self) -> float:
        """From the least of its effects to the largest, in the unit of the value: of a factor, how far the means of its levels are apart."""
        changes = [effect.change.estimate for effect in self.effects]
        return max(changes) - min(changes)


@dataclass(frozen=True)
class Factorial:
    """The analysis of a full factorial design.

    Attributes:
        sources: main effects first, then interactions of two, and so on.
        blocks: share of the total that lies between replicates; 0 if they are no blocks.
        error: share of the total that is left over, and its degrees of freedom.
        mean: over all runs that were analysed, and how many these `runs` are. left_out: replicates that lacked a combination.

    """

    sources: tuple[Source, ...]
    blocks: float
    error: tuple[float, int]
    mean: float
    runs: int
    left_out: tuple[object, ...]

    def table(self) -> pl.DataFrame:
        """One row per source: source, freedom, share, f, p, p_holm; blocks and error last."""
        import polars as pl

        rows = [(each.name, each.freedom, each.share, each.f, each.p, each.p_holm) for each in self.sources]
        rest = [("between replicates", None, self.blocks, None, None, None)] if self.blocks > 0 else []
        names = ["source", "freedom", "share", "f", "p", "p_holm"]
        types = [pl.String, pl.Int64, pl.Float64, pl.Float64, pl.Float64, pl.Float64]
        schema = dict(zip(names, types, strict=True))
        return pl.DataFrame([*rows, *rest, ("error", self.error[1], self.error[0], None, None, None)], schema=schema, orient="row")

    def effects(self) -> pl.DataFrame:
        """One row per combination of levels of each source: source, levels, change, low, high, n, kind."""
        import polars as pl

        rows = [
            (source.name, " x ".join(map(str, effect.levels)), change.estimate, change.low, change.high, change.n, change.kind)
            for source in self.sources
            for effect in source.effects
            for change in (effect.change,)
        ]
        names = ["source", "levels", "change", "low", "high", "n", "kind"]
        types = [pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Int64, pl.String]
        return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")


def factorial(frame: pl.DataFrame, factors: Sequence[str], value: str, blocks: str | None = "replicate", level: float = 0.95) -> Factorial:
    """Main effects and all interactions of a full factorial.

    Args:
        frame: one row per run, with the columns that are named.
        factors: columns of the design.
        value: what was measured, finite.
        blocks: the column that says which runs share seeds and draws: what lies between blocks is no error, and intervals are t
            intervals over blocks, which need no equal spread in all cells. Of nothing: replicates of a cell are independent, in any
            order, as many in each; intervals are from the pooled error.
        level: of the intervals of a source's effects together (Bonferroni).

    Raises:
        ValueError: if a column is missing, a value not finite, a factor of one level, a combination run twice in a block, or no
            replicate has all combinations.

    """
    names = [*factors, value, *([blocks] if blocks else [])]
    missing = [name for name in names if name not in frame.columns]
    if missing or len(set(factors)) < len(factors) or not factors:
        raise ValueError(f"a factorial takes columns of its own for each factor, the value and blocks, not {', '.join(names)}")
    levels = [sorted(frame[name].unique().to_list()) for name in factors]
    for name, own in zip(factors, levels, strict=True):
        if len(own) < 2:
            raise ValueError(f"{name} has {len(own)} level: a factor has at least 2")
    y, left_out = _blocked(frame, factors, levels, value, blocks) if blocks else (_nested(frame, factors, levels, value), ())
    return _analysed(y, list(factors), levels, left_out, level, blocked=blocks is not None)


def _blocked(
    frame: pl.DataFrame, factors: Sequence[str], levels: Sequence[list[object]], value: str, blocks: str
) -> tuple[NDArray[np.float64], tuple[object, ...]]:
    """Values of shape (blocks, levels of each factor), and the blocks that lack a combination."""
    made: list[NDArray[np.float64]] = []
    left_out: list[object] = []
    for (block,), group in frame.sort(blocks).group_by([blocks], maintain_order=True):
        cells = _cells(group, factors, levels, value)
        if any(len(values) > 1 for values in cells):
            raise ValueError(
                f"{blocks} {block} has a combination of {', '.join(factors)} twice: name the other factor, or blocks that differ"
            )
        if all(cells):
            made.append(np.array(cells).reshape([len(own) for own in levels]))
        else:
            left_out.append(block)
    if not made:
        raise ValueError(f"no {blocks} has all combinations of {', '.join(factors)}: a full factorial takes each in every one")
    return np.stack(made), tuple(left_out)


def _nested(frame: pl.DataFrame, factors: Sequence[str], levels: Sequence[list[object]], value: str) -> NDArray[np.float64]:
    """Values of shape (replicates, levels of each factor)."""
    cells = _cells(frame, factors, levels, value)
    sizes = {len(values) for values in cells}
    if len(sizes) > 1 or 0 in sizes:
        raise ValueError(
            f"combinations of {', '.join(factors)} have {min(sizes)} to {max(sizes)} runs: a full factorial has as many of each"
        )
    return np.array(cells).T.reshape([-1, *(len(own) for own in levels)])


def _cells(frame: pl.DataFrame, factors: Sequence[str], levels: Sequence[list[object]], value: str) -> list[list[float]]:
    """The values of each combination, the last factor's levels side by side."""
    found: dict[tuple[object, ...], list[float]] = {at: [] for at in product(*levels)}
    for *at, one in frame.select(*factors, value).iter_rows():
        if one is None or not np.isfinite(one):
            raise ValueError(f"{value} is not finite at {', '.join(f'{name} {each}' for name, each in zip(factors, at, strict=True))}")
        found[tuple(at)].append(float(one))
    return list(found.values())


def _analysed(
    y: NDArray[np.float64], factors: list[str], levels: list[list[object]], left_out: tuple[object, ...], level: float, *, blocked: bool
) -> Factorial:
    replicates = len(y)
    axes = range(1, y.ndim)
    terms = [term for size in range(1, y.ndim) for term in combinations(axes, size)]
    total = float(((y - y.mean()) ** 2).sum())
    # Effects in each replicate, of shape (replicates, combinations of the term's levels).
    parts = {term: _part(y, term) for term in terms}
    squares = {term: float((parts[term].mean(axis=0) ** 2).sum()) * y.size / parts[term][0].size for term in terms}
    freedoms = {term: int(np.prod([y.shape[axis] - 1 for axis in term])) for term in terms}
    between = float(((y.reshape(replicates, -1).mean(axis=1) - y.mean()) ** 2).sum()) * y.size / replicates if blocked else 0.0
    rest = max(total - between - sum(squares.values()), 0.0)
    rest = rest if rest > _ROUNDING * total else 0.0
    freedom = (y[0].size - 1) * (replicates - 1) if blocked else y.size - y[0].size
    mean_square = rest / freedom if freedom and rest > 0 else np.nan
    f = [squares[term] / freedoms[term] / mean_square for term in terms]
    p = [f_tail(value, freedoms[term], freedom) if np.isfinite(value) else np.nan for value, term in zip(f, terms, strict=True)]
    made: list[Source] = []
    for term, value, own, adjusted in zip(terms, f, p, holm(p), strict=True):
        count = parts[term][0].size
        variance = mean_square * freedoms[term] / y.size if not blocked else None
        intervals = _intervals(parts[term], 1 - (1 - level) / count, variance, freedom, f"{percent(level)}")
        named = product(*(levels[axis - 1] for axis in term))
        effects = tuple(Effect(at, change) for at, change in zip(named, intervals, strict=True))
        share = squares[term] / total if total > 0 else 0.0
        made.append(Source(tuple(factors[axis - 1] for axis in term), freedoms[term], share, value, own, adjusted, effects))
    shares = (between / total, rest / total) if total > 0 else (0.0, 0.0)
    return Factorial(tuple(made), shares[0], (shares[1], freedom), float(y.mean()), int(y.size), left_out)


def _part(y: NDArray[np.float64], term: tuple[int, ...]) -> Vector:
    """What a term adds to those below it, in each replicate; shape (replicates, combinations)."""
    others = tuple(axis for axis in range(1, y.ndim) if axis not in term)
    part = y.mean(axis=others, keepdims=True) if others else y
    for axis in term:
        part = part - part.mean(axis=axis, keepdims=True)
    return part.reshape(len(y), -1)


def _intervals(part: Vector, level: float, variance: float | None, freedom: int, named: str) -> list[Interval]:
    """Of each column's mean: from its spread over replicates, or from the variance that is given."""
    n = len(part)
    if n < 2:
        return [Interval(float(value), -np.inf, np.inf, 1, "n = 1: no interval") for value in part[0]]
    errors = np.full(part.shape[1], np.sqrt(variance)) if variance is not None else part.std(axis=0, ddof=1) / np.sqrt(n)
    quantile = t_quantile(0.5 + level / 2, freedom if variance is not None else n - 1)
    kind = f"{named} t interval, for all of the term together"
    middles = part.mean(axis=0)
    return [
        Interval(float(m), float(m - quantile * e), float(m + quantile * e), n, kind if e > 0 else f"no variation in {n} runs")
        for m, e in zip(middles, errors, strict=True)
    ]
