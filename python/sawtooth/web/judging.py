"""Verdicts on all claims of a study: of many runs they take seconds, so a process of its own makes them, and figures are drawn meanwhile as fast as ever.

They are those of the report, and so is their figure. Of few runs they are made here: to start a process takes longer.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, cast

from sawtooth.errors import DatasetError, SawtoothError
from sawtooth.report.answers import Answers
from sawtooth.report.document import forest_of
from sawtooth.results.dataset import Dataset
from sawtooth.web.children import tied
from sawtooth.web.opened import Once, Opened
from sawtooth.web.problems import problem

_FEW = 2000
"""Runs whose verdicts are made here."""
_LATER = 10
"""By how much a process that judges is less urgent than the explorer itself."""
_MOST_KEPT = 8
"""Results whose verdicts are remembered."""


def judged(answers: Answers) -> dict[str, Any]:
    """The verdicts on a study's claims: `verdicts`, and `forest`, the figure that the report has of them, or null: `svg`, `caption`."""
    found = answers.verdicts() if answers.dataset.tables else []
    own = any(figure.kind == "forest" for figure in answers.shown.figures)
    forest = None if own else forest_of(found)
    return {
        "verdicts": [verdict.facts() | {"said": verdict.said} for verdict in found],
        "forest": None if forest is None else {"svg": forest.svg, "caption": forest.caption},
    }


class Judge:
    """Has verdicts made, once of each state of results."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, tuple[tuple[object, ...], Once[dict[str, Any]]]] = OrderedDict()
        self._children: dict[Path, subprocess.Popen[bytes]] = {}
        self._closed = False

    def __call__(self, opened: Opened) -> dict[str, Any]:
        """As `judged`, of results that are open.

        Raises:
            DatasetError: if they cannot be made.

        """
        path = opened.dataset.directory
        with self._lock:
            kept = self._kept.get(path)
            if kept is None or kept[0] != opened.state:
                # What is judged of an earlier state nobody waits for.
                self._end(path)
                few = opened.dataset.runs.height <= _FEW
                kept = self._kept[path] = opened.state, Once((lambda: _here(opened)) if few else (lambda: self._apart(path)))
            self._kept.move_to_end(path)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept[1]()

    def end(self) -> None:
        """Ends what is being judged, as the explorer ends."""
        with self._lock:
            self._closed = True
            for path in [*self._children]:
                self._end(path)

    def _end(self, path: Path) -> None:
        if child := self._children.pop(path, None):
            child.send_signal(signal.SIGTERM)

    def _apart(self, path: Path) -> dict[str, Any]:
        """In a process of its own."""
        with self._lock:
            if self._closed:
                raise DatasetError("this explorer is about to end", "start it again")
            child = self._children[path] = subprocess.Popen(
                tied("sawtooth.web.judging", [str(path)]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )  # fmt: skip
        with child:
            told, complaint = child.communicate()
        with self._lock:
            if self._children.get(path) is child:
                del self._children[path]
        if child.returncode == -signal.SIGTERM:
            raise DatasetError("these results were written to while they were judged", "ask again")
        try:
            found = cast(dict[str, Any], json.loads(told))
        except ValueError:
            last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            raise DatasetError(
                f"what was to judge these results ended: {last or f'code {child.returncode}'}",
                "`sawtooth report` says what its verdicts are",
            ) from None
        if error := found.get("error"):
            raise DatasetError(str(error["message"]), error["hint"])
        return found


def _here(opened: Opened) -> dict[str, Any]:
    with opened.lock:
        return judged(opened.answers())


def main() -> None:
    """Writes the verdicts of a results directory to standard output, as JSON."""
    # Whoever changes a figure meanwhile goes before.
    os.nice(_LATER)
    try:
        found = judged(Answers(Dataset(Path(sys.argv[1]))))
    except SawtoothError as error:
        found = {"error": problem(error)}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
