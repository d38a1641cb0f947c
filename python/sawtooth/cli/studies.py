"""What commands read: studies, and results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from sawtooth.backends.registry import NAMES
from sawtooth.errors import DatasetError, SawtoothError, StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.kinds import CAPTURES, Kind, kind
from sawtooth.linting import ignored, lint_planned, rule_of
from sawtooth.plan import Plan, check_short, make_plan
from sawtooth.report import KINDS
from sawtooth.results.dataset import Dataset, is_results
from sawtooth.study import Study, shipped


def load(study: Path, short: bool, options: Sequence[str] | None, backend: str | None, no_files: bool) -> Study:
    """Loads a study as the options of a command have it.

    Raises:
        StudyError: also for what is known to be something else.

    """
    found = kind(study)
    # Any file may be a study by its content; a capture is one by its name alone.
    if (found is not Kind.CAPTURE or study.suffix in CAPTURES) and (what := _OTHERS.get(found)) is not None:
        raise StudyError(f"{study} is {what[0]}, and no study", hint=what[1].format(study))
    if backend is not None and backend not in NAMES:
        raise StudyError(f"unknown backend `{cut(backend)}`", hint=did_you_mean(backend, NAMES))
    return Study.load(
        study, short=short, options=[*(options or ()), *([f"backend={backend}"] if backend is not None else [])], files=not no_files
    )


_OTHERS = {
    Kind.CAPTURE: ("meant as a capture", "`sawtooth fit {} --out fitted.toml` proposes a study of one; a study is a TOML file"),
    Kind.TABLE: ("a table of numbers", "a study is a TOML file; its [[references]] may name such a table"),
    Kind.JSON: ("JSON", "a study is a TOML file; its [[references]] may name what iperf3 or flent measured"),
}


def opened(directory: Path) -> Dataset:
    """Opens results; says what in the directory is not read."""
    if not is_results(directory) and (meant := _meant(directory)) is not None:
        raise DatasetError(f"{directory} is no results directory", f"did you mean {meant}?")
    dataset = Dataset.open(directory)
    for note in dataset.notes:
        print(f"note: {note}", file=sys.stderr)
    return dataset


def _meant(path: Path) -> Path | None:
    """Where `sawtooth run` has put results of what is there: a study's, or those that are called so."""
    try:
        name = Study.load(shipped.find(path)).name
    except SawtoothError:
        name = path.name
    usual = (Path("results") / f"{name}{form}" for form in ("", "-short"))
    return next((each for each in usual if name and each != path and is_results(each)), None)


def check_report(study: Study) -> None:
    """A misspelt kind of report is found before hours of simulation, not after."""
    if study.report not in KINDS:
        raise study.document.error(f"unknown kind of report `{study.report}`", "report", did_you_mean(study.report, KINDS))


def planned(study: Study) -> Plan:
    """The plan of a study whose short form can be run, too; told like `warn`."""
    made = make_plan(study)
    check_short(study)
    return warn(made)


def warn(made: Plan) -> Plan:
    """Tells what is hardly meant, and what else the linter finds in a line; an error of it ends the command.

    Raises:
        StudyError: the first error.

    """
    skipped = ignored(made.study)
    for warning in made.warnings:
        if rule_of(warning.message).severity == "warning" and rule_of(warning.message).code not in skipped:
            print(warning, file=sys.stderr)
    found = lint_planned(made)
    told = {warning.message for warning in made.warnings}
    codes = list(dict.fromkeys(each.rule.code for each in found if each.severity == "warning" and each.message not in told))
    if codes:
        print(
            f"note: the linter has warnings of {', '.join(codes)}: `sawtooth lint {shipped.called(made.study.path)}` tells them",
            file=sys.stderr,
        )
    error = next((each for each in found if each.severity == "error"), None)
    if error is not None:
        raise StudyError(f"{error.message} ({error.rule.code})", error.place, error.hint)
    return made


def members(paths: Sequence[Path]) -> list[Path]:
    """The study files and results directories that `paths` name, each once."""
    found: list[Path] = []
    for path in paths:
        folder = path if path.is_dir() else shipped.group(path) if not path.exists() and path.as_posix() not in shipped.studies() else None
        if folder is not None and not is_results(folder):
            within = [*shipped.members(folder), *(each for each in sorted(folder.iterdir()) if is_results(each))]
            if not within:
                raise StudyError(f"{path} holds neither study files nor results directories", hint="name one that does")
            found += within
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def results_or_plan(path: Path, short: bool, no_files: bool) -> Dataset | Plan:
    """The results in a directory, or the plan of a study file."""
    if is_results(path):
        return opened(path)
    loaded = load(path, short, None, None, no_files)
    check_report(loaded)
    return warn(make_plan(loaded))
