"""A hundred thousand flows that arrive and leave, beside endless flows on the same link: segments delivered per CPU second, alternating, median of five.

make bench            or            python bench/arrivals.py
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from sawtooth import _core

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

# What the project wants, as a share of endless flows' segments per second.
WANTED = 1 / 3
FLOWS = 100_000
LOAD = 0.8
RATE_BPS = 100e6
# The segment and header of the linux stack.
SEGMENT_BYTES, PACKET_BYTES = 1448, 1500

SIZES: dict[str, Any] = {
    "endless": None,
    "15 kB": "15 kB",
    "30 kB, exponential": {"name": "exponential", "mean": "30 kB"},
    "30 kB, Pareto 1.2": {"name": "pareto", "shape": 1.2, "mean": "30 kB"},
    "150 kB, exponential": {"name": "exponential", "mean": "150 kB"},
}


def scenario(size: Any) -> str:
    """A link of 100 Mbit/s and 20 ms round trip; loaded to 80 % by flows that come and go, or as full by ten that stay."""
    flow: dict[str, Any] = {"path": ["l"]}
    if size is None:
        # As many segments as 100,000 flows of 30 kB have.
        duration = FLOWS * 30_000 * 8 / RATE_BPS
        flow.update(count=10, start="0.1 s * i", source={"name": "bulk"})
        # The same load: windows that take 80 % of the link together, so that no queue builds up.
        flow["tcp"] = {"window_limit": f"{round(LOAD * RATE_BPS * 0.020 / 8 / PACKET_BYTES / 10)} packets"}
    else:
        mean = float((size if isinstance(size, str) else size["mean"]).removesuffix(" kB")) * 1000
        duration = FLOWS * mean * 8 * PACKET_BYTES / SEGMENT_BYTES / RATE_BPS / LOAD * 1.2
        flow["arrivals"] = {"load": LOAD, "size": size, "number": FLOWS}
    queue = {"name": "drop_tail", "limit": "2 bdp"}
    tree = {"duration": f"{duration} s", "stack": "linux", "links": {"l": {"rate": "100 Mbit/s", "delay": "10 ms", "queue": queue}}}
    return json.dumps({**tree, "flows": [flow]})


def rate(text: str) -> tuple[float, dict[str, float]]:
    """Segments delivered per CPU second of this process; and what there was of flows."""
    started = time.process_time()
    outcome = _core.simulate([text], [1])
    spent = time.process_time() - started
    assert not outcome["errors"], outcome["errors"]
    segments = outcome["efforts"][0][2]
    found = {"segments": segments, "seconds": spent}
    for name in ("started", "completed", "alive_max"):
        if "arrivals" in outcome["tables"]:
            found[name] = memoryview(outcome["tables"]["arrivals"][name][1]).cast("Q")[0]
    return segments / spent, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, the median counts")
    options = parser.parse_args()
    rates: dict[str, list[float]] = {name: [] for name in SIZES}
    facts: dict[str, dict[str, float]] = {}
    for _ in range(options.runs):
        for name, size in SIZES.items():
            value, facts[name] = rate(scenario(size))
            rates[name].append(value)
    base = statistics.median(rates["endless"])
    rows: list[list[str]] = []
    for name, values in rates.items():
        found, fact = statistics.median(values), facts[name]
        flows = (
            [f"{fact['started']:.0f}", f"{fact['completed']:.0f}", f"{fact['alive_max']:.0f}"] if "started" in fact else ["10", "", "10"]
        )
        share, wanted = f"{found / base:.2f}", "" if name == "endless" else f"{WANTED:.2f}"
        rows.append([name, *flows, f"{fact['segments'] / 1e6:.2f} M", f"{found / 1e6:.2f}", share, wanted])
    header = ["Size", "Flows", "Completed", "Most at a time", "Segments", "Million segments per CPU second", "Of endless", "Wanted"]
    print(table(header, rows, "l" + "r" * 7))
    print(f"\nPeak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB.")


if __name__ == "__main__":
    main()
