"""A results directory: the interface between producing and analysing.

    study.toml          the study's text
    manifest.json       provenance: versions, commit, machine, command, hash of the plan
    runs.parquet        the plan: one row per run, with cell, arm, replicate, factors and draws
    parts/              TABLE-NNNNNN.parquet, one file per table and batch
    kernels.json        real kernels only: release, configuration, modules, clock and command line of each guest's
    log.jsonl           wall time of each batch; the only thing that differs between two machines

A part is written under a temporary name, flushed and renamed; the status part comes last, so a batch is done when its status
part is there and readable.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.plan import RESULTS_EPOCH, Plan
from sawtooth.rfc4898 import rfc4898
from sawtooth.study import Study


class Dataset:
    """A results directory, opened.

    Attributes:
        directory: where it is.
        runs: the plan, one row per run.
        manifest: provenance.

    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.manifest: dict[str, Any] = cast(dict[str, Any], _read_json(directory / "manifest.json"))
        self.runs = _read_frame(directory / "runs.parquet")

    @classmethod
    def open(cls, directory: str | Path) -> Dataset:
        """Opens a results directory.

        Raises:
            DatasetError: if there is none, or it is damaged.

        """
        directory = Path(directory)
        if not (directory / "manifest.json").is_file():
            raise DatasetError(f"{directory} is no results directory", "`sawtooth run STUDY --out DIR` makes one")
        return cls(directory)

    @classmethod
    def create(cls, directory: str | Path, plan: Plan, command: Sequence[str] = ()) -> Dataset:
        """Makes a results directory for a plan, or reopens it if it holds the same plan.

        Raises:
            DatasetError: if it holds another plan, is no results directory, or cannot be written.

        """
        directory = Path(directory)
        identity = plan_hash(plan)
        manifest_path = directory / "manifest.json"
        if manifest_path.is_file():
            dataset = cls.open(directory)
            dataset._require_same(plan, identity)
            return dataset
        if directory.is_dir() and any(entry.name != "parts" for entry in directory.iterdir() if not entry.name.endswith(".tmp")):
            leftovers = {"study.toml", "runs.parquet", "log.jsonl"}
            if any(entry.name not in leftovers | {"parts"} and not entry.name.endswith(".tmp") for entry in directory.iterdir()):
                raise DatasetError(f"{directory} is not empty and is no results directory", "name another directory with --out")
        with writing(directory):
            (directory / "parts").mkdir(parents=True, exist_ok=True)
            write_atomically(directory / "study.toml", plan.study.document.text.encode())
            _write_frame(directory / "runs.parquet", plan.table())
            # The manifest comes last: with it the directory is complete.
            write_atomically(manifest_path, json.dumps(_provenance(plan, identity, command), indent=2).encode() + b"\n")
        return cls(directory)

    @classmethod
    def observe(cls, directory: str | Path, observation: Observation, command: Sequence[str] = ()) -> tuple[Dataset, int]:
        """Makes a results directory for what is observed rather than planned, or adds a run to one: another replicate of the same.

        Returns:
            The dataset, and the number of the new run.

        Raises:
            DatasetError: if the directory holds anything else, or cannot be written.

        """
        directory = Path(directory)
        manifest_path = directory / "manifest.json"
        before: pl.DataFrame | None = None
        if manifest_path.is_file():
            dataset = cls.open(directory)
            if dataset.manifest.get("study_sha256") != _sha256(observation.text):
                raise DatasetError(
                    f"{directory} holds results of something else: `{dataset.manifest.get('name')}`", "name another directory"
                )
            before = dataset.runs
        elif directory.is_dir() and any(directory.iterdir()):
            raise DatasetError(f"{directory} is not empty and is no results directory", "name another directory")
        number = 0 if before is None else before.height
        columns = {"run": pl.UInt32, "id": pl.String, "cell": pl.UInt32, "arm": pl.String, "replicate": pl.UInt32, "seed": pl.UInt64}
        row = pl.DataFrame([(number, f"{observation.name}-{time.time_ns()}", 1, "", number + 1, 0)], schema=columns, orient="row")
        runs = row if before is None else pl.concat([before, row])
        manifest: dict[str, Any] = {
            "name": observation.name, "question": observation.question, "report": observation.report, "backend": observation.backend,
            "study_path": "study.toml", "study_sha256": _sha256(observation.text), "options": [], "plan_hash": _sha256("\n".join(runs["id"])),
            "results_epoch": RESULTS_EPOCH, "runs": runs.height, "cells": 1, "arms": [], "repeat": runs.height, "seed": 0,
            **_surroundings(command),
        }  # fmt: skip
        with writing(directory):
            (directory / "parts").mkdir(parents=True, exist_ok=True)
            write_atomically(directory / "study.toml", observation.text.encode())
            _write_frame(directory / "runs.parquet", runs)
            write_atomically(manifest_path, json.dumps(manifest, indent=2).encode() + b"\n")
        return cls(directory), number

    def _require_same(self, plan: Plan, identity: str) -> None:
        if self.manifest.get("plan_hash") == identity:
            return
        theirs, ours = self.manifest, _provenance(plan, identity, ())
        if theirs.get("name") != ours["name"]:
            what = f"study `{theirs.get('name')}`, not `{ours['name']}`"
        elif theirs.get("results_epoch") != ours["results_epoch"]:
            what = 'an older version whose results differ (see "Changed results" in the changelog)'
        elif theirs.get("runs") != ours["runs"]:
            what = f"{theirs.get('runs')} runs of this study, not {ours['runs']} (another version of the file, --short or --set)"
        else:
            what = "another version of this study: scenario, seed or draws differ"
        raise DatasetError(f"{self.directory} holds results of {what}", "name another directory with --out, or remove this one")

    # --- reading

    @property
    def study(self) -> Study:
        """The study as it was run, without options but that which names the backend: arms may be for some only."""
        path = Path(cast(str, self.manifest.get("study_path", "study.toml")))
        given = cast(list[str], self.manifest.get("options", []))
        options = [option for option in given if option.startswith("backend=")]
        return Study.parse((self.directory / "study.toml").read_text(encoding="utf-8"), path, options=options, files=False)

    def table(self, name: str) -> pl.LazyFrame:
        """A table of all runs done so far, with a column `run` that refers to `runs`."""
        parts = sorted((self.directory / "parts").glob(f"{name}-*.parquet"))
        if not parts:
            if name not in _core.schema():
                raise DatasetError(f"there is no table `{name}`", f"there are {', '.join(_core.schema())}")
            return pl.LazyFrame(schema={"run": pl.UInt32, **_column_types(name)})
        return pl.scan_parquet(parts)

    def flows(self) -> pl.LazyFrame:
        """One row per flow and run."""
        return self.table("flows")

    def links(self) -> pl.LazyFrame:
        """One row per direction of a link and run."""
        return self.table("links")

    def series(self) -> pl.LazyFrame:
        """One row per flow, sample and run, where the study samples."""
        return self.table("series")

    def variables(self) -> pl.LazyFrame:
        """One row per flow, sample, variable of its congestion control and run, where the scenario has `record = ["variables"]`."""
        return self.table("variables")

    def episodes(self) -> pl.LazyFrame:
        """One row per loss episode, flow and run, where the scenario has `record = ["episodes"]`."""
        return self.table("episodes")

    def waits(self) -> pl.LazyFrame:
        """One row per direction of a link and run, where the scenario has `record = ["waits"]`: percentiles of waits and backlogs."""
        return self.table("waits")

    def link_flows(self) -> pl.LazyFrame:
        """One row per direction of a link, flow and run, where the scenario has `record = ["link_flows"]`: drops, losses and marks."""
        return self.table("link_flows")

    def stalls(self) -> pl.LazyFrame:
        """One row per time in which a socket of a host stalled and run, where the scenario has `record = ["stalls"]`."""
        return self.table("stalls")

    def layers(self) -> pl.LazyFrame:
        """One row per thing that happens to a packet at a layer of a host and run, where the scenario has `record = ["layers"]`."""
        return self.table("layers")

    def column(self, name: str, table: str = "flows") -> pl.LazyFrame:
        """One column of `table`, by its name or by the one it has in RFC 4898, beside those that say what a row is.

        Returns:
            Columns `run`, `t_ns` of a table over time, `flow` or what else the table is about, and `name`.

        Raises:
            DatasetError: if there is no such table or column.

        """
        spec = _core.schema().get(table, {}).get("columns", [])
        known = [column["name"] for column in spec]
        keys = [key for key in ("t_ns", "flow", "link", "direction", "host", "variable") if key in known and key != name]
        return self.table(table).select("run", *keys, pl.col(name) if name in known else rfc4898(name, table))

    def status(self) -> pl.DataFrame:
        """One row per run that was done: run, status (`ok` or `failed`), message (why it failed, or what to know of it)."""
        parts = sorted((self.directory / "parts").glob("status-*.parquet"))
        if not parts:
            return pl.DataFrame(schema={"run": pl.UInt32, "status": pl.String, "message": pl.String})
        return pl.concat([_read_frame(part) for part in parts])

    @property
    def complete(self) -> bool:
        """Whether every run of the plan was done."""
        return self.status().height == self.runs.height

    # --- writing

    def done(self, batches: Iterable[int]) -> tuple[set[int], list[str]]:
        """Which of `batches` are done, and the names of parts that were unreadable and have been removed."""
        done: set[int] = set()
        damaged: list[str] = []
        parts = self.directory / "parts"
        for leftover in parts.glob("*.tmp"):
            leftover.unlink()
        names = {path.name for path in parts.glob("*.parquet")}
        for batch in batches:
            if f"status-{batch:06d}.parquet" not in names:
                continue
            bad = [path for path in parts.glob(f"*-{batch:06d}.parquet") if not _readable(path)]
            if bad:
                damaged += [path.name for path in bad]
                for path in parts.glob(f"*-{batch:06d}.parquet"):
                    path.unlink()
            else:
                done.add(batch)
        return done, damaged

    def write_batch(self, batch: int, tables: Mapping[str, pl.DataFrame], status: pl.DataFrame) -> None:
        """Stores a batch: its tables, then its status.

        Raises:
            DatasetError: if the disk is full or the directory cannot be written; what was stored before stays.

        """
        self.write_tables(batch, {**tables, "status": status})

    def write_tables(self, batch: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Stores tables of a batch, in their order.

        Raises:
            DatasetError: as for `write_batch`.

        """
        with writing(self.directory):
            for name, frame in tables.items():
                _write_frame(self.directory / "parts" / f"{name}-{batch:06d}.parquet", frame)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """The real kernels that runs were done on, one entry for each guest's settings; nothing of the simulator."""
        path = self.directory / "kernels.json"
        return cast(list[dict[str, Any]], _read_json(path)) if path.is_file() else []

    def record_kernels(self, kernels: Sequence[Mapping[str, Any]]) -> None:
        """Stores which kernels runs are done on.

        Raises:
            DatasetError: if runs were done on others before.

        """
        content = json.dumps(list(kernels), indent=2).encode() + b"\n"
        path = self.directory / "kernels.json"
        if path.is_file() and path.read_bytes() != content:
            raise DatasetError(
                f"{self.directory} holds runs of another kernel, or of one that was set up otherwise: {_difference(self.kernels, kernels)}",
                "name another directory with --out, or remove this one",
            )
        with writing(self.directory):
            write_atomically(path, content)

    def log(self, **entry: Any) -> None:
        """Adds a line to the log."""
        with writing(self.directory), (self.directory / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": time.time(), **entry}) + "\n")


@dataclass(frozen=True)
class Observation:
    """What is observed rather than planned: a name for all datasets of its kind, and the text of what was watched."""

    name: str
    question: str
    report: str
    backend: str
    text: str


def as_table(name: str, rows: pl.DataFrame | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows, with `run`, in the columns of a table of the simulator; what they do not tell is null."""
    frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, infer_schema_length=None)
    return frame.select(
        pl.col("run").cast(pl.UInt32),
        *(pl.col(key).cast(kind) if key in frame.columns else pl.lit(None, kind).alias(key) for key, kind in _column_types(name).items()),
    )


def _column_types(name: str) -> dict[str, Any]:
    kinds = {"u64": pl.UInt64, "i64": pl.Int64, "f64": pl.Float64, "str": pl.String}
    return {column["name"]: kinds[column["type"]] for column in _core.schema()[name]["columns"]}


def plan_hash(plan: Plan) -> str:
    """A hash of everything that decides the results: every run's id and the batches."""
    text = "\n".join([*(run.id for run in plan.runs), *(f"{batch.start}-{batch.stop}" for batch in plan.batches)])
    return hashlib.sha256(text.encode()).hexdigest()


def _difference(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> str:
    """The first place at which two lists of kernels differ, and what is there."""
    one, other = (
        {place: leaf for at, kernel in enumerate(kernels) for place, leaf in _leaves(kernel, f"kernel[{at}]")} for kernels in (before, now)
    )
    place = next(place for place in (*one, *other) if one.get(place) != other.get(place))
    return f"{place} was {one.get(place, 'not there')} and is {other.get(place, 'not there')}"


def _leaves(tree: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Where the values of a tree are, and what they are as JSON text."""
    for key, value in tree.items():
        place = f"{where}.{key}"
        if isinstance(value, dict):
            yield from _leaves(value, place)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield place, json.dumps(value)


class writing:  # noqa: N801 - reads as a statement
    """Turns failures of the file system into errors that say what to do."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DatasetError(
                f"no space left for results in {self.directory}",
                "nothing that was stored is lost: make room and run the same command again, it goes on from here",
            ) from None
        raise DatasetError(f"cannot write to {self.directory}: {error.strerror or error}") from None


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that it is there whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _write_frame(path: Path, frame: pl.DataFrame) -> None:
    import io

    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=True)
    write_atomically(path, buffer.getvalue())


def _readable(path: Path) -> bool:
    try:
        pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        return False
    return True


def _read_frame(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        first = str(error).splitlines()[0] if str(error) else "unreadable"
        raise DatasetError(f"{path} is damaged: {first}", "run the study again: damaged parts are made anew") from None


def _read_json(path: Path) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} is damaged: {error}", "remove the directory and run the study again") from None
    return content


def _provenance(plan: Plan, identity: str, command: Sequence[str]) -> dict[str, Any]:
    study = plan.study
    return {
        "name": study.name,
        "question": study.question,
        "report": study.report,
        "backend": study.backend,
        "study_path": study.path.name,
        "study_sha256": _sha256(study.document.text),
        "options": list(study.document.options),
        "plan_hash": identity,
        "results_epoch": RESULTS_EPOCH,
        "runs": len(plan.runs),
        "cells": len(plan.cells),
        "arms": list(study.arms),
        "repeat": study.repeat,
        "seed": study.seed,
        **_surroundings(command),
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _surroundings(command: Sequence[str]) -> dict[str, Any]:
    """Where and by what results are made."""
    return {
        "versions": {
            "sawtooth": _core.version(),
            "python": platform.python_version(),
            "polars": pl.__version__,
        },
        "commit": _commit(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cpus": os.cpu_count()},
        "command": list(command) or [Path(sys.argv[0]).name, *sys.argv[1:]],
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _commit() -> str | None:
    """The commit of the checkout this package is used from, if it is."""
    try:
        found = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
