"""`sawtooth import`: measurements of iperf3 and flent as results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def import_files(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|DIR...", help="What iperf3 (JSON) or flent wrote, and directories of such files.", show_default=False),
    ],
    out: Annotated[Path, typer.Option(help="Results directory.", show_default=False)],
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A factor of all of them, e.g. --set rtt='20 ms'. May be repeated."),
    ] = None,
    pattern: Annotated[
        str, typer.Option(metavar="PATTERN", help="Factors in the files' names, in braces, e.g. '{cc}-{rtt}-*.json'.", show_default="none")
    ] = "",
    table: Annotated[
        Path | None,
        typer.Option(
            "--factors",
            metavar="FILE",
            help='Factors by patterns of names, as TOML: ["cubic-*.json"] and its factors below.',
            show_default=False,
        ),
    ] = None,
    ignored: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="NAME",
            help="A setting that files tell and that makes no difference, e.g. title. May be repeated.",
            show_default=False,
        ),
    ] = None,
    arm: Annotated[
        str | None, typer.Option(metavar="NAME", help="The factor whose levels are arms, which are compared in pairs.", show_default="none")
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Of the results; two of one name can be compared.")] = "measured",
    as_json: AsJson = False,
) -> None:
    """Make results of what iperf3 or flent measured, for `sawtooth report` and `sawtooth compare`.

    A file is a run, and files of the same settings are replicates. Settings are what is said of files, by --set, --pattern and --factors, and what they tell themselves where they differ in it. A
    measurement that was interrupted is a failed run. Exit code 1 if there is one; 2, and nothing is written, if a file cannot be read.

    Examples: sawtooth import lab/*.json --out results/lab --pattern '{cc}-{rtt}-*.json' --arm cc

    sawtooth import flents --out results/flents --ignore title
    """
    from sawtooth import importing, streams
    from sawtooth.cli import import_text
    from sawtooth.cli.output import print_json

    given = importing.Given.of(options or (), pattern, table, ignored or ())
    found = importing.found(files)
    for error in found.failed:
        streams.tell_error(error)
    if found.failed:
        raise typer.Exit(2)
    made = importing.import_files(found, out, given, name=name, arm=arm)
    for line in import_text.notes(found, made):
        print(line, file=sys.stderr)
    if as_json:
        print_json(import_text.as_json(made))
    else:
        for line in import_text.lines(made):
            print(line)
    if made.failed:
        raise typer.Exit(1)
