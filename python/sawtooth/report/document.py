"""What a report consists of, and how it becomes files."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl
from markupsafe import escape

from sawtooth.display import Card
from sawtooth.errors import DatasetError, as_path
from sawtooth.findings.assumed import Standing
from sawtooth.findings.verdict import Claimed, Evidence, weighed
from sawtooth.hints import did_you_mean
from sawtooth.report import kept, words
from sawtooth.results.dataset import Dataset
from sawtooth.results.sums import digest
from sawtooth.storage import remove_leftovers, write_atomically, writing

if TYPE_CHECKING:
    from concurrent.futures import Future

    from matplotlib.figure import Figure

    from sawtooth.plots.aside import Images
    from sawtooth.report.validity import Validity

FORMATS = {
    "html": "report.html, with everything in it; beside it figures as SVG and PNG, and tables as CSV",
    "md": "report.md, with links to figures as SVG and to tables as CSV",
    "csv": "tables only",
    "svg": "figures only",
    "pdf": "report.pdf: text and figures",
}
"""What a report can be written as."""
MOST_ROWS = 10_000
"""Rows of a table that a page shows: a megabyte or two of it."""
_MOST_CELLS = 40
"""Rows of a figure of verdicts."""
FOLLOWS = "follows from"
"""What the numbers of a verdict begin with that is made of others."""
_FEW_CLAIMS = 6
"""So many claims are read as fast as sentences about them."""
_MOST_TOLD = 20
"""Cells whose numbers a verdict shows of itself."""


@dataclass(frozen=True, repr=False)
class Plot:
    """A figure with the name of its files, its caption, and the numbers in it.

    Attributes:
        picture: the figure, or what makes it.
        begun: its drawing in another process, if it has been begun there.

    """

    name: str
    picture: Figure | Callable[[], Figure]
    caption: str
    numbers: pl.DataFrame | None = None
    begun: Future[Images] | None = None

    @cached_property
    def figure(self) -> Figure:
        """The figure, made when it is first asked for."""
        return self.picture() if callable(self.picture) else self.picture

    @cached_property
    def svg(self) -> str:
        """The figure as SVG: drawn once for its file and for the page, drawing is what takes time."""
        from sawtooth.plots import style

        return style.svg(self.figure) if self._images is None else self._images[0]

    @cached_property
    def png(self) -> bytes:
        """The figure as PNG."""
        from sawtooth.plots import style

        return style.png(self.figure) if self._images is None else self._images[1]

    @cached_property
    def _images(self) -> Images | None:
        """What the other process made of it; None if there is none, or if it could not: then it is drawn here, and what is wrong with it is said here.

        What it has not begun is drawn here, too: who would wait does half of what is left.
        """
        try:
            return None if self.begun is None or self.begun.cancel() else self.begun.result()
        except Exception:
            return None

    def __repr__(self) -> str:
        """Its name and caption."""
        return Card("Figure", self.name, self.caption, {}).text()

    def _repr_html_(self) -> str:
        """The figure with its caption, as a notebook shows it."""
        return f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>"

    def save(self, path: str | Path) -> Path:
        """Writes it as its name's ending says: .svg, .png or .pdf, or its numbers as .csv.

        Returns:
            The path.

        Raises:
            DatasetError: if the name has another ending, it has no numbers, or it cannot be written.

        """
        from sawtooth.plots import style

        path = as_path(path, "a figure is saved to the path of a file")
        numbers = self.numbers
        # Only what is written is made: drawing is what takes time.
        ways = {
            ".svg": lambda: self.svg.encode(), ".png": lambda: self.png, ".pdf": lambda: style.pdf(self.figure),
            ".csv": None if numbers is None else lambda: numbers.write_csv().encode(),
        }  # fmt: skip
        if path.suffix not in ways:
            raise DatasetError(f"a figure cannot be saved as `{path.name}`", f"its name ends in {', '.join(ways)}")
        made = ways[path.suffix]
        if made is None:
            raise DatasetError(f"the figure `{self.name}` has no numbers to save as `{path.name}`", "its name ends in .svg, .png or .pdf")
        with writing(path):
            write_atomically(path, made())
        return path


@dataclass(frozen=True)
class Grid:
    """A table with the name of its CSV file and its caption; `digits` gives decimals by column."""

    name: str
    frame: pl.DataFrame
    caption: str
    digits: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def shown(self) -> pl.DataFrame:
        """The rows that pages show: what nobody reads to its end is in the CSV file alone."""
        return self.frame.head(MOST_ROWS)

    @property
    def told(self) -> str:
        """The caption, and how many rows a page has of how many."""
        if self.frame.height <= MOST_ROWS:
            return self.caption
        return f"{self.caption.rstrip('.')}. The first {MOST_ROWS:,} of {self.frame.height:,} rows: all are in the CSV file."


UNTOLD = "not told"
"""Of a claim: the runs that were made are of something else, as those of a short form may be."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """An answer that was computed: what was claimed, `yes`, `no`, `mixed` or `cannot distinguish`, the numbers, and the evidence of each cell.

    Attributes:
        caveat: what is to be known wherever it is shown; empty for nothing.
        refuted_by: what would have made it `no`; empty if that is not told.
        standing: what it would be had something else been assumed; None if nothing is.
        counted: as `numbers`, with cells counted that are told by themselves in a table beside it; empty if there is none.
        alone: what it would be if it were the only claim, in a few words; empty if it would be the same.

    """

    claim: str
    answer: str
    numbers: str
    evidence: Sequence[Evidence] = ()
    caveat: str = ""
    refuted_by: str = ""
    standing: Standing | None = None
    alone: str = ""
    counted: str = ""

    @property
    def said(self) -> str:
        """The answer as it is shown: one that hangs on assumptions says so, and so does one of which there is no run."""
        if self.untold:
            return UNTOLD
        return self.answer if self.standing is None or self.standing.unanimous else f"{self.answer} under these assumptions"

    @property
    def line(self) -> str:
        """It and all its numbers."""
        return self._with(self.numbers)

    @property
    def lines(self) -> list[str]:
        """The same, with a line for each cell where there are some."""
        if not self.counted or len(self.evidence) > _MOST_TOLD:
            return [self.line]
        return [
            self._with(self.counted),
            *(f"  {each.cell}: {each.words}{f'; {each.doubt}' if each.doubt else ''}" for each in self.evidence),
        ]

    def _with(self, numbers: str) -> str:
        return f"{self.said}: {self.claim} ({numbers})" + (f" But: {self.caveat}" if self.caveat else "")

    def __repr__(self) -> str:
        """The answer, and the numbers of each cell."""
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        cells = {each.cell: f"{each.words}; {each.doubt}" if each.doubt else each.words for each in self.evidence}
        # One cell has no name, of what follows from other findings there is none, and of many the numbers name those that matter.
        each_told = 0 < len(cells) == len(self.evidence) <= _MOST_TOLD and all(cells)
        return Card("Finding", self.said, self.claim, {**(cells if each_told else {"numbers": self.numbers}), **self._beside})

    @property
    def untold(self) -> bool:
        """Whether no run that was made says anything of it."""
        return not self.evidence and not self.numbers.startswith(FOLLOWS)

    @property
    def _beside(self) -> dict[str, str]:
        """What stands beside it."""
        return {name: text for name, text in (("caveat", self.caveat), ("refuted_by", self.refuted_by)) if text}

    @property
    def weighed(self) -> list[Evidence]:
        """The evidence that has an interval: of each cell, or of each step of what several comparisons decide."""
        return weighed(self.evidence)

    def facts(self) -> dict[str, Any]:
        """What is said of it, for programs: with the numbers of each cell in the natural unit of their kind; of what is not finite, null."""
        return {
            "claim": self.claim,
            "answer": self.answer,
            "numbers": self.numbers,
            **({"counted": self.counted} if self.counted else {}),
            "evidence": [_evidence(each) for each in self.evidence],
            **self._beside,
            **({"assumptions": self.standing.facts()} if self.standing else {}),
        }


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, verdicts, figures and tables below it.

    Attributes:
        missing: figures that were asked for and are not here, each with why; they are among the paragraphs.
        claims: of a study's own analysis: they are decided together with the study's findings, and their verdicts stand beside those.

    """

    title: str
    paragraphs: list[str] = field(default_factory=list[str])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    plots: list[Plot] = field(default_factory=list[Plot])
    grids: list[Grid] = field(default_factory=list[Grid])
    claims: list[Claimed] = field(default_factory=list[Claimed])
    missing: list[str] = field(default_factory=list[str])

    @property
    def anchor(self) -> str:
        """The section's name in addresses."""
        return words.slug(self.title)


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
        lines = [*self._first, *self.summary]
        return "\n".join([Card("Report", name, question, {}).text(), *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        """Its findings and figures, as a notebook shows them."""
        name, question = (str(self.dataset.manifest.get(key, "")) for key in ("name", "question"))
        items = "".join(f"<li>{escape(line)}</li>" for line in (*self._first, *self.summary))
        plots = "".join(plot._repr_html_() for plot in self.plots)  # pyright: ignore[reportPrivateUsage]
        return f"{Card('Report', name, question, {}).html()}<ul>{items}</ul>{plots}"

    @property
    def verdicts(self) -> list[Verdict]:
        """What is answered first."""
        answered = [section.verdicts for section in self.sections if section.verdicts]
        return answered[0] if answered else []

    @property
    def short(self) -> list[str]:
        """What was found in a few sentences; nothing where few claims say it themselves."""
        from sawtooth.report import closing

        return closing.found(self.verdicts) if len(self.verdicts) > _FEW_CLAIMS else []

    @property
    def told(self) -> list[str]:
        """The lines of the summary that are no verdict: those say it themselves."""
        claims = [verdict.claim for section in self.sections for verdict in section.verdicts]
        return [line for line in self.summary if not any(claim in line for claim in claims)]

    @cached_property
    def warnings(self) -> list[str]:
        """What is not as a reader would think: runs that are still to be done, a text that was changed after the runs."""
        from sawtooth.report.origin import counts, warnings

        return warnings(self.dataset, counts(self.dataset))

    @property
    def _first(self) -> list[str]:
        """What is said before what was found."""
        return [*(f"warning: {each}" for each in self.warnings), *(f"caveat: {each}" for each in self.caveats)]

    @cached_property
    def caveats(self) -> list[str]:
        """What is to be known before any verdict."""
        return cast(list[str], self.dataset.study.tree.get("caveats", [])) if self.dataset.has_study else []

    @cached_property
    def forest(self) -> Plot | None:
        """The verdicts as a figure; None if none has a number to be drawn, or the study has one of its own."""
        tree = self.dataset.study.tree if self.dataset.has_study else {}
        asked_for = cast(list[dict[str, Any]], tree.get("figures", []))
        if any(each.get("kind") == "forest" for each in asked_for):
            return None
        return forest_of([verdict for section in self.sections for verdict in section.verdicts])

    @cached_property
    def validity(self) -> Validity | None:
        """What is not to be read into the results; None if nothing is marked."""
        from sawtooth.report.validity import validity

        return validity(self.dataset)

    @property
    def plots(self) -> list[Plot]:
        """All figures of sections."""
        return [plot for section in self.sections for plot in section.plots]

    @property
    def missing(self) -> list[str]:
        """Figures that were asked for and are not here, each with why."""
        return [each for section in self.sections for each in section.missing]

    @property
    def grids(self) -> list[Grid]:
        """All tables; the last is that of marks of validity, if there are any."""
        found = [grid for section in self.sections for grid in section.grids]
        return found if self.validity is None else [*found, Grid("validity", self.validity.marks, "Marks of validity, each of a cell.")]

    @property
    def shown_plots(self) -> list[Plot]:
        """All figures, in the order in which they are shown."""
        return [*([] if self.forest is None else [self.forest]), *self.plots]

    def facts(self) -> dict[str, Any]:
        """The report for programs."""
        from sawtooth.report.origin import counts, is_short

        return {
            "question": str(self.dataset.manifest.get("question", "")),
            "warnings": self.warnings,
            "caveats": self.caveats,
            "summary": self.summary,
            "verdicts": [verdict.facts() for section in self.sections for verdict in section.verdicts],
            "figures": [{"name": plot.name, "caption": plot.caption} for plot in self.shown_plots],
            "tables": [{"name": grid.name, "caption": grid.caption, "rows": grid.frame.height} for grid in self.grids],
            "marks": [] if self.validity is None else [entry.facts() for entry in self.validity.entries],
            "runs": {**counts(self.dataset), "short": is_short(self.dataset)},
            "changes": self.dataset.changes,
        }

    def write(self, directory: str | Path, formats: Iterable[str] = ("html",)) -> Path:
        """Writes the report: figures go to figures/, tables to tables/. Those of an earlier report that this one has not are removed.

        Args:
            directory: where.
            formats: as what: names of `FORMATS`.

        Returns:
            The path of the first page; of formats without a page, the directory.

        Raises:
            DatasetError: if there is no such format, or files cannot be written.

        """
        directory = as_path(directory, "a report is written to the path of a directory")
        chosen = checked(formats)
        with writing(directory):
            for each in (directory, directory / "tables", directory / "figures"):
                remove_leftovers(each)
            files: dict[str, bytes] = {}
            made: dict[str, str] = {}
            parts: list[str] = []
            names: list[str] = []
            if chosen & {"html", "md", "svg"}:
                parts.append("figures")
                names += [f"figures/{plot.name}" for plot in self.shown_plots]
                files.update(self._figure_files(chosen))
            if chosen & {"html", "md", "csv"}:
                parts.append("tables")
                names += [f"tables/{grid.name}" for grid in self.grids]
            for part in parts:
                (directory / part).mkdir(parents=True, exist_ok=True)
            # One table at a time is in memory as text: it may have a million rows.
            tables = self._table_files() if "tables" in parts else ()
            for name, content in itertools.chain(files.items(), tables):
                write_atomically(directory / name, content)
                made[name] = digest(content)
            page = self._write_pages(directory, chosen)
            # The page is there: nothing links to what is removed any more.
            if parts:
                kept.renew(directory, made, names, parts)
            return page

    def _table_files(self) -> Iterator[tuple[str, bytes]]:
        for grid in self.grids:
            buffer = io.BytesIO()
            grid.frame.write_csv(buffer)
            yield f"tables/{grid.name}.csv", buffer.getvalue()

    def _figure_files(self, chosen: set[str]) -> Iterator[tuple[str, bytes]]:
        for plot in self.shown_plots:
            yield f"figures/{plot.name}.svg", plot.svg.encode()
            if "html" in chosen:
                yield f"figures/{plot.name}.png", plot.png
            if plot.numbers is not None and chosen & {"html", "md"}:
                yield f"figures/{plot.name}.csv", plot.numbers.write_csv().encode()

    def _write_pages(self, directory: Path, chosen: set[str]) -> Path:
        pages: list[tuple[str, bytes]] = []
        if "html" in chosen:
            pages.append(("report.html", self.html().encode()))
        if "md" in chosen:
            from sawtooth.report import markdown

            pages.append(("report.md", markdown.text(self).encode()))
        if "pdf" in chosen:
            from sawtooth.report import pdf

            pages.append(("report.pdf", pdf.document(self)))
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in pages:
            write_atomically(directory / name, content)
        return directory / pages[0][0] if pages else directory

    def html(self) -> str:
        """The page, with everything it needs in it."""
        from sawtooth.report import page

        return page.html(self)


def forest_of(verdicts: Sequence[Verdict]) -> Plot | None:
    """Verdicts as a figure, if it fits a page: of many cells the page has a list."""
    told = [verdict for verdict in verdicts if any(each.interval is not None for each in verdict.weighed)]
    if not told or sum(len(verdict.weighed) for verdict in told) > _MOST_CELLS:
        return None
    from sawtooth.plots import forest

    beside = dict.fromkeys(verdict.caveat for verdict in told if verdict.caveat)
    return Plot("forest-of-verdicts", forest.forest(told), " ".join([forest.said(told), *beside]))


def checked(formats: Iterable[str]) -> set[str]:
    """Formats that there are.

    Raises:
        DatasetError: if there is none of a name.

    """
    found = [each.strip() for each in formats]
    for each in found:
        if each not in FORMATS:
            raise DatasetError(f"a report cannot be written as `{each}`", did_you_mean(each, FORMATS))
    return set(found)


def _evidence(each: Evidence) -> dict[str, Any]:
    interval = each.interval
    numbers = None if interval is None else {
        "estimate": _finite(interval.estimate), "low": _finite(interval.low), "high": _finite(interval.high), "runs": interval.n,
        "method": interval.kind, "of": each.quantity, "unit": each.unit, "read_in": each.read_in and {"unit": each.read_in[1], "divisor": each.read_in[0]}, "above": _finite(each.limits[0]), "below": _finite(each.limits[1]),
    }  # fmt: skip
    found: dict[str, Any] = {"cell": each.cell, "numbers": each.words, "interval": numbers, "doubt": each.doubt}
    return found | ({"steps": [_evidence(step) for step in each.steps]} if each.steps else {})


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
