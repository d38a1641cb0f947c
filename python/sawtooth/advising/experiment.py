"""The two studies of an advice, as files: one ranks, and one that knows nothing of its runs judges the best."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sawtooth.advising import objective as objectives
from sawtooth.advising.choices import Choice, own_kind, queue_name, queue_of
from sawtooth.advising.objective import Asked, Objective
from sawtooth.advising.setting import Setting
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.questions import Reader
from sawtooth.study import Study
from sawtooth.study.assign import Tree
from sawtooth.study.written import written

BETTER, WORSE = "better", "worse"
CLAIM, HARMLESS, APART = "verdict", "harmless", "apart"
"""What names of findings begin with: a choice beside the present one, beside a neighbour, and beside another of the best."""
_MOST_SHOWN = 12
"""Points of a figure that are told apart."""
NEIGHBOUR = "neighbour"
ONE_SCENARIO = "no replicate of the present choice differs from another, as nothing in the scenario is random: what is shown is of this one scenario alone; --vary '5 %' draws its rates and delays anew each time"
"""What is said of runs without chance."""
NO_NEIGHBOUR = "Choices are tested without a neighbour, and what they do to others is not told: --beside cubic puts a flow of cubic beside each, and tells its harm."
_RATE, _DELAY = "advised_rate", "advised_delay"


@dataclass(frozen=True)
class Rule:
    """What is fixed before anything runs.

    Attributes:
        objective: what choices are ranked by.
        repeat: replicates of each choice in the ranking.
        confirm: how many of the best are judged.
        fresh: replicates of each of them and of the present choice, of which the verdicts are made.
        bar: how far from the present choice, as a share, is better or worse.
        beside: the congestion control of a neighbour; None for none.
        vary: by how much rates and delays are drawn anew for each replicate, as a share; 0 for not.

    """

    objective: Objective
    repeat: int = 10
    confirm: int = 3
    fresh: int = 20
    bar: float = 0.05
    beside: str | None = None
    vary: float = 0.0

    def words(self, choices: int) -> list[str]:
        """The rule in sentences, for so many choices."""
        found = self.objective
        best = min(self.confirm, choices)
        said = [
            f"Ranked by {found.name}: {found.words}; {found.sense}.",
            f"All {choices} choices beside the present one are run in {self.repeat} replicates each, under common random numbers; they only choose the best {best}, of those that are equal in every run one.",
            f"These and the present choice are run again in {self.fresh} replicates with other random numbers, of which alone verdicts and numbers are made:"
            f" the best of many is by chance better in the runs that chose it than it is.",
            f"Better or worse: {f'more than {100 * self.bar:.3g} % ' if self.bar else ''}from the present choice, in pairs of replicates, at most 5 % errors in all verdicts together (Holm).",
        ]
        if best > 1:
            said.append(
                "The best are held against each other in the same way, each against those that rank behind it; these verdicts are among all."
            )
        if self.beside:
            said.append(
                f"A flow of {self.beside} shares the path; harm is what it loses of the goodput that it has alone, held against what its own kind does to it in the same queue. That is claimed of the present choice, too. Advised is the best of those that are shown to be better and to do no more harm than that."
            )
        else:
            said.append(NO_NEIGHBOUR)
        if self.vary:
            said.append(
                f"Rates and delays of links are drawn anew in each replicate, within {100 * self.vary:.3g} %, for all choices alike."
            )
        return said


@dataclass(frozen=True)
class Experiment:
    """What is compared, where, and by what rule.

    Attributes:
        setting: of the study.
        choices: the present one first.
        rule: by which.

    """

    setting: Setting
    choices: Sequence[Choice]
    rule: Rule

    @property
    def present(self) -> Choice:
        """The present choice."""
        return self.choices[0]

    @property
    def others(self) -> Sequence[Choice]:
        """All but the present one."""
        return self.choices[1:]

    def ranking(self) -> Study:
        """The study that ranks."""
        arms = {choice.name: choice.arm(self.setting) for choice in self.choices}
        said = [
            *self.rule.words(len(self.others)),
            "This is the ranking. It has no verdicts: those are of the other study, which has other random numbers.",
        ]
        return self._study("ranking", arms, self.rule.repeat, 0, said, [])

    def confirmation(self, best: Mapping[Choice, bool], *, unvaried: bool = False) -> Study:
        """The study that judges the best of the ranking, each with whether it was better there than the present choice; and whether nothing varied there."""
        shown = [self.present, *best]
        arms = {choice.name: choice.arm(self.setting) for choice in shown}
        findings = [self._claim(choice, self.present, better=better) for choice, better in best.items()]
        findings += [self._claim(first, second, better=True) for first, second in pairs(best)]
        if self.rule.beside is not None:
            for choice in shown:
                kin = self.kin(choice, shown)
                arms.setdefault(kin.name, kin.arm(self.setting))
                arms.setdefault(alone(choice, self.setting), self._without(choice))
            findings += [self._harm(choice, self.kin(choice, shown)) for choice in shown if self.kin(choice, shown).name != choice.name]
        said = [*([f"{ONE_SCENARIO[0].upper()}{ONE_SCENARIO[1:]}."] if unvaried else []), *self.rule.words(len(self.others))]
        return self._study("verdict", arms, self.rule.fresh, 1, said, findings, [each.name for each in shown])

    def kin(self, choice: Choice, shown: Sequence[Choice]) -> Choice:
        """The choice with the same queue in which the neighbour meets its own kind; one that is shown anyway, if there is."""
        assert self.rule.beside is not None
        kind = {"name": self.rule.beside}
        controls = self.setting.controls
        for each in shown:
            own = all(cc == kind for cc in controls) if each.cc is None else each.cc == kind
            if own and each.queue == choice.queue:
                return each
        return own_kind(self.setting, self.rule.beside, choice.queue)

    def _without(self, choice: Choice) -> Tree:
        """The neighbour alone, with the queue of a choice."""
        return {**{f"{flow.at}.count": 0 for flow in self.setting.flows}, **queue_of(self.setting, choice.queue)}

    def _claim(self, choice: Choice, than: Choice, *, better: bool) -> Tree:
        """What the ranking makes one expect of a choice beside another; runs that it knows nothing of decide."""
        found, bar = self.rule.objective, self.rule.bar
        way, above = BETTER if better else WORSE, better == found.more
        is_present = than is self.present
        return {
            "name": f"{CLAIM}: {choice.name}" if is_present else apart(choice, than),
            "claim": f"{choice.name} is {way} than {'the present choice' if is_present else than.name}{f' by more than {100 * bar:.3g} %' if bar else ''}, by {found.name}",
            **found.asked.keys, "arm": choice.name, "is": "above" if above else "below",
            "than": {"arm": than.name, "times": 1 + bar if above else 1 / (1 + bar)}, **self._average(),
        }  # fmt: skip

    def _harm(self, choice: Choice, kin: Choice) -> Tree:
        return {
            "name": f"{HARMLESS}: {choice.name}",
            "claim": f"{choice.name} leaves a flow of {self.rule.beside} no less goodput, by more than {100 * self.rule.bar:.3g} %, than its own kind does in the same queue",
            "metric": "goodput_bps", "of": self.neighbour, "arm": choice.name, "is": "at least", "than": {"arm": kin.name, "times": 1 / (1 + self.rule.bar)}, **self._average(),
        }  # fmt: skip

    @property
    def neighbour(self) -> str:
        """What the neighbour is called: nothing that is there already."""
        taken = {*self.setting.names, *self.setting.others}
        return next(name for name in (NEIGHBOUR, *(f"{NEIGHBOUR}{at}" for at in range(2, len(taken) + 3))) if name not in taken)

    def _average(self) -> Tree:
        """Of a sweep the verdict is on all cells together, whatever their size."""
        return {"cells": "on average", "statistic": "geometric mean"} if self.swept else {}

    @property
    def swept(self) -> bool:
        """Whether there are several cells."""
        return "sweep" in self.setting.tree

    def _study(
        self,
        part: str,
        arms: Mapping[str, Tree],
        repeat: int,
        later: int,
        said: Sequence[str],
        findings: Sequence[Tree],
        shown: Sequence[str] = (),
    ) -> Study:
        setting = self.setting
        tree: Tree = copy.deepcopy(setting.tree)
        scenario: Tree = tree["scenario"]
        scenario["record"] = list(dict.fromkeys([*scenario.get("record", []), "waits"]))
        if self.rule.beside is not None:
            scenario["flows"] = [*scenario["flows"], self._neighbour()]
        if self.rule.vary:
            _vary(tree, setting, self.rule.vary)
        sweep = {"sweep": tree.pop("sweep")} if "sweep" in tree else {}
        lint = {"lint": tree.pop("lint")} if "lint" in tree else {}
        whole: Tree = {
            **tree, "name": f"{setting.study.name}-{part}", "question": f"Which congestion control and queue suit {setting.study.name}?", "backend": "sim",
            "repeat": repeat, "seed": setting.study.seed + later, "caveats": [*setting.caveats, *said], **sweep, "arms": dict(arms), **lint,
            **({"figures": [self._figure(shown)]} if len(shown or arms) <= _MOST_SHOWN else {}), **({"findings": list(findings)} if findings else {}),
        }  # fmt: skip
        try:
            made = Study.parse(written(whole), setting.study.path, files=not setting.study.folder.shut)
            # Nobody has seen this text: whatever is said of the study later, too, has no place in it, and none in the file that is named as it is.
            made = replace(made, document=replace(made.document, spans={}))
            make_plan(made)
        except StudyError as error:
            raise StudyError(error.message, None, error.hint) from None
        return made

    def _neighbour(self) -> Tree:
        first = self.setting.flows[0]
        path = [link.label for link in first.links]
        return {
            "name": self.neighbour,
            "path": path,
            "cc": self.rule.beside,
            **({"delay": first.tree["delay"]} if "delay" in first.tree and "[" not in str(first.tree["delay"]) else {}),
        }

    def _figure(self, shown: Sequence[str]) -> Tree:
        """Throughput against delay, better up and to the right."""
        setting = self.setting
        carried: Asked = objectives.goodput(setting)
        return {
            "name": "throughput-and-delay", "kind": "plane", **carried.keys, "against": objectives.delay_beside(setting), "turned": True,
            "label": "goodput of the advised flows", "x_label": f"95th percentile of the wait at {setting.link}", "curves": "arm",
            **({"arm": list(shown)} if shown else {}), **_apart(setting.study),
            "caption": "Goodput against delay: better is up and to the right.",
        }  # fmt: skip


def _apart(study: Study) -> Tree:
    """Where levels of a sweep go in a figure that has no axis for them: points of several would stand beside each other without a name."""
    swept = [name for name, levels in Reader(study, {}).levels.items() if len(levels) > 1]
    # Waits differ between levels by orders of magnitude, as of buffers.
    return {**dict(zip(("panels", "rows"), swept, strict=False)), "scale": "log"} if 0 < len(swept) <= 2 else {}


def pairs(best: Iterable[Choice]) -> list[tuple[Choice, Choice]]:
    """Each of the best, in the order of the ranking, with each behind it."""
    return list(itertools.combinations(best, 2))


def apart(choice: Choice, than: Choice) -> str:
    """What the finding is called that holds one of the best against another."""
    return f"{APART}: {choice.name} / {than.name}"


def alone(choice: Choice, setting: Setting) -> str:
    """What the arm is called in which the neighbour is alone in the queue of a choice."""
    return f"alone, {queue_name(setting, choice.queue)}"


def _vary(tree: Tree, setting: Setting, share: float) -> None:
    """Draws rates and delays of links anew in each replicate, which all choices share."""
    swept = {each.path for block in setting.study.sweep for level in block for each in level}
    draws: dict[str, Any] = tree.setdefault("draws", {})
    links: Mapping[str, Tree] = tree["scenario"]["links"]
    for at, (name, link) in enumerate(links.items(), 1):
        for key, variable in (("rate", _RATE), ("delay", _DELAY)):
            if key in link and f"links.{name}.{key}" not in swept:
                draws[f"{variable}_{at}"] = {"distribution": "uniform", "low": f"{1 - share:g}", "high": f"{1 + share:g}"}
                link[key] = f"{variable}_{at} * ({link[key]})"
    if not draws:
        tree.pop("draws")


def share_of(text: str, option: str) -> float:
    """A share from 0 up to below 1, as people write it.

    Raises:
        StudyError: if it is none.

    """
    plain = text.strip()
    try:
        value = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise StudyError(f"{option} is a share from 0 up to below 1, found `{text}`", hint=f"such as {option} '5 %'")
    return value
