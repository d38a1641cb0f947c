"""What commands do: the runs of a plan, with progress."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import typer

from sawtooth import clusters, streams
from sawtooth.backends.registry import require
from sawtooth.counted import counted, form
from sawtooth.errors import ClusterError
from sawtooth.execute import Interrupted, Summary, WorkersGone, execute
from sawtooth.narrowing import Narrowing
from sawtooth.plan import Plan
from sawtooth.progress import Reporter, reporter_for
from sawtooth.results.dataset import Dataset, is_results
from sawtooth.results.folder import named
from sawtooth.taps import Wanted

# So long a scheduler that is gone may take to come back, in seconds.
_COMING_BACK = 300.0


def do(
    plan: Plan,
    directory: Path,
    jobs: int | None,
    *,
    dask: str | None = None,
    retry_failed: bool = False,
    wait: bool = True,
    captures: Wanted | None = None,
    json_progress: bool = False,
) -> tuple[Dataset, Summary]:
    """Does what is missing of a plan, with progress, here or on a Dask cluster; Ctrl-C ends the command with exit code 130."""
    if dask is not None:
        clusters.require_address(dask)
    elif not is_results(directory):
        require(plan.study.backend)
    made = _Made(lambda: Dataset.create(directory, plan, wait=wait))

    def progress() -> Reporter:
        # Once there are results: a cluster may not answer.
        return reporter_for(streams.Console(stderr=True), as_json=json_progress, below=Narrowing(plan.study, made.dataset.directory))

    try:
        if dask is None:
            summary = execute(plan, made.dataset, jobs=jobs, reporter=progress(), retry_failed=retry_failed, wait=wait, captures=captures)
        else:
            summary = _on_cluster(dask, plan, made, progress, retry_failed=retry_failed, wait=wait)
        dataset = made.dataset
    except Interrupted as stopped:
        if made.found is None:
            print("stopped before anything was done; the same command begins anew", file=sys.stderr)
            raise typer.Exit(128 + stopped.signal) from None
        stored = f"{made.found.status().height:,} of {counted(made.found.runs.height, 'run')} {form(made.found.status().height, 'is', 'are')} stored"
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


class _Made:
    """A dataset that is made when it is needed first: where nobody answers no directory is left behind.

    Attributes:
        found: it, once it is made.

    """

    def __init__(self, make: Callable[[], Dataset]) -> None:
        self._make = make
        self.found: Dataset | None = None

    @property
    def dataset(self) -> Dataset:
        """It, made if it is not yet."""
        if self.found is None:
            self.found = self._make()
        return self.found


def _on_cluster(address: str, plan: Plan, made: _Made, progress: Callable[[], Reporter], *, retry_failed: bool, wait: bool) -> Summary:
    """Does what is missing on a cluster. Its scheduler may go and come back: what it was doing is then taken from the results, as after any end."""

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    gone: float | None = None
    while True:
        try:
            with clusters.connected(address, say) as crew:
                gone = None
                return execute(plan, made.dataset, crew.executor, reporter=progress(), crew=crew, retry_failed=retry_failed, wait=wait)
        except WorkersGone:
            say(f"the scheduler at {address} is gone: waiting for it to come back")
            gone = time.monotonic()
        except ClusterError:
            if gone is None:
                raise
            if time.monotonic() - gone > _COMING_BACK:
                raise ClusterError(
                    f"the scheduler at {address} has been gone for {_COMING_BACK / 60:.0f} minutes",
                    "what was stored stays: start it again and run the same command, it goes on from there",
                ) from None
            time.sleep(1.0)
        except KeyboardInterrupt:
            raise Interrupted(signal.SIGINT) from None


def done(directory: Path, summary: Summary) -> str:
    """How many runs were done, in words."""
    text = f"{counted(summary.planned, 'run')} in {named(directory)}"
    if summary.runs:
        text += f": {summary.runs:,} done in {summary.seconds:.1f} s, {counted(summary.deliveries, 'segment')} delivered"
    if summary.resumed:
        text += f", {summary.resumed:,} {form(summary.resumed, 'was', 'were')} there"
    return text


def failed(failures: pl.DataFrame) -> str:
    """How many runs failed or were lost, in words."""
    lost = failures.filter(status="lost").height
    failed = failures.height - lost
    words = [f"{counted(failed, 'run')} failed"] if failed else []
    return " and ".join(
        [
            *words,
            *([f"{counted(lost, 'run')} {form(lost, 'was lost each time it was', 'were lost each time they were')} tried"] if lost else []),
        ]
    )
