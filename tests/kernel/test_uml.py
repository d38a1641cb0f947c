"""The same study on a real Linux kernel: user-mode Linux in virtual time; and what all guests have in common."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import doctor
from sawtooth.backends import uml
from sawtooth.cli import app
from sawtooth.errors import BackendUnavailable, SawtoothError

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")

STUDY = """
name = "fetch"
backend = "uml"
[scenario]
duration = "3 s"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "50 packets" } }
flows = [{ path = ["l"], source = { name = "bulk", size = "1 MB" } }]
[sweep]
"cc" = ["kernel:reno", "kernel:cubic", "kernel:yeah"]
"""


@pytest.fixture
def fetch(tmp_path: Path) -> Path:
    path = tmp_path / "fetch.toml"
    path.write_text(STUDY)
    return path


def test_a_study_runs_on_a_kernel_with_its_own_congestion_controls(fetch: Path, tmp_path: Path) -> None:
    dataset = sawtooth.run(fetch, tmp_path / "out")
    assert set(dataset.status()["status"]) == {"ok"}
    flows = dataset.flows().collect()
    assert flows["cc"].to_list() == ["reno", "cubic", "yeah"]
    assert flows["delivered_bytes"].to_list() == [1_000_000] * 3
    # The network is the simulator's: propagation is exact where nothing queues.
    assert all(abs(rtt - 40_000_000) < 1_000_000 for rtt in flows["min_rtt_ns"])
    # 1 MB with its headers takes 0.83 s at 10 Mbit/s.
    assert all(0.83e9 < time < 1.5e9 for time in flows["completion_ns"])


@pytest.mark.xdist_group("real time")
def test_virtual_time_repeats_itself() -> None:
    tree = {
        "duration": "3 s", "sample": "10 ms", "flows": [{"path": ["l"], "source": {"name": "bulk", "size": "1 MB"}}],
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}},
    }  # fmt: skip
    once = uml.run_batch([json.dumps(tree)], [1])
    with busy_host():
        again = uml.run_batch([json.dumps(tree)], [1])
    assert once.tables["flows"]["delivered_bytes"].to_list() == [1_000_000]
    for name in ("flows", "links", "series", "counters"):
        assert once.tables[name].equals(again.tables[name]), name


def test_a_run_leaves_the_kernel_nothing_to_send_and_the_next_one_all_its_memory() -> None:
    # What TCP may have of 128 MiB is filled by what seven such runs have in flight when they end.
    link = {"rate": "100 Mbit/s", "delay": "150 ms", "queue": {"name": "drop_tail", "limit": "2500 packets"}}
    flows = [{"path": ["l"], "source": {"name": "bulk"}}]
    text = json.dumps({"duration": "2.6 s", "cc": "kernel:reno", "kernel": {"memory": "128 MiB"}, "links": {"l": link}, "flows": flows})
    batch = uml.run_batch([text] * 12, [1] * 12)
    assert batch.errors == {}
    sent = batch.tables["flows"]["sent_packets"].to_list()
    assert sent[0] > 1000
    assert set(sent) == {sent[0]}


def test_a_kernel_without_the_algorithm_says_which_it_has(fetch: Path, tmp_path: Path) -> None:
    fetch.write_text(STUDY.replace("kernel:yeah", "kernel:yaeh"))
    with pytest.raises(SawtoothError) as raised:
        sawtooth.run(fetch, tmp_path / "out")
    release, known = uml.modules().release, ", ".join(uml.modules().congestion_controls())
    assert str(raised.value) == f"error: kernel {release} has no congestion control `yaeh`\nhint: it has {known}"


def test_the_simulator_refuses_what_only_a_kernel_has(fetch: Path) -> None:
    outcome = CliRunner().invoke(app, ["run", str(fetch), "--backend", "sim"])
    assert "`kernel:reno` is of a real kernel, not of the simulator" in str(outcome.exception)


def test_a_backend_can_be_chosen_on_the_command_line(fetch: Path, tmp_path: Path) -> None:
    fetch.write_text(STUDY.replace('backend = "uml"\n', "").replace('"kernel:reno", "kernel:cubic", "kernel:yeah"', '"reno"'))
    out = tmp_path / "out"
    assert CliRunner().invoke(app, ["run", str(fetch), "--backend", "uml", "--out", str(out)]).exit_code == 0
    assert sawtooth.Dataset.open(out).flows().select(pl.col("recovery")).collect().item() == "kernel"


def test_no_guest_survives_a_killed_laboratory(fetch: Path, tmp_path: Path) -> None:
    fetch.write_text(STUDY.replace('"3 s"', '"3000 s"').replace('"1 MB"', '"10 GB"'))
    command = [sys.executable, "-m", "sawtooth.cli", "run", str(fetch), "--out", str(tmp_path / "out")]
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(scratch)})
    deadline = time.monotonic() + 120
    # The first guest was inspected only.
    while not ((tmp_path / "out/kernels.json").is_file() and guests(scratch)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert guests(scratch)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while guests(scratch) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not guests(scratch)
    # The kernel ends guests, but nobody was left to remove the directory.
    assert list(scratch.iterdir())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(scratch))
        removed: set[str] = set()
        # A process that is ending is still there on a busy machine, and its directory is left alone so long.
        while list(scratch.iterdir()) and time.monotonic() < deadline:
            removed |= {line.split("sawtooth-uml-")[0] for line in doctor.clean()}
            time.sleep(0.05)
        assert removed == {f"removed {scratch}/"}
    assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    ("victim", "said"),
    [
        ("guest", ("the guest ended before this run did; its console ended with: ",)),
        # The kernel ends a process whose host process is gone, but ends itself if it was just then arranging its memory.
        ("run", ("the run's process ended by SIG", "the guest ended before this run did; its console ended with: ")),
    ],
)
def test_what_ends_in_mid_run_takes_only_that_run_with_it(
    victim: str, said: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    long = tree(duration="300 s", size="10 GB")
    killer = threading.Thread(target=kill_after_the_first_run, args=(tmp_path, victim))
    killer.start()
    batch = uml.run_batch([tree(), long, tree()], [1, 2, 3])
    killer.join()
    assert list(batch.errors) == [1]
    assert batch.errors[1].startswith(said)
    assert batch.lost == {1}
    assert batch.tables["flows"]["run"].to_list() == [0, 2]
    assert batch.tables["flows"]["delivered_bytes"].to_list() == [100_000] * 2
    assert not list(tmp_path.iterdir())


def test_a_guest_without_the_memory_to_boot_fails_its_runs_alone_and_shows_its_console() -> None:
    batch = uml.run_batch([tree(kernel={"memory": "8 MiB"}), tree()], [1, 1])
    assert list(batch.errors) == [0]
    assert batch.errors[0].startswith("the guest of `uml` did not boot; its console ended with: ")
    assert batch.errors[0].endswith("(it had 8 MiB of memory; 128 MiB suffice for a boot)")
    assert "Too few physical memory!" in batch.errors[0]
    assert not batch.lost
    assert batch.tables["flows"]["run"].to_list() == [1]


def test_user_mode_linux_refuses_more_than_its_one_processor() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        uml.run_batch([tree(kernel={"cpus": 2})], [1])
    assert str(raised.value) == ('error: user-mode Linux has one processor, not 2\nhint: use `--backend qemu` with `kernel.time = "real"`')


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for program in ("setpriv", "unshare", "true"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailable) as raised:
        uml.run_batch([tree()], [1])
    assert str(raised.value) == (
        "error: user-mode Linux is not installed\nhint: install the package user-mode-linux; `sawtooth doctor` shows what is there"
    )


def test_results_say_which_kernel_they_are_of() -> None:
    settings = {"metrics_cache": "off", "gso": False, "sysctl": {"net.ipv4.tcp_sack": "0"}}
    (entry,) = uml.provenance([tree(kernel=settings)])
    assert entry["release"] == uml.modules().release
    assert len(entry["config_sha256"]) == 64
    assert (entry["modules"], entry["time"], entry["cpus"]) == (["tun"], "virtual", 1)
    found = entry["inspection"]
    assert (found["of"], found["congestion_controls"]) == (settings, ["cubic", "reno"])
    for host in ("sender", "receiver"):
        assert (found["sysctl"][host]["net.ipv4.tcp_sack"], found["sysctl"][host]["net.ipv4.tcp_no_metrics_save"]) == ("0", "1")
        device = found["devices"][f"{host}.tun0"]
        assert (device["mtu"], device["qdisc"], device["gso_max_segments"]) == (1500, "pfifo_fast", 1)


def test_guests_side_by_side_fit_the_machine_and_real_time_allows_one() -> None:
    assert 1 <= uml.parallel([tree()]) <= len(os.sched_getaffinity(0))
    assert uml.parallel([tree(kernel={"memory": "1000 GB"})]) == 1
    assert uml.parallel([tree(kernel={"time": "real"})]) == 1


@contextlib.contextmanager
def busy_host() -> Generator[None]:
    """Processes that never sleep, two for each processor."""
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for process in load:
            process.kill()
            process.wait()


def tree(duration: str = "1 s", size: str = "100 kB", **more: object) -> str:
    """A short fetch, as JSON text."""
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}
    flows = [{"path": ["l"], "source": {"name": "bulk", "size": size}}]
    return json.dumps({"duration": duration, "flows": flows, "links": {"l": link}, **more})


def kill_after_the_first_run(scratch: Path, victim: str) -> None:
    """Kills the guest that works below `scratch` when it has finished a run, or the process of its next run, which is one of the host, too."""
    deadline = time.monotonic() + 60
    while not list(scratch.glob("*/results/00000.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    found = sorted(guests(scratch), key=lambda number: int((Path("/proc") / number / "stat").read_text().rpartition(")")[2].split()[19]))
    for number in found if victim == "guest" else found[-1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(number), signal.SIGKILL)


def guests(scratch: Path) -> list[str]:
    """Processes that work in a directory below `scratch`."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if str(entry.readlink()).startswith(str(scratch)):
                found.append(entry.parent.name)
    return found
