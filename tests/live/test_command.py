"""`sawtooth stall` from a user's side: what it says, how it ends, and what it keeps."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sawtooth.cli import main
from sawtooth.errors import DatasetError
from sawtooth.live import netlink, targets
from sawtooth.live.netlink import LiveError
from sawtooth.live.targets import Peer, Target
from sawtooth.results.dataset import Dataset

pytestmark = pytest.mark.xdist_group("real time")

SLOW = "127.0.0.1 at :"


def stall(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sawtooth.cli", "stall", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]


def watch(*arguments: str) -> subprocess.Popen[str]:
    """The command with its first few reports out; two connections have two lines in each."""
    command = [sys.executable, "-m", "sawtooth.cli", "stall", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    assert process.stdout
    for _ in range(6):
        process.stdout.readline()
    return process


class Stalled:
    """A connection whose receiver reads nothing."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.client = socket.create_connection(self.server.getsockname())
        self.accepted, _ = self.server.accept()
        self._fill()
        threading.Thread(target=self._send, daemon=True).start()

    def _fill(self) -> None:
        """Writes until all buffers have been full for a while, however busy the machine is."""
        self.client.setblocking(False)
        written = time.monotonic()
        while time.monotonic() - written < 0.3:
            try:
                self.client.send(b"x" * 65536)
                written = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        self.client.setblocking(True)

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.client.send(b"x" * 65536)

    def close(self) -> None:
        # A shutdown wakes the writer, which holds the socket open while it sleeps.
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)
        for each in (self.client, self.accepted, self.server):
            each.close()


@pytest.fixture
def stalled() -> Iterator[Stalled]:
    made = Stalled()
    yield made
    made.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_a_port_nobody_uses_is_told() -> None:
    port = free_port()
    done = stall("--port", str(port))
    assert done.returncode == 2
    assert done.stderr == (
        f"error: no connection of port {port}: nothing here listens on it, and nothing is connected to it\n"
        "hint: `ss -t` lists the connections there are; a server's port may be watched before anybody connects\n"
    )


def test_a_server_to_which_nobody_connects_is_watched_and_ends_with_1() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = stall("--port", str(port), "--for", "200 ms", "--interval", "100 ms", "--json")
    assert done.returncode == 1
    assert (done.stdout, done.stderr) == ("", f"no connection of port {port} was seen\n")


def test_a_connection_that_stalls_is_shown_as_lines_of_json(stalled: Stalled) -> None:
    done = stall("--port", str(stalled.port), "--interval", "300 ms", "--for", "600 ms", "--json")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    # Both ends are on this machine.
    assert len(lines) == 4
    sender = [line for line in lines if line["connection"] == f"127.0.0.1:{stalled.port}[1]"]
    for line in sender:
        assert line["cause"] == "rwnd"
        # All of it; but a processor that is taken away between a counter and the clock is seen as some ms of the 300.
        assert line["limited"]["rwnd"] > 0.8
        assert line["stall_s"] > 0.8 * line["seconds"]
        assert sum(line["limited"].values()) == pytest.approx(1, abs=0.001)
        assert (line["pid"], line["process"]) == (os.getpid(), Path("/proc/self/comm").read_text().strip())
        assert line["try"] == "the receiving application does not read: make it faster"


def test_once_is_a_table_with_the_cause_in_words(stalled: Stalled) -> None:
    done = stall("--pid", str(os.getpid()), "--port", str(stalled.port), "--interval", "200 ms", "--once")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"2 connections of port {stalled.port} and process {os.getpid()}, after ")
    assert " %: the receiver's window of " in done.stdout
    assert "try: the receiving application does not read: make it faster" in done.stdout


def test_a_connection_that_ends_while_it_is_watched_is_kept(stalled: Stalled, tmp_path: Path) -> None:
    out = tmp_path / "live"
    process = watch("--port", str(stalled.port), "--interval", "200 ms", "--json", "--record", str(out))
    stalled.close()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert f"every connection of port {stalled.port} has ended" in said
    dataset = Dataset.open(out)
    flows = dataset.flows().collect()
    sender = flows.filter(flow=f"127.0.0.1:{stalled.port}[1]").row(0, named=True)
    limited = [sender[name] for name in sender if name.startswith("limited_")]
    assert sum(limited) == pytest.approx(sender["lifetime_ns"], abs=10)
    assert sender["limited_rwnd_ns"] > 0.8 * sender["lifetime_ns"] > 0
    assert sender["stall_ns"] > 0.8 * sender["lifetime_ns"]
    assert dataset.table("connections").collect()["ended"].all()
    # Every interval is there, and they follow upon one another.
    rows = dataset.table("limits").collect().filter(flow=f"127.0.0.1:{stalled.port}[1]").sort("t_ns")
    assert rows["t_ns"].to_list()[:-1] == rows["start_ns"].to_list()[1:]
    assert rows["limited_rwnd_ns"].sum() == pytest.approx(sender["limited_rwnd_ns"], abs=rows.height)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130)])
def test_what_was_gathered_is_kept_when_it_is_stopped(number: signal.Signals, code: int, stalled: Stalled, tmp_path: Path) -> None:
    out = tmp_path / "live"
    process = watch("--port", str(stalled.port), "--interval", "200 ms", "--for", "60 s", "--json", "--record", str(out))
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert said == f"stopped\nrecorded in {out}; `sawtooth report {out}` shows it\n"
    assert Dataset.open(out).flows().collect().height == 2


def test_a_reader_of_the_output_that_goes_ends_the_watch_and_what_was_gathered_is_kept(stalled: Stalled, tmp_path: Path) -> None:
    out = tmp_path / "live"
    # A table, then lines of JSON into the same recording.
    for form in ([], ["--json"]):
        with watch("--port", str(stalled.port), "--interval", "100 ms", "--for", "60 s", "--record", str(out), *form) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.close()
            said = process.stderr.read()
            assert process.wait(30) == 0, said
        assert said == f"recorded in {out}; `sawtooth report {out}` shows it\n"
    assert Dataset.open(out).flows().collect().height == 4


def test_output_that_cannot_be_written_is_told(stalled: Stalled, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sawtooth.cli",
        "stall",
        "--port",
        str(stalled.port),
        "--interval",
        "100 ms",
        "--for",
        "60 s",
        "--json",
    ]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*command, "--record", str(tmp_path / "live")], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    said = "error: cannot write the output: No space left on device\nhint: what was recorded until then is kept\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert Dataset.open(tmp_path / "live").flows().collect().height == 2


def test_a_connection_to_which_nothing_happens_has_the_same_words_in_every_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        accepted, (_, port) = server.accept()
        with accepted:
            done = stall("--port", str(port), "--interval", "200 ms", "--for", "600 ms", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({line.pop("time") for line in lines}) == 3
    assert all(line.pop("seconds") > 0.1 for line in lines)
    # Both ends, each three times the same.
    assert len(lines) == 6
    assert len({json.dumps(line) for line in lines}) == 2
    assert {line["limited"]["source"] for line in lines} == {1.0}


def test_a_kernel_without_the_counters_ends_with_what_it_needs(
    stalled: Stalled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(netlink, "LENGTH_WITH_COUNTERS", 1 << 16)
    monkeypatch.setattr(sys, "argv", ["sawtooth", "stall", "--port", str(stalled.port)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert (ended.value.code, said.splitlines()[-1]) == (2, "hint: `sawtooth stall` needs Linux 4.10 or later")


def test_recordings_are_results_that_report_and_compare_read(stalled: Stalled, tmp_path: Path) -> None:
    for name in ("one", "one", "two"):
        done = stall("--port", str(stalled.port), "--interval", "100 ms", "--for", "400 ms", "--json", "--record", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
    # The second watch of the same into the same directory is another replicate.
    assert Dataset.open(tmp_path / "one").runs["replicate"].to_list() == [1, 2]
    cli = [sys.executable, "-m", "sawtooth.cli"]
    made = subprocess.run([*cli, "report", str(tmp_path / "one")], capture_output=True, text=True, timeout=90)
    assert made.returncode == 0, made.stderr
    assert "held back by: receive window" in made.stdout
    page = (tmp_path / "one/report/report.html").read_text()
    assert "What held the connections back" in page
    assert (tmp_path / "one/report/figures/limits-1.svg").is_file()
    compared = subprocess.run([*cli, "compare", str(tmp_path / "one"), str(tmp_path / "two"), "--metric", "stall_ns", "--json"],
                              capture_output=True, text=True, timeout=90)  # fmt: skip
    assert compared.returncode == 0, compared.stderr
    items = {row["item"] for row in json.loads(compared.stdout)["rows"]}
    assert items == {f"127.0.0.1:{stalled.port}", f"{SLOW}{stalled.port}"}


def test_another_watch_is_not_mixed_into_a_recording(stalled: Stalled, tmp_path: Path) -> None:
    quick = ["--interval", "100 ms", "--for", "100 ms", "--json", "--record", str(tmp_path)]
    assert stall("--port", str(stalled.port), *quick).returncode == 0
    done = stall("--all", *quick)
    assert done.returncode == 2
    assert done.stderr == f"error: {tmp_path} holds results of something else: `live`\nhint: name another directory\n"
    with pytest.raises(DatasetError):
        Dataset.open(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "error: which connections?\nhint: name a --port, a --pid or a --peer, or take --all; `ss -tp` lists what there is\n"),
        (["--all", "--port", "80"], "error: --all are all: there is nothing to choose with --port, --pid or --peer\n"),
        (
            ["--all", "--once", "--for", "3 s"],
            "error: --once is one interval: --for has nothing to say\nhint: --interval says how long that is\n",
        ),
        (
            ["--all", "--interval", "1 ms"],
            "error: `1 ms` is too short\nhint: an interval takes 50 ms at least: the kernel counts in ticks of some ms\n",
        ),
        (["--all", "--for", "0 s"], "error: `0 s` is no time to watch for\nhint: such as '10 s'; without --for it watches until Ctrl-C\n"),
        (["--all", "--interval", "1 kB"], "error: `1 kB` is not a time\nhint: such as '2.5 s' or '300 ms'\n"),
        (["--peer", "nobody"], "error: `nobody` is no peer\nhint: such as 192.0.2.7, 192.0.2.0/24, 192.0.2.7:443 or [2001:db8::1]:443\n"),
        (["--pid", "4194305"], "error: there is no process 4194305\nhint: `ss -tp` lists processes with their connections\n"),
    ],
)
def test_mistakes_are_told_with_what_to_do(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process: starting another takes longer than all of it.
    monkeypatch.setattr(sys, "argv", ["sawtooth", "stall", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (2, said)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_users_process_is_told_and_its_port_may_be_watched_without_root(stalled: Stalled) -> None:
    code = (
        "from sawtooth.live.targets import Target\nfrom sawtooth.live.netlink import SockDiag, LiveError\n"
        "import os, sys\nos.setgid(65534); os.setuid(65534)\n"
        "try: Target(pids=[int(sys.argv[1])]).choose(SockDiag().connections())\n"
        "except LiveError as error: print(error)\n"
        "print(len(Target(ports=[int(sys.argv[2])]).choose(SockDiag().connections())))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(os.getpid()), str(stalled.port)], capture_output=True, text=True, timeout=60)
    assert done.stdout == (
        f"error: process {os.getpid()} is another user's: which connections it has open may not be seen\n"
        "hint: run as that user or as root (sudo), or name its --port: the connections themselves anyone may see\n2\n"
    ), done.stderr


def test_a_process_in_another_network_namespace_is_told_with_the_command_that_enters_it() -> None:
    other = subprocess.Popen(["unshare", "--net", "sleep", "30"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while other.poll() is None and Path(f"/proc/{other.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
            time.sleep(0.01)
        if other.poll() is not None:
            pytest.skip("needs the right to make a network namespace")
        with pytest.raises(LiveError) as raised:
            targets.inodes_of(other.pid)
    finally:
        other.kill()
        other.wait()
    assert str(raised.value) == (
        f"error: process {other.pid} is in another network namespace (a container?), whose connections cannot be seen from here\n"
        f"hint: as root: nsenter --target {other.pid} --net sawtooth stall --pid {other.pid}"
    )


def test_peers_are_addresses_networks_and_ports() -> None:
    for text, network, port in (
        ("192.0.2.7", "192.0.2.7/32", None),
        ("192.0.2.0/24", "192.0.2.0/24", None),
        ("192.0.2.7:443", "192.0.2.7/32", 443),
        ("2001:db8::1", "2001:db8::1/128", None),
        ("[2001:db8::1]:443", "2001:db8::1/128", 443),
    ):
        peer = Peer.parse(text)
        assert (peer.network.with_prefixlen, peer.port) == (network, port)
    assert str(Target([80], [], [Peer.parse("192.0.2.7")])) == "port 80 and peer 192.0.2.7"


def test_connections_are_chosen_by_their_peer(stalled: Stalled) -> None:
    done = stall("--peer", f"127.0.0.1:{stalled.port}", "--interval", "100 ms", "--once", "--json")
    assert [json.loads(line)["remote"] for line in done.stdout.splitlines()] == [f"127.0.0.1:{stalled.port}"]
