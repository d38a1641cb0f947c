"""Runs the studies of the pages that show what comes out of one, and fills that in: `python -m docs.worked [--check]`.

Such a page has its study as its first block of TOML, and the table that this names as a block of CSV. With --check nothing is written, and the pages must
already be so. It takes some seconds.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from docs.blocks import console, filled, said, table

DOCS = Path(__file__).parent
# Page, and the figure of its study that it shows.
PAGES = {"start/first-finding.md": "goodput", "guides/two-algorithms.md": "goodput", "guides/published-table.md": "throughput"}
COMPARED = ("--reference", "paper", "--metric", "throughput_bps", "--flows", "sum", "--value", "sum_bps")


def blocks(page: str, text: str, folder: Path) -> tuple[Mapping[str, str], Path]:
    """What a page's study says: blocks by name, and the picture of its figure.

    Args:
        page: its file.
        text: of the page.
        folder: where the study and its results are put.

    """
    name = Path(page).stem
    (study, *_) = re.findall(r"(?s)```toml\n(.*?)```", text)
    (folder / "study.toml").write_text(study, encoding="utf-8")
    for numbers in re.findall(r"(?s)```csv\n(.*?)```", text):
        (folder / "published.csv").write_text(numbers, encoding="utf-8")
    out = folder / "results" / name
    said("run", folder / "study.toml", "--out", out)
    told = said("report", out)
    made = {f"{name} report": console(f"sawtooth report results/{_named(study)}", told.replace(str(out), f"results/{_named(study)}"))}
    if name == "two-algorithms":
        made[f"{name} numbers"] = _numbers(out)
    if name == "published-table":
        # The table and the summary; how its columns are to be read stands in the guide to comparisons.
        made[f"{name} compare"] = console("", said("compare", out, *COMPARED))
    return made, out / "report/figures" / f"{PAGES[page]}.png"


def _named(study: str) -> str:
    (name,) = re.findall(r'(?m)^name = "([\w-]+)"\n(?=question)', study)
    return name


def _numbers(out: Path) -> str:
    """Goodput and round trips of the flow, by buffer, with and without another one."""
    figures = out / "report/figures"
    both = {name: pl.read_csv(figures / f"{name}.csv") for name in ("goodput", "delay")}
    cells = both["goodput"].select("others", "limit").unique(maintain_order=True).rows()

    def value(name: str, others: int, limit: str, arm: str) -> float:
        row = both[name].filter(others=others, limit=limit, arm=arm)
        return float(row["estimate"][0])

    rows = [
        [
            "alone" if others == 0 else "beside CUBIC",
            limit,
            *(f"{value('goodput', others, limit, arm) / 1e6:.1f}" for arm in ("cubic", "bbr")),
            *(f"{value('delay', others, limit, arm) / 1e6:.0f}" for arm in ("cubic", "bbr")),
        ]
        for others, limit in cells
    ]
    return table(["The flow is", "Buffer", "Goodput, CUBIC (Mbit/s)", "BBR (Mbit/s)", "Mean round trip, CUBIC (ms)", "BBR (ms)"], rows)


def main() -> None:
    """Fills the pages, or says which are not as their studies say."""
    for page in PAGES:
        path = DOCS / page
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            made, picture = blocks(page, text, Path(folder))
            after = filled(text, made)
            if "--check" not in sys.argv[1:]:
                path.write_text(after, encoding="utf-8")
                shutil.copyfile(picture, DOCS / "images" / f"{path.stem}.png")
            elif after != text:
                sys.exit(f"docs/{page} is not what its study says: run `python -m docs.worked`")


if __name__ == "__main__":
    main()
