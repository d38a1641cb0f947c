"""What the testbed study claims about congestion controls, held against measured times; every answer is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from sawtooth import stats
from sawtooth.metrics import variance
from sawtooth.metrics.fetch import Means
from sawtooth.report.document import Verdict
from sawtooth.stats import Interval, Vector

FASTEST = ("bic", "yeah")
SLOWEST = ("lp", "reno", "westwood", "highspeed")
# A receiver's algorithm that changes the time by less than this does not matter.
MARGIN = 0.05
# Algorithms within this of each other have nothing that could be ranked or explained.
NO_SPREAD = 1.1
# Times that are alike to the millisecond share a rank: below that, only the kernel's timer slack would decide.
RANK_DIGITS = 3
FEWEST_TO_RANK = 4


@dataclass(frozen=True)
class Ranking:
    """Server algorithms by download time, over all clients and delays.

    Attributes:
        names: in alphabetical order. seconds: geometric mean over clients and delays, shape (names,).
        draws_s: resampled, shape (draws, names). resampled: whether the resamples say anything.

    """

    names: list[str]
    seconds: Vector
    draws_s: NDArray[np.float64]
    resampled: bool

    def ranks(self) -> dict[str, Interval]:
        """Rank of each, 1 the fastest, ties sharing their mean, with its 95 % bootstrap interval."""
        own = scipy_stats.rankdata(self.seconds.round(RANK_DIGITS))
        draws = scipy_stats.rankdata(self.draws_s.round(RANK_DIGITS), axis=1)
        low, high = np.quantile(draws, (0.025, 0.975), axis=0, method="nearest")
        if not self.resampled:
            return {name: stats.mean_interval([float(rank)]) for name, rank in zip(self.names, own, strict=True)}
        return {
            name: Interval(float(rank), float(a), float(b), len(draws), "95% bootstrap")
            for name, rank, a, b in zip(self.names, own, low, high, strict=True)
        }

    def order(self) -> list[str]:
        """Names, the fastest first."""
        return [self.names[at] for at in np.argsort(self.seconds, kind="stable")]

    @property
    def spread(self) -> float:
        """The slowest's time in units of the fastest's."""
        return float(self.seconds.max() / self.seconds.min())

    def only(self, names: Sequence[str]) -> Ranking:
        """Without the others."""
        at = [self.names.index(name) for name in names]
        return Ranking(list(names), self.seconds[at], self.draws_s[:, at], self.resampled)


def ranking(means: Means) -> Ranking:
    """Ranks the server algorithms; a cell that is missing for one is not held against it."""
    scores = variance.additive(means.keys, "server_cc")
    return Ranking(scores.levels, np.exp(scores.of(means.log)), np.exp(scores.of(means.log_draws)), means.resampled)


def rank_correlation(first: Ranking, second: Ranking) -> float | None:
    """Spearman's rho of the algorithms that both have; none if there are too few, or no differences to rank."""
    both = [name for name in first.names if name in second.names]
    if len(both) < FEWEST_TO_RANK:
        return None
    x, y = (own.only(both).seconds.round(RANK_DIGITS) for own in (first, second))
    return stats.spearman(x, y) if np.ptp(x) > 0 and np.ptp(y) > 0 else None


def rank_correlation_words(first: Ranking, second: Ranking) -> str:
    """The rank correlation with its bootstrap interval, in words."""
    rho = rank_correlation(first, second)
    if rho is None:
        return "none (too few algorithms, or all alike)"
    if not (first.resampled and second.resampled):
        return f"{rho:.2f} (no interval)"
    both = [name for name in first.names if name in second.names]
    x, y = (scipy_stats.rankdata(own.only(both).draws_s.round(RANK_DIGITS), axis=1) for own in (first, second))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    norm = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    found = (x * y).sum(axis=1)[norm > 0] / norm[norm > 0]
    low, high = np.quantile(found, (0.025, 0.975))
    return f"{rho:.2f} (95 % bootstrap {low:.2f} to {high:.2f})"


# --- verdicts -----------------------------------------------------------------------------------------------------------


def receiver(means: Means, where: str) -> Verdict | None:
    """The receiver's algorithm does not matter."""
    cells = means.keys.with_columns(log=pl.Series(means.log))
    found = variance.effects(cells, "log", "client_cc")
    if not found:
        return None
    far = variance.largest(found)
    share = {term.name: term.share for term in anova(means)}
    answer = variance.without_effect(found, MARGIN)
    numbers = (
        f"largest effect of a receiver's algorithm: {far.level} {far.change.words('+.1%')} over {far.change.n} combinations of server and delay; "
        f"share of the variance of log time: server {share.get('server_cc', 0):.1%}, receiver {share.get('client_cc', 0):.2%}, "
        f"server x receiver {share.get('server_cc x client_cc', 0):.2%}"
    )
    return Verdict(f"The receiver's algorithm does not matter: it changes the time by less than {MARGIN:.0%} ({where})", answer, numbers)


ANOVA_TERMS = (
    ("delay_ms",), ("server_cc",), ("client_cc",), ("delay_ms", "server_cc"), ("delay_ms", "client_cc"), ("server_cc", "client_cc"),
)  # fmt: skip


def anova(means: Means) -> list[variance.Term]:
    """Analysis of variance of the logarithm of the cells' means."""
    return variance.analysis(means.keys.with_columns(log=pl.Series(means.log)), "log", ANOVA_TERMS)


def fastest(found: Ranking, where: str) -> Verdict | None:
    """BIC and YeAH are fastest."""
    return _places(found, FASTEST, where, fast=True)


def slowest(found: Ranking, where: str) -> Verdict | None:
    """LP, Reno, Westwood and HighSpeed are slowest."""
    return _places(found, SLOWEST, where, fast=False)


def _places(found: Ranking, names: Sequence[str], where: str, *, fast: bool) -> Verdict | None:
    """Whether `names` hold the first, or last, places: `yes` if all their intervals lie there, `no` if one lies elsewhere."""
    present = [name for name in names if name in found.names]
    if not present or len(present) == len(found.names):
        return None
    ranks = found.ranks()
    n, k = len(found.names), len(present)
    own = [ranks[name] for name in present]
    if fast:
        there, elsewhere = all(rank.high <= k for rank in own), any(rank.low > k for rank in own)
    else:
        there, elsewhere = all(rank.low > n - k for rank in own), any(rank.high <= n - k for rank in own)
    answer = "no" if elsewhere else "yes" if there else "cannot distinguish"
    places = "; ".join(f"{name} {_place(rank)}" for name, rank in zip(present, own, strict=True))
    first, last = found.order()[0], found.order()[-1]
    verb = "is" if k == 1 else "are"
    absent = [name for name in names if name not in present]
    without = f" (not measured: {', '.join(absent)})" if absent else ""
    return Verdict(
        f"{_listed(present)} {verb} {'fastest' if fast else 'slowest'} of {n}{without} ({where})",
        answer,
        f"rank with 95 % bootstrap interval, 1 the fastest: {places}; fastest {first} ({found.seconds.min():.3f} s), slowest {last} "
        f"({found.seconds.max():.3f} s), {found.spread:.2f} times as long",
    )


def _place(rank: Interval) -> str:
    if not np.isfinite(rank.high):
        return f"{rank.estimate:g} (no interval)"
    return f"{rank.estimate:g} ({rank.low:g} to {rank.high:g})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- congestion control or an inherited threshold -------------------------------------------------------------------------


def between_algorithms(means: Means) -> tuple[float, Vector]:
    """Variance of log time between server algorithms at the same delay, averaged over delays, and its resamples."""
    own: list[float] = []
    draws: list[Vector] = []
    for _, group in means.keys.group_by("delay_ms", maintain_order=True):
        part = means.only(group)
        scores = variance.additive(part.keys.drop("delay_ms"), "server_cc")
        if len(scores.levels) > 1:
            own.append(float(variance.between(scores.of(part.log))))
            draws.append(variance.between(scores.of(part.log_draws)))
    if not own:
        return 0.0, np.zeros(1)
    return float(np.mean(own)), np.mean(draws, axis=0)


@dataclass(frozen=True)
class Attribution:
    """How much of the differences between algorithms the metrics cache makes.

    Attributes:
        share: of the between-algorithm variance of log time with the cache on, what is gone with it off; negative if there is more
            of it; none where there is no variance with the cache on.
        spread_on, spread_off: slowest over fastest. slowdown: time with the cache on over time with it off, geometric mean.
        sentence: the answer.

    """

    share: Interval | None
    spread_on: float
    spread_off: float
    slowdown: float
    sentence: str


def attribution(on: Means, off: Means) -> Attribution | None:
    """Compares the cells that were measured with the cache on and off; none if they hold fewer than two algorithms."""
    keys = on.keys.join(off.keys, on=on.keys.columns, how="inner", maintain_order="left")
    on, off = on.only(keys), off.only(keys)
    if keys.is_empty() or keys["server_cc"].n_unique() < 2:
        return None
    ranks_on, ranks_off = ranking(on), ranking(off)
    (v_on, draws_on), (v_off, draws_off) = between_algorithms(on), between_algorithms(off)
    share: Interval | None = None
    if v_on > 0:
        if on.resampled and off.resampled:
            low, high = np.quantile(1 - draws_off / np.maximum(draws_on, 1e-300), (0.025, 0.975))
        else:
            low, high = -np.inf, np.inf
        kind = "95 % bootstrap" if np.isfinite(high) else "no interval"
        share = Interval(1 - v_off / v_on, float(low), float(high), keys.height, kind)
    slowdown = float(np.exp((on.log - off.log).mean()))
    first, last = ranks_on.order()[0], ranks_on.order()[-1]
    spreads = (
        f"With the cache on the slowest algorithm ({last}) takes {ranks_on.spread:.2f} times as long as the fastest ({first}), with it off "
        f"{ranks_off.spread:.2f} times ({ranks_off.order()[-1]} over {ranks_off.order()[0]})"
    )
    sentence = f"{spreads}: {_conclusion(share, ranks_on.spread, ranks_off.spread)}."
    return Attribution(share, ranks_on.spread, ranks_off.spread, slowdown, sentence)


def _conclusion(share: Interval | None, on: float, off: float) -> str:
    if max(on, off) < NO_SPREAD or share is None:
        return "on this path neither congestion control nor an inherited threshold makes a difference worth ranking"
    if share.high <= 0:
        return f"the cache explains none of the ranking, and without it the differences are larger (share {share.words('.0%')})"
    amount = f"an inherited slow-start threshold accounts for {share.words('.0%')} of the between-algorithm variance of log time"
    rest = f"congestion control within the fetch for the remaining {1 - share.estimate:.0%}"
    if share.low >= 0.5:
        return f"{amount}, {rest}, so the ranking is mostly what earlier connections left behind"
    if share.high <= 0.5:
        return (
            f"{amount}, {rest}, so the ranking is mostly congestion control"
            if share.estimate > 0
            else f"{amount}, so the cache has no part in it"
        )
    return f"{amount}; the interval does not say whether that is the larger part"
