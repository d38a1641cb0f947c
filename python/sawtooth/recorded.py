"""The tables that a run records, as the core has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sawtooth import _core


@cache
def schema() -> Mapping[str, Any]:
    """Every table with its columns; the core makes it anew whenever it is asked, which takes longer than most of what is done with it."""
    return _core.schema()
