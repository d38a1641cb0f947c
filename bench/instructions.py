"""Instructions per packet, counted by callgrind: a number that does not depend on the machine's speed or load.

    make instructions            or            python bench/instructions.py --write

Each case is a scenario of two lengths; its figure is the difference of their instructions by the difference of their packets (of
set-up: of their flows), so that start-up is in none of them. `instructions.csv` has the figures as they were last accepted. A case
that takes 3 % more fails; one that takes 3 % less is told, so that the table is lowered and keeps what was won. `--write` accepts
what was counted. The program is built as it is shipped, whatever the environment says of profiles.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pages import table

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "bench/instructions.csv"
TOLERANCE = 0.03
SETTINGS_OF_BUILDS = ("CARGO_PROFILE_", "CARGO_INCREMENTAL", "CARGO_BUILD_", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS")


@dataclass(frozen=True)
class Case:
    """Two scenarios, and what the longer one has more of."""

    unit: str
    short: dict[str, Any]
    long: dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """What a case costs: instructions for each of `count` units."""

    unit: str
    instructions: float
    count: int
    compiler: str


def cases() -> dict[str, Case]:
    """The cells of `speed.py`, the networks of `stacks.py`, and a thousand flows that only begin."""
    return {
        "ns2/newreno, 2 flows": lasting(study(2), 10, 20),
        "ns2/newreno, 32 flows": lasting(study(32), 10, 20),
        "ns2/newreno, 1 Gbit/s": lasting(gigabit(), 4, 6),
        "linux/cubic": lasting(shared("cubic"), 5, 12),
        "linux/bbr": lasting(shared("bbr"), 5, 12),
        "set-up of 1000 flows": Case("flow", set_up(1), set_up(1001)),
    }


def lasting(tree: dict[str, Any], short: int, long: int) -> Case:
    """A scenario for as many simulated seconds."""
    return Case("packet", {**tree, "duration": f"{short} s"}, {**tree, "duration": f"{long} s"})


def study(flows: int) -> dict[str, Any]:
    """The fastest cell of the HighSpeed study."""
    link = {"rate": "102.4 Mbit/s", "delay": "0 s", "queue": {"name": "drop_tail", "limit": "50 packets"}}
    return {
        "stack": "ns2", "tcp": {"recovery": "newreno", "window_limit": "10000 packets"},
        "links": {"bottleneck": {**link, "delay": "50 ms"}, "sender": {**link, "count": flows}, "receiver": {**link, "count": flows}},
        "flows": [{"path": ["sender[i]", "bottleneck", "receiver[i]"], "count": flows, "start": f"i * {0.3 / flows} s"}],
    }  # fmt: skip


def gigabit() -> dict[str, Any]:
    """One flow on a long fat path with a buffer of the bandwidth-delay product."""
    queue = {"name": "drop_tail", "limit": "4808 packets"}
    return {
        "stack": "ns2", "tcp": {"recovery": "newreno", "window_limit": "10000 packets"},
        "links": {"bottleneck": {"rate": "1 Gbit/s", "delay": "20 ms", "queue": queue}}, "flows": [{"path": ["bottleneck"]}],
    }  # fmt: skip


def shared(cc: str) -> dict[str, Any]:
    """Ten flows of the `linux` stack over 200 Mbit/s and 42 ms, a queue of 700 packets; no window limit that counts."""
    return {
        "stack": "linux", "cc": cc, "tcp": {"window_limit": "2000 packets"},
        "links": {
            "bottleneck": {"rate": "200 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "700 packets"}},
            "access": {"rate": "1 Gbit/s", "delay": "1 ms", "count": 10},
        },
        "flows": [{"path": ["access[i]", "bottleneck"], "count": 10, "start": "0.1 s * i"}],
    }  # fmt: skip


def set_up(flows: int) -> dict[str, Any]:
    """That network for so many flows, until just before the first of them sends: reading the scenario, building, and records of nothing."""
    tree = shared("cubic")
    tree["links"]["access"]["count"] = flows
    return {**tree, "duration": "1 us", "flows": [{**tree["flows"][0], "count": flows, "start": "2 us"}]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="accept what was counted: write bench/instructions.csv")
    options = parser.parse_args()
    program = build()
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        found = dict(zip(cases(), workers.map(lambda case: measure([program], case), cases().values()), strict=True))
    text, risen = comparison(read_table(), found)
    print(text)
    if options.write:
        write_table(found)
        return 0
    return 1 if risen else 0


def build() -> Path:
    """The program as it is shipped: settings of profiles in the environment are left out."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "sawtooth-core", "--example", "effort"]
    subprocess.run(command, cwd=ROOT, env=shipping_environment(), check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/examples/effort"


def shipping_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS_OF_BUILDS)}


def measure(command: Sequence[str | Path], case: Case) -> Figure:
    """Instructions of the longer run less those of the shorter, for each unit that it has more.

    The command reads a scenario as JSON from its input and prints how many packets were delivered.
    """
    short, short_packets = count(command, case.short)
    long, long_packets = count(command, case.long)
    units = long_packets - short_packets if case.unit == "packet" else flows(case.long) - flows(case.short)
    return Figure(case.unit, (long - short) / units, units, compiler())


@cache
def compiler() -> str:
    """Counts are those of one compiler: a new one may move them."""
    return " ".join(subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[:2])


def flows(tree: Mapping[str, Any]) -> int:
    return sum(block.get("count", 1) for block in tree["flows"])


def count(command: Sequence[str | Path], tree: Mapping[str, Any]) -> tuple[int, int]:
    """Instructions of one run, and packets that it delivered."""
    text, packets = profile(command, tree)
    total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    assert total, text
    return int(total[1]), packets


def profile(command: Sequence[str | Path], tree: Mapping[str, Any]) -> tuple[str, int]:
    """What callgrind writes of one run, with the addresses of instructions; and packets that it delivered."""
    with tempfile.TemporaryDirectory() as scratch:
        counted = ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={scratch}/out", *map(str, command)]
        # An empty environment: its size moves the stack, and with it what copies cost. Without a seed of its own Python's tables lie otherwise in each process.
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
        try:
            ran = subprocess.run(counted, input=json.dumps(tree), capture_output=True, text=True, env=environment)
        except FileNotFoundError:
            raise SystemExit("error: valgrind is not installed\nhint: apt install valgrind") from None
        if ran.returncode:
            raise SystemExit(f"error: {' '.join(counted)} ended with status {ran.returncode}\n{ran.stderr}")
        return Path(scratch, "out").read_text(encoding="utf-8"), int(ran.stdout)


def comparison(accepted: Mapping[str, Figure], found: Mapping[str, Figure]) -> tuple[str, bool]:
    """The table of all cases with what is to be done, and whether a case takes more than it may."""
    rows: list[list[str]] = []
    risen = False
    for name, now in found.items():
        before = accepted.get(name)
        change = now.instructions / before.instructions - 1 if before else 0.0
        risen |= before is None or change > TOLERANCE
        rows.append(
            [
                name,
                now.unit,
                f"{before.instructions:.1f}" if before else "",
                f"{now.instructions:.1f}",
                f"{change:+.1%}" if before else "",
                verdict(change, before),
            ]
        )
        if risen and before and before.compiler != now.compiler:
            rows[-1][-1] += f" (of {before.compiler}; this is {now.compiler})"
    gone = sorted(set(accepted) - set(found))
    rows += [[name, accepted[name].unit, f"{accepted[name].instructions:.1f}", "", "", "is no case any more: --write"] for name in gone]
    text = table(["Case", "For each", "Accepted", "Counted", "Change", ""], rows, "llrrrl")
    return text, risen or bool(gone)


def verdict(change: float, before: Figure | None) -> str:
    if before is None:
        return "new: --write"
    if change > TOLERANCE:
        return f"more than {TOLERANCE:.0%} above the table"
    if change < -TOLERANCE:
        return "lower the table: --write"
    return ""


def read_table() -> dict[str, Figure]:
    """The figures as they were accepted."""
    if not TABLE.is_file():
        return {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {
            row["case"]: Figure(row["unit"], float(row["instructions_per_unit"]), int(row["units"]), row["compiler"])
            for row in csv.DictReader(file)
        }


def write_table(found: Mapping[str, Figure]) -> None:
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "unit", "instructions_per_unit", "units", "compiler"])
        writer.writerows([name, one.unit, f"{one.instructions:.1f}", one.count, one.compiler] for name, one in found.items())


if __name__ == "__main__":
    sys.exit(main())
