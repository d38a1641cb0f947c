"""Batches that are done, put together in fewer and larger files: a plan of a million runs has thousands of them, each with a file per table.

    flows-000000-000099.parquet     the rows of consecutive batches, in order; a file per table
    index-000000-000099.parquet     what was packed: batch, name, SHA-256 and number of rows of each part
    pack-000000-000099.sha256       checksums of these; written last

What a pack's list names is read instead of the parts of which it was made, which may be there still. Every part can be made of the pack again, to the
byte: what cannot is not packed. So the hash of the results, merging, and doing a batch once more are as they were.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sawtooth.results.sums import Digests, Sums, digest
from sawtooth.storage import read_bytes, write_atomically

FILE = re.compile(r"(?P<table>\w+)-(?P<first>\d{6,})-(?P<last>\d{6,})\.parquet")
LIST = re.compile(r"pack-(?P<first>\d{6,})-(?P<last>\d{6,})\.sha256")
_INDEX = "index"
# A pack is made of parts of so many bytes and rows at most, which are in memory, unpacked, a few times; and of so many batches.
_BYTES, _ROWS, _BATCHES = 16e6, 500_000, 1000


@dataclass(frozen=True)
class Pack:
    """Consecutive batches in one file per table.

    Attributes:
        directory: where its files are.
        span: how its files are named, such as `000000-000099`.
        sums: their checksums.
        batches: the list of each batch, as it was.
        places: of each part, by its name, the first of its rows in the file of its table, and how many there are.

    """

    directory: Path
    span: str
    sums: Sums
    batches: Mapping[int, Sums]
    places: Mapping[str, tuple[int, int]]

    @property
    def list_name(self) -> str:
        """Of its checksums."""
        return f"pack-{self.span}.sha256"

    def file(self, table: str) -> str:
        """The name of a table's file."""
        return f"{table}-{self.span}.parquet"

    def part(self, name: str) -> bytes:
        """A part as it was before it was packed."""
        first, rows = self.places[name]
        return as_parquet(pl.scan_parquet(self.directory / self.file(_table(name))).slice(first, rows).collect())


def read(directory: Path, name: str, owner: str, digests: Digests) -> Pack | None:
    """The pack of a list; nothing if it is of other results, or it or its index is not as it was written."""
    found = LIST.fullmatch(name)
    assert found is not None
    span = f"{found['first']}-{found['last']}"
    try:
        sums = Sums.parse(read_bytes(directory / name))
    except ValueError:
        return None
    index = f"{_INDEX}-{span}.parquet"
    if sums.title != _title(span, owner) or digests.of(index) not in sums.files.get(index, ()):
        return None
    files: dict[int, dict[str, frozenset[str]]] = {}
    places: dict[str, tuple[int, int]] = {}
    ends: dict[str, int] = {}
    for batch, part, checksum, rows in pl.read_parquet(io.BytesIO(read_bytes(directory / index))).iter_rows():
        files.setdefault(batch, {})[part] = frozenset((checksum,))
        start = ends.get(_table(part), 0)
        places[part], ends[_table(part)] = (start, rows), start + rows
    batches = {batch: Sums(title(batch, owner), listed) for batch, listed in files.items()}
    return Pack(directory, span, sums, batches, places)


def groups(directory: Path, lists: Mapping[int, Sums]) -> list[list[int]]:
    """Which batches are packed together: consecutive ones, as many as are not too much to have in memory, and at least two."""
    made: list[list[int]] = []
    filled = rows = 0.0
    for batch, sums in sorted(lists.items()):
        # What is being replaced has two contents.
        if any(len(found) > 1 for found in sums.files.values()):
            continue
        size = sum((directory / name).stat().st_size for name in sums.files)
        # Rows that are alike take hardly any bytes.
        height = sum(pl.scan_parquet(directory / name).select(pl.len()).collect().item() for name in sums.files)
        if not made or made[-1][-1] + 1 != batch or filled + size > _BYTES or rows + height > _ROWS or len(made[-1]) >= _BATCHES:
            made.append([])
            filled = rows = 0.0
        made[-1].append(batch)
        filled, rows = filled + size, rows + height
    return [group for group in made if len(group) > 1]


def make(directory: Path, owner: str, lists: Mapping[int, Sums]) -> bool:
    """Writes a pack of batches, its list last; whether each part can be made of it again, or else nothing is written."""
    span = f"{min(lists):06d}-{max(lists):06d}"
    frames: dict[str, list[pl.DataFrame]] = {}
    rows: list[tuple[int, str, str, int]] = []
    for batch, sums in sorted(lists.items()):
        for name, (checksum,) in sorted(sums.files.items()):
            frame = pl.read_parquet(io.BytesIO(read_bytes(directory / name)))
            frames.setdefault(_table(name), []).append(frame)
            rows.append((batch, name, checksum, frame.height))
    try:
        tables = {table: pl.concat(some) for table, some in frames.items()}
    except pl.exceptions.PolarsError:
        # Columns of another version.
        return False
    contents = {f"{table}-{span}.parquet": as_parquet(frame) for table, frame in tables.items()}
    if not _same(contents, span, rows):
        return False
    schema = {"batch": pl.UInt32, "name": pl.String, "sha256": pl.String, "rows": pl.UInt32}
    contents[f"{_INDEX}-{span}.parquet"] = as_parquet(pl.DataFrame(rows, schema=schema, orient="row"))
    for name, content in contents.items():
        write_atomically(directory / name, content)
    write_atomically(directory / f"pack-{span}.sha256", Sums.of(_title(span, owner), contents).render())
    return True


def _same(contents: Mapping[str, bytes], span: str, rows: Sequence[tuple[int, str, str, int]]) -> bool:
    """Whether parts made of what is going to be written are what they were: another version of polars may write the same rows otherwise."""
    tables = {table: pl.read_parquet(io.BytesIO(contents[f"{table}-{span}.parquet"])) for table in {_table(row[1]) for row in rows}}
    ends = dict.fromkeys(tables, 0)
    for _, name, checksum, height in rows:
        table = _table(name)
        if digest(as_parquet(tables[table].slice(ends[table], height))) != checksum:
            return False
        ends[table] += height
    return True


def as_parquet(frame: pl.DataFrame) -> bytes:
    """A frame as the content of a file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()


def title(batch: int, owner: str) -> str:
    """What the list of a batch says that it is."""
    return f"batch {batch} of {owner}"


def _title(span: str, owner: str) -> str:
    return f"pack {span} of {owner}"


def _table(part: str) -> str:
    return part.rpartition("-")[0]
