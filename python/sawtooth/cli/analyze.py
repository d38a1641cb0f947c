"""`sawtooth analyze`: captures of packets, told and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def analyze(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Captures, pcap or pcapng; - is standard input.", show_default=False)
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

    Whoever made the capture, and wherever: at the sender, at the receiver or between them. What it cannot tell is null, not 0.

    Example: sawtooth analyze transfer.pcapng --out results/transfer
    """
    from sawtooth.cli import analyze_text
    from sawtooth.cli.output import print_json

    places = analyze_text.places(files, out)
    done = [analyze_text.analyzed(file, flows or [], (begin, end), place) for file, place in zip(files, places, strict=True)]
    if as_json:
        print_json([analyze_text.as_json(each) for each in done])
        return
    for at, each in enumerate(done):
        if at:
            print()
        for line in analyze_text.lines(each):
            print(line)
