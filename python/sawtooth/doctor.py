"""What this machine can run, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sawtooth import _core
from sawtooth.backends import guest, uml
from sawtooth.errors import BackendUnavailable
from sawtooth.study import Study


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    detail: str
    advice: str = ""


def examine() -> list[Finding]:
    """Looks at everything a study may need."""
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    packets, seconds = _speed()
    return [
        Finding("python", True, platform.python_version()),
        Finding(
            "simulator",
            True,
            f"sawtooth {_core.version()}, {packets / seconds / 1e6:.1f} million deliveries/s on one core",
        ),
        Finding("processors", True, f"{os.cpu_count()} ({platform.machine()})"),
        Finding(
            "disk",
            free > 1.0,
            f"{free:.0f} GB free here",
            "" if free > 1.0 else "results of a large study need about 1 GB",
        ),
        Finding("temporary directory", os.access(tempfile.gettempdir(), os.W_OK), tempfile.gettempdir()),
        guest_finding(),
        _program("ns", "ns2", "the peer of `make bench` and of the validation against ns-2"),
    ]


def guest_finding() -> Finding:
    """Whether guests can be run here."""
    what = "user-mode Linux (`--backend uml`)"
    try:
        guest.require_built()
        modules = uml.modules()
    except BackendUnavailable as missing:
        return Finding(what, False, missing.message, missing.hint or "")
    return Finding(what, True, f"{modules.release}, {', '.join(modules.congestion_controls())}")


def _program(name: str, package: str, purpose: str) -> Finding:
    path = shutil.which(name)
    return Finding(f"{name} ({purpose})", path is not None, path or "not found", "" if path else f"install the package {package}")


_PROBE = """
[scenario]
duration = "10 s"
stack = "ns2"
tcp = { window_limit = "10000 packets" }
links.bottleneck = { rate = "100 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
[[scenario.flows]]
path = ["bottleneck"]
"""


def _speed() -> tuple[int, float]:
    from sawtooth.plan import make_plan

    run = make_plan(Study.parse(_PROBE, Path("probe.toml"))).runs[0]
    started = time.perf_counter()
    outcome = _core.simulate([run.scenario], [run.seed])
    return outcome["efforts"][0][2], time.perf_counter() - started
