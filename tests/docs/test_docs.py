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
from sawtooth import _core, figures, findings, reference_files
from sawtooth.cli import app
from sawtooth.figures import spec as figure_spec
from sawtooth.findings import spec as finding_spec
from sawtooth.plan import make_plan
from sawtooth.report import KINDS
from sawtooth.study import Study, keys
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
    # A table that it names is a block of the same page.
    tables = [table for there, table in blocks("csv") if there.partition("#")[0] == where.partition("#")[0]]
    for name, table in zip(re.findall(r'(?m)^file = "(.*\.csv)"$', text), tables, strict=False):
        (tmp_path / name).write_text(table)
    plan = make_plan(Study.load(path))
    run = min(plan.runs, key=lambda run: run.cost)
    if plan.study.backend != "sim":
        return  # it has been planned; tests/kernel runs such studies
    scenario = json.loads(run.scenario) | {"duration": "1 s"}
    tables = sawtooth.simulate(scenario, seed=run.seed).tables
    # Flows that arrive and leave have a row together.
    assert any(name in tables and tables[name].height > 0 for name in ("flows", "arrivals")), where


def test_the_python_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for where, text in blocks("python"):
        if where.startswith("docs/guides/python.md"):
            exec(compile(text, where, "exec"), names)
            assert "goodput_bps" in capsys.readouterr().out
    assert (tmp_path / "results/delays.svg").is_file()
    assert str(names["finding"]).startswith("<Finding mixed: The line is full at every delay>")
    assert str(names["compared"]).startswith("<Comparison delays-cubic against delays>")


def test_the_page_on_randomness_is_right() -> None:
    # It asserts what it says.
    (text,) = (text for where, text in blocks("python") if where.startswith("docs/concepts/randomness.md"))
    assert text.count("assert") == 2
    exec(compile(text, "docs/concepts/randomness.md", "exec"), {})


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


def test_links_and_images_lead_somewhere() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    pages = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert set(PAGES) <= set(pages)
    for page in pages:
        text = without_code(page)
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
            found = page.parent / target if target else page
            assert found.exists(), f"{page}: {target}"
            if anchor:
                assert anchor in anchors(found), f"{page}: {target}#{anchor}"


def without_code(page: Path) -> str:
    return re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What headings are called in links."""
    headings = re.findall(r"(?m)^#+ (.*)$", without_code(page))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_what_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:crates|python|docs|tests|bench)/[\w./-]+)`", text):
        parts = path.split("NAME")
        assert (ROOT / (parts[0] if len(parts) > 1 else path)).exists(), path
    for target in re.findall(r"`make ([\w -]+)`", text):
        for name in target.split():
            assert f"\n{name}: " in (ROOT / "Makefile").read_text(encoding="utf-8"), name
    core = {path: path.read_text(encoding="utf-8") for path in (ROOT / "crates/sawtooth-core/src").rglob("*.rs")}
    for module, name in re.findall(r"`(\w+)::(\w+)`", text):
        own = [found for path, found in core.items() if module in (path.stem, path.parent.name)]
        assert any(re.search(rf"pub (const|mod) {name}\b", found) for found in own), f"{module}::{name}"
    for folder, table in (
        ("cc", "cc"),
        ("queue", "queue"),
        ("source", "source"),
        ("packet_source", "packet_source"),
        ("dist", "distribution"),
    ):
        rows = {row["name"] for row in _core.registry()[table]}
        # A part is a file of its name, or the folder of several versions has a file for its row.
        own = [
            re.findall(r'ENTRY: Entry<\w+> = Entry \{\n    name: "([\w+.-]+)"', path.read_text())
            for path in (ROOT / f"crates/sawtooth-core/src/{folder}").rglob("*.rs")
        ]
        assert all(len(names) <= 1 for names in own), f"two parts of `{table}` in one file"
        assert rows <= {name for names in own for name in names}, f"a part of `{table}` without a file of its own"


def test_no_page_of_the_reference_is_written_by_hand() -> None:
    for page in (ROOT / "docs/reference").rglob("*.md"):
        assert page.read_text(encoding="utf-8").startswith("<!-- Written by docs/generate.py"), page


def test_the_reference_has_every_key_that_is_known() -> None:
    scenario = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")
    for row in _core.registry()["key"]:
        assert f"\n| `{row['key']}` | " in scenario.partition(f"\n## `{row['table']}`" if row["table"] else "\n## ")[2], row["name"]
    for stack in _core.registry()["stack"]:
        assert f"`{stack['name']}`" in (ROOT / "docs/reference/tcp.md").read_text(encoding="utf-8")
    study = (ROOT / "docs/reference/study.md").read_text(encoding="utf-8")
    for key in (
        *keys.STUDY,
        *figure_spec.COMMON,
        *figure_spec.PLACES.values(),
        *(key for kind in figures.TABLE.values() for key in kind.keys),
        *finding_spec.COMMON,
        *finding_spec.THAN,
        *(key for kind in findings.table().values() for key in kind.keys),
        *reference_files.KEYS,
        *reference_files.COLUMN,
        *(key for draw in keys.DRAWS.values() for key in (*draw.needed, *draw.optional)),
    ):
        assert f"| `{key.name}` | {key.kind}".replace("|", "") in study.replace("|", ""), key.name
    for name in (*KINDS, *keys.DRAWS):
        assert f'`"{name}"`' in study or f"`{name}`" in study


def test_the_readme_gives_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("study", "test"):
        assert f"make {target} " in (ROOT / "README.md").read_text()
        assert f"\n{target}: " in makefile


def test_versions_agree() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert _core.version() == cargo["workspace"]["package"]["version"]
