"""Applies rules to a study, and to results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.errors import Place, StudyError, StudyWarning
from sawtooth.linting.every import every, every_of
from sawtooth.linting.ignored import ignored
from sawtooth.linting.rule import Hit, Rule, Severity
from sawtooth.linting.setup import Setup, Subject
from sawtooth.linting.table import RULES, rule_of
from sawtooth.plan import Plan, check_short, make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

MARKS = {"cell": pl.UInt32, "arm": pl.String, "item": pl.String, "code": pl.String, "runs": pl.UInt32, "of": pl.UInt32, "text": pl.String}
"""Columns of marks: what is marked, by which rule, in how many of its runs, and what is so, of the first of them."""


@dataclass(frozen=True, repr=False)
class Diagnostic:
    """What a rule says of a study.

    Attributes:
        rule: a row of the table.
        message: what is so, and in how many cells and arms.
        place: where in the study; None of what is in no text.
        hint: what to do.

    """

    rule: Rule
    message: str
    place: Place | None
    hint: str

    @property
    def severity(self) -> Severity:
        """error, warning or note."""
        return self.rule.severity

    def __str__(self) -> str:
        """`file:line:column: CODE message`, and below it what to do."""
        return f"{self.where}: {self.rule.code} {self.message}\n  hint: {self.hint}"

    def __repr__(self) -> str:
        """In a line, as lists show it."""
        return f"<{self.severity} {self.where}: {self.rule.code} {self.message}>"

    @property
    def where(self) -> str:
        """`file:line:column`."""
        return str(self.place) if self.place else "study"

    def facts(self) -> dict[str, Any]:
        """For programs."""
        place = self.place
        return {
            "code": self.rule.code, "name": self.rule.name, "severity": self.severity, "message": self.message, "hint": self.hint,
            "file": place.name if place else None, "line": place.line if place else None, "column": place.column if place else None,
            "end_column": place.end_column if place else None,
        }  # fmt: skip


def lint(study: Study | Plan) -> list[Diagnostic]:
    """What is wrong with a study, also with its short form, before it runs: in the order of the file, without what it says that it means.

    Args:
        study: a study; or its plan, if that is made already.

    Raises:
        StudyError: if what the study says of rules cannot be understood. What else makes it unusable is a diagnostic (SW001).

    """
    try:
        plan = study if isinstance(study, Plan) else make_plan(study)
        check_short(plan.study)
    except StudyError as error:
        return in_order(map(unusable, every(study) if isinstance(study, Study) else [error]))
    return lint_planned(plan)


def lint_planned(plan: Plan) -> list[Diagnostic]:
    """What is wrong with the runs of a plan, whatever is wrong with the study's short form."""
    skipped = ignored(plan.study)
    return in_order(each for each in _all(plan) if each.rule.code not in skipped)


def lint_unread(
    error: StudyError, path: Path, text: str | None = None, *, short: bool, options: Sequence[str], files: bool
) -> list[Diagnostic]:
    """What is wrong with a study that cannot be read, of which the first error is known: with its text, or else with what is in its file."""
    return in_order(map(unusable, every_of(path, text, short=short, options=options, files=files) or [error]))


def in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """As the file has them."""
    return sorted(
        found, key=lambda each: (each.place is None, each.place.line if each.place else 0, each.place.column if each.place else 0)
    )


def unusable(error: StudyError) -> Diagnostic:
    """The error that a study cannot be used for."""
    return Diagnostic(RULES["SW001"], error.message, error.place, error.hint or RULES["SW001"].advice)


def _all(plan: Plan) -> Iterator[Diagnostic]:
    subject = Subject(plan)
    for warning in plan.warnings:
        yield _of_warning(warning)
    for rule in RULES.values():
        if rule.check is not None:
            yield from _told(subject, rule, rule.check(subject))


def _of_warning(warning: StudyWarning) -> Diagnostic:
    rule = rule_of(warning.message)
    return Diagnostic(rule, warning.message, warning.place, _hint(rule, warning.hint))


def _told(subject: Subject, rule: Rule, hits: Iterable[Hit]) -> Iterator[Diagnostic]:
    """A diagnostic for each place in the tree; what it says is of the first setup in which it is so."""
    by_path: dict[str, list[Hit]] = {}
    for hit in hits:
        by_path.setdefault(hit.path, []).append(hit)
    for path, same in by_path.items():
        first = same[0]
        place = first.place or _place(subject.study, path, first)
        setups = len({id(hit.setup) for hit in same})
        message = first.message
        if first.setup is not None and len(subject.setups) > 1:
            message += f" (in {setups} of {len(subject.setups)} {_of_what(subject)}{_first(subject, first.setup)})"
        yield Diagnostic(rule, message, place, _hint(rule, first.hint))


def _hint(rule: Rule, said: str | None) -> str:
    """What to do; of what stops a study also how to say that it is meant."""
    hint = said or rule.advice
    if rule.severity != "error":
        return hint
    return f'{hint.rstrip(".")}; if it is meant, end the study with a line [lint] and below it ignore = {{ {rule.code} = "why" }}'


def _of_what(subject: Subject) -> str:
    several = len(subject.plan.cells) > 1
    return "cells and arms" if several and len(subject.study.arms) > 1 else "cells" if several else "arms"


def _first(subject: Subject, setup: Setup) -> str:
    """Which is the first of them."""
    levels = next(cell.factors for cell in subject.plan.cells if cell.number == setup.cell)
    words = [f"{path.split('.')[-1]} = {level}" for path, level in levels.items() if not isinstance(level, dict | list)]
    words += [f"arm {setup.arm}"] if len(subject.study.arms) > 1 else []
    return f"; first: {', '.join(words)}" if words else ""


def _place(study: Study, path: str, hit: Hit) -> Place | None:
    if hit.setup is None:
        return study.document.place(path, key=hit.key) or study.document.start
    return study.locator(hit.setup.applied)("", path).place or study.document.start


def marks(dataset: Dataset) -> pl.DataFrame:
    """What is not to be read into results: cells whose numbers are about something else than they seem.

    Returns:
        One row per cell, arm, item and rule: `cell`, `arm`, `item` (a flow; empty if it is all of the cell), `code`, `runs` (how many of the
        cell and arm are so), `of` (how many were done), `text` (what is so in the first of them); in that order.

    Raises:
        DatasetError: if the results are damaged.

    """
    runs = dataset.runs.select("run", "cell", "arm")
    done = dataset.status().select("run").join(runs, on="run").group_by("cell", "arm", maintain_order=True).agg(pl.len().alias("of"))
    frames: list[pl.DataFrame] = []
    for rule in RULES.values():
        if rule.mark is None:
            continue
        # Results of long ago lack columns that some rules look at: those say nothing of them.
        with contextlib.suppress(pl.exceptions.ColumnNotFoundError):
            frames.append(rule.mark(dataset).join(runs, on="run").with_columns(pl.lit(rule.code).alias("code")))
    if not frames:
        return pl.DataFrame(schema=MARKS)
    found = pl.concat([frame.select("run", "cell", "arm", "item", "code", pl.col("text").cast(pl.String)) for frame in frames])
    keys = ["cell", "arm", "item", "code"]
    grouped = found.sort("run").group_by(keys, maintain_order=True).agg(pl.col("run").n_unique().alias("runs"), pl.col("text").first())
    return grouped.join(done, on=["cell", "arm"], how="left").select(pl.col(name).cast(kind) for name, kind in MARKS.items()).sort(keys)
