"""What a report consists of, and how it becomes files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import polars as pl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from sawtooth.display import Card
from sawtooth.errors import as_path
from sawtooth.findings.verdict import Evidence
from sawtooth.plots import style
from sawtooth.results.dataset import Dataset
from sawtooth.storage import remove_leftovers, write_atomically, writing


@dataclass(frozen=True)
class Plot:
    """A figure with the name of its files, its caption, and the numbers in it."""

    name: str
    figure: Figure
    caption: str
    numbers: pl.DataFrame | None = None

    @cached_property
    def svg(self) -> str:
        """The figure as SVG: drawn once for its file and for the page, drawing is what takes time."""
        return style.svg(self.figure)


@dataclass(frozen=True)
class Grid:
    """A table with the name of its CSV file and its caption; `digits` gives decimals by column."""

    name: str
    frame: pl.DataFrame
    caption: str
    digits: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Verdict:
    """An answer that was computed: what was claimed, `yes`, `no`, `mixed` or `cannot distinguish`, the numbers, and the evidence of each cell."""

    claim: str
    answer: str
    numbers: str
    evidence: Sequence[Evidence] = ()

    def facts(self) -> dict[str, str]:
        """What is said of it, for programs."""
        return {"claim": self.claim, "answer": self.answer, "numbers": self.numbers}


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, verdicts, figures and tables below it."""

    title: str
    paragraphs: list[str] = field(default_factory=list[str])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    plots: list[Plot] = field(default_factory=list[Plot])
    grids: list[Grid] = field(default_factory=list[Grid])

    @property
    def anchor(self) -> str:
        """The section's name in addresses."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True, repr=False)
class Report:
    """A report.

    Attributes:
        summary: the findings in a few lines of plain text.

    """

    dataset: Dataset
    sections: list[Section]
    summary: list[str]

    def __repr__(self) -> str:
        """Its findings."""
        name, question = (str(self.dataset.manifest.get(key, "")) for key in ("name", "question"))
        return "\n".join([Card("Report", name, question, {}).text(), *(f"  {line}" for line in self.summary)])

    def _repr_html_(self) -> str:
        """Its findings and figures, as a notebook shows them."""
        name, question = (str(self.dataset.manifest.get(key, "")) for key in ("name", "question"))
        items = "".join(f"<li>{escape(line)}</li>" for line in self.summary)
        plots = "".join(
            f"<figure>{plot.svg}<figcaption>{escape(plot.caption)}</figcaption></figure>"
            for section in self.sections
            for plot in section.plots
        )
        return f"{Card('Report', name, question, {}).html()}<ul>{items}</ul>{plots}"

    def write(self, directory: str | Path) -> Path:
        """Writes report.html, figures/NAME.svg and .png, and tables/NAME.csv; returns the page's path.

        Raises:
            DatasetError: if they cannot be written.

        """
        directory = as_path(directory, "a report is written to the path of a directory")
        with writing(directory):
            (directory / "tables").mkdir(parents=True, exist_ok=True)
            for each in (directory, directory / "tables", directory / "figures"):
                remove_leftovers(each)
            for section in self.sections:
                for plot in section.plots:
                    style.write(plot.figure, directory / "figures", plot.name, svg_text=plot.svg)
                    if plot.numbers is not None:
                        write_atomically(directory / "figures" / f"{plot.name}.csv", plot.numbers.write_csv().encode())
                for grid in section.grids:
                    write_atomically(directory / "tables" / f"{grid.name}.csv", grid.frame.write_csv().encode())
            page = directory / "report.html"
            write_atomically(page, self.html().encode())
        return page

    def html(self) -> str:
        """The page, with everything it needs in it."""
        return template("report.html").render(
            manifest=self.dataset.manifest,
            kernels=_kernels(self.dataset),
            status=counts(self.dataset),
            sections=self.sections,
            summary=self.summary,
            svg=svg_of,
            cell=_cell,
        )


def template(name: str) -> jinja2.Template:
    """A page's template; what is put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def svg_of(plot: Plot) -> Markup:
    """A figure as a part of a page."""
    return Markup(plot.svg)


def _kernels(dataset: Dataset) -> list[str]:
    """One line for each kernel and clock that runs were done on."""
    lines: dict[str, None] = {}
    for kernel in dataset.kernels:
        configuration = str(kernel.get("config_sha256") or "unknown")[:12]
        lines[f"{kernel['backend']}: {kernel['release']} ({kernel['version']}), configuration {configuration}, {kernel['time']} time"] = (
            None
        )
    return list(lines)


def counts(dataset: Dataset) -> dict[str, int]:
    """How many runs were planned, done, and failed."""
    status = dataset.status()
    failed = status.filter(pl.col("status") != "ok").height
    return {"planned": dataset.runs.height, "done": status.height, "failed": failed}


def _cell(value: Any, digits: int | None) -> str:
    """A value as a reader wants it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-"
        if digits is not None:
            return f"{value:,.{digits}f}"
        return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return str(value)
