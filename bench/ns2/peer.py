"""Run one dumbbell on the Debian package of ns-2 and read back what each flow did.

ns-2 is used as a black box: a case goes in as numbers, counters and traces come out.

A case is a dictionary (JSON on the command line):

    bw_bps            bottleneck rate, both directions; reverse_bps for another reverse rate
    access_bps        rate of every access link (default: bw_bps)
    tp_ms             one-way delay of the bottleneck; or delay_s
    access_step_ms    access links of flow i (from 1) have delay (i - 1) * step; or
                      sender_delay_s / receiver_delay_s, lists in seconds
    single            true: no access links, every flow shares the bottleneck's two nodes
    n                 number of flows
    queue             packets, of the bottleneck (reverse_queue: its reverse, access_queue: access links;
                      both default to queue)
    window            window_ in packets, one number or a list
    duration          seconds
    starts            seconds, one number a flow
    packet_size       payload bytes of a segment (default 1000; 40 more on the wire)
    variant           tahoe reno newreno sack fack highspeed vegas linux, one or a list
    select_ca         the congestion control of linux agents, one name or a list
    sink              default "auto": TCPSink, or TCPSink/Sack1 for sack, fack, highspeed and linux; "delack": its delayed form;
                      or a class name such as TCPSink/DelAck
    vars              Agent/TCP variables for all flows; flow_vars: a list of such, one a flow
    sink_vars         Agent/TCPSink variables; delack_vars: Agent/TCPSink/DelAck variables
    drop_forward      packets to lose on the bottleneck, counted from 0 as they arrive there; drop_reverse
    trace_packets     1: events of the bottleneck's queues, 2: of all queues
    trace_vars        agent variables whose every change is reported, e.g. ["cwnd_", "ssthresh_"]
    poll_times        seconds at which poll_vars are printed
    monitor           true: count arrivals and drops of every queue
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Case = dict[str, Any]

SCRIPT = Path(__file__).with_name("dumbbell.tcl")
AGENTS = {
    "tahoe": "TCP",
    "reno": "TCP/Reno",
    "newreno": "TCP/Newreno",
    "sack": "TCP/Sack1",
    "fack": "TCP/Fack",
    "highspeed": "TCP/Sack1",
    "vegas": "TCP/Vegas",
    "linux": "TCP/Linux",
}
SELECTIVE = {"sack", "fack", "highspeed", "linux"}
"""Variants whose receiver must report SACK blocks."""


@dataclass(frozen=True)
class Outcome:
    """What ns-2 printed for one case."""

    flows: list[dict[str, float]]
    links: dict[str, dict[str, float]] = field(default_factory=dict)
    events: list[tuple[float, str]] = field(default_factory=list)
    polled: list[tuple[float, int, dict[str, float]]] = field(default_factory=list)

    @property
    def acked(self) -> list[int]:
        """Highest cumulatively acknowledged packet number of each flow; the SYN is number 0, -1 is nothing."""
        return [int(flow["ack_"]) for flow in self.flows]


class PeerError(RuntimeError):
    """ns-2 failed, is missing or took too long."""


def run_case(case: Case, limit_s: float = 600.0) -> Outcome:
    """Simulate `case` on ns-2; at most `limit_s` seconds of wall time."""
    with tempfile.NamedTemporaryFile("w", suffix=".case", encoding="ascii") as file:
        file.write(tcl_dict(settings(case)))
        file.flush()
        try:
            done = subprocess.run(["ns", str(SCRIPT), file.name], capture_output=True, text=True, timeout=limit_s, check=False)
        except FileNotFoundError as error:
            raise PeerError("ns-2 is not installed: apt-get install ns2") from error
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"ns-2 needed more than {limit_s:g} s") from error
    if done.returncode != 0 or "\nflow " not in "\n" + done.stdout:
        raise PeerError(f"ns-2 ended with status {done.returncode}: {done.stderr.strip()[-800:]}")
    return read_outcome(done.stdout)


def settings(case: Case) -> dict[str, Any]:
    """The case with every default filled in, in the units that the Tcl script passes on."""
    n = int(case["n"])
    variants = per_flow(case["variant"], n)
    step = float(case.get("access_step_ms", 0)) / 1000
    delays = [i * step for i in range(n)]
    queue = int(case["queue"])
    flow_vars = [dict(one) for one in case.get("flow_vars", [{} for _ in range(n)])]
    for chosen, one in zip(variants, flow_vars, strict=True):
        if chosen == "highspeed":
            one.setdefault("windowOption_", 8)
    return {
        "n": n,
        "single": int(bool(case.get("single", False))),
        "rate": float(case["bw_bps"]),
        "reverse_rate": float(case.get("reverse_bps", case["bw_bps"])),
        "access_rate": float(case.get("access_bps", case["bw_bps"])),
        "delay": float(case["delay_s"]) if "delay_s" in case else float(case["tp_ms"]) / 1000,
        "sender_delay": [float(x) for x in case.get("sender_delay_s", delays)],
        "receiver_delay": [float(x) for x in case.get("receiver_delay_s", delays)],
        "queue": queue,
        "reverse_queue": int(case.get("reverse_queue", queue)),
        "access_queue": int(case.get("access_queue", queue)),
        "select_ca": per_flow(case.get("select_ca", "reno"), n),
        "agents": [AGENTS[one] for one in variants],
        "sinks": [sink_class(case.get("sink", "auto"), one) for one in variants],
        "windows": per_flow(case.get("window", 10000), n),
        "packet_size": int(case.get("packet_size", 1000)),
        "starts": [float(x) for x in per_flow(case.get("starts", 0.0), n)],
        "duration": float(case["duration"]),
        "vars": flatten(case.get("vars", {})),
        "flow_vars": [flatten(one) for one in flow_vars],
        "sink_vars": flatten(case.get("sink_vars", {})),
        "delack_vars": flatten(case.get("delack_vars", {})),
        "drop_forward": case.get("drop_forward", []),
        "drop_reverse": case.get("drop_reverse", []),
        "trace_packets": int(case.get("trace_packets", 0)),
        "trace_vars": case.get("trace_vars", []),
        "poll_times": [float(x) for x in case.get("poll_times", [])],
        "poll_vars": case.get("poll_vars", ["ack_", "maxseq_", "cwnd_", "ssthresh_", "srtt_", "rttvar_", "backoff_"]),
        "monitor": int(bool(case.get("monitor", False))),
    }


def per_flow(value: Any, n: int) -> list[Any]:
    """A list of `n` values from one value or a list of that many."""
    values = list(value) if isinstance(value, list) else [value] * n
    if len(values) != n:
        raise ValueError(f"{len(values)} values for {n} flows")
    return values


def sink_class(sink: str, variant: str) -> str:
    """The receiver's class for a sender of that variant."""
    base = "TCPSink/Sack1" if variant in SELECTIVE else "TCPSink"
    return {"auto": base, "delack": base + "/DelAck"}.get(sink, sink)


def flatten(variables: dict[str, Any]) -> list[Any]:
    """Name, value, name, value ..."""
    return [part for pair in variables.items() for part in pair]


def tcl_dict(values: dict[str, Any]) -> str:
    """A Tcl dictionary; `repr` of a float keeps every bit of it."""
    return "\n".join(f"{key} {tcl_word(value)}" for key, value in values.items()) + "\n"


def tcl_word(value: Any) -> str:
    """One Tcl word."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return "{" + " ".join(tcl_word(one) for one in value) + "}"
    return repr(value) if isinstance(value, float) else str(value)


def read_outcome(text: str) -> Outcome:
    """The records that the script printed."""
    outcome = Outcome(flows=[])
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "ev":
            time, _, event = rest.partition(" ")
            outcome.events.append((float(time), event))
        elif kind == "at":
            time, _, index, *words = rest.split()
            outcome.polled.append((float(time), int(index), numbers(words)))
        elif kind == "flow":
            outcome.flows.append(numbers(rest.split()[1:]))
        elif kind == "link":
            name, *words = rest.split()
            outcome.links[name] = numbers(words)
    return outcome


def numbers(words: list[str]) -> dict[str, float]:
    """Name, number, name, number ... as a dictionary."""
    return {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}


def main() -> None:
    """Read a case (or a list of cases) as JSON from standard input, print the outcomes as JSON."""
    cases = json.load(sys.stdin)
    several = cases if isinstance(cases, list) else [cases]
    for case in several:
        outcome = run_case(case)
        for time, event in outcome.events:
            print(f"{time!r} {event}")
        for polled in outcome.polled:
            print(json.dumps(polled))
        print(json.dumps({"flows": outcome.flows, "links": outcome.links}))


if __name__ == "__main__":
    main()
