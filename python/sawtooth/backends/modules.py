"""Kernel modules, as files of a distribution's package."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sawtooth.errors import BackendUnavailable

# The kernel has them without a module, wherever none of that name is there.
_ALWAYS = ("cubic", "reno")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
_SUFFIXES = (".ko", ".ko.xz")


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

    @cached_property
    def files(self) -> dict[str, Path]:
        """Every module's file, by the module's name."""
        found = sorted(path for suffix in _SUFFIXES for path in self.directory.glob(f"kernel/**/*{suffix}"))
        return {module_name(path): path for path in found}

    def with_dependencies(self, names: Iterable[str]) -> list[Path]:
        """The files of modules and of what they need, in the order in which they can be loaded.

        A name without a file may be a part of the kernel; if it is not, the run that needs it says so.
        """
        ordered: list[Path] = []

        def add(name: str) -> None:
            path = self.files[name.replace("-", "_")]
            # A package's `modules.dep` is written when it is installed; the module itself says what it needs in any case.
            for other in filter(None, b",".join(_DEPENDS.findall(content(path))[:1]).decode().split(",")):
                add(other)
            if path not in ordered:
                ordered.append(path)

        for name in names:
            if name in self.files:
                add(name)
        return ordered

    def congestion_controls(self) -> list[str]:
        """The congestion controls that come as modules, and those built into every kernel."""
        return sorted({*_ALWAYS, *(name.removeprefix("tcp_") for name in self.files if self._is_congestion_control(name))})

    def for_congestion_controls(self, names: Iterable[str]) -> list[str]:
        """The modules that bring congestion controls.

        Raises:
            BackendUnavailable: if this kernel has none of that name.

        """
        require_congestion_controls(self.release, names, self.congestion_controls())
        return [f"tcp_{name}" for name in sorted(names) if f"tcp_{name}" in self.files]

    def _is_congestion_control(self, name: str) -> bool:
        # `tcp_diag` lists sockets.
        return name.startswith("tcp_") and name != "tcp_diag" and self.files[name].parent.name == "ipv4"


def require_congestion_controls(release: str, wanted: Iterable[str], known: Iterable[str], advice: str = "") -> None:
    """Raises `BackendUnavailable` if a kernel lacks a congestion control that is wanted."""
    for name in sorted(set(wanted) - set(known)):
        hint = f"it has {', '.join(sorted(known))}"
        raise BackendUnavailable(f"kernel {release} has no congestion control `{name}`", f"{hint}; {advice}" if advice else hint)


def module_name(path: Path) -> str:
    """A module's name: that of its file, with one way to write the space between words."""
    return path.name.split(".")[0].replace("-", "_")


def content(path: Path) -> bytes:
    """A module as the kernel loads it."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data
