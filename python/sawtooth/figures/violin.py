"""`violin`: as `box`, with the shape of the distribution where there are runs enough to have one."""

from __future__ import annotations

from sawtooth.figures import box
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind


def draw(data: Data) -> Drawn:
    """The figure."""
    return box.draw(data, violin=True)


KIND = Kind(
    "violin", "as `box`, with the shape of the distribution instead of a box where ten runs and more have finished",
    ("x", "curves", "panels", "rows"), draw, statistic=False,
)  # fmt: skip
