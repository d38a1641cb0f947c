"""Pages of results: what a study asked and what it came to, its figures laid out anew, its tables, and where all of it is from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import polars as pl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth import analysis
from sawtooth.errors import DatasetError, SawtoothError
from sawtooth.measures import factors, listed
from sawtooth.recognise import written
from sawtooth.report.origin import counts, origin, warnings
from sawtooth.results.dataset import Dataset
from sawtooth.web import workbench
from sawtooth.web.exports import TYPES, as_file, disposition, in_lines, name_of, way_of
from sawtooth.web.folders import Folders
from sawtooth.web.judging import Judge
from sawtooth.web.made import Kept, modified
from sawtooth.web.opened import DRAWING, Opened, Shelf, state_of
from sawtooth.web.requests import body, in_thread, query, table
from sawtooth.web.rows import cell, of_run, rows_of, units_of


class Results:
    """Answers what is asked of results."""

    def __init__(self, folders: Folders, shelf: Shelf, judge: Judge) -> None:
        self._folders, self._shelf, self._judge = folders, shelf, judge
        self._entries = Kept[dict[str, Any]]()

    def _opened(self, request: Request) -> Opened:
        return self._shelf.open(self._folders.path(query(request, "of")))

    # --- which there are

    def every(self, _: Request) -> Response:
        """All results below the folders, those that were written last first."""
        found = self._folders.results()
        entries = [self._entry(address) for address in found.addresses]
        entries.sort(key=lambda entry: entry["modified"], reverse=True)
        return JSONResponse({"results": entries, "complete": found.complete})

    def _entry(self, address: str) -> dict[str, Any]:
        """One of a list: whatever is wrong with it is told there, and hides no other."""
        path = self._folders.path(address)
        return {
            "address": address,
            "modified": modified(path),
            "bytes": _bytes(path),
            **self._entries(path, state_of(path), lambda path: _told(self._folders, path)),
        }

    # --- one of them: what is there at once, and by themselves what takes long

    def head(self, request: Request) -> Response:
        """What the study asked, its factors, and the figures that it has."""
        opened = self._opened(request)
        return Response(opened.said("head", lambda: json.dumps(_head(opened)).encode()), media_type="application/json")

    def verdicts(self, request: Request) -> Response:
        """The verdicts on the study's claims, and the report's figure of them."""
        found = self._judge.of(self._opened(request)).verdicts()
        forest = found["forest"]
        return JSONResponse(found | {"forest": None if forest is None else {"caption": forest["caption"]}})

    def weighed(self, request: Request) -> Response:
        """How many claims were looked at while verdicts are being made, of how many; 0 of 0 before that is known."""
        done, of = self._judge.of(self._opened(request)).weighed
        return JSONResponse({"done": done, "of": of})

    def forest(self, request: Request) -> Response:
        """The report's figure of all verdicts."""
        opened = self._opened(request)
        forest = self._judge.of(opened).verdicts()["forest"]
        if forest is None:
            raise DatasetError(
                "the report has no figure of these verdicts", "none has an interval, they are too many, or the study has one of its own"
            )
        return Response(forest["svg"].encode(), media_type=TYPES["svg"], headers=disposition(request, "forest-of-verdicts", "svg"))

    def validity(self, request: Request) -> Response:
        """What is not to be read into these results; null if nothing is marked."""
        return JSONResponse(self._judge.of(self._opened(request)).validity())

    def measures(self, request: Request) -> Response:
        """Measures that say most of such traffic, and then those that have columns in the tables of these results, with unit and meaning."""
        opened = self._opened(request)
        tables = set(opened.dataset.tables)
        first = [{"name": name, "unit": "", "summary": "suggested"} for name in opened.suggested()]
        found = [
            {"name": name, "unit": unit, "summary": summary}
            for name, (unit, summary) in listed().items()
            if (name.partition(".")[0] if "." in name else "flows") in tables
        ]
        return JSONResponse({"measures": [*first, *found]})

    # --- figures

    async def figure(self, request: Request) -> Response:
        """A figure of kind `levels`, laid out; what is asked are the keys of a `[[figures]]` block."""
        keys = await body(request)
        return await in_thread(lambda: self._figure(self._opened(request), keys))

    @staticmethod
    def _figure(opened: Opened, keys: Mapping[str, Any]) -> Response:
        made = opened.figure(json.dumps(keys, sort_keys=True), lambda: json.dumps(workbench.laid_out(opened.answers(), keys)).encode())
        opened.read_ahead()
        return Response(made, media_type="application/json")

    def export(self, request: Request) -> Response:
        """Any figure as a file: drawn by the same functions as the report's (`svg`, `png`), its numbers (`csv`), or its lines of a study file (`toml`).

        With `on=page` on the axes that the workbench's page has.
        """
        way, given = way_of(request), table(query(request, "keys"))
        name = name_of(given)
        keys = {"name": name, **given}
        opened = self._opened(request)
        draw = workbench.drawn if request.query_params.get("on") == "page" else analysis.drawn
        with opened.lock, DRAWING, in_lines(name):
            content = workbench.as_toml(keys).encode() if way == "toml" else as_file(way, draw(opened.answers(), keys))
        return Response(content, media_type=TYPES[way], headers=disposition(request, name, way))

    # --- rows

    def run(self, request: Request) -> Response:
        """What a run is of, and what became of it."""
        dataset = self._opened(request).dataset
        row = of_run(dataset, query(request, "run"))
        status = dataset.status().filter(run=row["run"]).to_dicts()
        return JSONResponse({"run": {name: cell(value) for name, value in row.items()}, "status": status[0] if status else None})

    def rows(self, request: Request) -> Response:
        """Rows of a table with their factors, some at a time, sorted by a column, of all runs, or of some in the order in which these are named."""
        dataset = self._opened(request).dataset
        name = query(request, "table")
        frame = dataset.table(name, factors=True) if name != "runs" else dataset.runs.lazy()
        if runs := request.query_params.get("runs"):
            frame = _of_runs(frame, [int(each) for each in runs.split(",") if each.isdecimal()])
            frame = _telling_first(frame) if name == "runs" else frame
        return JSONResponse(rows_of(frame, request, units_of(dataset)))


def _head(opened: Opened) -> dict[str, Any]:
    dataset = opened.dataset
    if not dataset.planned:
        return _named(dataset) | {"planned": False, "tables": dataset.tables}
    answers, number = opened.answers(), counts(dataset)
    figures = cast(list[dict[str, Any]], dataset.study.tree.get("figures", []))
    return _named(dataset) | {
        "planned": True,
        "runs": number,
        "warnings": warnings(dataset, number),
        "caveats": list(answers.shown.caveats),
        "factors": {name: _levels(dataset, name) for name in factors(dataset)},
        "arms": answers.arms,
        "figures": [{**tree, "kind": tree.get("kind", "levels")} for tree in figures],
        "metric": opened.metric(),
        "origin": asdict(origin(dataset)),
        "tables": dataset.tables,
    }


def _of_runs(frame: pl.LazyFrame, runs: list[int]) -> pl.LazyFrame:
    """The rows of some runs, in their order."""
    schema = frame.collect_schema()
    asked = pl.LazyFrame({"run": pl.Series(runs, dtype=schema["run"], strict=False)}).unique(maintain_order=True)
    return asked.join(frame, on="run", maintain_order="left_right").select(schema.names())


def _telling_first(frame: pl.LazyFrame) -> pl.LazyFrame:
    """A few runs with what they differ by first, and their seeds, which are long and tell nothing, last; a level stands there once, in words."""
    rows = frame.collect()
    names = [name for name in rows.columns if not (name.endswith("_value") and name.removesuffix("_value") in rows.columns)]
    same = {name for name in names if rows[name].n_unique() < 2}
    return rows.lazy().select(sorted(names, key=lambda name: (name != "run", name == "seed", name in same)))


def _levels(dataset: Dataset, factor: str) -> list[dict[str, str]]:
    """Levels of a factor as a choice names them, and in words."""
    levels = dataset.runs.sort("cell", maintain_order=True)[factor].drop_nulls().unique(maintain_order=True)
    return [{"level": level, "words": written(level)} for level in levels.to_list()]


def _told(folders: Folders, path: Path) -> dict[str, Any]:
    """What a list says of results."""
    try:
        dataset = Dataset(path)
        return _named(dataset) | counts(dataset)
    except SawtoothError as error:
        return {"name": path.name, "error": folders.problem(error)}


def _named(dataset: Dataset) -> dict[str, Any]:
    manifest = dataset.manifest
    return {
        "name": str(manifest.get("name", "")),
        "question": str(manifest.get("question", "")),
        "backend": str(manifest.get("backend", "")),
    }


def _bytes(path: Path) -> int:
    """What parts take on the disk."""
    try:
        return sum(entry.stat().st_size for entry in (path / "parts").iterdir())
    except OSError:
        return 0
