"""Lists of checksums in the format of `sha256sum`: a change of any bit of what is listed, or of the list, is found.

    # batch 12 of 5f0c...                       what the files belong to
    9b74...  flows-000012.parquet
    1c09...  status-000012.parquet
    # e3b0...                                   of the lines above

`sha256sum --check` takes these files as they are: it skips comments.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sawtooth.storage import unreadable

_LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[\w.-]+)")


@dataclass(frozen=True)
class Sums:
    """Files and their SHA-256.

    Attributes:
        title: what they belong to.
        files: the digests by name. There are two while a file is being replaced: of what it was and of what it will be.

    """

    title: str
    files: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, title: str, contents: Mapping[str, bytes]) -> Sums:
        """Of what files will hold."""
        return cls(title, {name: frozenset((digest(content),)) for name, content in contents.items()})

    @classmethod
    def parse(cls, content: bytes) -> Sums:
        """Reads a list.

        Raises:
            ValueError: if it is not, to the bit, as it was written.

        """
        first, *lines, _last, _end = content.decode("ascii").split("\n")
        files: dict[str, frozenset[str]] = {}
        for line in lines:
            found = _LINE.fullmatch(line)
            if found is None:
                raise ValueError(line)
            files[found["name"]] = files.get(found["name"], frozenset()) | {found["digest"]}
        made = cls(first.removeprefix("# "), files)
        if made.render() != content:
            raise ValueError("it is not as it was written")
        return made

    def render(self) -> bytes:
        """The list's text."""
        lines = [f"{each}  {name}\n" for name in sorted(self.files) for each in sorted(self.files[name])]
        body = "".join([f"# {self.title}\n", *lines]).encode()
        return body + f"# {digest(body)}\n".encode()

    def merged(self, other: Sums) -> Sums:
        """Both: either content of a file is as it should be."""
        names = self.files.keys() | other.files.keys()
        return Sums(self.title, {name: self.files.get(name, frozenset()) | other.files.get(name, frozenset()) for name in names})


class Digests:
    """Digests of the files of a directory, each worked out once as long as the file stays the same."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)
        self._known: dict[str, tuple[tuple[int, int, int], str]] = {}

    def of(self, name: str) -> str | None:
        """The digest of a file; nothing if there is none, or it cannot be read.

        Raises:
            DatasetError: if it is there and may not be read: that is no damage.

        """
        try:
            # By texts: whoever opens results asks for hundreds of files, and of paths most of it would be making them.
            found = os.stat(path := f"{self._directory}/{name}")  # noqa: PTH116
            if not stat.S_ISREG(found.st_mode):  # whoever reads a pipe may wait for ever
                return None
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if name not in self._known or self._known[name][0] != seen:
                with Path(path).open("rb") as file:
                    self._known[name] = seen, hashlib.file_digest(file, "sha256").hexdigest()
        except PermissionError:
            raise unreadable(Path(self._directory, name)) from None
        except OSError:
            return None
        return self._known[name][1]


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
