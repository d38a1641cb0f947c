"""Several studies on one page: of each its question, its figures and its verdicts; and the figures on a contact sheet."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth.counted import counted
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.plots.forest import ANSWERS
from sawtooth.plots.sheet import Remark, Tile, sheet
from sawtooth.report.document import Plot, Report, Verdict
from sawtooth.report.origin import counts
from sawtooth.report.page import template
from sawtooth.results.dataset import Dataset
from sawtooth.storage import write_atomically, writing

PAGE, SHEET = "index.html", "contact-sheet"
_COLOURS = {answer: colour for answer, (colour, _) in ANSWERS.items()}
# On the sheet; of more verdicts it tells how many there are of each kind.
_MOST_VERDICTS = 6


@dataclass(frozen=True)
class Entry:
    """A study of the gallery: its report, and where that is."""

    report: Report
    page: Path

    @property
    def dataset(self) -> Dataset:
        """Its results."""
        return self.report.dataset

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self.dataset.manifest["name"])

    @property
    def question(self) -> str:
        """What it asks."""
        return str(self.dataset.manifest["question"])

    @property
    def caveats(self) -> list[str]:
        """What is to be known before them."""
        return [*self.report.warnings, *self.report.caveats]

    @property
    def verdicts(self) -> list[Verdict]:
        """What its report answers first."""
        return self.report.verdicts

    def plots(self, names: Sequence[str] = ()) -> list[Plot]:
        """The figures of those names; without names those that the report shows first, which are the ones that the study asks for."""
        if names:
            return [plot for section in self.report.sections for plot in section.plots if plot.name in names]
        drawn = [section.plots for section in self.report.sections if section.plots]
        return drawn[0] if drawn else []


@dataclass(frozen=True)
class Gallery:
    """A page of several studies.

    Attributes:
        title: its heading. entries: in the order in which they are shown. figures: names of those to be shown; by default each study's own.

    """

    title: str
    entries: Sequence[Entry]
    figures: Sequence[str] = ()

    def write(self, directory: Path) -> Path:
        """Writes index.html, contact-sheet.svg and contact-sheet.png; returns the page's path.

        Raises:
            DatasetError: if a figure was asked for that no study has, or none has any, or they cannot be written.

        """
        tiles = self.tiles()
        with writing(directory):
            directory.mkdir(parents=True, exist_ok=True)
            sheet(self.title, tiles).write(directory, SHEET)
            write_atomically(directory / PAGE, self.html(directory).encode())
        return directory / PAGE

    def tiles(self) -> list[Tile]:
        """What is on the contact sheet: every figure, the question and the verdicts at a study's first."""
        known = [plot.name for entry in self.entries for section in entry.report.sections for plot in section.plots]
        for name in self.figures:
            if name not in known:
                raise DatasetError(f"no study has a figure `{name}`", did_you_mean(name, known))
        if not known:
            raise DatasetError("none of these studies has a figure", "a table [[figures]] in a study file makes one")
        tiles: list[Tile] = []
        for entry in self.entries:
            for at, plot in enumerate(entry.plots(self.figures)):
                title = entry.name if at == 0 else f"{entry.name}: {plot.name}"
                tiles.append(Tile(title, "" if at else entry.question, plot.figure, [] if at else _remarks(entry.verdicts)))
        return tiles

    def html(self, directory: Path) -> str:
        """The page, for `directory`: with everything in it but the studies' own reports, to which it links."""
        return template("gallery.html").render(
            title=self.title,
            sheet=SHEET,
            entries=[
                {
                    "name": entry.name,
                    "question": entry.question,
                    "counts": counts(entry.dataset),
                    "caveats": entry.caveats,
                    "verdicts": entry.verdicts,
                    "plots": entry.plots(self.figures),
                    "report": Path(os.path.relpath(entry.page, directory)).as_posix(),
                }
                for entry in self.entries
            ],
        )


def _remarks(verdicts: Sequence[Verdict]) -> list[Remark]:
    if len(verdicts) <= _MOST_VERDICTS:
        return [Remark(verdict.answer, _COLOURS.get(verdict.answer, "black"), verdict.claim) for verdict in verdicts]
    found = Counter(verdict.answer for verdict in verdicts)
    return [
        Remark(answer, colour, f"{found[answer]} of {counted(len(verdicts), 'claim')}")
        for answer, colour in _COLOURS.items()
        if found[answer]
    ]
