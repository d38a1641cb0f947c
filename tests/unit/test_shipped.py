"""Studies that come along with the package: folders, names, and what is said of a name that is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.errors import DatasetError, StudyError
from sawtooth.study import Study, shipped
from tests.conftest import ROOT, STUDY


def test_every_folder_has_a_main_study_and_a_page_about_it() -> None:
    folders = {path.parent for path in shipped.studies().values()}
    assert [folder.name for folder in folders if not (folder / "study.toml").is_file()] == []
    assert [folder.name for folder in folders if not (folder / "README.md").is_file()] == []
    # Whoever looks for them in the project finds them at its root.
    assert (ROOT / "studies").resolve() == shipped.DIRECTORY


def test_a_page_about_a_folder_names_all_that_is_in_it() -> None:
    for folder in {path.parent for path in shipped.studies().values()}:
        page = (folder / "README.md").read_text()
        assert [path.name for path in folder.iterdir() if path.is_file() and path.name != "README.md" and path.name not in page] == [], (
            folder
        )


@pytest.mark.parametrize(
    ("name", "file"), [("hstcp", "hstcp/study.toml"), ("hstcp/random", "hstcp/random.toml"), ("gallery/l4s", "gallery/l4s/study.toml")]
)
def test_a_study_is_found_by_its_name_from_anywhere(name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shipped.find(Path(name)) == shipped.DIRECTORY / file
    assert Study.load(name).path == shipped.DIRECTORY / file


def test_a_file_and_a_folder_of_ones_own_come_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("hstcp")
    own.mkdir()
    # Of a folder without a study nothing is meant.
    assert Study.load(own).name == "hstcp"
    (own / "study.toml").write_text(STUDY.replace('"pair"', '"mine"'))
    assert Study.load("hstcp").name == Study.load("hstcp/study.toml").name == "mine"
    shutil.rmtree(own)
    own.write_text(STUDY.replace('"pair"', '"a-file"'))
    assert Study.load("hstcp").name == "a-file"


def test_a_directory_of_results_is_no_folder_of_a_study(study_file: Path, tmp_path: Path) -> None:
    sawtooth.run(study_file, tmp_path / "out", short=True)
    with pytest.raises(StudyError, match="is a directory, not a study file"):
        Study.load(tmp_path / "out")


MISSING = {
    "hstpc": ("there is no file hstpc, and no study of that name comes along", "did you mean `hstcp`?"),
    "hstcp/rando": ("there is no file hstcp/rando, and no study of that name comes along", "did you mean `hstcp/random`?"),
    "bufferbloat": ("there is no file bufferbloat, and no study of that name comes along", "did you mean `gallery/bufferbloat`?"),
    "something": (
        "there is no file something, and no study of that name comes along",
        "`sawtooth list study` shows the studies that come along",
    ),
    "studies/hstcp-random.toml": ("there is no file studies/hstcp-random.toml", "did you mean `hstcp/random`, which comes along?"),
    "mine/other.toml": ("there is no file mine/other.toml", "`sawtooth list study` shows the studies that come along"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_no_study_is_told_with_the_one_that_may_be_meant(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError) as caught:
        Study.load(name)
    assert (caught.value.message, caught.value.hint) == MISSING[name]


def test_a_table_that_an_installation_lacks_is_told() -> None:
    with pytest.raises(DatasetError, match=r"the table hstcp/none.csv is not among the studies of this installation"):
        shipped.table("hstcp", "none.csv")


def test_list_shows_all_of_them_and_those_of_this_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies/mine").mkdir(parents=True)
    (tmp_path / "studies/mine/study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    rows = json.loads(CliRunner().invoke(app, ["list", "study", "--json"]).output)
    assert [row["name"] for row in rows] == [*shipped.studies(), "studies/mine/study.toml"]
    assert all(row["summary"].endswith(("?", ")")) for row in rows)
    monkeypatch.chdir(ROOT)
    assert len(json.loads(CliRunner().invoke(app, ["list", "study", "--json"]).output)) == len(shipped.studies())


def test_the_gallery_is_a_group_of_studies_and_takes_names() -> None:
    from sawtooth.cli import studies

    files = [path for name, path in shipped.studies().items() if name.startswith("gallery/")]
    assert studies.members([Path("gallery")]) == files
    assert studies.members([Path("gallery/l4s"), Path("gallery/l4s")]) == [Path("gallery/l4s")]


def test_an_installed_package_runs_and_reports_a_study_of_its_own(tmp_path: Path) -> None:
    """A copy of the package, as an installation has it, without the project around it."""
    site = tmp_path / "site"
    shutil.copytree(ROOT / "python/sawtooth", site / "sawtooth", ignore=shutil.ignore_patterns("__pycache__", "guest"))
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import sawtooth; print(sawtooth.__file__); from sawtooth import cli; cli.main()"
    )
    for words in (["run", "gallery/slow-start-overshoot", "--short", "--out", "out"], ["report", "out"]):
        done = subprocess.run([sys.executable, "-c", code, str(site), *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(str(site))
    assert (tmp_path / "out/report/report.html").is_file()
