"""What commands do: the runs of a plan, with progress."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import typer

from sawtooth import streams
from sawtooth.backends.registry import require
from sawtooth.captures import Wanted
from sawtooth.execute import Interrupted, Summary, execute, reporter_for
from sawtooth.plan import Plan
from sawtooth.results.dataset import Dataset, is_results


def do(
    plan: Plan, directory: Path, jobs: int | None, *, retry_failed: bool = False, wait: bool = True, captures: Wanted | None = None
) -> tuple[Dataset, Summary]:
    """Does what is missing of a plan, with progress; Ctrl-C ends the command with exit code 130."""
    if not is_results(directory):
        require(plan.study.backend)
    dataset = Dataset.create(directory, plan, wait=wait)
    reporter = reporter_for(streams.Console(stderr=True))
    try:
        summary = execute(plan, dataset, jobs=jobs, reporter=reporter, retry_failed=retry_failed, wait=wait, captures=captures)
    except Interrupted as stopped:
        stored = f"{dataset.status().height} of {dataset.runs.height} runs are stored"
        if plan.study.until:
            stored += ", and the rule for replicates may ask for more"
        print(f"stopped: {stored}; the same command goes on from there", file=sys.stderr)
        raise typer.Exit(128 + stopped.signal) from None
    for name in summary.damaged:
        print(f"{name} was damaged or missing and has been made anew", file=sys.stderr)
    if summary.log_lines:
        print(f"log.jsonl: line {', '.join(map(str, summary.log_lines))} was damaged and has been left out", file=sys.stderr)
    for note in dataset.notes:
        print(f"note: {note}", file=sys.stderr)
    return dataset, summary


def done(directory: Path, summary: Summary) -> str:
    """How many runs were done, in words."""
    text = f"{summary.planned:,} runs in {directory}"
    if summary.runs:
        text += f": {summary.runs:,} done in {summary.seconds:.1f} s, {summary.deliveries:,} segments delivered"
    if summary.resumed:
        text += f", {summary.resumed:,} were there"
    return text


def failed(failures: pl.DataFrame) -> str:
    """How many runs failed or were lost, in words."""
    lost = failures.filter(status="lost").height
    failed = failures.height - lost
    words = [f"{failed} runs failed"] if failed else []
    return " and ".join([*words, *([f"{lost} runs were lost each time they were tried"] if lost else [])])
