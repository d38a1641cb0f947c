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
from functools import cache, partial
from pathlib import Path
from typing import Any

from sawtooth.backends import guest, images, kernels, processes, programs
from sawtooth.backends.launcher import Command, Settings
from sawtooth.backends.modules import Modules, module_name, require_congestion_controls
from sawtooth.errors import BackendUnavailable

_KERNEL = "linux.uml"
_MODULES = Path("/usr/lib/uml/modules")
# Which code for RAID is fastest takes nine tenths of a boot to find out, and no guest has a disk.
_NO_BENCHMARKS = "initcall_blacklist=raid6_select_algo,calibrate_xor_blocks"
# While the clock stands still, the kernel cannot measure how fast it loops.
_VIRTUAL = ("lpj=1000000",)


def require() -> None:
    """Raises `BackendUnavailable` if a kernel cannot be run here, whichever it is."""
    guest.require_built(guest.AGENT, guest.CLOCK)
    processes.require_namespaces()


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


def release(image: str = "", *, fetch: bool = True) -> str:
    """See `registry.Kernels`."""
    del fetch
    return kernels.find(image).release if image else modules().release


class Uml:
    """See `launcher.Launcher`."""

    name = "uml"

    def machine(self, settings: Settings, algorithms: frozenset[str]) -> UmlMachine:
        """See `launcher.Launcher`."""
        if not settings.image:
            # Whether there is one comes before whether it could be run.
            modules()
        require()
        if settings.cpus > 1:
            raise BackendUnavailable(
                f"user-mode Linux has one processor, not {settings.cpus}", 'use `--backend qemu` with `kernel.time = "real"`'
            )
        files = [images.File("init", guest.AGENT, executable=True), *(programs.http_files() if settings.http else [])]
        if settings.image:
            return self._built(settings, algorithms, files)
        kernel = modules()
        wanted = [*settings.modules, *kernel.for_congestion_controls(algorithms)]
        load = kernel.with_dependencies(wanted)
        files += [images.File(f"modules/{module_name(path)}", path) for path in load]
        parameters = (_NO_BENCHMARKS, *_VIRTUAL) if settings.virtual else (_NO_BENCHMARKS,)
        return UmlMachine(settings, _KERNEL, images.base(files), load, "virtual" if settings.virtual else "real", parameters)

    def _built(self, settings: Settings, algorithms: frozenset[str], files: Sequence[images.File]) -> UmlMachine:
        kernel = kernels.find(settings.image)
        require_congestion_controls(kernel.release, algorithms, kernel.algorithms)
        parameters = kernels.VIRTUAL_TIME if settings.virtual else ()
        return UmlMachine(settings, str(kernel.binary), images.base(files), (), "random-only" if settings.virtual else "real", parameters)

    def virtual(self, settings: Settings) -> bool:
        """See `launcher.Launcher`."""
        return settings.virtual

    def provenance(self, settings: Settings, algorithms: frozenset[str]) -> dict[str, Any]:
        """See `launcher.Launcher`."""
        machine = self.machine(settings, algorithms)
        if settings.image:
            built = kernels.find(settings.image)
            facts = built.facts()
            release, version, config = built.release, f"{built.source_package} {built.source_version}", built.config_sha256
        else:
            facts = {}
            release, version, config = modules().release, f"{_said('--version')} (package user-mode-linux)", _packaged_configuration()
        return {
            "backend": self.name,
            "release": release,
            "version": version,
            "config_sha256": config,
            "modules": [module_name(path) for path in machine.load],
            "time": "virtual" if settings.virtual else "real",
            "memory_bytes": settings.memory_bytes,
            "cpus": 1,
            "command": ["linux", *machine.words()[1:]],
            **({"built": facts} if facts else {}),
        }


LAUNCHER = Uml()
run_batch = partial(guest.run_batch, LAUNCHER)
parallel = partial(guest.parallel, LAUNCHER)
provenance = partial(guest.provenance, LAUNCHER)


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
                "norandmaps", "random.trust_bootloader=on", *self.parameters]  # fmt: skip

    def prepare(self, directory: Path, jobs: Mapping[str, object], seed: int) -> Command:
        """See `launcher.Machine`."""
        share = directory / "results"
        (share / "sawtooth-virtual-time").touch()
        (directory / "initrd").write_bytes(self.base.read_bytes() + images.batch(jobs, self.load, f"hostfs {share}"))
        environment = {"LD_PRELOAD": str(guest.CLOCK), "SAWTOOTH_SEED": str(seed), "SAWTOOTH_CLOCK": self.clock}
        return Command([*processes.in_own_namespace(), *self.words()], environment)


@cache
def _packaged_configuration() -> str:
    return hashlib.sha256(_said("--showconfig").encode()).hexdigest()


def _said(option: str) -> str:
    return subprocess.run(
        [_KERNEL, option], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=20
    ).stdout.strip()
