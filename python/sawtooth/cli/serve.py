"""`sawtooth serve`: the explorer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def serve(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Folders with studies and results; it sees nothing else.", show_default="this one"),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Where it listens, at 127.0.0.1; 0 for any that is free.")
    ] = 8321,
    allow_run: Annotated[
        bool, typer.Option("--allow-run", help="Let pages write studies and run them; without it they only read.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser, if there is one.")] = True,
) -> None:
    """Explore studies, results and single runs in a browser.

    It listens on this machine only, and knows browsers by the token in the address that it prints. From elsewhere: `ssh -L 8321:127.0.0.1:8321 HOST`, then that
    address. Nothing is fetched from other sites. Ctrl-C ends it.

    Example: sawtooth serve --allow-run
    """
    from sawtooth.web.needs import require_installed

    require_installed()
    from sawtooth.web.server import serve as listen
    from sawtooth.web.settings import Settings

    def ready(listening: Settings) -> None:
        may = "pages may write studies in them and run them" if allow_run else "it reads; --allow-run lets pages write studies and run them"
        shown = ", ".join(str(folder) for folder in listening.folders)
        print(
            f"{listening.address}\nfolders: {shown}; {may}\nfrom elsewhere: ssh -L {listening.port}:127.0.0.1:{listening.port} HOST, then the same address; Ctrl-C ends it",
            flush=True,
        )
        if browser and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(listening.address)

    listen(Settings(folders or [Path()], port, allow_run), ready)
