"""A capture beside another flow: of another capture, of a simulation, or of results."""

from __future__ import annotations

from sawtooth.beside.drawn import Trace, over_time
from sawtooth.beside.numbers import Beside, beside
from sawtooth.beside.sides import Side, side

__all__ = ["Beside", "Side", "Trace", "beside", "over_time", "side"]
