"""`sawtooth run`: what is missing of a study."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.arguments import MOST_JOBS
from sawtooth.cli.options import AsJson, Backend, Dask, NoFiles, Options, Pcap, PcapAt, Short, Snap, StudyPath


def run(
    study: StudyPath,
    out: Annotated[Path | None, typer.Option(help="Results directory.", show_default="results/NAME, NAME-short or NAME-N-of-M")] = None,
    short: Short = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_JOBS, help="Threads; of guests never more than fit, in real time one.", show_default="one per processor"
        ),
    ] = None,
    dask: Dask = None,
    shard: Annotated[
        str | None, typer.Option(metavar="N/M", help="Do the Nth of M parts, such as 3/10; `sawtooth merge` puts them together.")
    ] = None,
    backend: Backend = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Do runs that failed or were lost once more.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for another command that writes to the directory.")] = True,
    pcap: Pcap = None,
    pcap_at: PcapAt = None,
    snap: Snap = None,
    options: Options = None,
    no_files: NoFiles = False,
    progress: Annotated[
        str | None,
        typer.Option(
            metavar="json", help="Tell progress to a program: lines of JSON on standard error.", show_default="a bar, or lines of text"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a study, or what is missing of it.

    Results go to a directory of Parquet files. Ctrl-C ends it within a second; what was stored stays, and the same
    command goes on from there, and makes anew what is damaged. Runs that were lost with their guest or for lack of memory are done once more,
    at most three times. Figures, findings and references that were edited since are taken over; no run is done again for them, nor for --pcap, which captures the runs that are done now. Exit code 1 if a run failed, 130 after Ctrl-C.

    Example: sawtooth run hstcp --short --out /tmp/hstcp
    """
    import polars as pl

    from sawtooth.cli import captured, studies, work
    from sawtooth.cli.output import print_json
    from sawtooth.errors import SawtoothError, StudyError, cut
    from sawtooth.results.folder import named
    from sawtooth.sharing import Shard

    if progress not in (None, "json"):
        raise StudyError(
            f"progress is not told as `{cut(progress)}`", hint="there is `--progress json`; without it there is a bar, or lines of text"
        )
    if out is not None and str(out).startswith("memory:"):
        raise StudyError(f"results at {out} would end with this command", hint="name a directory, or a URL such as s3://bucket/results")
    loaded = studies.load(study, short, options, backend, no_files)
    studies.check_report(loaded)
    part = Shard.parse(shard) if shard else None
    plan = dataclasses.replace(studies.planned(loaded), shard=part)
    if pcap is not None and dask is not None:
        raise StudyError("--pcap captures runs of this process, and --dask does them elsewhere", hint="leave out one of the two")
    wanted = captured.wanted(pcap, pcap_at, snap, plan)
    there = pcap is None or pcap.exists()
    if wanted and (warning := wanted.prepare(plan)):
        print(f"warning: {warning}", file=sys.stderr)
    directory = out or loaded.directory(f"-{part.number}-of-{part.of}" if part else "")
    try:
        dataset, summary = work.do(
            plan, directory, jobs, dask=dask, retry_failed=retry_failed, wait=wait, captures=wanted, json_progress=progress == "json"
        )
    except SawtoothError:
        # A directory that was made for captures and got none is not left behind.
        if pcap and not there:
            with contextlib.suppress(OSError):
                pcap.rmdir()
        raise
    captured.tell(wanted)
    if dataset.edited:
        print(
            f"note: what {study} shows was edited, and is taken over; `sawtooth report {named(directory)}` makes the report of it",
            file=sys.stderr,
        )
    if part and not plan.mine:
        print(f"note: shard {part} has nothing to do: the number of batches is {len(plan.batches)}", file=sys.stderr)
    status = dataset.status()
    failures = status.filter(pl.col("status") != "ok")
    if as_json:
        print_json({
            "directory": named(directory), "runs": summary.planned if part else len(plan.runs), "done_now": summary.runs, "resumed": summary.resumed,
            "failed": failures.height, "lost": status.filter(status="lost").height, "again": summary.again, "edited": dataset.edited, "seconds": round(summary.seconds, 3), "deliveries": summary.deliveries,
        })  # fmt: skip
    else:
        print(work.done(directory, summary), file=sys.stderr)
    if failures.height:
        print(f"{work.failed(failures)}; the first: {failures['message'][0]}", file=sys.stderr)
        print("hint: --retry-failed does them once more", file=sys.stderr)
        raise typer.Exit(1)
