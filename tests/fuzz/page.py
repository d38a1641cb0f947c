"""The section "Random inputs" of docs/validation/robustness.md, and the figures that it is made of beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz import counts
from tests.fuzz.counts import Counts
from tests.fuzz.kinds import named
from tests.fuzz.stretch import GIBIBYTES

PAGE = Path("docs/validation/robustness.md")
COUNTS = PAGE.with_name("random-inputs.json")
_TEXT = Path(__file__).with_name("page.md")
_BEGIN, _END = "<!-- written by `python -m tests.fuzz --page` -->\n", "<!-- /written -->\n"
_LONG = 300.0
"""Seconds that an input may take that is tried again."""


def write(paths: Sequence[Path]) -> None:
    """The page, of all that campaigns have come to together."""
    total = Counts()
    for path in paths:
        total.add(counts.load(path))
    for kind, each in total.kinds.items():
        for fault in each.faults.values():
            if Path(fault.saved).exists():  # what an earlier campaign has saved may be gone: then what was found of it stays
                fault.mended = _does_no_harm(kind, fault.saved)
    total.save(COUNTS)
    PAGE.write_text(with_section(PAGE.read_text(), total))


def with_section(page: str, total: Counts) -> str:
    """The page with the section as it follows from the counts."""
    before, found, rest = page.partition(_BEGIN)
    _, ended, after = rest.partition(_END)
    if not found or not ended:
        raise ValueError(f"{PAGE} has no place for the section: {_BEGIN.strip()}, {_END.strip()}")
    return f"{before}{_BEGIN}{section(total)}{_END}{after}"


def section(total: Counts) -> str:
    """What is between the marks."""
    hours = sum(run.seconds for run in total.runs) / 3600
    faults = [fault for each in total.kinds.values() for fault in each.faults.values()]
    jobs = " or ".join(map(str, sorted({run.jobs for run in total.runs})))
    kinds = {name: named(name) for name in total.kinds}
    return _TEXT.read_text().format(
        inputs=total.inputs,
        reached=total.reached / max(1, total.inputs),
        hours=hours,
        runs=len(total.runs),
        jobs=jobs,
        seeds=", ".join(f"{run.first:,} to {run.last:,}" for run in total.runs),
        memory=GIBIBYTES,
        kinds=_kinds(total),
        faults=f"{len(faults)}, of which {sum(not fault.mended for fault in faults)} still fail" if faults else "none",
        list=_list(total),
        summaries="\n".join(f"- `{name}`: {kind.SUMMARY}" for name, kind in kinds.items()),
        weights=", ".join(f"{name} {100 * kind.WEIGHT / sum(each.WEIGHT for each in kinds.values()):g} %" for name, kind in kinds.items()),
    )


def _kinds(total: Counts) -> str:
    lines = [
        "| Kind | Inputs | Reached the end | Share | Slowest | Most memory | Faults |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, each in total.kinds.items():
        lines.append(
            f"| {name} | {each.inputs:,} | {each.reached:,} | {each.reached / max(1, each.inputs):.1%} "
            f"| {each.slowest:.1f} s | {each.memory / 1e6:,.0f} MB | {len(each.faults)} |"
        )
    return "\n".join(lines)


def _list(total: Counts) -> str:
    lines = [
        f"- {kind}, {fault.times} times{', fails no more' if fault.mended else ', STILL FAILS'}: `{what.replace('`', '')}`"
        for kind, each in total.kinds.items()
        for what, fault in each.faults.items()
    ]
    return "\n".join(["", *lines, ""]) if lines else ""


def _does_no_harm(kind: str, saved: str) -> bool:
    command = [sys.executable, "-m", "tests.fuzz", "--kind", kind, "--replay", saved]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LONG, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
