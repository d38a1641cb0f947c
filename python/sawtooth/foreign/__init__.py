"""Files that other programs write, read as what Sawtooth's own tables are: iperf3's JSON and flent's data files."""

from __future__ import annotations

from pathlib import Path

from sawtooth.errors import FileUnreadable
from sawtooth.foreign import flent, iperf3, jsontext
from sawtooth.foreign.jsontext import is_json
from sawtooth.foreign.measured import Measured, as_csv

__all__ = ["Measured", "as_csv", "is_json", "read"]


def read(path: Path) -> Measured:
    """What a file of iperf3 or flent holds; which of them wrote it is told by what is in it, not by its name.

    Args:
        path: the file, which may be compressed by gzip.

    Raises:
        FileUnreadable: with file, line and column if it is of neither, or not as that program writes it.

    """
    source = jsontext.read(path)
    values = jsontext.values(source)
    for reader in (iperf3, flent):
        if reader.is_one(values):
            return reader.read(source, values)
    raise FileUnreadable(
        f"{source.at(values[0].source.start)}: this is JSON, and of neither iperf3 nor flent",
        "what `iperf3 -J`, `iperf3 --json-stream` and flent write is read",
    )
