"""A report as one self-contained page: the answer first, then figures, tables, and where all of it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from sawtooth.report import by_cell, cells, words
from sawtooth.report.document import Grid, Plot
from sawtooth.report.origin import design, failures, origin, runs
from sawtooth.report.validity import MOST_SHOWN
from sawtooth.tables import factors_of

if TYPE_CHECKING:
    from sawtooth.report.document import Report

MOST_TOLD = 6
"""Of more cells, those behind a verdict are listed."""
MOST_COLUMNS = 9
"""A table of more is printed across."""


def html(report: Report) -> str:
    """The page, with everything it needs in it."""
    found = report.validity
    names = {"cell", "arm", *factors_of(report.dataset.runs)}
    return template("report.html").render(
        keys=partial(_keys, names=names),
        manifest=report.dataset.manifest,
        runs=runs(report.dataset),
        design=design(report.dataset),
        failures=failures(report.dataset),
        sections=report.sections,
        answers=next((section for section in report.sections if section.verdicts), None),
        warnings=report.warnings,
        caveats=report.caveats,
        short=report.short,
        told=report.told,
        report_forest=report.forest,
        validity=found,
        marks=None if found is None or found.marks.height > MOST_SHOWN else Grid("validity", found.marks, ""),
        origin=origin(report.dataset),
    )


def template(name: str) -> jinja2.Template:
    """A page's template; what is put into it is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"words": words.html, "address": quote}
    cast(dict[str, Any], environment.globals).update(
        {
            "svg": svg_of,
            "rows": rows,
            "columns": cells.columns,
            "by_cell": by_cell.table,
            "most_columns": MOST_COLUMNS,
            "most_told": MOST_TOLD,
        }
    )
    return environment.get_template(name)


def _keys(columns: Sequence[cells.Column], *, names: Set[str]) -> int:
    """How many columns at the left say what a row is: they are in each part of a table that is printed in parts."""
    headings = [column.heading for column in columns[:-1]]
    return next((at for at, heading in enumerate(headings) if heading not in names), len(headings))


def svg_of(plot: Plot) -> Markup:
    """A figure as a part of a page; who does not see it is read its caption."""
    label = escape(plot.caption or plot.name)
    width = re.search(r'width="([\d.]+pt)"', plot.svg)
    size = f'style="--natural: {width[1]}" ' if width else ""
    return Markup(plot.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" {size}', 1))


def rows(columns: list[cells.Column]) -> Markup:
    """The rows of a table; a table may have many cells, and a template takes long for each."""
    cut = [
        [
            f"<td{'' if column.right else ' class=text'}{'' if cell.value is None else f' data-value={cell.value}'}>{escape(cell.text)}</td>"
            for cell in column.cells
        ]
        for column in columns
    ]
    return Markup("\n".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cut, strict=True)))
