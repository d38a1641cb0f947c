"""The short form is what is tried first, and in CI: a mistake in it is told by `plan`, `run` and `lint` whichever form is asked for, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.plan import check_short, make_plan
from sawtooth.study import Study

STUDY = """
repeat = 2
[scenario]
duration = "2 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[sweep]
"links.l.rate" = ["5 Mbit/s", "20 Mbit/s"]
[short]
"""
MISTAKES = {
    'duratoin = "1 s"': "unknown key `duratoin`",
    'duration = "-1 s"': "must be above zero",
    '"links.l.delay" = "10 Mbit/s"': "expected a time such as `20 ms`, found a rate",
    '"links.l.rate" = ["-1 Mbit/s"]': "must be above zero",
    'seed = "x"': "`seed` must be a whole number",
}


@pytest.mark.parametrize("written", MISTAKES)
def test_a_mistake_in_the_short_form_is_told_by_the_long_one_at_its_place(written: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{STUDY}{written}\n")
    with pytest.raises(StudyError, match=MISTAKES[written]) as long:
        check_short(Study.load(path))
    with pytest.raises(StudyError) as short:
        make_plan(Study.load(path, short=True))
    assert str(long.value) == str(short.value) and long.value.place is not None and long.value.place.line == 10
    told = CliRunner().invoke(app, ["lint", str(path)])
    assert told.exit_code == 1 and told.stdout.startswith(f"{long.value.place}: SW001 {long.value.message}")
    for command in ("plan", "run"):
        planned = CliRunner().invoke(app, [command, str(path)])
        assert isinstance(planned.exception, StudyError) and str(planned.exception) == str(long.value)
    with pytest.raises(StudyError) as ran:
        sawtooth.run(path, tmp_path / "results")
    assert str(ran.value) == str(long.value) and not (tmp_path / "results").exists()
    assert [each.message for each in sawtooth.lint(path)] == [long.value.message]


def test_what_wants_the_runs_of_the_long_form_does_not_plan_the_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f'{STUDY}duratoin = "1 s"\n')
    monkeypatch.chdir(tmp_path)
    plan = make_plan(Study.load(path))
    assert len(plan.runs) == 4
    for command in (["trace", "--out", "drawn"], ["simulate"]):
        done = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
        assert done.exit_code == 0, done.output
    # Who asks of a plan what is wrong with its study is told.
    assert ["unknown key `duratoin`" in each.message for each in sawtooth.lint(plan)] == [True]


def test_a_short_form_is_looked_at_once_and_not_beside_what_options_set() -> None:
    study = Study.parse(f'{STUDY}duration = "1 s"\nrepeat = 1\n')
    shortened = study.shortened()
    assert shortened is not None and shortened.short and shortened.shortened() is None
    assert len(make_plan(study).runs) == 4 and len(make_plan(shortened).runs) == 2
    # The level that is left has no part in the short form.
    left = Study.parse(f'{STUDY}"links.l.rate" = ["5 Mbit/s"]\n', options=['links.l.rate="20 Mbit/s"'])
    assert left.shortened() is None and len(make_plan(left).runs) == 2
