"""The short form is what is tried first, and in CI: a mistake in it is told whichever form is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
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
        make_plan(Study.load(path))
    with pytest.raises(StudyError) as short:
        make_plan(Study.load(path, short=True))
    assert str(long.value) == str(short.value) and long.value.place is not None and long.value.place.line == 10
    told = CliRunner().invoke(app, ["lint", str(path)])
    assert told.exit_code == 1 and told.stdout.startswith(f"{long.value.place}: SW001 {long.value.message}")
    planned = CliRunner().invoke(app, ["plan", str(path)])
    assert isinstance(planned.exception, StudyError) and str(planned.exception) == str(long.value)


def test_a_short_form_is_looked_at_once_and_not_beside_what_options_set() -> None:
    study = Study.parse(f'{STUDY}duration = "1 s"\nrepeat = 1\n')
    shortened = study.shortened()
    assert shortened is not None and shortened.short and shortened.shortened() is None
    assert len(make_plan(study).runs) == 4 and len(make_plan(shortened).runs) == 2
    # The level that is left has no part in the short form.
    left = Study.parse(f'{STUDY}"links.l.rate" = ["5 Mbit/s"]\n', options=['links.l.rate="20 Mbit/s"'])
    assert left.shortened() is None and len(make_plan(left).runs) == 2
