"""Hashes of the records of every study's short form on the simulator, and of the golden files: no result changes unsaid.

`records.txt` has a hash for each column of each table of each study, and for each row of each golden file. Columns are hashed by their
values in the order of runs, so that neither threads nor machines nor versions of Parquet matter.

Beside each hash stands the entry under "Changed results" in the changelog that last changed it, or `-` if none has. The hash is of this
name, too: a hash that changes without another entry is not just another number to be copied, and `python -m tests.guards records`, which
writes the file, asks for an entry that the changelog has.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl

import sawtooth
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("records.txt")
CHANGELOG = ROOT / "CHANGELOG.md"
GOLDEN = ROOT / "crates/sawtooth-core/tests/golden"
HEAD = '# Hashes of records, each beside the entry under "Changed results" that last changed it: see docs/development/guards.md.\n'
RENEW = 'put `- [ENTRY] what changed, and why` under "Changed results" in CHANGELOG.md and run `make records ENTRY=ENTRY`'
FIRST = "-"

Digests = Mapping[str, str]
"""Of each column, or row of a golden file, what its content hashes to."""


@dataclass(frozen=True)
class Row:
    """What the file says of one column: the entry that last changed it, and the hash of that name and its content."""

    entry: str
    sealed: str

    @classmethod
    def of(cls, entry: str, digest: str) -> Row:
        return cls(entry, hashlib.sha256(f"{entry} {digest}".encode()).hexdigest()[:12])

    def holds(self, digest: str) -> bool:
        return self == Row.of(self.entry, digest)


Rows = dict[str, dict[str, Row]]
"""The file: of each study or golden file its rows."""


# --- what there is


def studies() -> dict[str, Path]:
    """The studies whose backend is the simulator, by the names that the file gives them."""
    return {name: path for name, path in shipped.studies().items() if tomllib.loads(path.read_text()).get("backend", "sim") == "sim"}


def of_dataset(dataset: Dataset) -> Digests:
    """The digest of every column of every table, by `table.column`."""
    names = sorted({path.name.rsplit("-", 1)[0] for path in (dataset.directory / "parts").glob("*.parquet")} - {"status"})
    tables = {name: dataset.table(name).collect().sort("run", maintain_order=True) for name in names}
    return {f"{name}.{column.name}": _of_column(column) for name, frame in tables.items() for column in frame.iter_columns()}


def _of_column(column: pl.Series) -> str:
    digest = hashlib.sha256(f"{column.dtype} {len(column)}\n".encode())
    digest.update(column.is_null().to_numpy().tobytes())
    if column.dtype == pl.String:
        # Lengths, so that no two columns have the same text.
        digest.update(column.str.len_bytes().fill_null(0).to_numpy().astype("<u4").tobytes())
        digest.update("".join(column.fill_null("").to_list()).encode())
    else:
        values = column.fill_null(0)
        # One of the many that are not a number.
        values = values.fill_nan(float("nan")) if column.dtype.is_float() else values
        digest.update(values.to_numpy().astype(values.to_numpy().dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def of_golden(text: str) -> Digests:
    """The digest of every row of a golden file, over all its sections, by what the row begins with: stack, recovery, congestion control."""
    content: dict[str, list[str]] = {}
    label = "heading"
    for line in text.splitlines():
        begins = re.match(r"((?:ns2|rfc|linux(?:-\d[\d.]*)?)(?: [a-z]\w*)+)", line)
        # What is indented goes on with the row above.
        label = begins[1] if begins else label if line.startswith(" ") else "heading"
        content.setdefault(label, []).append(line)
    return {label: hashlib.sha256("\n".join(lines).encode()).hexdigest() for label, lines in content.items()}


def golden() -> dict[str, Digests]:
    """All golden files."""
    return {f"golden/{path.name}": of_golden(path.read_text()) for path in sorted(GOLDEN.glob("*.txt"))}


# --- what the file says of it


def read(text: str) -> Rows:
    """The file's rows."""
    rows: Rows = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            rows[name] = {}
        elif line and not line.startswith("#"):
            sealed, entry, what = line.split(maxsplit=2)
            rows[name][what] = Row(entry, sealed)
    return rows


def show(rows: Rows) -> str:
    """The text of the file."""
    blocks = (
        f"\n[{name}]\n" + "".join(f"{row.sealed} {row.entry} {what}\n" for what, row in sorted(rows[name].items())) for name in sorted(rows)
    )
    return HEAD + "".join(blocks)


def faults(name: str, digests: Digests, rows: Rows) -> list[str]:
    """What of a study or golden file is not as the file says, and what to do."""
    known = rows.get(name, {})
    changed = [what for what, digest in digests.items() if what in known and not known[what].holds(digest)]
    said: list[str] = []
    if changed:
        said.append(f"{name}: {', '.join(changed)} changed: if that is meant, {RENEW}")
    if new := sorted(set(digests) - set(known)):
        said.append(f"{name}: {', '.join(new)} has no hash yet: run `make records`")
    if gone := sorted(set(known) - set(digests)):
        said.append(f"{name}: {', '.join(gone)} is there no more: run `make records`")
    return said


def unnamed(rows: Rows, changelog: str) -> list[str]:
    """Entries that rows name and the changelog does not have."""
    named = {row.entry for block in rows.values() for row in block.values()} - {FIRST}
    return sorted(named - entries(changelog))


def entries(changelog: str) -> set[str]:
    """Names of the entries under "Changed results", of whatever release: `- [name] ...`."""
    sections = re.findall(r"^### Changed results\n(.*?)(?=^##|\Z)", changelog, flags=re.MULTILINE | re.DOTALL)
    return {name for section in sections for name in re.findall(r"^- \[([\w-]+)\] ", section, flags=re.MULTILINE)}


# --- renewing it


class NotSaid(Exception):
    """Hashes changed, and no entry of the changelog says so."""


def renewed(rows: Rows, found: Mapping[str, Digests], given: Sequence[str], changelog: str) -> Rows:
    """The file that fits.

    Args:
        rows: the file as it is.
        found: what was measured.
        given: entries that say what changed, each as `NAME` or, for what a pattern fits alone, `NAME=PATTERN`; the first that fits counts.
        changelog: its text.

    Raises:
        NotSaid: if something changed that no entry says, or what says it had changed the same before.

    """
    if unknown := sorted({one.split("=")[0] for one in given} - entries(changelog)):
        raise NotSaid(f'there is no entry [{unknown[0]}] under "Changed results": {RENEW}')
    changed = {
        (name, what): _said_by(f"{name}: {what}", given)
        for name, digests in found.items()
        for what, digest in digests.items()
        if what in rows.get(name, {}) and not rows[name][what].holds(digest)
    }
    if unsaid := [f"  {name}: {what}\n" for (name, what), entry in sorted(changed.items()) if entry is None]:
        raise NotSaid(f"{len(unsaid)} hashes changed:\n{''.join(unsaid)}{RENEW}")
    if again := [(name, what) for (name, what), entry in sorted(changed.items()) if rows[name][what].entry == entry]:
        name, what = again[0]
        raise NotSaid(f"[{rows[name][what].entry}] has changed `{name}: {what}` once already: a further change needs an entry of its own")
    after: Rows = {}
    for name, digests in found.items():
        before = rows.get(name, {})
        after[name] = {
            what: Row.of(entry, digest) if (entry := changed.get((name, what))) else before.get(what, Row.of(FIRST, digest))
            for what, digest in digests.items()
        }
    return after


def _said_by(change: str, given: Sequence[str]) -> str | None:
    for one in given:
        entry, _, pattern = one.partition("=")
        if fnmatchcase(change, pattern or "*"):
            return entry
    return None


def measured() -> dict[str, Digests]:
    """What the file is to say: runs every study's short form."""
    found = golden()
    for name, path in studies().items():
        with tempfile.TemporaryDirectory() as out:
            found[name] = of_dataset(sawtooth.run(path, Path(out) / "out", short=True))
    return found
