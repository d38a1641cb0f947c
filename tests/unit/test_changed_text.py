"""What a report says before its verdicts: that a study's text was changed after its runs, that runs are still to be done, that it is the short form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.plan import make_plan
from sawtooth.report import pdf, report
from sawtooth.report.edited import shown_as
from sawtooth.results import changes
from sawtooth.results.dataset import Dataset
from sawtooth.results.head import Head
from sawtooth.study import Study

STUDY = """
name = "told"
question = "Is it told?"
repeat = 2
caveats = ["The link is assumed."]

[scenario]
duration = "1 s"
links.l = { rate = "1 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"] }]

[short]
repeat = 1

[[findings]]
claim = "Little is carried"
metric = "goodput_bps"
is = "below"
than = "2 Mbit/s"

[[findings]]
claim = "Something is carried"
metric = "goodput_bps"
is = "above"
than = "1 kbit/s"
"""
EDITED = (
    STUDY.replace('"2 Mbit/s"', '"9 Mbit/s"').replace('"1 kbit/s"', '"2 kbit/s"').replace('caveats = ["The link is assumed."]\n', "")
    + """
[[findings]]
claim = "It is no more than the link"
metric = "goodput_bps"
is = "below"
than = "1.1 Mbit/s"
"""
)
OWN = "def sections(dataset):\n    return []\n"
WHEN = "2026-11-24T08:01:22Z"


@pytest.fixture(autouse=True)
def _at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "now", lambda: WHEN)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def command(*words: str | Path) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words])
    assert found.exit_code == 0, found.output
    return found.stdout


def run(folder: Path, text: str = STUDY, *, short: bool = False) -> Dataset:
    (folder / "s.toml").write_text(text)
    return sawtooth.run(folder / "s.toml", folder / "out", short=short)


def plain(page: str) -> str:
    return re.sub(r"<[^>]+>", "", page)


FORMS: dict[str, Callable[[Dataset, Path], str]] = {
    "page": lambda dataset, out: plain(report(dataset).write(out).read_text()),
    "markdown": lambda dataset, out: report(dataset).write(out, ["md"]).read_text().replace("\\", ""),
    "pdf": lambda dataset, _: "\n".join(text for text, _, _ in pdf.lines(report(dataset))),
    "json": lambda dataset, out: command("report", dataset.directory, "--json", "--out", out),
    "terminal": lambda dataset, out: command("report", dataset.directory, "--out", out),
    "terminal in full": lambda dataset, out: command("report", dataset.directory, "--verbose", "--out", out),
    "python": lambda dataset, _: repr(report(dataset)),
    "notebook": lambda dataset, _: report(dataset)._repr_html_(),  # pyright: ignore[reportPrivateUsage]
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_before_all_verdicts_that_the_text_was_changed(form: str, tmp_path: Path) -> None:
    run(tmp_path)
    told = FORMS[form](run(tmp_path, EDITED), tmp_path / "report")
    said = (
        "The study's text was changed after its runs: 2 claims changed, 1 added; caveats changed (2026-11-24 08:01 UTC); "
        f"the study as it was first run has SHA-256 {sha(STUDY)}."
    )
    told = told.replace("&#39;", "'").replace("&#x27;", "'")
    assert said in told
    assert told.index(said) < told.index("Little is carried")


def test_the_results_keep_what_was_changed_and_say_both_hashes(tmp_path: Path) -> None:
    assert run(tmp_path).changes == []
    parts = {path: path.read_bytes() for path in (tmp_path / "out/parts").iterdir()}
    run(tmp_path, EDITED)
    run(tmp_path, EDITED)
    (kept,) = json.loads((tmp_path / "out/manifest.json").read_text())["changes"]
    assert kept == {
        "time": WHEN, "study": [sha(STUDY), sha(EDITED)], "analysis": [None, None],
        "claims": {"changed": ["Little is carried", "Something is carried"], "added": ["It is no more than the link"], "removed": []},
        "parts": ["caveats"],
    }  # fmt: skip
    assert parts == {path: path.read_bytes() for path in (tmp_path / "out/parts").iterdir()}
    page = plain(report(Dataset.open(tmp_path / "out")).write(tmp_path / "report").read_text())
    assert f"SHA-256 of study file{sha(EDITED)}" in page and f"SHA-256 of study file as it was first run{sha(STUDY)}" in page
    assert "changed (2026-11-24 08:01 UTC): Little is carried, Something is carried; added (2026-11-24 08:01 UTC): It is no more" in page


def test_changing_it_back_is_told_too(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, EDITED)
    (told,) = report(run(tmp_path)).warnings
    assert told == (
        "The study's text was changed after its runs: 2 claims changed, 1 added; caveats changed (2026-11-24 08:01 UTC); "
        "2 claims changed, 1 removed; caveats changed (2026-11-24 08:01 UTC); "
        f"the study as it was first run has SHA-256 {sha(STUDY)}."
    )


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (STUDY + "# A remark.\n", "nothing that is shown"),
        (STUDY.replace("Little is carried", "Not much is carried"), "1 claim added, 1 removed"),
        (STUDY.replace('than = "1 kbit/s"', 'than = "1 bit/s"'), "1 claim changed"),
        (STUDY.replace("Is it told?", "Is it said?").replace(" assumed.", " not."), "caveats and question changed"),
    ],
)
def test_it_is_told_what_was_changed(now: str, said: str, tmp_path: Path) -> None:
    run(tmp_path)
    (told,) = report(run(tmp_path, now)).warnings
    assert told.startswith(f"The study's text was changed after its runs: {said} (2026-11-24 08:01 UTC); the study as it was")


def test_another_version_shown_for_one_report_is_told_and_not_kept(tmp_path: Path) -> None:
    out = run(tmp_path).directory
    (tmp_path / "other.toml").write_text(EDITED)
    before = (out / "manifest.json").read_bytes()
    said = "warning: The study's text was changed after its runs: 2 claims changed, 1 added; caveats changed (for this report only); the study as"
    assert said in command("report", out, "--study", tmp_path / "other.toml", "--out", tmp_path / "r")
    assert (out / "manifest.json").read_bytes() == before and report(Dataset.open(out)).warnings == []
    assert report(shown_as(Dataset.open(out), tmp_path / "s.toml")).warnings == []


def test_a_changed_analysis_is_told_with_its_hashes(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    text = 'analysis = "own.py"\n' + STUDY
    run(tmp_path, text)
    (tmp_path / "own.py").write_text(OWN + "# bars of 80 %\n")
    made = report(run(tmp_path, text))
    assert made.warnings == [
        "The study's text was changed after its runs: analysis changed (2026-11-24 08:01 UTC); "
        f"the study as it was first run has SHA-256 {sha(text)}, and its analysis {sha(OWN)}."
    ]
    page = plain(made.write(tmp_path / "report").read_text())
    assert (
        f"SHA-256 of analysis{sha(OWN + '# bars of 80 %' + chr(10))}" in page
        and f"SHA-256 of analysis as it was first run{sha(OWN)}" in page
    )


def test_nothing_is_said_where_no_run_was_begun(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    Dataset.create(tmp_path / "out", make_plan(Study.load(tmp_path / "s.toml")))
    made = run(tmp_path, EDITED)
    assert made.changes == [] and report(made).warnings == []


def test_results_of_before_the_record_open_and_have_nothing_to_say(tmp_path: Path) -> None:
    out = run(tmp_path, short=True).directory
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["short"], manifest["references"], manifest["analysis"]
    manifest["command"] = ["sawtooth", "run", "told", "--short"]
    Head.look(out).write(manifest["plan_hash"], {"manifest.json": json.dumps(manifest).encode()})
    assert report(Dataset.open(out)).warnings == []
    assert "1 of 1 run of the short form done" in report(Dataset.open(out)).write(tmp_path / "r", ["md"]).read_text()
    assert run(tmp_path, short=True).changes == []


def test_a_text_taken_over_while_the_manifest_is_damaged_is_told(tmp_path: Path) -> None:
    out = run(tmp_path).directory
    (out / "manifest.json").write_text("{}")
    assert [each["study"] for each in run(tmp_path, EDITED).changes] == [[sha(STUDY), sha(EDITED)]]


def test_a_text_taken_over_for_a_damaged_one_is_told_without_what_it_was(tmp_path: Path) -> None:
    out = run(tmp_path).directory
    (out / "study.toml").write_text("name = 1")
    (told,) = report(run(tmp_path, EDITED)).warnings
    assert told.startswith("The study's text was changed after its runs: it is not known in what, for the text before was damaged (2026-")


# --- the short form, and runs that are still to be done


@pytest.mark.parametrize("form", ["page", "markdown", "pdf", "terminal", "json"])
def test_the_short_form_is_told(form: str, tmp_path: Path) -> None:
    told = FORMS[form](run(tmp_path, short=True), tmp_path / "report")
    said = {"terminal": "told (short form): Is it told?\n", "json": '"short": true'}
    assert said.get(form, "1 of 1 run of the short form done, 0 failed") in told


def test_the_long_form_is_not_called_short(tmp_path: Path) -> None:
    made = run(tmp_path)
    assert all("short form" not in FORMS[form](made, tmp_path / "report") for form in FORMS)
    # What has no short form is the same with --short.
    (tmp_path / "b").mkdir()
    assert run(tmp_path / "b", STUDY.replace("[short]\nrepeat = 1\n", ""), short=True).manifest["short"] is False


@pytest.mark.parametrize("form", FORMS)
def test_runs_that_are_still_to_be_done_are_told_before_all_verdicts(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sawtooth.plan._SIMULATED_ROWS", 100)
    out = run(tmp_path, STUDY.replace("repeat = 2", "repeat = 100")).directory
    for path in (out / "parts").glob("*-000001.*"):
        path.unlink()
    made = Dataset.open(out)
    told = FORMS[form](made, tmp_path / "report")
    done = made.status().height
    assert 0 < done < 100
    said = f"{done} of 100 runs are done: verdicts are of those, and may change."
    assert said in told and told.index(said) < told.index("Little is carried")
