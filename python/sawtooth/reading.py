"""Reading the files that a user names: regular ones, and not more of them than is asked for.

A pipe would be waited for, a device or a huge file would fill the memory. So what a path names is looked at after it was opened and before it is read.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


class Unreadable(Exception):
    """A path that cannot be read as a text: what is wrong, what to do, and where it is no text: line and column from 1, and the line as far as it is one."""

    def __init__(self, message: str, hint: str | None = None, where: tuple[int, int, str] | None = None) -> None:
        self.message = message
        self.hint = hint
        self.where = where
        super().__init__(message)


_WIDEST = 1000
"""Bytes of a line of what is no text, that are shown."""
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
}


def read(path: Path, most: float, hint: str | None = None) -> bytes:
    """What a regular file holds.

    Args:
        path: as the user wrote it.
        most: bytes that it may have.
        hint: what to do if it has more.

    Raises:
        Unreadable: if it is no regular file, or has more.
        OSError: if it cannot be opened or read.

    """
    if "\0" in str(path):
        raise Unreadable(f"{str(path)!r} cannot name a file")
    # Opened so, a pipe without a writer is not waited for.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(
                f"{path} is {_KINDS.get(stat.S_IFMT(found.st_mode), 'no regular file')}", "name a regular file; put what it gives into one"
            )
        if found.st_size <= most:
            # It may grow meanwhile, and some say that they have nothing.
            content = file.read(int(most) + 1)
            if len(content) <= most:
                return content
        size = max(found.st_size, int(most) + 1)
    raise Unreadable(f"{path} has {size:,} bytes, and {most:,.0f} is the limit", hint)


def read_text(path: Path, most: float, hint: str | None = None, encoding: str = "utf-8") -> str:
    """The same as text, line ends made line feeds.

    Raises:
        Unreadable: as `read`, or if it is no text.
        OSError: if it cannot be opened or read.

    """
    content = read(path, most, hint)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is no text: byte {error.start} is not UTF-8", where=_where(content, error.start)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _where(content: bytes, at: int) -> tuple[int, int, str]:
    """The line and the column of a byte that is no text's, and its line."""
    begin = content.rfind(b"\n", 0, at) + 1
    line = content[begin:].partition(b"\n")[0][:_WIDEST].decode(errors="replace").rstrip("\r")
    return content.count(b"\n", 0, at) + 1, len(content[begin:at].decode(errors="replace")) + 1, line
