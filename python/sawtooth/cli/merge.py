"""`sawtooth merge`: results that were made apart, in one directory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def merge(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results of one plan, such as those of its shards.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Where they go; a directory that has some of them gets the others.", show_default=False)],
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for another command that writes to the directory.")] = True,
    as_json: AsJson = False,
) -> None:
    """Put results of one plan together that were made apart.

    They must be of the same plan and study. A batch that several have must be the same in all. Files are copied as they are, so that what comes
    out is what one command would have made, to the byte. Exit code 1 if something is missing, which is named; `sawtooth run STUDY --out DIR` does it.

    Example: sawtooth merge results/hstcp-1-of-2 results/hstcp-2-of-2 --out results/hstcp
    """
    from sawtooth.cli.output import print_json
    from sawtooth.counted import counted
    from sawtooth.results.folder import named
    from sawtooth.results.merge import merge as put_together

    merged = put_together(directories, out, wait=wait)
    if as_json:
        print_json({"directory": named(out), "runs": merged.planned, "done": merged.runs, "missing": merged.missing})
    else:
        print(f"{merged.runs:,} of {counted(merged.planned, 'run')} in {named(out)}", file=sys.stderr)
    if merged.missing:
        print(f"missing: {', '.join(merged.missing)}", file=sys.stderr)
        print(f"hint: run and merge them, too, or run the study with --out {named(out)}: it does what is missing", file=sys.stderr)
        raise typer.Exit(1)
