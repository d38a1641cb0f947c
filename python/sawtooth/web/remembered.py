"""Results whose tables are in memory, so that a measure that was not asked for before need not read files."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sawtooth.results.dataset import Dataset
from sawtooth.results.tables import with_factors

_MOST_BYTES = 320e6
"""Of tables of one dataset: those of 23,040 runs with a third of a million flows fit."""
_CELL, _STEP = 8, 1_500_000
"""Bytes of a value, and how many values are read at a time."""


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
            wait: is called before each step, and comes back when there is time for it: whoever asks for a figure waits for one step at most.

        """
        if self._held is not None:
            return
        held = self._held = {}
        left = _MOST_BYTES
        for name in self.tables:
            wait()
            table = super().table(name)
            rows, columns = int(table.select(pl.len()).collect().item()), table.collect_schema().names()
            if rows * _CELL * len(columns) > left:
                continue
            found: list[pl.DataFrame] = []
            step = max(_STEP // max(rows, 1), 1)
            for at in range(0, len(columns), step):
                wait()
                if self._held is not held:
                    # The room was given back meanwhile.
                    return
                # In one piece: of a frame of many, as files give it, polars 2.1 cannot format texts where a filter leaves no row.
                found.append(table.select(columns[at : at + step]).collect().rechunk())
            if len({part.height for part in found}) == 1:
                held[name] = pl.concat(found, how="horizontal")
                left -= held[name].estimated_size()

    def forget(self) -> None:
        """Gives the room back, to results that are asked for now."""
        self._held = None
