"""`--pcap`: which files there are, what they are called, and what is told of mistakes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import cli, taps
from sawtooth.cli import app
from sawtooth.errors import StudyError

STUDY = """\
name = "captured"
question = "Which packets are there?"
repeat = 2
[scenario]
duration = "2 s"
cc = "reno"
links."up link" = { rate = "5 Mbit/s", delay = "5 ms" }
[[scenario.flows]]
path = ["up link"]
[sweep]
"duration" = ["2 s", "3 s"]
[arms]
"by default" = {}
cubic = { "cc" = "cubic" }
"""
MAGIC = bytes.fromhex("0a0d0d0a")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "captured.toml"
    path.write_text(STUDY)
    return path


def run(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_simulate_writes_one_file_or_a_file_for_each_point(study: Path, tmp_path: Path) -> None:
    told = run("simulate", study, "--pcap", tmp_path / "new" / "one.pcapng")
    assert f"capture: {tmp_path}/new/one.pcapng, " in told
    assert (tmp_path / "new" / "one.pcapng").read_bytes()[:4] == MAGIC
    run("simulate", study, "--pcap", tmp_path / "all", "--pcap-at", "sender,receiver", "--pcap-at", "link:up link,link:up link:far")
    assert names(tmp_path / "all") == ["link-up link-far.pcapng", "link-up link.pcapng", "receiver.pcapng", "sender.pcapng"]


def test_whole_packets_take_more_than_headers(study: Path, tmp_path: Path) -> None:
    run("simulate", study, "--pcap", tmp_path / "headers.pcapng")
    run("simulate", study, "--pcap", tmp_path / "whole.pcapng", "--snap", "0")
    headers, whole = ((tmp_path / f"{name}.pcapng").stat().st_size for name in ("headers", "whole"))
    assert whole > 5 * headers


def test_records_are_the_same_with_a_capture(study: Path, tmp_path: Path) -> None:
    wanted = taps.wanted(tmp_path / "one.pcapng")
    assert sawtooth.simulate(study, captures=wanted).flows.equals(sawtooth.simulate(study).flows)
    assert [path.name for path in wanted.written()] == ["one.pcapng"]


def test_trace_captures_the_run_that_it_draws(study: Path, tmp_path: Path) -> None:
    run("trace", study, "--cell", "2", "--out", tmp_path / "drawn", "--pcap", tmp_path / "traced.pcapng")
    content = (tmp_path / "traced.pcapng").read_bytes()
    assert b"study captured, cell 2 (duration = 3 s), arm by default, replicate 1, seed " in content


def test_run_captures_the_runs_that_are_done_now_and_no_others(study: Path, tmp_path: Path) -> None:
    out, where = tmp_path / "out", tmp_path / "captures"
    told = run("run", study, "--out", out, "--pcap", where)
    assert f"captures: 8 files in {where}, " in told
    expected = [
        f"cell-{cell}-{arm}-replicate-{replicate}.sender.pcapng"
        for cell in (1, 2)
        for arm in ("by_default", "cubic")
        for replicate in (1, 2)
    ]
    assert names(where) == sorted(expected)
    again = tmp_path / "again"
    told = run("run", study, "--out", out, "--pcap", again)
    assert "captures: no run was done now, so there are none; runs that are stored are not done again for them" in told
    assert names(again) == []


def test_results_are_the_same_with_captures(study: Path, tmp_path: Path) -> None:
    run("run", study, "--out", tmp_path / "with", "--pcap", tmp_path / "captures", "--pcap-at", "link:up link")
    run("run", study, "--out", tmp_path / "without")
    tables = [sawtooth.Dataset.open(tmp_path / name).flows().collect().sort("run") for name in ("with", "without")]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["run", "simulate"])
def test_a_signal_leaves_no_half_of_a_file(verb: str, number: signal.Signals, tmp_path: Path) -> None:
    long = tmp_path / "long.toml"
    long.write_text(STUDY.replace('"2 s", "3 s"', '"20000 s", "30000 s"'))
    where = tmp_path / "captures"
    command = [sys.executable, "-m", "sawtooth.cli", verb, str(long), "--pcap", str(where)]
    command += ["--out", str(tmp_path / "out")] if verb == "run" else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "COLUMNS": "100"})
    while not (where.is_dir() and any(path.stat().st_size > 100_000 for path in where.glob(".*.part"))):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.send_signal(number)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number, told
    # What is there is of runs that came to their end.
    assert [name for name in names(where) if not name.endswith("sender.pcapng") or name.startswith(".")] == []


MISTAKES: dict[str, tuple[list[str], str, str]] = {
    "an older format": (
        ["--pcap", "x/run.pcap"],
        "captures are written as pcapng, and x/run.pcap is the name of an older format",
        "name x/run.pcapng, or a directory; `editcap -F pcap` makes the older format of it",
    ),
    "two points and one file": (
        ["--pcap", "x.pcapng", "--pcap-at", "sender,receiver"],
        "x.pcapng is one file, and each point has its own: sender, receiver",
        "name a directory",
    ),
    "no point": (
        ["--pcap", "x", "--pcap-at", "sendr"],
        "`sendr` is no point to capture at",
        "it is sender, receiver, link:NAME for the beginning of a link or link:NAME:far for its end",
    ),
    "no link": (["--pcap", "x", "--pcap-at", "link:uplink"], "there is no link `uplink` to capture at", "did you mean `up link`?"),
    "too short": (
        ["--pcap", "x", "--snap", "40"],
        "40 bytes of a packet do not hold its headers",
        "they take up to 80; 0 captures whole packets",
    ),
    "points alone": (["--pcap-at", "sender"], "--pcap-at is for --pcap", "packets are captured with both"),
    "bytes alone": (["--snap", "100"], "--snap is for --pcap", "packets are captured with both"),
    "a file as a directory": (
        ["--pcap", "captured.toml"],
        "captures cannot be written to captured.toml: File exists",
        "name another directory",
    ),
    "below a file": (
        ["--pcap", "captured.toml/x.pcapng"],
        "captures cannot be written to captured.toml: File exists",
        "name another directory",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("command", ["simulate", "run", "trace"])
def test_a_mistake_is_told_and_nothing_is_begun(
    mistake: str, command: str, study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, message, hint = MISTAKES[mistake]
    if command == "run" and words[1].endswith(".pcapng") and mistake == "below a file":
        message, hint = "captured.toml/x.pcapng is one file, and `sawtooth run` captures every run in its own", "name a directory"
    monkeypatch.chdir(study.parent)
    monkeypatch.setattr(sys, "argv", ["sawtooth", command, study.name, *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-2:] == [f"error: {message}", f"hint: {hint}"]
    assert names(study.parent) == ["captured.toml"]


def test_what_is_no_file_is_left_alone_and_told_before_the_run(study: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.pcapng").mkdir()
    os.mkfifo(tmp_path / "pipe.pcapng")
    (tmp_path / "device.pcapng").symlink_to("/dev/null")
    (tmp_path / "lost.pcapng").symlink_to("nowhere")
    for name, what, hint in (
        ("taken", "is a directory, and a capture is written to a file", "name a file that may be replaced, or a new one"),
        ("pipe", "is a pipe, and a capture is written to a file", "name a file that may be replaced, or a new one"),
        ("device", "is a device, and a capture is written to a file", "name a file that may be replaced, or a new one"),
        ("lost", "is a link to nowhere, which is not there", "remove the link, or name another file"),
    ):
        path = tmp_path / f"{name}.pcapng"
        with pytest.raises(StudyError) as raised:
            sawtooth.simulate(study, captures=taps.wanted(path))
        assert (raised.value.message, raised.value.hint) == (f"{path} {what}", hint)
    assert (tmp_path / "pipe.pcapng").is_fifo() and Path("/dev/null").is_char_device()


def test_what_is_no_file_fails_its_run_of_a_study(study: Path, tmp_path: Path) -> None:
    where = tmp_path / "captures"
    where.mkdir()
    os.mkfifo(where / "cell-1-cubic-replicate-1.sender.pcapng")
    done = CliRunner().invoke(app, ["run", str(study), "--out", str(tmp_path / "out"), "--pcap", str(where)])
    assert done.exit_code == 1
    assert "cell-1-cubic-replicate-1.sender.pcapng cannot be written: it is no regular file" in done.output
    assert "captures: of 8 files 1 was not written, for their runs failed or were interrupted\n" in done.output
    assert (where / "cell-1-cubic-replicate-1.sender.pcapng").is_fifo()


def test_behind_a_link_its_file_is_replaced(study: Path, tmp_path: Path) -> None:
    (tmp_path / "link.pcapng").symlink_to("file.pcapng")
    (tmp_path / "file.pcapng").write_text("before")
    wanted = taps.wanted(tmp_path / "link.pcapng")
    sawtooth.simulate(study, captures=wanted)
    assert (tmp_path / "link.pcapng").is_symlink()
    assert (tmp_path / "file.pcapng").read_bytes()[:4] == MAGIC
    assert wanted.written() == [tmp_path / "link.pcapng"]


def test_layers_capture_nothing(study: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["trace", str(study), "--layers", "--pcap", str(tmp_path / "x")])
    assert isinstance(done.exception, StudyError)
    assert (done.exception.message, done.exception.hint) == ("--layers captures nothing", "leave out --pcap")


def test_sizes_are_told_in_words() -> None:
    assert [taps.size(count) for count in (7, 1234, 45_678, 456_789, 3.2e9, 7e12)] == [
        "7 bytes",
        "1.2 kB",
        "45.7 kB",
        "457 kB",
        "3.2 GB",
        "7.0 TB",
    ]


def test_a_capture_that_finds_no_room_fails_its_run_and_leaves_no_file(study: Path, tmp_path: Path) -> None:
    where = tmp_path / "full"
    code = (
        "import resource, sys\n"
        "from sawtooth import cli\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "sys.argv[0] = 'sawtooth'\n"
        "cli.main()"
    )
    words = ["simulate", str(study), "--pcap", str(where / "run.pcapng"), "--snap", "0"]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == f"error: {where}/run.pcapng cannot be written: file too large"
    assert names(where) == []
    words = ["run", str(study), "--pcap", str(where), "--snap", "0", "--out", str(tmp_path / "out")]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "captures: of 8 files none was written, for their runs failed or were interrupted" in ended.stderr.splitlines()
    assert names(where) == []


def test_too_little_room_is_told_before_the_first_run(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taps.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1000))
    plan = sawtooth.make_plan(sawtooth.Study.load(study))
    wanted = taps.wanted(tmp_path / "x", ["sender", "receiver"])
    # 1.5 packets for each segment at each of two points, each of 96 bytes and what a block takes.
    most = taps.size(1.5 * plan.cost * 2 * (96 + 40))
    assert wanted.prepare(plan) == f"captures may take {most} at most, and 1.0 kB are free there"
    monkeypatch.undo()
    assert wanted.prepare(plan) is None
