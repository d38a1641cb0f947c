"""ns-3, the Debian package, through a program of ours: bench/ns3/dumbbell.cc."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbells import ACCESS_BPS, Case, scenario
from twin import PeerError, Run, Twin, thinned

SOURCE = Path(__file__).resolve().parents[1] / "ns3/dumbbell.cc"
LIBRARIES = ("core", "network", "internet", "point-to-point", "applications")
SMSS = 1448
# Two bytes of PPP, 20 of IP, 20 of TCP, 12 of time stamps.
HEADER = 54
LIMIT_S = 1800.0

# ns-3's own defaults, where they are not named here: SACK, time stamps, limited transmit, PRR, a timeout of a second at least, and
# acknowledgements that wait 200 ms for a second segment.
SETTINGS = {
    "ns3::TcpSocket::SndBufSize": "100000000",
    "ns3::TcpSocket::RcvBufSize": "100000000",
    "ns3::TcpSocket::InitialCwnd": "10",
    "ns3::TcpSocket::DelAckCount": "2",
}
TCP = {
    "recovery": "rack",
    "smss": f"{SMSS} B",
    "header": f"{HEADER} B",
    "ack_size": f"{HEADER} B",
    "initial_window": "10 packets",
    "byte_counting": True,
    "handshake_ack": True,
    "tail_loss_probe": False,
    "frto": False,
    "undo": False,
}
# As measured of the growth in docs/validation/peers.md: these grow by acknowledgements, not by what they cover.
PER_ACK = {"byte_counting": False}


class Ns3:
    """Its TcpSocketBase with each of its congestion controls."""

    name = "ns3"
    title = "ns-3"
    sources = (SOURCE,)
    missing: Mapping[str, str] = {
        "cdg": "not in ns-3",
        "nv": "not in ns-3",
        "bbr3": "not in the package: its TcpBbr is version 1",
        "copa": "not in ns-3",
        "prague": "not in the package",
    }
    # Where its default is not the paper's, the paper's; where the paper has no number, or ours is none of its, ns-3's on both sides.
    twins = (
        Twin("TcpLinuxReno", "reno"),
        Twin("TcpNewReno", "reno", tcp=PER_ACK),
        Twin("TcpCubic", "cubic", {"ns3::TcpCubic::HyStartDelayMax": "16ms"}),
        Twin("TcpHighSpeed", "highspeed"),
        Twin("TcpScalable", "scalable", {"ns3::TcpScalable::AIFactor": "100"}),
        Twin("TcpBic", "bic", parameters={"s_max": 16, "beta": 0.2, "search": 4, "smooth": 5}),
        Twin("TcpHtcp", "htcp", tcp=PER_ACK),
        Twin("TcpHybla", "hybla", {"ns3::TcpHybla::RRTT": "25ms"}, tcp=PER_ACK),
        Twin("TcpIllinois", "illinois", {"ns3::TcpIllinois::WinThresh": "10"}, tcp=PER_ACK),
        Twin("TcpVegas", "vegas", tcp=PER_ACK),
        Twin("TcpVeno", "veno", tcp=PER_ACK),
        Twin("TcpWestwood", "westwood", {"ns3::TcpWestwood::ProtocolType": "WestwoodPlus"}, tcp=PER_ACK),
        Twin("TcpYeah", "yeah", tcp=PER_ACK),
        Twin("TcpLp", "lp", tcp=PER_ACK),
        Twin("TcpLedbat", "ledbat", {"ns3::TcpLedbat::SSParam": "no"}, {"init_cwnd": 10}, tcp=PER_ACK),
        Twin("TcpDctcp", "dctcp"),
        Twin("TcpBbr", "bbr"),
    )

    def version(self) -> str:
        return package("libns3-dev")

    def command(self, case: Case, twin: Twin, trace: bool) -> list[str]:
        settings = SETTINGS | {"ns3::TcpL4Protocol::SocketType": f"ns3::{twin.name}"} | dict(twin.settings)
        return [
            f"--rate={case.rate_bps:.0f}bps",
            f"--delay={case.delay_s!r}s",
            f"--access={ACCESS_BPS:.0f}bps",
            f"--queue={case.queue}",
            f"--duration={case.duration_s!r}s",
            "--flows=" + ",".join(f"{flow.start_s!r}s:{flow.access_delay_s!r}s" for flow in case.flows),
            *(["--drop=" + ",".join(str(number - 1) for number in case.drop)] if case.drop else []),
            f"--smss={SMSS}",
            "--set=" + ";".join(f"{name}={value}" for name, value in settings.items()),
            f"--trace={int(trace)}",
        ]

    def run(self, command: list[str]) -> Run:
        received: list[float] = []
        window: list[tuple[float, float]] = []
        for line in output(command).splitlines():
            kind, *words = line.split()
            if kind == "flow":
                received.append(int(words[2]) / SMSS)
            elif kind == "cwnd" and words[0] == "0":
                window.append((float(words[1]), int(words[2]) / SMSS))
        return Run(received, thinned(window))

    def scenario(self, case: Case, twin: Twin) -> dict[str, Any]:
        return scenario(case, twin.ours, "rfc", TCP | dict(twin.tcp))

    def delivered(self, flow: Mapping[str, Any]) -> float:
        return flow["delivered_bytes"] / SMSS


def output(arguments: list[str]) -> str:
    """What the program prints."""
    try:
        done = subprocess.run([program(), *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"ns-3 needed more than {LIMIT_S:g} s: {arguments}") from error
    if done.returncode != 0:
        raise PeerError(f"ns-3 ended with status {done.returncode}: {arguments}: {done.stderr.strip()[-800:]}")
    return done.stdout


@functools.cache
def program() -> str:
    """The program, compiled if this source has not been: 5 s of a processor."""
    digest = hashlib.sha256(SOURCE.read_bytes() + package("libns3-dev").encode()).hexdigest()[:16]
    binary = Path(tempfile.gettempdir()) / f"sawtooth-ns3-{os.getuid()}" / digest
    if not binary.exists():
        binary.parent.mkdir(mode=0o700, exist_ok=True)
        new = binary.with_suffix(f".{os.getpid()}")
        libraries = [f"-lns3-{name}" for name in LIBRARIES]
        done = subprocess.run(
            ["c++", "-O1", "-std=c++17", str(SOURCE), "-o", str(new), *libraries], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise PeerError(f"{SOURCE.name} does not compile: {done.stderr[-2000:]}")
        new.rename(binary)
    return str(binary)


@functools.cache
def package(name: str) -> str:
    """The version of a Debian package."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name], capture_output=True, text=True, check=False)
    status, _, version = done.stdout.partition(" ")
    if done.returncode != 0 or status != "installed":
        raise PeerError(f"the Debian package {name} is not installed: apt-get install {name}")
    return version
