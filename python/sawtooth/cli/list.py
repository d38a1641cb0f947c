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
    from sawtooth.cli.output import print_json, print_pairs
    from sawtooth.errors import StudyError

    if what and what not in listing.KINDS:
        raise StudyError(f"there is nothing called `{what}` to list", hint=f"there are {', '.join(listing.KINDS)}")
    chosen = {kind: listing.table(kind) for kind in ([what] if what else listing.KINDS)}
    if as_json:
        print_json(chosen[what] if what else chosen)
        return
    for name, rows in chosen.items():
        print_pairs([(row["name"], listing.words(row)) for row in rows], title=None if what else name)
        if not what:
            print()
