"""`sawtooth report`: the report of a study's results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results directory.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="Where the report goes.", show_default="DIR/report")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a study: one self-contained report.html, figures as SVG and PNG, tables as CSV.

    Example: sawtooth report results/hstcp
    """
    from sawtooth.cli import studies
    from sawtooth.cli.output import print_json
    from sawtooth.report import report as make_report

    dataset = studies.opened(directory)
    if not dataset.complete:
        done, total = dataset.status().height, dataset.runs.height
        print(f"note: {done:,} of {total:,} runs are done; the report covers those", file=sys.stderr)
    target = out or directory / "report"
    made = make_report(dataset)
    page = made.write(target)
    if as_json:
        print_json({"report": str(page), "summary": made.summary})
    else:
        for line in made.summary:
            print(line)
        print(f"report: {page}")
