"""`sawtooth analyze`: captures of packets and files of iperf3 and flent, told and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def analyze(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Captures, pcap or pcapng, - is standard input; or what iperf3 (-J) or flent wrote.", show_default=False
        ),
    ],
    flows: Annotated[
        list[str] | None,
        typer.Option(
            "--flow",
            metavar="NAME",
            help="Tell and draw this one: its name, a part of it, or the number of its connection. May be repeated.",
            show_default="the largest are drawn",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Draw from here on, since the first frame.", show_default="the flow's start"),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Draw up to here.", show_default="the flow's end")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write tables (Parquet, CSV) and figures there; of several files into a folder each.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what the connections of captures did: rates, losses, round-trip times, what held them back.

    Whoever made the capture, and wherever: at the sender, at the receiver or between them. What it cannot tell is null, not 0. What is wrong with one file is told, and the others are analysed. Exit code 1 if a
    file is damaged, so that what is told is of its beginning; 2 if one could not be analysed.

    Of files of iperf3 and flent it tells flows and their course over time.

    Examples: sawtooth analyze transfer.pcapng --out results/transfer

    sawtooth analyze iperf3.json
    """
    from sawtooth import streams
    from sawtooth.cli import analyze_text
    from sawtooth.cli.output import print_json

    done = analyze_text.all_analyzed(files, flows or [], (begin, end), out)
    if as_json:
        print_json([analyze_text.as_json(each) for each in done])
    told = 0
    for each in done:
        if isinstance(each, analyze_text.Failed):
            streams.tell_error(each.error)
        elif not as_json:
            if told:
                print()
            told += 1
            for line in analyze_text.lines(each):
                print(line)
    if code := analyze_text.status(done):
        raise typer.Exit(code)
