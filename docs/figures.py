"""Draws the figures of the reference pages: `python docs/figures.py [--sheet FILE]`.

One figure per congestion control, a run of congestion-controls each; `--sheet` puts all on one page, to be looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.image
from matplotlib.figure import Figure

from sawtooth import trace
from sawtooth.backends import sim
from sawtooth.plan import make_plan
from sawtooth.plots import sheet, style
from sawtooth.study import Study

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images/cc"


def main() -> None:
    """Draws all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheet", type=Path, help="all figures on one PNG")
    options = parser.parse_args()
    plan = make_plan(Study.load("congestion-controls"))
    figures: dict[str, Figure] = {}
    for run in plan.runs:
        taken = trace.take(plan, run, sim)
        name = str(taken.flows["cc"][0])
        figures[name] = trace.figure(taken, name, most_points=700)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, made in figures.items():
        (IMAGES / f"{name}.svg").write_text(style.svg(made), encoding="utf-8")
    if options.sheet:
        matplotlib.image.imsave(
            options.sheet, sheet.sheet("Congestion controls", [sheet.Tile(name, "", each) for name, each in figures.items()]).pixels()
        )


if __name__ == "__main__":
    main()
