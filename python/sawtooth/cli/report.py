"""`sawtooth report`: the report of a study's results."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results directory.", show_default=False)],
    out: Annotated[str | None, typer.Option(metavar="<path>", help="Where the report goes.", show_default="DIR/report")] = None,
    formats: Annotated[
        str,
        typer.Option("--format", metavar="LIST", help="What is written, with commas between: html, md, csv (tables), svg (figures), pdf."),
    ] = "html",
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Figures, findings and references of this version of the study.", show_default="as they were run"
        ),
    ] = None,
    run_analysis: Annotated[
        bool, typer.Option("--run-analysis", help="Run the study's own analysis, which is code, also if it is none that comes along.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print all numbers of each verdict, and whole caveats.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the report of a study: one self-contained report.html, figures as SVG and PNG, tables as CSV.

    With --study it shows what an edited study file asks for; nothing is run again, and the scenario, sweep, draws and arms must be the same.
    It prints each verdict with the number that decides, and last what was found in words; with --verbose all their numbers, and with --json
    those of each cell, figures and tables.

    Examples: sawtooth report results/hstcp

    sawtooth report results/hstcp --format md,pdf --out handout
    """
    from sawtooth.cli import report_text, studies
    from sawtooth.cli.output import print_json
    from sawtooth.errors import DatasetError
    from sawtooth.plots.aside import Aside, seldom_swept
    from sawtooth.report import report as make_report
    from sawtooth.report.document import checked
    from sawtooth.report.origin import failures
    from sawtooth.results.folder import url_of

    if out is None and (url := url_of(directory)) is not None:
        raise DatasetError(f"a report of {url} needs a place here", "name a directory with --out")
    chosen = checked(formats.split(","))
    dataset = studies.opened(directory)
    if study is not None:
        from sawtooth.report.edited import shown_as

        dataset = shown_as(dataset, study)
    if failed := failures(dataset):
        print(f"note: {failed}", file=sys.stderr)
    seldom_swept()
    # PNG, too, is made of the page's figures only.
    with Aside() if "html" in chosen else nullcontext() as aside:
        made = make_report(dataset, figures=chosen != {"csv"}, run_analysis=run_analysis, aside=aside)
        for each in made.missing:
            print(f"note: {each}", file=sys.stderr)
        page = made.write(directory / "report" if out is None else out, chosen)
    if as_json:
        print_json({"report": str(page), **made.facts()})
    else:
        report_text.show(made, page, verbose=verbose)
