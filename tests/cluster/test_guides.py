"""What the guides to clusters have is run as far as one machine allows: with stand-ins for what hands out machines."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sawtooth.results.dataset import Dataset
from tests.cluster.dask_processes import free_port, processes, wait_until
from tests.conftest import ROOT

pytestmark = pytest.mark.xdist_group("real time")
BIN = Path(sys.executable).parent


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"(?s)```{language}\n(.*?)```", (ROOT / "docs/guides" / guide).read_text())


def stand_in(directory: Path, name: str, script: str) -> None:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


def test_the_script_for_ssh_runs_a_study(study_file: Path, tmp_path: Path) -> None:
    # The first argument is the machine; all that is there is this one. What it starts ends with the test, by its process.
    stand_in(tmp_path / "bin", "ssh", f'shift; echo $$ >> {tmp_path}/pids; exec "$@" --host 127.0.0.1')
    script = blocks("cluster-ssh.md", "sh")[1].replace("/shared/env/bin", str(BIN)).replace("8786", str(free_port()))
    script = re.sub(r"(scheduler .*) &", rf"\1 --no-dashboard & echo $! >> {tmp_path}/pids", script, count=1)
    environment = {
        **os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HEAD": "127.0.0.1", "HOSTS": "one two",
        "STUDY": str(study_file), "OUT": str(tmp_path / "out"), "NO_COLOR": "1",
    }  # fmt: skip
    # The client may be there before the scheduler is: whoever types it is slower.
    script = script.replace("for host", "sleep 5\nfor host", 1)
    try:
        with (tmp_path / "said").open("w") as said:
            done = subprocess.run(["bash", "-ec", script], env=environment, stdout=said, stderr=said, timeout=240, check=False)
        assert done.returncode == 0, (tmp_path / "said").read_text()
    finally:
        for number in (tmp_path / "pids").read_text().split():
            os.kill(int(number), signal.SIGTERM)
    assert Dataset.open(tmp_path / "out").complete


def test_the_script_for_slurm_submits_jobs_that_do_the_study(study_file: Path, tmp_path: Path) -> None:
    stand_in(
        tmp_path / "bin", "sbatch",
        f'cp "${{@: -1}}" {tmp_path}/job.sh; bash {tmp_path}/job.sh >> {tmp_path}/log 2>&1 & echo $! >> {tmp_path}/pids; echo "Submitted batch job $!"',
    )  # fmt: skip
    stand_in(tmp_path / "bin", "scancel", f'echo "$@" >> {tmp_path}/cancelled')
    (script,) = blocks("cluster-slurm.md", "py")
    # One job with one thread is what there is room for.
    script = script.replace("maximum_jobs=50", "maximum_jobs=1").replace("cores=8", "cores=1").replace('"8 GB"', '"2 GB"')
    (tmp_path / "slurm_cluster.py").write_text(script)
    environment = {
        **os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "DASK_JOBQUEUE__SLURM__INTERFACE": "lo", "NO_COLOR": "1",
    }  # fmt: skip
    with (tmp_path / "log").open("a") as log:
        cluster = subprocess.Popen(
            [sys.executable, "slurm_cluster.py", "address"], cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            address = tmp_path / "address"
            wait_until(lambda: cluster.poll() is not None or (address.is_file() and address.read_text()))
            assert cluster.poll() is None, (tmp_path / "log").read_text()
            command = [BIN / "sawtooth", "run", study_file, "--out", tmp_path / "out", "--dask", address.read_text()]
            done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, timeout=240, check=False)
            assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
        finally:
            cluster.terminate()
            cluster.wait(timeout=60)
            for number in (tmp_path / "pids").read_text().split():
                subprocess.run(["kill", number], stderr=subprocess.DEVNULL, check=False)
    assert Dataset.open(tmp_path / "out").complete
    job = (tmp_path / "job.sh").read_text()
    assert "#SBATCH --cpus-per-task=1" in job
    assert "#SBATCH -t 04:00:00" in job
    assert re.search(r"distributed\.cli\.dask_worker tcp://127\.0\.0\.1:\d+ .*--nthreads 1", job)


def manifests() -> dict[str, dict[str, Any]]:
    found = [each for block in blocks("cluster-kubernetes.md", "yaml") for each in yaml.safe_load_all(block)]
    return {f"{each['kind']} {each['metadata']['name']}": each for each in found}


def test_the_manifests_fit_each_other() -> None:
    known = manifests()
    assert list(known) == ["Deployment sawtooth-scheduler", "Service sawtooth-scheduler", "Deployment sawtooth-worker", "Job sawtooth-run"]
    versions = {"Deployment": "apps/v1", "Service": "v1", "Job": "batch/v1"}
    assert all(each["apiVersion"] == versions[each["kind"]] for each in known.values())
    for name in ("Deployment sawtooth-scheduler", "Deployment sawtooth-worker"):
        spec = known[name]["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    service = known["Service sawtooth-scheduler"]["spec"]
    scheduler = known["Deployment sawtooth-scheduler"]["spec"]["template"]
    assert service["selector"] == scheduler["metadata"]["labels"]
    ports = [each["containerPort"] for each in scheduler["spec"]["containers"][0]["ports"]]
    assert ports == [each["port"] for each in service["ports"]]
    pods = [each["spec"]["template"]["spec"] for each in known.values() if each["kind"] != "Service"]
    assert len({pod["containers"][0]["image"] for pod in pods}) == 1
    assert all(isinstance(word, str) for pod in pods for word in pod["containers"][0]["command"])
    for pod in pods[1:]:
        assert "tcp://sawtooth-scheduler:8786" in pod["containers"][0]["command"]
        assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "store"}}]


def test_the_commands_of_the_manifests_run(study_file: Path, tmp_path: Path) -> None:
    commands = [each["spec"]["template"]["spec"]["containers"][0]["command"] for each in manifests().values() if each["kind"] != "Service"]
    with processes(tmp_path / "dask", workers=0) as found:
        changed = {
            "hstcp": str(study_file), "s3://bucket/hstcp": str(tmp_path / "out"), "tcp://sawtooth-scheduler:8786": found.address,
            "8786": str(found.port),
        }  # fmt: skip
        _, worker, client = [[changed.get(word, word) for word in command] for command in commands]
        found.workers.append(
            subprocess.Popen([BIN / worker[0], *worker[1:], "--host", "127.0.0.1"], stderr=subprocess.DEVNULL, cwd=tmp_path)
        )
        done = subprocess.run([BIN / client[0], *client[1:]], stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        # Its nanny ends the worker that it has.
        found.workers[-1].terminate()
        found.workers[-1].wait(timeout=60)
    assert done.returncode == 0, done.stderr
    assert Dataset.open(tmp_path / "out").complete


def test_the_commands_without_a_scheduler_are_commands() -> None:
    from typer.testing import CliRunner

    from sawtooth.cli import app

    shown = {name: CliRunner().invoke(app, [name, "--help"]).stdout for name in ("run", "merge")}
    for guide in ("cluster.md", "cluster-ssh.md", "cluster-slurm.md"):
        for line in "\n".join(blocks(guide, "sh")).splitlines():
            for command, rest in re.findall(r"sawtooth (run|merge) ([^#&']*)", line):
                for word in shlex.split(rest):
                    assert not word.startswith("--") or word in shown[command], (guide, word)
