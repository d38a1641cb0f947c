"""Pages of results: what a study asked and what it came to, its figures laid out anew, its tables, and where all of it is from."""

from __future__ import annotations

import io
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
from sawtooth.report.document import Plot
from sawtooth.report.origin import counts, origin, warnings
from sawtooth.report.sensible import shown
from sawtooth.report.validity import validity
from sawtooth.results.dataset import Dataset
from sawtooth.web import workbench
from sawtooth.web.folders import Folders
from sawtooth.web.opened import Opened, Shelf
from sawtooth.web.problems import problem
from sawtooth.web.requests import body, query

_MOST_ROWS = 500
"""Of a table at a time."""
_TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8", "toml": "application/toml; charset=utf-8"}


class Results:
    """Answers what is asked of results."""

    def __init__(self, folders: Folders, shelf: Shelf) -> None:
        self._folders, self._shelf = folders, shelf

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
        entry: dict[str, Any] = {"address": address, "modified": _modified(path), "bytes": _bytes(path)}
        try:
            dataset = self._shelf.open(path).dataset
            return entry | _named(dataset) | counts(dataset)
        except SawtoothError as error:
            return entry | {"name": path.name, "error": problem(error)}

    # --- one of them

    def head(self, request: Request) -> Response:
        """What the study asked, its verdicts, its factors, and the figures that it has."""
        opened = self._opened(request)
        with opened.lock:
            dataset, answers = opened.dataset, opened.answers
            if not dataset.planned:
                return JSONResponse(_named(dataset) | {"planned": False, "tables": dataset.tables})
            marks = validity(dataset) if dataset.tables else None
            study = dataset.study.tree
            return JSONResponse(
                _named(dataset)
                | {
                    "planned": True,
                    "runs": counts(dataset),
                    "warnings": warnings(dataset),
                    "caveats": list(answers.shown.caveats),
                    "verdicts": [verdict.facts() | {"said": verdict.said} for verdict in (answers.verdicts() if dataset.tables else [])],
                    "factors": {name: self._levels(dataset, name) for name in factors(dataset)},
                    "arms": answers.arms,
                    "figures": [
                        {**tree, "kind": tree.get("kind", "levels")} for tree in cast(list[dict[str, Any]], study.get("figures", []))
                    ],
                    "suggested": self._suggested(dataset),
                    "validity": None if marks is None else {"said": marks.said, "entries": [entry.facts() for entry in marks.entries]},
                    "origin": asdict(origin(dataset)),
                    "tables": dataset.tables,
                }
            )

    def _levels(self, dataset: Dataset, factor: str) -> list[dict[str, str]]:
        """Levels of a factor as a choice names them, and in words."""
        levels = dataset.runs.sort("cell", maintain_order=True)[factor].drop_nulls().unique(maintain_order=True)
        return [{"level": level, "words": written(level)} for level in levels.to_list()]

    def _suggested(self, dataset: Dataset) -> list[str]:
        """Measures that say most of such traffic."""
        if not dataset.tables:
            return []
        return list(dict.fromkeys(each.measure.name for each in shown(dataset)))

    def measures(self, request: Request) -> Response:
        """Measures that have columns in the tables of these results, with unit and meaning."""
        tables = set(self._opened(request).dataset.tables)
        found = [
            {"name": name, "unit": unit, "summary": summary}
            for name, (unit, summary) in listed().items()
            if (name.partition(".")[0] if "." in name else "flows") in tables
        ]
        return JSONResponse({"measures": found})

    # --- figures

    async def figure(self, request: Request) -> Response:
        """A figure of kind `levels`, laid out; what is asked are the keys of a `[[figures]]` block."""
        keys = await body(request)
        return await _in_thread(self._figure, self._opened, request, keys)

    @staticmethod
    def _figure(opened: Opened, keys: Mapping[str, Any]) -> Response:
        with opened.lock:
            return JSONResponse(workbench.laid_out(opened.answers, keys))

    def export(self, request: Request) -> Response:
        """Any figure as a file: drawn by the same functions as the report's (`svg`, `png`), its numbers (`csv`), or its lines of a study file (`toml`)."""
        way = query(request, "as")
        keys = _keys(query(request, "keys"))
        if way not in _TYPES:
            raise DatasetError(f"a figure is not given as `{way}`", f"there are {', '.join(_TYPES)}")
        opened = self._opened(request)
        with opened.lock:
            content = workbench.as_toml(keys).encode() if way == "toml" else _as(way, analysis.drawn(opened.answers, keys))
        name = keys.get("name", keys.get("kind", "figure"))
        disposition = "inline" if request.query_params.get("shown") else "attachment"
        headers = {"Content-Disposition": f'{disposition}; filename="{"".join(c for c in str(name) if c.isalnum() or c in "-_")}.{way}"'}
        return Response(content, media_type=_TYPES[way], headers=headers)

    # --- rows

    def run(self, request: Request) -> Response:
        """What a run is of, and what became of it."""
        opened = self._opened(request)
        row = _run(opened.dataset, query(request, "run"))
        status = opened.dataset.status().filter(run=row["run"]).to_dicts()
        return JSONResponse({"run": row, "status": status[0] if status else None})

    def table(self, request: Request) -> Response:
        """Rows of a table with their factors, some at a time, sorted by a column, of all runs or of some."""
        dataset = self._opened(request).dataset
        frame = dataset.table(query(request, "table"), factors=True) if query(request, "table") != "runs" else dataset.runs.lazy()
        if runs := request.query_params.get("runs"):
            frame = frame.filter(pl.col("run").is_in([int(each) for each in runs.split(",") if each.isdecimal()]))
        columns = frame.collect_schema()
        if (by := request.query_params.get("by")) and by in columns:
            frame = frame.sort(by, descending="descending" in request.query_params, nulls_last=True, maintain_order=True)
        total = int(frame.select(pl.len()).collect().item())
        offset = _count(request, "offset", 0)
        rows = frame.slice(offset, min(_count(request, "limit", 100), _MOST_ROWS)).collect()
        shown_rows = [[_cell(cell) for cell in row] for row in rows.iter_rows()]
        numeric = [columns[name].is_numeric() for name in rows.columns]
        return JSONResponse({"columns": rows.columns, "numeric": numeric, "rows": shown_rows, "offset": offset, "total": total})


def _cell(value: object) -> object:
    """A cell as JSON has it; a list is shown as text."""
    if isinstance(value, float):
        return workbench.finite(value)
    return value if value is None or isinstance(value, str | int | bool) else str(value)


async def _in_thread(answer: Any, opened: Any, request: Request, *given: Any) -> Response:
    from starlette.concurrency import run_in_threadpool

    return cast(Response, await run_in_threadpool(lambda: answer(opened(request), *given)))


def _named(dataset: Dataset) -> dict[str, Any]:
    manifest = dataset.manifest
    return {
        "name": str(manifest.get("name", "")),
        "question": str(manifest.get("question", "")),
        "backend": str(manifest.get("backend", "")),
    }


def _keys(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise DatasetError("a figure is asked for by a table of keys, as JSON")
    return cast(dict[str, Any], found)


def _as(way: str, plot: Plot) -> bytes:
    from sawtooth.plots import style

    if way == "svg":
        return plot.svg.encode()
    if way == "png":
        return style.png(plot.figure)
    written_to = io.BytesIO()
    if plot.numbers is None:
        raise DatasetError(f"the figure `{plot.name}` has no numbers")
    plot.numbers.write_csv(written_to)
    return written_to.getvalue()


def _run(dataset: Dataset, text: str) -> dict[str, Any]:
    found = dataset.runs.filter(pl.col("run") == int(text)).to_dicts() if text.isdecimal() and int(text) < 2**32 else []
    if not found:
        raise DatasetError(f"there is no run `{text[:40]}`", f"these results have runs 0 to {dataset.runs.height - 1}")
    return found[0]


def _count(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else usual


def _modified(path: Path) -> float:
    try:
        return max((path / name).stat().st_mtime for name in ("SHA256SUMS", "parts", "log.jsonl") if (path / name).exists())
    except (OSError, ValueError):
        return 0.0


def _bytes(path: Path) -> int:
    """What parts take on the disk."""
    try:
        return sum(entry.stat().st_size for entry in (path / "parts").iterdir())
    except OSError:
        return 0
