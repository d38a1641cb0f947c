"""An advice: two experiments, one after the other, each an ordinary results directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sawtooth.advising import results
from sawtooth.advising.choices import choices, require_control
from sawtooth.advising.experiment import BETTER, ONE_SCENARIO, Experiment, Rule
from sawtooth.advising.objective import objective
from sawtooth.advising.results import Judged, Pair, Ranked
from sawtooth.advising.setting import setting
from sawtooth.errors import DatasetError
from sawtooth.execute import execute
from sawtooth.plan import Plan, make_plan
from sawtooth.report.origin import failures
from sawtooth.results.dataset import Dataset, is_results, require_ours
from sawtooth.study import Study

RANKING = "ranking"
"""The folder beside the verdicts in which the ranking is."""

Do: TypeAlias = Callable[[Plan, Path], Dataset]
"""Does what is missing of a plan in a directory."""


@dataclass(frozen=True)
class Advice:
    """What came of it.

    Attributes:
        experiment: what was compared.
        ranking: all choices, the best first.
        judged: the present choice and the best, in runs that did not choose them; the best first.
        pairs: the best held against each other in these runs.
        directory: the results of these; `ranking` in it has those of the ranking.
        studies: that of the ranking, and that of the verdicts.
        notes: what is to be known.

    """

    experiment: Experiment
    ranking: Sequence[Ranked]
    judged: Sequence[Judged]
    pairs: Sequence[Pair]
    directory: Path
    studies: tuple[Study, Study]
    notes: Sequence[str]

    @property
    def words(self) -> str:
        """The advice in sentences."""
        return f"Advice: {' '.join([*self._advised(), *self._present_harm()])}"

    def _advised(self) -> Iterator[str]:
        beside = self.experiment.rule.beside
        better = [each for each in self.judged if each.answer == BETTER]
        harmless = [each for each in better if each.harm is None or each.harm.none]
        if not better:
            yield "keep the present choice; nothing is shown to be better."
            return
        if harmless:
            first = harmless[0]
            yield f"{first.choice.name}{f', {first.ratio.estimate:.3g} times the present choice' if first.ratio is not None else ''}."
            if first.harm is not None:
                yield f"It does a flow of {beside} no more harm than its own kind."
            if others := [each for each in harmless if each is not first]:
                yield f"Better than the present choice, too: {_names(others)}."
                yield from self._among(first, others)
        else:
            yield "keep the present choice."
        harmful = [each for each in better if each.harm is not None and each.harm.more]
        if harmful:
            yield f"Better, but shown to do a flow of {beside} more harm than its own kind: {_names(harmful)}."
        if open_ := [each for each in better if each not in harmless and each not in harmful]:
            yield f"Better, but not shown to do a flow of {beside} no more harm than its own kind: {_names(open_)}."

    def _among(self, first: Judged, others: Sequence[Judged]) -> Iterator[str]:
        """Which of the others the first is shown to be better than, or not to be, and which it cannot be told from."""
        beaten = {id(pair.second) for pair in self.pairs if pair.first is first.choice and pair.answer == BETTER}
        leads = {id(pair.first) for pair in self.pairs if pair.second is first.choice and pair.answer == BETTER}
        by = f" by more than {100 * self.experiment.rule.bar:.3g} %" if self.experiment.rule.bar else ""
        if worse := [each for each in others if id(each.choice) in beaten]:
            yield f"Of these it is shown to be better{by} than {_names(worse)}."
        near = {id(pair.second) for pair in self.pairs if pair.first is first.choice and pair.answer == f"not {BETTER}"}
        if alike := [each for each in others if id(each.choice) in near]:
            yield f"It is shown not to be better{by} than {_names(alike)}: what else matters may decide."
        if same := [each for each in others if id(each.choice) not in beaten | leads | near]:
            yield f"It cannot be told from {_names(same)}: neither is shown to be better{by} than the other."

    def _present_harm(self) -> Iterator[str]:
        present = next(each for each in self.judged if each.choice is self.experiment.present)
        if present.harm is not None and present.harm.more:
            yield f"The present choice is shown to do a flow of {self.experiment.rule.beside} more harm than its own kind."


def _names(those: Sequence[Judged]) -> str:
    return "; ".join(each.choice.name for each in those)


def prepare(
    study: Study,
    *,
    controls: Sequence[str] = (),
    queues: Sequence[str] = (),
    flows: Sequence[str] = (),
    link: str | None = None,
    arm: str | None = None,
    by: str | None = None,
    least: bool = False,
    repeat: int = 10,
    confirm: int = 3,
    fresh: int = 20,
    bar: float = 0.05,
    beside: str | None = None,
    vary: float = 0.0,
) -> Experiment:
    """What is compared and by what rule.

    Args:
        study: whose scenario it is.
        controls: congestion controls, by name or as tables in TOML; `present` is what each flow has. The usual ones if empty.
        queues: of the bottleneck, likewise.
        flows: blocks of flows that are advised; all of TCP if empty.
        link: the bottleneck; by default the link that has least for the first flow.
        arm: of the study, whose settings are the present ones.
        by: an objective or a measure; by default what suits the traffic.
        least: whether less of a measure is better.
        repeat: replicates of the ranking.
        confirm: how many are judged.
        fresh: replicates of the verdicts.
        bar: how far from the present choice, as a share, is better or worse.
        beside: the congestion control of a neighbour.
        vary: by how much rates and delays are drawn anew in each replicate, as a share.

    Raises:
        StudyError: for what cannot be.

    """
    if beside is not None:
        require_control(beside)
    found = setting(study, flows=flows, link=link, arm=arm)
    rule = Rule(objective(found, by, least=least), repeat, confirm, fresh, bar, beside, vary)
    made = Experiment(found, choices(found, controls, queues), rule)
    # A choice that cannot be run is refused before the rule is told.
    made.ranking()
    return made


def advise(made: Experiment, directory: Path, do: Do | None = None) -> Advice:
    """Runs both experiments, or what is missing of them.

    Args:
        made: what is compared.
        directory: where results go.
        do: how a plan is done; by default with a thread per processor.

    Raises:
        StudyError, DatasetError: if that cannot be.

    """
    require_free(directory)
    first = made.ranking()
    ranking = (do or _do)(make_plan(first), directory / RANKING)
    order = results.ranked(made, ranking)
    results.require_told(made, order)
    chosen = results.best(made, order)
    second = made.confirmation(chosen, unvaried=results.unvaried(made, ranking))
    fresh = (do or _do)(make_plan(second), directory)
    notes = [*made.setting.notes, *_notes(made, [ranking, fresh])]
    return Advice(made, order, *results.judged(made, order, chosen, fresh), directory, (first, second), notes)


def require_free(directory: Path) -> None:
    """Refuses a directory that holds anything else, before hours of runs.

    Raises:
        DatasetError: if it does.

    """
    if directory.exists():
        require_ours(directory)
    if is_results(directory) and not is_results(directory / RANKING):
        raise DatasetError(f"{directory} holds results of something else", "name another directory with --out")


def _do(plan: Plan, directory: Path) -> Dataset:
    dataset = Dataset.create(directory, plan)
    execute(plan, dataset)
    return dataset


def _notes(made: Experiment, runs: Sequence[Dataset]) -> list[str]:
    """What is to be said of the runs."""
    found = [told for each in runs if (told := failures(each))]
    if results.unvaried(made, runs[-1]):
        found.append(ONE_SCENARIO)
    return found
