"""Measure what the backends make of links, write docs/validation/shaper.md and its figure.

    python bench/kernel/shaper.py

Measurements are kept (results/shaper.json) as they are made; --fresh makes them anew, --only uml-virtual-simulator one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sawtooth import calibration
from sawtooth.calibration import Calibration, Point
from sawtooth.errors import BackendUnavailable
from sawtooth.plots.style import COLOURS, MARKERS, figure, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
SERIES = (
    ("uml", "simulator", "virtual"),
    ("uml", "kernel", "virtual"),
    ("qemu", "simulator", "virtual"),
    ("qemu", "kernel", "virtual"),
    ("uml", "simulator", "real"),
    ("uml", "kernel", "real"),
    ("qemu", "simulator", "real"),
    ("netns", "simulator", "real"),
    ("netns", "kernel", "real"),
)
LEAST = 1e-6
"""Relative errors below this are drawn here: a logarithm has no zero."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="measure again what has been measured")
    parser.add_argument("--only", action="append", help="BACKEND-TIME-SHAPER")
    parser.add_argument("--cache", type=Path, default=ROOT / "results/shaper.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/validation")
    options = parser.parse_args()
    kept: dict[str, dict[str, object]] = json.loads(options.cache.read_text()) if options.cache.is_file() else {}
    for backend, shaper, clock in SERIES:
        name = f"{backend}-{clock}-{shaper}"
        if (options.only and name not in options.only) or (name in kept and not options.fresh):
            continue
        started = time.monotonic()
        try:
            kept[name] = calibration.measure(backend, shaper, clock=clock).to_json()
        except BackendUnavailable as missing:
            kept[name] = {"missing": missing.message}
        print(f"{name}: {time.monotonic() - started:.0f} s", kept[name].get("missing", ""), flush=True)
        options.cache.parent.mkdir(parents=True, exist_ok=True)
        options.cache.write_text(json.dumps(kept, indent=1) + "\n")
    made: dict[str, Calibration | str] = {}
    for backend, shaper, clock in SERIES:
        found = kept.get(f"{backend}-{clock}-{shaper}", {"missing": "not measured"})
        title = f"{backend}, {clock} time, {shaper}'s link"
        made[title] = str(found["missing"]) if "missing" in found else Calibration.from_json(found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "shaper.md").write_text(page(made), encoding="utf-8")
    draw({title: each for title, each in made.items() if isinstance(each, Calibration)}, options.out)
    return 0


def page(made: dict[str, Calibration | str]) -> str:
    here = {title: each for title, each in made.items() if isinstance(each, Calibration)}
    lines = [
        "# How exact are the links between kernels?",
        "",
        f"Written by `python bench/kernel/shaper.py` on {max(each.date for each in here.values())}, on a machine with "
        f"{len(os.sched_getaffinity(0))} processors ({platform.machine()}), {os.getloadavg()[2]:.0f} processes running; that matters where time is real.",
        "",
        "Bursts of datagrams that make full packets of 1500 bytes (IP) cross a link by themselves. The *delay* is that of single packets, less "
        "their transmission time: the median of ten. The *rate* is the distance between packets that queued. The *queue* is how many packets of "
        "a burst of more than twice the limit, sent at once, came through. Times are the receiving kernel's. *TCP* is the rate at which the packets of a bulk "
        "transfer (CUBIC, 100 us, 1000 packets) crossed the link after slow start, headers included.",
        "",
        "## In short",
        "",
        "| | Delay: largest error | Rate up to 1 Gbit/s | Rate, 10 Gbit/s | Queue: largest error | TCP reaches |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title, each in made.items():
        lines.append(f"| {title} | {each} | | | | |" if isinstance(each, str) else f"| {title} | {short(each)} |")
    lines += [
        "",
        "*TCP reaches* is the fastest of the links below that a transfer filled to 97 %, or the most that it carried. `sawtooth calibrate` "
        "finds it for a machine, and runs with faster links are marked.",
        "",
        "![Relative error of the rate](shaper.png)",
        "",
        "Left, bursts by themselves; right, TCP over them. Errors below one in a million are drawn there.",
        "",
    ]
    for title, each in here.items():
        lines += [f"## {title[0].upper()}{title[1:]}", "", f"Kernel {each.release}.", ""]
        lines.append(measurements(each.points))
        lines += [f"- `{what}` failed: {why}" for what, why in each.errors.items()]
        lines.append("")
    return "\n".join(lines + NOTES) + "\n"


def short(each: Calibration) -> str:
    def worst(points: Sequence[Point]) -> float | None:
        return max((abs(point.relative) for point in points if point.relative is not None), default=None)

    delays = [abs(point.error) for point in each.of("delay") if point.error is not None]
    slow = worst([point for point in each.of("rate") if point.configured <= 1e9])
    fast = worst([point for point in each.of("rate") if point.configured > 1e9])
    queues = [
        abs(point.error) / (calibration.PACKET if point.quantity == "queue_bytes" else 1)
        for point in queue(each)
        if point.error is not None
    ]
    return " | ".join([
        duration(max(delays)) if delays else "-",
        percent(slow),
        percent(fast),
        f"{max(queues):.0f} packets" if queues else "-",
        quantity("rate", each.reached_bps),
    ])  # fmt: skip


def queue(each: Calibration) -> list[Point]:
    return [*each.of("queue"), *each.of("queue_bytes")]


def measurements(points: Sequence[Point]) -> str:
    rows: list[list[str]] = []
    for point in points:
        name = {"queue_bytes": "queue", "transfer": "TCP, GSO on" if point.gso else "TCP, GSO off"}.get(point.quantity, point.quantity)
        cells = [name, quantity(point.quantity, point.configured)]
        cells += [quantity(point.quantity, point.measured), quantity(point.quantity, point.error)]
        cells += [percent(point.relative, signed=True), f"{point.segment_bytes:.1f} B" if point.segment_bytes else ""]
        rows.append(cells)
    return table(["", "Configured", "Measured", "Error", "Relative", "Mean segment"], rows, "lrrrrr")


def quantity(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name == "delay":
        return duration(value)
    if name in {"rate", "transfer"}:
        factor, unit = next(((f, u) for f, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")) if abs(value) >= f), (1, "bit/s"))
        return f"{value / factor:.4g} {unit}"
    return f"{value:.0f} {calibration.UNITS[name]}"


def duration(ns: float) -> str:
    factor, unit = next(((f, u) for f, u in ((1e6, "ms"), (1e3, "us")) if abs(ns) >= f), (1, "ns"))
    return f"{ns / factor:.6g} {unit}"


def percent(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    return f"{100 * value:+.4f} %" if signed else f"{100 * value:.4f} %"


def draw(made: dict[str, Calibration], out: Path) -> None:
    drawing, axes = figure(9.2, 4.4, columns=2, share_y=True)
    for at, (title, each) in enumerate(made.items()):
        for axis, name in zip(axes, ("rate", "transfer"), strict=True):
            points = [point for point in each.of(name) if point.relative is not None and (name == "rate" or point.gso)]
            style = {
                "color": COLOURS[at % len(COLOURS)],
                "marker": MARKERS[at % len(MARKERS)],
                "linestyle": "-" if each.time == "virtual" else ":",
            }
            errors = [max(abs(point.relative or 0), LEAST) for point in points]
            axis.plot([point.configured for point in points], errors, label=title, linewidth=1, markersize=4, **style)
    for axis, title in zip(axes, ("bursts of datagrams", "a bulk transfer of TCP"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="configured rate", ylim=(LEAST / 1.5, 1.5))
        axis.set_xticks(list(calibration.RATES_BPS), ["1 M", "10 M", "100 M", "480 M", "1 G", "10 Gbit/s"], rotation=45)
        axis.set_title(title, fontsize=9)
        axis.minorticks_off()
    axes[0].set_ylabel("relative error of the rate")
    handles, labels = axes[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=7.5)
    write(drawing, out, "shaper")


NOTES = [
    "## What was found on the way",
    "",
    "- **A burst enters at once.** With a virtual clock sending takes no time; in real time what had left meanwhile is taken off the queue's "
    "measure. The sender's socket buffer is never full: the device, or the first router, takes packets off it. The receiver is read while "
    "the sender sends: a burst would overflow its buffer of about 90 packets, and look like a full queue.",
    "- **A poll is late by a thousandth of its timeout**, 1 us for each ms (Linux lets it, to save energy). Here a timer of its own wakes the program, which is not.",
    "- **tbf lets a packet go when its transmission would begin**: with a bucket of one packet, the least it takes, that is 12 ms early at 1 Mbit/s, "
    "120 us at 100 Mbit/s. netem, which delays it next, knows the rate too and keeps it that much longer. The queue limit is not changed by it.",
    "- **tbf counts Ethernet's 14 bytes**, 0.93 % of a full packet: it gets as much more. A bucket of one packet forgets the time by which its timer was late, "
    "half a microsecond for each packet in virtual time: that remains, and is what the table has at high rates.",
    "- **netem's limit counts its delay line: avoided.** It stands on another router than the queue, with a limit of a million packets.",
    "- **Segmentation offload.** The TUN device has none, and tbf splits what is longer than its bucket before it queues: with GSO on and off the receiver's "
    "kernel sees packets of one segment each (1448 bytes, less in the mean where some were sent again), and a queue of packets counts packets.",
    "- **In real time** a burst takes long to send. Where that is longer than the link takes, neither its rate nor its queue is told (-), "
    "and what TCP carries is what counts.",
    "- **Rates above what a backend carries** are not refused: a machine may be faster tomorrow. They are told before the run and in its status.",
]


if __name__ == "__main__":
    raise SystemExit(main())
