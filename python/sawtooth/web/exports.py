"""Figures as files: as which they are given, what they are called, and what is in them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from sawtooth.errors import DatasetError, StudyError
from sawtooth.report.document import Plot
from sawtooth.web.requests import query

TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8", "toml": "application/toml; charset=utf-8"}


def way_of(request: Request) -> str:
    """As what a figure is asked for.

    Raises:
        DatasetError: if it is not given as that.

    """
    way = query(request, "as")
    if way not in TYPES:
        raise DatasetError(f"a figure is not given as `{way[:80]}`", f"there are {', '.join(TYPES)}")
    return way


def name_of(keys: Mapping[str, Any]) -> str:
    """What a figure is called that is asked for by its keys: as these have it, else as the page's button calls it."""
    name = keys.get("name")
    return name if isinstance(name, str) and name else "figure"


@contextlib.contextmanager
def in_lines(name: str) -> Generator[None]:
    """Says of a mistake in what is asked that it is in the figure's lines of a study file, which are given as a file of this name."""
    try:
        yield
    except StudyError as error:
        if error.place is None:
            raise
        raise StudyError(error.message, replace(error.place, name=f"{name}.toml"), error.hint) from None


def disposition(request: Request, name: str, way: str) -> dict[str, str]:
    """Whether a file is shown or kept, and what it is called."""
    how = "inline" if request.query_params.get("shown") else "attachment"
    kept = "".join(c for c in name if c.isalnum() or c in "-_") or "figure"
    return {"Content-Disposition": f'{how}; filename="{kept}.{way}"'}


def as_file(way: str, plot: Plot) -> bytes:
    """A figure as a file of a kind.

    Raises:
        DatasetError: if it has no numbers, and they are asked for.

    """
    if way == "svg":
        return plot.svg.encode()
    if way == "png":
        return plot.png
    written_to = io.BytesIO()
    if plot.numbers is None:
        raise DatasetError(f"the figure `{plot.name}` has no numbers")
    plot.numbers.write_csv(written_to)
    return written_to.getvalue()
