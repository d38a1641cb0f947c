"""Which files reports have made in a directory: those that a later one no longer has are removed, and nothing else is.

The list stands beside the page, as `sha256sum` writes it. A file that is not on it, or not as it was made, is somebody's own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from sawtooth.results.sums import digest
from sawtooth.storage import read_bytes, write_atomically

LIST = "files.sha256"
_LINE = re.compile(r"([0-9a-f]{64})  ((?:figures|tables)/[^/\n]+)")


def renew(directory: Path, made: Mapping[str, str], shown: Collection[str], parts: Collection[str]) -> None:
    """Removes what earlier reports made and this one has not, and notes what it made.

    Args:
        directory: of the report.
        made: the SHA-256 of what this report wrote into figures/ and tables/, by the path from `directory`.
        shown: the names of its figures and tables, such as `figures/rates`: what an earlier report made of them in other formats stays.
        parts: which of `figures` and `tables` it wrote.

    """
    listed = _listed(directory)
    for name, made_as in list(listed.items()):
        path = directory / name
        gone = name.partition("/")[0] in parts and name not in made and name.rpartition(".")[0] not in shown
        if _digest(path) != made_as:
            # It was changed or removed since: nobody's but whose it is now.
            del listed[name]
        elif gone:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            del listed[name]
    listed.update(made)
    if listed:
        write_atomically(directory / LIST, "".join(f"{made_as}  {name}\n" for name, made_as in sorted(listed.items())).encode())


def _listed(directory: Path) -> dict[str, str]:
    lines = read_bytes(directory / LIST).decode(errors="replace").splitlines()
    return {found[2]: found[1] for line in lines if (found := _LINE.fullmatch(line)) is not None}


def _digest(path: Path) -> str:
    """Of a plain file; a link is somebody's own, wherever it leads."""
    return "" if path.is_symlink() else digest(read_bytes(path))
