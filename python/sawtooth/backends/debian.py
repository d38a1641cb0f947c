"""The distribution's cloud kernel for virtual machines: the installed one, or the package unpacked into the cache, which needs no root."""

from __future__ import annotations

import fcntl
import hashlib
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sawtooth.backends.modules import Modules
from sawtooth.errors import BackendUnavailable
from sawtooth.storage import cache

_META = "linux-image-cloud-amd64"
_ROOT = Path("/")


@dataclass(frozen=True)
class CloudKernel:
    """A kernel, its configuration and its modules, all under one root."""

    root: Path
    release: str

    @property
    def image(self) -> Path:
        """What is booted."""
        return self.root / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self) -> Modules:
        """Its modules."""
        usr = self.root / "usr/lib/modules" / self.release
        return Modules(usr if usr.is_dir() else self.root / "lib/modules" / self.release)

    @property
    def version(self) -> str:
        """The version string of the image (Documentation/arch/x86/boot.rst of Linux: the field `kernel_version`)."""
        data = self.image.read_bytes()
        start = int.from_bytes(data[0x20E:0x210], "little") + 0x200
        return data[start : data.index(b"\0", start)].decode(errors="replace")

    @property
    def config_sha256(self) -> str:
        """The configuration's hash."""
        return hashlib.sha256((self.root / "boot" / f"config-{self.release}").read_bytes()).hexdigest()


def present() -> CloudKernel | None:
    """The newest kernel that can be used without fetching anything, installed ones first."""
    for root in (_ROOT, *sorted(_unpacked().glob("*"), reverse=True)):
        for image in sorted((root / "boot").glob("vmlinuz-*-cloud-amd64"), key=_numbers, reverse=True):
            kernel = CloudKernel(root, image.name.removeprefix("vmlinuz-"))
            if kernel.modules.directory.is_dir() and _readable(image):
                return kernel
    return None


def find() -> CloudKernel:
    """A cloud kernel; its package is fetched if there is none.

    Raises:
        BackendUnavailable: if it cannot be fetched.

    """
    kernel = present()
    if kernel is None:
        _unpack()
        kernel = present()
    if kernel is None:
        raise BackendUnavailable(f"the package {_META} holds no kernel", "install it")
    return kernel


def _unpacked() -> Path:
    return cache() / "kernels" / "packaged"


def _unpack() -> None:
    """Fetches the package with the distribution's own tools, which check its signature, and unpacks it. Whoever comes while another does so waits."""
    _unpacked().mkdir(parents=True, exist_ok=True)
    with (_unpacked() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if present() is None:
            _fetch()


def _fetch() -> None:
    depends = re.search(r"^Depends: (linux-image-\S+)", _run(["apt-cache", "show", "--no-all-versions", _META], _ROOT), re.MULTILINE)
    if depends is None:
        raise BackendUnavailable(f"there is no package {_META} here", "`apt-get update` may bring it; it is of Debian, for amd64")
    package = depends.group(1)
    with tempfile.TemporaryDirectory(dir=_unpacked().parent) as temporary:
        _run(["apt-get", "download", package], Path(temporary))
        files = list(Path(temporary).glob("*.deb"))
        _run(["dpkg-deb", "-x", str(files[0]), "root"], Path(temporary))
        (Path(temporary) / "root").rename(_unpacked() / package)


def _run(command: list[str], directory: Path) -> str:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines() or [str(error)]
        raise BackendUnavailable(f"`{' '.join(command[:2])}` failed: {said[-1]}", f"install the package {_META}") from None
    return done.stdout


def _numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _readable(path: Path) -> bool:
    try:
        with path.open("rb"):
            return True
    except OSError:
        return False
