"""What `sawtooth` alone says: what to do next in this folder."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.cli.next import advice
from sawtooth.study import shipped
from sawtooth.web.folders import Folders
from sawtooth.web.made import Made, newest
from tests.conftest import STUDY


def test_an_empty_folder_is_shown_where_to_begin(tmp_path: Path) -> None:
    lines = advice(tmp_path)
    assert lines[0].startswith("  sawtooth run hstcp --short")
    assert lines[-1].startswith("  sawtooth serve")


def test_studies_and_results_have_their_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "pair.toml").write_text(STUDY)
    assert advice(tmp_path)[0].startswith("  sawtooth plan studies/pair.toml  then run: ")
    sawtooth.run(tmp_path / "studies" / "pair.toml", tmp_path / "results" / "pair")
    assert advice(tmp_path)[0].startswith("  sawtooth report results/pair")
    (tmp_path / "results" / "pair" / "report").mkdir()
    (tmp_path / "results" / "pair" / "report" / "report.html").touch()
    assert advice(tmp_path)[0].split("  ")[1:] == ["results/pair/report/report.html", "a report to open in a browser"]
    for part in (tmp_path / "results" / "pair" / "parts").iterdir():
        part.unlink()
    monkeypatch.chdir(tmp_path)
    assert advice(Path())[0].startswith("  sawtooth run studies/pair.toml --out results/pair  goes on: 0 of ")
    (tmp_path / "studies" / "broken.toml").write_text("[scenario")
    assert advice(tmp_path)[0].startswith("  sawtooth lint studies/broken.toml")


def test_what_only_mentions_a_scenario_is_no_study_and_all_broken_ones_have_one_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[build-system]\n# one scenario\nlayers = ['drawn', 'scenario']\ndescription = 'scenario'\n")
    assert advice(tmp_path)[0].startswith("  sawtooth run hstcp --short")
    for number, text in enumerate(("[scenario", "[[scenario.flows]]\npath =", "scenario.duration = '5 s'\n", "  'scenario' = {}\n")):
        (tmp_path / f"{number}.toml").write_text(text)
    broken, *others, serve = advice(tmp_path)
    assert broken.startswith("  sawtooth lint 0.toml  ") and broken.endswith("this says where and why, and so it is with 1 more")
    assert [line.split()[2] for line in others] == ["2.toml", "3.toml"] and serve.startswith("  sawtooth serve")


def test_studies_of_a_programs_tests_come_last_and_their_mistakes_are_theirs(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "tests" / "corpus", tmp_path / "work" / "tests"
    for place in (corpus, folder):
        place.mkdir(parents=True)
    (corpus / "broken.toml").write_text("[scenario")
    (corpus / "whole.toml").write_text(STUDY.replace('name = "pair"', 'name = "theirs"'))
    (tmp_path / "work" / "pair.toml").write_text(STUDY)
    assert [line.split()[2] for line in advice(tmp_path)[:-1]] == ["work/pair.toml", "tests/corpus/whole.toml"]
    found = [address for address in Folders([tmp_path]).studies().addresses if not address.startswith("shipped/")]
    assert [address.partition("/")[2] for address in found] == ["work/pair.toml", "tests/corpus/broken.toml", "tests/corpus/whole.toml"]
    # Who is in such a folder works there.
    (folder / "broken.toml").write_text("[scenario")
    assert advice(folder)[0].startswith("  sawtooth lint broken.toml")


def test_of_more_studies_than_are_told_those_of_tests_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for number in range(9):
        place = tmp_path / "tests" if number > 5 else tmp_path
        (place / f"{number}.toml").write_text(STUDY.replace('name = "pair"', f'name = "pair-{number}"'))
    *first, serve = advice(tmp_path)
    assert len(first) == 5 and serve.endswith("a browser, 1 more thing to do among them")


def test_studies_that_come_along_have_their_names_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "python" / "studies"
    (folder / "pair").mkdir(parents=True)
    (folder / "pair" / "study.toml").write_text(STUDY)
    monkeypatch.setattr(shipped, "studies", lambda: {"pair": folder.resolve() / "pair" / "study.toml"})
    assert advice(tmp_path)[0].startswith("  sawtooth plan pair  then run: ")
    (folder / "pair" / "study.toml").write_text("[scenario")
    assert advice(tmp_path)[0].startswith("  sawtooth lint pair  ")


def test_a_study_that_was_run_again_elsewhere_goes_on_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pair.toml").write_text(STUDY)
    sawtooth.run("pair.toml", "results/pair")
    for part in Path("results/pair/parts").iterdir():
        part.unlink()
    assert "--out results/pair  goes on" in advice(Path())[0]
    sawtooth.run("pair.toml", "elsewhere")
    # Clocks of file systems may be coarse.
    os.utime("results/pair/log.jsonl", (1e9, 1e9))
    os.utime("results/pair/parts", (1e9, 1e9))
    os.utime("results/pair/SHA256SUMS", (1e9, 1e9))
    said = "\n".join(advice(Path()))
    assert said.startswith("  sawtooth report elsewhere ") and "results/pair" not in said


def test_of_a_study_the_results_of_each_form_and_backend_that_were_written_last_count_and_what_is_being_written() -> None:
    old = Made("old", "pair", "", short=False, backend="sim", written=1.0, planned=2, done=1, failed=0)
    new, kernel, short = (replace(old, address=name, written=2.0) for name in ("new", "kernel", "short"))
    kernel, short, other = replace(kernel, backend="uml"), replace(short, short=True), replace(old, address="other", name="other")
    assert newest([old, new, kernel, short, other]) == [new, kernel, short, other]
    assert newest([held := replace(old, held=True), new]) == [held, new]


def test_the_command_alone_says_so(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "sawtooth.cli"], cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.startswith("What to do next here:\n  sawtooth run hstcp --short")
    assert "sawtooth --help" in done.stdout


@pytest.mark.parametrize("command", ["run", "plan", "simulate"])
def test_a_command_without_its_study_says_what_there_is(command: str) -> None:
    done = CliRunner().invoke(app, [command])
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert said.endswith(
        "Missing argument 'STUDY'. `sawtooth list study` shows those that come along; a file of your own is named by its path."
    )
