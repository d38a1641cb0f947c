"""What pages show is run, in the order in which a page shows it: commands, and Python beside them. Studies in TOML are those of `test_docs.py`."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from docs import captured as captured_pages
from sawtooth.cli import app
from tests.conftest import ROOT

# A flow whose capture, and what fits it, the guides tell of.
TRANSFER = """
duration = "10 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], cc = "cubic" }]
"""


def blocks(page: str, *languages: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"(?s)```(?:{'|'.join(languages)})\n(.*?)```", text)


def commands(page: str) -> list[list[str]]:
    """Those of Sawtooth alone: what other programs have a part in is run where these are."""
    lines = [line for text in blocks(page, "sh") for line in text.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("sawtooth ") and " && " not in line]


def do(words: list[str]) -> str:
    ran = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(app, words)
    assert ran.exit_code == 0, (words, ran.output)
    return ran.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_study_does_what_its_page_says(folder: Path) -> None:
    (folder / "buffers.toml").write_text(blocks("start/first-study.md", "toml")[0])
    said = [do(words) for words in commands("start/first-study.md")]
    assert len(said) == 6
    assert "60 runs" in said[0]
    assert (folder / "results/buffers/report/report.html").is_file()
    assert (folder / "results/no-limited-transmit").is_dir()


@pytest.fixture
def captured(folder: Path) -> Path:
    """A folder with a capture, by the names that it has in the guides, and what fits it."""
    (folder / "scenario.toml").write_text(f'name = "transfer"\n[scenario]\n{TRANSFER.strip()}\n')
    do(["simulate", "scenario.toml", "--pcap", "transfer.pcapng"])
    shutil.copyfile("transfer.pcapng", "home.pcapng")
    do(commands("guides/fit.md")[0])
    assert (folder / "fitted.svg").is_file()
    return folder


def test_the_guides_to_captures_do_what_they_show(captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for page in ("guides/analyze.md", "guides/compare.md"):
        for words in commands(page):
            if "transfer.pcapng" in words:
                do(words)
    assert (captured / "results/transfer").is_dir()
    assert (captured / "beside").is_dir()
    for page in ("guides/analyze.md", "guides/fit.md", "guides/compare.md"):
        (text,) = blocks(page, "python")
        exec(compile(text, page, "exec"), {})
    assert "cubic" in capsys.readouterr().out
    assert (captured / "beside.svg").is_file()


def test_the_guide_to_advice_does_what_it_shows_in_python(captured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands("guides/advise.md")[0] == ["fit", "home.pcapng", "--out", "fitted.toml"]
    (text,) = blocks("guides/advise.md", "python")
    exec(compile(text, "guides/advise.md", "exec"), {})
    assert "bbr" in capsys.readouterr().out
    assert (captured / "results/advice").is_dir()


def test_the_guide_to_scripts_does_what_it_shows(folder: Path) -> None:
    # What they print is held by docs/captured.py; all of the scripts fail where one does.
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "icmp.pkt").write_text(captured_pages.ICMP)
    whole, some = commands("guides/conform.md")
    for words in (whole, some):
        ran = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(app, words)
        assert ran.exit_code == 1, ran.output
        assert [line for line in ran.output.splitlines() if ": failed: " in line] == [
            line for line in ran.output.splitlines() if "kernel-only" in line
        ]
    assert blocks("guides/conform.md", "bash") == []


def test_the_guide_to_background_traffic_does_what_it_shows_in_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (text,) = blocks("guides/background.md", "python")
    exec(compile(text, str(folder), "exec"), {})
    estimates = [float(value) for value in re.findall(r"H = ([\d.]+)", capsys.readouterr().out)]
    assert len(estimates) >= 2
    assert all(0.6 < value < 1 for value in estimates)


def test_the_analysis_of_the_guide_is_a_part_of_a_report(folder: Path) -> None:
    study, analysis = blocks("guides/figures-and-findings.md", "toml")[0], blocks("guides/figures-and-findings.md", "python")[0]
    (folder / "study.toml").write_text(study.replace("repeat = 5", 'repeat = 5\nanalysis = "analysis.py"'))
    (folder / "analysis.py").write_text(analysis)
    sawtooth.run("study.toml", "out", options=["scenario.duration=2 s"])
    said = do(["report", "out", "--run-analysis"])
    assert "The flow carries more than 1 Mbit/s" in said
    assert (folder / "out/report/tables/spread.csv").is_file()


@pytest.mark.parametrize("page", ["guides/trace.md", "guides/animate.md", "guides/captures.md", "guides/exchange.md", "guides/studies.md"])
def test_what_a_guide_shows_of_studies_that_come_along_is_done(page: str, folder: Path) -> None:
    # Those that take no minutes and no kernel.
    shown = [words for words in commands(page) if words[0] in ("trace", "animate", "simulate", "list") or "--short" in words]
    shown = [words for words in shown if words[0] != "gallery"]
    assert shown
    before = set(folder.iterdir())
    for words in shown:
        do(words)
    assert set(folder.iterdir()) - before or page == "guides/studies.md"
