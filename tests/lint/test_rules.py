"""Every rule says something of a study that breaks it, and nothing of one like it that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import Study, linting
from sawtooth.errors import StudyError
from sawtooth.linting import RULES, Rule

FIXTURES = Path(__file__).parent / "fixtures"
BY_STATUS = "SW710"
"""Its results have a run that failed, which no study makes: `test_marks.py` has it."""


def codes_of(path: Path, rule: Rule, directory: Path) -> set[str]:
    """Codes that a study, or its results, is told."""
    if rule.mark is not None:
        return set(linting.marks(sawtooth.run(Study.load(path), out=directory, jobs=1))["code"])
    try:
        return {each.rule.code for each in linting.lint(Study.load(path))}
    except StudyError as error:
        return {linting.unusable(error).rule.code}


@pytest.mark.parametrize("code", [code for code in RULES if code != BY_STATUS])
def test_a_rule_finds_what_breaks_it_and_not_what_does_not(code: str, tmp_path: Path) -> None:
    rule = RULES[code]
    assert code in codes_of(FIXTURES / f"{code}-bad.toml", rule, tmp_path / "bad")
    assert code not in codes_of(FIXTURES / f"{code}-good.toml", rule, tmp_path / "good")


def test_every_rule_is_found_somehow_and_says_why_and_what_to_do() -> None:
    for code, rule in RULES.items():
        assert rule.code == code and rule.group and rule.summary and rule.why and rule.advice
        assert rule.check or rule.mark or rule.says or code in ("SW001", "SW002")
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
