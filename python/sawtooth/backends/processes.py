"""Guests as processes: they end with the laboratory, and what a killed laboratory left is found and removed.

A scratch directory says whose it is (process number and start time: numbers come again); a guest works in one. So whoever finds a
directory without an owner may remove it, and end what works in it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from pathlib import Path

from sawtooth.errors import BackendUnavailable

_PREFIX = "sawtooth-"
_OWNER = "owner"
_BETWEEN = "."
_CONSOLE = "console"
_PROC = Path("/proc")
# Processes end with their parent by a signal that they ask for. Who has been killed before they asked sends none: then they do not begin. The first process of a
# namespace cannot see its parent, but /proc is that of the outside. What the shell has put into the environment is taken out again: guests depend on its size.
_UNLESS_ORPHANED = '[ "$PPID" = "$0" ] && unset PWD && exec "$@"'
_AS_PARENT = 'SAWTOOTH_PARENT=$$ exec "$@"'
_UNLESS_ORPHANED_INSIDE = (
    'read -r _ _ state _ < "/proc/$SAWTOOTH_PARENT/stat" && [ "$state" != Z ] && unset SAWTOOTH_PARENT PWD && exec "$@"'
)
NAMESPACES_ADVICE = "run as root, or allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)"


class StoppedError(Exception):
    """Nobody waits for a guest any more."""


# What this program has open at the moment, and whether it is to end.
_directories: set[Path] = set()
_processes: set[subprocess.Popen[bytes]] = set()
_stopping = threading.Event()


def stop() -> None:
    """Whoever waits for a guest gives it up, until `resume`."""
    _stopping.set()


def resume() -> None:
    """Guests are waited for again."""
    _stopping.clear()


def require_wanted() -> None:
    """Raises `StoppedError` if guests are to be given up."""
    if _stopping.is_set():
        raise StoppedError


@contextlib.contextmanager
def scratch(kind: str) -> Generator[Path]:
    """A directory that is removed afterwards.

    Raises:
        BackendUnavailable: if what is written there, also by the caller, finds no space.

    """
    path = None
    try:
        path = _owned(kind)
        yield path
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise BackendUnavailable(
            f"no space left for guests in {tempfile.gettempdir()}", "make room there, or name another directory with TMPDIR"
        ) from None
    finally:
        if path is not None:
            _remove(path)
            _directories.discard(path)


def _owned(kind: str) -> Path:
    """A new directory that has never been without its owner: until the file is in it, its name says whose it is."""
    process = os.getpid()
    owner = (str(process), _start_time(process))
    made = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{_BETWEEN.join(owner)}{_BETWEEN}"))
    _directories.add(made)
    try:
        (made / _OWNER).write_text(" ".join(owner) + "\n")
        path = made.with_name(f"{_PREFIX}{kind}-{made.name.rpartition(_BETWEEN)[2]}")
        _directories.add(path)
        return made.rename(path)
    except OSError:
        _remove(made)
        raise
    finally:
        _directories.discard(made)


def end_all() -> None:
    """Ends every process of this program and removes its directories: for an end that does not wait for threads."""
    for process in list(_processes):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    for path in list(_directories):
        _remove(path)


def _remove(directory: Path) -> None:
    """The owner last: what is left, if this is killed or if something still writes there, says whose it was."""
    with contextlib.suppress(OSError):
        for entry in list(directory.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != _OWNER:
                entry.unlink(missing_ok=True)
        if all(entry.name == _OWNER for entry in directory.iterdir()):
            shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def running(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> Generator[subprocess.Popen[bytes]]:
    """A process in `directory`, with its output in the file `console`; it and its session are ended afterwards, or with this program."""
    with (directory / _CONSOLE).open("ab") as out:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _UNLESS_ORPHANED, str(os.getpid()), *command],
            cwd=directory,
            env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(directory), "HOME": str(directory), **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _processes.add(process)
        try:
            yield process
        finally:
            _processes.discard(process)
            # Its helpers are in its session; after an orderly end there are none.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def console(directory: Path) -> str:
    """What the process has said."""
    with contextlib.suppress(OSError):
        return (directory / _CONSOLE).read_text(errors="replace")
    return ""


def in_namespaces(*namespaces: str) -> list[str]:
    """A prefix to a command: it runs in namespaces of its own, and when its first process ends all of its processes do."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, *namespaces, "--pid", "--fork", "--kill-child=KILL", "--"]


def in_own_namespace() -> list[str]:
    """A prefix for processes of their own: the first of them begins only if its parent still is there."""
    return ["sh", "-c", _AS_PARENT, "sh", *in_namespaces(), "sh", "-c", _UNLESS_ORPHANED_INSIDE, "sh"]


def require_setpriv() -> None:
    """Raises `BackendUnavailable` without the program that ends guests with the laboratory."""
    if shutil.which("setpriv") is None:
        raise BackendUnavailable("there is no program `setpriv`", "install the package util-linux")


@cache
def _namespaces_problem(namespaces: tuple[str, ...]) -> str:
    """Why a process can have no such namespaces besides one for its processes; nothing if it can."""
    try:
        tried = subprocess.run(
            [*in_namespaces(*namespaces), "true"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=20
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return (tried.stderr.strip().splitlines() or ["unshare failed"])[-1] if tried.returncode else ""


def require_namespaces(*namespaces: str) -> None:
    """Raises `BackendUnavailable` if processes cannot have namespaces here.

    Args:
        namespaces: options of `unshare` besides the one for processes.

    """
    require_setpriv()
    if problem := _namespaces_problem(namespaces):
        raise BackendUnavailable(f"namespaces are not allowed here: {problem}", NAMESPACES_ADVICE)


def clean() -> list[str]:
    """Ends guests and removes scratch directories of laboratories that are no more; says which."""
    done: list[str] = []
    for directory in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        if not os.access(directory, os.W_OK) or _lives(directory) is not False:
            continue
        ended = _end_processes_in(directory)
        _remove(directory)
        if not directory.exists():
            guests = f" and the {ended} processes in it" if ended else ""
            done.append(f"removed {directory}{guests}, left by a laboratory that has ended")
    return done


def leftovers() -> int:
    """How many scratch directories have no owner any more."""
    return sum(_lives(directory) is False for directory in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"))


def _lives(directory: Path) -> bool | None:
    """Whether who owns the directory is still there; nothing if it says no owner, being no laboratory's."""
    try:
        owner = (directory / _OWNER).read_text().split()
    except OSError:
        owner = directory.name.removeprefix(_PREFIX).split(_BETWEEN)[:-1]
    if len(owner) != 2 or not owner[0].isdecimal():
        return None
    return _start_time(int(owner[0])) == owner[1]


def _start_time(process: int) -> str:
    """In ticks since the machine's boot; nothing if there is no such process."""
    with contextlib.suppress(OSError):
        # The name, in parentheses, may have spaces in it.
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()[19]
    return ""


def _end_processes_in(directory: Path) -> int:
    ended: set[int] = set()
    # One that is about to start another may be seen before it.
    for _ in range(3):
        for entry in _PROC.glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                if entry.readlink().is_relative_to(directory):
                    number = int(entry.parent.name)
                    os.kill(number, signal.SIGKILL)
                    ended.add(number)
        time.sleep(0.05)
    return len(ended)
