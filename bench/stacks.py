"""What the `linux` stack costs beside the `ns2` stack: segments delivered per CPU second on one network, alternating, median of five.

make bench            or            python bench/stacks.py --cc cubic,bbr,reno
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

from sawtooth import _core

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

# What the project wants, as shares of the `ns2` stack with NewReno.
WANTED = {"cubic": 0.5, "bbr": 1 / 3}
BASE = ("ns2", "reno")


def scenario(stack: str, cc: str) -> str:
    """Ten flows over 200 Mbit/s and 42 ms, a queue of 700 packets; no window limit that counts."""
    tree = {
        "duration": "60 s", "stack": stack, "cc": cc, "tcp": {"window_limit": "2000 packets"},
        "links": {
            "bottleneck": {"rate": "200 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "700 packets"}},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms", "count": 10},
        },
        "flows": [{"path": ["access[i]", "bottleneck"], "count": 10, "start": "0.1 s * i"}],
    }  # fmt: skip
    return json.dumps(tree)


def rate(text: str) -> float:
    """Segments delivered per CPU second of this process."""
    started = time.process_time()
    outcome = _core.simulate([text], [1])
    spent = time.process_time() - started
    assert not outcome["errors"], outcome["errors"]
    return outcome["efforts"][0][2] / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", default="cubic,bbr", help="algorithms on the linux stack")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, the median counts")
    options = parser.parse_args()
    sides = [BASE, *(("linux", cc) for cc in options.cc.split(","))]
    rates: dict[tuple[str, str], list[float]] = {side: [] for side in sides}
    for _ in range(options.runs):
        for side in sides:
            rates[side].append(rate(scenario(*side)))
    base = statistics.median(rates[BASE])
    rows = []
    for stack, cc in sides:
        found = statistics.median(rates[stack, cc])
        wanted = f"{WANTED[cc]:.2f}" if stack == "linux" and cc in WANTED else ""
        rows.append([stack, cc, f"{found / 1e6:.2f}", f"{found / base:.2f}", wanted])
    print(table(["Stack", "Algorithm", "Million segments per CPU second", "Of ns2 with NewReno", "Wanted"], rows))


if __name__ == "__main__":
    main()
