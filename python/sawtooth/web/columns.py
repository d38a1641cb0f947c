"""Long lists of numbers as pages get them: a table of names as JSON, and behind it the numbers as they are in memory.

Layout, little-endian: the length of the JSON (4 bytes), the JSON, filled up with spaces so that what follows begins at a multiple of 8, and all columns as binary64,
one after the other. `columns` of the JSON has of each name where its numbers begin, and how many there are; what is unknown is NaN.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sawtooth.stats import Vector

TYPE = "application/octet-stream"


def packed(head: Mapping[str, Any], columns: Mapping[str, Vector]) -> bytes:
    """What a page gets: `head`, and columns by name, each of shape (n,)."""
    places: dict[str, tuple[int, int]] = {}
    offset = 0
    for name, values in columns.items():
        places[name] = (offset, len(values))
        offset += len(values)
    text = json.dumps({**head, "columns": places}).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join(
        [len(text).to_bytes(4, "little"), text, *(np.ascontiguousarray(values, "<f8").tobytes() for values in columns.values())]
    )


def vector(values: pl.Series, factor: float = 1.0) -> Vector:
    """A column in another unit, shape (n,); what is unknown, or has no bound, is NaN."""
    found = values.cast(pl.Float64).to_numpy() * factor
    return np.where(np.isfinite(found), found, np.nan)
