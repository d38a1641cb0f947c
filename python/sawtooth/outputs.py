"""Single files that a user names to be written: what may be replaced, what is left alone, and that folders on the way to them are made."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sawtooth.errors import DatasetError, StudyError
from sawtooth.storage import write_atomically, writing

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def require(path: Path, what: str, reads: Sequence[str | Path] = ()) -> None:
    """Refuses a place where no file is to be written: only a regular file, or that behind a link, is replaced.

    Args:
        path: of the file.
        what: is written, such as `a capture`.
        reads: files that the command reads; `-` is standard input.

    Raises:
        StudyError: that says what is there, and what to do.

    """
    found = _status(path)
    if found is None:
        if path.is_symlink():
            raise StudyError(f"{path} is a link to {path.readlink()}, which is not there", hint="remove the link, or name another file")
        return
    kind = next((name for test, name in _KINDS if test(found.st_mode)), None)
    if kind is not None:
        raise StudyError(f"{path} is {kind}, and {what} is written to a file", hint="name a file that may be replaced, or a new one")
    for read in reads:
        other = _standard_input() if str(read) == "-" else _status(Path(read))
        if other is not None and os.path.samestat(found, other):
            told = "standard input" if str(read) == "-" else str(read)
            raise StudyError(f"{path} is what is read ({told}), and {what} would replace it", hint="name another file")


def require_own(path: Path, what: str, mark: str, option: str) -> None:
    """Refuses a file with other content than this command writes, which begins with `mark`.

    Raises:
        StudyError: that says so.

    """
    if path.is_file() and (begin := _beginning(path, len(mark))) and begin != mark.encode():
        raise StudyError(f"{path} is there, and is no {what}", hint=f"name another file, or replace it with {option}")


def write(path: Path, content: bytes, what: str, reads: Sequence[str | Path] = ()) -> None:
    """Writes a file that is there whole or not at all; behind a link its target.

    Raises:
        StudyError: if something else is in its place, see `require`.
        DatasetError: if it cannot be written.

    """
    with placed(path, what, reads) as target:
        write_atomically(target, content)


@contextmanager
def placed(path: Path, what: str, reads: Sequence[str | Path] = ()) -> Generator[Path]:
    """Where a file is written, behind a link, with folders on the way to it made.

    Raises:
        StudyError: if something else is in its place, see `require`.
        DatasetError: if it cannot be written.

    """
    require(path, what, reads)
    with writing(path, resumes=False):
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target


def write_all(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Writes files that belong together into a directory, each whole or not at all. They are made before the first is written; who interrupts that is told what is missing.

    Raises:
        DatasetError: if they cannot be written.

    """
    missing = list(contents)
    try:
        with writing(directory, resumes=False):
            directory.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                write_atomically(directory / name, content)
                missing.remove(name)
    except (KeyboardInterrupt, SystemExit):
        print(f"stopped: not written to {directory}: {', '.join(missing)}", file=sys.stderr)
        raise


def _status(path: Path) -> os.stat_result | None:
    """What is there, behind links; None if nothing is, or nothing can be seen."""
    try:
        return path.stat()
    except OSError:
        return None


def _standard_input() -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def _beginning(path: Path, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(length)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}", "name another file") from None
