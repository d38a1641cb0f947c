"""Speed of the simulator beside ns-2 and ns-3: the same scenarios, one core, whole processes less their start-up, median of five.

    make bench            or            python bench/speed.py --json

Both sides are a process of their own, pinned to one core: `ns` with a script that traces nothing, and Python with the
simulator. Start-up is the same process with a run that ends at once, so it contains loading and building the network.
Times are the CPU seconds of the process, which do not depend on what else the machine does. Runs alternate. ns-3, where the Debian package
`libns3-dev` is installed, does the same dumbbells once, for a shorter time (`--ns3`), as it is slow; its TCP is its own, so it is compared by
segments per second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "ns2"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

import peer
from cases import scenario
from twin import PeerError

import ns3
from pages import table

# The extension module is loaded without the package around it: data frames have no part in simulating.
OUR_PROCESS = """
import json, sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
place = next(Path(find_spec("sawtooth").origin).parent.glob("_core*.so"))
spec = spec_from_file_location("_core", place)
_core = module_from_spec(spec)
spec.loader.exec_module(_core)
outcome = _core.simulate([sys.stdin.read()], [1])
assert not outcome["errors"], outcome["errors"]
(_, events, deliveries), = outcome["efforts"]
kind, buffer, *_ = outcome["tables"]["flows"]["acked_packets"]
acked = memoryview(buffer).cast("Q").tolist()
print(json.dumps({"acked": acked, "events": events, "deliveries": deliveries}))
"""
EMPTY_SECONDS = 1e-6
VARIANTS = ("newreno", "sack", "highspeed")
# What ns-3 takes for each of them.
IN_NS3 = {
    "newreno": {"ns3::TcpL4Protocol::SocketType": "ns3::TcpNewReno", "ns3::TcpSocketBase::Sack": "false"},
    "sack": {"ns3::TcpL4Protocol::SocketType": "ns3::TcpNewReno"},
    "highspeed": {"ns3::TcpL4Protocol::SocketType": "ns3::TcpHighSpeed"},
}
NS3_SECONDS = 5.0
HTSIM_PACKETS_PER_S = 5.6e6
"""Of htsim with a minimal TCP (no SACK, no pacing) on one core: measured for this project in November 2026, on another machine. No published figure is known to us."""


@dataclass(frozen=True)
class Cost:
    """What one process used."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    output: str


@dataclass(frozen=True)
class Side:
    """One simulator on one case, start-up taken off."""

    cpu_s: float
    wall_s: float
    startup_cpu_s: float
    peak_bytes: int
    startup_peak_bytes: int
    packets_per_s: float
    ns_per_packet: float


@dataclass(frozen=True)
class Result:
    """One case on both."""

    name: str
    packets: int
    same_packets: bool
    ns2: Side
    ours: Side
    events_per_packet: float
    ratio: float
    wall_ratio: float
    ns3_packets_per_s: float | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, the median counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--ns3", type=float, default=NS3_SECONDS, metavar="SECONDS", help="simulated seconds of each case in ns-3; 0: none")
    options = parser.parse_args()
    results: list[Result] = []
    for name, case in benchmark_cases().items():
        if options.only and options.only not in name:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        results.append(measure(name, case, options.runs, options.ns3))
    print(json.dumps([asdict(result) for result in results], indent=2) if options.json else comparison(results))
    return 0


def benchmark_cases() -> dict[str, peer.Case]:
    """The study's fastest cells with 2 and 32 flows, and one flow on a long fat path, each with NewReno, SACK and HighSpeed TCP."""
    bdp_packets = round(1e9 * 0.040 / (8 * 1040))
    networks = {
        "102.4 Mbit/s, 50 ms, 2 flows": dumbbell(102_400_000.0, 0.050, 2, queue=50, duration=50.0),
        "102.4 Mbit/s, 50 ms, 32 flows": dumbbell(102_400_000.0, 0.050, 32, queue=50, duration=50.0),
        "1 Gbit/s, RTT 40 ms, BDP buffer, 1 flow": dumbbell(1e9, 0.020, 1, queue=bdp_packets, duration=50.0),
    }
    return {f"{name}, {variant}": {**case, "variant": variant} for variant in VARIANTS for name, case in networks.items()}


def dumbbell(rate: float, delay: float, n: int, queue: int, duration: float) -> peer.Case:
    """The network of the HighSpeed study, NewReno, starts 0.3 s / n apart."""
    return {
        "variant": "newreno",
        "n": n,
        "single": False,
        "bw_bps": rate,
        "access_bps": rate,
        "delay_s": delay,
        "sender_delay_s": [0.0] * n,
        "receiver_delay_s": [0.0] * n,
        "queue": queue,
        "access_queue": queue,
        "window": 10_000,
        "packet_size": 1000,
        "starts": [0.3 / n * i for i in range(1, n + 1)],
        "duration": duration,
        "sink": "auto",
        "reverse_bps": rate,
        "reverse_queue": queue,
    }


def measure(name: str, case: peer.Case, runs: int, ns3_seconds: float) -> Result:
    """Median of `runs` of each side, alternating."""
    empty = {**case, "duration": EMPTY_SECONDS}
    sides: list[Callable[[peer.Case], Cost]] = [run_ns2, run_ours]
    full: list[list[Cost]] = [[], []]
    start: list[list[Cost]] = [[], []]
    for _ in range(runs):
        for i, run in enumerate(sides):
            start[i].append(run(empty))
            full[i].append(run(case))
    reference = peer.read_outcome(full[0][0].output).acked
    answer = json.loads(full[1][0].output)
    packets = sum(answer["acked"])
    ns2 = side(full[0], start[0], sum(reference))
    ours = side(full[1], start[1], packets)
    return Result(
        name=name,
        packets=packets,
        same_packets=reference == answer["acked"],
        ns2=ns2,
        ours=ours,
        events_per_packet=answer["events"] / packets,
        ratio=ours.packets_per_s / ns2.packets_per_s,
        wall_ratio=ns2.wall_s / ours.wall_s,
        ns3_packets_per_s=measure_ns3({**case, "duration": ns3_seconds}) if ns3_seconds else None,
    )


def measure_ns3(case: peer.Case) -> float | None:
    """Segments that ns-3 delivers per CPU second, start-up taken off; nothing where it is not installed."""
    try:
        program = ns3.program()
    except PeerError as error:
        print(error, file=sys.stderr)
        return None
    segment = case["packet_size"] + 40 - ns3.HEADER
    # Twice what the path and its queue hold: it takes ns-3 longer to acknowledge, the more its application has written ahead.
    buffer = f"{2 * (case['bw_bps'] * case['delay_s'] / 4 + case['queue'] * case['packet_size']):.0f}"
    settings = {
        **ns3.SETTINGS, "ns3::TcpSocket::SndBufSize": buffer, "ns3::TcpSocket::RcvBufSize": buffer, "ns3::TcpSocket::InitialCwnd": "2",
        "ns3::TcpSocket::DelAckCount": "1", **IN_NS3[case["variant"]],
    }  # fmt: skip
    command = [
        program, f"--rate={case['bw_bps']:.0f}bps", f"--access={case['access_bps']:.0f}bps", f"--delay={case['delay_s']!r}s", f"--queue={case['queue']}",
        # A nanosecond, so that each sender has a link of its own.
        "--flows=" + ",".join(f"{start!r}s:1ns" for start in case["starts"]), f"--smss={segment}",
        "--set=" + ";".join(f"{name}={value}" for name, value in settings.items()),
    ]  # fmt: skip
    empty, full = (spend([*command, f"--duration={seconds!r}s"], "") for seconds in (EMPTY_SECONDS, case["duration"]))
    received = sum(int(line.split()[3]) for line in full.output.splitlines() if line.startswith("flow "))
    return received / segment / max(full.cpu_s - empty.cpu_s, 1e-9)


def side(full: Sequence[Cost], start: Sequence[Cost], packets: int) -> Side:
    """Medians, less start-up."""

    def median(costs: Sequence[Cost], value: Callable[[Cost], float]) -> float:
        return statistics.median(value(cost) for cost in costs)

    startup = median(start, lambda cost: cost.cpu_s)
    cpu = max(1e-9, median(full, lambda cost: cost.cpu_s) - startup)
    wall = max(1e-9, median(full, lambda cost: cost.wall_s) - median(start, lambda cost: cost.wall_s))
    return Side(
        cpu_s=cpu,
        wall_s=wall,
        startup_cpu_s=startup,
        peak_bytes=int(median(full, lambda cost: cost.peak_bytes)),
        startup_peak_bytes=int(median(start, lambda cost: cost.peak_bytes)),
        packets_per_s=packets / cpu,
        ns_per_packet=cpu / packets * 1e9,
    )


def run_ns2(case: peer.Case) -> Cost:
    """One ns-2 process; nothing is traced."""
    with tempfile.NamedTemporaryFile("w", suffix=".case", encoding="ascii") as file:
        file.write(peer.tcl_dict(peer.settings(case)))
        file.flush()
        return spend(["ns", str(peer.SCRIPT), file.name], "")


def run_ours(case: peer.Case) -> Cost:
    """One Python process with the simulator."""
    return run_tree(scenario(case))


def run_tree(tree: dict[str, Any]) -> Cost:
    """The same of a scenario."""
    return spend([sys.executable, "-c", OUR_PROCESS], json.dumps(tree))


def spend(command: Sequence[str], text: str) -> Cost:
    """Run a command on one core and read what it used from the kernel's accounts."""
    with tempfile.TemporaryFile("w+") as into, tempfile.TemporaryFile("w+") as out:
        into.write(text)
        into.seek(0)
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=into, stdout=out, preexec_fn=pin)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"error: {command[0]} ended with status {process.returncode}")
        out.seek(0)
        cost = Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, out.read())
    return replace(cost, output=cost.output.strip())


def pin() -> None:
    """Keep this process on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def comparison(results: Sequence[Result]) -> str:
    """The table of all cases, and what its columns mean."""
    header = ["Case", "Packets", "ns-2 s", "ours s", "Ratio", "To ns-3", "To htsim", "ns-2 packets/s", "ours packets/s", "ns-3 packets/s",
              "ns-2 ns/packet", "ours ns/packet", "events/packet", "ns-2 peak", "ours peak"]  # fmt: skip
    rows: list[list[str]] = []
    for one in results:
        note = "" if one.same_packets else " (ns-2 acknowledges others)"
        rows.append([
            one.name, f"{one.packets}{note}", f"{one.ns2.cpu_s:.3f}", f"{one.ours.cpu_s:.3f}", f"**{one.ratio:.1f}**",
            f"{one.ours.packets_per_s / one.ns3_packets_per_s:.0f}" if one.ns3_packets_per_s else "",
            f"{one.ours.packets_per_s / HTSIM_PACKETS_PER_S:.1f}",
            f"{one.ns2.packets_per_s / 1e6:.2f} M", f"{one.ours.packets_per_s / 1e6:.2f} M",
            f"{one.ns3_packets_per_s / 1e6:.3f} M" if one.ns3_packets_per_s else "",
            f"{one.ns2.ns_per_packet:.0f}", f"{one.ours.ns_per_packet:.0f}", f"{one.events_per_packet:.2f}",
            mebibytes(one.ns2.peak_bytes, one.ns2.startup_peak_bytes), mebibytes(one.ours.peak_bytes, one.ours.startup_peak_bytes),
        ])  # fmt: skip
    legend = (
        "Seconds are CPU seconds less start-up (median: ns-2 "
        f"{statistics.median(one.ns2.startup_cpu_s for one in results):.3f} s, ours with the Python interpreter "
        f"{statistics.median(one.ours.startup_cpu_s for one in results):.3f} s). Packets are acknowledged data packets. "
        "Peak: resident memory of the process, in brackets what the run added to start-up. "
        f"htsim: {HTSIM_PACKETS_PER_S / 1e6:.1f} million packets per second, measured for this project on another machine, so only the order of magnitude counts."
    )
    return table(header, rows, "l" + "r" * 14) + "\n\n" + legend


def mebibytes(peak: int, startup: int) -> str:
    return f"{peak / 2**20:.0f} MiB (+{max(0, peak - startup) / 2**20:.1f})"


if __name__ == "__main__":
    sys.exit(main())
