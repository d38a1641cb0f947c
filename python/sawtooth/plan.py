"""The plan of a study: every run, in order. Pure: it can be counted and shown before anything runs.

Runs are ordered by cell, then arm, then replicate, or in randomised blocks. All arms of a cell's replicate share its draws and its seed (common random
numbers), and neither depends on which other cells exist.
"""

from __future__ import annotations

import copy
import csv
import dataclasses
import functools
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import _core, files
from sawtooth.errors import StudyError, StudyWarning
from sawtooth.presentation import presentation
from sawtooth.study import Assignment, Study, assign
from sawtooth.sweep import Cell, axis_names, cells

RESULTS_EPOCH = 2
"""Raised whenever the same scenario and seed give other records than before; see "Changed results" in the changelog."""

# A batch is about this many deliveries (roughly two seconds of the simulator, ten of a kernel), and never more runs than this.
_SIMULATED_COST = 2e7
_KERNEL_COST = 3e4
_BATCH_RUNS = 64


@dataclass(frozen=True)
class Run:
    """One scenario with one seed.

    Attributes:
        index: position in the plan, from 0.
        id: hash of the canonical scenario, seed, backend and results epoch.
        cell, arm, replicate: where it belongs; cells and replicates from 1.
        scenario: the tree as canonical JSON text.
        draws: each draw's value in base units; those of a list are called `NAME[1]`, `NAME[2]` ...
        cost: segments it will deliver, roughly.

    """

    index: int
    id: str
    cell: int
    arm: str
    replicate: int
    seed: int
    scenario: str
    draws: dict[str, float]
    cost: float


@dataclass(frozen=True)
class Plan:
    """All runs of a study, and the batches in which they are done; and what about it is hardly meant, each once."""

    study: Study
    cells: Sequence[Cell]
    runs: Sequence[Run]
    batches: Sequence[range]
    warnings: Sequence[StudyWarning] = ()

    @property
    def cost(self) -> float:
        """Segments that all runs will deliver, roughly."""
        return sum(run.cost for run in self.runs)

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
        paths = list(dict.fromkeys(path for cell in self.cells for path in cell.factors))
        for path, name in axis_names(paths).items():
            values = [by_number[run.cell].factors.get(path) for run in self.runs]
            texts = [None if value is None else value if isinstance(value, str) else json.dumps(value) for value in values]
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
    presentation(study)
    all_cells = cells(study)
    arms = study.arms or {"": ()}
    runs: list[Run] = []
    warnings: dict[StudyWarning, None] = {}
    for cell in all_cells:
        replicates: list[tuple[dict[str, str | list[str]], dict[str, float]]] | None = None
        for arm, assignments in arms.items():
            tree = copy.deepcopy(study.scenario)
            applied: list[Assignment] = [*study.base, *cell.assignments, *assignments]
            for assignment in applied:
                assign(tree, assignment, study.document)
            files.inline(tree, study.folder, study.locator(applied))
            if replicates is None:
                replicates = [_draw(study, cell, tree, replicate) for replicate in range(1, study.repeat + 1)]
            cost: float | None = None
            scenario = ""
            for replicate, (texts, values) in enumerate(replicates, 1):
                if texts:
                    tree["vars"] = {**tree.get("vars", {}), **texts}
                if texts or not scenario:
                    scenario = json.dumps(tree, sort_keys=True, separators=(",", ":"))
                if cost is None:
                    cost, strange = _check(study, scenario, applied)
                    warnings.update(dict.fromkeys(strange))
                seed = _seed(study.seed, f"run/{cell.key}/{replicate}")
                runs.append(
                    Run(
                        len(runs),
                        _run_id(scenario, seed, study.backend),
                        cell.number,
                        arm,
                        replicate,
                        seed,
                        scenario,
                        values,
                        cost,
                    )
                )
    if study.order == "blocks":
        runs = _in_blocks(study, runs)
    cost = _SIMULATED_COST if study.backend == "sim" else _KERNEL_COST
    return Plan(study, all_cells, runs, _batches(runs, cost), tuple(warnings))


def _in_blocks(study: Study, runs: Sequence[Run]) -> list[Run]:
    """Replicate by replicate, each in a random order of its own (Box, Hunter and Hunter 2005, chapter 4: block, then randomise)."""
    ordered = sorted(runs, key=lambda run: (run.replicate, _seed(study.seed, f"order/{run.cell}/{run.arm}/{run.replicate}")))
    return [dataclasses.replace(run, index=index) for index, run in enumerate(ordered)]


def _check(study: Study, scenario: str, applied: Sequence[Assignment]) -> tuple[float, list[StudyWarning]]:
    """What a run costs, and what about it is hardly meant."""
    try:
        cost, strange = _core.examine(scenario, kernel=study.backend != "sim")
    except _core.ScenarioError as error:
        raise study.located(error, applied) from None
    located = [study.located(warning, applied) for warning in strange]
    return cost, [StudyWarning(error.message, error.place, error.hint) for error in located]


def _run_id(scenario: str, seed: int, backend: str) -> str:
    return hashlib.sha256(f"{RESULTS_EPOCH}\n{backend}\n{seed}\n{scenario}".encode()).hexdigest()[:16]


def _seed(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:8], "little") >> 1


def _batches(runs: Sequence[Run], most: float) -> list[range]:
    """Consecutive runs, as many as make a batch; decided by the plan alone, so that files do not depend on the workers."""
    batches: list[range] = []
    start, cost = 0, 0.0
    for run in runs:
        full = run.index - start >= _BATCH_RUNS or cost + run.cost > most
        if full and run.index > start:
            batches.append(range(start, run.index))
            start, cost = run.index, 0.0
        cost += run.cost
    if start < len(runs):
        batches.append(range(start, len(runs)))
    return batches


@functools.cache
def _base_value(text: str | None) -> float | None:
    """A factor's value in base units, if it is a number or a quantity."""
    if text is None:
        return None
    try:
        return _core.evaluate(text, {})[0]
    except _core.ScenarioError:
        return None


# --- draws --------------------------------------------------------------------------------------------------------------


def _draw(study: Study, cell: Cell, tree: dict[str, Any], replicate: int) -> tuple[dict[str, str | list[str]], dict[str, float]]:
    """Each draw of one replicate: as the scenario's text, and in base units."""
    texts: dict[str, str | list[str]] = {}
    values: dict[str, float] = {}
    for name, draw in study.draws.items():
        kind = draw["distribution"]
        items = [name] if "count" not in draw else [f"{name}[{number}]" for number in range(1, draw["count"] + 1)]
        if kind == "table":
            numbers, unit = [_look_up(study, name, draw, cell, replicate)], draw["unit"]
        else:
            low = _evaluate(study, f"draws.{name}.low", draw["low"], tree)
            high = _evaluate(study, f"draws.{name}.high", draw["high"], tree)
            if low[1] != high[1]:
                raise study.document.error(f"`low` is a {low[1]} and `high` is a {high[1]}", f"draws.{name}")
            if not low[0] < high[0]:
                raise study.document.error(f"the range of `{name}` is empty: from {low[0]:g} to {high[0]:g}", f"draws.{name}.high")
            seed = _seed(study.seed, f"draw/{name}/{cell.key}/{replicate}")
            if kind == "uniform":
                unit = {"time": "s", "rate": "bit/s", "bytes": "B", "packets": "packets"}.get(low[1], "")
                numbers = [_core.draw_uniform(seed, item, low[0], high[0]) for item in items]
            else:
                scale = _evaluate(study, f"draws.{name}.unit", f"1 {draw['unit']}", tree)[0]
                first, end = _first_whole(low[0] / scale), _first_whole(high[0] / scale)
                numbers = [_core.draw_uniform_integer(seed, item, first, end) for item in items]
                unit = draw["unit"]
        written = [f"{number!r} {unit}".strip() for number in numbers]
        texts[name] = written if "count" in draw else written[0]
        values |= {item: _core.evaluate(text, {})[0] for item, text in zip(items, written, strict=True)}
    return texts, values


def _first_whole(number: float) -> int:
    """The first whole number at or above `number`, forgiving the rounding of one division."""
    return math.ceil(number - 1e-9 * max(1.0, abs(number)))


def _evaluate(study: Study, origin: str, text: Any, tree: dict[str, Any]) -> tuple[float, str]:
    try:
        return _core.evaluate(str(text), tree.get("vars", {}))
    except _core.ScenarioError as error:
        raise StudyError(error.message, study.document.place(origin, within=error.span), error.hint) from None


def _look_up(study: Study, name: str, draw: dict[str, Any], cell: Cell, replicate: int) -> int | float:
    origin = f"draws.{name}"
    path = study.folder.file(draw["file"], lambda message: study.document.error(message, f"{origin}.file"))
    try:
        table = _read_table(path, draw["row"])
    except OSError as error:
        raise study.document.error(f"cannot read {path}: {error.strerror}", f"{origin}.file") from None
    except KeyError:
        raise study.document.error(f"{path} has no column `{draw['row']}`", f"{origin}.row") from None
    row = table.get(str(cell.number))
    if row is None:
        raise study.document.error(f"{path} has no row for {draw['row']} {cell.number}", f"{origin}.file")
    column = str(draw["column"]).replace("{replicate}", str(replicate))
    if column not in row:
        raise study.document.error(f"{path} has no column `{column}`", f"{origin}.column", "is `repeat` larger than the file?")
    try:
        number = float(row[column])
    except ValueError:
        raise study.document.error(f"{path} holds no number for {draw['row']} {cell.number}, `{column}`", f"{origin}.file") from None
    return int(number) if number.is_integer() else number


@functools.cache
def _read_table(path: Path, row: str) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {line[row]: line for line in csv.DictReader(file)}
