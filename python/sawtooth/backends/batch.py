"""What every backend returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl


@dataclass(frozen=True)
class Batch:
    """What a batch measured.

    Attributes:
        tables: name to frame; every frame has a column `run` (UInt32), the position in the batch.
        errors: position in the batch and message of each run that failed.
        deliveries: segments delivered, all runs together.
        events: events the simulator handled, all runs together.
        lost: which of those failed through no fault of theirs, and may be done once more: a guest was killed, or memory was lacking.

    """

    tables: dict[str, pl.DataFrame]
    errors: dict[int, str]
    deliveries: int
    events: int
    lost: frozenset[int] = field(default_factory=frozenset[int])
