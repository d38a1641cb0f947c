"""Blocks of a scenario: one entry may stand for several flows, which are numbered."""

from __future__ import annotations

import polars as pl


def block(item: pl.Expr) -> pl.Expr:
    """The block of the scenario that items are of: `flow` for `flow[2]`."""
    return item.str.replace(r"\[\d+\]$", "")
