"""A report as PDF: its text, then every figure with its caption. Tables are in their CSV files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from sawtooth.plots import style
from sawtooth.report.origin import failures, origin, runs

if TYPE_CHECKING:
    from sawtooth.report.document import Plot, Report, Verdict

# A4, in inches; sizes of letters in points.
_WIDTH, _HEIGHT, _MARGIN = 8.27, 11.69, 0.8
_TITLE, _HEADING, _TEXT, _SMALL, _LEADING = 16.0, 12.0, 10.0, 8.0, 1.45
_Line = tuple[str, float, bool]


def document(report: Report) -> bytes:
    """The document; the same report gives the same."""
    with io.BytesIO() as buffer:
        with PdfPages(buffer, metadata={"CreationDate": None, "Title": str(report.dataset.manifest.get("question", ""))}) as pages:
            for page in _paged(list(_answer(report))):
                _text_page(pages, page)
            for plot in report.shown_plots:
                _figure_page(pages, plot)
            for page in _paged(list(_end(report))):
                _text_page(pages, page)
        return buffer.getvalue()


# --- text ---------------------------------------------------------------------------------------------------------------


def lines(report: Report) -> Iterator[_Line]:
    """All its text, with sizes, and whether it is bold; figures stand between the answer and the end."""
    yield from _answer(report)
    yield from _end(report)


def _answer(report: Report) -> Iterator[_Line]:
    manifest = report.dataset.manifest
    yield str(manifest.get("question") or manifest["name"]), _TITLE, True
    yield f"Study {manifest['name']}: {runs(report.dataset)}.", _SMALL, False
    if failed := failures(report.dataset):
        yield failed, _TEXT, True
    for each in (*report.warnings, *report.caveats):
        yield each, _TEXT, True
    for line in report.short:
        yield line, _TEXT, False
    first = next((section for section in report.sections if section.verdicts), None)
    yield from _verdicts([] if first is None else first.verdicts)
    for line in report.told:
        yield line, _TEXT, False
    if report.validity is not None:
        yield f"Validity: {report.validity.said}.", _TEXT, True
    for section in report.sections:
        body: list[_Line] = [(text, _TEXT, False) for text in section.paragraphs]
        body += [] if section is first else _verdicts(section.verdicts)
        if body:
            yield section.title, _HEADING, True
            yield from body


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[_Line]:
    for verdict in verdicts:
        yield f"{verdict.said}: {verdict.claim}", _TEXT, True
        yield verdict.numbers, _SMALL, False
        if verdict.caveat:
            yield f"But: {verdict.caveat}", _SMALL, False
        if verdict.refuted_by:
            yield f"Refuted by: {verdict.refuted_by}", _SMALL, False


def _end(report: Report) -> Iterator[_Line]:
    found = origin(report.dataset)
    if report.validity is not None:
        yield "Validity", _HEADING, True
        for entry in report.validity.entries:
            yield entry.text, _SMALL, False
    if report.grids:
        yield "Tables", _HEADING, True
        for grid in report.grids:
            yield f"tables/{grid.name}.csv: {grid.caption}", _SMALL, False
    yield "Provenance", _HEADING, True
    for name, value in found.facts.items():
        yield f"{name}: {value}", _SMALL, False
    for name, value in found.hashes.items():
        yield f"SHA-256 of {name}: {value}", _SMALL, False
    for each in found.references:
        yield f"reference {each.name}: {each.file}{f' ({each.source})' if each.source else ''}, SHA-256 {each.sha256}", _SMALL, False
    yield "Run it again", _HEADING, True
    yield found.rerun, _TEXT, False


def _paged(lines: Sequence[_Line]) -> Iterator[list[tuple[float, _Line]]]:
    """Lines that fit the page's width, with how far from its top they stand, page by page."""
    page: list[tuple[float, _Line]] = []
    top = _MARGIN
    for at, (text, size, bold) in enumerate(lines):
        heading = size > _TEXT
        top += (0.18 if heading else 0.06) if page else 0.0
        wrapped = style.wrapped(text, size, _WIDTH - 2 * _MARGIN, bold=bold)
        # A heading stands with the first line below it, and a claim with its numbers.
        together = len(wrapped) + (2 if (heading or bold) and at + 1 < len(lines) else 0)
        if page and top + together * size * _LEADING / 72 > _HEIGHT - _MARGIN:
            yield page
            page, top = [], _MARGIN
        for part in wrapped:
            if top > _HEIGHT - _MARGIN:
                yield page
                page, top = [], _MARGIN
            page.append((top, (part, size, bold)))
            top += size * _LEADING / 72
    if page:
        yield page


def _text_page(pages: PdfPages, lines: Sequence[tuple[float, _Line]]) -> None:
    made = Figure(figsize=(_WIDTH, _HEIGHT))
    for top, (text, size, bold) in lines:
        made.text(_MARGIN / _WIDTH, 1 - top / _HEIGHT, text, va="top", fontproperties=style.font(size, bold=bold))
    with style.drawing(made):
        pages.savefig(made)


# --- figures ------------------------------------------------------------------------------------------------------------


def _figure_page(pages: PdfPages, plot: Plot) -> None:
    """A page with the figure and its caption below: A4, or of its shape if the figure is larger."""
    made = plot.figure
    width, height = made.get_size_inches()
    lines = style.wrapped(plot.caption, _SMALL, float(width), bold=False)
    depth = len(lines) * _SMALL * _LEADING / 72 + (0.15 if lines else 0.0)
    with style.laid_out(made):
        caption = made.text(
            0, -0.1 / height, "\n".join(map(style.plain, lines)), va="top", fontproperties=style.font(_SMALL), linespacing=_LEADING - 0.15
        )
        caption.set_parse_math(False)
        scale = max(1.0, (float(width) + 2 * _MARGIN) / _WIDTH, (float(height) + depth + 2 * _MARGIN) / _HEIGHT)
        left, top = (_WIDTH * scale - float(width)) / 2, float(height) + _MARGIN
        pages.savefig(made, bbox_inches=Bbox([[-left, top - _HEIGHT * scale], [_WIDTH * scale - left, top]]))
        caption.remove()
