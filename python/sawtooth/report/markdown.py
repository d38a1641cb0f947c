"""A report as Markdown: text and tables, with links to figures and to tables as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from sawtooth.report import cells
from sawtooth.report.document import Grid, Plot, Section, Verdict
from sawtooth.report.origin import design, failures, origin, runs
from sawtooth.report.words import markdown

if TYPE_CHECKING:
    from sawtooth.report.document import Report


def text(report: Report) -> str:
    """The whole report; a paragraph a line."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    manifest = report.dataset.manifest
    yield f"# {markdown(str(manifest.get('question') or manifest['name']))}"
    yield f"Study **{markdown(str(manifest['name']))}**: {runs(report.dataset)}; {design(report.dataset)}."
    if failed := failures(report.dataset):
        yield f"**Runs failed:** {markdown(failed)}"
    yield from (f"**{markdown(each)}**" for each in (*report.warnings, *report.caveats))
    yield from map(markdown, report.short)
    first = next((section for section in report.sections if section.verdicts), None)
    if first is not None:
        yield _verdicts(first.verdicts)
    if report.forest is not None:
        yield from _plot(report.forest)
    if report.told:
        yield "\n".join(f"- {markdown(line)}" for line in report.told)
    if report.validity is not None:
        yield f"**Validity:** {report.validity.said}."
    for section in report.sections:
        yield from _section(section, verdicts=section is not first)
    if report.validity is not None:
        yield "## Validity"
        yield f"What the rules of `sawtooth lint` find: {report.validity.said} ([CSV](tables/validity.csv))."
        yield "\n".join(f"- {markdown(entry.text)}" for entry in report.validity.entries)
    yield from _origin(report)


def _section(section: Section, *, verdicts: bool) -> Iterator[str]:
    body = [
        *map(markdown, section.paragraphs),
        *([_verdicts(section.verdicts)] if verdicts and section.verdicts else []),
        *(part for plot in section.plots for part in _plot(plot)),
        *(part for grid in section.grids for part in _grid(grid)),
    ]
    if body:
        yield f"## {markdown(section.title)}"
        yield from body


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(
        f"- **{verdict.said}**: {markdown(verdict.claim)} ({markdown(verdict.numbers)})"
        + (f" **But:** {markdown(verdict.caveat)}" if verdict.caveat else "")
        + (f" *Refuted by:* {markdown(verdict.refuted_by)}" if verdict.refuted_by else "")
        for verdict in verdicts
    )


def _plot(plot: Plot) -> Iterator[str]:
    numbers = "" if plot.numbers is None else f" ([numbers](figures/{quote(plot.name)}.csv))"
    yield f"![{markdown(plot.caption or plot.name)}](figures/{quote(plot.name)}.svg)"
    yield f"{markdown(plot.caption)}{numbers}".strip()


def _grid(grid: Grid) -> Iterator[str]:
    yield f"{markdown(grid.told)} ([CSV](tables/{quote(grid.name)}.csv))"
    yield _table(grid)


def _table(grid: Grid) -> str:
    columns = cells.columns(grid)
    lines = [
        [markdown(column.heading) for column in columns],
        ["---:" if column.right else ":---" for column in columns],
        *([markdown(cell.text) for cell in row] for row in zip(*(column.cells for column in columns), strict=True)),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _origin(report: Report) -> Iterator[str]:
    found = origin(report.dataset)
    yield "## Provenance"
    yield "\n".join([
        *(f"- {name}: {markdown(value)}" for name, value in found.facts.items()),
        *(f"- SHA-256 of {name}: `{value}`" for name, value in found.hashes.items()),
        *(f"- reference {markdown(each.name)}: {markdown(each.file)}{f' ({markdown(each.source)})' if each.source else ''}, SHA-256 `{each.sha256}`" for each in found.references),
    ])  # fmt: skip
    yield "Run it again:"
    yield f"```sh\n{found.rerun}\n```"
