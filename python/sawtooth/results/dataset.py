"""A results directory: the interface between producing and analysing.

    study.toml          the study's text
    manifest.json       provenance: versions, commit, machine, command, hash of the plan
    runs.parquet        the plan: one row per run, with cell, arm, replicate, factors and draws
    kernels.json        real kernels only: release, configuration, modules, clock and command line of each guest's
    SHA256SUMS          checksums of these
    parts/              TABLE-NNNNNN.parquet, one file per table and batch; batch-NNNNNN.sha256, their checksums; or packed, see `packs`
    log.jsonl           wall and processor time of each batch; the only thing that differs between two machines
    .lock               held by the one process that writes

Every file is written under a temporary name, flushed and renamed; a batch's checksums come last, so a batch is done when they are there and right.
Whatever is not as it was written is named when the directory is opened, and made anew by the next run.
"""

from __future__ import annotations

import contextlib
import copy
import json
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import polars as pl

from sawtooth import arguments
from sawtooth.display import Card, few
from sawtooth.errors import DatasetError, as_path, wrong_type
from sawtooth.mib import rfc4898
from sawtooth.plan import RESULTS_EPOCH, Plan, regrown
from sawtooth.recorded import schema
from sawtooth.results import changes, log
from sawtooth.results import head as heads
from sawtooth.results import lock as locks
from sawtooth.results.folder import Folder, Objects, url_of
from sawtooth.results.head import Head
from sawtooth.results.packs import as_parquet
from sawtooth.results.parts import Parts, Shelf
from sawtooth.results.provenance import OF_A_SHARD, analysis, of_plan, plan_hash, references, surroundings
from sawtooth.results.remote import Remote
from sawtooth.results.sums import digest
from sawtooth.results.tables import Tables, with_factors
from sawtooth.storage import is_temporary, read_bytes, remove_leftovers, temporary_name, writing
from sawtooth.study import Study
from sawtooth.study.differs import difference
from sawtooth.tables import as_status, column_types, factors_of, with_nulls

_LOG = "log.jsonl"
MANY = 1000
"""Of more batches a run packs the parts at its end: each has a file per table, and one more."""
_IMPORTED = "imported"
"""Key of a manifest: the files of measurements."""
_MINUS_ONE_IS_UNKNOWN = (1, 2)
"""Results epochs in which -1 stood for what is unknown; in later ones it is null."""
_OURS = {heads.STUDY, heads.MANIFEST, heads.RUNS, heads.KERNELS, heads.SUMS, _LOG, locks.NAME, "parts", "ranking", "report", "trace"}


def is_results(directory: Path) -> bool:
    """Whether results were written to a directory.

    Raises:
        DatasetError: if that cannot be seen.

    """
    if (url := url_of(directory)) is not None:
        return bool(Objects(url).read_many([heads.MANIFEST, heads.SUMS]))
    try:
        return any((directory / name).is_file() for name in (heads.MANIFEST, heads.SUMS))
    except OSError as error:
        raise DatasetError(f"cannot read {directory}: {error.strerror}", "name another, or see what `ls -ld` says of it") from None


def _named(directory: str | Path) -> Path:
    path = as_path(directory, "a dataset is opened by the path of its directory")
    if not arguments.encodable(str(path)):
        raise DatasetError(f"results cannot be in {str(path)!a}: its name is not UTF-8", "name another directory")
    return path


def _place(directory: str | Path) -> tuple[Path, Remote | None]:
    """The directory of results, or the copy of those at a URL, which is made to have what is there."""
    url = url_of(as_path(directory, "a dataset is opened by the path of its directory"))
    if url is None:
        return _named(directory), None
    remote = Remote(url)
    with writing(remote.directory):
        remote.pull(_LOG)
    return remote.directory, remote


def _locked(directory: Path, remote: Remote | None, *, wait: bool) -> AbstractContextManager[None]:
    """Makes this process the only one that writes to the directory, and to the URL of which that is a copy."""
    return remote.lock(_LOG, wait=wait) if remote else locks.lock(directory, wait=wait)


class Dataset(Tables):
    """A results directory, opened; or results at a URL, of which there is a copy then.

    Attributes:
        directory: where it is, or where its copy is.
        runs: the plan, one row per run.
        manifest: provenance.
        mended: names of files that were damaged and have been written anew when it was made or reopened.
        edited: whether the study was another version, which does not differ in its runs, before it was reopened: it is this one now.

    """

    def __init__(self, directory: str | Path) -> None:
        self.directory, self._remote = _place(directory)
        if not is_results(self.directory):
            raise DatasetError(f"{directory} is no results directory", "`sawtooth run STUDY --out DIR` makes one")
        self._enter(Head.look(self.directory))

    def _enter(self, head: Head) -> None:
        head.require_whole()
        self.manifest: dict[str, Any] = head.manifest or {}
        self.runs = head.runs
        self.mended: list[str] = []
        self.edited = False
        self._shown: Study | None = None
        self._parsed: tuple[str, Study] | None = None
        planned = "batches" in self.manifest
        if self._remote is None:
            self._parts = Parts(self.directory / "parts", head.owner or "", planned=planned)
        else:
            self._parts = self._remote.parts(head.owner or "", planned=planned)

    @classmethod
    def open(cls, directory: str | Path) -> Self:
        """Opens a results directory and looks at every bit of it.

        Raises:
            DatasetError: if there is none, or it is damaged.

        """
        dataset = cls(directory)
        dataset._parts.check()
        return dataset

    @classmethod
    def create(cls, directory: str | Path, plan: Plan, command: Sequence[str] = (), *, wait: bool = True) -> Self:
        """Makes a results directory for a plan, or reopens it if it holds the same plan, and mends what is damaged of its top.

        Args:
            directory: where.
            plan: what the results will be of.
            command: what made them; by default this program's.
            wait: for another process that is writing to it.

        Raises:
            DatasetError: if it holds another plan, is no results directory, or cannot be written.

        """
        if not isinstance(plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("results are of a Plan; `make_plan(study)` makes one", plan)
        identity = plan_hash(plan)
        directory, remote = _place(directory)
        with writing(directory):
            require_ours(directory)
            (directory / "parts").mkdir(parents=True, exist_ok=True)
        with _locked(directory, remote, wait=wait), writing(directory):
            head = Head.look(directory)
            parts = Parts(directory / "parts", identity) if remote is None else remote.parts(identity, planned=True).renewed()
            fresh = _require_same(head, plan, identity, parts)
            remove_leftovers(directory)
            if not fresh and heads.RUNS not in head.damaged:
                plan = regrown(plan, head.runs)
            ours = of_plan(plan, identity)
            # Where and when it was begun stays.
            before = (
                {} if head.manifest is None else {key: value for key, value in head.manifest.items() if key not in {*ours, *OF_A_SHARD}}
            )
            manifest = {**ours, **(before or surroundings(command))}
            if not fresh and not parts.empty and (changed := _changed(head, manifest, plan.study)):
                manifest["changes"] = [*cast(list[Any], manifest.get("changes", [])), changed]
            dataset = cls.__new__(cls)
            dataset.directory, dataset._remote = directory, remote
            dataset._write_head(head, identity, {
                heads.STUDY: plan.study.document.text.encode(), heads.RUNS: as_parquet(plan.table()), heads.MANIFEST: _as_json(manifest),
            })  # fmt: skip
            # Kernels are told by kernels only: `record_kernels` mends what is damaged of them.
            dataset._enter(Head.look(directory).without_kernels())
            dataset.mended = [] if fresh else head.damaged
            known = not fresh and head.manifest is not None
            dataset.edited = known and any((head.manifest or {}).get(key) != manifest.get(key) for key in changes.SHOWN)
        return dataset

    @classmethod
    def observe(cls, directory: str | Path, observation: Observation, command: Sequence[str] = ()) -> tuple[Self, int, int]:
        """Makes a results directory for what is observed rather than planned, or adds a run to one: another replicate of the same.

        Returns:
            The dataset, the number of the new run, and the directory's lock, for `lock.release` when nothing will be added any more.

        Raises:
            DatasetError: if the directory holds anything else, another process writes to it, or it cannot be written.

        """
        directory = Path(directory)
        with writing(directory):
            require_ours(directory)
            (directory / "parts").mkdir(parents=True, exist_ok=True)
        held = locks.acquire(directory, wait=False)
        try:
            return *cls._observe(directory, observation, command), held
        except BaseException:
            locks.release(held)
            raise

    @classmethod
    def _observe(cls, directory: Path, observation: Observation, command: Sequence[str]) -> tuple[Self, int]:
        before: pl.DataFrame | None = None
        identity = digest(observation.text.encode())
        head = Head.look(directory)
        if (directory / heads.MANIFEST).is_file():
            dataset = cls(directory)
            if head.owner != identity:
                raise DatasetError(
                    f"{directory} holds results of something else: `{dataset.manifest.get('name')}`", "name another directory"
                )
            before = dataset.runs
        number = 0 if before is None else before.height
        columns = {"run": pl.UInt32, "id": pl.String, "cell": pl.UInt32, "arm": pl.String, "replicate": pl.UInt32, "seed": pl.UInt64}
        row = pl.DataFrame([(number, f"{observation.name}-{time.time_ns()}", 1, "", number + 1, 0)], schema=columns, orient="row")
        runs = row if before is None else pl.concat([before, row])
        observation.write(head, identity, runs, surroundings(command))
        return cls(directory), number

    @classmethod
    def imported(
        cls,
        directory: str | Path,
        observation: Observation,
        runs: pl.DataFrame,
        files: Sequence[Mapping[str, Any]],
        command: Sequence[str] = (),
    ) -> Self:
        """Makes a results directory for measurements of other programs, or opens the one that has the same.

        Args:
            directory: where.
            observation: what was measured, with a study as far as there is one.
            runs: a row per measurement, with the columns of a plan.
            files: of each run its file, and what else is known of it.
            command: what made them; by default this program's.

        Raises:
            DatasetError: if the directory holds anything else, another process writes to it, or it cannot be written.

        """
        directory = Path(directory)
        identity = digest("\n".join([observation.text, *runs["id"]]).encode())
        with writing(directory):
            require_ours(directory)
            (directory / "parts").mkdir(parents=True, exist_ok=True)
        with locks.lock(directory, wait=False):
            head = Head.look(directory)
            if head.owner not in (None, identity):
                raise DatasetError(
                    f"{directory} holds other results, `{(head.manifest or {}).get('name')}`",
                    "name another directory with --out, or remove this one",
                )
            observation.write(head, identity, runs, {_IMPORTED: list(files), **surroundings(command)})
        return cls(directory)

    @property
    def notes(self) -> list[str]:
        """What of the directory is not as it was written, or not of this plan, and is not read for the results."""
        strays = [f"parts/{name} is no part of these results and is not read" for name in self._parts.strays(self.manifest.get("batches"))]
        lines = [f"line {number} of {_LOG} is damaged; it tells how long a batch took" for number in log.damaged(self.directory / _LOG)]
        gone = not (self.directory / _LOG).is_file() and "batches" in self.manifest and not self.status().is_empty()
        return [*strays, *lines, *([f"{_LOG} is missing; it told how long batches took"] if gone else [])]

    # --- reading

    @property
    def study(self) -> Study:
        """The study as it was run, without options but that which names the backend: arms may be for some only."""
        if self._shown is not None:
            return self._shown
        text = (self.directory / heads.STUDY).read_text(encoding="utf-8")
        # A page asks for it with every question.
        if self._parsed is None or self._parsed[0] != text:
            path = Path(cast(str, self.manifest.get("study_path", heads.STUDY)))
            given = cast(list[str], self.manifest.get("options", []))
            options = [option for option in given if option.startswith("backend=")]
            self._parsed = text, Study.parse(text, path, options=options, files=False)
        return self._parsed[1]

    @property
    def planned(self) -> bool:
        """Whether these are runs of a study; what was watched or measured has none."""
        return "batches" in self.manifest

    @property
    def has_study(self) -> bool:
        """Whether there is a `study`: of runs that were planned, and of measurements what they differ in; what was watched has none."""
        return self.planned or _IMPORTED in self.manifest

    @property
    def files(self) -> list[dict[str, Any]]:
        """The files that measurements were imported from, one entry for each run: `file`, `sha256`, `program`, `time`; nothing of other results."""
        return cast(list[dict[str, Any]], self.manifest.get(_IMPORTED, []))

    def shown_as(self, study: Study) -> Self:
        """The same results with the figures, findings and references of another version of their study; the directory stays as it is.

        Raises:
            StudyError: with its place, for a reference that cannot be read.

        """
        other = copy.copy(self)
        other._shown = study
        other.manifest = {
            **self.manifest, "question": study.question, "report": study.report, "study_sha256": digest(study.document.text.encode()),
            "references": references(study), "analysis": analysis(study),
        }  # fmt: skip
        before = (self.directory / heads.STUDY).read_text(encoding="utf-8")
        # Without a time: it is of one report, and the same report is the same whenever it is made.
        if changed := changes.change(self.manifest, before, other.manifest, study.document.text, None):
            other.manifest["changes"] = [*self.changes, changed]
        return other

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Every change of the study's text after runs were made: when, the hashes before and after, and what was changed."""
        return cast(list[dict[str, Any]], self.manifest.get("changes", []))

    @property
    def digest(self) -> str:
        """A hash of all that was recorded, whenever and wherever that was done: of the plan's hash and the checksums of all parts."""
        return digest("\n".join([str(self.manifest.get("plan_hash", "")), *self._parts.checksums()]).encode())

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        """A table of all runs done so far, with a column `run` that refers to `runs`.

        Args:
            name: `tables` are those that there are; each has a method of its name, too: `dataset.flows()`.
            factors: put the run's cell, arm and replicate before the table's own columns, and what its study varies: each factor as text, and as
                NAME_value in its base unit. A factor that is called like a column of the table becomes `factor_NAME`.

        Raises:
            DatasetError: if there is no such table.

        """
        name = arguments.text(name, "a table is called by its name, such as flows")
        parts = self._parts.paths(name)
        if not parts and name not in schema():
            raise DatasetError(f"there is no table `{name}`", f"there are {', '.join(schema())}")
        table = pl.scan_parquet(parts) if parts else pl.LazyFrame(schema={"run": pl.UInt32, **column_types(name)})
        if self.manifest.get("results_epoch", RESULTS_EPOCH) in _MINUS_ONE_IS_UNKNOWN:
            table = with_nulls(name, table)
        return with_factors(table, self.runs) if factors else table

    @property
    def tables(self) -> list[str]:
        """Names of the tables that the results have, those of the schema first."""
        known = list(schema())
        found = self._parts.tables - {"status"}
        return [*(name for name in known if name in found), *sorted(found - set(known))]

    def __repr__(self) -> str:
        """What it is of, and how much of it there is."""
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        status = self.status()["status"]
        done, total = len(status), self.runs.height
        bad = {kind: number for kind in ("failed", "lost") if (number := (status == kind).sum())}
        varied = {name: self.runs[name].drop_nulls().unique(maintain_order=True).to_list() for name in factors_of(self.runs)}
        return Card("Dataset", str(self.manifest.get("name", self.directory.name)), str(self.manifest.get("question", "")), {
            "directory": str(self.directory),
            "runs": ", ".join([f"{total:,}" if done == total else f"{done:,} of {total:,}", *(f"{number:,} {kind}" for kind, number in bad.items())]),
            **{name: few(levels) for name, levels in varied.items()},
            "arms": few(self.runs["arm"].unique(maintain_order=True).to_list() if self.manifest.get("arms") else []),
            "backend": str(self.manifest.get("backend", "")),
            "tables": ", ".join(self.tables),
        })  # fmt: skip

    def column(self, name: str, table: str = "flows") -> pl.LazyFrame:
        """One column of `table`, by its name or by the one it has in RFC 4898, beside those that say what a row is.

        Returns:
            Columns `run`, `t_ns` of a table over time, `flow` or what else the table is about, and `name`.

        Raises:
            DatasetError: if there is no such table or column.

        """
        name = arguments.text(name, "a column is called by its name, such as goodput_bps or SegsRetrans")
        spec = schema().get(arguments.text(table, "a table is called by its name, such as flows"), {}).get("columns", [])
        known = [column["name"] for column in spec]
        keys = [key for key in ("t_ns", "flow", "link", "direction", "host", "variable") if key in known and key != name]
        return self.table(table).select("run", *keys, pl.col(name) if name in known else rfc4898(name, table))

    def status(self, batch: int | None = None) -> pl.DataFrame:
        """One row per run that was done: run, status, message (why it failed, or what to know of it), tries (how many, of a lost run).

        With `batch` of its runs alone: then nothing is read that another batch's worker is about to replace.

        The status is `ok`, `failed` if the run cannot be done, or `lost` if its guest was killed or memory was lacking: then it is tried again.
        """
        parts = self._parts.paths("status", batch)
        return pl.scan_parquet(parts).collect() if parts else as_status([], [], [])

    @property
    def complete(self) -> bool:
        """Whether every run of the plan was done."""
        return self.status().height == self.runs.height

    # --- writing

    def settle(self, batches: Iterable[int]) -> tuple[set[int], list[str]]:
        """Which of `batches` are done, and the names of files that were damaged, missing or foreign: those batches are to be done anew."""
        with writing(self.directory):
            return self._parts.settle(batches)

    def pack(self, *, wait: bool = True) -> Packed:
        """Puts the parts of batches together in fewer and larger files; the results stay the same, as does their hash.

        Args:
            wait: for another process that writes to the directory.

        Raises:
            DatasetError: if a part is damaged, the results are at a URL, another process writes there and `wait` is false, or they cannot be written.

        """
        if self._remote:
            raise DatasetError(f"{self._remote.objects} is a URL, and results are packed in directories", "copy them to one, or leave them")
        with self.lock(wait=wait):
            return self._pack()

    def tidy(self) -> str:
        """Packs the parts of batches if more than `MANY` are not packed, for whoever holds the lock and has done all; in words, empty if there was nothing to do.

        Results at a URL stay as they are: then it says how they are packed.
        """
        if self._parts.loose <= MANY:
            return ""
        if self._remote:
            url = self._remote.objects
            return f"{url} has a file for each table of {self._parts.loose:,} batches; `sawtooth merge {url} --out DIR` and `sawtooth compact DIR` make a copy with few"
        packed = self._pack()
        return f"{packed.before:,} files of results are put together in {packed.after:,}"

    def _pack(self) -> Packed:
        with writing(self.directory):
            self._parts.check()
            before = self._parts.files
            left = self._parts.pack()
            return Packed(before, self._parts.files, left)

    def unpack(self, batches: Iterable[int]) -> None:
        """Makes parts of the packs that some batches are in, before those are stored anew."""
        with writing(self.directory):
            self._parts.unpack(batches)

    def settle_log(self) -> list[int]:
        """Leaves out lines of the log that are damaged; their numbers."""
        with writing(self.directory):
            return log.leave_out_damaged(self.directory / _LOG)

    def grow(self, plan: Plan) -> None:
        """Stores that there are to be the runs of a longer plan: of this one with more replicates.

        Raises:
            DatasetError: if the directory cannot be written.

        """
        manifest = {**self.manifest, **of_plan(plan, self._parts.owner)}
        self.runs = plan.table()
        with writing(self.directory):
            contents = {heads.RUNS: as_parquet(self.runs), heads.MANIFEST: _as_json(manifest)}
            self._write_head(Head.look(self.directory), self._parts.owner, contents)
        self.manifest = manifest

    @property
    def shelf(self) -> Shelf:
        """Where whoever did a batch stores it."""
        return self._parts.shelf

    def lock(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Makes this process the only one that writes to the directory; see `lock.lock`."""
        return _locked(self.directory, self._remote, wait=wait)

    @contextlib.contextmanager
    def probe(self) -> Generator[tuple[Folder, str]]:
        """The folder of parts, and a file in it that holds its own name: whoever reads it there sees the same folder."""
        folder, name = self.shelf.folder, temporary_name("probe")
        folder.write(name, name.encode())
        try:
            yield folder, name
        finally:
            folder.remove(name)

    def write_batch(self, batch: int, tables: Mapping[str, pl.DataFrame], status: pl.DataFrame) -> None:
        """Stores a batch.

        Raises:
            DatasetError: if the disk is full or the directory cannot be written; what was stored before stays.

        """
        self.write_tables(batch, {**tables, "status": status})

    def write_tables(self, batch: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Stores tables of a batch.

        Raises:
            DatasetError: as for `write_batch`.

        """
        if tables:
            self._parts.write(batch, tables)

    # --- putting together

    @property
    def batches(self) -> list[int]:
        """The numbers of the batches that are there."""
        return self._parts.batches

    def checksums(self, batch: int) -> Mapping[str, frozenset[str]]:
        """Of the files of a batch."""
        sums = self._parts.listed(batch)
        return {} if sums is None else sums.files

    def like(self, directory: Path, made_of: Sequence[Mapping[str, Any]] = (), *, wait: bool = True) -> Self:
        """Results of the same plan elsewhere, with no batch yet, or with those that are there.

        Args:
            directory: where.
            made_of: where and by what each of the results was made that are put together there.
            wait: for another process that writes there.

        Raises:
            DatasetError: if the directory holds something else, or cannot be written.

        """
        directory, remote = _place(directory)
        with writing(directory):
            require_ours(directory)
            (directory / "parts").mkdir(parents=True, exist_ok=True)
        with _locked(directory, remote, wait=wait), writing(directory):
            manifest = {key: value for key, value in self.manifest.items() if key not in OF_A_SHARD}
            if len(made_of) > 1:
                manifest["merged"] = list(made_of)
            contents = {heads.STUDY: read_bytes(self.directory / heads.STUDY), heads.RUNS: read_bytes(self.directory / heads.RUNS)}
            if self.kernels:
                contents[heads.KERNELS] = read_bytes(self.directory / heads.KERNELS)
            made = type(self).__new__(type(self))
            made.directory, made._remote = directory, remote
            made._write_head(Head.look(directory), self._parts.owner, {**contents, heads.MANIFEST: _as_json(manifest)})
            made._enter(Head.look(directory))
        return made

    def take(self, batch: int, other: Dataset) -> None:
        """Stores a batch as other results of the same plan have it."""
        if self._parts.listed(batch) is None:
            self._parts.copy(batch, other._parts)

    def take_log(self, other: Dataset) -> None:
        """Adds what the log of other results says."""
        with writing(self.directory):
            log.add_all(self.directory / _LOG, other.directory / _LOG)

    @property
    def next_batch(self) -> int:
        """The number after the last batch that was begun."""
        return self._parts.next_batch

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """The real kernels that runs were done on, one entry for each guest's settings; nothing of the simulator."""
        return Head.look(self.directory).kernels()

    @property
    def kernels_damaged(self) -> bool:
        """Whether what was recorded of real kernels cannot be read any more."""
        return heads.KERNELS in Head.look(self.directory).damaged

    def record_kernels(self, kernels: Sequence[Mapping[str, Any]]) -> None:
        """Stores which kernels runs are done on.

        Raises:
            DatasetError: if runs were done on others before.

        """
        content = _as_json(list(kernels))
        head = Head.look(self.directory)
        if head.has_kernels and not head.is_kernels(content):
            was = "what it was is damaged" if self.kernels_damaged else _difference(self.kernels, kernels)
            raise DatasetError(
                f"{self.directory} holds runs of another kernel, or of one that was set up otherwise: {was}",
                "name another directory with --out, or remove this one",
            )
        with writing(self.directory):
            self._write_head(head, self._parts.owner, {heads.KERNELS: content})

    def log(self, **entry: Any) -> None:
        """Adds a line to the log."""
        with writing(self.directory):
            log.add(self.directory / _LOG, entry)
        if self._remote:
            self._remote.log_grew(_LOG)

    def _write_head(self, head: Head, owner: str, contents: Mapping[str, bytes]) -> None:
        head.write(owner, contents)
        if self._remote:
            self._remote.push([*contents, heads.SUMS])


@dataclass(frozen=True)
class Packed:
    """What came of packing.

    Attributes:
        before, after: files in the folder of parts.
        left: batches that stay as they are, as another version of polars has written them.

    """

    before: int
    after: int
    left: int


@dataclass(frozen=True)
class Observation:
    """What is observed rather than planned: a name for all datasets of its kind, and the text of what was watched or measured."""

    name: str
    question: str
    report: str
    backend: str
    text: str

    def write(self, head: Head, identity: str, runs: pl.DataFrame, more: Mapping[str, Any]) -> None:
        """Writes the files at the top of a directory.

        Args:
            head: those that are there.
            identity: what the results are recognised by.
            runs: the table of runs.
            more: what the manifest says beside.

        """
        text, arms = self.text.encode(), [arm for arm in runs["arm"].unique(maintain_order=True) if arm]
        manifest: dict[str, Any] = {
            "name": self.name, "question": self.question, "report": self.report, "backend": self.backend,
            "study_path": heads.STUDY, "study_sha256": digest(text), "options": [], "plan_hash": identity,
            "results_epoch": RESULTS_EPOCH, "runs": runs.height, "cells": runs["cell"].n_unique(), "arms": arms,
            "repeat": runs["replicate"].max(), "seed": 0, **more,
        }  # fmt: skip
        with writing(head.directory):
            head.write(identity, {heads.STUDY: text, heads.RUNS: as_parquet(runs), heads.MANIFEST: _as_json(manifest)})


def require_ours(directory: Path) -> None:
    """Nothing is written beside what somebody else keeps in a directory."""
    if directory.is_symlink() and not directory.exists():
        raise DatasetError(
            f"{directory} is a link to {directory.readlink()}, which is not there", "make that directory, or name another with --out"
        )
    if directory.exists() and not directory.is_dir():
        raise DatasetError(f"{directory} is a file, and results go to a directory", "name another with --out")
    if is_results(directory) or not directory.is_dir():
        return
    if any(path.name not in _OURS and not is_temporary(path.name) for path in directory.iterdir()):
        raise DatasetError(f"{directory} is not empty and is no results directory", "name another directory with --out")


def _require_same(head: Head, plan: Plan, identity: str, parts: Parts) -> bool:
    """Raises unless results of `plan` may go to a directory; whether there are none yet."""
    away = "name another directory with --out, or remove this one"
    if head.owner is None:
        if not parts.empty and parts.owners != {identity}:
            raise DatasetError(f"{head.directory} has parts that are not of this plan, and no {heads.MANIFEST} that says of which", away)
        text = read_bytes(head.directory / heads.STUDY)
        if parts.empty and text not in (b"", plan.study.document.text.encode()):
            raise DatasetError(
                f"{head.directory} has the {heads.STUDY} of another study, or of another version of this one, and no results", away
            )
        return parts.empty
    if head.owner == identity:
        if not parts.empty:
            head.require_checksums()
        return False
    ours, theirs = of_plan(plan, identity), head.manifest
    if theirs is None:
        what = f"another plan, and its {heads.MANIFEST} is missing or damaged"
    elif theirs.get("results_epoch") != ours["results_epoch"]:
        what = 'an older version whose results differ (see "Changed results" in the changelog)'
    else:
        other = _other(head, theirs, ours, plan)
        if theirs.get("name") != ours["name"]:
            hint = f"{away}; if `{ours['name']}` is that study with another name, what makes other runs of it is that {other}"
            raise DatasetError(f"{head.directory} holds results of another study: of `{theirs.get('name')}`, not of `{ours['name']}`", hint)
        what = f"another version of this study: {other}"
    raise DatasetError(f"{head.directory} holds results of {what}", away)


def _changed(head: Head, manifest: Mapping[str, Any], study: Study) -> dict[str, Any] | None:
    """The entry for a text of a study that is taken over into results that have runs; None if it is the same."""
    text = None if heads.STUDY in head.damaged else read_bytes(head.directory / heads.STUDY)
    was = head.manifest
    if was is None:
        if text is None:
            return None
        # Of a damaged manifest the study's own text is known still.
        was = {**manifest, "study_sha256": digest(text)}
    # Where both are damaged nobody knows whether this is what was run: what is no text is not read as one.
    before = None if text is None else text.decode(errors="replace")
    return changes.change(was, before, manifest, study.document.text, changes.now())


def _other(head: Head, theirs: Mapping[str, Any], ours: Mapping[str, Any], plan: Plan) -> str:
    """What makes other runs of a plan: the first difference of the files, or of the options; it is not the name that does."""
    text = read_bytes(head.directory / heads.STUDY)
    # What is damaged is not what was run.
    if digest(text) == theirs["study_sha256"] and (found := difference(text.decode(), plan.study.document)):
        return str(found)
    if theirs.get("options") != ours["options"]:
        return f"options (`--set`) were {', '.join(f'`{each}`' for each in theirs.get('options', [])) or 'none'}"
    runs = "other scenarios, seeds or draws" if theirs.get("runs") == ours["runs"] else f"{theirs.get('runs')} runs, not {ours['runs']}"
    return f"{runs} (--short, or a file that it names has changed)"


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


def _as_json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"
