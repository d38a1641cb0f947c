"""One process at a time writes to a results directory. Reading needs no lock: what is read has been written whole.

The lock is `flock` on the file `.lock`, so it goes with its holder, however that ends. What the file says is for those who wait.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import platform
import sys
import time
from collections.abc import Generator
from pathlib import Path

from sawtooth.errors import DatasetError
from sawtooth.storage import writing

NAME = ".lock"
_HOLDER_BYTES = 4096


@contextlib.contextmanager
def lock(directory: Path, *, wait: bool = True) -> Generator[None]:
    """Makes this process the only one that writes to `directory`.

    Raises:
        DatasetError: if another does and `wait` is false, or the directory cannot be written.

    """
    descriptor = acquire(directory, wait=wait)
    try:
        yield
    finally:
        release(descriptor)


def acquire(directory: Path, *, wait: bool = True) -> int:
    """Takes the lock; what is returned is for `release`.

    Raises:
        DatasetError: as for `lock`.

    """
    with writing(directory):
        descriptor = os.open(directory / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        _take(descriptor, directory, wait=wait)
    except BaseException:
        os.close(descriptor)
        raise
    holder = f"process {os.getpid()} on {platform.node()} since {time.strftime('%Y-%m-%d %H:%M:%S')} ({' '.join(sys.argv)})"
    with contextlib.suppress(OSError):  # a full disk is no reason not to hold it
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(errors="replace")[:_HOLDER_BYTES], 0)
    return descriptor


def release(descriptor: int) -> None:
    """Gives the lock back. The file stays: who waits for it has it open."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
    os.close(descriptor)


def is_held(directory: Path) -> bool:
    """Whether a process of this machine writes to `directory`; nobody who wants to is held up by the question."""
    try:
        status = (directory / NAME).stat()
        held_by = (directory / NAME).read_text(encoding="utf-8", errors="replace")[:_HOLDER_BYTES]
        listed = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return False
    # proc(5): number, kind, mode, access, process, and the file as major:minor:inode. Some file systems have another device there: their inode and the process are enough.
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for fields in map(str.split, listed.splitlines()):
        if fields[1:2] == ["FLOCK"] and len(fields) > 5:
            of, _, inode = fields[5].rpartition(":")
            if inode == str(status.st_ino) and (of == device or held_by.startswith(f"process {fields[4]} ")):
                return True
    return False


# --- who reads

_held: dict[Path, int] = {}
"""The folders that this process reads, open: what was handed out of them may be read until it ends. The oldest are forgotten."""
_MOST_HELD = 64


def hold(folder: Path) -> None:
    """Has whoever puts files together leave those that are there now, as long as this process lives. Where locks are not, nobody hears of it."""
    folder = folder.absolute()
    if folder in _held:
        return
    while len(_held) >= _MOST_HELD:
        os.close(_held.pop(next(iter(_held))))
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _held[folder] = descriptor
        fcntl.flock(descriptor, fcntl.LOCK_SH)


@contextlib.contextmanager
def unread(folder: Path) -> Generator[bool]:
    """Whether no other process reads a folder; none begins to meanwhile. Where there are no locks it is taken to be so."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    held = _held.pop(folder.absolute(), None)
    try:
        # What this process reads itself is given up: it knows what it does.
        if held is not None:
            os.close(held)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                raise
        yield True
    finally:
        os.close(descriptor)
        if held is not None:
            hold(folder)


def _take(descriptor: int, directory: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(descriptor) or "another process"
        if not wait:
            raise DatasetError(f"{directory} is in use by {holder}", "wait for its end, or name another directory") from None
        print(f"{directory} is in use by {holder}: waiting for its end", file=sys.stderr, flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
        print(f"warning: the file system of {directory} has no locks: run one command at a time on it", file=sys.stderr)


def _holder(descriptor: int) -> str:
    with contextlib.suppress(OSError):
        return os.pread(descriptor, _HOLDER_BYTES, 0).decode(errors="replace")
    return ""
