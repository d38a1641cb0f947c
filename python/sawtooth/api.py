"""What `import sawtooth` offers: one run, all runs of a study, and what they measured."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth import files as named_files
from sawtooth.dataset import Dataset
from sawtooth.errors import RunFailed, StudyError
from sawtooth.execute import execute
from sawtooth.folder import Folder
from sawtooth.plan import make_plan
from sawtooth.study import Study


@dataclass(frozen=True)
class Records:
    """What one run measured.

    Attributes:
        tables: every table by name; `sawtooth._core.schema()` lists columns, units and meanings.

    """

    tables: Mapping[str, pl.DataFrame]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self.tables["flows"]

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of a link."""
        return self.tables["links"]

    @property
    def series(self) -> pl.DataFrame:
        """One row per flow and sample; only if the scenario has `sample`.

        Raises:
            RunFailed: if it has none.

        """
        if "series" not in self.tables:
            raise RunFailed("this run has no time series", 'add sample = "100 ms" to the scenario')
        return self.tables["series"]

    @property
    def variables(self) -> pl.DataFrame:
        """One row per flow, sample and variable of its congestion control; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("variables")

    @property
    def episodes(self) -> pl.DataFrame:
        """One row per loss episode of a flow; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("episodes")

    @property
    def waits(self) -> pl.DataFrame:
        """One row per direction of a link: percentiles of waits and backlogs; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("waits")

    @property
    def link_flows(self) -> pl.DataFrame:
        """One row per direction of a link and flow: its drops, losses and marks there; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("link_flows")

    @property
    def stalls(self) -> pl.DataFrame:
        """One row per time in which a socket of a host stalled, with its cause; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("stalls")

    @property
    def layers(self) -> pl.DataFrame:
        """One row per thing that happens to a packet at a layer of a host; only if the scenario asks for them.

        Raises:
            RunFailed: if it does not.

        """
        return self._asked_for("layers")

    def _asked_for(self, name: str) -> pl.DataFrame:
        if name not in self.tables:
            raise RunFailed(f"this run has no table `{name}`", f'add record = ["{name}"] to the scenario')
        return self.tables[name]


def simulate(scenario: Mapping[str, Any] | str | Path, seed: int = 1, *, files: bool = True) -> Records:
    """Runs one scenario on the simulator.

    Args:
        scenario: the scenario's tree as a mapping; or TOML text, of a whole study or of a scenario alone; or the path of a
            study file. Of a study with sweeps the first run is taken.
        seed: of all its random numbers.
        files: whether it may name files, such as traces.

    Raises:
        StudyError: if the scenario cannot be run; says what and where.
        RunFailed: if the run fails.

    """
    from sawtooth.backends import sim

    if isinstance(scenario, Mapping):
        tree = copy.deepcopy(dict(scenario))
        named_files.inline(tree, Folder(Path(), shut=not files), lambda message, path: StudyError(f"{message} (at `{path}`)"))
        text = json.dumps(tree)
        try:
            _core.check(text)
        except _core.ScenarioError as error:
            raise StudyError(f"{error.message} (at `{error.path}`)", hint=error.hint) from None
    else:
        text = make_plan(_study_of(scenario, files=files)).runs[0].scenario
    batch = sim.run_batch([text], [seed])
    if batch.errors:
        raise RunFailed(batch.errors[0])
    return Records({name: frame.drop("run") for name, frame in batch.tables.items()})


def _study_of(source: str | Path, *, files: bool) -> Study:
    if isinstance(source, Path) or "\n" not in source:
        return Study.load(source, files=files)
    document = _core.parse_toml(source)[0] if "scenario" in source else {}
    if "scenario" not in document:
        # A scenario alone: its keys are those below [scenario].
        source = "".join(_below_scenario(line) for line in source.splitlines(keepends=True))
        source = f"[scenario]\n{source}"
    return Study.parse(source, Path("<scenario>"), files=files)


def _below_scenario(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith("[["):
        return stripped.replace("[[", "[[scenario.", 1)
    return stripped.replace("[", "[scenario.", 1) if stripped.startswith("[") else line


def run(
    study: str | Path,
    out: str | Path | None = None,
    *,
    short: bool = False,
    jobs: int | None = None,
    options: Sequence[str] = (),
    files: bool = True,
) -> Dataset:
    """Runs a study, or what is missing of it, and returns its results.

    Args:
        study: the study file.
        out: results directory; by default `results/NAME`.
        short: the `[short]` form.
        jobs: threads; by default one per processor.
        options: `PATH=VALUE` settings that override the file.
        files: whether the study may name files, such as traces and tables of draws.

    Raises:
        StudyError, DatasetError: each says what is wrong, where, and what to do.

    """
    loaded = Study.load(study, short=short, options=options, files=files)
    plan = make_plan(loaded)
    dataset = Dataset.create(out or Path("results") / loaded.name, plan)
    execute(plan, dataset, jobs=jobs)
    return dataset
