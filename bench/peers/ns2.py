"""ns-2, the Debian package, through bench/ns2: its one-way agents, and its agent that runs modules of Linux 2.6."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbells import ACCESS_BPS, ACCESS_PACKETS, Case, scenario
from twin import PeerError, Run, Twin, thinned

from ns3 import package

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ns2"))

import peer as ns2

SMSS = 1460
WINDOW = 100_000
MODULES = ("reno", "cubic", "highspeed", "scalable", "bic", "htcp", "hybla", "illinois", "vegas", "veno", "westwood", "yeah", "lp")


class Agents:
    """The agents that ns-2 has had from the start; each is a loss recovery with a congestion control of its own."""

    name = "ns2"
    title = "ns-2, its own agents"
    sources = (ns2.SCRIPT,)
    missing: Mapping[str, str] = {}
    twins = (
        Twin("Tahoe", "reno", {"variant": "tahoe"}, tcp={"recovery": "tahoe"}),
        Twin("Reno", "reno", {"variant": "reno"}, tcp={"recovery": "reno"}),
        Twin("Newreno", "reno", {"variant": "newreno"}, tcp={"recovery": "newreno"}),
        Twin("Sack1", "reno", {"variant": "sack"}, tcp={"recovery": "sack"}),
        Twin("Sack1, HighSpeed", "highspeed", {"variant": "highspeed"}, tcp={"recovery": "sack"}),
        Twin("Vegas", "vegas", {"variant": "vegas"}, {"alpha": 1, "beta": 3}, tcp={"recovery": "reno"}),
    )

    def version(self) -> str:
        return package("ns2")

    def command(self, case: Case, twin: Twin, trace: bool) -> dict[str, Any]:
        return dumbbell(case, trace) | dict(twin.settings)

    def run(self, command: dict[str, Any]) -> Run:
        return run(command)

    def scenario(self, case: Case, twin: Twin) -> dict[str, Any]:
        tcp = {"window_limit": f"{WINDOW} packets", "smss": f"{SMSS} B"} | dict(twin.tcp)
        return scenario(case, twin.ours, "ns2", tcp, receiver_links=True)

    def delivered(self, flow: Mapping[str, Any]) -> float:
        return float(flow["acked_packets"])


class LinuxAgent(Agents):
    """TCP/Linux: the modules of Linux 2.6 on a transport that ns-2 has for them."""

    name = "ns2-linux"
    title = "ns-2, its TCP/Linux agent"
    missing: Mapping[str, str] = dict.fromkeys(
        ("cdg", "nv", "dctcp", "ledbat", "bbr", "bbr3", "copa", "prague"), "no such module in the package"
    )
    twins = tuple(Twin(name, name) for name in MODULES)

    def command(self, case: Case, twin: Twin, trace: bool) -> dict[str, Any]:
        return dumbbell(case, trace) | {
            "variant": "linux",
            "select_ca": twin.name,
            "vars": {"timestamps_": True},
            "sink_vars": {"ts_echo_rfc1323_": True},
        }

    def scenario(self, case: Case, twin: Twin) -> dict[str, Any]:
        return scenario(case, twin.ours, "ns2", TCP | dict(twin.tcp), receiver_links=True)


# As the agent's variables say, or as its packets show: 10 bytes of time stamps on data only; the first data leaves with the SYN; a loss sets the window
# at once; retransmissions that are lost are repaired without a timeout.
TCP = {
    "recovery": "rack",
    "prr": False,
    "tail_loss_probe": False,
    "frto": False,
    "undo": False,
    "handshake": False,
    "smss": f"{SMSS} B",
    "header": "50 B",
    "ack_size": "40 B",
    "window_limit": f"{WINDOW} packets",
    "whole_windows": True,
    "algorithms": "linux",
    "rto_estimator": "rfc6298",
    "rto_max": "120 s",
}


def dumbbell(case: Case, trace: bool) -> dict[str, Any]:
    """The case in the words of bench/ns2/peer.py."""
    return {
        "bw_bps": case.rate_bps,
        "delay_s": case.delay_s,
        "queue": case.queue,
        "single": not case.has_access_links,
        "access_bps": ACCESS_BPS,
        "access_queue": ACCESS_PACKETS,
        "n": len(case.flows),
        "sender_delay_s": [flow.access_delay_s for flow in case.flows],
        "receiver_delay_s": [0.0 for _ in case.flows],
        "starts": [flow.start_s for flow in case.flows],
        "window": WINDOW,
        "packet_size": SMSS,
        "duration": case.duration_s,
        "drop_forward": [number - 1 for number in case.drop],
        "trace_vars": ["cwnd_"] if trace else [],
    }


def run(command: dict[str, Any]) -> Run:
    """One run of the program."""
    try:
        outcome = ns2.run_case(command)
    except ns2.PeerError as error:
        raise PeerError(str(error)) from error
    window: list[tuple[float, float]] = []
    for time, event in outcome.events:
        words = event.split()
        # TIME, source address and port, destination address and port, name, value.
        if "cwnd_" in words:
            window.append((time, float(words[-1])))
    return Run([float(max(0, acked)) for acked in outcome.acked], thinned(window))
