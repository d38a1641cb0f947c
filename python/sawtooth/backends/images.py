"""What a guest boots from, made without root: archives for its first file system.

The kernel unpacks archives one after the other, so there are two: a base with the agent as init, programs and modules, cached by
its content, and a small one with a batch's jobs.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth.backends import modules
from sawtooth.storage import cache

_DIRECTORY, _EXECUTABLE, _PLAIN, _CONSOLE = 0o40755, 0o100755, 0o100644, 0o020600
_DIRECTORIES = ("dev", "jobs", "modules", "proc", "share", "sys", "tmp")


@dataclass(frozen=True)
class File:
    """A file of a guest: where it is there, and on this machine."""

    name: str
    source: Path
    executable: bool = False

    def content(self) -> bytes:
        """What is in it."""
        return modules.content(self.source) if self.name.startswith("modules/") else self.source.read_bytes()


def base(files: Sequence[File]) -> Path:
    """The archive of the files, all of them under `_DIRECTORIES` or their own; made if it is not there."""
    entries = [
        (file.name, _EXECUTABLE if file.executable else _PLAIN, file.content()) for file in sorted(files, key=lambda file: file.name)
    ]
    entries = [("dev/console", _CONSOLE, b""), *entries]
    parents = {str(parent) for name, _, _ in entries for parent in Path(name).parents} - {"."}
    directories = [(name, _DIRECTORY, b"") for name in sorted({*_DIRECTORIES, *parents})]
    plain = _archive([*directories, *entries])
    path = cache() / "images" / f"{hashlib.sha256(plain).hexdigest()[:32]}.cpio.gz"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as temporary:
            # Little effort: an emulated machine unpacks it.
            temporary.write(gzip.compress(plain, 1, mtime=0))
        Path(temporary.name).replace(path)
    return path


def batch(jobs: Mapping[str, object], load: Iterable[Path], results: str) -> bytes:
    """The archive of jobs, of the order in which modules are loaded, and of where the results go."""
    lines = "".join(f"{modules.module_name(path)}\n" for path in load)
    entries = [("load", _PLAIN, lines.encode()), ("results", _PLAIN, results.encode())]
    entries += [(f"jobs/{name}", _PLAIN, json.dumps(job, sort_keys=True).encode()) for name, job in jobs.items()]
    return gzip.compress(_archive(entries), 1, mtime=0)


def _archive(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    return b"".join(_entry(at, *entry) for at, entry in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1))


def _entry(inode: int, name: str, mode: int, data: bytes) -> bytes:
    """One file of a cpio archive in the `newc` format (Documentation/driver-api/early-userspace/buffer-format.rst of Linux)."""
    device = (5, 1) if mode == _CONSOLE else (0, 0)
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
