from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import _core
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import lock
from sawtooth.study import Study
from tests.conftest import parts


def test_results_are_the_same_to_the_byte_whatever_the_number_of_workers(study_file: Path, tmp_path: Path) -> None:
    for jobs in (1, 4):
        sawtooth.run(study_file, tmp_path / str(jobs), jobs=jobs)
    assert parts(tmp_path / "1") == parts(tmp_path / "4")
    assert (tmp_path / "1/runs.parquet").read_bytes() == (tmp_path / "4/runs.parquet").read_bytes()


def test_the_same_command_does_only_what_is_missing(study_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dataset = sawtooth.run(study_file, out)
    before = parts(out)
    assert dataset.complete
    (out / "parts/status-000000.parquet").unlink()
    plan = make_plan(Study.load(study_file))
    summary = execute(plan, Dataset.create(out, plan))
    assert summary.runs == len(plan.batches[0])
    assert parts(out) == before


def test_a_truncated_part_is_made_anew(study_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sawtooth.run(study_file, out)
    before = parts(out)
    victim = out / "parts/flows-000000.parquet"
    victim.write_bytes(victim.read_bytes()[:100])
    plan = make_plan(Study.load(study_file))
    summary = execute(plan, Dataset.create(out, plan))
    assert summary.damaged == ["flows-000000.parquet"]
    assert parts(out) == before


# The command, with batches a hundredth as large as they are.
SMALL_BATCHES = "from sawtooth import cli, plan; plan._SIMULATED_WORK = 6e5; cli.main()"


def test_kill_9_loses_at_most_the_batches_in_progress(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sawtooth.plan._SIMULATED_WORK", 6e5)
    out = tmp_path / "out"
    command = [sys.executable, "-c", SMALL_BATCHES, "run", str(study_file), "--out", str(out), "--jobs", "2",
               "--set", "repeat=400", "--set", "scenario.duration='60 s'".replace("'", "")]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(out.glob("parts/batch-*.sha256"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list(out.glob("parts/batch-*.sha256")))
    assert done >= 3
    options = ["repeat=400", "scenario.duration=60 s"]
    plan = make_plan(Study.load(study_file, options=options))
    assert done < len(plan.batches), "killed before the end"
    summary = execute(plan, Dataset.create(out, plan), jobs=2)
    assert summary.resumed >= done * min(len(batch) for batch in plan.batches[:-1])
    assert Dataset.open(out).complete
    reference = sawtooth.run(study_file, tmp_path / "whole", options=options)
    assert parts(out) == parts(reference.directory)


def test_ctrl_c_stores_what_is_finished_and_says_how_to_go_on(study_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "sawtooth.cli", "run", str(study_file), "--out", str(out), "--jobs", "1",
               "--set", "repeat=2000", "--set", "scenario.duration=60 s"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
    deadline = time.monotonic() + 60
    while not list(out.glob("parts/batch-*.sha256")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in stderr
    assert "Traceback" not in stderr


@pytest.mark.xdist_group("real time")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_workers_of_another_executor_are_waited_for_until_the_second_signal(
    study_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    # Each run takes minutes.
    script = """
import sys
from concurrent.futures import ThreadPoolExecutor
from sawtooth.execute import execute
from sawtooth.progress import LineReporter
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
plan = make_plan(Study.load(sys.argv[1], options=["links.bottleneck.rate=1 Gbit/s", "scenario.duration=100000 s"]))
execute(plan, Dataset.create(sys.argv[2], plan), ThreadPoolExecutor(2), reporter=LineReporter())
"""
    command = [sys.executable, "-c", script, str(study_file), str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("0/"):
            assert process.poll() is None
        time.sleep(0.5)
        for answer in ("finishing 2 batches in progress; again to stop now\n", ""):
            began = time.monotonic()
            process.send_signal(number)
            assert process.stderr.readline() == answer
            assert time.monotonic() - began < 2
        assert process.wait(timeout=2) == 128 + number
    # The lock went with it.
    with lock(tmp_path / "out", wait=False):
        pass


def test_signals_that_were_ignored_when_it_was_started_do_not_end_it(study_file: Path, tmp_path: Path) -> None:
    # As nohup and the background of a script do.
    out = tmp_path / "out"
    command = ["sh", "-c", "trap '' HUP INT TERM; exec \"$@\"", "sh", sys.executable, "-m", "sawtooth.cli", "run", str(study_file),
               "--out", str(out), "--jobs", "1", "--set", "repeat=2000", "--set", "scenario.duration=60 s"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not list(out.glob("parts/batch-*.sha256")):
            assert process.poll() is None
            time.sleep(0.02)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        assert process.poll() is None
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert Dataset.open(out).complete


def test_one_failing_run_is_recorded_and_the_rest_go_on(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sawtooth.backends import sim

    honest = sim.run_share

    def failing(
        scenarios: list[str], seeds: list[int], stop: _core.StopRequest, captures: list[_core.CaptureRequest]
    ) -> _core.Outcomes | None:
        broken = ["{}" if at == 1 else scenario for at, scenario in enumerate(scenarios)]
        return honest(broken, seeds, stop, captures)

    monkeypatch.setattr(sim, "run_share", failing)
    dataset = sawtooth.run(study_file, tmp_path / "out", jobs=1)
    status = dataset.status()
    failed = status.filter(pl.col("status") == "failed")
    assert failed["run"].to_list() == [1]
    assert "a scenario needs a `duration`" in failed["message"][0]
    assert dataset.flows().collect()["run"].n_unique() == status.height - 1


def test_the_memory_of_a_run_does_not_grow_with_simulated_time() -> None:
    # In processes of their own, whose peaks are theirs; the same packets are in flight, for 5 and for 500 seconds.
    script = """
import json, resource, sys
from sawtooth import _core
link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "100 packets"}}
tree = {"duration": sys.argv[1], "stack": "rfc", "links": {"l": link}, "flows": [{"path": ["l"], "count": 8}]}
outcome = _core.simulate([json.dumps(tree)], [1])
print(outcome["efforts"][0][2], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    short, long = (
        [int(word) for word in subprocess.run([sys.executable, "-c", script, duration], capture_output=True, check=True).stdout.split()]
        for duration in ("5 s", "500 s")
    )
    assert long[0] > 50 * short[0]
    # 800,000 packets more: a MiB would be less than two bytes of each.
    assert long[1] - short[1] < 1024


def test_runs_of_two_kernels_do_not_mix(study_file: Path, tmp_path: Path) -> None:
    dataset = Dataset.create(tmp_path / "out", make_plan(Study.load(study_file)))
    assert dataset.kernels == []
    dataset.record_kernels([{"backend": "uml", "release": "6.1.1"}])
    dataset.record_kernels([{"backend": "uml", "release": "6.1.1"}])
    with pytest.raises(sawtooth.SawtoothError, match=r'set up otherwise: kernel\[0\]\.release was "6\.1\.1" and is "6\.1\.2"'):
        dataset.record_kernels([{"backend": "uml", "release": "6.1.2"}])
    assert dataset.kernels == [{"backend": "uml", "release": "6.1.1"}]
