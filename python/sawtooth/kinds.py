"""What a path that a user names is: commands take several kinds of files, and each is recognised here alone."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from sawtooth.foreign.jsontext import is_json

CAPTURES = (".pcap", ".pcapng", ".cap")
"""How the names of captures end."""


class Kind(Enum):
    """What a path may be."""

    DIRECTORY = auto()
    CAPTURE = auto()
    """By its name, or a file of no other kind."""
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
    return {".csv": Kind.TABLE, ".toml": Kind.STUDY}.get(path.suffix, Kind.CAPTURE)
