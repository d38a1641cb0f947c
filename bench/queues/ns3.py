"""ns-3's disciplines, the Debian package, through a program of ours: bench/ns3/queue.cc."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ours import Fed, Flow
from traffic import DURATION_S, RATE_BPS, Traffic

SOURCE = Path(__file__).resolve().parents[1] / "ns3/queue.cc"
LIBRARIES = ("core", "network", "internet", "traffic-control")


def fed(kind: str, settings: Mapping[str, str], traffic: Traffic, seed: int) -> Fed:
    """What ns-3's discipline does, described by its type and attributes."""
    with tempfile.NamedTemporaryFile("w", suffix=".arrivals") as arrivals:
        arrivals.writelines(f"{packet.ns} {packet.flow} {packet.size} {packet.ecn}\n" for packet in traffic.packets)
        arrivals.flush()
        words = [
            program(),
            f"--type=ns3::{kind}",
            *(["--set=" + ";".join(f"{name}={value}" for name, value in settings.items())] if settings else []),
            f"--rate={RATE_BPS:.0f}bps",
            f"--until={DURATION_S}s",
            f"--arrivals={arrivals.name}",
            f"--seed={seed}",
        ]
        said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600).stdout
    flows: list[Flow] = []
    packets = 0.0
    for line in said.splitlines():
        words = line.split()
        if words[0] == "flow":
            flows.append(Flow(int(words[3]), int(words[5]), int(words[7]), float(words[9])))
        else:
            packets = float(words[2])
    return Fed(flows, packets)


@functools.cache
def version() -> str:
    """The package's."""
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libns3-dev"], capture_output=True, text=True, check=True).stdout


@functools.cache
def program() -> str:
    """The program, compiled if this source has not been: 5 s of a processor."""
    digest = hashlib.sha256(SOURCE.read_bytes() + version().encode()).hexdigest()[:16]
    binary = Path(tempfile.gettempdir()) / f"sawtooth-ns3-{os.getuid()}" / digest
    if not binary.exists():
        binary.parent.mkdir(mode=0o700, exist_ok=True)
        new = binary.with_suffix(f".{os.getpid()}")
        libraries = [f"-lns3-{name}" for name in LIBRARIES]
        subprocess.run(["c++", "-O1", "-std=c++17", str(SOURCE), "-o", str(new), *libraries], check=True)
        new.rename(binary)
    return str(binary)
