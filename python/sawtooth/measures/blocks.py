"""Blocks of a scenario: one entry may stand for several flows, which are numbered."""

from __future__ import annotations

import re

import polars as pl

_NUMBER = r"\[\d+\]$"


def block(item: pl.Expr) -> pl.Expr:
    """The block of the scenario that items are of: `flow` for `flow[2]`."""
    return item.str.replace(_NUMBER, "")


def blocks(items: pl.Expr) -> pl.Expr:
    """The blocks of items, each once, in their order; of many rows of few items each item is looked at once."""
    return block(items.unique(maintain_order=True)).unique(maintain_order=True)


def name_of_block(item: str) -> str:
    """The same of one name."""
    return re.sub(_NUMBER, "", item)
