"""The command line. Every command teaches by its `--help`; output meant for other programs comes with `--json`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import polars as pl
import typer
from rich.table import Table
from rich.text import Text

from sawtooth import _core, api, calibration, doctor, listing, streams
from sawtooth.backends import kernels
from sawtooth.dataset import Dataset, is_results
from sawtooth.errors import BackendUnavailable, DatasetError, StudyError
from sawtooth.execute import BACKENDS, MOST_JOBS, Interrupted, Summary, execute, reporter_for, require
from sawtooth.hints import did_you_mean
from sawtooth.plan import RUN_COST, Plan, Run, make_plan
from sawtooth.report import KINDS
from sawtooth.report import report as make_report
from sawtooth.study import Study

app = typer.Typer(
    name="sawtooth",
    help="A TCP performance laboratory: one study file, a very fast packet simulator, honest statistics.\n\n"
    "Start with `sawtooth run studies/hstcp.toml --short`, then `sawtooth report results/hstcp`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_DELIVERIES_PER_SECOND, _KERNEL_DELIVERIES_PER_SECOND = 8e6, 3e3
"""Of one core; only for the estimate of time that `plan` prints."""
_START = "0 s"

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="Study file (TOML).", show_default=False)]
Short = Annotated[bool, typer.Option("--short", help="Take the study's [short] form.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override one value, e.g. --set vars.Tp='20 ms'. May be repeated."),
]
NoFiles = Annotated[bool, typer.Option("--no-files", help="The study may name no file: for one that you do not trust.")]
Backend = Annotated[
    str | None, typer.Option(help="sim, or a real kernel in uml, qemu or netns; instead of the study's.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]


@app.command()
def run(
    study: StudyPath,
    out: Annotated[Path | None, typer.Option(help="Results directory.", show_default="results/NAME")] = None,
    short: Short = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_JOBS, help="Threads; of guests never more than fit, in real time one.", show_default="one per processor"
        ),
    ] = None,
    backend: Backend = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Do runs that failed or were lost once more.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for another command that writes to the directory.")] = True,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Run a study, or what is missing of it.

    Results go to a directory of Parquet files. Ctrl-C finishes the batches in progress, a second one or a crash loses them; the same
    command goes on from there, and makes anew what is damaged. Runs that were lost with their guest or for lack of memory are done once more,
    at most three times. Exit code 1 if a run failed, 130 after Ctrl-C.

    Example: sawtooth run studies/hstcp.toml --short --out /tmp/hstcp
    """
    loaded = _load(study, short, options, backend, no_files)
    _check_report(loaded)
    plan = _warn(make_plan(loaded))
    directory = out or Path("results") / loaded.name
    dataset, summary = _do(plan, directory, jobs, retry_failed=retry_failed, wait=wait)
    status = dataset.status()
    failures = status.filter(pl.col("status") != "ok")
    if as_json:
        _print_json({
            "directory": str(directory), "runs": len(plan.runs), "done_now": summary.runs, "resumed": summary.resumed,
            "failed": failures.height, "lost": status.filter(status="lost").height, "again": summary.again, "seconds": round(summary.seconds, 3), "deliveries": summary.deliveries,
        })  # fmt: skip
    else:
        print(_done(plan, directory, summary), file=sys.stderr)
    if failures.height:
        print(f"{_failed(failures)}; the first: {failures['message'][0]}", file=sys.stderr)
        print("hint: --retry-failed does them once more", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def plan(
    study: StudyPath,
    short: Short = False,
    backend: Backend = None,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Show what a study would run: how many runs, of what, and about how long it takes.

    Exit code 2 if this machine lacks what would run it, as `run` has it.

    Example: sawtooth plan studies/hstcp.toml
    """
    made = _warn(make_plan(_load(study, short, options, backend, no_files)))
    _show_plan(made, as_json=as_json)
    # What would run can be said without what runs it; that it cannot be run here is said as `run` says it.
    require(made.study.backend)


def _show_plan(made: Plan, *, as_json: bool) -> None:
    cores = os.cpu_count() or 1
    seconds = _seconds(made, cores)
    if as_json:
        loaded = made.study
        _print_json({
            "name": loaded.name, "question": loaded.question, "runs": len(made.runs), "cells": len(made.cells),
            "arms": list(loaded.arms), "repeat": loaded.repeat, "deliveries": made.cost, **made.demand.facts(), "seconds": round(seconds, 1),
            "axes": _axes(made),
        })  # fmt: skip
        return
    # What the study calls things is text: nothing in it is a style.
    console = streams.Console(markup=False, emoji=False, highlight=False)
    console.print(f"{made.study.name}: {made.study.question}")
    table = Table("axis", "levels", box=None, pad_edge=False)
    for name, levels in _axes(made).items():
        table.add_row(name, ", ".join(levels))
    if made.study.arms:
        table.add_row("arm", ", ".join(made.study.arms))
    for arm, backends in made.study.other_arms.items():
        table.add_row("left out", f"{arm}: only for {', '.join(backends)}")
    console.print(table)
    arms = f" x {len(made.study.arms)} arms" if made.study.arms else ""
    notes = made.notes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    runs = f"{len(made.cells):,} cells{arms} x {made.study.repeat} replicates = {len(made.runs):,} runs"
    segments = f"{'about' if made.random else 'at most about'} {made.cost:,.0f} segments, {_duration(seconds)} on {cores} cores"
    console.print("\n".join([f"{runs}; {segments}", str(made.demand), *notes]))


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results directory.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="Where the report goes.", show_default="DIR/report")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a study: one self-contained report.html, figures as SVG and PNG, tables as CSV.

    Example: sawtooth report results/hstcp
    """
    dataset = _open(directory)
    if not dataset.complete:
        done, total = dataset.status().height, dataset.runs.height
        print(f"note: {done:,} of {total:,} runs are done; the report covers those", file=sys.stderr)
    target = out or directory / "report"
    made = make_report(dataset)
    page = made.write(target)
    if as_json:
        _print_json({"report": str(page), "summary": made.summary})
    else:
        for line in made.summary:
            print(line)
        print(f"report: {page}")


@app.command()
def gallery(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[STUDY|DIR]...", help="Studies, results directories, or directories of such.", show_default="studies/gallery"
        ),
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
    from sawtooth.report import gallery as page

    target = out or Path("results") / ("gallery-short" if short else "gallery")
    # A mistake in the last study is found before the first one is run.
    chosen = [_results_or_plan(path, short, no_files) for path in _gallery_of(paths or [Path("studies/gallery")])]
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
            dataset, summary = _do(each, directory, jobs)
            print(_done(each, directory, summary), file=sys.stderr)
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
            "runs": dataset.runs.height, "failed": failures, "seconds": seconds, "verdicts": [vars(verdict) for verdict in entry.verdicts],
            "figures": [plot.name for plot in entry.plots(figures or ())],
        })  # fmt: skip
    if not entries:
        raise DatasetError("there is nothing to show: no study has a finished run")
    heading = title or ("Gallery, short form" if short and not paths else "Gallery")
    made_page = page.Gallery(heading, entries, figures or ()).write(target)
    if as_json:
        _print_json({"page": str(made_page), "sheet": str(target / f"{page.SHEET}.png"), "studies": facts})
    else:
        for entry in entries:
            print(f"{entry.name}: {entry.question}")
            for verdict in entry.verdicts:
                print(f"  {verdict.answer}: {verdict.claim}")
        print(f"page: {made_page}")
        print(f"sheet: {target / page.SHEET}.png")
    if failed:
        raise typer.Exit(1)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR", help="Results directory.", show_default=False)],
    second: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR|CSV]", help="Another one, or published numbers; without it, DIR's arms.", show_default=False),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="COLUMN", help="Of flows, or links.COLUMN. May be repeated.", show_default="completion_ns, or goodput_bps"
        ),
    ] = None,
    tolerance: Annotated[str, typer.Option(metavar="SHARE", help="Ratios this near to 1 agree.")] = "5 %",
    flows: Annotated[str, typer.Option(metavar="mean|sum|max|each", help="How the flows of one block are taken together.")] = "mean",
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="Only this arm.", show_default=False)] = None,
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="The CSV's column of means.", show_default=False)] = None,
    sd: Annotated[str | None, typer.Option(metavar="COLUMN", help="Its standard deviations; needs --n.", show_default=False)] = None,
    ci: Annotated[str | None, typer.Option(metavar="COLUMN", help="Its 95 % half-widths.", show_default=False)] = None,
    n: Annotated[str | None, typer.Option("--n", metavar="N|COLUMN", help="Observations behind each mean.", show_default=False)] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Of the means.", show_default="what the column's name ends in")] = None,
    factors: Annotated[
        list[str] | None,
        typer.Option("--factor", metavar="NAME=COLUMN", help="The CSV's column of a factor, cell, arm or item, if called otherwise."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write report.html with figures and tables here.", show_default=False)] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every row as CSV.", show_default=False)] = None,
    cell: Annotated[int | None, typer.Option(min=1, help="Cell whose window is drawn.", show_default="the first")] = None,
    flow: Annotated[str | None, typer.Option(metavar="NAME", help="Flow whose window is drawn.", show_default="the first")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two results of one study, the arms of one, or a result with published numbers, cell by cell.

    Every ratio of means gets a 95 % interval and a verdict: agree, differ or not decided.

    Examples: sawtooth compare results/uml results/sim --out cmp

    sawtooth compare results/hstcp hstcp.csv --metric throughput_bps --value sum_bps --flows sum --factor cell=experiment
    """
    from sawtooth.report import compare as side_by_side

    if out is None and (cell is not None or flow is not None):
        raise DatasetError("--cell and --flow say what the page draws, and there is none", "--out DIR writes one")
    published = side_by_side.published(value, sd=sd, ci=ci, n=n, unit=unit, factors=factors or ())
    asked = side_by_side.Question(tuple(metrics or ()), side_by_side.tolerance(tolerance), flows, arm, published, cell, flow)
    made = side_by_side.compare(first, second, asked)
    page = side_by_side.page(made, first, second, asked).write(out) if out else None
    if csv:
        side_by_side.write_csv(made, csv)
    if as_json:
        _print_json({**side_by_side.as_json(made), "report": str(page) if page else None})
        return
    # A pipe gets whole lines of plain text, a terminal what fits it.
    console = streams.Console() if sys.stdout.isatty() else streams.Console(width=1000)
    console.print(side_by_side.table(made))
    if len(made.rows) > side_by_side.MOST_LINES:
        print(f"the {side_by_side.MOST_LINES} of {len(made.rows)} rows furthest from 1; --csv FILE writes all")
    print()
    for line in side_by_side.summary(made):
        print(line)
    for entry in made.unmatched[:10]:
        print(f"only {entry.side}: {entry.what}: {entry.why} ({entry.rows})")
    if len(made.unmatched) > 10:
        print(f"... and {len(made.unmatched) - 10} more; --json lists all")
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    if page:
        print(f"report: {page}")


@app.command(name="list")
def list_parts(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[WHAT]",
            help=f"{', '.join(listing.KINDS[:-1])} or {listing.KINDS[-1]}.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List what a study can name, with parameters and defaults.

    Example: sawtooth list cc
    """
    if what and what not in listing.KINDS:
        raise StudyError(f"there is nothing called `{what}` to list", hint=f"there are {', '.join(listing.KINDS)}")
    tables = listing.tables()
    chosen = {what: tables[what]} if what else tables
    if as_json:
        _print_json(chosen[what] if what else chosen)
        return
    console = streams.Console()
    for name, rows in chosen.items():
        table = Table(title=None if what else name, title_justify="left", box=None, pad_edge=False, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column()
        for row in rows:
            table.add_row(Text(row["name"]), Text(listing.words(row)))
        console.print(table)
        if not what:
            console.print()


@app.command()
def simulate(
    study: StudyPath,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of the run.")] = 1,
    table: Annotated[str, typer.Option(help="flows, links or another that the run has.")] = "flows",
    short: Short = False,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Run the first run of a study once and print a table of it.

    Example: sawtooth simulate studies/hstcp.toml --set vars.Bw='1 Mbit/s'
    """
    made = _warn(make_plan(_load(study, short, options, None, no_files)))
    records = api.simulate(json.loads(made.runs[0].scenario), seed=seed)
    if table not in records.tables:
        raise StudyError(f"this run has no table `{table}`", hint=f"it has {', '.join(records.tables)}")
    frame = records.tables[table]
    if as_json:
        _print_json(frame.to_dicts())
        return
    # One column per flow reads better than one row of 25 columns.
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_width_chars=200,
                   tbl_formatting="NOTHING", fmt_str_lengths=40):  # fmt: skip
        print(_upright(frame) if frame.height <= 8 else frame)


@app.command()
def trace(
    study: StudyPath,
    number: Annotated[int | None, typer.Option("--run", min=0, help="Run by its number in the plan.", show_default="the first")] = None,
    cell: Annotated[int | None, typer.Option(min=1, help="The first run of this cell.", show_default=False)] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="The first run of this arm.", show_default=False)] = None,
    replicate: Annotated[int | None, typer.Option(min=1, help="The first run that is this replicate.", show_default=False)] = None,
    flows: Annotated[
        list[str] | None, typer.Option("--flow", metavar="NAME", help="May be repeated.", show_default="the first six")
    ] = None,
    links: Annotated[
        list[str] | None, typer.Option("--link", metavar="NAME", help="May be repeated.", show_default="those with the longest queues")
    ] = None,
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="Draw from here on.")] = _START,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Draw up to here.", show_default="the end")] = None,
    layers: Annotated[
        bool, typer.Option("--layers", help="A message of a flow with hosts through all layers, as a table and as swim lanes.")
    ] = False,
    message: Annotated[
        int | None, typer.Option(min=1, help="With --layers: which message of the flow, by its number.", show_default="the first")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where trace-run-N.svg and .png go.", show_default="results/NAME/trace")
    ] = None,
    short: Short = False,
    backend: Backend = None,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Do one run of a study once more and draw its windows, round-trip times and queues over time.

    Nothing is stored but the figure. `sawtooth simulate --table series` prints the numbers.

    Example: sawtooth trace studies/hstcp.toml --cell 12 --arm highspeed --to '30 s'
    """
    from sawtooth import trace as traces
    from sawtooth.plots import style

    made = make_plan(_load(study, short, options, backend, no_files))
    run = traces.choose(made, traces.Which(number, cell, arm, replicate))
    span = traces.span(begin, end, run)
    directory = out or Path("results") / made.study.name / "trace"
    if layers:
        if links:
            raise StudyError("--layers draws no links", hint="leave out --link")
        _trace_layers(made, run, flows, message, span if begin != _START or end is not None else None, directory, as_json=as_json)
        return
    if message is not None:
        raise StudyError("--message is for --layers", hint="a message's way through the layers is shown with both")
    taken = traces.take(made, run, BACKENDS[made.study.backend])
    drawn = traces.figure(taken, traces.title(made, run), flows or (), links or (), span)
    name = f"trace-run-{run.index}"
    style.write(drawn, directory, name)
    if as_json:
        _print_json({"run": run.index, "cell": run.cell, "arm": run.arm, "replicate": run.replicate, "seed": run.seed,
                     "figure": str(directory / f"{name}.svg"), "flows": taken.flows.to_dicts()})  # fmt: skip
        return
    for line in traces.summary(taken, flows or ()):
        print(line)
    print(f"figure: {directory / name}.svg")


def _trace_layers(
    made: Plan, run: Run, flows: list[str] | None, message: int | None, span: tuple[float, float] | None, directory: Path, *, as_json: bool
) -> None:
    from sawtooth import layers as ways
    from sawtooth import trace as traces
    from sawtooth.plots import style, swim_lanes

    view = ways.view(*ways.take(made, run, flows), message, span)
    number = view.message["message"] if view.message else 1
    name = f"layers-run-{run.index}" + (f"-message-{number}" if number != 1 else "")
    title = [traces.title(made, run), view.title]
    drawn = swim_lanes.layers(view.events, view.packets, view.waits, (view.begin, view.end), view.origin, title, view.message)
    style.write(drawn, directory, name)
    times = view.times()
    view.write(directory, name, f"layers-run-{run.index}-messages")
    if as_json:
        _print_json({"run": run.index, "figure": str(directory / f"{name}.svg"), "origin_ns": view.origin, "message": view.message,
                     "stalls": view.stalls().to_dicts(), "packets": times.to_dicts()})  # fmt: skip
        return
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_width_chars=250,
                   fmt_str_lengths=100, tbl_formatting="NOTHING", tbl_cell_numeric_alignment="RIGHT"):  # fmt: skip
        if view.message:
            print(f"{view.title}\n")
        if view.message and view.message["copied"] is not None:
            print("Its last byte, us since the write:")
            percent = (pl.col("share") * 100).map_elements(lambda share: f"{share:.1f} %", return_dtype=pl.String)
            print(_tenths(view.parts().with_columns(share=percent.fill_null(""))))
            print()
        since = "the write" if view.message else "the run began"
        if view.waits.height:
            print(f"Stalls of the sending socket, us since {since}:")
            print(_tenths(view.stalls()))
            print()
        print(f"Packets, us since {since}:")
        print(_tenths(times))
    print(f"figure: {directory / name}.svg")


def _tenths(table: pl.DataFrame) -> pl.DataFrame:
    """Its numbers as text with one decimal; what is not known is empty."""
    text = pl.col(pl.Float64).map_elements(lambda value: f"{value:.1f}", return_dtype=pl.String).fill_null("")
    return table.with_columns(text.str.pad_start(text.str.len_chars().max()))


@app.command()
def calibrate(
    backends: Annotated[
        list[str] | None, typer.Option("--backend", metavar="B", help="uml, qemu or netns. May be repeated.", show_default="all")
    ] = None,
    shaper: Annotated[str, typer.Option(metavar="simulator|kernel", help="What makes the links.")] = "simulator",
    as_json: AsJson = False,
) -> None:
    """Measure how exactly this machine makes links, and the fastest it reaches; runs with faster ones are marked from then on.

    Example: sawtooth calibrate --backend netns
    """
    if shaper not in calibration.SHAPERS:
        raise StudyError(f"there is no shaper `{shaper}`", hint=f"there are {', '.join(calibration.SHAPERS)}")
    for name in backends or ():
        if name not in calibration.LAUNCHERS:
            raise StudyError(f"there is no backend `{name}` to calibrate", hint=f"there are {', '.join(calibration.LAUNCHERS)}")
    made: list[dict[str, Any]] = []
    for name in backends or calibration.LAUNCHERS:
        for clock in ("real",) if name == "netns" else ("virtual", "real"):
            try:
                one = calibration.measure(name, shaper, clock=clock)
            except BackendUnavailable as missing:
                if backends:
                    raise
                print(f"{name}: {missing.message}", file=sys.stderr)
                break
            made.append(one.to_json())
            for what, why in one.errors.items():
                print(f"{name}, {clock} time: {what} was not measured: {why}", file=sys.stderr)
            if not as_json:
                print(f"{name}, {clock} time, kernel {one.release}: TCP reaches {one.reached_bps / 1e6:,.0f} Mbit/s")
    if as_json:
        _print_json(made)
    if any(one["errors"] for one in made):
        raise typer.Exit(1)


@app.command()
def stall(
    ports: Annotated[
        list[int] | None,
        typer.Option("--port", metavar="N", min=1, max=65535, help="Local or the peer's. May be repeated.", show_default=False),
    ] = None,
    pids: Annotated[
        list[int] | None,
        typer.Option("--pid", metavar="N", min=1, help="Connections that this process has open. May be repeated.", show_default=False),
    ] = None,
    peers: Annotated[
        list[str] | None,
        typer.Option("--peer", metavar="ADDRESS", help="Address, network or ADDRESS:PORT. May be repeated.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every connection of this machine.")] = False,
    interval: Annotated[str, typer.Option(metavar="TIME", help="Between two reports.")] = "1 s",
    total: Annotated[str | None, typer.Option("--for", metavar="TIME", help="How long to watch.", show_default="until Ctrl-C")] = None,
    once: Annotated[bool, typer.Option("--once", help="Watch for one interval, print it, end.")] = False,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep it as results: `sawtooth report DIR`, `sawtooth compare DIR OTHER`.", show_default=False),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Measure stalls at the kernel's tracepoints: needs root and bpftrace.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON per connection and interval.")] = False,
) -> None:
    """Watch TCP connections of this machine, and say what holds each of them back.

    Of every interval: how long a connection was busy; the share of the time that the application, the receiver's window, the send
    buffer, the congestion window or pacing held it back; and its stall: time in which something waited to be sent and nothing was
    done for it. The main cause comes in words, with what to try.

    Ports, processes and peers may be combined: then connections fit all of them. No root is needed to see connections, only to
    see which are another user's process's, and for --exact. Exit code 1 if nothing was seen, 130 if Ctrl-C cut --for short.

    Example: sawtooth stall --port 443 --for '1 min' --record results/https
    """
    from sawtooth.live import screen, session
    from sawtooth.live.netlink import LiveError
    from sawtooth.live.targets import Peer, Target
    from sawtooth.quantities import seconds

    if not (ports or pids or peers or everything):
        raise LiveError("which connections?", "name a --port, a --pid or a --peer, or take --all; `ss -tp` lists what there is")
    if everything and (ports or pids or peers):
        raise LiveError("--all are all: there is nothing to choose with --port, --pid or --peer")
    if once and total is not None:
        raise LiveError("--once is one interval: --for has nothing to say", "--interval says how long that is")
    step = seconds(interval)
    whole = step if once else None if total is None else seconds(total)
    if step < 0.05:
        raise LiveError(f"`{interval}` is too short", "an interval takes 50 ms at least: the kernel counts in ticks of some ms")
    if whole is not None and whole <= 0:
        raise LiveError(f"`{total}` is no time to watch for", "such as '10 s'; without --for it watches until Ctrl-C")
    target = Target(ports or (), pids or (), [Peer.parse(peer) for peer in peers or ()])
    asked = session.Asked(target, step, whole, record, exact)
    with screen.output(str(target), as_json=as_json) as show:
        ending = session.watch(asked, show)
    if ending.why:
        print(ending.why, file=sys.stderr)
    if not ending.totals:
        print(f"no connection of {target} was seen", file=sys.stderr)
        raise typer.Exit(1)
    if not (as_json or once):
        screen.print_totals(ending.totals, str(target))
    if record is not None:
        print(f"recorded in {record}; `sawtooth report {record}` shows it", file=sys.stderr)
    if ending.hidden:
        print("which processes of other users have them open may not be seen: that needs root", file=sys.stderr)
    if ending.interrupted and whole is not None:
        raise typer.Exit(130)


@app.command(name="doctor")
def doctor_command(
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed runs have left: guests and temporary files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what this machine can run, and how to get what is missing."""
    if clean:
        removed = doctor.clean()
        if as_json:
            _print_json(removed)
            return
        for line in removed:
            print(line)
        if not removed:
            print("nothing is left of killed runs")
        return
    findings = doctor.examine()
    if as_json:
        _print_json([vars(finding) for finding in findings])
        return
    for finding in findings:
        print(f"{'ok     ' if finding.ok else 'missing'}  {finding.what}: {finding.detail}")
        if finding.advice:
            print(f"         {finding.advice}")


kernel_app = typer.Typer(
    help="Build kernels for `--backend uml` from the distribution's source, and list or remove those that were built.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(kernel_app, name="kernel")


@kernel_app.command(name="build")
def kernel_build(
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="A series like 6.1, or a package's exact version.", show_default="the distribution's"),
    ] = None,
    hz: Annotated[int, typer.Option(help=f"Ticks per second: {', '.join(map(str, kernels.FREQUENCIES))}.")] = 250,
    jobs: Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Compilers at a time.", show_default="one per processor")] = None,
    as_json: AsJson = False,
) -> None:
    """Build user-mode Linux with virtual time of its own. Needs no root, some minutes and, meanwhile, 3 GB.

    A study names it as `kernel.image`; see docs/guides/build-a-kernel.md.

    Example: sawtooth kernel build 6.1 --hz 1000
    """
    with kernels.progress(streams.Console(stderr=True)) as say:
        built = kernels.build(version, hz, jobs, say)
    if as_json:
        _print_json(built.facts())
    else:
        print(f"{built.name}: Linux {built.release} from {built.source_package} {built.source_version}, {built.hz} Hz")


@kernel_app.command(name="list")
def kernel_list(as_json: AsJson = False) -> None:
    """List the kernels that were built."""
    found = kernels.available()
    if as_json:
        _print_json([kernel.facts() for kernel in found])
        return
    for kernel in found:
        print(f"{kernel.name}  Linux {kernel.release}, {kernel.source_package} {kernel.source_version}, {', '.join(kernel.algorithms)}")
    if not found:
        print("no kernel has been built; `sawtooth kernel build` makes one", file=sys.stderr)


@kernel_app.command(name="remove")
def kernel_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `sawtooth kernel list` shows it.", show_default=False)],
) -> None:
    """Remove a kernel that was built."""
    print(f"removed {kernels.remove(name).name}")


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"sawtooth {_core.version()}")
        raise typer.Exit


def main() -> NoReturn:
    """Runs the command line; a user's mistake ends in its message and exit code 2, without a traceback."""
    sys.exit(streams.command(app))


def _upright(frame: pl.DataFrame) -> pl.DataFrame:
    """One column per row, headed by what the rows are of."""
    name = frame.columns[0]
    rows = frame[name].cast(pl.String).to_list()
    if len(set(rows)) == frame.height:
        # A flow without a name is called "flow", as the column is; then the column goes without.
        return frame.drop(name).transpose(include_header=True, header_name="" if name in rows else name, column_names=rows)
    return frame.transpose(include_header=True, header_name="", column_names=[str(at) for at in range(1, frame.height + 1)])


def _load(study: Path, short: bool, options: Sequence[str] | None, backend: str | None, no_files: bool) -> Study:
    return Study.load(
        study, short=short, options=[*(options or ()), *([f"backend={backend}"] if backend is not None else [])], files=not no_files
    )


def _gallery_of(paths: Sequence[Path]) -> list[Path]:
    """The study files and results directories that `paths` name, each once."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir() and not is_results(path):
            within = [*sorted(path.glob("*.toml")), *(each for each in sorted(path.iterdir()) if is_results(each))]
            if not within:
                raise StudyError(f"{path} holds neither study files nor results directories", hint="name one that does")
            found += within
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _results_or_plan(path: Path, short: bool, no_files: bool) -> Dataset | Plan:
    if is_results(path):
        return _open(path)
    loaded = _load(path, short, None, None, no_files)
    _check_report(loaded)
    return _warn(make_plan(loaded))


def _open(directory: Path) -> Dataset:
    """Opens results; says what in the directory is not read."""
    dataset = Dataset.open(directory)
    for note in dataset.notes:
        print(f"note: {note}", file=sys.stderr)
    return dataset


def _do(plan: Plan, directory: Path, jobs: int | None, *, retry_failed: bool = False, wait: bool = True) -> tuple[Dataset, Summary]:
    """Does what is missing of a plan, with progress; Ctrl-C ends the command with exit code 130."""
    if not is_results(directory):
        require(plan.study.backend)
    dataset = Dataset.create(directory, plan, wait=wait)
    reporter = reporter_for(streams.Console(stderr=True))
    try:
        summary = execute(plan, dataset, jobs=jobs, reporter=reporter, retry_failed=retry_failed, wait=wait)
    except Interrupted as stopped:
        status = dataset.status().height
        print(f"stopped: {status} of {len(plan.runs)} runs are stored; the same command goes on from there", file=sys.stderr)
        raise typer.Exit(128 + stopped.signal) from None
    for name in summary.damaged:
        print(f"{name} was damaged or missing and has been made anew", file=sys.stderr)
    if summary.log_lines:
        print(f"log.jsonl: line {', '.join(map(str, summary.log_lines))} was damaged and has been left out", file=sys.stderr)
    for note in dataset.notes:
        print(f"note: {note}", file=sys.stderr)
    return dataset, summary


def _failed(failures: pl.DataFrame) -> str:
    lost = failures.filter(status="lost").height
    failed = failures.height - lost
    words = [f"{failed} runs failed"] if failed else []
    return " and ".join([*words, *([f"{lost} runs were lost each time they were tried"] if lost else [])])


def _done(plan: Plan, directory: Path, summary: Summary) -> str:
    text = f"{len(plan.runs):,} runs in {directory}"
    if summary.runs:
        text += f": {summary.runs:,} done in {summary.seconds:.1f} s, {summary.deliveries:,} segments delivered"
    if summary.resumed:
        text += f", {summary.resumed:,} were there"
    return text


def _check_report(study: Study) -> None:
    """A misspelt kind of report is found before hours of simulation, not after."""
    if study.report not in KINDS:
        raise study.document.error(f"unknown kind of report `{study.report}`", "report", did_you_mean(study.report, KINDS))


def _warn(made: Plan) -> Plan:
    """Tells what is hardly meant; the study goes on."""
    for warning in made.warnings:
        print(warning, file=sys.stderr)
    return made


def _axes(made: Plan) -> dict[str, list[str]]:
    from sawtooth.sweep import axis_names

    paths = list(dict.fromkeys(path for cell in made.cells for path in cell.factors))
    names = axis_names(paths)
    return {names[path]: list(dict.fromkeys(str(cell.factors[path]) for cell in made.cells if path in cell.factors)) for path in paths}


def _seconds(made: Plan, cores: int) -> float:
    """How long a plan takes, at most about: in real time runs are one after the other and take their own time, too."""
    backend = made.study.backend
    if backend == "sim":
        return (made.cost + len(made.runs) * RUN_COST) / _DELIVERIES_PER_SECOND / cores
    real = [run for run in made.runs if backend == "netns" or _core.kernel_settings(run.scenario)["time"] == "real"]
    in_turn = sum(run.cost for run in real)
    waiting = sum(_core.kernel_settings(run.scenario)["duration_secs"] for run in real)
    return waiting + (in_turn + (made.cost - in_turn) / cores) / _KERNEL_DELIVERIES_PER_SECOND


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


if __name__ == "__main__":
    main()
