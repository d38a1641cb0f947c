"""The list of measures, for whoever only wants to read it: nothing that computes is loaded."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from sawtooth.measures import tables
from sawtooth.measures.computed import COMPUTED
from sawtooth.measures.tables import SHAPES, WINDOWS


@functools.cache
def listed() -> Mapping[str, tuple[str, str]]:
    """Every measure that is no expression: name to unit and meaning; columns of `flows` by their name alone."""
    columns = {
        (column if table == "flows" else f"{'series' if table == WINDOWS else table}.{column}"): (unit, summary)
        for table in SHAPES
        for column, (unit, summary) in tables.numeric_columns(table).items()
    }
    return columns | {name: (row.unit, row.summary) for name, row in COMPUTED.items()}
