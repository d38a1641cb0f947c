"""Files that other programs write, read as what Sawtooth's own tables are: iperf3's JSON and flent's data files."""

from __future__ import annotations

from pathlib import Path

from sawtooth.errors import FileUnreadable
from sawtooth.foreign import flent, iperf3, jsontext
from sawtooth.foreign.measured import Measured, as_csv

__all__ = ["Measured", "Unknown", "as_csv", "program", "read"]
_READERS = {"iperf3": iperf3, "flent": flent}


class Unknown(FileUnreadable):
    """A file is JSON, and of no program that is known here."""


def read(path: Path) -> Measured:
    """What a file of iperf3 or flent holds; which of them wrote it is told by what is in it, not by its name.

    Args:
        path: the file, which may be compressed by gzip.

    Raises:
        Unknown: with file, line and column if it is of neither.
        FileUnreadable: likewise, if it is not as that program writes it.

    """
    source = jsontext.read(path)
    values = jsontext.values(source)
    for reader in _READERS.values():
        if reader.is_one(values):
            return reader.read(source, values)
    raise Unknown(
        f"{source.at(values[0].source.start)}: this is JSON, and of neither iperf3 nor flent",
        "what `iperf3 -J`, `iperf3 --json-stream` and flent write is read",
    )


def program(path: Path) -> str | None:
    """Which program wrote a file: `iperf3` or `flent`; None if neither did, or it cannot be read."""
    try:
        values = jsontext.values(jsontext.read(path))
    except FileUnreadable:
        return None
    return next((name for name, reader in _READERS.items() if reader.is_one(values)), None)
