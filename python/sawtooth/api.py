"""What `import sawtooth` offers: one run, all runs of a study, and what they measured."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sawtooth import _core, arguments, clusters
from sawtooth.analysis import Dataset
from sawtooth.backends.registry import require
from sawtooth.errors import ClusterError, Place, RunFailed, StudyError, as_path, wrong_type
from sawtooth.execute import WorkersGone, execute
from sawtooth.hints import did_you_mean
from sawtooth.lines import lines
from sawtooth.plan import Plan, check_short, make_plan
from sawtooth.results.dataset import is_results
from sawtooth.results.records import Records
from sawtooth.sharing import Shard
from sawtooth.spoken import in_python, of_arguments, of_options
from sawtooth.study import Study
from sawtooth.study import files as named_files
from sawtooth.study.folder import Folder
from sawtooth.study.model import text_of
from sawtooth.study.paths import quoted
from sawtooth.taps import Wanted, of_seed

if TYPE_CHECKING:
    from sawtooth.linting import Diagnostic


@in_python()
def simulate(
    scenario: Mapping[str, Any] | Study | str | Path,
    seed: int | None = None,
    *,
    files: bool = True,
    captures: Wanted | None = None,
    series_of: str | None = None,
) -> Records:
    """Runs one scenario on the simulator.

    Args:
        scenario: the scenario's tree as a mapping; or TOML text, of a whole study or of a scenario alone; or a study, or the path of a
            study file. Of a study with sweeps the first run is taken.
        seed: of all its random numbers, from 0 to 2^64 - 1. By default that of a study's first run, as `sawtooth run` makes it, and 1 of a
            scenario alone.
        files: whether it may name files, such as traces.
        captures: which packets are captured, such as `sawtooth.taps.wanted("run.pcapng")`.
        series_of: the flow of TCP that alone has rows in the table `series`, which spares those of many others; all have if none is named.

    Raises:
        TypeError: if the scenario or the seed is something else.
        StudyError: if the scenario cannot be run; says what and where.
        RunFailed: if the run fails.

    """
    from sawtooth.backends import sim

    given = None if seed is None else arguments.seed(seed)
    if series_of is not None and not isinstance(series_of, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("`series_of` is the name of a flow", series_of)
    if isinstance(scenario, Mapping):
        text, own = _of_mapping(scenario, files=files), _ALONE
    elif isinstance(scenario, Study):
        text, own = _first(scenario)
    elif isinstance(scenario, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        text, own = _of_text(scenario, files=files) if isinstance(scenario, str) and _is_text(scenario) else _of_file(scenario, files=files)
    else:
        raise wrong_type("a scenario is a mapping, TOML text, a Study or the path of a study file", scenario)
    number = own if given is None else given
    captured = [captures.of_scenario(text, of_seed(text, number))] if captures else []
    batch = sim.run_batch([text], [number], captured, series_of)
    if batch.errors:
        if series_of is not None and series_of not in (flows := _core.items(text)["flows"]):
            raise StudyError(f"the scenario has no flow `{series_of}`", hint=did_you_mean(series_of, flows))
        raise RunFailed(batch.errors[0])
    return Records({name: frame.drop("run") for name, frame in batch.tables.items()})


def _is_text(given: str) -> bool:
    """Whether it is TOML text and no path: it has lines, or sets something, and there is no such file."""
    if "\n" in given:
        return True
    if "=" not in given or given.endswith(".toml"):
        return False
    try:
        return not Path(given).exists()
    except (OSError, ValueError):
        # No name of a file, such as one that is too long.
        return True


def _of_mapping(scenario: Mapping[str, Any], *, files: bool) -> str:
    tree = arguments.plain(scenario)
    named_files.inline(tree, Folder(Path(), shut=not files), lambda message, path: StudyError(f"{message} (at `{path}`)"))
    text = json.dumps(tree)
    try:
        _core.check(text)
    except _core.ScenarioError as error:
        where = f" (at `{error.path}`)" if error.path else ""
        raise StudyError(f"{error.message}{where}", hint=error.hint) from None
    return text


_ALONE = 1
"""The seed of a scenario that is in no study."""


def _first(study: Study) -> tuple[str, int]:
    """A study's first run: its scenario and its seed."""
    first = make_plan(study).runs[0]
    return first.scenario, first.seed


def _of_file(path: str | os.PathLike[str], *, files: bool) -> tuple[str, int]:
    if path == "":
        raise StudyError("an empty text is neither a scenario nor the path of a study", hint="a scenario has links and flows")
    return _first(Study.load(Path(path), files=files))


_GIVEN, _BELOW = "<scenario>", "scenario."


def _of_text(source: str, *, files: bool) -> tuple[str, int]:
    """The first run of a study's text, or a scenario's alone; places of mistakes are those of the text as it is given."""
    whole = _as_study(source)
    try:
        scenario, seed = _first(Study.parse(whole, Path(_GIVEN), files=files))
        return scenario, seed if whole == source else _ALONE
    except StudyError as error:
        place = error.place
        if whole == source or place is None or place.name != _GIVEN:
            raise
        given = lines(source)[max(place.line - 2, 0)]
        ahead = 0 if given == place.text else len(_BELOW)
        column = max(place.column - ahead, 1)
        found = Place(_GIVEN, max(place.line - 1, 1), column, max(place.end_column - ahead, column + 1), given)
        raise StudyError(error.message, found, error.hint) from None


def _as_study(source: str) -> str:
    """A scenario alone as a study: its keys are those below [scenario]."""
    try:
        tree, spans = _core.parse_toml(source)
    except (_core.TomlError, UnicodeEncodeError):
        return source  # that is told when it is read
    if "scenario" in tree:
        return source
    text = lines(source)
    for line, column, *_ in {spans[path] for path in _tables(tree, "") if path in spans}:
        # Inline tables begin with another bracket.
        if text[line - 1][column - 1 : column] == "[":
            text[line - 1] = re.sub(r"^(\s*\[\[?\s*)", rf"\1{_BELOW}", text[line - 1])
    return "\n".join(["[scenario]", *text])


def _tables(value: Any, path: str) -> Iterator[str]:
    """Paths of all tables."""
    if isinstance(value, dict):
        if path:
            yield path
        for key, each in cast(dict[str, Any], value).items():
            yield from _tables(each, f"{path}.{quoted(key)}" if path else quoted(key))
    elif isinstance(value, list):
        for at, each in enumerate(cast(list[Any], value)):
            yield from _tables(each, f"{path}[{at}]")


@in_python()
def run(
    study: Study | Mapping[str, Any] | str | Path,
    out: str | Path | None = None,
    *,
    short: bool = False,
    jobs: int | None = None,
    options: Sequence[str] = (),
    files: bool = True,
    dask: str | None = None,
    shard: str | None = None,
) -> Dataset:
    """Runs a study, or what is missing of it, and returns its results.

    Args:
        study: the path of a study file, or the name of one that comes along; its text; a mapping with the same keys, or of a scenario alone; or
            a `Study`: then `short` and `options` have been said.
        out: results directory; by default `results/NAME`, with `-short` of the short form and `-N-of-M` of a part behind it.
        short: the `[short]` form.
        jobs: threads; by default one per processor.
        options: `PATH=VALUE` settings that override the file.
        files: whether the study may name files, such as traces and tables of draws.
        dask: the address of a Dask cluster, or `local:N`, as `--dask` takes it; a script that asks for processes of this machine does so below
            `if __name__ == "__main__"`.
        shard: which of how many parts to do, such as `3/10`, as `--shard` takes it.

    Raises:
        StudyError, DatasetError: each says what is wrong, where, and what to do.
        ClusterError: if nobody answers at the address, workers are other than they have to be, or the scheduler is gone.
        TypeError: if an argument is of another type.

    """
    threads = None if jobs is None else arguments.whole(jobs)
    if jobs is not None and (threads is None or not 1 <= threads <= arguments.MOST_JOBS):
        raise wrong_type(f"`jobs` is a number of threads, from 1 to {arguments.MOST_JOBS}", jobs)
    if isinstance(study, Study):
        if short or options:
            raise TypeError("a Study has its `short` and `options` already: give them to `Study.load`")
        loaded = study
    else:
        loaded = _study(study, short=short, options=options, files=files)
    part = None if shard is None else Shard.parse(arguments.text(shard, "a shard is a text such as 3/10"))
    target = (
        loaded.directory(f"-{part.number}-of-{part.of}" if part else "")
        if out is None
        else as_path(out, "`out` is the path of a directory")
    )
    plan = dataclasses.replace(make_plan(loaded), shard=part)
    check_short(loaded)
    if dask is not None:
        clusters.require_address(arguments.text(dask, "`dask` is an address, such as tcp://head:8786 or local:4"))
    elif not is_results(target):
        require(loaded.backend)
    if dask is not None:
        return _on_cluster(dask, plan, target)
    dataset = Dataset.create(target, plan)
    execute(plan, dataset, jobs=threads)
    return dataset


def _on_cluster(address: str, plan: Plan, target: Path) -> Dataset:
    try:
        with clusters.connected(address, lambda said: print(said, file=sys.stderr)) as crew:
            # Where nobody answers no directory is left behind.
            dataset = Dataset.create(target, plan)
            execute(plan, dataset, crew.executor, crew=crew)
            return dataset
    except WorkersGone:
        raise ClusterError(f"the scheduler at {address} is gone", "what was stored stays: the same call goes on from there") from None


def lint(
    study: Study | Plan | Mapping[str, Any] | str | Path, *, short: bool = False, options: Sequence[str] = (), files: bool = True
) -> list[Diagnostic]:
    """What is wrong with a study, before it runs: in the order of the file, without what it says that it means.

    Args:
        study: what `run` takes; or a plan, if that is made already.
        short: the `[short]` form.
        options: `PATH=VALUE` settings that override the file.
        files: whether the study may name files.

    Returns:
        Diagnostics, each with its `rule`, `severity`, `message`, `place` and `hint`. What makes a study unusable is one of them (SW001).

    """
    from sawtooth import linting

    if isinstance(study, Study | Plan):
        if short or options:
            raise TypeError("a Study has its `short` and `options` already: give them to `Study.load`")
        return linting.lint(study)
    try:
        with in_python():
            loaded = _study(study, short=short, options=options, files=files, taker="lint")
    except StudyError as error:
        text = _text(study)
        if text is None and (error.place is None or not Path(error.place.name).is_file()):
            return [linting.unusable(error)]
        path = Path(_NO_FILE) if text is not None or error.place is None else Path(error.place.name)
        return [_in_python(each) for each in linting.lint_unread(error, path, text, short=short, options=options, files=files)]
    return linting.lint(loaded)


def _in_python(found: Diagnostic) -> Diagnostic:
    hint = found.hint and of_arguments(found.hint)
    return dataclasses.replace(found, message=of_arguments(found.message), hint=hint, place=of_options(found.place))


_NO_FILE = "<study>"
"""What the text of no file is called in places of mistakes."""


def _text(source: Mapping[str, Any] | str | Path) -> str | None:
    """The text of a study that is no file: it is given, or what a mapping would be."""
    if isinstance(source, Mapping):
        return text_of(source)
    return _as_study(source) if isinstance(source, str) and _is_text(source) else None


def _study(source: Mapping[str, Any] | str | Path, *, short: bool, options: Sequence[str], files: bool, taker: str = "run") -> Study:
    if (text := _text(source)) is not None:
        return Study.parse(text, Path(_NO_FILE), short=short, options=options, files=files)
    if isinstance(source, str) and not source:
        raise StudyError("an empty text is neither a study nor the path of one", hint="a study has a [scenario], with links and flows")
    path = as_path(source, f"`{taker}` takes a study: the path of its file, its text, a mapping, or a Study")
    return Study.load(path, short=short, options=options, files=files)
