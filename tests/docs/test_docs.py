"""The documentation is current, complete and works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import _core
from sawtooth.cli import app
from sawtooth.plan import make_plan
from sawtooth.report import KINDS
from sawtooth.study import Study
from tests.conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(language: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for page in PAGES:
        for number, text in enumerate(re.findall(rf"(?s)```{language}\n(.*?)```", page.read_text()), 1):
            found.append((f"{page.relative_to(ROOT)}#{number}", text))
    return found


def test_generated_pages_follow_from_the_tables() -> None:
    checked = subprocess.run([sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(("where", "text"), blocks("toml"), ids=lambda value: value if "#" in value and len(value) < 80 else "")
def test_every_study_in_the_documentation_runs(where: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    plan = make_plan(Study.load(path))
    run = min(plan.runs, key=lambda run: run.cost)
    if plan.study.backend != "sim":
        return  # it has been planned; tests/kernel runs such studies
    scenario = json.loads(run.scenario) | {"duration": "1 s"}
    tables = sawtooth.simulate(scenario, seed=run.seed).tables
    # Flows that arrive and leave have a row together.
    assert any(name in tables and tables[name].height > 0 for name in ("flows", "arrivals")), where


def test_the_python_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    ((_, text),) = [block for block in blocks("python") if block[0].startswith("docs/guides/python.md")]
    exec(compile(text, "docs/guides/python.md", "exec"), {})
    assert "goodput_bps" in capsys.readouterr().out


def test_the_results_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    study = dict(blocks("toml"))["docs/start/first-study.md#1"]
    (tmp_path / "buffers.toml").write_text(study)
    monkeypatch.chdir(tmp_path)
    sawtooth.run("buffers.toml", options=["repeat=1", "scenario.duration=2 s"])
    names: dict[str, object] = {}
    for where, text in blocks("python"):
        if where.startswith("docs/guides/results.md"):
            exec(compile(text, where, "exec"), names)
    assert "newreno" in capsys.readouterr().out


@pytest.mark.parametrize("line", [line for _, text in blocks("sh") for line in text.splitlines() if line.startswith("sawtooth ")])
def test_every_command_in_the_documentation_exists(line: str) -> None:
    words = line.split("#")[0].split()
    command = words[1]
    helped = CliRunner(env={"COLUMNS": "200"}).invoke(app, [command, "--help"])
    assert helped.exit_code == 0
    for option in re.findall(r"--[a-z-]+", line):
        assert option in helped.output


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


def known_keys(scenario: dict[str, object]) -> list[str]:
    """What the core says is known where a key is misspelt."""
    with pytest.raises(_core.ScenarioError) as caught:
        _core.check(json.dumps(scenario))
    assert caught.value.hint is not None
    return caught.value.hint.removeprefix("known here: ").split(", ")


def test_reference_pages_name_every_key() -> None:
    scenario = (ROOT / "docs/reference/scenario.md").read_text()
    link: dict[str, object] = {"rate": "1 Mbit/s", "qqqqqqq": 1}
    trees: list[dict[str, object]] = [
        {"qqqqqqq": 1},
        {"duration": "1 s", "links": {"l": link}, "flows": [{"path": ["l"]}]},
        {"duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"], "qqqqqqq": 1}]},
    ]
    for tree in trees:
        for key in known_keys(tree):
            assert f"`{key}`" in scenario, key
    study = (ROOT / "docs/reference/study.md").read_text()
    with pytest.raises(sawtooth.StudyError) as caught:
        Study.parse("qqqqqqq = 1\n", Path("x.toml"))
    assert caught.value.hint is not None
    for key in caught.value.hint.removeprefix("known here: ").split(", "):
        assert f"`{key}`" in study or f"`[{key}]`" in study, key
    for kind in KINDS:
        assert f'"{kind}"' in study


def test_the_readme_gives_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("study", "test"):
        assert f"make {target} " in (ROOT / "README.md").read_text()
        assert f"\n{target}: " in makefile


def test_versions_agree() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert _core.version() == cargo["workspace"]["package"]["version"]
