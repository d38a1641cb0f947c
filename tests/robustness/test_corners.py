"""Corners of file systems: a full disk, directories that may not be written or read, links, readers beside a writer, a first file that was never finished.

Each has clear words, and loses nothing.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.backends import processes
from sawtooth.errors import BackendUnavailable, DatasetError
from sawtooth.results.dataset import Dataset
from sawtooth.storage import append
from tests.robustness.laboratory import contents, do, plan, pretended

STUDY = """\
name = "corner"
question = "Is there room?"
repeat = 400
lint = { ignore = { SW202 = "it is about room, not about chance" } }
[scenario]
duration = "2 s"
sample = "10 ms"
links.l = { rate = "1 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"] }]
"""
COMMAND = [sys.executable, "-m", "sawtooth.cli"]
LOOK = "hint: name another place, or see what `ls -ld` says of it\n"
# Root without its powers is a user like any other.
POWERLESS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "corner.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Complete results, to be copied."""
    work = tmp_path_factory.mktemp("whole")
    (work / "corner.toml").write_text(STUDY)
    sawtooth.run(work / "corner.toml", work / "out")
    return work / "out"


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def say(words: Sequence[object], prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*prefix, *COMMAND, *map(str, words)], capture_output=True, text=True, check=False, timeout=300)


def run(study: Path, out: Path, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return say(["run", study, "--out", out, "--jobs", 2], prefix)


# --- a full disk ------------------------------------------------------------------------------------------------------


# The command, with batches a fifth as large as they are, so that there are some.
SMALL_BATCHES = [sys.executable, "-c", "from sawtooth import cli, plan; plan._SIMULATED_ROWS = 2e4; cli.main()"]


@pytest.mark.long
def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(study: Path, tmp_path: Path) -> None:
    try:
        processes.require_namespaces("--mount")
    except BackendUnavailable as missing:
        pytest.skip(missing.message)
    whole = tmp_path / "whole"
    subprocess.run([*SMALL_BATCHES, "run", study, "--out", whole], capture_output=True, check=True, timeout=300)
    size = sum(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    command = shlex.join(SMALL_BATCHES)
    disk = tmp_path / "disk"
    disk.mkdir()
    run_there = f"{command} run {study} --jobs 2 --out {disk}/out"
    script = f"""
        mount -t tmpfs -o size=4k,nr_inodes=1000 tmpfs {disk} && df() {{ find {disk}/out/parts -name '*.sha256' | sort; }}
        for size in 4k {size // 3} {size // 2}; do mount -o remount,size=$size {disk}; {run_there}; echo "code $?"; df; done
        mount -o remount,size={8 * size} {disk}; {run_there}; echo "code $?"; cp -r {disk}/out {tmp_path}/saved
        mount -o remount,size=$(du -sb {disk} | cut -f1) {disk}; dd if=/dev/zero of={disk}/full bs=1k 2> /dev/null
        {command} report {disk}/out; echo "code $?"
        rm {disk}/full; mount -o remount,size={64 * size + (64 << 20)} {disk}; {command} report {disk}/out; echo "code $?"
    """
    said = subprocess.run(
        [*processes.in_namespaces("--mount"), "sh", "-c", script], capture_output=True, text=True, check=False, timeout=600
    )
    assert "Traceback" not in said.stderr, said.stderr
    codes = [line for line in said.stdout.splitlines() if line.startswith("code ")]
    assert codes == ["code 2"] * 3 + ["code 0", "code 2", "code 0"], said.stdout + said.stderr
    assert said.stderr.count(f"error: no space left for results in {disk}/out") == 4, said.stderr
    assert said.stderr.count("hint: nothing that was stored is lost: make room and run the same command again, it goes on from here") == 4
    stored = [set(piece.split("\n")) - {"", " 2", " 0"} for piece in said.stdout.split("code")[1:4]]
    assert all(before <= after for before, after in itertools.pairwise(stored))
    assert stored[-1], "something fits into half of the room"
    assert contents(tmp_path / "saved") == contents(whole)
    assert Dataset.open(tmp_path / "saved").notes == []


def test_a_full_disk_of_guests_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(BackendUnavailable) as raised, processes.scratch("uml") as directory:
        monkeypatch.setattr(Path, "write_bytes", full)
        (directory / "initrd").write_bytes(b"")
    assert str(raised.value) == (
        f"error: no space left for guests in {directory.parent}\nhint: make room there, or name another directory with TMPDIR"
    )
    assert not directory.exists()


def test_half_a_line_of_the_log_is_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda _descriptor, content: len(content) // 2)  # type: ignore[misc]
    with pytest.raises(OSError, match="No space left"):
        append(tmp_path / "log", b"line\n")


# --- whose it is ------------------------------------------------------------------------------------------------------


def test_a_directory_that_may_not_be_written_is_told(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o555)
    said = run(study, out, POWERLESS)
    assert (said.returncode, said.stderr) == (2, f"error: cannot write to {out}: Permission denied\n{LOOK}")
    assert not list(out.iterdir())


@pytest.mark.long
def test_results_that_may_not_be_written_are_read_and_not_changed(study: Path, out: Path, tmp_path: Path) -> None:
    before = contents(out)
    for path in (out, *out.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    said = run(study, out, POWERLESS)
    assert (said.returncode, said.stderr) == (2, f"error: cannot write to {out}: Permission denied\n{LOOK}")
    said = say(["report", out], POWERLESS)
    assert (said.returncode, said.stderr) == (2, f"error: cannot write to {out / 'report'}: Permission denied\n{LOOK}")
    said = say(["report", out, "--out", tmp_path / "elsewhere"], POWERLESS)
    assert said.returncode == 0, said.stderr
    assert contents(out) == before
    for path in (out, *out.rglob("*")):
        path.chmod(0o755)


@pytest.mark.parametrize("shut", ["parts", "runs.parquet", "SHA256SUMS", "parts/flows-000001.parquet", "parts/batch-000001.sha256"])
def test_what_may_not_be_read_is_no_damage(study: Path, out: Path, shut: str) -> None:
    before = contents(out)
    mode = (out / shut).stat().st_mode
    (out / shut).chmod(0)
    for words in (["run", study, "--out", out], *([["report", out]] if shut == "parts" else [])):
        said = say(words, POWERLESS)
        assert said.returncode == 2
        assert said.stderr.startswith(
            f"error: {out / shut} may not be read\nhint: ask its owner for permission to read it, or read a copy"
        ), said.stderr
    (out / shut).chmod(mode)
    assert contents(out) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_left_to_that_user(study: Path, out: Path) -> None:
    shutil.rmtree(out / "parts")
    before = contents(out)
    for path in (out, *out.rglob("*")):
        os.chown(path, 65534, 65534)
    said = run(study, out, POWERLESS)
    assert (said.returncode, said.stderr) == (2, f"error: cannot write to {out}: Permission denied\n{LOOK}")
    assert contents(out) == before


# --- links ------------------------------------------------------------------------------------------------------------


def test_results_go_where_a_link_leads(study: Path, tmp_path: Path) -> None:
    (tmp_path / "big-disk").mkdir()
    out = tmp_path / "out"
    out.symlink_to(tmp_path / "big-disk")
    sawtooth.run(study, out)
    assert out.is_symlink()
    assert Dataset.open(tmp_path / "big-disk").complete
    assert say(["report", out]).returncode == 0
    assert (tmp_path / "big-disk/report/report.html").is_file()


def test_a_link_to_nowhere_is_told(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.symlink_to(tmp_path / "nowhere")
    with pytest.raises(DatasetError) as raised:
        sawtooth.run(study, out)
    assert str(raised.value) == (
        f"error: {out} is a link to {tmp_path / 'nowhere'}, which is not there\nhint: make that directory, or name another with `out`"
    )
    assert not (tmp_path / "nowhere").exists()


# --- the first file ---------------------------------------------------------------------------------------------------

DIES = """
import os, sys
from pathlib import Path
from sawtooth import cli

left = int(sys.argv.pop(1))
replace = Path.replace

def dies(self, target):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return replace(self, target)

Path.replace = dies
cli.main()
"""


@pytest.mark.parametrize("files", [0, 1, 2, 3, 4, 9])
def test_a_run_that_was_killed_at_its_first_files_is_gone_on_with_and_not_overwritten_by_another_study(
    study: Path, whole: Path, tmp_path: Path, files: int
) -> None:
    out, other = tmp_path / "out", tmp_path / "other.toml"
    other.write_text(STUDY.replace("corner", "other").replace("1 Mbit/s", "2 Mbit/s"))
    words = ["run", str(study), "--out", str(out), "--jobs", "1"]
    killed = subprocess.run([sys.executable, "-c", DIES, str(files), *words], capture_output=True, text=True, check=False, timeout=300)
    assert killed.returncode == 9
    before = contents(out)
    assert ("study.toml" in before) == (files > 0)
    if files:
        with pytest.raises(DatasetError) as raised:
            sawtooth.run(other, out)
        assert str(raised.value).startswith(f"error: {out} h")
        assert "\nhint: name another directory with `out`, or remove this one" in str(raised.value)
        assert contents(out) == before
    sawtooth.run(study, out)
    assert contents(out) == contents(whole)
    assert not list(out.rglob("*.tmp"))


def test_a_study_that_somebody_keeps_in_a_directory_is_not_replaced_by_another(study: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "study.toml").write_text("precious")
    with pytest.raises(DatasetError) as raised:
        sawtooth.run(study, mine)
    assert str(raised.value) == (
        f"error: {mine} has the study.toml of another study, or of another version of this one, and no results\n"
        "hint: name another directory with `out`, or remove this one"
    )
    assert (mine / "study.toml").read_text() == "precious"


# --- readers beside a writer ------------------------------------------------------------------------------------------


def test_whoever_reads_while_runs_are_done_once_more_sees_no_damage(tmp_path: Path) -> None:
    """A batch is stored with other contents again and again, as when a run is lost and found, while it is read."""
    with pretended():
        dataset, _ = do(plan(), tmp_path / "out")
    status = dataset.status().filter(pl.col("run") < 64)
    found = {name: dataset.table(name).filter(pl.col("run") < 64).collect() for name in ("flows", "links", "series")}
    lost = {name: frame.filter(pl.col("run") != 3) for name, frame in found.items()}
    done, seen, reads = threading.Event(), list[str](), 0

    def read() -> None:
        nonlocal reads
        while not done.is_set():
            try:
                Dataset.open(tmp_path / "out")
                reads += 1
            except DatasetError as error:
                seen.append(str(error))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(100):
        for tables in (lost, found):
            dataset.write_batch(0, tables, status)
    done.set()
    for reader in readers:
        reader.join()
    assert reads
    assert seen == []
