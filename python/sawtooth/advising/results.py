"""What the runs of an advice come to: an order from the ranking, and verdicts from the runs that did not choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.advising import objective as objectives
from sawtooth.advising.choices import Choice
from sawtooth.advising.experiment import BETTER, CLAIM, HARMLESS, WORSE, Experiment, alone, apart, pairs
from sawtooth.advising.objective import Asked
from sawtooth.analysis import Dataset
from sawtooth.errors import DatasetError
from sawtooth.findings.direction import ROUNDING
from sawtooth.findings.verdict import Evidence
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results import dataset as results
from sawtooth.stats import Interval, Vector

OPEN = "no difference shown"
"""What is said where no verdict is."""
MORE_HARM = "more than its own kind"
"""What is said of a choice that is shown to harm a neighbour more than that."""
_SMALLEST = 1e-6
"""Of p-values that are told apart."""


@dataclass(frozen=True)
class Ranked:
    """A choice in the ranking.

    Attributes:
        choice: which.
        value: of the objective, mean over replicates; a bound where runs did not finish, and not a number where none tells it.
        finished: whether all runs did.
        equal: the choice before it, or the present one, whose value is the same in every run; None if there is none.

    """

    choice: Choice
    value: float
    finished: bool
    equal: Choice | None = None


@dataclass(frozen=True)
class Harm:
    """What a choice does to a neighbour.

    Attributes:
        share: of the goodput that it has alone, what it loses, with its interval.
        own_kind: the same beside its own kind.
        verdict: whether it is no more.
        none: whether it is shown to be no more, or is its own kind's.

    """

    share: Interval
    own_kind: Interval
    verdict: str
    none: bool

    @property
    def more(self) -> bool:
        """Whether it is shown to be more."""
        return self.verdict == MORE_HARM


@dataclass(frozen=True)
class Judged:
    """A choice in the runs that did not choose it.

    Attributes:
        choice: which.
        value: of the objective, mean over replicates.
        finished: whether all runs were; else the value is the least that it may be.
        ratio: to the present choice, with its interval; None where runs did not finish.
        in_ranking: the same ratio in the runs that chose it, in which by chance it looks better than it is.
        answer: better, worse, no difference shown; or `not better`, `not worse`, where the contrary of what the ranking led to expect is shown.
        p: of that, adjusted for all verdicts; None where nothing varies, so that chance has no part.
        words: the numbers behind the answer.
        goodput_bps, delay_ns: means of the figure's two sides.
        harm: to a neighbour; None without one.

    """

    choice: Choice
    value: Interval
    finished: bool
    ratio: Interval | None
    in_ranking: float
    answer: str
    p: float | None
    words: str
    goodput_bps: float
    delay_ns: float
    harm: Harm | None


@dataclass(frozen=True)
class Pair:
    """Two of the best, held against each other in the runs that did not choose them.

    Attributes:
        first, second: the first ranks before the second.
        answer: of the first: better, not better, or no difference shown.
        ratio: of the first to the second, with its interval; None where runs did not finish.
        p: of the answer, adjusted for all verdicts; None where nothing varies.

    """

    first: Choice
    second: Choice
    answer: str
    ratio: Interval | None
    p: float | None


def ranked(experiment: Experiment, dataset: results.Dataset) -> list[Ranked]:
    """All choices, the best first; those that no run tells last."""
    found = _values(experiment, dataset, experiment.rule.objective.asked)
    made = [
        Ranked(choice, float(np.mean(low)) if low.size else math.nan, bool(np.array_equal(low, high)))
        for choice in experiment.choices
        for low, high in [found.get(choice.name, (_NONE, _NONE))]
    ]
    way = -1 if experiment.rule.objective.more else 1
    order = sorted(made, key=lambda each: (math.isnan(each.value), way * each.value if not math.isnan(each.value) else 0.0))
    first: dict[tuple[bytes, bytes], Choice] = {}
    for choice in (experiment.present, *(each.choice for each in order)):
        low, high = found.get(choice.name, (_NONE, _NONE))
        if low.size:
            first.setdefault((low.tobytes(), high.tobytes()), choice)
    of = {
        choice: first[low.tobytes(), high.tobytes()]
        for choice in experiment.choices
        for low, high in [found.get(choice.name, (_NONE, _NONE))]
        if low.size
    }
    return [replace(each, equal=None if of.get(each.choice, each.choice) is each.choice else of[each.choice]) for each in order]


def require_told(experiment: Experiment, order: Sequence[Ranked]) -> None:
    """Refuses a ranking in which there is nothing to hold against something.

    Raises:
        DatasetError: that says of what no run tells anything.

    """
    told = [each.choice for each in order if not math.isnan(each.value)]
    found = experiment.rule.objective
    if experiment.present not in told or len(told) < 2:
        raise DatasetError(
            f"no run of {'any other' if experiment.present in told else 'the present'} choice tells {found.name}: {found.words}",
            "name another --objective, or a longer `duration`",
        )


def best(experiment: Experiment, order: Sequence[Ranked]) -> dict[Choice, bool]:
    """The choices that are judged, each with whether it ranks before the present one: the best beside that, of those that are equal one."""
    told = [each for each in order if not math.isnan(each.value)]
    present = next(at for at, each in enumerate(told) if each.choice is experiment.present)
    others = [(at, each) for at, each in enumerate(told) if at != present]
    differ = [(at, each) for at, each in others if each.equal is None] or others
    return {each.choice: at < present for at, each in differ[: experiment.rule.confirm]}


def judged(
    experiment: Experiment, order: Sequence[Ranked], chosen: Mapping[Choice, bool], dataset: results.Dataset
) -> tuple[list[Judged], list[Pair]]:
    """The present choice and those that were judged, the best first; and these held against each other."""
    rule = experiment.rule
    values = _values(experiment, dataset, rule.objective.asked)
    carried = _means(_values(experiment, dataset, objectives.goodput(experiment.setting)))
    waits = _means(_values(experiment, dataset, objectives.delay(experiment.setting)))
    answers = Answers(dataset)
    verdicts = dict(zip((spec.name for spec in answers.shown.findings), answers.verdicts(), strict=True))
    adjusted = _adjusted(verdicts)
    in_ranking = {each.choice.name: each.value for each in order}
    present = values.get(experiment.present.name, (_NONE, _NONE))
    made: list[Judged] = []
    for choice in (experiment.present, *chosen):
        own = values.get(choice.name, (_NONE, _NONE))
        verdict = verdicts.get(f"{CLAIM}: {choice.name}")
        answer = _said(verdict.answer, better=chosen[choice]) if verdict is not None else ""
        chance = verdict is not None and not (_still(own) and _still(present))
        made.append(Judged(
            choice, stats.mean(own[0]), bool(np.array_equal(*own)), _ratio(own, present) if verdict is not None else None, in_ranking[choice.name] / in_ranking[experiment.present.name],
            answer, adjusted[f"{CLAIM}: {choice.name}"] if chance else None, verdict.numbers if verdict is not None else "", carried.get(choice.name, math.nan), waits.get(choice.name, math.nan),
            _harm(experiment, choice, [experiment.present, *chosen], dataset, verdicts) if rule.beside is not None else None,
        ))  # fmt: skip
    held: list[Pair] = []
    for first, second in pairs(chosen):
        name, one, other = apart(first, second), values.get(first.name, (_NONE, _NONE)), values.get(second.name, (_NONE, _NONE))
        p = None if _still(one) and _still(other) else adjusted[name]
        held.append(Pair(first, second, _said(verdicts[name].answer, better=True), _ratio(one, other), p))
    way = -1 if rule.objective.more else 1
    return sorted(made, key=lambda each: (math.isnan(each.value.estimate), way * each.value.estimate)), held


def unvaried(experiment: Experiment, dataset: results.Dataset) -> bool:
    """Whether the present choice does not differ from replicate to replicate: then the scenario has no chance in it."""
    values = _values(experiment, dataset, experiment.rule.objective.asked)
    return experiment.present.name in values and _still(values[experiment.present.name])


def _said(answer: str, *, better: bool) -> str:
    way = BETTER if better else WORSE
    return {"yes": way, "no": f"not {way}"}.get(answer, OPEN)


_NONE: Vector = np.zeros(0)


def _values(experiment: Experiment, dataset: results.Dataset, asked: Asked) -> dict[str, tuple[Vector, Vector]]:
    """Of each arm the least and the most of each replicate; of several cells their geometric mean, as the findings have it."""
    frame = Dataset.of(dataset).measure(asked.metric, flows=asked.flows, of=asked.of).filter(pl.col("low").is_not_null())
    if experiment.swept:
        mean = pl.col("low", "high").log().mean().exp()
        cells = frame["cell"].n_unique()
        frame = frame.group_by("arm", "replicate", maintain_order=True).agg(mean, pl.len()).filter(pl.col("len") == cells)
    frame = frame.sort("replicate", maintain_order=True)
    return {
        str(arm): (rows["low"].to_numpy().astype(np.float64), rows["high"].fill_null(math.inf).to_numpy().astype(np.float64))
        for (arm,), rows in frame.group_by("arm", maintain_order=True)
    }


def _means(values: dict[str, tuple[Vector, Vector]]) -> dict[str, float]:
    return {arm: float(low.mean()) for arm, (low, _) in values.items() if low.size}


def _still(values: tuple[Vector, Vector]) -> bool:
    low, high = values
    # Of runs that did not finish only bounds are alike.
    return not low.size or (bool(np.array_equal(low, high)) and float(np.ptp(low)) <= ROUNDING * float(np.abs(low).max()))


def _ratio(own: tuple[Vector, Vector], present: tuple[Vector, Vector]) -> Interval | None:
    """How many times the present choice it is; None where that is not known of all replicates."""
    known = all(np.array_equal(low, high) for low, high in (own, present)) and own[0].size == present[0].size
    return stats.ratio(own[0], present[0]) if known and own[0].size else None


def _adjusted(verdicts: dict[str, Verdict]) -> dict[str, float]:
    """The p of each claim: the smallest share of errors with which it, or its contrary, is shown; adjusted for all claims."""
    raw = [_p(verdict.evidence) if verdict.evidence else math.nan for verdict in verdicts.values()]
    return dict(zip(verdicts, stats.holm(raw), strict=True))


def _p(evidence: Sequence[Evidence]) -> float:
    """Of a claim of one cell, or of the mean over all."""
    return min(_smallest(evidence[0].shows), _smallest(evidence[0].denies))


def _smallest(shows: Callable[[float], bool]) -> float:
    """By bisection of its logarithm: intervals grow with their level."""
    if shows(1 - _SMALLEST):
        return _SMALLEST
    low, high = math.log(_SMALLEST), 0.0
    if not shows(1 - math.exp(-1e-3)):
        return 1.0
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if shows(1 - math.exp(middle)) else (middle, high)
    return math.exp(high)


def _harm(experiment: Experiment, choice: Choice, shown: Sequence[Choice], dataset: results.Dataset, verdicts: dict[str, Verdict]) -> Harm:
    """What the neighbour loses of the goodput that it has alone (Ware, Mukerjee, Seshan and Sherry, Beyond Jain's Fairness Index, HotNets 2019)."""
    values = _values(experiment, dataset, Asked("goodput_bps", of=experiment.neighbour))
    kin = experiment.kin(choice, shown)
    unhurt = values[alone(choice, experiment.setting)][0]
    verdict = verdicts.get(f"{HARMLESS}: {choice.name}")
    said = {"yes": "no more than its own kind", "no": MORE_HARM}.get(verdict.answer if verdict else "", OPEN)
    lost, own = (_lost(values[each.name][0], unhurt) for each in (choice, kin))
    return Harm(lost, own, said if verdict else "its own kind", verdict is None or verdict.answer == "yes")


def _lost(beside: Vector, unhurt: Vector) -> Interval:
    found = stats.ratio(beside, unhurt)
    return Interval(1 - found.estimate, 1 - found.high, 1 - found.low, found.n, found.kind)
