"""What of a study is to be advised on: its flows, their bottleneck, and what both have at present."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sawtooth.analyses import caveats
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting import setup as setups
from sawtooth.linting.setup import Flow, Setup, Subject
from sawtooth.plan import make_plan
from sawtooth.study import Study
from sawtooth.study.assign import Tree, assign
from sawtooth.study.overlap import overwrites
from sawtooth.study.paths import quoted
from sawtooth.study.written import written

PRESENT = "present"
"""What `--cc` and `--queue` call what the study has."""


@dataclass(frozen=True)
class Setting:
    """A study without arms, figures and findings, and what of it is chosen anew.

    Attributes:
        tree: of the study: its scenario as it is at present, its sweep, draws and variables.
        study: that it was made of.
        flows: the blocks of flows whose congestion control is chosen, one flow of each.
        others: names of all other blocks.
        sharing: how many flows of TCP there are that last, advised or not.
        link: the bottleneck, as a link of `links`; label: as results have it, with its number.
        duration_s: of a run.
        notes: what is to be known.

    """

    tree: Tree
    study: Study
    flows: Sequence[Flow]
    others: Sequence[str]
    sharing: float
    link: str
    label: str
    duration_s: float
    notes: Sequence[str]

    @property
    def caveats(self) -> list[str]:
        """Of the study: what a fit could not tell, and what else is to be known before any verdict."""
        return caveats(self.study)

    @property
    def names(self) -> list[str]:
        """Of the blocks."""
        return [flow.name for flow in self.flows]

    @property
    def scenario(self) -> Tree:
        """Of the study."""
        return cast(Tree, self.tree["scenario"])

    @property
    def controls(self) -> list[Tree]:
        """The congestion control of each block at present."""
        return [flow.cc for flow in self.flows]

    @property
    def queue(self) -> Tree:
        """The queue at present, as it is written."""
        return setups.named(self.scenario["links"][self.link].get("queue", "drop_tail"))

    @property
    def limit(self) -> Any:
        """How much the queue holds at present."""
        return self.queue.get("limit") or setups.default("queue", self.queue["name"], "limit")


def setting(study: Study, *, flows: Sequence[str] = (), link: str | None = None, arm: str | None = None) -> Setting:
    """What of a study is to be advised on.

    Args:
        study: any that runs in the simulator.
        flows: names of blocks of flows; all of TCP if empty.
        link: whose queue is chosen; by default the one that has least for the first of the flows.
        arm: whose settings are the present ones; by default those of the first.

    Raises:
        StudyError: if it does not run in the simulator, or has no such flow, link or arm, or varies what is to be chosen.

    """
    if study.on_kernels:
        raise StudyError(
            f"advise compares in the simulator, and {study.path} runs on {study.backend}",
            hint="add --backend sim, if the scenario is meant for it, too",
        )
    # What is wrong with the study itself has its place in it.
    make_plan(study)
    notes: list[str] = []
    arm = _arm(study, arm, notes)
    _require_kept(study, arm)
    tree = _bare(study, arm)
    plan = make_plan(Study.parse(written(tree), study.path, files=not study.folder.shut))
    first = Subject(plan).setups[0]
    chosen = _flows(first, study, flows)
    found = _link(chosen, link)
    _require_free(study, chosen, found.name)
    others = [flow.name for flow in _blocks(first) if flow.name not in {each.name for each in chosen}]
    for flow in _blocks(first):
        # A block that is not named is called by how many there are, and a neighbour would change that.
        tree["scenario"]["flows"][int(flow.at.removeprefix("flows[").removesuffix("]"))].setdefault("name", flow.name)
    sharing = sum(flow.number for flow in first.flows if not flow.udp and "arrivals" not in flow.tree)
    return Setting(tree, study, chosen, others, sharing, found.name, found.label, first.duration_s, notes)


def _arm(study: Study, arm: str | None, notes: list[str]) -> str | None:
    if not study.arms:
        if arm is not None:
            raise StudyError(f"{study.path} has no arms, so none is called `{arm}`", hint="leave out --arm")
        return None
    if arm is None:
        arm = next(iter(study.arms))
        if len(study.arms) > 1:
            notes.append(f"the study has {len(study.arms)} arms: the present choice is that of the first, {arm}; --arm names another")
    if arm not in study.arms:
        raise StudyError(f"{study.path} has no arm `{arm}`", hint=did_you_mean(arm, study.arms))
    return arm


def _require_kept(study: Study, arm: str | None) -> None:
    """Refuses options that would be lost, as the arm that is the present choice sets the same."""
    for option in study.base:
        for each in study.arms.get(arm, ()) if arm is not None else ():
            if option.origin.startswith("--set") and overwrites(option, each):
                raise StudyError(
                    f"`--set {option.path}=...` says what the present choice has, and so does the arm `{arm}`: `{each.path}`",
                    study.document.place(each.origin, key=True),
                    "leave out --set, or name with --arm an arm that leaves it alone",
                )


def _bare(study: Study, arm: str | None) -> Tree:
    """The tree of a study that has these cells and draws, and a single choice."""
    scenario: Tree = copy.deepcopy(dict(study.scenario))
    for each in study.arms.get(arm, ()) if arm is not None else ():
        assign(scenario, each, study.document)
    tree: Tree = {"name": study.name, "question": study.question, "seed": study.seed}
    if study.raised:
        tree["limits"] = dict(study.raised)
    if "vars" in scenario:
        tree["vars"] = scenario.pop("vars")
    if study.draws:
        tree["draws"] = copy.deepcopy(dict(study.draws))
    tree["scenario"] = scenario
    if "lint" in study.tree:
        tree["lint"] = study.tree["lint"]
    if study.sweep:
        tree["sweep"] = _sweep(study)
    return tree


def _sweep(study: Study) -> Any:
    """The sweep as it is written if all of it is meant, so that its cells keep their numbers; else what is left of it."""
    if study.sweep == study.full_sweep:
        return study.tree["sweep"]
    for name, draw in study.draws.items():
        if draw.get("distribution") == "table":
            raise study.document.error(
                f"`{name}` is drawn from a table by the numbers of cells, and a part of the sweep would have others",
                f"draws.{quoted(name)}", "leave out --short and --set of what is swept",
            )  # fmt: skip
    return [{"cases": [{each.path: each.value for each in level} for level in block]} for block in study.sweep]


def _blocks(first: Setup) -> Iterator[Flow]:
    """One flow of each block."""
    seen: set[str] = set()
    for flow in first.flows:
        if flow.at not in seen:
            seen.add(flow.at)
            yield flow


def _flows(first: Setup, study: Study, names: Sequence[str]) -> list[Flow]:
    found = {flow.name: flow for flow in _blocks(first) if not flow.udp}
    if not found:
        raise StudyError(f"no flow of {study.path} is of TCP, and others have no congestion control", hint="name a study that has some")
    for name in names:
        if name not in found:
            raise StudyError(f"{study.path} has no flow of TCP called `{name}`", hint=did_you_mean(name, found))
    return [flow for name, flow in found.items() if not names or name in names]


def _link(flows: Sequence[Flow], name: str | None) -> setups.Link:
    crossed = {link.name: link for flow in flows for link in flow.links}
    if name is not None:
        if name not in crossed:
            raise StudyError(f"no flow that is advised crosses a link `{name}`", hint=did_you_mean(name, crossed))
        return crossed[name]
    if (slowest := flows[0].bottleneck) is not None:
        return slowest
    if len(crossed) > 1:
        raise StudyError("which link is the bottleneck cannot be told, as rates change", hint=f"name it with --link: {', '.join(crossed)}")
    return next(iter(crossed.values()))


def _require_free(study: Study, flows: Sequence[Flow], link: str) -> None:
    """Refuses a sweep of what is to be chosen."""
    places = {f"{flow.at}.cc": "the congestion control" for flow in flows} | {
        "cc": "the congestion control",
        f"links.{link}.queue": "the queue",
    }
    free = {f"links.{link}.queue.limit"}
    for block in study.sweep:
        for each in (assignment for level in block for assignment in level):
            path = each.path.removesuffix(".name")
            for place, what in places.items():
                if (path == place or path.startswith(f"{place}.")) and each.path not in free:
                    raise StudyError(
                        f"the study varies {what} that is to be chosen: `{each.path}`",
                        study.document.place(each.origin), f"choose one level with --set {each.path}=VALUE",
                    )  # fmt: skip


def as_text(value: Mapping[str, Any]) -> str:
    """A part in words: its name, and what is set besides."""
    set_ = [f"{key} {each if isinstance(each, str) else json.dumps(each)}" for key, each in value.items() if key != "name"]
    return f"{value['name']} ({', '.join(set_)})" if set_ else str(value["name"])
