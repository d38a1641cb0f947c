"""Results directories with random damage: opened, read, reported and resumed.

An input is a list of what is done to the files of complete results: bits flipped, files cut, swapped, replaced by those of another plan, by pipes and links,
manifests edited. Nothing may be read that is not of these results; what is missing is told; the same command names what is wrong, or makes all as it was.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.errors import SawtoothError
from sawtooth.report import report
from sawtooth.results.dataset import Dataset
from tests.fuzz.attempt import Attempts
from tests.fuzz.tally import Tally
from tests.robustness.laboratory import contents, do, plan, pretended, tables

NAME = "results"
SUMMARY = "a damaged results directory is read without what is damaged, or refused by an error; the same command makes it as it was, to the byte, or refuses. Reached: either."
WEIGHT = 1.0

_SEEDS = (7, 8)
_REPORTED = 0.02

Step = list[Any]


def fuzz(seed: int, seconds: float, work: Path) -> Tally:
    """Damages directories for `seconds`."""
    rng = random.Random(f"results/{seed}")
    with Attempts(NAME, work) as attempts, pretended():
        laboratory = _Laboratory(work)
        while attempts.seconds < seconds:
            data = json.dumps(laboratory.make(rng)).encode()
            attempts.begin(data)
            try:
                attempts.end(reached=laboratory.attempt(data))
            except BaseException as error:  # a panic of the core is no Exception
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                attempts.fail(traceback.format_exc(), data)
        return attempts.tally()


def replay(saved: Path, work: Path) -> None:
    """Tries one list of damages."""
    with pretended():
        _laboratory(work).attempt(saved.read_bytes())


class _Laboratory:
    """Complete results of two plans, of which a copy of the first is damaged."""

    def __init__(self, work: Path) -> None:
        self.plan = plan()
        self.copy = work / "copy"
        self.whole = {seed: work / f"whole-{seed}" for seed in _SEEDS}
        self.tables = {seed: tables(do(plan(seed), directory)[0]) for seed, directory in self.whole.items()}
        self.expected = contents(self.whole[7])
        self.names = sorted(str(path.relative_to(self.whole[7])) for path in self.whole[7].rglob("*") if path.is_file())

    def make(self, rng: random.Random) -> list[Step]:
        """One to four damages."""
        steps: list[Step] = []
        for _ in range(rng.choice((1, 1, 2, 3, 4))):
            kind = rng.choice(list(_STEPS))
            name = rng.choice(self.names)
            match kind:
                case "flip" | "cut":
                    steps.append([kind, name, rng.random()])
                case "swap" | "copy" | "link":
                    steps.append([kind, name, rng.choice(self.names)])
                case "edit":
                    key = rng.choice(["plan_hash", "runs", "results_epoch", "study_sha256", "versions", "batches", "name", "new"])
                    steps.append([kind, "manifest.json", key, rng.choice([None, 5, "x", [], {}, -1, 1e300])])
                case "stray":
                    where = rng.choice(
                        [
                            "parts/flows-000007.parquet",
                            "parts/batch-000001.sha256x",
                            "parts/x",
                            "notes",
                            "parts/.x.tmp",
                            "parts/flows-99999999.parquet",
                        ]
                    )
                    steps.append([kind, where, rng.choice(["", "anything", "[]"])])
                case _:
                    steps.append([kind, name])
        return steps

    def attempt(self, data: bytes) -> bool:
        """Whether the damage was named or did no harm; raises for anything else."""
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.whole[7], self.copy)
        for kind, *words in json.loads(data):
            _STEPS[kind](self, *words)
        try:
            self._read(zlib.crc32(data) % 1000 < 1000 * _REPORTED)
        except SawtoothError as error:
            str(error)
        try:
            dataset, summary = do(self.plan, self.copy)
        except SawtoothError as error:
            str(error)
            return True
        found = contents(self.copy)
        named = " ".join([*summary.damaged, *dataset.notes])
        for name in self.expected:
            assert found.get(name) == self.expected[name], f"{name} is not as it was"
        for name in found.keys() - self.expected.keys():
            assert Path(name).name in named or not name.startswith("parts/") or name.endswith(".tmp"), f"{name} is not named in `{named}`"
        self._read(report_too=False)
        assert dataset.complete
        return True

    def _read(self, report_too: bool) -> None:
        """Everything that is read is of the plan that the manifest names, and what is missing is missing in whole runs."""
        dataset = Dataset.open(self.copy)
        whole = self.tables[dataset.manifest["seed"]]
        done = dataset.status()["run"].implode()
        for name, table in tables(dataset).items():
            expected = whole[name] if name == "runs" else whole[name].filter(pl.col("run").is_in(done))
            assert table.equals(expected), f"{name} is another"
        assert dataset.complete or not done.is_empty() or dataset.status().is_empty()
        if report_too and not dataset.status().is_empty():
            report(dataset)

    # --- damages

    def path(self, name: str) -> Path:
        return self.copy / name

    def content(self, name: str) -> bytes:
        path = self.path(name)
        return path.read_bytes() if path.is_file() else b""

    def put(self, name: str, content: bytes) -> None:
        self.away(name)
        self.path(name).parent.mkdir(exist_ok=True)
        self.path(name).write_bytes(content)

    def away(self, name: str) -> None:
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


_laboratory = functools.cache(_Laboratory)
"""What is damaged is made once for all inputs that are tried in one place."""


def _flip(it: _Laboratory, name: str, where: float) -> None:
    content = bytearray(it.content(name))
    if content:
        bit = int(where * 8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        it.put(name, bytes(content))


def _cut(it: _Laboratory, name: str, where: float) -> None:
    content = it.content(name)
    it.put(name, content[: int(where * len(content))])


def _swap(it: _Laboratory, one: str, other: str) -> None:
    first, second = it.content(one), it.content(other)
    it.put(one, second)
    it.put(other, first)


def _edit(it: _Laboratory, name: str, key: str, value: object) -> None:
    try:
        manifest = json.loads(it.content(name))
    except ValueError:
        return
    if isinstance(manifest, dict):
        it.put(name, json.dumps({**manifest, key: value}, indent=2).encode() + b"\n")


def _link(it: _Laboratory, name: str, other: str) -> None:
    it.away(name)
    it.path(name).symlink_to(it.path(other))


def _pipe(it: _Laboratory, name: str) -> None:
    it.away(name)
    os.mkfifo(it.path(name))


def _folder(it: _Laboratory, name: str) -> None:
    it.away(name)
    it.path(name).mkdir()


def _of_another_plan(it: _Laboratory, name: str) -> None:
    source = it.whole[8] / name
    if source.is_file():
        it.put(name, source.read_bytes())


def _batch_of_another_plan(it: _Laboratory, name: str) -> None:
    number = Path(name).stem.rpartition("-")[2]
    for path in (it.whole[8] / "parts").glob(f"*-{number}.*"):
        it.put(f"parts/{path.name}", path.read_bytes())


_STEPS: dict[str, Callable[..., None]] = {
    "flip": _flip,
    "cut": _cut,
    "swap": _swap,
    "edit": _edit,
    "link": _link,
    "pipe": _pipe,
    "folder": _folder,
    "of another plan": _of_another_plan,
    "batch of another plan": _batch_of_another_plan,
    "delete": lambda it, name: it.away(name),
    "copy": lambda it, name, other: it.put(other, it.content(name)),
    "empty": lambda it, name: it.put(name, b""),
    "longer": lambda it, name: it.put(name, it.content(name) + b"\x00more"),
    "stray": lambda it, name, text: it.put(name, text.encode()),
}
