"""What a fluid background gets wrong: the same scenarios by packets and as a fluid, and what differs.

    .venv/bin/python bench/fluid.py --write        (docs/validation/fluid.md)

**The rule**, fixed before the first run. 24 scenarios are drawn with `random.Random(20040307)`: flows in the background from 10 to 1000, rate from 10 Mbit/s to 1 Gbit/s, round trip from
10 to 200 ms and buffer from 0.2 to 2 bandwidth-delay products (each log-uniform, in this order), and 1 to 4 flows that are looked at. All are `reno` of the stack `linux` over one drop-tail link, for 60 s. Each has five
replicates, which draw when the flows looked at start (uniform in 0 to 2 s); those in the background start evenly over 2 s. Measured over the whole run, start included, as means over replicates:
goodput of the flows looked at (mean over them), utilisation of the link, mean wait in its queue, share of packets dropped. The error is fluid / packets - 1, of the utilisation the difference.
How far packets differ from themselves is shown beside: the first replicate against the mean of the others, in the same terms. No scenario is left out. Scenarios are apart by the window that a flow has if all
share what the link and its buffer hold: below and from ten segments.
Times are the processor's, of the simulation alone in one process.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import polars as pl

from pages import publish, table
from sawtooth.backends import sim

PAGE = Path(__file__).resolve().parents[1] / "docs/validation/fluid.md"
SEED, SCENARIOS, REPLICATES, DURATION_S = 20040307, 24, 5, 60
SEGMENT_BITS = 1500 * 8
LARGE_BDP = 0.3
FEW_SEGMENTS, CROWDED = 10, 2
MEASURES = ("goodput", "utilisation", "wait", "loss")
NAMES = {
    "goodput": "goodput of a flow looked at",
    "utilisation": "utilisation of the link",
    "wait": "mean wait in the queue",
    "loss": "share dropped",
}


@dataclass(frozen=True)
class Drawn:
    """A scenario."""

    flows: int
    rate_bps: float
    rtt_s: float
    buffer_bdp: float
    seen: int

    @property
    def window(self) -> float:
        """Segments of a flow, if all share what the link and its buffer hold."""
        return self.rate_bps * self.rtt_s * (1 + self.buffer_bdp) / SEGMENT_BITS / (self.flows + self.seen)

    def tree(self, model: str, start_s: float) -> dict[str, Any]:
        """What is simulated."""
        queue = {"name": "drop_tail", "limit": f"{self.buffer_bdp} bdp"}
        return {
            "duration": f"{DURATION_S} s",
            "stack": "linux",
            "cc": "reno",
            "links": {"l": {"rate": f"{self.rate_bps} bit/s", "delay": f"{self.rtt_s / 2} s", "queue": queue}},
            "flows": [
                {"path": ["l"], "name": "seen", "count": self.seen, "start": f"{start_s} s"},
                {"path": ["l"], "name": "others", "count": self.flows, "start": "i / count * 2 s", "model": model},
            ],
        }


@dataclass(frozen=True)
class Measured:
    """Means over replicates, each replicate's values, and the processor's time of all."""

    replicates: Sequence[dict[str, float]]
    cpu_s: float

    def mean(self, measure: str, among: slice = slice(None)) -> float:
        """Over some replicates."""
        return statistics.fmean(each[measure] for each in self.replicates[among])

    def own(self, measure: str) -> float:
        """How the first replicate differs from the others."""
        return error(measure, self.mean(measure, slice(1)), self.mean(measure, slice(1, None)))


def error(measure: str, found: float, wanted: float) -> float:
    """In per cent; of a utilisation in its points."""
    if measure == "utilisation":
        return 100 * (found - wanted)
    if wanted == 0:
        return 0.0 if found == 0 else float("inf")
    return 100 * (found / wanted - 1)


def drawn() -> list[Drawn]:
    """By the rule."""
    draw = random.Random(SEED)

    def log_uniform(low: float, high: float) -> float:
        return float(low * (high / low) ** draw.random())

    return [
        Drawn(round(log_uniform(10, 1000)), log_uniform(10e6, 1e9), log_uniform(0.01, 0.2), log_uniform(0.2, 2), draw.randint(1, 4))
        for _ in range(SCENARIOS)
    ]


def measure(case: Drawn, model: str, starts_s: Sequence[float]) -> Measured:
    """All replicates of a scenario."""
    texts = [json.dumps(case.tree(model, start)) for start in starts_s]
    before = time.process_time()
    share = sim.run_share(texts, range(1, len(texts) + 1))
    cpu_s = time.process_time() - before
    batch = sim.gather([share])
    if batch.errors:
        raise SystemExit(str(batch.errors))
    replicates: list[dict[str, float]] = []
    for run in range(len(texts)):
        flows = batch.tables["flows"].filter(pl.col("run") == run)
        link = batch.tables["links"].filter(pl.col("run") == run).row(0, named=True)
        replicates.append({
            "goodput": float(flows.filter(pl.col("flow").str.starts_with("seen"))["goodput_bps"].to_numpy().mean()),
            "utilisation": link["utilisation"],
            "wait": link["wait_mean_ns"],
            "loss": link["dropped_packets"] / link["arrived_packets"],
        })  # fmt: skip
    return Measured(replicates, cpu_s)


def quantile(values: Iterable[float], share: float) -> float:
    """By linear interpolation."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


@dataclass(frozen=True)
class Compared:
    """A scenario both ways."""

    case: Drawn
    packets: Measured
    fluid: Measured

    def error(self, measure: str) -> float:
        """Of the fluid against packets."""
        return error(measure, self.fluid.mean(measure), self.packets.mean(measure))


def compare(case: Drawn, draw: random.Random) -> Compared:
    """Both ways with the same starts."""
    starts_s = [2 * draw.random() for _ in range(REPLICATES)]
    return Compared(case, measure(case, "packets", starts_s), measure(case, "fluid", starts_s))


def summary(found: Sequence[Compared]) -> str:
    """Medians and 90th percentiles of what errors are, without their signs."""
    few = [each for each in found if each.case.window < FEW_SEGMENTS]
    more = [each for each in found if each.case.window >= FEW_SEGMENTS]

    def both(values: Sequence[float], unit: str) -> str:
        sizes = [abs(value) for value in values]
        return f"{statistics.median(sizes):.1f} / {quantile(sizes, 0.9):.1f} {unit}"

    rows: list[list[str]] = []
    for name in MEASURES:
        unit = "points" if name == "utilisation" else "%"
        parts = [both([each.error(name) for each in some], unit) for some in (found, more, few)]
        rows.append([
            NAMES[name], *parts, both([each.packets.own(name) for each in found], unit),
            f"{statistics.median(each.error(name) for each in found):+.1f} {unit}",
        ])  # fmt: skip
    header = [
        "Error, median / 90th percentile", f"all {len(found)}", f"windows of {FEW_SEGMENTS} segments or more ({len(more)})",
        f"smaller windows ({len(few)})", "packets against themselves", "median with its sign",
    ]  # fmt: skip
    return table(header, rows, "lrrrrr")


def ranges(found: Sequence[Compared]) -> str:
    """The least and the greatest error of each measure; of the utilisation also where buffers are not small."""
    rows: list[list[str]] = []
    for name in MEASURES:
        errors = sorted(each.error(name) for each in found)
        large = sorted(each.error(name) for each in found if each.case.buffer_bdp >= LARGE_BDP)
        rows.append([NAMES[name], *(f"{ordered[0]:+.1f} to {ordered[-1]:+.1f}" for ordered in (errors, large))])
    return table(["Error, per cent or points", "from, to", f"of buffers of {LARGE_BDP} BDP or more"], rows, "lrr")


def scenarios(found: Sequence[Compared]) -> str:
    """A row for each scenario, by windows."""
    names = [*(f"{name}, packets" for name in MEASURES), *(f"{name}, error" for name in MEASURES)]
    header = ["Flows", "Looked at", "Mbit/s", "RTT, ms", "Buffer, BDP", "Window", *names, "Times faster"]
    rows: list[list[str]] = []
    for each in sorted(found, key=lambda one: one.case.window):
        case, packets = each.case, each.packets
        rows.append([
            f"{case.flows:,}", str(case.seen), f"{case.rate_bps / 1e6:.1f}", f"{case.rtt_s * 1e3:.0f}", f"{case.buffer_bdp:.2f}", f"{case.window:.1f}",
            f"{packets.mean('goodput') / 1e6:.3f} Mbit/s", f"{packets.mean('utilisation'):.4f}", f"{packets.mean('wait') / 1e6:.1f} ms",
            f"{100 * packets.mean('loss'):.3f} %",
            *(f"{each.error(name):+.1f}" for name in MEASURES), f"{packets.cpu_s / each.fluid.cpu_s:.0f}",
        ])  # fmt: skip
    return table(header, rows, "r" * len(header))


def page(found: Sequence[Compared]) -> str:
    """What is written."""
    roomy = [each for each in found if each.case.window >= CROWDED]
    speed = [each.packets.cpu_s / each.fluid.cpu_s for each in found]
    packets_s, fluid_s = (sum(each.cpu_s for each in ways) for ways in zip(*((one.packets, one.fluid) for one in found), strict=True))
    times = f"{min(speed):.0f} to {max(speed):.0f} times, {statistics.median(speed):.0f} in the middle"
    together = f"all together take {packets_s:.1f} s of processor time by packets and {fluid_s:.1f} s as a fluid"
    rule = (__doc__ or "").split("**The rule**, ")[1].strip()
    return f"""# What does a fluid background get wrong?

Written by `python bench/fluid.py --write`; [the guide](../guides/fluid.md) says what a fluid is and how it is used.

**The rule**, {rule}

## What was found

{summary(found)}

As a fluid the same is simulated faster: {times}; {together}.

Seen afterwards, and so no rule: what is far off has windows below {CROWDED} segments. Errors of the {len(roomy)} others:

{ranges(roomy)}

## Each scenario

Errors in per cent, of the utilisation in points.

{scenarios(found)}
"""


def main() -> None:
    """Runs it and prints or writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} rather than print it")
    options = parser.parse_args()
    draw = random.Random(SEED + 1)
    text = page([compare(case, draw) for case in drawn()])
    publish(text, PAGE, write=options.write)


if __name__ == "__main__":
    main()
