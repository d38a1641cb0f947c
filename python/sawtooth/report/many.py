"""Rows of tables that may be a million: as objects each of them takes a kilobyte, so they become columns some thousands at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import polars as pl

_AT_A_TIME = 20_000


def of_rows(rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    """A frame of rows, with the columns that any of them has, in the order in which they are seen first; null where a row has none."""
    coming = iter(rows)
    frames: list[pl.DataFrame] = []
    while some := list(itertools.islice(coming, _AT_A_TIME)):
        frames.append(pl.DataFrame(some, infer_schema_length=None))
    # One alone is as it is.
    return pl.concat(frames, how="diagonal_relaxed") if len(frames) > 1 else frames[0] if frames else pl.DataFrame()
