"""The runner notices what it is there to notice, counts add up, and the page says what they say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fuzz import counts, page
from tests.fuzz.counts import Counts, Fault, Run, Sum
from tests.fuzz.kinds.planted import DEEDS, PLANTED


def command(out: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz", "--kind", "planted", "--out", str(out), *words],
        cwd=ROOT, env={**os.environ, PLANTED: str(out.parent)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_what_fails_crashes_hangs_or_takes_all_memory_is_a_fault_with_its_input(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = command(out, "--seconds", "600", "--inputs", "5", "--seed", "0", "--jobs", "1", "--patience", "2")
    told, _ = process.communicate()
    assert process.returncode == 1, told
    found = counts.load(out / "counts.json").kinds["planted"]
    assert (found.inputs, found.reached) == (5, 1)
    saved = {Path(fault.saved).read_text(): what for what, fault in found.faults.items()}
    assert saved["failure"] == "it is wrong"
    assert saved["crash"].startswith("killed by SIGABRT")
    assert saved["no end"].startswith("an input took more than N s")
    assert "MemoryError" in saved["memory"]
    assert len(saved) == 4


def test_interrupted_it_ends_with_all_that_it_started_and_counts_what_was_done(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--seconds", "3600", "--seed", str(DEEDS.index("busy")), "--jobs", "1")
    process = command(out, *words)
    told = tmp_path / "busy"
    while not told.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    found = counts.load(out / "counts.json")
    assert found.kinds["planted"].inputs >= 100
    assert not found.kinds["planted"].faults
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_more_goes_on_with_the_next_seed_and_adds_up(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for more, inputs in (((), "1"), (("--more",), "2")):
        # Seed 6 does nothing wrong, and 7 fails.
        process = command(out, "--seconds", "600", "--inputs", inputs, "--jobs", "1", *(more or ("--seed", "6")))
        process.communicate()
    assert process.returncode == 1
    found = counts.load(out / "counts.json")
    assert [(run.first, run.last) for run in found.runs] == [(6, 6), (7, 7)]
    assert (found.inputs, found.reached) == (2, 1)


def test_counts_of_campaigns_add_up() -> None:
    def made(first: int) -> Counts:
        faults = {"it is wrong": Fault(2, "saved", first)}
        return Counts([Run("abc", first, first + 9, 60, 2)], {"study": Sum(10, 5, 60, 1.5 * first, 10**8, faults)})

    one = made(1)
    one.add(made(11))
    both = one.kinds["study"]
    assert (both.inputs, both.reached, both.seconds, both.slowest, both.memory) == (20, 10, 120, 16.5, 10**8)
    assert both.faults == {"it is wrong": Fault(4, "saved", 1)}
    with pytest.raises(ValueError, match="seeds 11 to 20 are there twice"):
        one.add(made(11))


def test_counts_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = Counts([Run("abc", 1, 2, 60, 2)], {"study": Sum(faults={"x": Fault(1, "saved", 1)})})
    made.save(tmp_path / "counts.json")
    assert counts.load(tmp_path / "counts.json") == made


def test_the_page_says_what_the_figures_beside_it_say() -> None:
    text = (ROOT / page.PAGE).read_text()
    assert page.with_section(text, counts.load(ROOT / page.COUNTS)) == text
