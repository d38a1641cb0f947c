"""What `sawtooth lint` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sawtooth.cli import studies
from sawtooth.cli.output import print_json
from sawtooth.counted import counted
from sawtooth.errors import StudyError
from sawtooth.linting import Diagnostic, chosen, lint_unread, rule
from sawtooth.linting import lint as look
from sawtooth.results.dataset import is_results


def explain(code: str, *, as_json: bool) -> None:
    """Prints a rule."""
    row = rule(code)
    if as_json:
        print_json({key: value for key, value in asdict(row).items() if key not in ("check", "mark", "says")})
        return
    when = "of results, after a run" if row.mark else "of a study, before it runs"
    print(
        f"{row.code} {row.name} ({row.severity}; {row.group}; {when})\n\nFinds {row.summary}.\n\nWhy: {row.why}\n\nWhat to do: {row.advice}"
    )


def show(
    paths: Sequence[Path],
    short: bool,
    options: Sequence[str] | None,
    backend: str | None,
    no_files: bool,
    *,
    select: str,
    ignore: str,
    as_json: bool,
) -> bool:
    """Prints what is wrong with studies; whether an error is among it."""
    only, without = chosen(select), chosen(ignore)
    found: list[Diagnostic] = []
    for path in studies.members(paths):
        if not is_results(path):
            found += _of(path, short, options, backend, no_files)
    found = [each for each in found if (each.rule.code in only or not only) and each.rule.code not in without]
    if as_json:
        print_json([each.facts() for each in found])
    else:
        for each in found:
            print(each)
        print(_summary(found))
    return any(each.severity == "error" for each in found)


def _of(path: Path, short: bool, options: Sequence[str] | None, backend: str | None, no_files: bool) -> list[Diagnostic]:
    try:
        study = studies.load(path, short, options, backend, no_files)
    except StudyError as error:
        if error.place is None:
            raise  # There is no such file: that is no fault of a study.
        backends = [f"backend={backend}"] if backend is not None else []
        return lint_unread(error, path, short=short, options=[*(options or ()), *backends], files=not no_files)
    return look(study)


def _summary(found: Sequence[Diagnostic]) -> str:
    numbers = {severity: sum(each.severity == severity for each in found) for severity in ("error", "warning", "note")}
    words = [counted(number, severity) for severity, number in numbers.items() if number]
    return f"{', '.join(words)}; `sawtooth lint --explain CODE` says why" if words else "nothing to say"
