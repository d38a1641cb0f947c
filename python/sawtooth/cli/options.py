"""Arguments and options that commands have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.backends.registry import WITH_KERNELS


def alternatives(names: Sequence[str]) -> str:
    """Names of which one is to be chosen, in a sentence."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


StudyPath = Annotated[
    Path,
    typer.Argument(metavar="STUDY", help="Study file (TOML), its folder, or a name that `sawtooth list study` shows.", show_default=False),
]
Short = Annotated[bool, typer.Option("--short", help="Take the study's [short] form.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override one value, e.g. --set vars.Tp='20 ms'. May be repeated."),
]
NoFiles = Annotated[bool, typer.Option("--no-files", help="The study may name no file: for one that you do not trust.")]
Backend = Annotated[
    str | None, typer.Option(help=f"sim, or a real kernel in {alternatives(WITH_KERNELS)}; instead of the study's.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
