"""`sawtooth lint`: what is wrong with a study before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson, Backend, NoFiles, Options, Short


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="STUDY...", help="Studies, as `sawtooth run` takes them; or folders of them.", show_default=False, readable=False
        ),
    ] = None,
    short: Short = False,
    backend: Backend = None,
    select: Annotated[
        str, typer.Option(metavar="CODES", help="Only these rules: codes, names, or how codes begin, such as SW4,SW101.")
    ] = "",
    ignore: Annotated[str, typer.Option(metavar="CODES", help="All but these rules.")] = "",
    explain: Annotated[str, typer.Option(metavar="CODE", help="Say what a rule is, why, and what to do.")] = "",
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with a study before it runs: designs that cannot answer, paths and buffers that decide what an algorithm should.

    A study says in [lint] what it means: ignore = { SW402 = "small windows are the question" }. `sawtooth list rule` shows all rules.
    Exit code 1 if a study has an error.

    Example: sawtooth lint hstcp
    """
    from sawtooth.cli import lint_text

    if explain:
        lint_text.explain(explain, as_json=as_json)
        return
    if not paths:
        raise typer.BadParameter("a study is missing: `sawtooth lint STUDY`")
    if lint_text.show(paths, short, options, backend, no_files, select=select, ignore=ignore, as_json=as_json):
        raise typer.Exit(1)
