"""A study on a Dask cluster: the same results as here, whoever is ended when, and clear words where it cannot be."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import polars as pl
import pytest
from distributed import Client

from sawtooth import clusters, jobs
from sawtooth.errors import ClusterError
from sawtooth.execute import WorkersGone, execute
from sawtooth.plan import Plan
from sawtooth.results.dataset import Dataset
from tests.cluster.dask_processes import Processes, processes, wait_until
from tests.conftest import parts

pytestmark = pytest.mark.xdist_group("real time")

# Batches a thirtieth as large as they are, so that there are many of them.
SMALL = "from sawtooth import cli, plan; plan._SIMULATED_WORK = 2e6; cli.main()"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Processes]:
    with processes(tmp_path_factory.mktemp("dask"), workers=2) as found:
        yield found


def said(text: str) -> None:
    print(text, file=sys.stderr)


def run(command: list[str], address: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SMALL, "run", *command, "--dask", address],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )


def test_results_of_a_cluster_are_those_of_this_process_to_the_byte(plan: Plan, cluster: Processes, tmp_path: Path) -> None:
    assert len(plan.batches) > 4
    with clusters.connected(cluster.address, said) as crew:
        summary = execute(plan, Dataset.create(tmp_path / "there", plan), crew.executor, crew=crew)
    assert (summary.runs, summary.failed) == (len(plan.runs), 0)
    execute(plan, Dataset.create(tmp_path / "here", plan))
    assert parts(tmp_path / "there") == parts(tmp_path / "here")
    assert (tmp_path / "there/runs.parquet").read_bytes() == (tmp_path / "here/runs.parquet").read_bytes()
    logged = pl.read_ndjson(tmp_path / "there/log.jsonl")
    assert sorted(logged["batch"].to_list()) == list(range(len(plan.batches)))


def test_the_command_line_names_the_dashboard_and_does_what_is_missing(study_file: Path, cluster: Processes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run([str(study_file), "--out", str(out)], cluster.address)
    _, told = first.communicate(timeout=120)
    assert first.returncode == 0, told
    assert "dashboard: http://127.0.0.1:" in told
    before = parts(out)
    for victim in out.glob("parts/*-000000.*"):
        victim.unlink()
    again = run([str(study_file), "--out", str(out)], cluster.address)
    _, told = again.communicate(timeout=120)
    assert again.returncode == 0, told
    assert parts(out) == before


def test_nobody_there_is_said_within_seconds() -> None:
    began = time.monotonic()
    with pytest.raises(ClusterError) as caught, clusters.connected("tcp://127.0.0.1:9", said):
        pass
    assert time.monotonic() - began < 15
    assert str(caught.value) == (
        "error: no Dask scheduler answers at tcp://127.0.0.1:9\n"
        "hint: start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
    )


@pytest.mark.parametrize("address", ["localhost", "local:0", "local:", "8786", "tcp://a b:1"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(ClusterError) as caught, clusters.connected(address, said):
        pass
    assert str(caught.value) == (
        f"error: `{address}` is no address of a Dask scheduler\n"
        "hint: write tcp://HOST:8786, the scheduler's file such as scheduler.json, or local:4"
    )


def test_a_missing_scheduler_file_is_said() -> None:
    with pytest.raises(ClusterError) as caught, clusters.connected("none.json", said):
        pass
    assert str(caught.value).startswith("error: there is no file none.json: no Dask scheduler has written it\nhint: start one with")


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError) as caught, clusters.connected("tcp://127.0.0.1:9", said):
        pass
    assert str(caught.value) == (
        'error: --dask needs the package `distributed`, which is not installed\nhint: install it: pip install "$(ls sawtooth-*.whl)[cluster]"'
    )


def test_workers_of_another_version_do_nothing(plan: Plan, cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = jobs.versions()
    monkeypatch.setattr(jobs, "versions", lambda: {**here, "its core": "9.9.9"})
    dataset = Dataset.create(tmp_path / "out", plan)
    with clusters.connected(cluster.address, said) as crew, pytest.raises(ClusterError) as caught:
        execute(plan, dataset, crew.executor, crew=crew)
    message, hint = str(caught.value).split("\n")
    assert message.endswith(f"has its core {here['its core']}, and the client 9.9.9")
    assert hint == "hint: install the same versions on all machines: nothing was done there"
    assert not parts(tmp_path / "out")


def test_a_worker_that_comes_late_with_another_version_does_nothing(plan: Plan, cluster: Processes, tmp_path: Path) -> None:
    dataset = Dataset.create(tmp_path / "out", plan)
    with clusters.connected(cluster.address, said) as crew, dataset.probe() as (folder, probe):
        terms = jobs.Terms({**jobs.versions(), "polars": "0.1"}, folder, probe)
        future = crew.executor.submit(jobs.do_packed, terms, b"not opened")
        with pytest.raises(ClusterError, match=r"has polars .*, and the client 0\.1"):
            future.result(timeout=60)


def test_a_worker_that_does_not_see_the_results_does_nothing(plan: Plan, cluster: Processes, tmp_path: Path) -> None:
    dataset = Dataset.create(tmp_path / "out", plan)
    # A worker that an earlier test has ended may be on its way back.
    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=60)
    with clusters.connected(cluster.address, said) as crew, dataset.probe() as (folder, _), pytest.raises(ClusterError) as caught:
        crew.check(jobs.Terms(jobs.versions(), folder, ".probe.00000000-1.0000000000000000.tmp"))
    message, hint = str(caught.value).split("\n")
    assert message.endswith(f"does not see {tmp_path}/out/parts")
    assert hint == "hint: name a directory with --out that all machines share, by the same path, or a URL such as s3://bucket/results"


def test_the_probe_is_gone_at_the_end_and_is_no_stray_file(plan: Plan, tmp_path: Path) -> None:
    dataset = Dataset.create(tmp_path / "out", plan)
    with dataset.probe() as (_, probe):
        assert (tmp_path / "out/parts" / probe).read_text() == probe
        assert dataset.notes == []
    assert not list((tmp_path / "out/parts").iterdir())


def test_a_full_disk_at_a_worker_is_said_and_nothing_is_lost(plan: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    dataset = Dataset.create(out, plan)
    # Only this worker may not write files as large as parts are: to it the disk is full (RLIMIT_FSIZE).
    with processes(tmp_path / "dask", workers=0) as small:
        command = "import resource, signal, sys; from dask.__main__ import main; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " \
            "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)); sys.argv[0] = 'dask'; main()"  # fmt: skip
        small.workers.append(
            subprocess.Popen(
                [sys.executable, "-c", command, "worker", small.address, "--nthreads", "1", "--no-dashboard", "--no-nanny"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path,
            )
        )  # fmt: skip
        with clusters.connected(small.address, said) as crew, pytest.raises(ClusterError) as caught:
            execute(plan, dataset, crew.executor, crew=crew)
    message, hint = str(caught.value).split("\n")
    assert message.startswith("error: the worker on ")
    assert message.endswith(f": no space left for results in {out}")
    assert hint == "hint: nothing that was stored is lost: make room and run the same command again, it goes on from here"
    assert execute(plan, Dataset.create(out, plan)).planned == len(plan.runs)
    assert Dataset.open(out).complete


def test_a_batch_whose_workers_die_is_lost_and_not_for_ever(plan: Plan, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    class Death(Exception):
        pass

    class Crew:
        deaths = (Death,)

        def check(self, terms: jobs.Terms) -> None:
            pass

        def ahead(self) -> int:
            return 4

        def leave(self) -> None:
            pass

    class Deadly(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object) -> object:  # type: ignore[override]
            def die() -> None:
                raise Death

            return super().submit(die)

    dataset = Dataset.create(tmp_path / "out", plan)
    with Deadly() as executor:
        summary = execute(plan, dataset, executor, crew=Crew())
    assert summary.failed == len(plan.runs)
    status = dataset.status()
    assert status["status"].unique().to_list() == ["lost"]
    assert status["tries"].unique().to_list() == [4]
    assert status["message"].unique().to_list() == ["the workers that did it died"]
    execute(plan, dataset, retry_failed=True)
    execute(plan, Dataset.create(tmp_path / "here", plan))
    assert parts(tmp_path / "out") == parts(tmp_path / "here")


def test_an_executor_that_drops_its_work_is_told_from_a_failure(plan: Plan, tmp_path: Path) -> None:
    from concurrent.futures import Executor, Future

    class Dropping(Executor):
        def submit(self, *_: object, **__: object) -> Future[object]:  # type: ignore[override]
            future: Future[object] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(WorkersGone):
        execute(plan, Dataset.create(tmp_path / "out", plan), Dropping())


def test_a_scheduler_that_is_killed_and_started_again_goes_on(study_file: Path, tmp_path: Path) -> None:
    out, options = tmp_path / "out", ["repeat=400", "scenario.duration=60 s"]
    with processes(tmp_path / "dask", workers=1) as found:
        process = run([str(study_file), "--out", str(out), *(word for option in options for word in ("--set", option))], found.address)
        wait_until(lambda: len(list(out.glob("parts/batch-*.sha256"))) > 2 or process.poll() is not None)
        assert process.poll() is None
        assert found.scheduler is not None
        found.scheduler.kill()
        found.scheduler.wait()
        found.start_scheduler()
        # Its worker may have ended with it.
        found.start_worker()
        _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert f"the scheduler at {found.address} is gone: waiting for it to come back" in told
    assert "Traceback" not in told
    execute_here(study_file, options, tmp_path / "here")
    assert parts(out) == parts(tmp_path / "here")


@pytest.mark.long
def test_workers_killed_twenty_times_lose_nothing_and_do_nothing_twice(study_file: Path, tmp_path: Path) -> None:
    out, options = tmp_path / "out", ["repeat=12000", "scenario.duration=60 s"]
    moments = random.Random(20)
    with processes(tmp_path / "dask", workers=2) as found:
        process = run([str(study_file), "--out", str(out), *(word for option in options for word in ("--set", option))], found.address)
        wait_until(lambda: list(out.glob("parts/batch-*.sha256")) or process.poll() is not None)
        kills = 0
        while kills < 20 and process.poll() is None:
            victim = found.workers.pop(moments.randrange(len(found.workers)))
            victim.kill()
            victim.wait()
            kills += 1
            found.start_worker()
            time.sleep(moments.uniform(0.0, 2.0))
        _, told = process.communicate(timeout=1200)
    assert process.returncode == 0, told
    assert kills == 20, "it was not done before"
    execute_here(study_file, options, tmp_path / "here")
    # What a worker was writing when it was killed is no part: it has a temporary name, by which a later command knows that it may go.
    found_parts = {name: digest for name, digest in parts(out).items() if not name.endswith(".tmp")}
    assert found_parts == parts(tmp_path / "here")
    assert Dataset.open(out).digest == Dataset.open(tmp_path / "here").digest


def execute_here(study_file: Path, options: list[str], out: Path) -> None:
    command = [sys.executable, "-c", SMALL, "run", str(study_file), "--out", str(out)]
    subprocess.run([*command, *(word for option in options for word in ("--set", option))], check=True, stderr=subprocess.DEVNULL)


def test_processes_of_this_machine_are_asked_for_by_their_number(study_file: Path, tmp_path: Path) -> None:
    process = run([str(study_file), "--out", str(tmp_path / "there")], "local:2")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    execute_here(study_file, [], tmp_path / "here")
    assert parts(tmp_path / "there") == parts(tmp_path / "here")
    assert Dataset.open(tmp_path / "there").complete


def test_ctrl_c_ends_a_command_that_waits_for_workers(study_file: Path, tmp_path: Path) -> None:
    with processes(tmp_path / "dask", workers=0) as found:
        process = run([str(study_file), "--out", str(tmp_path / "out")], found.address)
        assert process.stderr is not None
        while "no worker is there yet: waiting for the first one" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "stopped: 0 of 16 runs are stored; the same command goes on from there" in told
    assert "Traceback" not in told


def test_ctrl_c_in_a_terminal_ends_workers_of_this_machine_in_the_middle(study_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", SMALL, "run", str(study_file), "--out", str(out), "--dask", "local:2", "--set", "repeat=4000"]
    process = subprocess.Popen(
        [*command, "--set", "scenario.duration=60 s"],
        stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    wait_until(lambda: list(out.glob("parts/batch-*.sha256")) or process.poll() is not None)
    # A terminal sends it to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert f"stopped: {Dataset.open(out).status().height:,} of 32,000 runs" in told
    wait_until(lambda: not living(process.pid))


def living(group: int) -> list[int]:
    """The processes of a group that have not ended, whether somebody has waited for them or not."""
    # What follows a process's name (proc(5)): state, parent, group.
    told = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return [int(each[2]) for each in told if int(each[2]) == group and each[0] not in "ZX"]


def test_nobody_there_leaves_nothing(study_file: Path, tmp_path: Path) -> None:
    process = run([str(study_file), "--out", str(tmp_path / "out")], "tcp://127.0.0.1:9")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "error: no Dask scheduler answers at tcp://127.0.0.1:9" in told
    assert not (tmp_path / "out").exists()
