"""What `sawtooth trace --qlog` costs: a minute of four flows at 100 Mbit/s, which are a million events.

    .venv/bin/python bench/qlog.py [--repeat 3] [--seconds 60]

Each command is a process of its own: without a qlog, which is the simulation and its figure, and with one of either form. Seconds are processor time, which does not depend on what else the
machine does, as far as others leave caches and clocks alone: the least of the repetitions is told. Memory is the most that a process had.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import table

STUDY = """
name = "qlog-costs"
question = "What does a qlog of a million events cost?"
seed = 1

[scenario]
duration = "{seconds} s"
links.bottleneck = {{ rate = "100 Mbit/s", delay = "10 ms", queue = {{ name = "drop_tail", limit = "250 kB" }} }}

[[scenario.flows]]
path = ["bottleneck"]
count = 4
"""
FORMS = ("", ".sqlog", ".qlog")


@dataclass(frozen=True)
class Cost:
    """Of a command: what it wrote, processor time and memory."""

    events: int
    file_bytes: int
    cpu_s: float
    peak_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="how often each command is done")
    parser.add_argument("--seconds", type=int, default=60, help="simulated time")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as directory:
        folder = Path(directory)
        (folder / "study.toml").write_text(STUDY.format(seconds=chosen.seconds))
        print(f"load of the machine: {os.getloadavg()[0]:.1f} over {os.cpu_count()} processors")
        rows = [row(form, [cost(folder, form) for _ in range(chosen.repeat)]) for form in FORMS]
    print(table(["", "Events", "Written", "Bytes per event", "Processor time", "Memory"], rows, "lrrrrr"))


def row(form: str, costs: list[Cost]) -> list[str]:
    least = min(costs, key=lambda each: each.cpu_s)
    each = f"{least.file_bytes / least.events:.0f}" if least.events else ""
    return [
        f"`--qlog FILE{form}`" if form else "neither",
        f"{least.events:,}" if form else "",
        f"{least.file_bytes / 1e6:.0f} MB" if form else "",
        each,
        f"{least.cpu_s:.1f} s",
        f"{max(each.peak_bytes for each in costs) / 1e6:.0f} MB",
    ]


def cost(folder: Path, form: str) -> Cost:
    """Of one command; the process is waited for by its number, so that nobody else's time is in it."""
    file = folder / f"run{form}"
    command = [str(Path(sys.executable).with_name("sawtooth")), "trace", str(folder / "study.toml"), "--out", str(folder)]
    command += ["--qlog", str(file)] if form else []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed: {said}")
    told = re.search(r"([\d,]+) events", said)
    size = file.stat().st_size if form else 0
    return Cost(int(told[1].replace(",", "")) if told else 0, size, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


if __name__ == "__main__":
    main()
