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


@pytest.mark.parametrize(
    "change",
    [
        ('delay = "10 ms"', 'delay = "10 ms"\nloss = 0.01'), ('delay = "10 ms"', 'delay = "10 ms * (1 + start)"'), ('delay = "10 ms"', 'delay = "10 ms"\nqueue = "red"'),
        ('"start * 1 s"', '"0 s"'), ('duration = "30 s"', 'duration = "30 s"\nvars = { r = "start * 1 Mbit/s", s = "1 Mbit/s + r" }'), ('"start * 1 s"', '"start * 1 s"\ncount = 2'),
        ('delay = "10 ms"', 'delay = "10 ms"\noutages = [{ from = "3 s", to = "4 s" }]'), ('"start * 1 s"', '"start * 1 s"\ncc = "bbr"'),
    ],
)  # fmt: skip
def test_a_run_is_not_merely_shifted_where_anything_else_may_vary(change: tuple[str, str], tmp_path: Path) -> None:
    text = (FIXTURES / "SW204-bad.toml").read_text(encoding="utf-8")
    if "vars" in change[1]:
        text = text.replace('rate = "10 Mbit/s"', 'rate = "s + 9 Mbit/s"')
    assert change[0] in text
    (tmp_path / "study.toml").write_text(text.replace(*change), encoding="utf-8")
    assert "SW204" not in {each.rule.code for each in linting.lint(Study.load(tmp_path / "study.toml"))}


def test_every_rule_is_found_somehow_and_says_why_and_what_to_do() -> None:
    for code, rule in RULES.items():
        assert rule.code == code and rule.group and rule.summary and rule.why and rule.advice
        assert rule.check or rule.mark or rule.says or code in ("SW001", "SW002")
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
