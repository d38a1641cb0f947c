"""Namespaces: the kernel this machine runs, in real time.

Everything happens in network, process and mount namespaces that end with the batch. Nothing of the host is changed: no module is loaded
and no setting written, so there is nothing to restore, whoever is killed when.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sawtooth import _core
from sawtooth.backends import guest, processes, programs
from sawtooth.backends.launcher import Command, Settings
from sawtooth.backends.modules import Modules, require_congestion_controls
from sawtooth.errors import BackendUnavailable

_TUN = Path("/dev/net/tun")
_SYSCTL = Path("/proc/sys/net")
SHAPERS = ("sch_netem", "sch_tbf")
_NAMESPACES = ("--net", "--mount-proc")


def congestion_controls() -> list[str]:
    """Those that this kernel has now; others may be modules that nobody has loaded."""
    return sorted((_SYSCTL / "ipv4/tcp_available_congestion_control").read_text().split())


def require() -> None:
    """Raises `BackendUnavailable` if namespaces cannot be used here."""
    guest.require_built(guest.AGENT)
    if not os.access(_TUN, os.R_OK | os.W_OK):
        advice = "root can load the module tun" if not _TUN.exists() else f"root can `chmod 666 {_TUN}`, which is what udev does"
        raise BackendUnavailable(f"{_TUN} {'may not be opened by this user' if _TUN.exists() else 'is not there'}", advice)
    processes.require_namespaces(*_NAMESPACES)


def has_qdisc(module: str) -> bool:
    """Whether this kernel has a queueing discipline: loaded, or a part of it; nothing is loaded for the answer."""
    built_in = Path("/lib/modules") / platform.release() / "modules.builtin"
    if (Path("/sys/module") / module).is_dir() or (built_in.is_file() and f"/{module}.ko" in built_in.read_text()):
        return True
    return f"CONFIG_NET_{module.upper()}=y" in _configuration_text()


def release(image: str = "", *, fetch: bool = True) -> str:
    """See `registry.Kernels`."""
    del image, fetch
    return platform.release()


class Netns:
    """See `launcher.Launcher`."""

    name = "netns"

    def machine(self, settings: Settings, algorithms: frozenset[str]) -> NetnsMachine:
        """See `launcher.Launcher`."""
        require()
        if settings.image:
            raise BackendUnavailable(f"`netns` runs this machine's kernel, not `{settings.image}`", "use `--backend uml`")
        if settings.memory_bytes != _default_memory():
            raise BackendUnavailable(
                f"`netns` cannot give {settings.memory_mib} MiB of memory to a run: it has the machine's", "use `--backend qemu`"
            )
        if settings.cpus > 1:
            raise BackendUnavailable(f"`netns` cannot give {settings.cpus} processors to a run", "use `--backend qemu`")
        lacking = [name for name in settings.modules if name.startswith("sch_") and not has_qdisc(name)]
        if lacking:
            raise BackendUnavailable(
                f'this machine\'s kernel {platform.release()} lacks {" and ".join(lacking)}, which `shaper = "kernel"` needs',
                'use `shaper = "simulator"`, or `--backend uml`; root can load a module that is installed',
            )
        if settings.http:
            programs.require_http()
        missing = sorted(algorithms - set(congestion_controls()))
        require_congestion_controls(platform.release(), algorithms, congestion_controls(), _advice(missing))
        return NetnsMachine()

    def virtual(self, settings: Settings) -> bool:
        """Never: it is the host's clock."""
        del settings
        return False

    def provenance(self, settings: Settings, algorithms: frozenset[str]) -> dict[str, Any]:
        """See `launcher.Launcher`."""
        del settings, algorithms
        return {
            "backend": self.name,
            "release": platform.release(),
            "version": platform.version(),
            "config_sha256": hashlib.sha256(text.encode()).hexdigest() if (text := _configuration_text()) else None,
            "modules": [],
            "time": "real",
            "host_cpus": len(os.sched_getaffinity(0)),
            "command": processes.in_namespaces(*_NAMESPACES),
        }


LAUNCHER = Netns()
run_batch = partial(guest.run_batch, LAUNCHER)
parallel = partial(guest.parallel, LAUNCHER)
provenance = partial(guest.provenance, LAUNCHER)


@dataclass(frozen=True)
class NetnsMachine:
    """The agent in namespaces."""

    def prepare(self, directory: Path, jobs: Mapping[str, object], seed: int) -> Command:
        """See `launcher.Machine`."""
        del seed
        place = directory / "jobs"
        place.mkdir()
        for name, job in jobs.items():
            (place / name).write_text(json.dumps(job, sort_keys=True))
        return Command([*processes.in_namespaces(*_NAMESPACES), str(guest.AGENT), "batch", str(place), str(directory / "results")])


def _default_memory() -> int:
    """What a run has that does not say, in bytes."""
    (memory,) = (setting for setting in _core.registry()["kernel"] if setting["name"] == "memory")
    return int(memory["default"].removesuffix(" B"))


def _advice(missing: Sequence[str]) -> str:
    """What brings a congestion control: a module that only root can load, another package's, or another kernel."""
    if not missing:
        return ""
    module = f"tcp_{missing[0]}"
    if module in Modules(Path("/lib/modules") / platform.release()).files:
        return f"root can load the module {module} (`modprobe {module}`)"
    return f"the module {module} is not installed for it (some distributions have it in linux-modules-extra); `--backend uml` and `qemu` have it"


def _configuration_text() -> str:
    """How this kernel was configured, as far as it tells."""
    for path in (Path(f"/boot/config-{platform.release()}"), Path("/proc/config.gz")):
        if path.is_file() and os.access(path, os.R_OK):
            data = path.read_bytes()
            return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(errors="replace")
    return ""
