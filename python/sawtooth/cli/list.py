"""`sawtooth list`: what a study can name."""

from __future__ import annotations

from typing import Annotated

import typer

from sawtooth import listing
from sawtooth.cli.options import AsJson


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
    from rich.table import Table
    from rich.text import Text

    from sawtooth import streams
    from sawtooth.cli.output import print_json
    from sawtooth.errors import StudyError

    if what and what not in listing.KINDS:
        raise StudyError(f"there is nothing called `{what}` to list", hint=f"there are {', '.join(listing.KINDS)}")
    tables = listing.tables()
    chosen = {what: tables[what]} if what else tables
    if as_json:
        print_json(chosen[what] if what else chosen)
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
