"""`sawtooth fit`: a scenario from a capture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def fit(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A capture at the sender, pcap or pcapng; - is standard input.", show_default=False)
    ],
    flow: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Fit this one: its name, a part of it, or the number of its connection.", show_default="the largest"
        ),
    ] = None,
    controls: Annotated[
        list[str] | None,
        typer.Option("--cc", metavar="NAME", help="Compare this congestion control. May be repeated.", show_default="eight of Linux"),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the study there (TOML).", show_default=False)] = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw what was measured beside what is simulated: NAME.svg, and NAME.png.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out even if `sawtooth fit` did not write it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Propose a scenario that explains a capture: rate, delay, buffer and loss of the bottleneck, the traffic of others at it, and the congestion control.

    Each has an interval, or a reason why the capture cannot tell it. Exit code 1 if the capture is damaged, so that what is told is of its beginning.

    Example: sawtooth fit transfer.pcapng --out fitted.toml
    """
    from sawtooth import captures, fitting
    from sawtooth.cli import fit_text
    from sawtooth.cli.output import print_json

    fit_text.require_places(file, out, figure, force=force)
    capture = captures.read(file, on_progress=captures.progress_lines(file))
    found = fitting.fit(capture, fit_text.chosen(capture, flow), controls or fitting.CONTROLS, title=fitting.title_of(str(out or file)))
    fit_text.write(found, file, out, figure)
    if as_json:
        print_json(fit_text.as_json(found, capture.damage))
    else:
        for line in fit_text.lines(found, out, figure):
            print(line)
    if capture.warning is not None:
        print(f"warning: {capture.warning}", file=sys.stderr)
        raise typer.Exit(1)
