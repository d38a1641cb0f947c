"""Linux's disciplines: the packaged user-mode kernel with the laboratory's clock, with the host's files as its own (see guest.py)."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ours import Fed
from pseudocode import outcomes
from traffic import DURATION_S, RATE_BPS, Traffic

from sawtooth.backends import guest, uml

# `init` of the guest, a shell: the first open of that name tells the clock that the boot is over.
INIT = """#!/bin/sh
: < {directory}/sawtooth-virtual-time
mount -t proc proc /proc
{python} {program} {directory} > {directory}/log 2>&1
sync
echo o > /proc/sysrq-trigger
sleep 10
"""
LIMIT_S = 900.0
CACHE = Path(tempfile.gettempdir()) / f"sawtooth-qdiscs-{os.getuid()}"


@dataclass(frozen=True)
class Job:
    """A discipline, as `tc` commands whose parent is 1:1, and what it is fed."""

    commands: Sequence[str]
    traffic: Traffic

    def settings(self) -> dict[str, object]:
        """What the guest is told, besides the packets."""
        return {
            "commands": self.commands,
            "rate_bps": int(RATE_BPS),
            "burst_bytes": max(packet.size for packet in self.traffic.packets),
            "duration_ns": int(DURATION_S * 1e9),
        }

    def arrivals(self) -> str:
        """A packet a line: nanoseconds, flow, bytes, ECN field."""
        return "".join(f"{packet.ns} {packet.flow} {packet.size} {packet.ecn}\n" for packet in self.traffic.packets)

    def digest(self) -> str:
        """Of all that a run depends on."""
        guest_program = Path(__file__).with_name("guest.py").read_text()
        told = [self.settings(), self.arrivals(), guest_program, uml.modules().release]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def run(jobs: Mapping[str, Job], modules: Sequence[str]) -> dict[str, Fed]:
    """What the kernel's disciplines do; those that have not been run before one after the other in one boot."""
    # The clock is virtual and the seed fixed: a run is the same every time.
    kept = {key: CACHE / f"{job.digest()}.left" for key, job in jobs.items()}
    new = {key: job for key, job in jobs.items() if not kept[key].exists()}
    if new:
        CACHE.mkdir(mode=0o700, exist_ok=True)
        _run_new(new, kept, modules)
    return {key: _fed(job, kept[key].read_text()) for key, job in jobs.items()}


def _run_new(jobs: Mapping[str, Job], kept: Mapping[str, Path], modules: Sequence[str]) -> None:
    files = [str(path) for path in uml.modules().with_dependencies(["veth", "sch_tbf", "af_packet", *modules])]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for key, job in jobs.items():
            (directory / f"{key}.arrivals").write_text(job.arrivals())
        described = {key: {**job.settings(), "arrivals": str(directory / f"{key}.arrivals")} for key, job in jobs.items()}
        (directory / "job.json").write_text(json.dumps({"modules": files, "jobs": described}))
        (directory / "sawtooth-virtual-time").touch()
        init = directory / "init"
        python = sys.executable if sys.prefix == sys.base_prefix else str(Path(sys.base_prefix) / "bin/python3")
        program = Path(__file__).with_name("guest.py")
        init.write_text(INIT.format(python=shlex.quote(python), program=shlex.quote(str(program)), directory=directory))
        init.chmod(0o755)
        _boot(directory, init)
        outcome = directory / "outcome.json"
        if not outcome.exists():
            raise RuntimeError(f"the guest did not finish: {_tail(directory / 'log')} {_tail(directory / 'console')}")
        said = json.loads(outcome.read_text())
        if "error" in said:
            raise RuntimeError(said["error"])
        for key in jobs:
            shutil.copy(directory / f"{key}.left", kept[key])


def _boot(directory: Path, init: Path) -> None:
    linux = shutil.which("linux.uml")
    if linux is None:
        raise RuntimeError("user-mode Linux is not installed: apt-get install user-mode-linux")
    words = [linux, "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}", "con=null", "con0=null,fd:1", "quiet",
             "norandmaps", "initcall_blacklist=raid6_select_algo,calibrate_xor_blocks", "lpj=1000000"]  # fmt: skip
    environment = {**os.environ, "LD_PRELOAD": str(guest.CLOCK), "SAWTOOTH_SEED": "1", "SAWTOOTH_CLOCK": "virtual"}
    with (directory / "console").open("wb") as console:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=environment, start_new_session=True)
        end = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < end and not (directory / "outcome.json").exists():
            time.sleep(0.5)
        time.sleep(0.5)
        process.kill()
        process.wait()


def _fed(job: Job, text: str) -> Fed:
    """A packet was in transmission for its own time before it left."""
    packets = job.traffic.packets
    left: list[tuple[int, int, int]] = [tuple(map(int, line.split())) for line in text.splitlines()]  # type: ignore[misc]
    waits = [
        (packets[number], max(0.0, (ns - packets[number].ns) / 1e9 - 8 * packets[number].size / RATE_BPS), ecn == 3)
        for number, ns, ecn in left
    ]
    return Fed(outcomes(job.traffic, waits), None)


def _tail(path: Path) -> str:
    return path.read_text(errors="replace")[-2000:] if path.exists() else ""
