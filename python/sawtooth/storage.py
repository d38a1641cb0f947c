"""Files that are there whole or not at all, whoever is killed when and whatever lies in wait under their names."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import secrets
import stat
import zlib
from pathlib import Path

from sawtooth.errors import DatasetError

# .NAME.HOST-PROCESS.RANDOM.tmp: nobody can lay a link under a name that cannot be foreseen, and whoever finds one knows whose it is.
_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
_TEMPORARY = re.compile(r"\..+\.(?P<host>[0-9a-f]{8})-(?P<process>\d+)\.[0-9a-f]{16}\.tmp")


def read_bytes(path: Path) -> bytes:
    """The content of a file; nothing if there is none, or it cannot be read because of a fault of the disk.

    Raises:
        DatasetError: if it is there and may not be read: that is no damage.

    """
    try:
        # Whoever reads a pipe may wait for ever.
        return path.read_bytes() if stat.S_ISREG(path.stat().st_mode) else b""
    except PermissionError:
        raise unreadable(path) from None
    except OSError:
        return b""


def cache() -> Path:
    """Where things are kept that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sawtooth"


def unreadable(path: Path) -> DatasetError:
    """Whose user may not read what is there."""
    return DatasetError(f"{path} may not be read", "ask its owner for permission to read it, or read a copy")


# Of a process that has begun to end (PF_EXITING): it may have let go of its locks.
_ENDING = 4


class writing:  # noqa: N801 - reads as a statement
    """Turns failures of the file system into errors that say what to do.

    Args:
        directory: or file, that is written.
        resumes: whether the same command would go on from what is stored, as with results of runs.

    """

    def __init__(self, directory: Path, *, resumes: bool = True) -> None:
        self.directory = directory
        self.resumes = resumes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full and not self.resumes:
            raise DatasetError(
                f"no space left to write {self.directory}", "make room, or name another place, and run the same command again"
            ) from None
        if full:
            raise DatasetError(
                f"no space left for results in {self.directory}",
                "nothing that was stored is lost: make room and run the same command again, it goes on from here",
            ) from None
        # Where a directory is made and something else is.
        why = "it is no directory" if error.errno == errno.EEXIST else error.strerror or str(error)
        raise DatasetError(f"cannot write to {self.directory}: {why}", "name another place, or see what `ls -ld` says of it") from None


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that it is there whole or not at all. A link of that name is replaced, not followed; a device or a pipe is not."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
    temporary = path.with_name(temporary_name(path.name))
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def temporary_name(name: str) -> str:
    """A name that nobody else has, and by which what is left of this process is found and removed."""
    return f".{name}.{_HOST}-{os.getpid()}.{secrets.token_hex(8)}.tmp"


def append(path: Path, content: bytes) -> None:
    """Adds to a file in one piece; several processes may. A pipe of that name is an error, and not waited for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        if os.write(descriptor, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def is_temporary(name: str) -> bool:
    """Whether a file is one that `write_atomically` has not finished."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_leftovers(directory: Path) -> None:
    """Removes what killed processes of this machine have not finished. What a living one, or one elsewhere, is writing stays."""
    for path in directory.glob(".*.tmp"):
        found = _TEMPORARY.fullmatch(path.name)
        if found and found["host"] == _HOST and not lives(int(found["process"])):
            path.unlink(missing_ok=True)


def lives(process: int) -> bool:
    """Whether a process works; one that is ending, or that nobody has waited for, does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    with contextlib.suppress(OSError):
        # What comes after its name: proc(5).
        state, *_, flags = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:7]
        return state not in "ZX" and not int(flags) & _ENDING
    return True
