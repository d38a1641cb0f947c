"""Two results beside each other, as `sawtooth compare` has them: rows with ratios and verdicts, what has no counterpart, the figures of its page, and any measure of both."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import threading
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.metrics.agreement import VERDICTS, Comparison, labels_of, require_same_study
from sawtooth.report import compare, compare_page
from sawtooth.report.compare_rows import scale_of
from sawtooth.report.document import Plot
from sawtooth.web import sides_drawn, workbench
from sawtooth.web.exports import TYPES, as_file, disposition, name_of, way_of
from sawtooth.web.folders import Folders
from sawtooth.web.opened import DRAWING, Once, Opened, Shelf
from sawtooth.web.requests import body, in_thread, query, table
from sawtooth.web.rows import rows_of

_MOST_KEPT = 4
"""Comparisons that are remembered."""
_MOST_TOLD = 200
"""Entries without counterpart that a page shows: all are in the CSV file."""
_LEADING = ("verdict", "ratio", "ratio_low", "ratio_high", "first", "second", "difference", "difference_low", "difference_high")
_SCALED = re.compile("(first|second|difference)(_low|_high)?")
"""Columns that are in the unit of their measure."""


class _Compared:
    """A comparison, and what is made of it when it is asked for."""

    def __init__(self, first: Path, second: Path, asked: compare.Question) -> None:
        self.comparison: Once[Comparison] = Once(lambda: compare.compare(first, [second], asked))
        self.frame: Once[pl.DataFrame] = Once(lambda: _leading(self.comparison()))
        self.plots: Once[list[tuple[str, Plot]]] = Once(self._plots)

    def _plots(self) -> list[tuple[str, Plot]]:
        comparison = self.comparison()
        with DRAWING:
            return [(section.title, plot) for section in compare_page.figures(comparison) for plot in section.plots]


class Comparing:
    """Answers what is asked of two results."""

    def __init__(self, folders: Folders, shelf: Shelf) -> None:
        self._folders, self._shelf = folders, shelf
        self._kept: OrderedDict[tuple[object, ...], _Compared] = OrderedDict()
        self._lock = threading.Lock()

    def _sides(self, request: Request) -> tuple[Opened, Opened]:
        first, second = (self._shelf.open(self._folders.path(query(request, name))) for name in ("of", "beside"))
        for opened in (first, second):
            if not opened.dataset.planned:
                raise DatasetError(
                    f"{opened.dataset.directory} holds what was watched, and no study says what may be compared",
                    "choose results of a study",
                )
        if first.dataset.directory == second.dataset.directory:
            raise DatasetError("these are the same results twice", "choose others to lay beside them")
        return first, second

    def _compared(self, request: Request) -> _Compared:
        first, second = self._sides(request)
        words = request.query_params
        metrics = tuple(each for each in words.getlist("metric") if each.strip())
        asked = compare.Question(
            metrics, compare.tolerance(words.get("tolerance") or "5 %"), words.get("flows") or "mean", words.get("arm") or None, of=tuple(words.getlist("item"))
        )  # fmt: skip
        key = (
            first.dataset.directory,
            first.state,
            second.dataset.directory,
            second.state,
            metrics,
            asked.tolerance,
            asked.how,
            asked.arm,
            asked.of,
        )
        with self._lock:
            found = self._kept.pop(key, None) or _Compared(first.dataset.directory, second.dataset.directory, asked)
            self._kept[key] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def summary(self, request: Request) -> Response:
        """What it comes to: in a few lines, how many rows agree, what is to be known of either side, and what has no counterpart."""
        compared = self._compared(request)
        made = compared.comparison()
        return JSONResponse(
            {
                "sides": list(made.sides),
                "tolerance": made.tolerance,
                "metrics": list(dict.fromkeys(row.metric.name for row in made.rows)),
                "summary": compare.summary(made),
                "verdicts": {verdict: sum(row.verdict == verdict for row in made.rows) for verdict in VERDICTS},
                "key": compare.key(made, columns=True),
                "notes": list(made.notes),
                "unmatched": [
                    {"where": each.where, "what": each.what, "why": each.why, "rows": each.rows} for each in made.unmatched[:_MOST_TOLD]
                ],
                "unmatchedInAll": len(made.unmatched),
                "command": self._command(request),
            }
        )

    def rows(self, request: Request) -> Response:
        """Its rows, some at a time, each in the unit in which its measure is read, under the names of both sides."""
        compared = self._compared(request)
        return JSONResponse(_read(rows_of(compared.frame().lazy(), request), compared.comparison()))

    def csv(self, request: Request) -> Response:
        """Every row, and every cell that was not compared, as `sawtooth compare --csv` writes them."""
        content = self._compared(request).comparison().every_cell().write_csv()
        return Response(
            content, media_type="text/csv; charset=utf-8", headers={"Content-Disposition": 'attachment; filename="comparison.csv"'}
        )

    def plots(self, request: Request) -> Response:
        """The figures of its page, by name."""
        return JSONResponse(
            {
                "plots": [
                    {"section": section, "name": plot.name, "caption": plot.caption} for section, plot in self._compared(request).plots()
                ]
            }
        )

    def plot(self, request: Request) -> Response:
        """One of these: as SVG, or as PNG if it is asked for `as` that."""
        plots = {plot.name: plot for _, plot in self._compared(request).plots()}
        name = query(request, "name")
        if name not in plots:
            raise DatasetError(f"there is no figure `{name[:80]}`", did_you_mean(name, plots))
        way = request.query_params.get("as") or "svg"
        if way not in ("svg", "png"):
            raise DatasetError(
                f"a figure of a comparison is not given as `{way[:80]}`", "there are svg, png; its numbers are the CSV file of all cells"
            )
        with DRAWING:
            return Response(as_file(way, plots[name]), media_type=TYPES[way])

    async def figure(self, request: Request) -> Response:
        """A figure of kind `levels` of both, laid out, each with curves of its own; what is asked are the keys of a `[[figures]]` block."""
        keys = await body(request)
        return await in_thread(lambda: self._figure(request, keys))

    def export(self, request: Request) -> Response:
        """A figure of both as a file: drawn (`svg`, `png`), its numbers (`csv`), or its lines of a study file (`toml`)."""
        way, keys = way_of(request), table(query(request, "keys"))
        if way == "toml":
            content = workbench.as_toml(keys).encode()
        else:
            first, second, labels = self._both(request)
            with _locked(first, second), DRAWING:
                content = as_file(way, sides_drawn.drawn(first.answers(), second.answers(), labels, keys))
        name = f"{name_of(keys)}-of-both"
        return Response(content, media_type=TYPES[way], headers=disposition(request, name, way))

    def _command(self, request: Request) -> str:
        """The command that says the same, typed where the explorer was started."""
        options = {"metric": "--metric", "tolerance": "--tolerance", "flows": "--flows", "arm": "--arm", "item": "--of"}
        given = [
            word for name, option in options.items() for value in request.query_params.getlist(name) if value for word in (option, value)
        ]
        sides = [os.path.relpath(self._folders.path(query(request, side))) for side in ("of", "beside")]
        return shlex.join(["sawtooth", "compare", *sides, *given])

    def _both(self, request: Request) -> tuple[Opened, Opened, Sequence[str]]:
        """Two results of one study, and what they are called."""
        first, second = self._sides(request)
        require_same_study(first.dataset, second.dataset)
        return first, second, labels_of([first.dataset, second.dataset])

    def _figure(self, request: Request, keys: Mapping[str, Any]) -> Response:
        first, second, labels = self._both(request)
        asked = json.dumps([[str(each.dataset.directory), each.state] for each in (first, second)] + [keys], sort_keys=True)
        one = min(first, second, key=_directory)
        with _locked(first, second):
            made = one.figure(asked, lambda: json.dumps(workbench.beside(first.answers(), second.answers(), labels, keys)).encode())
        return Response(made, media_type="application/json")


def _directory(opened: Opened) -> str:
    return str(opened.dataset.directory)


@contextlib.contextmanager
def _locked(*sides: Opened) -> Generator[None]:
    """Holds both: locks are taken in one order, so that nobody waits for who waits."""
    one, other = sorted(sides, key=_directory)
    with one.lock, other.lock:
        yield


def _leading(comparison: Comparison) -> pl.DataFrame:
    """The rows, with what is decided before what it is decided of."""
    frame = comparison.frame()
    # Of two sides each row has the same, and headings name them.
    frame = frame.drop("first_side", "second_side")
    names = [name for name in ("metric", "cell", *comparison.factors, "arm", "item", *_LEADING) if name in frame.columns]
    return frame.select(*names, pl.exclude(names))


def _read(found: dict[str, Any], comparison: Comparison) -> dict[str, Any]:
    """Rows as people read them: the CSV file has base units, and columns whose names are the same whatever is compared."""
    scales = {
        metric.name: scale_of(metric, [row for row in comparison.rows if row.metric == metric])
        for metric in dict.fromkeys(row.metric for row in comparison.rows)
    }
    columns: list[str] = found["columns"]
    measure, scaled = columns.index("metric"), [at for at, name in enumerate(columns) if _SCALED.fullmatch(name)]
    for row in found["rows"]:
        divisor, unit = scales[row[measure]]
        row[measure] = f"{row[measure]} ({unit})" if unit else row[measure]
        for at in scaled:
            row[at] = None if row[at] is None else row[at] / divisor
    return {**found, "titles": [_title(name, comparison.sides) for name in columns]}


def _title(column: str, sides: Sequence[str]) -> str:
    """What a column is called: by the name of the side that it is of."""
    for word, side in zip(("first", "second"), sides, strict=True):
        if column.endswith(f"_{word}"):
            return f"{column.removesuffix(f'_{word}')}, {side}"
        if column == word or column.startswith(f"{word}_"):
            return f"{side}{column.removeprefix(word).replace('_', ', ')}"
    return re.sub("_(low|high)$", r", \1", column).replace("_", " ")
