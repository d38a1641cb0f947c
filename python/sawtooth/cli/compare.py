"""`sawtooth compare`: results beside others, cell by cell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR|CAPTURE", help="Results directory, or a capture.", show_default=False)],
    others: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR...|FILE|CAPTURE|STUDY]",
            help="Others, published numbers, or what iperf3 or flent measured; without any, DIR's arms. Of a capture one: a capture, a directory, or a study to simulate.",
            show_default=False,
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="MEASURE",
            help="A column, such as links.dropped_packets, or an expression. May be repeated.",
            show_default="completion_ns of transfers, else goodput_bps",
        ),
    ] = None,
    tolerance: Annotated[str | None, typer.Option(metavar="SHARE", help="Ratios this near to 1 agree.", show_default="5 %")] = None,
    flows: Annotated[
        str | None, typer.Option(metavar="mean|sum|max|each", help="How the flows of one block are taken together.", show_default="mean")
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of", metavar="ITEM", help="Only this flow, block of flows or link's direction. May be repeated.", show_default="all"
        ),
    ] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="Only this arm.", show_default=False)] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME|CSV", help="A [[references]] table of the study, or a file of published numbers.", show_default=False),
    ] = None,
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="The table's column of means.", show_default=False)] = None,
    sd: Annotated[str | None, typer.Option(metavar="COLUMN", help="Its standard deviations; needs --n.", show_default=False)] = None,
    ci: Annotated[str | None, typer.Option(metavar="COLUMN", help="Its 95 % half-widths.", show_default=False)] = None,
    n: Annotated[str | None, typer.Option("--n", metavar="N|COLUMN", help="Observations behind each mean.", show_default=False)] = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Of the means.", show_default="what the column's name ends in")] = None,
    digits: Annotated[int | None, typer.Option(metavar="N", help="Decimals that the means have.", show_default="as written")] = None,
    factors: Annotated[
        list[str] | None,
        typer.Option("--factor", metavar="NAME=COLUMN", help="The CSV's column of a factor, cell, arm or item, if called otherwise."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write report.html with figures and tables here.", show_default=False)] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every row as CSV.", show_default=False)] = None,
    cell: Annotated[int | None, typer.Option(min=1, help="Cell whose window is drawn.", show_default="the first")] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Flow whose window is drawn. Beside a capture the flow that is meant, and, repeated, that of the other side.",
            show_default="the first; beside a capture the largest",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare results of one study, the arms of one, or a result with published numbers, cell by cell.

    Every ratio of means gets a 95 % interval and a verdict: agree, differ or not decided. Of several directories each is held against those after it.
    A capture lies beside one flow of another capture, of results or of a simulated study: numbers and a figure of both, without a verdict, as it is one run. Exit code 1 if a capture is damaged, so that what is told is of its beginning.

    Examples: sawtooth compare results/uml results/qemu results/sim --out cmp

    sawtooth compare results/uml results/sim --metric links.dropped_packets --of 'bottleneck forward'

    sawtooth compare results/aqm --reference paper

    sawtooth compare results/hstcp hstcp.csv --metric throughput_bps --value sum_bps --flows sum --factor cell=experiment

    sawtooth compare transfer.pcapng fitted.toml --out beside
    """
    from sawtooth import outputs, streams
    from sawtooth.cli import compare_captures as captured
    from sawtooth.cli import compare_order
    from sawtooth.cli.output import print_json
    from sawtooth.errors import DatasetError

    compare_order.require(paths := [first, *(others or [])])
    if captured.wanted(paths):
        given = {
            "--metric": metrics, "--tolerance": tolerance, "--flows": flows, "--of": of, "--reference": reference, "--value": value, "--sd": sd, "--ci": ci,
            "--n": n, "--unit": unit, "--digits": digits, "--factor": factors, "--csv": csv,
        }  # fmt: skip
        found = captured.compared(paths, flow or [], cell, arm, given, out)
        captured.tell_notes(found)
        if as_json:
            print_json(captured.as_json(found, out))
        else:
            for line in captured.lines(found, out):
                print(line)
        if code := captured.status(found):
            raise typer.Exit(code)
        return
    from sawtooth.report import compare as side_by_side
    from sawtooth.report.compare_page import page as page_of

    if len(flow or []) > 1:
        raise DatasetError("--flow is given more than once, and the page draws one window", "name one")
    if out is None and (cell is not None or flow):
        raise DatasetError("--cell and --flow say what the page draws, and there is none", "--out DIR writes one")
    published = side_by_side.published(value, sd=sd, ci=ci, n=n, unit=unit, digits=digits, factors=factors or ())
    asked = side_by_side.Question(
        tuple(metrics or ()),
        side_by_side.tolerance(tolerance or "5 %"),
        flows or "mean",
        arm,
        reference,
        published,
        cell,
        flow[0] if flow else None,
        of or (),
    )
    reads = [*paths, *([Path(reference)] if reference else [])]
    if csv:
        outputs.require(csv, "a table", reads)
    made = side_by_side.compare(first, others or [], asked)
    page = page_of(made, first, others or [], asked).write(out) if out else None
    if csv:
        side_by_side.write_csv(made, csv, reads)
    if as_json:
        print_json({**side_by_side.as_json(made), "report": str(page) if page else None})
        return
    # A pipe gets whole lines of plain text, a terminal what fits it.
    console = streams.Console() if sys.stdout.isatty() else streams.Console(width=1000)
    console.print(side_by_side.table(made))
    for line in side_by_side.key(made):
        print(line)
    print()
    for line in side_by_side.summary(made):
        print(line)
    for entry in made.unmatched[:10]:
        print(f"{entry.where}: {entry.what}: {entry.why} ({entry.rows})")
    if len(made.unmatched) > 10:
        print(f"... and {len(made.unmatched) - 10} more; --json lists all")
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    if page:
        print(f"report: {page}")
