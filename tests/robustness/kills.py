"""Processes are killed (SIGKILL) at random moments: a sweep, one of two sweeps on one directory, guests, a report.

Whatever was stored stays; nothing is there twice; once the same command has come to its end, every file is that of an undisturbed run, to the byte.

    python -m tests.robustness.kills --count 200 --seed 1 [--kind sweep|two|report|guests]
    python -m tests.robustness.page

Pieces with different seeds are summed on the page.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sawtooth import cli, plan
from sawtooth.results.dataset import Dataset
from tests.robustness import page
from tests.robustness.laboratory import contents, differences

SWEEP = """\
name = "kills"
question = "What is left?"
repeat = 150

[draws]
S = { distribution = "uniform", low = "0 ms", high = "30 ms" }

[scenario]
duration = "30 s"
links.l = { rate = "4 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], count = 2, start = "S * i" }]

[sweep]
"links.l.delay" = ["5 ms", "20 ms"]

[arms]
newreno = { "tcp.recovery" = "newreno" }
sack = { "tcp.recovery" = "sack" }

[short]
repeat = 32
"""
GUESTS = """\
name = "guests"
backend = "uml"
repeat = 2
[scenario]
duration = "20 s"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "50 packets" } }
flows = [{ path = ["l"], source = { name = "bulk", size = "1 MB" } }]
[sweep]
"cc" = ["kernel:reno", "kernel:cubic", "kernel:yeah"]
"""
# Of the kills, this share is aimed at the time before anything is written.
_EARLY = 0.15
# Deliveries of a batch on kernels: two runs, so that there are three batches and little to wait for.
_BATCH_COST = 1500.0
# Seconds that no command takes.
_LONGEST = 600.0
# So few kills are for a quick look, at a smaller study.
_FEW = 10


@dataclass
class Outcome:
    """What came of the kills of one kind.

    Attributes:
        kills: processes that were still there when they were killed.
        ends: how often the same command then came to its end and everything was compared.
        resumed: how many batches had been stored when a process was killed, all kills together.
        faults: what was lost, twice or different.

    """

    kills: int = 0
    ends: int = 0
    resumed: int = 0
    faults: list[str] = field(default_factory=list[str])


class Command:
    """The command line in a process of its own, a copy of one that has loaded the program: loading takes longer than most of what is killed."""

    def __init__(self, words: Sequence[str], said: Path, scratch: Path, batch_cost: float) -> None:
        self.said = said
        self._process = _PROCESSES.Process(target=_do, args=(words, said, scratch, batch_cost))
        self._process.start()

    @property
    def lives(self) -> bool:
        return self._process.is_alive()

    @property
    def exitcode(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> int | None:
        self._process.join(_LONGEST)
        assert not self.lives, f"it does not end: {self.said.read_text()}"
        return self.exitcode


_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([
    "sawtooth.cli", "sawtooth.report.generic", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "scipy.stats", "jinja2",
])  # fmt: skip


def _do(words: Sequence[str], said: Path, scratch: Path, batch_cost: float) -> None:
    os.environ["TMPDIR"] = str(scratch)
    plan._KERNEL_COST = batch_cost
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["sawtooth", *words]
    cli.main()


class Laboratory:
    """A study, its undisturbed results, and what is started to be killed."""

    def __init__(self, work: Path, seed: int, study: str, *, short: bool = False) -> None:
        self.chance = random.Random(seed)
        self.work = work
        self.study = work / "study.toml"
        self.study.write_text(study)
        self.options = ["--jobs", "4", *(["--short"] if short else [])]
        self.scratch = work / "tmp"
        self.scratch.mkdir()
        self._number = 0
        # What programs are forked from loads once; how long an undisturbed run takes is measured without that.
        self.finish(self.command("list", "cc"))
        began = time.monotonic()
        self.whole = work / "whole"
        self.finish(self.start(self.whole))
        self.seconds = time.monotonic() - began
        self.expected = contents(self.whole)

    def start(self, out: Path) -> Command:
        return self.command("run", str(self.study), "--out", str(out), *self.options)

    def command(self, *words: str) -> Command:
        self._number += 1
        return Command(words, self.work / f"said-{self._number}", self.scratch, _BATCH_COST)

    @staticmethod
    def finish(process: Command) -> None:
        if process.wait():
            raise AssertionError(f"exit code {process.exitcode}: {process.said.read_text()}")

    def wait_to_kill(self, process: Command, begun: Callable[[], bool], longest: float) -> None:
        """Sleeps to a random moment, mostly of the time in which something is written."""
        if self.chance.random() < _EARLY:
            time.sleep(self.chance.uniform(0, longest / 2))
            return
        while not begun() and process.lives:
            time.sleep(0.005)
        time.sleep(self.chance.uniform(0, longest))

    def kill(self, process: Command, outcome: Outcome) -> None:
        if process.lives:
            process.kill()
            outcome.kills += 1
        process.wait()

    def stored(self, out: Path) -> dict[str, bytes]:
        """The files of batches that are done."""
        lists = sorted((out / "parts").glob("batch-*.sha256")) if out.is_dir() else []
        numbers = {path.stem.partition("-")[2] for path in lists}
        paths = (path for path in (out / "parts").iterdir() if path.stem.rpartition("-")[2] in numbers) if lists else ()
        return {str(path.relative_to(out)): path.read_bytes() for path in paths}

    def check_stored(self, out: Path, before: dict[str, bytes], outcome: Outcome) -> dict[str, bytes]:
        """What was stored before still is, and is that of an undisturbed run; what is there can be opened."""
        after = self.stored(out)
        outcome.faults += [f"{name} was there and has been lost" for name in before if name not in after]
        outcome.faults += [f"{name} is another" for name, content in after.items() if self.expected.get(name) != content]
        outcome.resumed += sum(name.endswith(".sha256") for name in after)
        if (out / "manifest.json").is_file():
            Dataset.open(out)
        return after

    def check_kept(self, out: Path, before: set[str], outcome: Outcome) -> set[str]:
        """Batches that were stored before still are; with other contents, if they had lost runs that have been done once more."""
        after = {name for name in self.stored(out) if name.endswith(".sha256")}
        outcome.faults += [f"{name} was there and has been lost" for name in sorted(before - after)]
        outcome.resumed += len(after)
        return after

    def check_end(self, out: Path, outcome: Outcome) -> None:
        """All is there, once, and that of an undisturbed run."""
        outcome.ends += 1
        outcome.faults += differences(contents(out), self.expected)
        dataset = Dataset.open(out)
        runs = dataset.status()["run"]
        if runs.n_unique() != runs.len() or runs.len() != dataset.runs.height:
            outcome.faults.append(f"{runs.n_unique()} runs in {runs.len()} rows of {dataset.runs.height}")
        outcome.faults += [note for note in dataset.notes if "log.jsonl" not in note]


def sweep(outcome: Outcome, count: int, seed: int, work: Path) -> None:
    """A sweep with four threads, killed again and again until it is done; then another."""
    laboratory = Laboratory(work, seed, SWEEP, short=count < _FEW)
    number = 0
    while outcome.kills < count:
        out = work / f"out-{number}"
        number += 1
        stored: dict[str, bytes] = {}
        while outcome.kills < count:
            process = laboratory.start(out)
            laboratory.wait_to_kill(process, (out / ".lock").exists, laboratory.seconds / 3)
            ended = not process.lives
            laboratory.kill(process, outcome)
            stored = laboratory.check_stored(out, stored, outcome)
            if ended:
                break
        laboratory.finish(laboratory.start(out))
        laboratory.check_end(out, outcome)
        shutil.rmtree(out)


def two(outcome: Outcome, count: int, seed: int, work: Path) -> None:
    """Two sweeps at once on one directory, of which one is killed, or both."""
    laboratory = Laboratory(work, seed, SWEEP, short=count < _FEW)
    while outcome.kills < count:
        out = work / "out"
        pair = [laboratory.start(out), laboratory.start(out)]
        laboratory.wait_to_kill(pair[0], (out / ".lock").exists, laboratory.seconds / 2)
        laboratory.chance.shuffle(pair)
        victims = 2 if laboratory.chance.random() < 0.25 else 1
        for process in pair[:victims]:
            laboratory.kill(process, outcome)
        for process in pair[victims:]:
            laboratory.finish(process)
        if victims == 2:
            laboratory.check_stored(out, {}, outcome)
            laboratory.finish(laboratory.start(out))
        laboratory.check_end(out, outcome)
        shutil.rmtree(out)


def report(outcome: Outcome, count: int, seed: int, work: Path) -> None:
    """A report that is killed while it is written, and then written."""
    laboratory = Laboratory(work, seed, SWEEP, short=True)
    out, written = laboratory.whole, laboratory.whole / "report"
    began = time.monotonic()
    laboratory.finish(laboratory.command("report", str(out)))
    longest = time.monotonic() - began
    expected = contents(written)
    while outcome.kills < count:
        shutil.rmtree(written)
        # Killed several times: what one has left does not harm the next.
        for _ in range(laboratory.chance.randint(1, 4)):
            process = laboratory.command("report", str(out))
            laboratory.wait_to_kill(process, written.exists, longest / 4)
            laboratory.kill(process, outcome)
        laboratory.finish(laboratory.command("report", str(out)))
        outcome.faults += [f"report/{each}" for each in differences(contents(written), expected)]
        laboratory.check_end(out, outcome)


def guests(outcome: Outcome, count: int, seed: int, work: Path) -> None:
    """Guests of a sweep that are killed one by one, and now and then the laboratory with them."""
    laboratory = Laboratory(work, seed, GUESTS)
    while outcome.kills < count:
        out = work / "out"
        # One guest at a time in every second round: then batches are stored while others have not begun.
        one = laboratory.chance.random() < 0.5
        laboratory.options = ["--jobs", "1" if one else "4"]
        longest = laboratory.seconds / (2 if one else 4)
        process = laboratory.start(out)
        stored = set[str]()
        for _ in range(5):
            time.sleep(laboratory.chance.uniform(0, longest))
            if laboratory.chance.random() < 0.25:
                laboratory.kill(process, outcome)
                stored = laboratory.check_kept(out, stored, outcome)
                process = laboratory.start(out)
            elif outcome.kills < count:
                outcome.kills += _kill_a_guest(laboratory)
        process.wait()
        if (out / "manifest.json").is_file():
            failed = Dataset.open(out).status().filter(status="failed")
            outcome.faults += [f"a run whose guest was killed failed: {message}" for message in failed["message"]]
        # Whoever lost its guest while that was looked at, or before it had booted, has ended with an error.
        for _ in range(3):
            if laboratory.command("run", str(laboratory.study), "--out", str(out), "--retry-failed", *laboratory.options).wait() == 0:
                break
        laboratory.check_end(out, outcome)
        shutil.rmtree(out)


def _kill_a_guest(laboratory: Laboratory) -> int:
    """Kills one process that works in the laboratory's scratch, whichever; how many that were."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if entry.readlink().is_relative_to(laboratory.scratch):
                found.append(int(entry.parent.name))
    with contextlib.suppress(ProcessLookupError):
        if found:
            os.kill(laboratory.chance.choice(found), signal.SIGKILL)
            return 1
    return 0


KINDS: dict[str, Callable[[Outcome, int, int, Path], None]] = {"sweep": sweep, "two": two, "report": report, "guests": guests}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    asked = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # where signals are ignored, as under nohup, too
        signal.signal(number, signal.default_int_handler)
    faults: list[str] = []
    for kind in asked.kind or KINDS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
            outcome = Outcome()
            try:
                KINDS[kind](outcome, asked.count, asked.seed, Path(work))
            except KeyboardInterrupt:
                pass  # Ctrl-C or SIGTERM: what came of it so far
            except Exception as error:
                outcome.faults.append(f"{type(error).__name__}: {error}")
        found = {"seed": asked.seed, "kills": outcome.kills, "stored": outcome.resumed, "ends": outcome.ends, "faults": outcome.faults}
        page.write(f"kills-{kind}-{asked.seed}", found)
        print(
            f"{kind}: {outcome.kills} kills, {outcome.resumed} batches stored, {outcome.ends} ends, {len(outcome.faults)} faults",
            flush=True,
        )
        faults += [f"{kind}: {fault}" for fault in outcome.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
