"""What the command line says of a study's text: its mistake, or what lint finds and what it would run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sawtooth import forecast
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting import lint_planned
from sawtooth.plan import Plan, check_short, make_plan
from sawtooth.report import KINDS
from sawtooth.study import Study
from sawtooth.web.problems import diagnosed, problem


def planned(text: str, path: Path, *, short: bool, below: Sequence[Path]) -> Plan:
    """The plan of a study's text, whose short form can be run, too.

    Args:
        text: of the file.
        path: of the file; it need not be there.
        short: take the `[short]` form.
        below: the folders of which it may name files.

    Raises:
        StudyError: with its place.

    """
    study = Study.parse(text, path, short=short, files=below)
    if study.report not in KINDS:
        raise study.document.error(f"unknown kind of report `{study.report}`", "report", did_you_mean(study.report, KINDS))
    made = make_plan(study)
    check_short(study)
    return made


def look(text: str, path: Path, address: str, *, short: bool, below: Sequence[Path]) -> dict[str, Any]:
    """`problem`, if it cannot be run as it is; else `lint`, and `plan` as `sawtooth plan --json` has it, with the same in words.

    Args:
        text: of the file.
        path: of the file; it need not be there.
        address: by which the page knows it, in places of mistakes.
        short: take the `[short]` form.
        below: the folders of which it may name files.

    """
    try:
        made = planned(text, path, short=short, below=below)
        found = lint_planned(made)
    except StudyError as error:
        return {"problem": called(problem(error), path, address), "lint": [], "plan": None}
    words = {"size": made.size, "amount": forecast.amount(made), "demand": str(made.demand), "notes": forecast.notes(made)}
    facts = forecast.facts(made) | words | {"times": _times(made)} | {"backend": made.study.backend, "hasShort": "short" in made.study.tree}
    return {"problem": None, "lint": [called(diagnosed(each), path, address) for each in found], "plan": facts}


def _times(made: Plan) -> float:
    """How many times as many runs there are at most: of replicates that are made until a rule is met only the fewest are planned."""
    until = made.study.until
    return made.study.most / until.least if until else 1


def called(said: dict[str, Any], path: Path | None, address: str) -> dict[str, Any]:
    """What is said of a text, with the name that the page has for it."""
    place = said["place"]
    return said | {"place": place | {"name": address}} if place and place["name"] == str(path) else said
