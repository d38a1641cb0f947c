"""Verdicts on all claims of a study, and the marks of validity: of many runs they take seconds, so a process of its own makes them, and figures are drawn meanwhile as fast as ever.

They are those of the report, and so is their figure. Of few runs they are made here: to start a process takes longer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Protocol

from sawtooth.errors import SawtoothError
from sawtooth.report import by_cell, cells
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict, forest_of
from sawtooth.report.validity import validity
from sawtooth.results.dataset import Dataset
from sawtooth.web.apart import Apart
from sawtooth.web.opened import DRAWING, Once, Opened
from sawtooth.web.problems import problem

_FEW = 2000
"""Runs whose verdicts are made here."""
_LATER = 10
"""By how much a process that judges is less urgent than the explorer itself."""
_MOST_KEPT = 8
"""Results whose verdicts are remembered."""


def judged(answers: Answers) -> dict[str, Any]:
    """The verdicts on a study's claims: `verdicts`, each with how its answer is `said` and its `cells`, and `forest`, the figure that the report has of them, or null: `svg`, `caption`."""
    found = answers.verdicts() if answers.dataset.tables else []
    own = any(figure.kind == "forest" for figure in answers.shown.figures)
    forest = None if own else forest_of(found)
    return {
        "verdicts": [verdict.facts() | {"said": verdict.said, "cells": _by_cell(verdict)} for verdict in found],
        "forest": None if forest is None else {"svg": forest.svg, "caption": forest.caption},
    }


def _by_cell(verdict: Verdict) -> list[dict[str, Any]]:
    """The columns of the report's table of a verdict's cells; none of a single cell."""
    table = by_cell.table(verdict)
    found = [] if table is None else cells.columns(table)
    return [{"heading": each.heading, "right": each.right, "cells": [cell.text for cell in each.cells]} for each in found]


def marked(dataset: Dataset) -> dict[str, Any]:
    """What is not to be read into results: `validity`, null if nothing is marked, else `said`, which begins a sentence, and `entries`."""
    marks = validity(dataset) if dataset.tables else None
    if marks is None:
        return {"validity": None}
    return {"validity": {"said": marks.said[0].upper() + marks.said[1:], "entries": [entry.facts() for entry in marks.entries]}}


class _Judging(Protocol):
    """What is made of one state of results, once, for as many as ask."""

    def verdicts(self) -> dict[str, Any]:
        """As `judged`."""
        ...

    def validity(self) -> dict[str, Any]:
        """As `marked`."""
        ...

    @property
    def weighed(self) -> tuple[int, int]:
        """How many claims were looked at, of how many; nothing of nothing before any was."""
        ...

    def end(self) -> None:
        """Ends it: nobody waits for it."""
        ...


class _Here:
    """By threads of the explorer."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.verdicts = Once(self._verdicts)
        self.validity = Once(lambda: marked(dataset))
        self.weighed = (0, 0)

    def _verdicts(self) -> dict[str, Any]:
        # What figures are made of is theirs alone: they need not wait for verdicts.
        answers = Answers(self._dataset)

        def weighed(done: int, of: int) -> None:
            self.weighed = done, of

        answers.weighed_so_far = weighed
        with DRAWING:
            return judged(answers)

    def end(self) -> None:
        """Few runs take no time."""


class _There:
    """By a process of its own."""

    def __init__(self, path: Path) -> None:
        self._process = Apart(
            "sawtooth.web.judging", [str(path)], ("validity", "judged"), "judge these results", {"POLARS_MAX_THREADS": "1"}
        )

    def verdicts(self) -> dict[str, Any]:
        return self._process("judged")

    def validity(self) -> dict[str, Any]:
        return self._process("validity")

    @property
    def weighed(self) -> tuple[int, int]:
        found = self._process.told.get("weighed", {})
        return found.get("done", 0), found.get("of", 0)

    def end(self) -> None:
        self._process.end()


class Judge:
    """Has verdicts made, once of each state of results."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, tuple[tuple[object, ...], _Judging]] = OrderedDict()

    def of(self, opened: Opened) -> _Judging:
        """What is judged of results that are open."""
        path = opened.dataset.directory
        with self._lock:
            kept = self._kept.get(path)
            if kept is None or kept[0] != opened.state:
                if kept is not None:
                    # What is judged of an earlier state nobody waits for.
                    kept[1].end()
                few = opened.dataset.runs.height <= _FEW
                kept = self._kept[path] = opened.state, _Here(opened.dataset) if few else _There(path)
            self._kept.move_to_end(path)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept[1]

    def end(self) -> None:
        """Ends what is being judged, as the explorer ends."""
        with self._lock:
            for _, judging in self._kept.values():
                judging.end()


def main() -> None:
    """Writes what is found of a results directory to standard output, as lines of JSON: marks of validity, how many claims were weighed, and verdicts."""
    # Whoever changes a figure meanwhile goes before.
    os.nice(_LATER)
    try:
        dataset = Dataset(Path(sys.argv[1]))
        _tell("validity", marked(dataset))
        answers = Answers(dataset)
        answers.weighed_so_far = lambda done, of: _tell("weighed", {"done": done, "of": of})
        _tell("judged", judged(answers))
    except SawtoothError as error:
        _tell("error", problem(error))


def _tell(what: str, found: object) -> None:
    sys.stdout.write(json.dumps({what: found}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
