"""Results at a URL: workers write parts there, and whoever reads them works on a copy.

The copy is in the cache. Head, lists and parts are the same files as in a directory, and the same checksums say whether what is in the copy is what
is there, so that only what is lacking is fetched. One command at a time writes to a URL (`lease`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Generator, Iterable
from pathlib import Path

from sawtooth.errors import DatasetError
from sawtooth.results import head as heads
from sawtooth.results import packs
from sawtooth.results.folder import Objects
from sawtooth.results.lease import lease
from sawtooth.results.lock import lock
from sawtooth.results.parts import Parts, Shelf, is_list
from sawtooth.results.sums import digest
from sawtooth.storage import cache, read_bytes, write_atomically

# So many files are fetched side by side, and are in memory meanwhile.
_MANY = 64
# The log is written there once it has grown by this share: an object cannot be added to.
_GROWN = 0.1


class Remote:
    """A URL, and the copy of what is there.

    Attributes:
        objects: what is there.
        directory: the copy.

    """

    def __init__(self, url: str) -> None:
        self.objects = Objects(url)
        self.directory = cache() / "remote" / digest(url.encode())[:16]
        self._log_bytes = 0

    def pull(self, log: str) -> None:
        """Fetches the files at the top; what is not there is not in the copy either."""
        names = (heads.STUDY, heads.RUNS, heads.KERNELS, heads.SUMS, heads.MANIFEST, log)
        (self.directory / "parts").mkdir(parents=True, exist_ok=True)
        found = self.objects.read_many(names)
        for name in names:
            _copy(self.directory / name, found.get(name))

    def push(self, names: Iterable[str]) -> None:
        """Writes files of the copy there, the manifest last: with it the head is complete."""
        for name in sorted(names, key=lambda name: name == heads.MANIFEST):
            self.objects.write(name, read_bytes(self.directory / name))

    def log_grew(self, name: str, *, ends: bool = False) -> None:
        """Writes the log there, if it has grown enough, or nothing will come any more."""
        path = self.directory / name
        size = path.stat().st_size if path.is_file() else 0
        if size > self._log_bytes and (ends or size > (1 + _GROWN) * self._log_bytes):
            self.push([name])
            self._log_bytes = size

    @contextlib.contextmanager
    def lock(self, log: str, *, wait: bool) -> Generator[None]:
        """Makes this process the only one that writes to the copy, and to the URL."""
        with lock(self.directory, wait=wait), lease(self.objects, wait=wait):
            # Who held it has written.
            self.pull(log)
            try:
                yield
            finally:
                self.log_grew(log, ends=True)

    def parts(self, owner: str, *, planned: bool) -> RemoteParts:
        """Its parts."""
        return RemoteParts(self.objects / "parts", self.directory / "parts", owner, planned=planned)


class RemoteParts(Parts):
    """Parts at a URL: what is asked for is fetched before."""

    def __init__(self, objects: Objects, directory: Path, owner: str, *, planned: bool) -> None:
        super().__init__(directory, owner, planned=planned)
        self.shelf = Shelf(objects, owner)
        self._objects = objects
        self._marks: dict[str, str] = {}

    def renewed(self) -> RemoteParts:
        """The same, with the lists that are there now."""
        self._renew()
        return self

    def paths(self, table: str, batch: int | None = None) -> list[Path]:
        """See `Parts`."""
        self._renew()
        self._fetch(table, self.batches if batch is None else [batch])
        return super().paths(table, batch)

    def check(self) -> None:
        """See `Parts`."""
        self._renew()
        self._fetch(None, self.batches)
        super().check()

    def settle(self, batches: Iterable[int]) -> tuple[set[int], list[str]]:
        """See `Parts`; that files are there is enough, since stores keep what they have got, and nothing is fetched for it."""
        names = self._renew()
        done: set[int] = set()
        damaged: list[str] = []
        for batch in batches:
            sums = self.listed(batch)
            gone = [] if sums is None else sorted(sums.files.keys() - names)
            damaged += gone
            if sums is not None and not gone:
                done.add(batch)
        return done, damaged

    def copy(self, batch: int, source: Parts) -> None:
        """See `Parts`."""
        super().copy(batch, source)
        self._renew()

    def _renew(self) -> Collection[str]:
        """Fetches the lists that are other than they were; the names of all files that are there."""
        marks = self._objects.marks()
        if any(packs.LIST.fullmatch(name) for name in marks):
            raise DatasetError(
                f"what is at {self._objects} is packed", "copy it to a directory, and name that: packs are read in directories"
            )
        lists = {name: mark for name, mark in marks.items() if is_list(name)}
        for path in self.directory.glob("batch-*.sha256"):
            if path.name not in lists:
                path.unlink()
        changed = [name for name, mark in lists.items() if self._marks.get(name) != mark]
        self._get(changed)
        self._marks = lists
        return marks.keys()

    def _fetch(self, table: str | None, batches: Iterable[int]) -> None:
        """Fetches the parts of a table, or of all, that are not in the copy as the lists say."""
        lacking: list[str] = []
        for batch in batches:
            sums = self.listed(batch)
            if sums is None:
                continue
            for name, digests in sums.files.items():
                if table in (None, name.rpartition("-")[0]) and digest(read_bytes(self.directory / name)) not in digests:
                    lacking.append(name)
        self._get(lacking)

    def _get(self, names: list[str]) -> None:
        for start in range(0, len(names), _MANY):
            some = names[start : start + _MANY]
            found = self._objects.read_many(some)
            for name in some:
                _copy(self.directory / name, found.get(name))


def _copy(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        write_atomically(path, content)
