"""The parts of a results directory: a file per table and batch, and per batch a list of their checksums.

The list is written last and names the plan, so a batch is done when its list is there, is of this plan, and every file in it is as it
was written. Whatever no list names is not read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.results.folder import Directory, Folder
from sawtooth.results.sums import Digests, Sums
from sawtooth.storage import is_temporary, read_bytes, remove_leftovers, unreadable

_PART = re.compile(r"(?P<table>\w+)-(?P<batch>\d{6,})\.parquet")
_LIST = re.compile(r"batch-(?P<batch>\d{6,})\.sha256")
_MANY = 3


@dataclass(frozen=True)
class Shelf:
    """Where whoever did a batch stores it: all that a worker has to know of the results.

    Attributes:
        folder: the parts.
        owner: what the batches are of: the hash of the plan.

    """

    folder: Folder
    owner: str

    def write(self, batch: int, frames: Mapping[str, pl.DataFrame]) -> None:
        """Stores a batch, or another content of it: killed at any moment, every file is as it was or as it will be.

        Raises:
            DatasetError: if the disk is full or the folder cannot be written; what was stored before stays.

        """
        contents = {f"{name}-{batch:06d}.parquet": as_parquet(frame) for name, frame in frames.items()}
        sums = Sums.of(_title(batch, self.owner), contents)
        before = self._list(batch)
        if before is not None:
            self.folder.write(_list_name(batch), before.merged(sums).render())
        for name, content in contents.items():
            self.folder.write(name, content)
        self.folder.write(_list_name(batch), sums.render())
        for name in () if before is None else before.files.keys() - contents.keys():
            self.folder.remove(name)

    def _list(self, batch: int) -> Sums | None:
        """The list of what is stored of a batch, if it is ours."""
        try:
            sums = Sums.parse(self.folder.read(_list_name(batch)))
        except ValueError:
            return None
        return sums if sums.title == _title(batch, self.owner) else None


@dataclass(frozen=True)
class _Batch:
    """What is known of a batch: its list, the names of its files that are damaged or missing, and why it is not one of ours."""

    sums: Sums | None
    damaged: list[str]
    foreign: bool = False


class Parts:
    """The folder `parts` of a results directory.

    Attributes:
        directory: the folder.
        owner: what the batches are of: the hash of the plan.
        planned: whether they can be made again.

    """

    def __init__(self, directory: Path, owner: str, *, planned: bool = True) -> None:
        self.directory = directory
        self.owner = owner
        self.planned = planned
        self.shelf = Shelf(Directory(directory), owner)
        self._digests = Digests()
        self._lists: dict[Path, tuple[str, Sums | None]] = {}

    # --- reading

    def paths(self, table: str, batch: int | None = None) -> list[Path]:
        """The parts of a table, in order, each as it was written; with `batch` that batch's alone.

        Raises:
            DatasetError: if one is not.

        """
        found: list[Path] = []
        damaged: list[str] = []
        for each in self.batches if batch is None else [batch]:
            name = f"{table}-{each:06d}.parquet"
            state = self._examine(each, only=name)
            damaged += state.damaged
            if state.sums is not None and name in state.sums.files:
                found.append(self.directory / name)
        self._require_none(damaged)
        return found

    @property
    def tables(self) -> set[str]:
        """Names of the tables that batches have, `status` among them."""
        lists = (self._list(batch) for batch in self.batches)
        return {name.rpartition("-")[0] for sums in lists if sums is not None for name in sums.files}

    def checksums(self) -> list[str]:
        """One line per part that was written: its name and its checksum, or those that it may have."""
        lists = (self._list(batch) for batch in self.batches)
        return sorted(f"{name} {' '.join(sorted(found))}" for sums in lists if sums is not None for name, found in sums.files.items())

    def listed(self, batch: int) -> Sums | None:
        """The checksums of a batch of ours that was stored."""
        return self._examine(batch, only="").sums

    def copy(self, batch: int, source: Parts) -> None:
        """Stores a batch as another folder has it, with its list last."""
        sums = source.listed(batch)
        assert sums is not None
        for name in sorted(sums.files):
            self.shelf.folder.write(name, read_bytes(source.directory / name))
        self.shelf.folder.write(_list_name(batch), sums.render())

    def check(self) -> None:
        """Looks at every bit of every batch.

        Raises:
            DatasetError: if a part is damaged or missing.

        """
        self._require_none([name for batch in self.batches for name in self._examine(batch).damaged])

    def strays(self, batches: int | None) -> list[str]:
        """The names of files that are of no batch of this plan. They are not read, and stay.

        Args:
            batches: how many batches there are to be, if that is known.

        """
        listed: dict[int, Sums | None] = {batch: self._examine(batch, only="").sums for batch in self.batches}
        strays: list[str] = []
        for name in self._names():
            found = _PART.fullmatch(name) or _LIST.fullmatch(name)
            batch = int(found["batch"]) if found else -1
            sums = listed.get(batch)
            if found is None:
                stray = not is_temporary(name)
            elif sums is None:
                # Of a batch in progress, or of one that was not finished, unless there is no such batch.
                stray = batch in listed or (batches is not None and batch >= batches)
            else:
                stray = name not in sums.files and name != _list_name(batch)
            if stray:
                strays.append(name)
        return strays

    @property
    def owners(self) -> set[str]:
        """What the batches in this folder are of, whether they are ours or not."""
        lists = (self._list(batch) for batch in self.batches)
        return {sums.title.partition(" of ")[2] for sums in lists if sums is not None}

    @property
    def empty(self) -> bool:
        """Whether no part is there."""
        return not any(_PART.fullmatch(name) or _LIST.fullmatch(name) for name in self._names())

    @property
    def next_batch(self) -> int:
        """The number after the last that was used."""
        return 1 + max((int(found["batch"]) for name in self._names() if (found := _PART.fullmatch(name))), default=-1)

    # --- writing

    def settle(self, batches: Iterable[int]) -> tuple[set[int], list[str]]:
        """Which of `batches` are done, and the names of files that were damaged, missing or foreign; what is not done has no files then."""
        remove_leftovers(self.directory)
        by_batch: dict[int, list[str]] = {}
        for name in self._names():
            if found := _PART.fullmatch(name) or _LIST.fullmatch(name):
                by_batch.setdefault(int(found["batch"]), []).append(name)
        done: set[int] = set()
        damaged: list[str] = []
        for batch in batches:
            state = self._examine(batch)
            damaged += [*state.damaged, *([_list_name(batch)] if state.foreign else [])]
            if state.sums is not None and not state.damaged:
                done.add(batch)
                continue
            # The list goes first: what has none is of a batch that was not finished.
            for name in sorted(by_batch.get(batch, ()), key=lambda name: name != _list_name(batch)):
                (self.directory / name).unlink(missing_ok=True)
        return done, damaged

    def write(self, batch: int, frames: Mapping[str, pl.DataFrame]) -> None:
        """Stores a batch, or another content of it: see `Shelf`."""
        self.shelf.write(batch, frames)

    # --- helpers

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.directory.iterdir()) if self.directory.is_dir() else []
        except PermissionError:
            raise unreadable(self.directory) from None

    @property
    def batches(self) -> list[int]:
        """The numbers of the batches that have a list."""
        return sorted(int(found["batch"]) for name in self._names() if (found := _LIST.fullmatch(name)))

    def _list(self, batch: int) -> Sums | None:
        """A batch's list; nothing if it is not there or not as it was written."""
        path = self.directory / _list_name(batch)
        seen = self._digests.of(path)
        if seen is None:
            return None
        if path not in self._lists or self._lists[path][0] != seen:
            try:
                self._lists[path] = seen, Sums.parse(path.read_bytes())
            except (OSError, ValueError):
                self._lists[path] = seen, None
        return self._lists[path][1]

    def _examine(self, batch: int, *, only: str | None = None) -> _Batch:
        """Compares a batch, or one file of it, with its list."""
        name = _list_name(batch)
        while True:
            sums = self._list(batch)
            if sums is None:
                return _Batch(None, [name] if (self.directory / name).exists() else [])
            if sums.title != _title(batch, self.owner):
                return _Batch(None, [], foreign=True)
            chosen = sums.files if only is None else {only} & sums.files.keys()
            damaged = [each for each in sorted(chosen) if self._digests.of(self.directory / each) not in sums.files[each]]
            # Who stores another content of a batch changes its list first: then what does not match is no damage.
            if not damaged or self._list(batch) is sums:
                return _Batch(sums, damaged)

    def _require_none(self, damaged: list[str]) -> None:
        if not damaged:
            return
        names = ", ".join(damaged[:_MANY]) + (f" and {len(damaged) - _MANY} more" if len(damaged) > _MANY else "")
        are = "is damaged or missing" if len(damaged) == 1 else "are damaged or missing"
        raise DatasetError(
            f"of the parts in {self.directory} {names} {are}",
            "run the study again into this directory: it makes damaged parts anew"
            if self.planned
            else "what was watched cannot be watched again: without the file batch-NNNNNN.sha256 of that number it is left out",
        )


def as_parquet(frame: pl.DataFrame) -> bytes:
    """A frame as the content of a file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()


def is_list(name: str) -> bool:
    """Whether a file is a batch's list."""
    return _LIST.fullmatch(name) is not None


def _title(batch: int, owner: str) -> str:
    return f"batch {batch} of {owner}"


def _list_name(batch: int) -> str:
    return f"batch-{batch:06d}.sha256"
