"""Arguments and options that commands have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.backends.registry import NAMES, WITH_KERNELS


def alternatives(names: Sequence[str]) -> str:
    """Names of which one is to be chosen, in a sentence."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _studies(begun: str) -> list[str]:
    """Completions of a study: files that lie here, and names of those that come along."""
    from sawtooth.study.shipped import studies

    names = [*(path.as_posix() for path in Path().glob("*.toml")), *studies()]
    return [name for name in names if name.startswith(begun)]


def _backends(begun: str) -> list[str]:
    """Completions of a backend."""
    return [name for name in NAMES if name.startswith(begun)]


STUDY = "STUDY"
"""What a study is called in the usage of a command that takes one."""
StudyPath = Annotated[
    Path,
    typer.Argument(
        metavar=STUDY,
        help="Study file (TOML), its folder, or a name that `sawtooth list study` shows.",
        show_default=False,
        # Whether it can be read says what reads it, with a hint.
        readable=False,
        autocompletion=_studies,
    ),
]
Short = Annotated[bool, typer.Option("--short", help="Take the study's [short] form.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override one value, e.g. --set vars.Tp='20 ms'. May be repeated."),
]
NoFiles = Annotated[bool, typer.Option("--no-files", help="The study may name no file: for one that you do not trust.")]
Backend = Annotated[
    str | None,
    typer.Option(
        help=f"sim, or a real kernel in {alternatives(WITH_KERNELS)}; instead of the study's.", show_default=False, autocompletion=_backends
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Do it on a Dask cluster: tcp://HOST:8786, scheduler.json, or local:N for N processes here."
    ),
]
Pcap = Annotated[
    Path | None,
    typer.Option("--pcap", metavar="WHERE", help="Capture packets, as pcapng: a file NAME.pcapng, or a directory.", show_default=False),
]
PcapAt = Annotated[
    list[str] | None,
    typer.Option(
        "--pcap-at",
        metavar="POINT",
        help="Where: sender, receiver, link:NAME for the beginning of a link or link:NAME:far for its end; several with commas between them.",
        show_default="sender",
    ),
]
Snap = Annotated[
    int | None,
    typer.Option(
        "--snap", min=0, metavar="BYTES", help="What is captured of each packet, from its IP header on; 0: all.", show_default="96"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]
