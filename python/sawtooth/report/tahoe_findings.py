"""The findings of the Tahoe/Reno study, put to any set of outcomes: our replicates, or single runs of another simulator.

A comparison of two means is `for` a claim, `against` it, or `open`: by the 95 % interval of the difference, paired where both sides share
their start times; against a claim at 95 % for all comparisons of the claim together (Bonferroni). A single run has no interval: then the
sign of the difference decides, about that run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sawtooth import stats
from sawtooth.report.document import Verdict
from sawtooth.stats import Means, Vector

SMALL_WINDOW = 2000
LARGE_WINDOWS = (32000, 64000)
LARGE_QUEUES = (32000, 64000)
# How much goodput may change with the queue and still be called independent of it.
MARGIN = 0.05
# Relative differences below this are rounding.
_ROUNDING = 1e-9
ARMS = {"tahoe": "Tahoe", "reno": "Reno"}


@dataclass(frozen=True)
class Case:
    """One cell and arm: number of flows; queue, window and segment in bytes."""

    flows: int
    queue: int
    window: int
    segment: int
    arm: str

    def words(self, *leave: str) -> str:
        """The case in words, without the parts named in `leave`."""
        parts = {"arm": ARMS.get(self.arm, self.arm), "flows": f"{self.flows} flow{'s' if self.flows > 1 else ''}",
                 "window": f"window {self.window}", "queue": f"queue {self.queue}", "segment": f"segment {self.segment}"}  # fmt: skip
        return ", ".join(text for name, text in parts.items() if name not in leave)


@dataclass(frozen=True)
class Outcome:
    """What the runs of a case came to.

    Attributes:
        goodput: bytes per second, shape (replicates, flows).
        starts: seconds, of the same shape.

    """

    goodput: NDArray[np.float64]
    starts: NDArray[np.float64]

    @property
    def mean(self) -> Vector:
        """Mean over flows, shape (replicates,)."""
        return self.goodput.mean(axis=1)

    @property
    def deviation(self) -> Vector:
        """Standard deviation across flows (n - 1), shape (replicates,); 0 with one flow."""
        flows = self.goodput.shape[1]
        spread: Any = self.goodput.std(axis=1, ddof=1) if flows > 1 else np.zeros(self.goodput.shape[0])
        return stats.vector(spread)

    @property
    def jain(self) -> Vector:
        """Jain's index, shape (replicates,)."""
        return np.array([stats.jain(shares) for shares in self.goodput])

    def in_order(self) -> NDArray[np.float64]:
        """Goodput with the flows in order of their start, shape (replicates, flows)."""
        return np.take_along_axis(self.goodput, np.argsort(self.starts, axis=1, kind="stable"), axis=1)


Outcomes: TypeAlias = Mapping[Case, Outcome]
Comparison: TypeAlias = tuple[str, Means]


def verdicts(outcomes: Outcomes, levels: Mapping[str, Sequence[int]]) -> list[Verdict]:
    """Every finding of the study."""
    made: list[Verdict] = []
    for flows in levels["flows"]:
        chosen = {case: outcome for case, outcome in outcomes.items() if case.flows == flows}
        what = _what(flows)
        made += [
            _low(chosen, what),
            _independent(chosen, what),
            _by_segment(chosen, what, f"a window of {SMALL_WINDOW} bytes", (SMALL_WINDOW,), falling=True),
            _by_segment(chosen, what, "large windows", LARGE_WINDOWS, falling=False),
            *_reno_and_tahoe(chosen, what),
        ]
    many = {case: outcome for case, outcome in outcomes.items() if case.flows > 1}
    if many:
        made += [*(_least_spread(many, arm) for arm in ARMS), *_fairer(many), _earliest(many)]
    return [verdict for verdict in made if verdict.numbers]


def _what(flows: int) -> str:
    return "one flow" if flows == 1 else f"{flows} flows"


# --- claims -------------------------------------------------------------------------------------------------------------


def _low(outcomes: Outcomes, what: str) -> Verdict:
    comparisons = [
        (case.words("flows"), means_of(outcomes[_with(case, window=window)].mean, outcome.mean))
        for case, outcome in outcomes.items()
        if case.window == SMALL_WINDOW
        for window in sorted({other.window for other in outcomes if other.window > SMALL_WINDOW})
        if _with(case, window=window) in outcomes
    ]
    return every(f"With a window of {SMALL_WINDOW} bytes goodput is lower than with any larger one ({what})", comparisons)


def _independent(outcomes: Outcomes, what: str) -> Verdict:
    claim = f"With a window of {SMALL_WINDOW} bytes goodput does not depend on the queue, within {MARGIN:.0%} ({what})"
    counts = {"for": 0, "against": 0, "open": 0}
    worst, words = 0.0, ""
    pairs = [
        (case, _with(case, queue=max(other.queue for other in outcomes)))
        for case in outcomes
        if case.window == SMALL_WINDOW and case.queue < max(other.queue for other in outcomes)
    ]
    for case, reference in pairs:
        means = means_of(outcomes[case].mean, outcomes[reference].mean)
        ratio = stats.ratio_interval(means)
        if not means.testable:
            stance = "for" if 1 / (1 + MARGIN) <= ratio.estimate <= 1 + MARGIN else "against"
        else:
            wide = stats.ratio_interval(means, 1 - 0.05 / len(pairs))
            within = ratio.low >= 1 / (1 + MARGIN) and ratio.high <= 1 + MARGIN
            stance = "for" if within else "against" if wide.high < 1 / (1 + MARGIN) or wide.low > 1 + MARGIN else "open"
        counts[stance] += 1
        if abs(ratio.estimate - 1) >= worst:
            worst = abs(ratio.estimate - 1)
            words = f"largest change: {case.words('flows', 'window')}, {ratio.words('.3f')} times that with queue {reference.queue}"
    return Verdict(claim, _of_every(counts), f"{_counted(counts)}; {words}" if pairs else "")


def _by_segment(outcomes: Outcomes, what: str, windows_words: str, windows: Sequence[int], *, falling: bool) -> Verdict:
    segments = sorted({case.segment for case in outcomes})
    order = " > ".join(map(str, segments)) if falling else " < ".join(map(str, segments))
    comparisons: list[Comparison] = []
    for case, outcome in outcomes.items():
        for small, large in pairwise(segments):
            if case.window in windows and case.segment == small and _with(case, segment=large) in outcomes:
                other = outcomes[_with(case, segment=large)]
                first, second = (outcome, other) if falling else (other, outcome)
                comparisons.append((f"{case.words('flows', 'segment')}, {small} and {large}", means_of(first.mean, second.mean)))
    return every(f"With {windows_words}, goodput by segment size is {order} ({what})", comparisons)


def _reno_and_tahoe(outcomes: Outcomes, what: str) -> list[Verdict]:
    made: list[Verdict] = []
    for claim, side, sign in (
        ("With window <= queue Reno carries at least what Tahoe does", _fits, 1),
        ("With window > queue Tahoe carries more than Reno", _overflows, -1),
    ):
        chosen = _both(outcomes, side, _mean, sign)
        made.append(average(f"{claim}, on average over the cases ({what})", chosen, "B/s", strict=sign < 0))
        made.append(
            every(f"{claim}, in every case ({what})", [(name, means_of(*pair, paired=True)) for name, pair in chosen], strict=sign < 0)
        )
    return made


def _fits(case: Case) -> bool:
    return case.window <= case.queue


def _overflows(case: Case) -> bool:
    return case.window > case.queue


def _any(_: Case) -> bool:
    return True


def _mean(outcome: Outcome) -> Vector:
    return outcome.mean


def _jain(outcome: Outcome) -> Vector:
    return outcome.jain


def _least_spread(outcomes: Outcomes, arm: str) -> Verdict:
    claim = f"{ARMS[arm]}'s standard deviation across flows is nowhere smaller than with window {SMALL_WINDOW} and queue {' or '.join(map(str, LARGE_QUEUES))}"
    own = {case: outcome for case, outcome in outcomes.items() if case.arm == arm}
    inside = {case: outcome for case, outcome in own.items() if case.window == SMALL_WINDOW and case.queue in LARGE_QUEUES}
    outside = {case: outcome for case, outcome in own.items() if case not in inside}
    if not inside or not outside:
        return Verdict(claim, "cannot distinguish", "")
    least = [min(part.items(), key=lambda item: float(item[1].deviation.mean())) for part in (inside, outside)]
    # Segment by segment, against the mean over those queues: the least of them would be small by chance.
    comparisons: list[Comparison] = []
    for case, outcome in outside.items():
        there = [other.deviation for key, other in inside.items() if key.segment == case.segment]
        if there:
            comparisons.append((case.words("arm", "flows"), means_of(outcome.deviation, np.mean(there, axis=0))))
    found = every(claim, comparisons, strict=False)
    told = "; ".join(
        f"{place}: {stats.mean_interval(outcome.deviation).words(',.4g')} B/s ({case.words('arm', 'flows')})"
        for place, (case, outcome) in zip(("smallest there", "smallest elsewhere"), least, strict=True)
    )
    return Verdict(claim, found.answer, f"{found.numbers}; {told}")


def _fairer(outcomes: Outcomes) -> list[Verdict]:
    chosen = _both(outcomes, _any, _jain, 1)
    return [
        average("Reno is fairer than Tahoe by Jain's index, on average over the cases", chosen, "", strict=True),
        every("Reno is fairer than Tahoe by Jain's index, in every case", [(name, means_of(*pair, paired=True)) for name, pair in chosen]),
    ]


def _earliest(outcomes: Outcomes) -> Verdict:
    claim = "The flow that starts first does not always get the most"
    # One value per replicate: the share of cases in which it does.
    wins = np.array([outcome.in_order().argmax(axis=1) == 0 for outcome in outcomes.values()], dtype=np.float64)
    share = stats.mean_interval(wins.mean(axis=0))
    flows = next(iter(outcomes)).flows
    ranks = np.mean([(-outcome.in_order()).argsort(axis=1).argsort(axis=1)[:, 0].mean() + 1 for outcome in outcomes.values()])
    return Verdict(
        claim,
        "yes" if share.estimate < 1 else "no",
        f"it gets the most in {int(wins.sum())} of {wins.size} runs, a share of {share.words('.3f')} per replicate, where chance would give "
        f"{1 / flows:.3g}; its mean rank is {ranks:.2f} of {flows}",
    )


# --- comparisons --------------------------------------------------------------------------------------------------------


def means_of(first: Vector, second: Vector, *, paired: bool = False) -> Means:
    """Paired if both sides share their start times; otherwise independent groups."""
    return stats.means_of_pairs(first, second) if paired else stats.means_of_groups(first, second)


def stance(means: Means, comparisons: int, *, strict: bool) -> str:
    """Whether the first mean is above the second (or, unless `strict`, at least as high): `for`, `against` or `open`."""
    slack = _ROUNDING * max(abs(means.first), abs(means.second))
    floor = slack if strict else -slack
    if not means.testable:
        return "for" if means.first - means.second > floor else "against"
    if stats.difference_interval(means).low > floor:
        return "for"
    high = stats.difference_interval(means, 1 - 0.05 / comparisons).high
    return "against" if high < -slack or (strict and high <= slack) else "open"


def every(claim: str, comparisons: Sequence[Comparison], *, strict: bool = True) -> Verdict:
    """A claim that must hold in every comparison: the first mean is above the second."""
    if not comparisons:
        return Verdict(claim, "cannot distinguish", "")
    counts = {"for": 0, "against": 0, "open": 0}
    for _, means in comparisons:
        counts[stance(means, len(comparisons), strict=strict)] += 1
    name, least = min(comparisons, key=lambda item: _relative(item[1]))
    ratio = stats.ratio_interval(least)
    return Verdict(claim, _of_every(counts), f"{_counted(counts)}; the least favourable: {name}, ratio {ratio.words('.3f')}")


def average(claim: str, pairs: Sequence[tuple[str, tuple[Vector, Vector]]], unit: str, *, strict: bool) -> Verdict:
    """A claim about the mean over cases: one difference per replicate."""
    if not pairs:
        return Verdict(claim, "cannot distinguish", "")
    first, second = (np.mean([pair[side] for _, pair in pairs], axis=0) for side in (0, 1))
    means = means_of(first, second, paired=True)
    counts = {"for": 0, "against": 0, "open": 0}
    alike = 0
    for _, (a, b) in pairs:
        if np.allclose(a, b, rtol=_ROUNDING, atol=0):
            alike += 1
        else:
            counts[stance(means_of(a, b, paired=True), len(pairs), strict=True)] += 1
    numbers = (f"difference {stats.difference_interval(means).words('+,.4g')} {unit}".rstrip()
               + f", means {means.first:,.4g} against {means.second:,.4g}; of {len(pairs)} cases {counts['for']} for it, {counts['against']} "
               f"against, {counts['open']} open, {alike} exactly alike")  # fmt: skip
    return Verdict(claim, _answer(stance(means, 1, strict=strict)), numbers)


def _both(
    outcomes: Outcomes, side: Callable[[Case], bool], measure: Callable[[Outcome], Vector], sign: int
) -> list[tuple[str, tuple[Vector, Vector]]]:
    """Reno's and Tahoe's values (sign 1), or Tahoe's and Reno's (-1), of the cases that `side` chooses."""
    found: list[tuple[str, tuple[Vector, Vector]]] = []
    for case, outcome in outcomes.items():
        other = outcomes.get(_with(case, arm="tahoe"))
        if case.arm == "reno" and other is not None and side(case):
            reno, tahoe = measure(outcome), measure(other)
            found.append((case.words("arm", "flows"), (reno, tahoe) if sign > 0 else (tahoe, reno)))
    return found


def _with(case: Case, **other: Any) -> Case:
    return replace(case, **other)


def _relative(means: Means) -> float:
    return means.first / means.second if means.second else np.inf


def _answer(found: str) -> str:
    return {"for": "yes", "against": "no"}.get(found, "cannot distinguish")


def _of_every(counts: Mapping[str, int]) -> str:
    return "no" if counts["against"] else "cannot distinguish" if counts["open"] or not counts["for"] else "yes"


def _counted(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"holds in {counts['for']} of {total} comparisons, is contradicted in {counts['against']}, open in {counts['open']}"


def levels_of(cases: Iterable[Case]) -> dict[str, list[int]]:
    """The levels of each factor, from the smallest."""
    cases = list(cases)
    return {name: sorted({int(getattr(case, name)) for case in cases}) for name in ("flows", "queue", "window", "segment")}
