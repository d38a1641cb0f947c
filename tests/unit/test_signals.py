"""Signals that are ignored where the tests are started, as under nohup."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import sawtooth
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import lock
from tests.conftest import ROOT

IGNORED = ["sh", "-c", "trap '' HUP INT QUIT PIPE TERM CHLD; exec \"$@\"", "sh"]
CHILD = "import signal; print([name for name in ('SIGHUP', 'SIGQUIT', 'SIGTERM', 'SIGCHLD') if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN])"
INTERRUPTED = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
PARENT = f"""
import signal, subprocess, sys
import tests
print(subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True).stdout.strip())
print(subprocess.run([sys.executable, "-c", {INTERRUPTED!r}], stderr=subprocess.DEVNULL).returncode == -signal.SIGINT)
signal.raise_signal(signal.SIGHUP)
signal.raise_signal(signal.SIGINT)
print("still here")
"""


def test_programs_that_tests_start_hear_them_and_the_tests_do_not() -> None:
    done = subprocess.run([*IGNORED, sys.executable, "-c", PARENT], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["[]", "True", "still here"], done.stderr


INTERRUPTED_RUN = """
import os, signal, sys, threading, time
import sawtooth

scenario = {
    "links": {"bottleneck": {"rate": "10 Gbit/s", "delay": "20 ms"}},
    "flows": [{"path": ["bottleneck"], "count": int(sys.argv[1]), "start": "i * 0.00001 s"}],
    "duration": "10000 s",
}
sent = []

def interrupt():
    time.sleep(float(sys.argv[2]))
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

sawtooth.simulate({**scenario, "duration": "1 us", "flows": [{"path": ["bottleneck"]}]})
threading.Thread(target=interrupt, daemon=True).start()
try:
    sawtooth.simulate(scenario)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""


@pytest.mark.parametrize(("flows", "after"), [(1, 0.3), (200_000, 0.05), (200_000, 0.5), (200_000, 1.5)])
def test_a_run_is_interrupted_within_a_second_also_while_it_is_read_and_set_up(flows: int, after: float) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_RUN, str(flows), str(after)], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.stdout and float(done.stdout) < 1.0, done.stderr


STUDY = """
name = "long"
question = "When does it end?"
repeat = {repeat}

[scenario]
duration = "{duration}"
links.bottleneck = {{ rate = "10 Gbit/s", delay = "20 ms" }}
flows = [{{ path = ["bottleneck"], count = {flows}, start = "i * 0.00001 s" }}]
{more}
"""
# One run that takes minutes; one that takes long to be read and set up; and short ones, of which some are stored.
LONG = {"repeat": 1, "duration": "10000 s", "flows": 1, "more": ""}
LARGE = {**LONG, "flows": 200_000}
SHORT = {**LONG, "repeat": 60, "duration": "0.2 s"}
# The command, with batches a hundredth as large as they are.
SMALL_BATCHES = "from sawtooth import cli, plan; plan._SIMULATED_WORK = 6e5; cli.main()"
# Its rows are still written when it is interrupted: three million samples.
RECORDED = {**LONG, "duration": "3 s", "more": 'sample = "1 us"'}


def interrupted(directory: Path, study: Mapping[str, object], begun: str, after: float, number: signal.Signals) -> tuple[int, float, str]:
    """The exit code of a run that gets a signal so many seconds after a file of a name is there, how long it took to end, and what it said."""
    path = directory / "study.toml"
    path.write_text(STUDY.format(**study))
    command = [sys.executable, "-c", SMALL_BATCHES, "run", str(path), "--out", str(directory / "out"), "--jobs", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        while not list((directory / "out").glob(begun)):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        time.sleep(after)
        sent = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        return process.returncode, time.monotonic() - sent, said


@pytest.mark.xdist_group("real time")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("study", "after"), [(LONG, 0.5), (LARGE, 0.3), (LARGE, 2.0), (RECORDED, 1.0), (RECORDED, 1.5), (RECORDED, 2.0)])
def test_a_study_ends_within_a_second_whatever_it_is_at(
    tmp_path: Path, study: Mapping[str, object], after: float, number: signal.Signals
) -> None:
    code, took, said = interrupted(tmp_path, study, "runs.parquet", after, number)
    assert code == 128 + number and took < 1.0, said
    assert "stopping" in said.splitlines() and "the same command goes on from there" in said.splitlines()[-1]
    with lock(tmp_path / "out", wait=False):
        pass


@pytest.mark.xdist_group("real time")
def test_what_was_finished_before_a_signal_is_kept_and_the_same_command_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, took, said = interrupted(tmp_path, SHORT, "parts/batch-*.sha256", 0.05, signal.SIGINT)
    assert code == 130 and took < 1.0, said
    kept = Dataset.open(tmp_path / "out")
    assert 0 < kept.status().height < 60 and (kept.status()["status"] == "ok").all()
    assert f"{kept.status().height} of 60 runs " in said and "stored; the same command goes on from there" in said
    monkeypatch.setattr("sawtooth.plan._SIMULATED_WORK", 6e5)
    whole, again = (sawtooth.run(tmp_path / "study.toml", tmp_path / name) for name in ("whole", "out"))
    assert again.complete and again.digest == whole.digest
