"""The plan of a study: every run, in order. Pure: it can be counted and shown before anything runs.

Runs are ordered by cell, then arm, then replicate, or in randomised blocks. All arms of a cell's replicate share its draws and its seed (common random
numbers), and neither depends on which other cells exist.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth.counted import counted
from sawtooth.display import Card, few
from sawtooth.errors import StudyError, StudyWarning, hinted, wrong_type
from sawtooth.expected import check
from sawtooth.presentation import presentation
from sawtooth.sharing import Shard, assigned, cut, work
from sawtooth.study import Assignment, Study, draws, effects, files
from sawtooth.study.assign import Tree, assign
from sawtooth.study.draws import seed_of
from sawtooth.study.overlap import check_overlaps
from sawtooth.study.replaced import check_replaced
from sawtooth.study.sweep import Cell, axis_names, cells
from sawtooth.study.template import Templates

RESULTS_EPOCH = 3
"""Raised whenever the same scenario and seed give other records than before; see "Changed results" in the changelog."""

# On kernels a batch has about so many deliveries, ten seconds, and never more runs than this.
_KERNEL_COST = 3e4
_KERNEL_RUNS = 64
# In the simulator so much work, some seconds, and rows that fit into memory a few times: of a flow and a run, or of a sample.
_SIMULATED_WORK = 6e7
_SIMULATED_ROWS = 1e5
# What a run on a kernel takes besides its segments, in segments.
_KERNEL_RUN = 1e4
# An estimate of events is of what links can carry. What is so many times the limit is refused beforehand; of what is between there is a warning.
_FAR_ABOVE = 1000.0
# What is drawn where nothing is.
_NOTHING: dict[str, Any] = {}
# A number of more digits than people read.
_LONG = 1e15


@dataclass(frozen=True, slots=True)
class Run:
    """One scenario with one seed. The scenario's text is made when it is asked for: of a million runs all texts would be gigabytes.

    Attributes:
        index: position in the plan, from 0.
        id: hash of the canonical scenario, seed, backend and results epoch.
        cell, arm, replicate: where it belongs; cells and replicates from 1.
        written: what writes the scenario, of all runs of a cell's arm.
        drawn: the variables that are drawn, as they are written in it.
        draws: each draw's value in base units; those of a list are called `NAME[1]`, `NAME[2]` ...
        demand: what it takes, about.
        round: 1, or which extension of the plan it came with, where replicates are made until a rule is met.

    """

    index: int
    id: str
    cell: int
    arm: str
    replicate: int
    seed: int
    written: Callable[[Mapping[str, str | list[str]]], str] = field(repr=False, compare=False)
    drawn: Mapping[str, str | list[str]]
    draws: Mapping[str, float]
    demand: Demand
    round: int = 1

    @property
    def scenario(self) -> str:
        """The tree as canonical JSON text, with the study's limits."""
        return self.written(self.drawn)

    def written_as(self, scenario: str) -> Run:
        """The same run of another scenario, as text."""

        def written(_: Mapping[str, str | list[str]]) -> str:
            return scenario

        return dataclasses.replace(self, written=written)

    @property
    def cost(self) -> float:
        """Segments it will deliver, at most about."""
        return self.demand.segments


@dataclass(frozen=True, slots=True)
class Demand:
    """What runs take, about.

    Attributes:
        segments: delivered, at most about; where sizes or intervals are random about what is expected.
        events: of the simulator.
        rows: of all tables.
        memory_bytes: of the run that takes most.

    """

    segments: float = 0.0
    events: float = 0.0
    rows: float = 0.0
    memory_bytes: float = 0.0

    def __str__(self) -> str:
        memory = f"{self.memory_bytes / 1e9:,.1f} GB" if self.memory_bytes >= 1e9 else f"{max(self.memory_bytes / 1e6, 1.0):.0f} MB"
        return f"about {self.events:,.0f} events and {self.rows:,.0f} rows; a run takes up to about {memory}"

    def facts(self) -> dict[str, float]:
        """What is not said of segments, for programs."""
        return {"events": self.events, "rows": self.rows, "memory_bytes": self.memory_bytes}

    def with_runs(self, number: int, each: Demand) -> Demand:
        """With so many runs more, alike."""
        return Demand(
            self.segments + number * each.segments,
            self.events + number * each.events,
            self.rows + number * each.rows,
            max(self.memory_bytes, each.memory_bytes),
        )


@dataclass(frozen=True, repr=False)
class Plan:
    """All runs of a study, and the batches in which they are done; what they take; and what about the study is hardly meant, each once.

    With a shard it is the plan of all runs still, of which that part is to be done.
    """

    study: Study
    cells: Sequence[Cell]
    runs: Sequence[Run]
    batches: Sequence[range]
    warnings: Sequence[StudyWarning] = ()
    demand: Demand = Demand()
    shard: Shard | None = None

    def __repr__(self) -> str:
        """How many runs of what, and what they take."""
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        until = self.study.until
        return Card("Plan", self.study.name, self.study.question, {
            "cells": f"{len(self.cells):,}", "arms": few(self.study.arms), "replicates": until.words if until else self.study.replicates,
            "runs": self.size,
            "segments": f"{'about' if self.random else 'at most about'} {self.cost:,.0f}", "takes": str(self.demand),
            "warnings": "; ".join(warning.message for warning in self.warnings),
        })  # fmt: skip

    @property
    def size(self) -> str:
        """How many runs of what."""
        study = self.study
        arms = f" x {counted(len(study.arms), 'arm')}" if study.arms else ""
        text = f"{counted(len(self.cells), 'cell')}{arms} x"
        if study.until is None:
            return f"{text} {study.counted} = {counted(len(self.runs), 'run')}"
        most = len(self.cells) * max(1, len(study.arms)) * study.most
        return f"{text} {study.repeat:,} to {study.most:,} replicates = {len(self.runs):,} to {most:,} runs"

    @functools.cached_property
    def mine(self) -> Sequence[int]:
        """The numbers of the batches that are to be done: all, or those of the shard."""
        shard, every = self.shard, range(len(self.batches))
        return every if shard is None else [batch for batch in every if self.shards[batch] == shard.number]

    @functools.cached_property
    def shards(self) -> Sequence[int]:
        """Of each batch the number of the shard that does it; empty if there are no shards."""
        if self.shard is None:
            return []
        return assigned([sum(self.work[batch.start : batch.stop]) for batch in self.batches], self.shard.of)

    @property
    def cost(self) -> float:
        """Segments that all runs will deliver, at most about."""
        return sum(run.cost for run in self.runs)

    @functools.cached_property
    def work(self) -> Sequence[float]:
        """What each run takes, at most about, for progress and the order in which they are done: in the simulator in events, on kernels in segments."""
        if self.study.on_kernels:
            return [run.cost + _KERNEL_RUN for run in self.runs]
        return [work(run.demand.events, run.demand.rows) for run in self.runs]

    @property
    def random(self) -> bool:
        """Whether what is sent is random, so that runs may deliver more than what is expected."""
        flows: list[Tree] = json.loads(self.runs[0].scenario)["flows"] if self.runs else []
        return any("arrivals" in flow or "source" in flow for flow in flows)

    def notes(self, machine_bytes: float) -> list[str]:
        """What a run's memory would be too much for; it is of what links can carry, and a run may well take less."""
        memory, limit = self.demand.memory_bytes, self.study.limits["memory"]
        found: list[str] = []
        if memory > machine_bytes:
            found.append(f"note: that is more than the {machine_bytes / 1e9:,.1f} GB of this machine")
        if memory > limit:
            found.append(f"note: a run that takes more than limits.memory = {limit / 1e9:,.1f} GB is ended")
        return found

    def table(self) -> pl.DataFrame:
        """One row per run: run, id, cell, arm, replicate, seed, factors as text and value, draws."""
        by_number = {cell.number: cell for cell in self.cells}
        data: dict[str, pl.Series] = {
            "run": pl.Series([run.index for run in self.runs], dtype=pl.UInt32),
            "id": pl.Series([run.id for run in self.runs], dtype=pl.String),
            "cell": pl.Series([run.cell for run in self.runs], dtype=pl.UInt32),
            "arm": pl.Series([run.arm for run in self.runs], dtype=pl.String),
            "replicate": pl.Series([run.replicate for run in self.runs], dtype=pl.UInt32),
            "seed": pl.Series([run.seed for run in self.runs], dtype=pl.UInt64),
        }
        if self.study.until:
            data["round"] = pl.Series([run.round for run in self.runs], dtype=pl.UInt16)
        paths = list(dict.fromkeys(path for cell in self.cells for path in cell.factors))
        for path, name in axis_names(paths).items():
            values = [by_number[run.cell].factors.get(path) for run in self.runs]
            texts = [None if value is None else _text(value) for value in values]
            data[name] = pl.Series(texts, dtype=pl.String)
            data[f"{name}_value"] = pl.Series([_base_value(text) for text in texts], dtype=pl.Float64)
        for name in self.runs[0].draws if self.runs else ():
            data[f"draw_{name}"] = pl.Series([run.draws[name] for run in self.runs], dtype=pl.Float64)
        return pl.DataFrame(data)


def make_plan(study: Study) -> Plan:
    """Lays out every run of a study and checks one of each cell and arm.

    Raises:
        StudyError: for anything that no run could use, with its place in the study.

    """
    if not isinstance(study, Study):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a plan is made of a Study; `Study.load(path)` reads one", study)
    check_overlaps(study)
    all_cells = cells(study)
    runs: list[Run] = []
    warnings: dict[StudyWarning, None] = {}
    demand, longest = Demand(), (0.0, StudyWarning(""))
    templates = Templates(study)
    planned, most = study.planned, study.most
    for cell in all_cells:

        def checked(arm: str, scenario: str, applied: Sequence[Assignment]) -> Demand:
            nonlocal demand, longest
            each, strange = _check(study, scenario, applied)
            ended = _ended(study, each.events, applied)
            if ended is not None and each.events > longest[0]:
                longest = each.events, StudyWarning(ended.message, ended.place, ended.hint)
            demand = demand.with_runs(study.repeat_of(arm), each)
            warnings.update(dict.fromkeys(strange))
            return each

        runs += _runs(study, cell, range(1, planned + 1), len(runs), checked, templates=templates)
        if most > planned:
            # What cannot be drawn of the last replicate is told now, not in the middle.
            next(_runs(study, cell, range(most, most + 1), 0, _unknown))
    if longest[0]:
        warnings[longest[1]] = None
    check_replaced(study, all_cells)
    built = _Built(runs, len(all_cells))
    # What figures and findings name comes after the scenario: a misspelt path of the sweep is blamed itself, not what speaks of its factor.
    warnings.update(dict.fromkeys(check(study, presentation(study), all_cells, built)))
    warnings.update(dict.fromkeys(effects.warnings(study, built)))
    if study.order == "blocks":
        runs = _in_blocks(study, runs)
    return Plan(study, all_cells, runs, _batches(study, runs), tuple(warnings), demand)


def check_short(study: Study) -> None:
    """Checks the `[short]` form, too, which is tried first and in CI: for what tells of a whole study file, not for what wants its runs.

    Raises:
        StudyError: for anything of it that no run could use, with its place in the study.

    """
    if (shortened := study.shortened()) is not None:
        make_plan(shortened)


def grown(plan: Plan, more: Mapping[int, int]) -> Plan:
    """A plan with more replicates of some cells: a round more. What it had keeps its numbers.

    Args:
        plan: so far.
        more: cell to number of replicates.

    """
    study = plan.study
    had: dict[int, int] = {}
    takes: dict[tuple[int, str], Demand] = {}
    for run in plan.runs:
        had[run.cell] = max(had.get(run.cell, 0), run.replicate)
        takes[run.cell, run.arm] = run.demand
    number = 1 + max((run.round for run in plan.runs), default=0)
    first = len(plan.runs)
    runs: list[Run] = []
    templates = Templates(study)
    for cell in plan.cells:
        if cell.number in more:
            replicates = range(had[cell.number] + 1, had[cell.number] + more[cell.number] + 1)

            def known(arm: str, _scenario: str, _applied: Sequence[Assignment], of: int = cell.number) -> Demand:
                return takes[of, arm]

            runs += _runs(study, cell, replicates, first + len(runs), known, number, templates)
    if study.order == "blocks":
        runs = _in_blocks(study, runs, first)
    batches = [*plan.batches, *_batches(study, runs)]
    return dataclasses.replace(plan, runs=[*plan.runs, *runs], batches=batches)


def regrown(plan: Plan, table: pl.DataFrame) -> Plan:
    """A plan with those rounds more that a table of its runs has, such as that of results."""
    if plan.study.until is None or "round" not in table.columns:
        return plan
    had = max((run.round for run in plan.runs), default=0)
    rounds = (
        table.filter(pl.col("round") > had)
        .group_by("round", "cell", maintain_order=True)
        .agg(pl.col("replicate").n_unique())
        .sort("round", "cell")
    )
    for _, group in rounds.group_by("round", maintain_order=True):
        plan = grown(plan, dict(group.select("cell", "replicate").iter_rows()))
    return plan


def _runs(
    study: Study,
    cell: Cell,
    replicates: range,
    first: int,
    demand_of: Callable[[str, str, Sequence[Assignment]], Demand],
    round_: int = 1,
    templates: Templates | None = None,
) -> Iterator[Run]:
    """The runs of some of a cell's replicates, arm by arm, numbered from `first`.

    Args:
        study: whose.
        cell: which.
        replicates: of it.
        first: the number of the first run.
        demand_of: what each run of an arm takes, told by the first one's scenario and what was assigned there.
        round_: with which extension of the plan they come.
        templates: what earlier cells have left for those that differ in plain values alone.

    """
    templates = templates or Templates(study)
    drawn: list[tuple[dict[str, str | list[str]], dict[str, float]]] | None = None
    key = cell.key
    seeds = [seed_of(study.seed, f"run/{key}/{replicate}") for replicate in replicates]
    index = first
    for arm, assignments in (study.arms or {"": ()}).items():
        applied: list[Assignment] = [*study.base, *cell.assignments, *assignments]
        kind = templates.kind(arm, cell.assignments)
        written = templates.find(kind, cell.factors)
        if written is None:
            tree = copy.deepcopy(study.scenario)
            for assignment in applied:
                assign(tree, assignment, study.document)
            files.inline(tree, study.folder, study.locator(applied))
            written = templates.add(kind, tree, cell.factors)
        if drawn is None:
            drawn = draws.draw(study, cell, written.variables, replicates)
        demand: Demand | None = None
        # By a rule all arms have the same.
        last = study.most if study.until else study.repeat_of(arm)
        for replicate, seed, (texts, values) in zip(replicates, seeds, drawn, strict=True):
            if replicate > last:
                break
            text = written.identity(texts)
            identity = _run_id(text, seed, study.backend)
            if demand is None:
                demand = demand_of(arm, written.limited(text), applied)
            yield Run(index, identity, cell.number, arm, replicate, seed, written, texts or _NOTHING, values or _NOTHING, demand, round_)
            index += 1


def _unknown(_arm: str, _scenario: str, _applied: Sequence[Assignment]) -> Demand:
    return Demand()


class _Built(Mapping[tuple[int, str], str]):
    """The scenario of each cell's arm, of its first run, written when it is asked for; all cells have as many runs, in the same order."""

    def __init__(self, runs: Sequence[Run], cells: int) -> None:
        self._runs, self._cells = runs, cells
        self._each = len(runs) // cells if cells else 0
        self._first: dict[str, int] = {}
        for at, run in enumerate(runs[: self._each]):
            self._first.setdefault(run.arm, at)

    def __getitem__(self, key: tuple[int, str]) -> str:
        cell, arm = key
        if not 0 <= cell < self._cells:
            raise KeyError(key)
        return self._runs[cell * self._each + self._first[arm]].scenario

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((cell, arm) for cell in range(self._cells) for arm in self._first)

    def __len__(self) -> int:
        return self._cells * len(self._first)


def _in_blocks(study: Study, runs: Sequence[Run], first: int = 0) -> list[Run]:
    """Replicate by replicate, each in a random order of its own (Box, Hunter and Hunter 2005, chapter 4: block, then randomise)."""
    ordered = sorted(runs, key=lambda run: (run.replicate, seed_of(study.seed, f"order/{run.cell}/{run.arm}/{run.replicate}")))
    return [dataclasses.replace(run, index=index) for index, run in enumerate(ordered, first)]


def _check(study: Study, scenario: str, applied: Sequence[Assignment]) -> tuple[Demand, list[StudyWarning]]:
    """What a run takes, and what about it is hardly meant."""
    try:
        demand, strange = _core.examine(scenario, kernel=study.on_kernels)
    except _core.ScenarioError as error:
        raise study.located(error, applied) from None
    located = [study.located(warning, applied) for warning in strange]
    return Demand(*demand), [StudyWarning(error.message, error.place, error.hint) for error in located]


def _ended(study: Study, events: float, applied: Sequence[Assignment]) -> StudyError | None:
    """That a run may be ended at the limit of events; raised if it will be after all: links that lose much carry less than they could, but not that much less."""
    limit = study.limits["events"]
    if study.on_kernels or events <= limit:
        return None
    number = f"{events:,.0f}" if events < _LONG else f"{events:.1e}".replace("e+", "e")
    text = f"a run takes up to about {number} events, and the limit is {limit:,.0f}"
    located = hinted(study.locator(applied)(text, "duration"), _core.how_to_raise("events", min(events, 1e300)))
    if events > _FAR_ABOVE * limit:
        raise located
    return located


def _run_id(scenario: str, seed: int, backend: str) -> str:
    return hashlib.sha256(f"{RESULTS_EPOCH}\n{backend}\n{seed}\n{scenario}".encode()).hexdigest()[:16]


def _batches(study: Study, runs: Sequence[Run]) -> list[range]:
    """Consecutive runs, as many as make a batch; decided by the plan alone, so that files do not depend on the workers."""
    if study.on_kernels:
        pieces = cut([run.cost for run in runs], _KERNEL_COST, _KERNEL_RUNS)
    else:
        # Of rows so many are worth as much as all the work of a batch.
        per_row = _SIMULATED_WORK / _SIMULATED_ROWS
        demands = [run.demand for run in runs]
        pieces = cut([max(work(each.events, each.rows), per_row * each.rows) for each in demands], _SIMULATED_WORK)
    first = runs[0].index if runs else 0
    return [range(first + piece.start, first + piece.stop) for piece in pieces]


def _text(value: Any) -> str:
    """A factor's value as it is written; that of a whole number takes a tenth of the time of any JSON."""
    return value if isinstance(value, str) else repr(value) if type(value) is int else json.dumps(value)


@functools.cache
def _base_value(text: str | None) -> float | None:
    """A factor's value in base units, if it is a number or a quantity."""
    if text is None:
        return None
    try:
        return _core.evaluate(text, {})[0]
    except _core.ScenarioError:
        return None
