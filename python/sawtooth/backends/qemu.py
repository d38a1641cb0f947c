"""QEMU: the distribution's cloud kernel in a virtual machine, without root.

In virtual time the machine is emulated and every instruction takes 1 ns, whatever the host does: two boots are the same bit for bit. The
emulator's two threads would race now and then; a preloaded library makes them take turns (`crates/sawtooth-turns`). The machine has one
processor, as QEMU stands still with more (`-icount sleep=off`), and is QEMU's smallest, without firmware tables or devices to look for:
it boots in a third of a PC's time. In real time the machine is KVM's where that works and emulated elsewhere, with any number of
processors.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from sawtooth.backends import debian, guest, images, processes, programs
from sawtooth.backends.launcher import Command, Settings
from sawtooth.backends.modules import module_name
from sawtooth.errors import BackendUnavailable

_PROGRAM = "qemu-system-x86_64"
_KVM = Path("/dev/kvm")
# The I/O port of QEMU's debug console, whose bytes go to a file.
_PORT = 0xE9
# Without a clock of its own, and without what would make one boot differ from another: the host's entropy, random addresses, and
# loops that measure the processor.
_PARAMETERS = (
    "console=ttyS0 quiet rdinit=/init panic=-1 reboot=t edd=off mitigations=off cryptomgr.notests "
    "nokaslr norandmaps random.trust_cpu=off random.trust_bootloader=on"
)
# Seconds of the host that a boot under KVM may take; it takes less than one where it works.
_KVM_PATIENCE = 10.0


def require() -> None:
    """Raises `BackendUnavailable` if no machine can be run here, whatever its kernel."""
    guest.require_built(guest.AGENT, guest.TURNS)
    if shutil.which(_PROGRAM) is None:
        raise BackendUnavailable("QEMU is not installed", "install the package qemu-system-x86; `sawtooth doctor` shows what is there")
    processes.require_setpriv()


@cache
def has_kvm() -> bool:
    """Whether this machine has it, usable or not."""
    return _KVM.exists()


def kvm_problem() -> str:
    """Why KVM cannot be used here; nothing if it can."""
    if not has_kvm():
        return f"there is no {_KVM}"
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return f"{_KVM} may not be opened by this user (its group is usually kvm)"
    settings = Settings("", 192 << 20, 1, virtual=False, http=False, modules=("tun",))
    machine = LAUNCHER.assemble(settings, frozenset(), "kvm")
    results, console, _ = guest.boot("kvm", machine, {}, _KVM_PATIENCE)
    return (
        "" if "done" in results else f"a kernel does not boot under it (nested virtualisation?); the console: {guest.tail(console)[-100:]}"
    )


def release(image: str = "", *, fetch: bool = True) -> str:
    """See `registry.Kernels`."""
    del image
    kernel = debian.present()
    if kernel is None and not fetch:
        raise BackendUnavailable("the cloud kernel is not here", "the first run fetches it")
    return (kernel or debian.find()).release


class Qemu:
    """See `launcher.Launcher`."""

    name = "qemu"

    def machine(self, settings: Settings, algorithms: frozenset[str]) -> QemuMachine:
        """See `launcher.Launcher`."""
        require()
        if settings.image:
            raise BackendUnavailable(
                f"`{settings.image}` is a kernel for user-mode Linux", "use `--backend uml`, or leave `kernel.image` out"
            )
        if settings.virtual and settings.cpus > 1:
            raise BackendUnavailable(
                f"{settings.cpus} processors are not possible in virtual time: QEMU stands still with more than one",
                'set `kernel.time = "real"`, or `kernel.cpus = 1`',
            )
        return self.assemble(settings, algorithms, self._accelerator(settings))

    def assemble(self, settings: Settings, algorithms: frozenset[str], accelerator: str) -> QemuMachine:
        """A machine of these settings: `icount`, `kvm` or `tcg`."""
        kernel = debian.find()
        wanted = [*settings.modules, *kernel.modules.for_congestion_controls(algorithms)]
        load = kernel.modules.with_dependencies(wanted)
        files = [images.File("init", guest.AGENT, executable=True), *(programs.http_files() if settings.http else [])]
        files += [images.File(f"modules/{module_name(path)}", path) for path in load]
        return QemuMachine(settings, kernel.image, images.base(files), load, accelerator)

    def virtual(self, settings: Settings) -> bool:
        """See `launcher.Launcher`."""
        return settings.virtual

    def provenance(self, settings: Settings, algorithms: frozenset[str]) -> dict[str, Any]:
        """See `launcher.Launcher`."""
        machine = self.machine(settings, algorithms)
        kernel = debian.find()
        return {
            "backend": self.name,
            "release": kernel.release,
            "version": kernel.version,
            "config_sha256": kernel.config_sha256,
            "modules": [module_name(path) for path in machine.load],
            "time": "virtual" if settings.virtual else "real",
            "accelerator": machine.accelerator,
            "memory_bytes": settings.memory_bytes,
            "cpus": settings.cpus,
            # In real time more of them in the guest than there are measures this machine's scheduler, too.
            **({} if settings.virtual else {"host_cpus": len(os.sched_getaffinity(0))}),
            "command": machine.words(1),
        }

    def _accelerator(self, settings: Settings) -> str:
        if settings.virtual:
            return "icount"
        return "tcg" if kvm_problem() else "kvm"


LAUNCHER = Qemu()
run_batch = partial(guest.run_batch, LAUNCHER)
parallel = partial(guest.parallel, LAUNCHER)
provenance = partial(guest.provenance, LAUNCHER)


@dataclass(frozen=True)
class QemuMachine:
    """A kernel, what it boots from, and what executes its instructions."""

    settings: Settings
    kernel: Path
    base: Path
    load: Sequence[Path]
    accelerator: str

    def words(self, seed: int) -> list[str]:
        """QEMU's command line."""
        # A PC tells of its processors and has clocks that the kernel can measure the real time with.
        accelerators = {
            "icount": ["-machine", "microvm,acpi=off,rtc=on,isa-serial=on", "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"],
            "tcg": ["-machine", "pc", "-accel", "tcg,thread=multi"],
            "kvm": ["-machine", "pc", "-accel", "kvm", "-cpu", "host"],
        }
        parameters = _PARAMETERS + (" nosmp" if self.settings.cpus == 1 else "")
        if self.accelerator == "icount":
            # One instruction a nanosecond: the kernel need not measure it.
            parameters += " tsc=reliable no_timer_check tsc_early_khz=1000000"
        return [
            _PROGRAM, *accelerators[self.accelerator],
            "-m", str(self.settings.memory_mib), "-smp", str(self.settings.cpus),
            # The kernel asks this clock for the date, and QEMU gives seeds to what it starts.
            "-rtc", "base=2020-09-13T12:26:40,clock=vm", "-seed", str(seed % (1 << 32)),
            # With the names of threads.
            "-name", "guest,debug-threads=on", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
            "-chardev", "file,id=console,path=console,append=on", "-serial", "chardev:console",
            "-chardev", "file,id=results,path=results/stream", "-device", f"isa-debugcon,iobase={_PORT:#x},chardev=results",
            "-kernel", "kernel", "-initrd", "initrd", "-append", parameters,
        ]  # fmt: skip

    def prepare(self, directory: Path, jobs: Mapping[str, object], seed: int) -> Command:
        """See `launcher.Machine`."""
        (directory / "kernel").symlink_to(self.kernel)
        (directory / "initrd").write_bytes(self.base.read_bytes() + images.batch(jobs, self.load, f"port {_PORT}"))
        return Command(self.words(seed), {"LD_PRELOAD": str(guest.TURNS)} if self.accelerator == "icount" else {})
