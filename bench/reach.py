"""What a packet costs from one flow to a hundred thousand, and from 1 Mbit/s to 100 Gbit/s; and what a million flows take.

    make bench            or            python bench/reach.py --million

Each figure is the difference of two runs of unlike length, processor time by packets delivered, so that reading and building are in none. The
least of several counts. Flows: each is limited by a window of ten packets over 20 ms, which its share of the link just carries. Rates: one flow with a
buffer of two bandwidth-delay products, and a window of one and a half of it. All are of the `ns2` stack with NewReno, and flows of the `linux` stack with CUBIC, too, with what each of them takes in
memory: the difference of two processes, which have `MANY` of them and a quarter of these alive. `--million` has as many flows alive, for two seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from sawtooth import _core

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table
from speed import Cost, run_tree

FLOWS = (1, 10, 100, 1000, 10_000, 100_000)
RATES = {"1 Mbit/s": 1e6, "10 Mbit/s": 1e7, "100 Mbit/s": 1e8, "1 Gbit/s": 1e9, "10 Gbit/s": 1e10, "100 Gbit/s": 1e11}
PACKETS = 2_000_000
PACKET_BITS = 8 * 1040
RTT_S = 0.020
WINDOW = 10
# How much the dearest may cost of the cheapest.
WANTED = 3.0
MILLION = 1_000_000
# Of whose memory a flow's share is taken, and for how long they send: all have begun, and their packets are under way.
MANY = 40_000
ALIVE_S = 0.3
STACKS: dict[str, dict[str, Any]] = {
    "ns2": {"stack": "ns2", "tcp": {"recovery": "newreno"}, "cc": "reno"},
    "linux": {"stack": "linux", "tcp": {}, "cc": "cubic"},
}
LIMITS = {"memory": "32 GB", "events": 1e10, "flows": 2_000_000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="of each, the least counts")
    parser.add_argument("--most", type=int, default=FLOWS[-1], help="no more flows than this")
    parser.add_argument("--million", action="store_true", help="a million flows as well: minutes and gigabytes")
    options = parser.parse_args()
    # A process begins with the peak of the one that starts it, which is to be a small one.
    kilobytes = {stack: memory_of_one(stack) for stack in STACKS}
    for stack in STACKS:
        print(f"{stack}: a flow more takes {kilobytes[stack]:.1f} KB\n")
        numbers = [number for number in FLOWS if number <= options.most]
        said({f"{number:,}": (many(number, stack), rounds(number)) for number in numbers}, "Flows", options.runs)
    said({name: (fast(bps), seconds(bps)) for name, bps in RATES.items()}, "Rate", options.runs)
    if options.million:
        million()


def said(cases: dict[str, tuple[dict[str, Any], float]], what: str, runs: int) -> None:
    rows: list[list[str]] = []
    costs: list[float] = []
    for name, (tree, duration) in cases.items():
        nanoseconds, packets = cost(tree, duration, runs)
        costs.append(nanoseconds)
        rows.append([name, f"{duration:g}", f"{packets}", f"{nanoseconds:.0f}", f"{nanoseconds / min(costs):.1f}"])
    print(table([what, "Simulated seconds", "Packets", "ns per packet", "To the least before"], rows, "lrrrr"))
    print(f"\nThe dearest costs {max(costs) / min(costs):.1f} times the cheapest; wanted: at most {WANTED:g}.\n")


def cost(tree: dict[str, Any], duration: float, runs: int) -> tuple[float, int]:
    """Nanoseconds of a packet, and how many it is of."""
    short, long = ([spent({**tree, "duration": f"{until!r} s"}) for _ in range(runs)] for until in (duration / 2, duration))
    packets = long[0][1] - short[0][1]
    return (min(one[0] for one in long) - min(one[0] for one in short)) / packets * 1e9, packets


def spent(tree: dict[str, Any]) -> tuple[float, int]:
    """Processor seconds of a run, and packets that it delivered."""
    text = json.dumps(tree)
    began = time.process_time()
    outcome = _core.simulate([text], [1])
    seconds = time.process_time() - began
    assert not outcome["errors"], outcome["errors"]
    return seconds, outcome["efforts"][0][2]


def memory_of_one(stack: str) -> float:
    """Kilobytes that one flow more takes, with its packets and its row of the results."""
    few = MANY // 4
    least, most = (run_tree({**many(number, stack), "duration": f"{ALIVE_S} s"}).peak_bytes for number in (few, MANY))
    return (most - least) / (MANY - few) / 1e3


def many(number: int, stack: str = "ns2") -> dict[str, Any]:
    """Flows over one link that just carries them, their starts spread over a round trip."""
    rate = number * WINDOW * PACKET_BITS / RTT_S
    return network(rate, RTT_S / 2, f"{WINDOW} packets", stack) | {
        "flows": [{"path": ["bottleneck"], "count": number, "start": f"{RTT_S} s * i / count"}], "limits": LIMITS,
    }  # fmt: skip


def rounds(number: int) -> float:
    """Twice as long as those packets take, and round trips enough for all to have begun."""
    return 2 * max(PACKETS / number / WINDOW, 5) * RTT_S


def fast(bps: float) -> dict[str, Any]:
    """One flow that fills a link, and loses nothing."""
    return network(bps, RTT_S / 2, f"{max(1.5 * bps * RTT_S / PACKET_BITS, 4):.0f} packets") | {
        "flows": [{"path": ["bottleneck"]}],
        "limits": LIMITS,
    }


def seconds(bps: float) -> float:
    return 2 * max(PACKETS * PACKET_BITS / bps, 20 * RTT_S)


def network(bps: float, delay_s: float, window: str, stack: str = "ns2") -> dict[str, Any]:
    queue = {"name": "drop_tail", "limit": "2 bdp"}
    chosen = STACKS[stack]
    return {
        **chosen, "tcp": {**chosen["tcp"], "window_limit": window},
        "links": {"bottleneck": {"rate": f"{bps!r} bit/s", "delay": f"{delay_s!r} s", "queue": queue}},
    }  # fmt: skip


def million() -> None:
    """In processes of their own: set-up is what a run takes that ends at once."""
    tree = many(MILLION)
    empty, full = (run_tree({**tree, "duration": duration}) for duration in ("1 us", "2 s"))
    packets = json.loads(full.output)["deliveries"]
    rows = [["set-up", *used(empty), ""], ["2 s", *used(full), f"{(full.cpu_s - empty.cpu_s) / packets * 1e9:.0f}"]]
    print(table([f"{MILLION:,} flows", "CPU s", "Peak", "ns per packet"], rows, "lrrr"))


def used(cost: Cost) -> list[str]:
    return [f"{cost.cpu_s:.1f}", f"{cost.peak_bytes / 2**30:.2f} GiB"]


if __name__ == "__main__":
    main()
