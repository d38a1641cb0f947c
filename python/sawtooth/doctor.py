"""What this machine can run, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sawtooth import _core, calibration
from sawtooth.backends import debian, kernels, modules, netns, processes, qemu, registry, uml
from sawtooth.counted import counted, form
from sawtooth.errors import BackendUnavailable
from sawtooth.study import Study


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: it is.
        ok: whether nothing of it is in the way of a run.
        detail: what was found.
        advice: what to do, or to know.
        state: how it is, in a word or two; by itself `ok` or `missing`.

    """

    what: str
    ok: bool
    detail: str
    advice: str = ""
    state: str = ""

    @property
    def said(self) -> str:
        """How it is: `ok` is only what is there and whole."""
        return self.state or ("ok" if self.ok else "missing")

    def facts(self) -> dict[str, object]:
        """For programs."""
        return {"what": self.what, "ok": self.ok, "state": self.said, "detail": self.detail, "advice": self.advice}


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
            "" if free > 1.0 else "full",
        ),
        _temporary(),
        guest_finding(),
        qemu_finding(),
        kvm_finding(),
        netns_finding(),
        _built_kernels(),
        _calibrations(),
        _leftovers(),
        _program("ns", "ns2", "the peer of `make bench` and of the validation against ns-2"),
    ]


def clean() -> list[str]:
    """Ends guests and removes temporary directories that killed laboratories left; says which."""
    return processes.clean()


def guest_finding() -> Finding:
    """Whether user-mode Linux can be run here."""
    what = "user-mode Linux (`--backend uml`)"
    try:
        uml.require()
        kernel = uml.modules()
    except BackendUnavailable as missing:
        return Finding(what, False, missing.message, missing.hint or "")
    return Finding(what, True, f"{kernel.release}, {', '.join(kernel.congestion_controls())}")


def qemu_finding(*, fetch: bool = False) -> Finding:
    """Whether virtual machines can be run here; unless told to, nothing is fetched for the answer."""
    what = "QEMU (`--backend qemu`)"
    try:
        qemu.require()
        if fetch:
            debian.find()
    except BackendUnavailable as missing:
        return Finding(what, False, missing.message, missing.hint or "")
    kernel = debian.present()
    if kernel is None:
        fetches = shutil.which("apt-get") is not None
        advice = (
            "the first run fetches the package linux-image-cloud-amd64 into the cache; or install it"
            if fetches
            else "install the package linux-image-cloud-amd64"
        )
        return Finding(what, fetches, "emulated; the cloud kernel is not here", advice, "to fetch" if fetches else "missing")
    return Finding(what, True, f"emulated; {kernel.release}, {', '.join(kernel.modules.congestion_controls())}")


def kvm_finding() -> Finding:
    """Whether a kernel boots under KVM: tried, where there is one to try."""
    what = 'KVM (`kernel.time = "real"` of qemu)'
    if not qemu_finding().ok or debian.present() is None:
        return Finding(what, False, "not tried without QEMU and a kernel", state="not tried")
    problem = qemu.kvm_problem()
    if problem:
        return Finding(what, False, problem, "real time is emulated instead, with less speed", "unusable" if qemu.has_kvm() else "missing")
    return Finding(what, True, "boots")


def netns_finding() -> Finding:
    """Whether this machine's own kernel can be used."""
    what = "namespaces (`--backend netns`)"
    try:
        netns.require()
    except BackendUnavailable as missing:
        return Finding(what, False, missing.message, missing.hint or "")
    release = platform.release()
    has = netns.congestion_controls()
    here = modules.Modules(Path("/lib/modules") / release)
    loadable = sorted(set(here.congestion_controls()) - set(has)) if here.files else []
    lacking = [name for name in netns.SHAPERS if not netns.has_qdisc(name)]
    advice = [f"root can load {', '.join(f'tcp_{name}' for name in loadable)}"] if loadable else []
    advice += [f'`shaper = "kernel"` needs {" and ".join(lacking)}, which this kernel lacks'] if lacking else []
    return Finding(what, True, f"{release}, {', '.join(has)}, in real time", "; ".join(advice), "in part" if lacking else "ok")


def _built_kernels() -> Finding:
    names = [kernel.name for kernel in kernels.available()]
    what = "built kernels (`kernel.image` of uml)"
    if not names:
        return Finding(what, True, "for studies that name one", "`sawtooth kernel build` makes one", "none")
    return Finding(what, True, ", ".join(names))


def _calibrations() -> Finding:
    """How fast links were when they were calibrated, where that is not without bounds; nothing is fetched for the answer."""
    known: list[str] = []
    unknown: list[str] = []
    for backend, clock in ((row, clock) for row in registry.TABLE for clock in row.clocks if clock not in row.boundless):
        kernels = backend.kernels()
        try:
            assert kernels is not None
            kernels.release(fetch=False)
        except BackendUnavailable:
            continue
        found = calibration.last(backend.name, "simulator", clock, fetch=False)
        name = f"{backend.name} in {clock} time"
        if found is None:
            unknown.append(name)
        else:
            known.append(f"{name} {found.reached_bps / 1e6:,.0f} Mbit/s")
    what = "calibration of links of kernels"
    if not known and not unknown:
        return Finding(what, True, "no kernel that runs here needs it", state="none")
    advice = f"`sawtooth calibrate` would tell how fast they are in {', '.join(unknown)}" if unknown else ""
    return Finding(what, True, ", ".join(known) or "never made", advice, "ok" if not unknown else "in part" if known else "none")


def _leftovers() -> Finding:
    count = processes.leftovers()
    what = "left by killed laboratories"
    if not count:
        return Finding(what, True, "nothing")
    return Finding(
        what, False, counted(count, "temporary directory"), f"`sawtooth doctor --clean` removes {form(count, 'it', 'them')}", "left"
    )


def _temporary() -> Finding:
    directory = tempfile.gettempdir()
    writable = os.access(directory, os.W_OK)
    return Finding("temporary directory", writable, directory, "" if writable else "TMPDIR may name another", "" if writable else "shut")


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
