"""Results at a URL, of a store that speaks S3 and is on the loopback interface: the same files, resumed, reported, merged."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import DatasetError
from sawtooth.execute import execute
from sawtooth.plan import Plan
from sawtooth.results import lease as leases
from sawtooth.results.dataset import Dataset
from sawtooth.results.folder import Objects, url_of
from sawtooth.results.merge import merge
from sawtooth.sharing import Shard
from tests.cluster.dask_processes import processes, wait_until
from tests.cluster.test_dask import SMALL
from tests.conftest import parts

pytestmark = [pytest.mark.xdist_group("real time"), pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def server() -> Generator[str]:
    """An address of a store with nothing in it."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """An empty bucket that only this test has, and what whoever uses it has in the environment."""
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "who", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    name = hashlib.sha256(str(tmp_path).encode()).hexdigest()[:20]
    s3fs.S3FileSystem().mkdir(name)
    yield name
    s3fs.S3FileSystem.clear_instance_cache()


def objects(url: str) -> dict[str, str]:
    import s3fs

    system: Any = s3fs.S3FileSystem()
    system.invalidate_cache()
    return {path.rpartition("/")[2]: hashlib.sha256(system.cat(path)).hexdigest() for path in system.ls(f"{url}/parts", detail=False)}


def test_what_is_at_the_url_is_what_a_directory_has_to_the_byte(plan: Plan, bucket: str, tmp_path: Path) -> None:
    url = f"s3://{bucket}/some/where"
    summary = execute(plan, Dataset.create(url, plan))
    assert summary.runs == len(plan.runs)
    execute(plan, Dataset.create(tmp_path / "here", plan))
    assert objects(url) == parts(tmp_path / "here")
    there, here = Dataset.open(url), Dataset.open(tmp_path / "here")
    assert there.complete and there.notes == [] and there.digest == here.digest
    assert there.flows().collect().equals(here.flows().collect())


def test_another_machine_goes_on_and_does_only_what_is_missing(
    plan: Plan, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    url = f"s3://{bucket}/results"
    execute(plan, Dataset.create(url, plan))
    before = objects(url)
    system: Any = s3fs.S3FileSystem()
    system.rm(f"{url}/parts/batch-000001.sha256")
    system.rm(f"{url}/parts/flows-000002.parquet")
    # Its cache is another.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    summary = execute(plan, Dataset.create(url, plan))
    assert summary.runs == sum(len(plan.batches[index]) for index in (1, 2))
    assert summary.damaged == ["flows-000002.parquet"]
    assert objects(url) == before
    assert execute(plan, Dataset.create(url, plan)).runs == 0


def test_workers_of_an_executor_write_there_and_are_looked_at(plan: Plan, bucket: str, tmp_path: Path) -> None:
    url = f"s3://{bucket}/results"
    with ThreadPoolExecutor(2) as executor:
        execute(plan, Dataset.create(url, plan), executor)
    execute(plan, Dataset.create(tmp_path / "here", plan))
    assert objects(url) == parts(tmp_path / "here")


def test_the_commands_run_report_and_merge_at_a_url(plan: Plan, study_file: Path, bucket: str, tmp_path: Path) -> None:
    url, runner = f"s3://{bucket}/results", CliRunner()
    result = runner.invoke(app, ["run", str(study_file), "--out", url, "--set", "repeat=60"])
    assert result.exit_code == 0, result.stderr
    assert f" runs in {url}: " in result.stderr
    result = runner.invoke(app, ["report", url])
    assert isinstance(result.exception, DatasetError)
    assert str(result.exception) == f"error: a report of {url} needs a place here\nhint: name a directory with --out"
    result = runner.invoke(app, ["report", url, "--out", str(tmp_path / "report"), "--format", "html"])
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "report/report.html").is_file()
    shards = []
    for number in (1, 2):
        part = dataclasses.replace(plan, shard=Shard(number, 2))
        shards.append(f"s3://{bucket}/{number}")
        execute(part, Dataset.create(shards[-1], part))
    assert merge([Path(shard) for shard in shards], Path(f"s3://{bucket}/merged")).missing == []
    assert objects(f"s3://{bucket}/merged") == objects(url)


def test_dask_workers_write_there(study_file: Path, bucket: str, tmp_path: Path) -> None:
    url = f"s3://{bucket}/results"
    with processes(tmp_path / "dask", workers=2) as found:
        command = [sys.executable, "-c", SMALL, "run", str(study_file), "--out", url, "--dask", found.address, "--set", "repeat=60"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}, timeout=240)
    assert done.returncode == 0, done.stderr
    assert Dataset.open(url).complete


def test_a_bucket_that_is_not_there_is_said(plan: Plan, bucket: str) -> None:
    with pytest.raises(DatasetError) as caught:
        Dataset.create(f"s3://{bucket}-not/results", plan)
    assert str(caught.value) == (
        f"error: cannot write to s3://{bucket}-not/results: there is no such bucket\nhint: make it, or name another with --out"
    )


def test_a_bucket_without_permission_is_said(plan: Plan, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    async def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", refuse)
    with pytest.raises(DatasetError) as caught:
        Dataset.create(f"s3://{bucket}/results", plan)
    assert str(caught.value) == (
        f"error: s3://{bucket}/results refuses access: Access Denied\n"
        "hint: ask its owner for permission to read, write, list and delete there"
    )


def test_nobody_at_the_address_is_said(plan: Plan, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DatasetError, match=f"cannot use s3://{bucket}/elsewhere: .*127.0.0.1:9") as caught:
        Dataset.create(f"s3://{bucket}/elsewhere", plan)
    assert caught.value.hint == "see that the bucket is there, and that its address and credentials are right"


def test_without_fsspec_it_says_what_to_install(plan: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(DatasetError) as caught:
        Dataset.create("s3://nothing/of/it", plan)
    assert str(caught.value) == (
        "error: results at s3://nothing/of/it need the package `fsspec`, which is not installed\n"
        'hint: install it: pip install "$(ls sawtooth-*.whl)[cluster]"'
    )


def test_a_store_that_nobody_knows_is_said(plan: Plan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DatasetError) as caught:
        Dataset.create("s4://nothing/of/it", plan)
    assert str(caught.value) == (
        "error: cannot use s4://nothing/of/it: Protocol not known: s4\nhint: name a directory, or a URL such as s3://bucket/results"
    )


@pytest.mark.parametrize(
    ("place", "url"),
    [
        ("s3://bucket/x", "s3://bucket/x"), (Path("s3://bucket/x"), "s3://bucket/x"), ("gs://b/c/", "gs://b/c"),
        ("results/x", None), ("/tmp/a:b", None), ("C:/x", None), ("s3:x", None),
    ],
)  # fmt: skip
def test_a_url_is_told_from_a_directory(place: str | Path, url: str | None) -> None:
    assert url_of(place) == url


def test_many_batches_at_a_url_are_told_how_they_are_packed(
    plan: Plan, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"s3://{bucket}/many"
    monkeypatch.setattr("sawtooth.results.dataset.MANY", len(plan.batches) - 1)
    dataset = Dataset.create(url, plan)
    execute(plan, dataset)
    told = dataset.tidy()
    assert (
        told
        == f"{url} has a file for each table of {len(plan.batches)} batches; `sawtooth merge {url} --out DIR` and `sawtooth compact DIR` make a copy with few"
    )
    # As it says.
    merge([Path(url)], tmp_path / "copy")
    assert Dataset(tmp_path / "copy").pack().after == 5
    assert Dataset.open(tmp_path / "copy").digest == Dataset.open(url).digest


def test_two_commands_at_once_are_told_of_each_other(plan: Plan, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"s3://{bucket}/busy"
    dataset = Dataset.create(url, plan)
    with dataset.lock():
        # Another machine has another copy, and other processes.
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
        with pytest.raises(DatasetError) as caught:
            Dataset.create(url, plan, wait=False)
    message, hint = str(caught.value).split("\n")
    assert message.startswith(f"error: {url} is in use by process {os.getpid()} on ")
    assert hint == "hint: wait for its end, or name another place"
    assert execute(plan, Dataset.create(url, plan, wait=False), wait=False).runs == len(plan.runs)
    assert (Objects(url) / "locks").times() == {}


def test_who_waits_goes_on_when_the_other_is_done_and_never_beside_it(
    bucket: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leases, "_AGAIN", (0.01, 0.1))
    place, inside, most = Objects(f"s3://{bucket}/queue"), [0], [0]

    def work(_number: int) -> None:
        with leases.lease(place):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            inside[0] -= 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(8)))
    assert most == [1]
    assert f"{place} is in use by process" in capsys.readouterr().err


def test_what_a_killed_command_has_left_holds_nobody_up(bucket: str) -> None:
    url = f"s3://{bucket}/left"
    code = "import sys, time; from sawtooth.results.lease import lease; from sawtooth.results.folder import Objects\n" \
        "with lease(Objects(sys.argv[1])): print('held', flush=True); time.sleep(600)"  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(DatasetError, match=rf"is in use by process {holder.pid} on"), leases.lease(Objects(url), wait=False):
            pass
        holder.kill()
    with leases.lease(Objects(url), wait=False):
        assert len((Objects(url) / "locks").times()) == 1


def test_a_claim_of_another_machine_that_is_old_holds_nobody_up(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Objects(f"s3://{bucket}/old")
    (place / "locks").write(f"{'0' * 16}-1-{'1' * 16}", b"somebody")
    with pytest.raises(DatasetError, match="is in use by somebody"), leases.lease(place, wait=False):
        pass
    monkeypatch.setattr(leases, "_GONE", -1.0)
    with leases.lease(place, wait=False):
        assert len((place / "locks").times()) == 1


def test_a_claim_is_written_anew_as_long_as_it_is_held(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_EVERY", 0.05)
    place = Objects(f"s3://{bucket}/beats")
    with leases.lease(place):
        (name,) = (place / "locks").times()
        (place / "locks").remove(name)
        wait_until(lambda: [*(place / "locks").times()] == [name])
    assert (place / "locks").times() == {}
