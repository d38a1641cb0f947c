"""`sawtooth compact`: the many files of large results, in fewer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def compact(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results of a study.", show_default=False)],
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for another command that writes to the directory.")] = True,
    as_json: AsJson = False,
) -> None:
    """Put the many files of large results together in fewer.

    `sawtooth run` does it at its end where more than 1,000 batches are not packed. Results, and their hash, stay the same: reports, `merge` and `sawtooth run` take them as before. It may be ended at any moment, and a study may be
    run on after it. Who reads the results meanwhile is not disturbed: then the files that were put together stay, and the next
    `sawtooth compact` or `sawtooth run` removes them.

    Example: sawtooth compact results/hstcp
    """
    from sawtooth.cli.output import print_json
    from sawtooth.counted import counted, form
    from sawtooth.results.dataset import Dataset

    packed = Dataset(directory).pack(wait=wait)
    if as_json:
        print_json({"directory": str(directory), "files_before": packed.before, "files": packed.after, "batches_left": packed.left})
    else:
        print(
            f"{counted(packed.after, 'file')} in {directory / 'parts'}; there {form(packed.before, 'was', 'were')} {packed.before:,}",
            file=sys.stderr,
        )
        if packed.left:
            print(
                f"note: {counted(packed.left, 'batch')} {form(packed.left, 'stays as it is', 'stay as they are')}: another version of polars has written {form(packed.left, 'it', 'them')}",
                file=sys.stderr,
            )
