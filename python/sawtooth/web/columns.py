"""Long lists of numbers for a page: a small head as JSON, and columns of numbers that the browser takes as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from starlette.responses import Response

from sawtooth.stats import Vector


def packed(head: Mapping[str, Any], columns: Sequence[Vector]) -> Response:
    """An answer of columns, which are as long as each other.

    It is: bytes of the head and rows of a column, as two 32-bit numbers; the head; spaces up to a multiple of 8; the columns, one after the other. Numbers are 64-bit floats, all
    little-endian.
    """
    text = json.dumps(head, allow_nan=False).encode()
    text += b" " * (-len(text) % 8)
    rows = len(columns[0]) if columns else 0
    sizes = np.array([len(text), rows], "<u4").tobytes()
    return Response(b"".join([sizes, text, *(column.astype("<f8").tobytes() for column in columns)]), media_type="application/octet-stream")
