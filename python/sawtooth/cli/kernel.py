"""`sawtooth kernel`: kernels for `--backend uml`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sawtooth.arguments import MOST_JOBS
from sawtooth.backends.kernels import FREQUENCIES
from sawtooth.cli.options import AsJson

app = typer.Typer(
    help="Build kernels for `--backend uml` from the distribution's source, and list or remove those that were built.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(name="build")
def build(
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="A series like 6.1, or a package's exact version.", show_default="the distribution's"),
    ] = None,
    hz: Annotated[int, typer.Option(help=f"Ticks per second: {', '.join(map(str, FREQUENCIES))}.")] = 250,
    jobs: Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Compilers at a time.", show_default="one per processor")] = None,
    as_json: AsJson = False,
) -> None:
    """Build user-mode Linux with virtual time of its own. Needs no root, some minutes and, meanwhile, 3 GB.

    A study names it as `kernel.image`; see docs/guides/build-a-kernel.md.

    Example: sawtooth kernel build 6.1 --hz 1000
    """
    from sawtooth import streams
    from sawtooth.backends import kernels
    from sawtooth.cli.output import print_json

    with kernels.progress(streams.Console(stderr=True)) as say:
        built = kernels.build(version, hz, jobs, say)
    if as_json:
        print_json(built.facts())
    else:
        print(f"{built.name}: Linux {built.release} from {built.source_package} {built.source_version}, {built.hz} Hz")


@app.command(name="list")
def list_kernels(as_json: AsJson = False) -> None:
    """List the kernels that were built."""
    from sawtooth.backends import kernels
    from sawtooth.cli.output import print_json

    found = kernels.available()
    if as_json:
        print_json([kernel.facts() for kernel in found])
        return
    for kernel in found:
        print(f"{kernel.name}  Linux {kernel.release}, {kernel.source_package} {kernel.source_version}, {', '.join(kernel.algorithms)}")
    if not found:
        print("no kernel has been built; `sawtooth kernel build` makes one", file=sys.stderr)


@app.command(name="remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `sawtooth kernel list` shows it.", show_default=False)],
) -> None:
    """Remove a kernel that was built."""
    from sawtooth.backends import kernels

    print(f"removed {kernels.remove(name).name}")
