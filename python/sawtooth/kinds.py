"""What a path that a user names is: commands take several kinds of files, and each is recognised here alone."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from sawtooth.foreign.jsontext import is_json

CAPTURES = (".pcap", ".pcapng", ".cap")
"""How the names of captures end."""


_BEGINNINGS = tuple(bytes.fromhex(each) for each in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))
"""Of pcapng, and of pcap in both orders of bytes, with microseconds and nanoseconds."""


class Kind(Enum):
    """What a path may be."""

    DIRECTORY = auto()
    CAPTURE = auto()
    """By its name or its first bytes, or a file of no other kind."""
    STUDY = auto()
    TABLE = auto()
    """Of published numbers (CSV)."""
    JSON = auto()
    """What iperf3 or flent wrote, or other JSON: `foreign.program` reads it and tells."""
    NOTHING = auto()
    """Not there, or no regular file."""


def kind(path: Path) -> Kind:
    """What a path is, by its name and by how it begins."""
    if path.suffix in CAPTURES and not path.is_dir():
        return Kind.CAPTURE
    if path.is_dir():
        return Kind.DIRECTORY
    if not path.is_file():
        return Kind.NOTHING
    if is_json(path):
        return Kind.JSON
    if path.suffix in (".csv", ".toml") and _head(path) in _BEGINNINGS:
        return Kind.CAPTURE
    return {".csv": Kind.TABLE, ".toml": Kind.STUDY}.get(path.suffix, Kind.CAPTURE)


def _head(path: Path) -> bytes:
    """How a file begins; as a text would that may not be read."""
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError:
        return b" "
