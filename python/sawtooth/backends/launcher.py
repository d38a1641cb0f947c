"""What a backend with a real kernel is made of: settings in, a machine that can be started out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

_MIB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """What runs that share a guest have in common: the keys of a scenario's `kernel` that are about the guest.

    Attributes:
        image: a kernel made by `sawtooth kernel build`; nothing for the distribution's.
        memory_bytes, cpus: of the guest.
        virtual: whether the clock is virtual.
        http: whether flows are fetches with packaged programs.
        modules: what else of the kernel the links are made of.

    """

    image: str
    memory_bytes: int
    cpus: int
    virtual: bool
    http: bool
    modules: tuple[str, ...]

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> Settings:
        """From what the core says of a scenario."""
        return cls(
            image=keys["image"],
            memory_bytes=keys["memory_bytes"],
            cpus=keys["cpus"],
            virtual=keys["time"] == "virtual",
            http=keys["application"] == "http",
            modules=tuple(keys["modules"]),
        )

    @property
    def memory_mib(self) -> int:
        """Memory in the unit of kernels' command lines, rounded up."""
        return -(-self.memory_bytes // _MIB)


@dataclass(frozen=True)
class Command:
    """What starts a guest, in its scratch directory."""

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


class Machine(Protocol):
    """A kernel made ready for runs of the same settings; it can be started several times."""

    def prepare(self, directory: Path, jobs: Mapping[str, object], seed: int) -> Command:
        """Writes what the guest needs to its scratch directory. What is measured comes to files in its `results`."""
        ...


class Launcher(Protocol):
    """A backend."""

    name: str

    def machine(self, settings: Settings, algorithms: frozenset[str]) -> Machine:
        """A machine for these settings, with these congestion controls.

        Raises:
            BackendUnavailable: if there can be none here.

        """
        ...

    def virtual(self, settings: Settings) -> bool:
        """Whether its clock is virtual, so that guests do not disturb each other."""
        ...

    def provenance(self, settings: Settings, algorithms: frozenset[str]) -> dict[str, Any]:
        """Which kernel it is, how it was configured, which modules it loads and how it is started."""
        ...


def guests_that_fit(settings: Sequence[Settings], overhead_bytes: int) -> int:
    """How many guests with virtual clocks can run side by side within this machine's processors and memory."""
    largest = max((each.memory_bytes for each in settings), default=0) + overhead_bytes
    return max(1, min(len(os.sched_getaffinity(0)), _available() // largest))


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
