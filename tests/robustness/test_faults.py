"""What can be wrong with a results directory is named, and made anew by the same command."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import _core, storage
from sawtooth.backends import sim
from sawtooth.backends.batch import Batch
from sawtooth.cli import app
from sawtooth.errors import DatasetError
from sawtooth.results import log
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import lock
from sawtooth.results.sums import Sums
from tests.robustness.laboratory import contents, do, plan, pretended

AGAIN = "run the study again into this directory: it makes damaged parts anew"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Complete results, to be copied."""
    directory = tmp_path_factory.mktemp("whole") / "out"
    with pretended():
        do(plan(), directory)
    return directory


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def refusal(directory: Path) -> str:
    with pytest.raises(DatasetError) as raised:
        Dataset.open(directory)
    return str(raised.value).replace(str(directory), "OUT")


def mended(directory: Path, whole: Path) -> list[str]:
    """What the same command says to have made anew; then all is as it was."""
    with pretended():
        _, summary = do(plan(), directory)
    assert contents(directory) == contents(whole)
    assert Dataset.open(directory).notes == []
    return summary.damaged


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


# --- parts ------------------------------------------------------------------------------------------------------------


def test_a_missing_part_is_named_and_made_anew(out: Path, whole: Path) -> None:
    (out / "parts/flows-000001.parquet").unlink()
    assert refusal(out) == f"error: of the parts in OUT/parts flows-000001.parquet is damaged or missing\nhint: {AGAIN}"
    assert mended(out, whole) == ["flows-000001.parquet"]


def test_a_part_of_another_plan_is_named_and_made_anew(out: Path, whole: Path, tmp_path: Path) -> None:
    with pretended():
        do(plan(seed=8), tmp_path / "other")
    shutil.copy(tmp_path / "other/parts/flows-000001.parquet", out / "parts/flows-000001.parquet")
    assert "flows-000001.parquet is damaged or missing" in refusal(out)
    assert mended(out, whole) == ["flows-000001.parquet"]


def test_a_batch_of_another_plan_is_named_not_read_and_made_anew(out: Path, whole: Path, tmp_path: Path) -> None:
    with pretended():
        do(plan(seed=8), tmp_path / "other")
    for path in (tmp_path / "other/parts").glob("*-000001.*"):
        shutil.copy(path, out / "parts")
    dataset = Dataset.open(out)
    assert "parts/batch-000001.sha256 is no part of these results and is not read" in dataset.notes
    assert not dataset.complete
    assert set(dataset.flows().collect()["run"]) == set(dataset.status()["run"]) == {*range(64), *range(128, 144)}
    assert mended(out, whole) == ["batch-000001.sha256"]


def test_a_batch_whose_number_another_has_is_not_read(out: Path, whole: Path) -> None:
    shutil.copy(out / "parts/batch-000000.sha256", out / "parts/batch-000001.sha256")
    assert not Dataset.open(out).complete
    assert mended(out, whole) == ["batch-000001.sha256"]


@pytest.mark.parametrize(
    "name", ["flows-000003.parquet", "flows-000003.parquet.tmp", "notes.txt", "episodes-000001.parquet", "waits-x.parquet"]
)
def test_a_stray_file_is_named_not_read_and_stays(out: Path, name: str) -> None:
    (out / "parts" / name).write_bytes(b"anything")
    dataset = Dataset.open(out)
    assert dataset.notes == [f"parts/{name} is no part of these results and is not read"]
    assert dataset.flows().collect().height == 288
    assert dataset.episodes().collect().is_empty()
    with pretended():
        _, summary = do(plan(), out)
    assert summary.damaged == []
    assert (out / "parts" / name).read_bytes() == b"anything"


def test_a_truncated_part_and_a_flipped_bit_are_named_and_made_anew(out: Path, whole: Path) -> None:
    victim = out / "parts/links-000000.parquet"
    victim.write_bytes(victim.read_bytes()[:100])
    flip(out / "parts/series-000001.parquet", 7777)
    flip(out / "parts/flows-000002.parquet", 1000)
    flip(out / "parts/status-000002.parquet", 1000)
    assert refusal(out) == (
        "error: of the parts in OUT/parts links-000000.parquet, series-000001.parquet, flows-000002.parquet and 1 more are damaged or missing\n"
        f"hint: {AGAIN}"
    )
    assert mended(out, whole) == ["links-000000.parquet", "series-000001.parquet", "flows-000002.parquet", "status-000002.parquet"]


def test_a_report_of_damaged_parts_is_refused_without_a_traceback(out: Path) -> None:
    flip(out / "parts/flows-000000.parquet", 9999)
    outcome = CliRunner().invoke(app, ["report", str(out)])
    assert isinstance(outcome.exception, DatasetError)
    assert not (out / "report").exists()


def test_a_damaged_list_of_checksums_is_named_and_made_anew(out: Path, whole: Path) -> None:
    flip(out / "parts/batch-000000.sha256", 200)
    assert refusal(out) == f"error: of the parts in OUT/parts batch-000000.sha256 is damaged or missing\nhint: {AGAIN}"
    assert mended(out, whole) == ["batch-000000.sha256"]


def test_lists_of_checksums_are_those_of_sha256sum(out: Path) -> None:
    for directory in (out, out / "parts"):
        names = [path.name for path in (*directory.glob("*.sha256"), *directory.glob("SHA256SUMS"))]
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", *names], cwd=directory, check=True)


def test_no_bit_of_a_list_of_checksums_can_be_flipped() -> None:
    content = Sums.of("batch 1 of x", {"a.parquet": b"1", "b.parquet": b"2"}).render()
    assert Sums.parse(content).render() == content
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError):
            Sums.parse(bytes(changed))


# --- the top ----------------------------------------------------------------------------------------------------------


def test_parts_of_another_plan_are_not_adopted_without_a_manifest(out: Path) -> None:
    (out / "manifest.json").unlink()
    (out / "SHA256SUMS").unlink()
    with pretended(), pytest.raises(DatasetError) as raised:
        do(plan(seed=99), out)
    assert str(raised.value).replace(str(out), "OUT") == (
        "error: OUT has parts that are not of this plan, and no manifest.json that says of which\n"
        "hint: name another directory with --out, or remove this one"
    )


def test_parts_of_the_same_plan_are_adopted_without_a_manifest(out: Path, whole: Path) -> None:
    (out / "manifest.json").unlink()
    (out / "SHA256SUMS").unlink()
    assert refusal(out) == "error: OUT is no results directory\nhint: `sawtooth run STUDY --out DIR` makes one"
    with pretended():
        _, summary = do(plan(), out)
    assert (summary.runs, summary.resumed, summary.damaged) == (0, 144, ["SHA256SUMS"])
    assert contents(out) == contents(whole)


TOP = ["study.toml", "manifest.json", "runs.parquet", "kernels.json", "SHA256SUMS"]


@pytest.mark.parametrize("name", TOP)
@pytest.mark.parametrize("damage", ["missing", "empty", "{}", "[]", "truncated", "flipped"])
def test_a_damaged_file_at_the_top_is_named_and_written_anew(out: Path, whole: Path, name: str, damage: str) -> None:
    path = out / name
    match damage:
        case "missing":
            path.unlink()
        case "truncated":
            path.write_bytes(path.read_bytes()[:-5])
        case "flipped":
            flip(path, 321)
        case _:
            path.write_text("" if damage == "empty" else damage)
    advice = "run the study again into this directory: it makes anew what is damaged"
    assert refusal(out) == f"error: {name} in OUT is missing or damaged\nhint: {advice}"
    assert mended(out, whole) == [name]


def test_a_manifest_that_is_written_anew_keeps_what_it_is_of(out: Path, whole: Path) -> None:
    (out / "manifest.json").write_text("{}")
    with pretended():
        do(plan(), out)
    before, after = (json.loads((directory / "manifest.json").read_text()) for directory in (whole, out))
    assert {key for key in before if before[key] != after[key]} <= {"started", "command"}


def test_the_study_is_held_against_the_hash_in_the_manifest(out: Path) -> None:
    text = (out / "study.toml").read_bytes().replace(b"Who", b"Why")
    (out / "study.toml").write_bytes(text)
    sums = Sums.parse((out / "SHA256SUMS").read_bytes())
    (out / "SHA256SUMS").write_bytes(Sums(sums.title, {**sums.files, **Sums.of("", {"study.toml": text}).files}).render())
    assert refusal(out).startswith("error: study.toml in OUT is missing or damaged")


def test_kernels_that_were_others_are_refused_also_when_what_is_known_of_them_is_damaged(out: Path) -> None:
    dataset = Dataset.open(out)
    flip(out / "kernels.json", 100)
    with pytest.raises(DatasetError, match=r"or of one that was set up otherwise: what it was is damaged"):
        dataset.record_kernels([{"release": "6.2"}])


@pytest.mark.parametrize("lost", [["SHA256SUMS"], ["SHA256SUMS", "kernels.json"]])
def test_kernels_are_recorded_anew_where_nothing_tells_any_more_that_they_were(out: Path, whole: Path, lost: list[str]) -> None:
    for name in lost:
        (out / name).unlink()
    assert mended(out, whole) == ["SHA256SUMS"]
    assert Dataset.open(out).kernels == Dataset.open(whole).kernels != []


def test_results_without_checksums_are_of_an_older_version(out: Path) -> None:
    for path in (out / "SHA256SUMS", *out.glob("parts/*.sha256")):
        path.unlink()
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["results_epoch"] = 0
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert refusal(out) == (
        "error: OUT has no checksums (SHA256SUMS): it was made by an older version of Sawtooth, of results epoch 0, or is damaged\n"
        "hint: run the study again into another directory, or remove this one"
    )
    with pretended(), pytest.raises(DatasetError, match="it was made by an older version of Sawtooth"):
        do(plan(), out)


def test_a_changed_text_of_the_same_plan_is_taken_over(study_file: Path, tmp_path: Path) -> None:
    sawtooth.run(study_file, tmp_path / "out", short=True)
    study_file.write_text(study_file.read_text().replace("Who gets more?", "Who gets less?"))
    dataset = sawtooth.run(study_file, tmp_path / "out", short=True)
    assert dataset.mended == []
    assert dataset.manifest["question"] == "Who gets less?"
    assert Dataset.open(tmp_path / "out").study.question == "Who gets less?"


@pytest.mark.parametrize(("damage", "lines"), [("flip", [2]), ("end", [3]), ("cut", [3]), ("join", [1])])
def test_a_damaged_line_of_the_log_is_named_and_left_out(out: Path, whole: Path, damage: str, lines: list[int]) -> None:
    path = out / "log.jsonl"
    content = path.read_bytes()
    first, second, third = content.splitlines(keepends=True)
    changed = {
        "flip": first + second.replace(b'"runs": 64', b'"runs": 65').replace(b'"runs": 16', b'"runs": 17') + third,
        "end": content[:-1], "cut": content[:-30], "join": content.replace(b"\n", b"\x0b", 1),
    }[damage]  # fmt: skip
    path.write_bytes(changed)
    assert Dataset.open(out).notes == [f"line {line} of log.jsonl is damaged; it tells how long a batch took" for line in lines]
    with pretended():
        _, summary = do(plan(), out)
    assert summary.log_lines == lines
    assert log.damaged(path) == []
    assert contents(out) == contents(whole)


# --- two at once ------------------------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from sawtooth.results.lock import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def hold(directory: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(directory), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_who_does_not_want_to_wait_is_told_who_holds_the_directory(out: Path) -> None:
    with hold(out, 60) as process:
        with pytest.raises(DatasetError) as raised, lock(out, wait=False):
            pass
        process.kill()
    said = str(raised.value)
    assert said.startswith(f"error: {out} is in use by process {process.pid} on {os.uname().nodename} since ")
    assert said.endswith("\nhint: wait for its end, or name another directory")
    # The lock went with its holder.
    with lock(out, wait=False):
        pass


def test_the_second_of_two_runs_says_so_waits_and_finds_all_done(study_file: Path, tmp_path: Path) -> None:
    directory = tmp_path / "both"
    sawtooth.run(study_file, directory, short=True)
    command = [sys.executable, "-m", "sawtooth.cli", "run", str(study_file), "--short", "--out", str(directory)]
    with hold(directory, 600) as holder, subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as second:
        assert second.stderr is not None
        # Before it stands what the linter says of the study.
        first = next(line for line in second.stderr if not line.startswith("note: "))
        holder.kill()
        rest = second.stderr.read()
    assert first.startswith(f"{directory} is in use by process {holder.pid} on ")
    assert first.endswith(": waiting for its end\n")
    assert second.returncode == 0
    assert "4 were there" in rest


def test_reports_need_no_lock(out: Path) -> None:
    with hold(out, 60) as process:
        assert Dataset.open(out).complete
        process.kill()


def test_unfinished_files_of_killed_processes_are_removed_and_those_of_living_ones_stay(out: Path) -> None:
    mine = out / "parts/.flows-000000.parquet.{}-{}.0123456789abcdef.tmp"
    with hold(out, 0.0) as ended:
        pass
    with subprocess.Popen(["sleep", "60"]) as living, subprocess.Popen(["true"]) as waited_for_by_nobody:
        os.waitid(os.P_PID, waited_for_by_nobody.pid, os.WEXITED | os.WNOWAIT)
        processes = (ended.pid, waited_for_by_nobody.pid, living.pid)
        paths = [Path(str(mine).format(storage._HOST, process)) for process in processes]
        for path in paths:
            path.touch()
        with pretended():
            do(plan(), out)
        assert [path.exists() for path in paths] == [False, False, True]
        living.kill()


def test_links_that_lie_in_wait_are_not_followed(out: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    shutil.rmtree(out / "parts")
    (out / "parts").mkdir()
    for name in ("flows-000000.parquet", "flows-000000.parquet.tmp", "batch-000000.sha256"):
        (out / "parts" / name).symlink_to(victim)
    (out / "manifest.json").unlink()
    (out / "manifest.json").symlink_to(victim)
    with pretended():
        do(plan(), out)
    assert victim.read_text() == "precious"
    (out / "log.jsonl").unlink()
    (out / "log.jsonl").symlink_to(victim)
    (out / "parts/batch-000000.sha256").unlink()
    with pretended():
        do(plan(), out)
    assert victim.read_text() == "precious"
    assert not [path for path in out.rglob("*") if path.is_symlink() and path.suffix != ".tmp"]


def test_temporary_names_cannot_be_foreseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    replace = Path.replace

    def watched(self: Path, target: Path) -> Path:
        seen.add(self.name)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    for _ in range(3):
        storage.write_atomically(tmp_path / "a", b"")
    assert len(seen) == 3
    assert all(storage.is_temporary(name) for name in seen)


# --- lost runs --------------------------------------------------------------------------------------------------------


class Unlucky:
    """A backend that loses runs, as if their guests had been killed, the first times they are tried."""

    def __init__(self, times: int, *, lost: bool = True) -> None:
        self.left = times
        self.lost = lost
        self.asked: list[int] = []

    def __call__(self, scenarios: Sequence[str], seeds: Sequence[int]) -> Batch:
        self.asked.append(len(scenarios))
        made = sim.run_batch(scenarios, seeds)
        if self.left <= 0 or (len(scenarios) > 2 and len(scenarios) != 64):
            return made
        self.left -= 1
        victims = [3, 40] if len(scenarios) == 64 else list(range(len(scenarios)))
        tables = {name: frame.filter(~pl.col("run").is_in(victims)) for name, frame in made.tables.items()}
        errors = dict.fromkeys(victims, "the guest ended before this run did; its console ended with: nothing")
        tables = {name: frame for name, frame in tables.items() if not frame.is_empty()}
        return Batch(tables, errors, 0, 0, lost=frozenset(victims if self.lost else []))


def test_lost_runs_are_done_once_more_by_the_same_command_and_leave_no_trace(tmp_path: Path, whole: Path) -> None:
    unlucky = Unlucky(1)
    with pretended(unlucky):
        dataset, summary = do(plan(), tmp_path / "out")
    assert sorted(unlucky.asked) == [16, 64, 64, 64]
    assert (summary.again, summary.failed) == (64, 0)
    assert dataset.complete
    assert contents(tmp_path / "out") == contents(whole)


def test_lost_runs_are_done_three_times_more_and_then_only_if_asked_to(tmp_path: Path, whole: Path) -> None:
    unlucky = Unlucky(5)
    with pretended(unlucky):
        dataset, _ = do(plan(), tmp_path / "out")
        # Both batches of 64 lost two runs each; those are tried three times more ... and are lost again three times of six.
        lost = dataset.status().filter(pl.col("status") == "lost")
        assert lost.is_empty()
    always = Unlucky(1000)
    with pretended(always):
        dataset, summary = do(plan(), tmp_path / "always")
        lost = dataset.status().filter(pl.col("status") == "lost")
        assert lost["run"].to_list() == [3, 40, 67, 104]
        assert lost["tries"].to_list() == [4] * 4
        assert summary.again == 3 * 128
        assert summary.failed == 4
        assert dataset.flows().collect()["run"].n_unique() == 140
        _, summary = do(plan(), tmp_path / "always")
        assert summary.again == 0
        _, summary = do(plan(), tmp_path / "always", retry_failed=True)
        assert summary.again == 128
    with pretended():
        _, summary = do(plan(), tmp_path / "always", retry_failed=True)
    assert summary.again == 128
    assert contents(tmp_path / "always") == contents(whole)


def test_failed_runs_are_done_once_more_only_if_asked_to(tmp_path: Path, whole: Path) -> None:
    with pretended(Unlucky(1000, lost=False)):
        dataset, _ = do(plan(), tmp_path / "out")
        assert dataset.status().filter(pl.col("status") == "failed").height == 4
    with pretended():
        assert do(plan(), tmp_path / "out")[1].again == 0
        assert do(plan(), tmp_path / "out", retry_failed=True)[1].again == 128
    assert contents(tmp_path / "out") == contents(whole)


def test_runs_without_memory_are_lost_not_failed(tmp_path: Path, whole: Path) -> None:
    tries = 0

    def short_of_memory(scenarios: Sequence[str], seeds: Sequence[int]) -> Batch:
        nonlocal tries
        tries += 1
        if tries in (1, 2):
            raise (MemoryError() if tries == 1 else OSError(errno.ENOMEM, "Cannot allocate memory"))
        return sim.run_batch(scenarios, seeds)

    with pretended(short_of_memory):
        _, summary = do(plan(), tmp_path / "out")
    assert summary.again == 128
    assert contents(tmp_path / "out") == contents(whole)


def test_what_was_done_once_more_and_what_is_lost_is_said(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(outcomes: Sequence[_core.Outcomes]) -> Batch:
        made = honest(outcomes)
        return Batch({}, dict.fromkeys(range(4), "the guest ended"), 0, 0, lost=frozenset(range(4))) if lost else made

    honest, lost = sim.gather, True
    monkeypatch.setattr(sim, "gather", losing)
    command = ["run", str(study_file), "--short", "--out", str(tmp_path / "out")]
    outcome = CliRunner().invoke(app, command)
    assert outcome.exit_code == 1
    assert outcome.stderr.count("1 batch in which runs were lost or had failed: done once more") == 3
    assert (
        "4 runs were lost each time they were tried; the first: the guest ended\nhint: --retry-failed does them once more" in outcome.stderr
    )
    lost = False
    outcome = CliRunner().invoke(app, [*command, "--retry-failed"])
    assert outcome.exit_code == 0
    assert Dataset.open(tmp_path / "out").status()["status"].to_list() == ["ok"] * 4


def test_results_are_gone_on_with_whose_checksums_are_lost_and_whose_study_is_no_text(tmp_path: Path) -> None:
    with pretended():
        do(plan(), tmp_path / "out")
        (tmp_path / "out/SHA256SUMS").unlink()
        (tmp_path / "out/study.toml").write_bytes(b'seed = "\x80"')
        dataset, _ = do(plan(), tmp_path / "out")
        assert dataset.complete
