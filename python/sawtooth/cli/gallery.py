"""`sawtooth gallery`: several studies on one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sawtooth.arguments import MOST_JOBS
from sawtooth.cli.options import AsJson, NoFiles, Short


def gallery(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[STUDY|DIR]...", help="Studies, results directories, or directories of such.", show_default="gallery"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the page and the studies' results go.", show_default="results/gallery, or gallery-short")
    ] = None,
    short: Short = False,
    figures: Annotated[
        list[str] | None,
        typer.Option(
            "--figure", metavar="NAME", help="Only figures of this name. May be repeated.", show_default="what each study asks for"
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page and of the sheet.", show_default=False)] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Threads.", show_default="one per processor")] = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Show several studies on one page, and their figures on one contact sheet.

    Studies are run, or what is missing of them; results directories are taken as they are. The page has each study's question, figure and
    verdicts, and leads to its own report; the sheet is contact-sheet.png and .svg beside it. Exit code 1 if a run failed.

    Examples: sawtooth gallery --short

    sawtooth gallery results/bufferbloat results/l4s my-studies --out handout --title 'Queues'
    """
    import polars as pl

    from sawtooth.cli import studies, work
    from sawtooth.cli.output import print_json
    from sawtooth.errors import DatasetError, StudyError
    from sawtooth.plan import Plan
    from sawtooth.report import gallery as page
    from sawtooth.report import report as make_report
    from sawtooth.results.dataset import Dataset

    target = out or Path("results") / ("gallery-short" if short else "gallery")
    # A mistake in the last study is found before the first one is run.
    chosen = [studies.results_or_plan(path, short, no_files) for path in studies.members(paths or [Path("gallery")])]
    names = [each.manifest["name"] if isinstance(each, Dataset) else each.study.name for each in chosen]
    for name in names:
        if names.count(name) > 1 and any(isinstance(each, Plan) and each.study.name == name for each in chosen):
            raise StudyError(f"two of these studies are called `{name}`", hint="their results would go to one directory")
    entries: list[page.Entry] = []
    facts: list[dict[str, Any]] = []
    failed = 0
    for at, each in enumerate(chosen):
        seconds = None
        if isinstance(each, Plan):
            directory = target / each.study.name
            print(f"{each.study.name} ({at + 1} of {len(chosen)}): {each.study.question}", file=sys.stderr)
            dataset, summary = work.do(each, directory, jobs)
            print(work.done(directory, summary), file=sys.stderr)
            seconds = round(summary.seconds, 3)
        else:
            dataset = each
        failures = dataset.status().filter(pl.col("status") != "ok").height
        failed += failures
        try:
            made = make_report(dataset)
        except DatasetError as error:
            # One study that came to nothing is no reason to lose the others.
            print(error, file=sys.stderr)
            failed += 1
            continue
        entry = page.Entry(made, made.write(dataset.directory / "report"))
        entries.append(entry)
        facts.append({
            "name": entry.name, "question": entry.question, "directory": str(dataset.directory), "report": str(entry.page),
            "runs": dataset.runs.height, "failed": failures, "seconds": seconds, "verdicts": [verdict.facts() for verdict in entry.verdicts],
            "figures": [plot.name for plot in entry.plots(figures or ())],
        })  # fmt: skip
    if not entries:
        raise DatasetError("there is nothing to show: no study has a finished run")
    heading = title or ("Gallery, short form" if short and not paths else "Gallery")
    made_page = page.Gallery(heading, entries, figures or ()).write(target)
    if as_json:
        print_json({"page": str(made_page), "sheet": str(target / f"{page.SHEET}.png"), "studies": facts})
    else:
        for entry in entries:
            print(f"{entry.name}: {entry.question}")
            for caveat in entry.caveats:
                print(f"  caveat: {caveat}")
            for verdict in entry.verdicts:
                print(f"  {verdict.said}: {verdict.claim}")
        print(f"page: {made_page}")
        print(f"sheet: {target / page.SHEET}.png")
    if failed:
        raise typer.Exit(1)
