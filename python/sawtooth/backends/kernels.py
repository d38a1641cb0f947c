"""Kernels with virtual time of their own: user-mode Linux, built without root from the distribution's kernel source and kept in a cache.

What is built depends on nothing but the source package, HZ, `kernel_config/uml.config` and the compiler: names, dates and directories
of this machine do not go into it. Build tools that are missing are downloaded and unpacked for the time of the build, not installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Protocol, cast

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from sawtooth import streams
from sawtooth.errors import BackendUnavailable
from sawtooth.hints import did_you_mean
from sawtooth.storage import cache

FREQUENCIES = (100, 250, 300, 1000)
"""The values of HZ that distributions use."""
FRAGMENT = Path(__file__).resolve().parent / "kernel_config" / "uml.config"

VIRTUAL_TIME = ("time-travel=inf-cpu", "time-travel-start=1600000000000000000")
"""What is added to a kernel's command line for virtual time. The time of day it starts from, in ns, is otherwise the host's: two boots
would differ in its last digits, and so in all that is rounded."""

_RECORD = "kernel.json"
_PACKAGE = "linux-source-"
# The source takes 1.5 GB, its archive 0.3 GB, objects 0.1 GB; the rest is for larger versions.
_DISK = 3_000_000_000
# About what one build compiles; only for the progress that is shown.
_OBJECTS = 1150
_TAIL = 1500
# Programs that a build needs, and their packages. The second group can be used without being installed.
_REQUIRED = {"apt-cache": "apt", "apt-get": "apt", "dpkg-deb": "dpkg", "tar": "tar", "xz": "xz-utils", "make": "make", "gcc": "gcc",
             "ld": "binutils", "perl": "perl"}  # fmt: skip
_FETCHED = {"flex": "flex", "bison": "bison", "m4": "m4", "bc": "bc"}
# Without these no guest runs; whatever else a kernel lacks shows in its lists.
_ESSENTIAL = ("UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "BLK_DEV_INITRD", "RD_GZIP", "DEVTMPFS", "NET_NS", "TUN", "INET")
# No Rust and no BTF, whether this machine has the tools or not.
_MAKE = ("make", "ARCH=um", "RUSTC=false", "PAHOLE=false")
_ALWAYS_BUILT_IN = ("bfifo", "pfifo", "pfifo_fast")
_CONFIGURATION_NAMES = {"hstcp": "highspeed"}


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, with everything built in.

    Attributes:
        name: `SERIES-hzHZ`, like `6.1-hz250`.
        directory: where its files are: `linux`, `config` and `kernel.json`.
        release: what `uname -r` says in it.
        hz: ticks per second.
        source_package, source_version: of the distribution.
        compiler: the first line of what it says of itself.
        request_sha256: of what was asked for: the same is not built again.
        config_sha256, binary_sha256: of the whole configuration and of the program.
        algorithms, qdiscs: congestion controls and queueing disciplines, by the kernel's names.
        virtual: how its time is virtual.
        built: when.

    """

    name: str
    directory: Path
    release: str
    hz: int
    source_package: str
    source_version: str
    compiler: str
    request_sha256: str
    config_sha256: str
    binary_sha256: str
    algorithms: tuple[str, ...]
    qdiscs: tuple[str, ...]
    virtual: str
    built: str

    @property
    def binary(self) -> Path:
        """The program."""
        return self.directory / "linux"

    def facts(self) -> dict[str, Any]:
        """All but where it is, as written to `kernel.json`."""
        return {key: value for key, value in asdict(self).items() if key != "directory"}


class Say(Protocol):
    """Is told what a build does, and how much of that step is done if that is known."""

    def __call__(self, step: str, done: float | None = None, /) -> None:
        """`done` is from 0 to 1."""
        ...


@dataclass(frozen=True)
class _Request:
    """What a kernel is made of."""

    name: str
    package: str
    version: str
    hz: int
    fragment: str

    @property
    def sha256(self) -> str:
        return _sha256(json.dumps([self.package, self.version, self.hz, self.fragment]).encode())


def build(version: str | None = None, hz: int = 250, jobs: int | None = None, say: Say | None = None) -> Kernel:
    """Builds a kernel, or finds it in the cache. Takes some minutes of the processor and 3 GB of disk, which are freed again.

    Args:
        version: a series like `6.1`, of which the newest that apt offers is taken, or the exact version of a package like `6.1.176-1`;
            by default the distribution's own series.
        hz: ticks per second, one of `FREQUENCIES`.
        jobs: compilers at a time; by default one per processor.
        say: is told about progress; see `progress`.

    Raises:
        BackendUnavailable: if it cannot be built here.

    """
    say = say or _silently
    if hz not in FREQUENCIES:
        raise BackendUnavailable(f"HZ cannot be {hz}", f"it is one of {', '.join(map(str, FREQUENCIES))}")
    if platform.machine() != "x86_64":
        raise BackendUnavailable(f"user-mode Linux is built for x86_64 only, and this machine is {platform.machine()}")
    _require_programs()
    request = _request(version, hz)
    with _only_build(say):
        # Another build may have made it while this one waited.
        if (found := _cached(request.name)) is not None and found.request_sha256 == request.sha256:
            say(f"{found.name} is there already")
            return found
        free = shutil.disk_usage(_directory()).free
        if free < _DISK:
            raise BackendUnavailable(
                f"{_directory()} has {free / 1e9:.1f} GB free; building a kernel takes {_DISK / 1e9:.0f} GB for some minutes",
                "make room, or set XDG_CACHE_HOME to a directory on a larger disk",
            )
        with tempfile.TemporaryDirectory(prefix=".building-", dir=_directory()) as scratch:
            return _Build(request, Path(scratch), jobs or os.cpu_count() or 1, say).run()


def available() -> list[Kernel]:
    """The kernels in the cache, by name."""
    names = sorted(path.parent.name for path in _directory().glob(f"[!.]*/{_RECORD}"))
    return [kernel for name in names if (kernel := _cached(name)) is not None]


def find(name: str) -> Kernel:
    """The kernel of that name.

    Raises:
        BackendUnavailable: if none has been built.

    """
    kernels = {kernel.name: kernel for kernel in available()}
    if name in kernels:
        return kernels[name]
    series, _, hz = name.partition("-hz")
    how = f"`sawtooth kernel build {series} --hz {hz}` makes it" if hz in map(str, FREQUENCIES) else "`sawtooth kernel build` makes one"
    hint = f"{did_you_mean(name, kernels)}; or {how}" if kernels else how
    raise BackendUnavailable(f"there is no kernel `{name}`", hint)


def remove(name: str) -> Kernel:
    """Removes a kernel from the cache; guests that run on it go on.

    Raises:
        BackendUnavailable: if there is none of that name.

    """
    kernel = find(name)
    _discard(kernel.directory)
    return kernel


@contextlib.contextmanager
def progress(console: streams.Console) -> Generator[Say]:
    """Shows a build's progress: a bar on a terminal, a line per step elsewhere."""
    if not console.redraws:
        steps: list[str] = []

        def say_line(step: str, _done: float | None = None, /) -> None:
            if step not in steps:
                steps.append(step)
                console.print(step, highlight=False, markup=False, soft_wrap=True)

        yield say_line
        return
    with Progress(TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def say_bar(step: str, done: float | None = None, /) -> None:
            bar.update(task, description=step, total=None if done is None else 1.0, completed=done or 0.0)

        yield say_bar


def _silently(_step: str, _done: float | None = None, /) -> None:
    pass


class _Build:
    """One build, in a directory of its own."""

    def __init__(self, request: _Request, scratch: Path, jobs: int, say: Say) -> None:
        self._request, self._scratch, self._jobs, self._say = request, scratch, jobs, say
        self._tools = scratch / "tools"
        self._log = _directory() / f"{request.name}.log"
        self._log.write_bytes(b"")

    def run(self) -> Kernel:
        self._fetch_tools()
        tree = self._unpack_source()
        set_hz(tree, self._request.hz)
        self._say("configuring")
        fragment = self._scratch / "fragment"
        fragment.write_text(self._request.fragment)
        self._execute(*_MAKE, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig", directory=tree)
        config = (tree / ".config").read_text()
        self._check(config)
        self._execute("nice", *_MAKE, f"-j{self._jobs}", "linux", directory=tree, count=f"compiling with {self._jobs} jobs")
        return self._keep(tree, config)

    def _fetch_tools(self) -> None:
        """What is missing is unpacked here; what that needs in turn, apt knows."""
        packages = [package for program, package in _FETCHED.items() if shutil.which(program) is None]
        if not packages:
            return
        self._say(f"fetching {', '.join(packages)}")
        plan = self._execute("apt-get", "install", "--simulate", "--no-install-recommends", *packages)
        # Only what is new: another version of an installed library would not fit the installed programs.
        needed = re.findall(r"^Inst (\S+) \(", plan, re.MULTILINE)
        self._download(needed, self._tools)

    def _unpack_source(self) -> Path:
        request = self._request
        self._say(f"fetching {request.package} {request.version}")
        package = self._scratch / "package"
        self._download([f"{request.package}={request.version}"], package)
        archives = sorted(package.glob("usr/src/**/linux-source-*.tar.*"))
        if not archives:
            raise BackendUnavailable(f"the package {request.package} {request.version} has no archive of the source in it")
        self._say("unpacking the source")
        tree = self._scratch / "tree"
        tree.mkdir()
        self._execute("tar", "-x", "-f", str(archives[0]), "-C", str(tree), "--strip-components=1")
        shutil.rmtree(package)
        return tree

    def _download(self, packages: Iterable[str], target: Path) -> None:
        place = Path(tempfile.mkdtemp(dir=self._scratch))
        self._execute("apt-get", "download", *packages, directory=place)
        for archive in sorted(place.glob("*.deb")):
            self._execute("dpkg-deb", "-x", str(archive), str(target))
        shutil.rmtree(place)

    def _check(self, config: str) -> None:
        lines = set(config.splitlines())
        request = self._request
        missing = [name for name in _ESSENTIAL if f"CONFIG_{name}=y" not in lines]
        if missing or f"CONFIG_HZ={request.hz}" not in lines:
            raise BackendUnavailable(
                f"{request.package} {request.version} cannot be configured as guests need it: no {', '.join(missing) or f'HZ={request.hz}'}",
                "another version may do; `apt-cache search linux-source` lists them",
            )

    def _keep(self, tree: Path, config: str) -> Kernel:
        request = self._request
        ready = self._scratch / request.name
        ready.mkdir()
        self._execute("strip", "-o", str(ready / "linux"), str(tree / "linux"))
        (ready / "config").write_text(config)
        kernel = Kernel(
            name=request.name,
            directory=ready,
            release=self._execute(str(ready / "linux"), "--version").split()[-1],
            hz=request.hz,
            source_package=request.package,
            source_version=request.version,
            compiler=self._execute("gcc", "--version").splitlines()[0],
            request_sha256=request.sha256,
            config_sha256=_sha256(config.encode()),
            binary_sha256=_sha256((ready / "linux").read_bytes()),
            algorithms=tuple(sorted({"reno", *_enabled(config, "TCP_CONG", ("advanced",))})),
            qdiscs=tuple(sorted({*_ALWAYS_BUILT_IN, *_enabled(config, "NET_SCH", ("fifo",))})),
            virtual="time-travel",
            built=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        (ready / _RECORD).write_text(json.dumps(kernel.facts(), indent=2) + "\n")
        final = _directory() / request.name
        if final.exists():
            _discard(final)
        ready.rename(final)
        self._log.unlink()
        self._say(f"{kernel.name} is built")
        return replace(kernel, directory=final)

    def _execute(self, *words: str, directory: Path | None = None, count: str = "") -> str:
        """Runs a program and returns what it printed; lines are counted for the step `count`.

        Nothing of it is left if this program is interrupted. It writes to the log, and is waited for by looking again and again: polars
        handles Ctrl-C in a way that makes blocking reads go on.
        """
        before = self._log.stat().st_size
        with self._log.open("ab") as log, _running(words, directory or self._scratch, self._environment(), log) as process:
            while (status := _ended(process)) is None:
                if count:
                    self._say(count, min(self._printed(before).count("\n") / _OBJECTS, 0.99))
        printed = self._printed(before)
        if status != 0:
            program = " ".join([Path(words[0]).name, *words[1:]])
            raise BackendUnavailable(
                f"`{program}` failed (status {status}); the last it said:\n{printed[-_TAIL:].strip()}",
                f"all it said is in {self._log}",
            )
        return printed

    def _printed(self, start: int) -> str:
        return self._log.read_bytes()[start:].decode(errors="replace")

    def _environment(self) -> Mapping[str, str]:
        """Of this machine only what programs are found by; nothing that goes into the kernel."""
        tools = self._tools / "usr"
        environment = {"PATH": f"{tools}/bin:{os.environ.get('PATH', os.defpath)}", "HOME": str(self._scratch),
                       "TMPDIR": str(self._scratch), "LC_ALL": "C", "LOCALVERSION": "", "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
                       "KBUILD_BUILD_USER": "sawtooth", "KBUILD_BUILD_HOST": "sawtooth", "KBUILD_BUILD_VERSION": "1"}  # fmt: skip
        if self._tools.exists():
            environment["LD_LIBRARY_PATH"] = ":".join(str(path) for path in sorted({*tools.glob("lib/*-linux-gnu"), tools / "lib"}))
        # Where these look for their own files is compiled into them.
        if (tools / "bin" / "m4").exists():
            environment["M4"] = str(tools / "bin" / "m4")
        if (tools / "share" / "bison").exists():
            environment["BISON_PKGDATADIR"] = str(tools / "share" / "bison")
        return environment


def set_hz(tree: Path, hz: int) -> None:
    """Sets HZ in a source tree; to user-mode Linux it is a constant, not a question.

    Raises:
        BackendUnavailable: if the tree does not have it where it is looked for.

    """
    path = tree / "arch" / "um" / "Kconfig"
    text = path.read_text() if path.is_file() else ""
    changed, count = re.subn(r"^(config HZ\n(?:[ \t].*\n)*?[ \t]+default )\d+$", rf"\g<1>{hz}", text, flags=re.MULTILINE)
    if count != 1:
        raise BackendUnavailable("this kernel's source does not say HZ in arch/um/Kconfig, so it cannot be set", "another version may do")
    path.write_text(changed)


def _directory() -> Path:
    return cache() / "kernels"


def _cached(name: str) -> Kernel | None:
    """The kernel of that name, unless it is missing or damaged."""
    directory = _directory() / name
    try:
        facts = cast("dict[str, Any]", json.loads((directory / _RECORD).read_text()))
        lists = {key: tuple(cast("list[str]", facts[key])) for key in ("algorithms", "qdiscs")}
        fields: dict[str, Any] = {**facts, **lists, "directory": directory}
        kernel = Kernel(**fields)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kernel if kernel.binary.is_file() else None


def _discard(directory: Path) -> None:
    """Removes a directory, so that it is whole or not there to others."""
    with tempfile.TemporaryDirectory(prefix=".building-", dir=_directory(), ignore_cleanup_errors=True) as scratch:
        directory.rename(Path(scratch) / directory.name)


@contextlib.contextmanager
def _only_build(say: Say) -> Generator[None]:
    """One build at a time; what killed ones have left is removed."""
    _directory().mkdir(parents=True, exist_ok=True)
    with (_directory() / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in _directory().glob(".building-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextlib.contextmanager
def _running(words: Sequence[str], directory: Path, environment: Mapping[str, str], log: IO[bytes]) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        words, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        yield process
    finally:
        # `make` has children, which would go on writing to a directory that is being removed.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(0.3)
    return None


def _require_programs() -> None:
    missing = {program: package for program, package in _REQUIRED.items() if shutil.which(program) is None}
    if missing:
        packages = ", ".join(sorted(set(missing.values())))
        plural = "s" if len(set(missing.values())) > 1 else ""
        raise BackendUnavailable(f"building a kernel needs {', '.join(missing)}, not found here", f"install the package{plural} {packages}")
    program = "#include <stdio.h>\n#include <linux/types.h>\nint main(void) { return 0; }\n"
    compiling = ["gcc", "-x", "c", "-", "-o", "/dev/null"]
    if subprocess.run(compiling, input=program, text=True, capture_output=True, check=False).returncode != 0:
        raise BackendUnavailable("gcc compiles no program here", "install the package libc6-dev")


def _request(version: str | None, hz: int) -> _Request:
    """Finds the source package; an exact version becomes part of the kernel's name, so it does not take the place of the newest."""
    names = [line for line in _ask_apt("pkgnames", _PACKAGE).splitlines() if re.fullmatch(rf"{_PACKAGE}\d[\d.]*", line)]
    offered = sorted((name.removeprefix(_PACKAGE) for name in names), key=_numbers)
    if not offered:
        raise BackendUnavailable("apt offers no kernel source", "`apt-get update`, as root, fetches the lists of packages")
    wanted = version or _own_series() or offered[-1]
    series = next((each for each in reversed(offered) if re.match(rf"{re.escape(each)}(?!\d)", wanted)), None)
    exact = "" if wanted == series else f"={wanted}"
    record = _ask_apt("show", "--no-all-versions", f"{_PACKAGE}{series}{exact}") if series else ""
    found = re.search(r"^Version: (\S+)$", record, re.MULTILINE)
    if series is None or found is None:
        raise BackendUnavailable(
            f"apt offers no source of kernel `{wanted}`",
            f"it offers {', '.join(offered)}; `apt-cache madison {_PACKAGE}{series or offered[-1]}` lists exact versions",
        )
    fragment = FRAGMENT.read_text(encoding="utf-8")
    return _Request(f"{wanted}-hz{hz}", f"{_PACKAGE}{series}", found[1], hz, fragment)


def _own_series() -> str | None:
    """The series that the distribution's package `linux-source` stands for."""
    depends = re.search(rf"Depends: {_PACKAGE}(\S+)", _ask_apt("depends", _PACKAGE.rstrip("-")))
    return depends and depends[1]


def _ask_apt(*words: str) -> str:
    """What apt-cache prints; nothing if it knows no such package."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        ["apt-cache", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment
    ).stdout


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part]


def _enabled(config: str, prefix: str, other: Sequence[str]) -> list[str]:
    """What is built in, by the kernel's names: `CONFIG_TCP_CONG_BIC=y` is `bic`."""
    found: list[str] = re.findall(rf"^CONFIG_{prefix}_(\w+)=y$", config, re.MULTILINE)
    names = [name.lower() for name in found]
    return [_CONFIGURATION_NAMES.get(name, name) for name in names if name not in other]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
