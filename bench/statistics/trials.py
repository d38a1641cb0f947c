"""How often intervals cover: by the rule, and by what there was before. A trial is a method, a world and n; its samples are always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from samples import BY_NAME, World
from scipy import stats as scipy_stats

from sawtooth import stats
from sawtooth.stats.mean import mean_rows
from sawtooth.stats.median import median_rows
from sawtooth.stats.sequential import LOOKS, inflated

Ends = NDArray[np.float64]
LEVEL = 0.95
SIZES = (3, 4, 5, 6, 8, 10, 15, 20, 30)


@dataclass(frozen=True)
class Trial:
    """Which method, for samples of which world; n values each, 0 where that is not fixed."""

    method: str
    world: str
    n: int
    count: int


@dataclass(frozen=True)
class Outcome:
    """What came of `count` samples.

    Attributes:
        alike: of no variation, which have no interval of a level. unbounded: those where n does not suffice.
        covered: bounded intervals that cover.
        width: the median of the bounded ones' widths, for means over those of Student's t; of a sequential rule the mean n.

    """

    count: int
    alike: int
    unbounded: int
    covered: int
    width: float

    @property
    def coverage(self) -> float:
        """Of what claims a level; an unbounded interval covers."""
        return (self.covered + self.unbounded) / max(self.count - self.alike, 1)

    @property
    def error(self) -> float:
        """Its Monte Carlo error: one standard deviation."""
        p = self.coverage
        return float(np.sqrt(p * (1 - p) / max(self.count - self.alike, 1)))


def run(trial: Trial) -> Outcome:
    return METHODS[trial.method](trial)


def _judged(low: Ends, high: Ends, truth: float, alike: Ends | None = None, against: Ends | None = None) -> Outcome:
    alike = np.zeros(low.size, dtype=np.bool_) if alike is None else alike.astype(np.bool_)
    bounded = np.isfinite(high - low) & ~alike
    covered = int((bounded & (low <= truth) & (truth <= high)).sum())
    widths = (high - low)[bounded] / (1.0 if against is None else against[bounded])
    width = float(np.median(widths)) if widths.size else nan
    return Outcome(int(low.size), int(alike.sum()), int((~bounded & ~alike).sum()), covered, width)


# Means


def _rule(trial: Trial) -> Outcome:
    world = BY_NAME[trial.world]
    rows = world.samples("mean", trial.count, trial.n)
    found = mean_rows(rows, LEVEL)
    return _judged(found.low, found.high, world.mean, found.alike, 2 * _half(rows))


def _student(trial: Trial) -> Outcome:
    world = BY_NAME[trial.world]
    rows = world.samples("mean", trial.count, trial.n)
    middle, half = rows.mean(axis=1), _half(rows)
    return _judged(middle - half, middle + half, world.mean, half == 0)


def _half(rows: Ends) -> Ends:
    n = rows.shape[1]
    half = scipy_stats.t.ppf(0.5 + LEVEL / 2, n - 1) * rows.std(axis=1, ddof=1) / np.sqrt(n)
    return np.where(np.ptp(rows, axis=1) == 0, 0.0, half)


def _percentile(trial: Trial) -> Outcome:
    """The percentile bootstrap of a mean, 999 resamples."""
    world = BY_NAME[trial.world]
    rows = world.samples("mean", trial.count, trial.n)
    drawn = np.random.default_rng(1).integers(0, trial.n, (999, trial.n))
    ends = np.array([np.quantile(row[drawn].mean(axis=1), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]) for row in rows])
    return _judged(ends[:, 0], ends[:, 1], world.mean, np.ptp(rows, axis=1) == 0)


# Medians


def _median(trial: Trial) -> Outcome:
    world = BY_NAME[trial.world]
    rows = np.sort(world.samples("median", trial.count, trial.n), axis=1)
    low, high = median_rows(rows, LEVEL)
    return _judged(low, high, world.median, rows[:, 0] == rows[:, -1])


def _bca(trial: Trial) -> Outcome:
    world = BY_NAME[trial.world]
    rows = world.samples("median", trial.count, trial.n)
    return _of_intervals([stats.bootstrap_interval(row) for row in rows], world.median)


# Two treatments


def _of_intervals(found: list[stats.Interval], truth: float) -> Outcome:
    low, high = np.array([each.low for each in found]), np.array([each.high for each in found])
    return _judged(low, high, truth, np.array(["no variation" in each.kind for each in found]))


@dataclass(frozen=True)
class Pair:
    """Two treatments: logarithms (or values) are normal with these spreads and this correlation; means are 10 and 10 / ratio."""

    name: str
    spreads: tuple[float, float]
    correlation: float
    ratio: float
    lognormal: bool

    def samples(self, trial: str, count: int, n: int) -> tuple[Ends, Ends]:
        g = World(self.name, lambda g, shape: g.standard_normal(shape), 0).samples(trial, 2 * count, n).reshape(2, count, n)
        first, second = g[0], self.correlation * g[0] + np.sqrt(1 - self.correlation**2) * g[1]
        made = [
            10 * (np.exp(s * z - s**2 / 2) if self.lognormal else 1 + s * z) for s, z in zip(self.spreads, (first, second), strict=True)
        ]
        return made[0], made[1] / self.ratio


PAIRS = (
    Pair("normal, 10 % spread, correlation 0.7", (0.1, 0.1), 0.7, 1.2, lognormal=False),
    Pair("normal, 10 % spread, independent", (0.1, 0.1), 0.0, 1.2, lognormal=False),
    Pair("lognormal, sigma 0.4, correlation 0.8", (0.4, 0.4), 0.8, 1.2, lognormal=True),
    Pair("lognormal, sigma 1, independent", (1.0, 1.0), 0.0, 2.0, lognormal=True),
    Pair("lognormal, sigma 1 and 0.2, correlation 0.5", (1.0, 0.2), 0.5, 1.2, lognormal=True),
)
PAIR = {pair.name: pair for pair in PAIRS}


def _difference(trial: Trial, *, paired: bool, ratio: bool) -> Outcome:
    pair = PAIR[trial.world]
    first, second = pair.samples(f"two, {paired}", trial.count, trial.n)
    made = stats.ratio if ratio else stats.difference
    truth = pair.ratio if ratio else 10 - 10 / pair.ratio
    return _of_intervals([made(a, b, paired) for a, b in zip(first, second, strict=True)], truth)


def _fieller(trial: Trial) -> Outcome:
    pair = PAIR[trial.world]
    first, second = pair.samples("two, True", trial.count, trial.n)
    return _of_intervals([stats.ratio_interval(stats.means_of_pairs(a, b)) for a, b in zip(first, second, strict=True)], pair.ratio)


# Many tests at once: the chance that one or more of the true hypotheses is rejected is what "covered" leaves out.

FAMILIES = {
    "10 normal, none true, independent": (10, 0, 0.0, 0.0),
    "10 normal, none true, correlation 0.8": (10, 0, 0.8, 0.0),
    "10 normal, 5 far from it, independent": (10, 5, 0.0, 0.0),
    "40 normal, none true, independent": (40, 0, 0.0, 0.0),
    "10 paired differences of lognormals": (10, 0, 0.0, 1.0),
}


def _family(trial: Trial) -> Outcome:
    """Findings "differs from 0", tested by Student's t over n runs each."""
    tests, false, shared, sigma = FAMILIES[trial.world]
    z = World(trial.world, lambda g, shape: g.standard_normal(shape), 0).samples("holm", trial.count, trial.n * (2 * tests + 1))
    common, own, other = np.split(z.reshape(trial.count, 2 * tests + 1, trial.n), [1, tests + 1], axis=1)
    values = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    if sigma:
        values = np.exp(sigma * own) - np.exp(sigma * other)
    values[:, :false] += 3
    p = np.asarray(cast(Any, scipy_stats.ttest_1samp(values, 0, axis=2)).pvalue)
    erred = sum(min(stats.holm(list(row))[false:]) <= 1 - LEVEL for row in p)
    return Outcome(trial.count, 0, 0, trial.count - int(erred), nan)


# Trends


def _trend(trial: Trial) -> Outcome:
    """Four strata of three levels with n runs each, without a trend: "covered" is not rejected."""
    z = World(trial.world, BY_NAME[trial.world].draw, 0).samples("trend", trial.count, 4 * 3 * trial.n).reshape(trial.count, 4, -1)
    x = np.repeat([1.0, 2.0, 3.0], trial.n)
    rejected = sum(stats.trend([(x, y) for y in strata]).p <= 1 - LEVEL for strata in z)
    return Outcome(trial.count, 0, 0, trial.count - rejected, nan)


# Trends of these slopes per level, in standard deviations of normal errors or of the logarithms of lognormal ones.
SLOPES = {f"{kind} errors, slope {slope}": (kind, slope) for kind in ("normal", "lognormal") for slope in (0.0, 0.5, 1.0, 2.0)}


def _trend_interval(trial: Trial) -> Outcome:
    """The same strata with a trend; what the interval is of is the mean correlation of all these designs."""
    kind, slope = SLOPES[trial.world]
    z = (
        World(trial.world, lambda g, shape: g.standard_normal(shape), 0)
        .samples("trend", trial.count, 4 * 3 * trial.n)
        .reshape(trial.count, 4, -1)
    )
    x = np.repeat([1.0, 2.0, 3.0], trial.n)
    found = [stats.trend([(x, y) for y in strata]) for strata in slope * x + (z if kind == "normal" else np.exp(z))]
    low, high, rho = (np.array([getattr(each, name) for each in found]) for name in ("low", "high", "rho"))
    return _judged(low, high, float(rho.mean()))


# Sequential rules


@dataclass(frozen=True)
class Course:
    world: str
    share: float
    least: int = 5
    most: int = 200

    @property
    def name(self) -> str:
        return f"{self.world}; {self.share:.0%}, {self.least} to {self.most}"


COURSES = (
    Course("normal, 10 % spread", 0.05), Course("normal, 10 % spread", 0.1), Course("normal, 10 % spread", 0.02),
    Course("normal, 10 % spread", 0.05, 10), Course("normal, 30 % spread", 0.1), Course("lognormal, sigma 0.5", 0.1),
    Course("lognormal, sigma 1", 0.2), Course("counts of mean 20", 0.05), Course("half alike, half normal about it", 0.03),
)  # fmt: skip
COURSE = {course.name: course for course in COURSES}


def stopped(rows: Ends, course: Course) -> tuple[Ends, Ends, NDArray[np.int64]]:
    """`stats.sequential` for many at once: ends and n where each stops."""
    count = len(rows)
    low, high, at = np.full(count, nan), np.full(count, nan), np.full(count, course.most)
    narrow, going = np.zeros(count, dtype=np.int64), np.arange(count)
    for n in range(course.least, course.most + 1):
        found = mean_rows(rows[going, :n], inflated(LEVEL))
        half = (found.high - found.low) / 2
        narrow[going] = np.where(half <= course.share * np.abs(found.estimate), narrow[going] + 1, 0)
        done = (narrow[going] == LOOKS) | (n == course.most)
        low[going[done]], high[going[done]], at[going[done]] = found.low[done], found.high[done], n
        going = going[~done]
        if not going.size:
            break
    return low, high, at


def _sequential(trial: Trial, *, plain: bool = False) -> Outcome:
    """The rule's interval where it stops; or the `plain` one, as of a fixed n, which reports have of all measures."""
    course = COURSE[trial.world]
    world = BY_NAME[course.world]
    rows = world.samples("sequential", trial.count, course.most)
    low, high, at = stopped(rows, course)
    if plain:
        for n in np.unique(at):
            ended = at == n
            made = mean_rows(rows[ended, :n], LEVEL)
            low[ended], high[ended] = made.low, made.high
    found = _judged(low, high, world.mean)
    return Outcome(found.count, found.alike, found.unbounded, found.covered, float(at.mean()))


def _first_narrow(trial: Trial) -> Outcome:
    """Stops at the first n where Student's interval is narrow."""
    course = COURSE[trial.world]
    world = BY_NAME[course.world]
    rows = world.samples("sequential", trial.count, course.most)
    n = np.arange(1, course.most + 1)
    means = np.cumsum(rows, axis=1) / n
    variance = np.maximum(np.cumsum(rows**2, axis=1) / n - means**2, 0) * n / np.maximum(n - 1, 1)
    half = scipy_stats.t.ppf(0.5 + LEVEL / 2, np.maximum(n - 1, 1)) * np.sqrt(variance / n)
    narrow = half <= course.share * np.abs(means)
    narrow[:, : course.least - 1], narrow[:, -1] = False, True
    at, all_ = narrow.argmax(axis=1), np.arange(len(rows))
    found = _judged((means - half)[all_, at], (means + half)[all_, at], world.mean)
    return Outcome(found.count, found.alike, found.unbounded, found.covered, float(at.mean()) + 1)


METHODS: dict[str, Callable[[Trial], Outcome]] = {
    "mean: rule": _rule,
    "mean: t": _student,
    "mean: percentile bootstrap": _percentile,
    "median: rule": _median,
    "median: BCa": _bca,
    "paired difference: rule": partial(_difference, paired=True, ratio=False),
    "difference: rule": partial(_difference, paired=False, ratio=False),
    "paired ratio: rule": partial(_difference, paired=True, ratio=True),
    "ratio: rule": partial(_difference, paired=False, ratio=True),
    "paired ratio: Fieller": _fieller,
    "Holm": _family,
    "trend": _trend,
    "trend: interval": _trend_interval,
    "sequential: rule": _sequential,
    "sequential: plain": partial(_sequential, plain=True),
    "sequential: first narrow t": _first_narrow,
}


def shares(n: int) -> tuple[float, float, float]:
    """Coverage of shares, exactly: the mean and the least over shares of 1 to 99 %, and the mean of Clopper and Pearson's."""
    p = np.arange(1, 100) / 100
    chance = scipy_stats.binom.pmf(np.arange(n + 1), n, p[:, None])
    covers: list[Ends] = []
    for made in (lambda did: stats.share(did, n), lambda did: scipy_stats.binomtest(did, n).proportion_ci(LEVEL, "exact")):
        ends = [made(did) for did in range(n + 1)]
        inside = np.array([(end.low <= p) & (p <= end.high) for end in ends]).T
        covers.append((chance * inside).sum(axis=1))
    return float(covers[0].mean()), float(covers[0].min()), float(covers[1].mean())
