"""The parts of a results directory: a file per table and batch, and per batch a list of their checksums.

The list is written last and names the plan, so a batch is done when its list is there, is of this plan, and every file in it is as it
was written. Whatever no list names is not read. Batches may be packed (`packs`): then it is the pack that is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.results import packs
from sawtooth.results.folder import Directory, Folder
from sawtooth.results.lock import hold, unread
from sawtooth.results.packs import Pack, as_parquet, title
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
        sums = Sums.of(title(batch, self.owner), contents)
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
        return sums if sums.title == title(batch, self.owner) else None


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
        self._digests = Digests(directory)
        self._lists: dict[str, tuple[str, Sums | None]] = {}
        self._read: dict[str, tuple[str, Pack | None]] = {}
        self._packed: dict[int, Pack] | None = None

    # --- reading

    def paths(self, table: str, batch: int | None = None) -> list[Path]:
        """The parts of a table, in order, each as it was written; with `batch` that batch's alone.

        Raises:
            DatasetError: if one is not.

        """
        # Who packs leaves what was read before where it is.
        hold(self.directory)
        found: dict[Path, None] = {}
        damaged: dict[str, None] = {}
        for each in self.batches if batch is None else [batch]:
            name = f"{table}-{each:06d}.parquet"
            state = self._examine(each, only=name)
            damaged |= dict.fromkeys(state.damaged)
            if state.sums is not None and name in state.sums.files:
                pack = self._pack_of(each)
                found[self.directory / (pack.file(table) if pack else name)] = None
        self._require_none([*damaged, *self._unread()])
        return [*found]

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
        pack = source._pack_of(batch)
        for name in sorted(sums.files):
            self.shelf.folder.write(name, pack.part(name) if pack else read_bytes(source.directory / name))
        self.shelf.folder.write(_list_name(batch), sums.render())

    def check(self) -> None:
        """Looks at every bit of every batch.

        Raises:
            DatasetError: if a part is damaged or missing.

        """
        damaged = dict.fromkeys(name for batch in self.batches for name in self._examine(batch).damaged)
        self._require_none([*damaged, *self._unread()])

    def strays(self, batches: int | None) -> list[str]:
        """The names of files that are of no batch of this plan. They are not read, and stay.

        Args:
            batches: how many batches there are to be, if that is known.

        """
        listed: dict[int, Sums | None] = {batch: self._examine(batch, only="").sums for batch in self.batches}
        strays: list[str] = []
        packed = {name for pack in self._packs().values() for name in (pack.list_name, *pack.sums.files)}
        for name in self._names():
            # Of a pack that was not finished, or is none any more.
            if name in packed or packs.FILE.fullmatch(name):
                continue
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
        return {sums.title.partition(" of ")[2] for sums in lists if sums is not None} | ({self.owner} if self._packs() else set())

    @property
    def empty(self) -> bool:
        """Whether no part is there."""
        return not any(_PART.fullmatch(name) or _LIST.fullmatch(name) or packs.LIST.fullmatch(name) for name in self._names())

    @property
    def next_batch(self) -> int:
        """The number after the last that was used."""
        return 1 + max((int(found["batch"]) for name in self._names() if (found := _PART.fullmatch(name))), default=-1)

    # --- writing

    def settle(self, batches: Iterable[int]) -> tuple[set[int], list[str]]:
        """Which of `batches` are done, and the names of files that were damaged, missing or foreign; what is not done has no files then."""
        remove_leftovers(self.directory)
        broken = self._settle_packs()
        by_batch: dict[int, list[str]] = {}
        for name in self._names():
            if found := _PART.fullmatch(name) or _LIST.fullmatch(name):
                by_batch.setdefault(int(found["batch"]), []).append(name)
        done: set[int] = set()
        damaged: list[str] = broken
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

    # --- packing

    def pack(self) -> int:
        """Packs batches that are not packed yet; of how many it could not be done, as a part of them could not be made again to the byte.

        Killed at any moment, what is there is the same results. Parts that were packed are removed, unless another process reads them.
        """
        remove_leftovers(self.directory)
        self._settle_packs()
        packed = self._packs()
        own = {batch: sums for batch in self.batches if batch not in packed and (sums := self.listed(batch)) is not None}
        left = 0
        for group in packs.groups(self.directory, own):
            if packs.make(self.directory, self.owner, {batch: own[batch] for batch in group}):
                self._remove_packed()
            else:
                left += len(group)
        return left

    def unpack(self, batches: Iterable[int]) -> None:
        """Makes parts of the packs that some batches are in, so that each may be stored anew."""
        packed = self._packs()
        for pack in {packed[batch].span: packed[batch] for batch in batches if batch in packed}.values():
            for batch, sums in pack.batches.items():
                for name in sums.files:
                    self.shelf.folder.write(name, pack.part(name))
                self.shelf.folder.write(_list_name(batch), sums.render())
            self.shelf.folder.remove(pack.list_name)
        self._settle_packs()

    @property
    def loose(self) -> int:
        """How many batches are in no pack."""
        return len(self.batches) - len(self._packs())

    @property
    def files(self) -> int:
        """How many files there are."""
        return len(self._names())

    def _settle_packs(self) -> list[str]:
        """Removes what packing has left behind, and packs that are damaged, whose files it names: what was packed is done anew."""
        damaged: list[str] = []
        whole: set[str] = set()
        for pack in {pack.span: pack for pack in self._packs().values()}.values():
            bad = self._damaged(pack, pack.sums.files)
            damaged += bad
            whole |= set() if bad else {pack.list_name, *pack.sums.files}
        names = [name for name in self._names() if (packs.FILE.fullmatch(name) or packs.LIST.fullmatch(name)) and name not in whole]
        damaged += self._unread()
        with unread(self.directory) as alone:
            for name in sorted(names, key=lambda name: packs.LIST.fullmatch(name) is None):
                if alone or packs.LIST.fullmatch(name):
                    (self.directory / name).unlink(missing_ok=True)
        self._remove_packed()
        return damaged

    def _remove_packed(self) -> None:
        """Removes the parts of batches that are packed, unless another process may be about to read them: then a later call does."""
        packed = self._packs()
        with unread(self.directory) as alone:
            if alone and packed:
                for name in self._names():
                    found = _PART.fullmatch(name) or _LIST.fullmatch(name)
                    if found and int(found["batch"]) in packed:
                        (self.directory / name).unlink(missing_ok=True)

    def _packs(self) -> Mapping[int, Pack]:
        """The pack of each batch that is in one, as they are now."""
        found: dict[int, Pack] = {}
        for name in self._names():
            if packs.LIST.fullmatch(name) and (pack := self._pack(name)):
                found |= dict.fromkeys(pack.batches, pack)
        self._packed = found
        return found

    def _pack(self, name: str) -> Pack | None:
        seen = self._digests.of(name)
        if seen is None:
            return None
        if name not in self._read or self._read[name][0] != seen or self._read[name][1] is None:
            self._read[name] = seen, packs.read(self.directory, name, self.owner, self._digests)
        return self._read[name][1]

    def _unread(self) -> list[str]:
        """Lists of packs that are not as they were written, or whose index is not: nobody knows what is in those."""
        return [name for name in self._names() if packs.LIST.fullmatch(name) and self._pack(name) is None]

    def _pack_of(self, batch: int) -> Pack | None:
        return (self._packs() if self._packed is None else self._packed).get(batch)

    def _damaged(self, pack: Pack, names: Iterable[str]) -> list[str]:
        return [name for name in sorted(names) if self._digests.of(name) not in pack.sums.files[name]]

    # --- helpers

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self.directory)) if self.directory.is_dir() else []  # noqa: PTH208
        except PermissionError:
            raise unreadable(self.directory) from None

    @property
    def batches(self) -> list[int]:
        """The numbers of the batches that have a list, or are in a pack."""
        return sorted({int(found["batch"]) for name in self._names() if (found := _LIST.fullmatch(name))} | self._packs().keys())

    def _list(self, batch: int) -> Sums | None:
        """A batch's list; nothing if it is not there or not as it was written."""
        if pack := self._pack_of(batch):
            return pack.batches[batch]
        name = _list_name(batch)
        seen = self._digests.of(name)
        if seen is None:
            return None
        if name not in self._lists or self._lists[name][0] != seen:
            try:
                self._lists[name] = seen, Sums.parse((self.directory / name).read_bytes())
            except (OSError, ValueError):
                self._lists[name] = seen, None
        return self._lists[name][1]

    def _examine(self, batch: int, *, only: str | None = None) -> _Batch:
        """Compares a batch, or one file of it, with its list."""
        name = _list_name(batch)
        while True:
            sums = self._list(batch)
            if sums is None:
                return _Batch(None, [name] if (self.directory / name).exists() else [])
            if sums.title != title(batch, self.owner):
                return _Batch(None, [], foreign=True)
            chosen = sums.files if only is None else {only} & sums.files.keys()
            if pack := self._pack_of(batch):
                damaged = self._damaged(pack, pack.sums.files if only is None else {pack.file(_table(each)) for each in chosen})
                if not damaged or self._packs().get(batch) is pack:
                    return _Batch(sums, damaged)
                continue
            damaged = [each for each in sorted(chosen) if self._digests.of(each) not in sums.files[each]]
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


def is_list(name: str) -> bool:
    """Whether a file is a batch's list."""
    return _LIST.fullmatch(name) is not None


def _list_name(batch: int) -> str:
    return f"batch-{batch:06d}.sha256"


def _table(part: str) -> str:
    return part.rpartition("-")[0]
