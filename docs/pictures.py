"""Draws the pictures that pages show of whole studies: `python -m docs.pictures [--results DIRECTORY] [NAME...]`.

All of them, or those of these names; they are the figures of the studies' own reports, and of the gallery the contact sheet. In DIRECTORY, or else where nothing stays, the studies are run as far as they are not there
already: minutes, and for what was measured with a real kernel minutes more. Pages that say what a picture shows have programs of their own (`docs/stall.py`, `docs/gallery.py`, `docs/hstcp.py`); those
of studies that stand on their pages are drawn by `docs/worked.py`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.blocks import said

IMAGES = Path(__file__).parent / "images"


@dataclass(frozen=True)
class Shown:
    """A picture of a study.

    Attributes:
        study: which.
        figure: of it.
        options: of `sawtooth run`.

    """

    study: str
    figure: str
    options: Sequence[str] = ()


PICTURES = {
    "hstcp-gain": Shown("hstcp", "a-gain-by-experiment"),
    "stall": Shown("stall", "throughput_fast_ethernet"),
    "stall-atm": Shown("stall", "throughput_atm"),
    "stall-atm-published": Shown("stall", "atm_published"),
    "stall-fast-ethernet": Shown("stall", "fast_ethernet_here"),
    "stall-latency": Shown("stall/latency", "layers"),
    "stall-modern": Shown("stall/modern", "exchanges", ("--backend", "uml")),
}
GALLERY = "gallery"


def draw(names: Sequence[str], results: Path) -> None:
    """Draws pictures of results in a folder, which are made if they are not there."""
    shown = {name: PICTURES[name] for name in names if name != GALLERY}
    for study, options in dict.fromkeys((each.study, each.options) for each in shown.values()):
        out = results / "-".join([study.replace("/", "-"), *options[1::2]])
        said("run", study, *options, "--out", out)
        said("report", out)
        for name, each in shown.items():
            if (each.study, each.options) == (study, options):
                shutil.copyfile(out / "report/figures" / f"{each.figure}.png", IMAGES / f"{name}.png")
    if GALLERY in names:
        said("gallery", "--out", results / GALLERY)
        shutil.copyfile(results / GALLERY / "contact-sheet.png", IMAGES / f"{GALLERY}.png")


def main() -> None:
    """Draws what is asked for."""
    known = [*PICTURES, GALLERY]
    parser = argparse.ArgumentParser(description="Draws the pictures that pages show of whole studies.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all of them if none is named")
    parser.add_argument("--results", type=Path, help="where results are, and stay")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"there is no picture {', '.join(unknown)}: there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as nowhere:
        draw(given.names or known, given.results or Path(nowhere))


if __name__ == "__main__":
    main()
