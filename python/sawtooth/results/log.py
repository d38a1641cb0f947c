"""The log: a line of JSON for each batch, which ends in a checksum of its own."""

from __future__ import annotations

import json
import re
import time
import zlib
from pathlib import Path
from typing import Any

from sawtooth.storage import append, write_atomically

_CHECKED = re.compile(rb'(?P<body>\{.*), "check": "(?P<check>[0-9a-f]{8})"\}\n')


def add(path: Path, entry: dict[str, Any]) -> None:
    """Adds a line."""
    body = json.dumps({"time": time.time(), **entry}).encode()[:-1]
    append(path, body + b', "check": "%08x"}\n' % zlib.crc32(body))


def add_all(path: Path, source: Path) -> None:
    """Adds the lines of another log that are not there yet."""
    had = set(_lines(path))
    for line in _lines(source):
        if _whole(line) and line not in had:
            append(path, line)


def damaged(path: Path) -> list[int]:
    """The numbers, from 1, of lines that are not as they were written."""
    return [number for number, line in enumerate(_lines(path), 1) if not _whole(line)]


def leave_out_damaged(path: Path) -> list[int]:
    """Removes them, and says which they were."""
    found = damaged(path)
    if found:
        write_atomically(path, b"".join(line for line in _lines(path) if _whole(line)))
    return found


def _lines(path: Path) -> list[bytes]:
    """With their ends: one without was not finished, or is not as it was written."""
    return re.findall(rb"[^\n]*\n|[^\n]+", path.read_bytes()) if path.is_file() else []


def _whole(line: bytes) -> bool:
    found = _CHECKED.fullmatch(line)
    return found is not None and b"%08x" % zlib.crc32(found["body"]) == found["check"]
