"""Results whose tables are in memory, so that a measure that was not asked for before need not read files."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sawtooth.results.dataset import Dataset
from sawtooth.results.tables import with_factors

_MOST_BYTES = 320e6
"""Of tables of one dataset: those of 23,040 runs with a third of a million flows fit."""
_CELL = 8


class Remembered(Dataset):
    """A results directory, opened; `read_ahead` puts tables into memory, as far as there is room."""

    _held: dict[str, pl.DataFrame] | None = None

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        """As every dataset has it."""
        held = (self._held or {}).get(name)
        if held is None:
            return super().table(name, factors=factors)
        return with_factors(held.lazy(), self.runs) if factors else held.lazy()

    def read_ahead(self, wait: Callable[[], None] = lambda: None) -> None:
        """Puts those tables into memory that fit, in the order in which they are mostly asked for.

        Args:
            wait: is called before each, and comes back when there is time for it.

        """
        if self._held is not None:
            return
        held = self._held = {}
        left = _MOST_BYTES
        for name in self.tables:
            wait()
            if self._held is not held:
                # The room was given back meanwhile.
                return
            table = super().table(name)
            rows = int(table.select(pl.len()).collect().item())
            if rows * _CELL * len(table.collect_schema()) <= left:
                # In one piece: of a frame of many, as files give it, polars 2.1 cannot format texts where a filter leaves no row.
                found = table.collect().rechunk()
                left -= found.estimated_size()
                held[name] = found

    def forget(self) -> None:
        """Gives the room back, to results that are asked for now."""
        self._held = None
