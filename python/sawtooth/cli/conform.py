"""`sawtooth conform`: what scripts of packets say an endpoint does, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def conform(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="SCRIPT...", help="Scripts in packetdrill's language, or folders of .pkt files.", show_default=False),
    ],
    backend: Annotated[
        str,
        typer.Option(
            help="sim, the simulated endpoint; uml, the kernel of a guest, both in virtual time; or netns, this machine's kernel in namespaces of its own."
        ),
    ] = "sim",
    stack: Annotated[str, typer.Option(help="The simulated endpoint's stack; `sawtooth list stack` shows all.")] = "linux",
    image: Annotated[
        str, typer.Option(help="With uml: a kernel made by `sawtooth kernel build`, not the distribution's.", show_default=False)
    ] = "",
    hz: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="With sim: ticks a second of its timers, if not those of the stack.", min=1, max=10_000, show_default=False
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(metavar="MS", help="Milliseconds that times may differ by, where a script does not say --tolerance_usecs.", min=0),
    ] = 4.0,
    define: Annotated[
        list[str] | None,
        typer.Option(
            "--define",
            "-D",
            metavar="NAME=VALUE",
            help="What a word in scripts stands for, such as a Fast Open cookie.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run scripts of packets against an endpoint: passed, failed (with both sequences), or not applicable (with what the endpoint lacks).

    The language: times (0.1, +.05, +0.1~+0.2, *), system calls with what they return, segments that come (<) and leave (>), assertions on fields of
    TCP_INFO in %{ }%, `sysctl` in backquotes. Exit code 1 if a script fails, 2 if one has a mistake.

    Example: sawtooth conform tests/conformance
    """
    from sawtooth.cli import conform_text

    code = conform_text.show(paths, conform_text.Which(backend, stack, hz, image), tolerance / 1000, define or [], as_json=as_json)
    if code:
        raise typer.Exit(code)
