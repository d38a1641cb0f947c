"""Flame graphs of the cases of `instructions.py`: where the processor's time goes, by function and what is called there, code in place told apart.

    python bench/flame.py                                  32 flows, and linux/cubic
    python bench/flame.py linux/bbr --program OTHER        of another build of the example `effort`, such as one before a change

Needs `perf` (Debian: linux-perf) and inferno (`cargo install inferno`). Each case becomes one drawing, `NAME.svg`, which a browser shows and lets one
zoom into. Runs are as long as some thousand samples take.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from instructions import build, cases, compiler

CASES = ["ns2/newreno, 32 flows", "linux/cubic"]
SIMULATED = "300 s"
SAMPLES_PER_SECOND = 4999
STACK_BYTES = 8192
"""What is kept of the stack with each sample: frames of the simulator are large, and there are few."""


def main() -> int:
    known = {name: case for name, case in cases().items() if case.unit == "packet"}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", default=CASES, choices=[*known, CASES], metavar="CASE", help=f"one of {', '.join(known)}")
    parser.add_argument(
        "--program", type=Path, help="a build of the example `effort` with debugging information; else this tree's is built"
    )
    parser.add_argument("--label", default="", help="what the drawings say of the build, such as its commit")
    parser.add_argument("--out", type=Path, default=Path(), help="the directory of the drawings (default: this one)")
    options = parser.parse_args()
    program = options.program or build()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.case:
        path = options.out / f"{file_name(name)}.svg"
        path.write_text(drawn(program, name, {**known[name].long, "duration": SIMULATED}, options.label), encoding="utf-8")
        print(path)
    return 0


def file_name(case: str) -> str:
    """A case's name with nothing in it that a path may not have."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in case).split())


def drawn(program: Path, name: str, tree: dict[str, Any], label: str) -> str:
    """The flame graph of one run, as SVG."""
    with tempfile.TemporaryDirectory() as scratch:
        data = f"{scratch}/perf.data"
        record = [
            "perf",
            "record",
            "--quiet",
            f"--freq={SAMPLES_PER_SECOND}",
            f"--call-graph=dwarf,{STACK_BYTES}",
            f"--output={data}",
            str(program),
        ]
        run(record, json.dumps(tree))
        stacks = run(["perf", "script", "--inline", f"--input={data}"])
    folded = run(["inferno-collapse-perf", "--quiet"], stacks)
    title = ["--title", name, "--subtitle", ", ".join(filter(None, [label, compiler()])), "--countname", "samples"]
    return run(["inferno-flamegraph", "--quiet", "--colors", "rust", "--minwidth", "0.2", *title], folded)


def run(command: list[str], text: str = "") -> str:
    """What a command prints."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True)
    except FileNotFoundError:
        hint = "apt install linux-perf" if command[0] == "perf" else "cargo install inferno"
        raise SystemExit(f"error: {command[0]} is not installed\nhint: {hint}") from None
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)} ended with status {done.returncode}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
