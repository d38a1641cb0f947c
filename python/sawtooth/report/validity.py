"""What is not to be read into results, as the rules of `sawtooth lint` mark it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sawtooth import linting

if TYPE_CHECKING:
    import polars as pl

    from sawtooth.results.dataset import Dataset


def marks(dataset: Dataset) -> pl.DataFrame | None:
    """The marks of cells; None if there are none.

    Arms and items are left out if the results have none.
    """
    found = linting.marks(dataset)
    if found.is_empty():
        return None
    return found.drop([name for name in ("arm", "item") if found[name].eq("").all()])
