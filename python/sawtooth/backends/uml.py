"""User-mode Linux: a kernel as a process, without root; the distribution's packaged one, or one made by `sawtooth kernel build`.

Its clock stands still while the guest computes and jumps when it idles, so the host's load does not change what is measured, and idle
time costs nothing: by a clock that is preloaded (see the crate `sawtooth-clock`), or by the built kernel's own.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sawtooth.backends import guest, images, processes, programs
from sawtooth.backends.batch import Batch
from sawtooth.backends.launcher import Command, Settings
from sawtooth.backends.modules import Modules, module_name
from sawtooth.errors import BackendUnavailable

_KERNEL = "linux.uml"
_MODULES = Path("/usr/lib/uml/modules")
# What the kernel's links are made of.
_SHAPERS = ("veth", "sch_netem", "sch_tbf")


def run_batch(scenarios: Sequence[str], seeds: Sequence[int]) -> Batch:
    """Runs scenarios (JSON text) with their seeds in user-mode Linux."""
    return guest.run_batch(LAUNCHER, scenarios, seeds)


def parallel(scenarios: Sequence[str]) -> int:
    """How many batches can be run at once."""
    return guest.parallel(LAUNCHER, scenarios)


def provenance(scenarios: Sequence[str]) -> list[dict[str, Any]]:
    """Which kernels scenarios run on, one entry for each guest's settings."""
    return guest.provenance(LAUNCHER, scenarios)


def modules() -> Modules:
    """The modules of the packaged kernel.

    Raises:
        BackendUnavailable: if it is not installed.

    """
    found = sorted(_MODULES.glob("*/kernel"))
    if shutil.which(_KERNEL) is None or not found:
        raise BackendUnavailable(
            "user-mode Linux is not installed", "install the package user-mode-linux; `sawtooth doctor` shows what is there"
        )
    return Modules(found[-1].parent)


class Uml:
    """See `launcher.Launcher`."""

    name = "uml"

    def machine(self, settings: Settings, algorithms: frozenset[str]) -> UmlMachine:
        """See `launcher.Launcher`."""
        guest.require_built()
        processes.require()
        if settings.cpus > 1:
            raise BackendUnavailable(
                f"user-mode Linux has one processor, not {settings.cpus}", 'use `--backend qemu` with `kernel.time = "real"`'
            )
        files = [images.File("init", guest.AGENT, executable=True), *(programs.http_files() if settings.http else [])]
        kernel = modules()
        wanted = ["tun", *(_SHAPERS if settings.shaped else ()), *kernel.for_congestion_controls(algorithms)]
        load = kernel.with_dependencies(wanted)
        files += [images.File(f"modules/{path.name.split('.')[0]}", path) for path in load]
        return UmlMachine(settings, _KERNEL, images.base(files), load, "virtual" if settings.virtual else "real", ())

    def virtual(self, settings: Settings) -> bool:
        """See `launcher.Launcher`."""
        return settings.virtual

    def provenance(self, settings: Settings, algorithms: frozenset[str]) -> dict[str, Any]:
        """See `launcher.Launcher`."""
        kernel, machine = modules(), self.machine(settings, algorithms)
        return {
            "backend": self.name,
            "release": kernel.release,
            "version": f"{_packaged_version()} (package user-mode-linux)",
            "config_sha256": _packaged_configuration(),
            "modules": [module_name(path) for path in machine.load],
            "time": "virtual" if settings.virtual else "real",
            "memory_bytes": settings.memory_bytes,
            "cpus": 1,
            "command": machine.words(),
        }


LAUNCHER = Uml()


@dataclass(frozen=True)
class UmlMachine:
    """A kernel, what it boots from, and whose clock it has."""

    settings: Settings
    kernel: str
    base: Path
    load: Sequence[Path]
    clock: str
    parameters: Sequence[str]

    def words(self) -> list[str]:
        """The kernel's command line. No path and no number of a boot is on it: the kernel makes entropy of it."""
        return [self.kernel, f"mem={self.settings.memory_mib}M", "initrd=initrd", "con=null", "con0=null,fd:1", "rdinit=/init", "quiet",
                "norandmaps", "lpj=1000000", "random.trust_bootloader=on", *self.parameters]  # fmt: skip

    def prepare(self, directory: Path, jobs: Mapping[str, object], seed: int) -> Command:
        """See `launcher.Machine`."""
        share = directory / "results"
        (share / "sawtooth-virtual-time").touch()
        (directory / "initrd").write_bytes(self.base.read_bytes() + images.batch(jobs, self.load, f"hostfs {share}"))
        environment = {"LD_PRELOAD": str(guest.CLOCK), "SAWTOOTH_SEED": str(seed), "SAWTOOTH_CLOCK": self.clock}
        return Command([*processes.in_namespaces(), *self.words()], environment)


@cache
def _packaged_version() -> str:
    return _said("--version")


@cache
def _packaged_configuration() -> str:
    return hashlib.sha256(_said("--showconfig").encode()).hexdigest()


def _said(option: str) -> str:
    return subprocess.run(
        [_KERNEL, option], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=20
    ).stdout.strip()
