"""What `import sawtooth` offers: one run, all runs of a study, and what they measured."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, cast

import polars as pl

from sawtooth import _core
from sawtooth import files as named_files
from sawtooth.dataset import Dataset
from sawtooth.errors import RunFailed, StudyError, as_path, cut, wrong_type
from sawtooth.execute import execute, require
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


def simulate(scenario: Mapping[str, Any] | Study | str | Path, seed: int = 1, *, files: bool = True) -> Records:
    """Runs one scenario on the simulator.

    Args:
        scenario: the scenario's tree as a mapping; or TOML text, of a whole study or of a scenario alone; or a study, or the path of a
            study file. Of a study with sweeps the first run is taken.
        seed: of all its random numbers, from 0 to 2^64 - 1.
        files: whether it may name files, such as traces.

    Raises:
        TypeError: if the scenario or the seed is something else.
        StudyError: if the scenario cannot be run; says what and where.
        RunFailed: if the run fails.

    """
    from sawtooth.backends import sim

    if isinstance(seed, bool) or not isinstance(seed, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a seed is a whole number", seed)
    if not 0 <= seed < 2**64:
        raise StudyError(f"a seed is from 0 to 2^64 - 1, found {cut(str(seed) if abs(seed) < 2**999 else 'a longer number')}")
    if isinstance(scenario, Mapping):
        text = _of_mapping(scenario, files=files)
    elif isinstance(scenario, Study):
        text = make_plan(scenario).runs[0].scenario
    elif isinstance(scenario, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = make_plan(_study_of(scenario, files=files)).runs[0].scenario
    else:
        raise wrong_type("a scenario is a mapping, TOML text, a Study or the path of a study file", scenario)
    batch = sim.run_batch([text], [seed])
    if batch.errors:
        raise RunFailed(batch.errors[0])
    return Records({name: frame.drop("run") for name, frame in batch.tables.items()})


def _of_mapping(scenario: Mapping[str, Any], *, files: bool) -> str:
    tree = _plain(scenario, "")
    named_files.inline(tree, Folder(Path(), shut=not files), lambda message, path: StudyError(f"{message} (at `{path}`)"))
    text = json.dumps(tree)
    try:
        _core.check(text)
    except _core.ScenarioError as error:
        where = f" (at `{error.path}`)" if error.path else ""
        raise StudyError(f"{error.message}{where}", hint=error.hint) from None
    return text


_DEEPEST = 64


def _plain(value: Any, path: str, depth: int = 0) -> Any:
    """A copy of a scenario's tree, or a part of it, of what JSON has: numbers of numpy become Python's, tuples lists, paths texts."""
    if depth > _DEEPEST:
        raise StudyError(f"a scenario is nested {_DEEPEST} deep at most (at `{cut(path)}`)")
    if isinstance(value, Mapping):
        for key in cast(Mapping[Any, Any], value):
            if not isinstance(key, str):
                raise StudyError(f"the keys of a scenario are texts, found {key!r} (at `{path}`)")
        return {key: _plain(each, f"{path}.{key}" if path else key, depth + 1) for key, each in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(each, f"{path}[{at}]", depth + 1) for at, each in enumerate(cast(Sequence[Any], value))]
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Integral) and abs(int(value)) < 2**64:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(value):
        return float(value)
    found = "a number that is too large" if isinstance(value, Integral) else repr(value) if isinstance(value, Real) else None
    found = found or f"a value of type {type(value).__name__}"
    raise StudyError(f"a scenario holds tables, lists, texts, true and false, and finite numbers; found {found} (at `{path}`)")


def _study_of(source: str | os.PathLike[str], *, files: bool) -> Study:
    if not isinstance(source, str) or "\n" not in source:
        return Study.load(Path(source), files=files)
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
    study: Study | str | Path,
    out: str | Path | None = None,
    *,
    short: bool = False,
    jobs: int | None = None,
    options: Sequence[str] = (),
    files: bool = True,
) -> Dataset:
    """Runs a study, or what is missing of it, and returns its results.

    Args:
        study: the study file, or a study that was read from one: then `short` and `options` have been said.
        out: results directory; by default `results/NAME`.
        short: the `[short]` form.
        jobs: threads; by default one per processor.
        options: `PATH=VALUE` settings that override the file.
        files: whether the study may name files, such as traces and tables of draws.

    Raises:
        StudyError, DatasetError: each says what is wrong, where, and what to do.
        TypeError: if an argument is of another type.

    """
    if isinstance(jobs, bool) or not isinstance(jobs, int | None) or (jobs is not None and jobs < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("`jobs` is a number of threads, at least 1", jobs)
    if isinstance(study, Study):
        if short or options:
            raise TypeError("a Study has its `short` and `options` already: give them to `Study.load`")
        loaded = study
    else:
        loaded = Study.load(
            as_path(study, "`run` takes the path of a study file, or a Study; `simulate` takes mappings"),
            short=short,
            options=options,
            files=files,
        )
    target = Path("results") / loaded.name if out is None else as_path(out, "`out` is the path of a directory")
    plan = make_plan(loaded)
    if not (target / "manifest.json").is_file():
        require(loaded.backend)
    dataset = Dataset.create(target, plan)
    execute(plan, dataset, jobs=jobs)
    return dataset
