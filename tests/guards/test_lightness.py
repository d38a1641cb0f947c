"""What is loaded for what: libraries that take long are loaded when something is drawn, computed or shown, and not before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = {"polars", "numpy", "scipy", "matplotlib", "jinja2"}
OF_REPORTS = {"scipy", "matplotlib", "jinja2"}
OF_THE_COMMAND_LINE = {"typer", "rich"}
STUDY = "hstcp"
LOADED = "import json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)"
COMMAND = "import sys\nfrom sawtooth import cli\nsys.argv[0] = 'sawtooth'\ntry:\n    cli.main()\nexcept SystemExit as ended:\n    assert not ended.code"


def loaded(code: str, *words: str) -> set[str]:
    """The top-level modules that a process has at its end."""
    ended = subprocess.run([sys.executable, "-c", f"{code}\n{LOADED}", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(ended.stderr.splitlines()[-1]))


def test_importing_the_package_loads_nothing() -> None:
    assert loaded("import sawtooth") & (HEAVY | OF_THE_COMMAND_LINE) == set()


def test_reading_a_study_loads_nothing_but_the_core() -> None:
    assert loaded(f"import sawtooth\nsawtooth.Study.load({STUDY!r})") & (HEAVY | OF_THE_COMMAND_LINE) == set()


HELP = [[], ["--help"], ["--version"], ["run", "--help"], ["compare", "--help"], ["stall", "--help"], ["kernel", "build", "--help"]]


@pytest.mark.parametrize("words", [*HELP, ["list", "cc"], ["list", "metric"]], ids=" ".join)
def test_the_command_line_says_what_there_is_without_what_computes_and_draws(words: list[str]) -> None:
    if not words:
        assert loaded("import sawtooth.cli") & HEAVY == set()
    else:
        assert loaded(COMMAND, *words) & HEAVY == set()


@pytest.mark.parametrize("words", [["plan", STUDY], ["simulate", STUDY], ["run", STUDY, "--short", "--out", "OUT"]], ids=" ".join)
def test_what_plans_and_runs_loads_nothing_of_reports(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    out = str(tmp_path_factory.mktemp("out") / "out")
    # A run that lasts for seconds looks at the intervals so far, which takes scipy: how long this one lasts is the machine's.
    never_looks = "import sawtooth.narrowing\nsawtooth.narrowing._SOONEST = 1e9\n"
    assert loaded(never_looks + COMMAND, *(out if word == "OUT" else word for word in words)) & OF_REPORTS == set()


def test_what_runs_and_measures_from_python_loads_nothing_of_reports(tmp_path: Path) -> None:
    asked = f"import sys, sawtooth\nsawtooth.run({STUDY!r}, sys.argv[1], short=True).measure('p95(goodput_bps)', flows='sum')"
    assert loaded(asked, str(tmp_path / "out")) & OF_REPORTS == set()
