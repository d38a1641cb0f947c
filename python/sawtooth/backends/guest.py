"""What a guest boots from: an archive with the agent as init, kernel modules and jobs, made without root.

The files are found beside this package (`make` builds them) and in the distribution's packages.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sawtooth.errors import BackendUnavailable

_BUILT = Path(__file__).resolve().parent.parent / "guest"
AGENT = _BUILT / "sawtooth-agent"
CLOCK = _BUILT / "libsawtooth_clock.so"
_DIRECTORY, _EXECUTABLE, _PLAIN, _CONSOLE = 0o40755, 0o100755, 0o100644, 0o020600


@dataclass(frozen=True)
class Modules:
    """The modules of one kernel.

    Attributes:
        directory: `/usr/lib/uml/modules/RELEASE` or the like.

    """

    directory: Path

    @property
    def release(self) -> str:
        """The kernel's release."""
        return self.directory.name

    def with_dependencies(self, names: Iterable[str]) -> list[Path]:
        """The files of modules and of what they need, in the order in which they can be loaded.

        Raises:
            BackendUnavailable: if this kernel has none of that name.

        """
        needs: dict[str, tuple[Path, list[str]]] = {}
        for line in (self.directory / "modules.dep").read_text().splitlines():
            file, _, rest = line.partition(":")
            needs[_module_name(file)] = (self.directory / file, [_module_name(other) for other in rest.split()])
        ordered: list[Path] = []

        def add(name: str) -> None:
            path, others = needs[name]
            for other in reversed(others):
                add(other)
            if path not in ordered:
                ordered.append(path)

        for name in names:
            if name not in needs:
                raise BackendUnavailable(
                    f"kernel {self.release} has no congestion control `{name.removeprefix('tcp_')}`",
                    f"it has {', '.join(self.congestion_controls())}",
                )
            add(name)
        return ordered

    def congestion_controls(self) -> list[str]:
        """The congestion controls that come as modules, and those built into every kernel."""
        built_in = [name for name in ("reno", "cubic") if not list(self.directory.glob(f"kernel/net/ipv4/tcp_{name}.ko"))]
        # The kernel's module of HighSpeed TCP is called like the algorithm.
        return sorted([*built_in, *(path.stem.removeprefix("tcp_") for path in self.directory.glob("kernel/net/ipv4/tcp_*.ko"))])


def _module_name(file: str) -> str:
    return Path(file).name.split(".")[0]


def archive(share: Path, modules: Sequence[Path], jobs: Mapping[str, Any]) -> bytes:
    """The initial file system: gzipped cpio, the same bytes for the same content."""
    files: list[tuple[str, int, bytes]] = [(name, _DIRECTORY, b"") for name in ("dev", "proc", "sys", "share", "modules", "jobs")]
    files.append(("dev/console", _CONSOLE, b""))
    files.append(("init", _EXECUTABLE, AGENT.read_bytes()))
    files.append(("share-path", _PLAIN, str(share).encode()))
    files += [(f"modules/{at:03}-{path.name}", _PLAIN, path.read_bytes()) for at, path in enumerate(modules)]
    files += [(f"jobs/{name}", _PLAIN, json.dumps(job, sort_keys=True).encode()) for name, job in jobs.items()]
    return gzip.compress(b"".join(_entry(at, *file) for at, file in enumerate([*files, ("TRAILER!!!", 0, b"")], 1)), 1, mtime=0)


def _entry(inode: int, name: str, mode: int, data: bytes) -> bytes:
    """One file of a cpio archive in the `newc` format (Documentation/driver-api/early-userspace/buffer-format.rst of Linux)."""
    device = (5, 1) if mode == _CONSOLE else (0, 0)
    encoded = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def require_built() -> None:
    """Raises `BackendUnavailable` if the programs for guests have not been built."""
    for path in (AGENT, CLOCK):
        if not path.is_file():
            raise BackendUnavailable(f"{path.name} has not been built", "`make guest` builds it")
