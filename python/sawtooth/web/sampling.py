"""How often a simulation of the playground is looked at: curves have a point for each step, and what is told of a step is made of all samples in it.

One sample in a step says nothing of what happens between two of them: a queue that fills and drains within a round trip would be drawn as waves that there are none of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sawtooth.stats import Vector

_MOST_STEPS = 400
"""Of each curve: as many as a plot has room for."""
_MOST_ROWS = 30_000
"""Of all tables: their making takes no more time than a redraw has for it (`bench/playground.py`)."""
_OF_ROUND_TRIP = 8
"""Samples in the shortest round trip, in which bursts come and go."""
_IN_STEP = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Sampling:
    """Steps of curves, in seconds, and how many samples each has."""

    step: float
    each: int

    @property
    def period(self) -> float:
        """Seconds from a sample to the next."""
        return self.step / self.each

    def ends(self, samples: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Those of the samples with which a step ends, shape (steps,)."""
        return samples[:: self.each]

    def most(self, samples: Vector) -> Vector:
        """The largest of each step, which goes until its time, shape (steps,)."""
        return np.fmax.reduce(self._steps(samples), axis=1)

    def mean(self, samples: Vector) -> Vector:
        """The mean of each step, shape (steps,); NaN where nothing is known."""
        steps = self._steps(samples)
        known = ~np.isnan(steps)
        with np.errstate(invalid="ignore"):
            return np.where(known, steps, 0.0).sum(axis=1) / known.sum(axis=1)

    def rate(self, amounts: Vector, round_trip: float) -> Vector:
        """How fast an amount grows until the end of each step, per second, shape (steps,); NaN where nothing is known.

        It is the mean of at least a step, and of whole round trips: a burst that comes once in each would be in some steps twice and in others three times, or in some and not in others.

        Args:
            amounts: at the time of each sample.
            round_trip: the shortest, seconds: bursts come once in it, where no queue stands that would level them.

        """
        known = np.flatnonzero(~np.isnan(amounts))
        if not len(known):
            return self.ends(amounts)
        whole = math.ceil(self.step / round_trip) * round_trip if round_trip else self.step
        ends = self.ends(np.arange(len(amounts), dtype=np.float64))
        # Of what has just begun, since its first sample.
        begins = np.maximum(ends - whole / self.period, known[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            grown = self.ends(amounts) - np.interp(begins, known, amounts[known])
            return np.where(ends > begins, grown / ((ends - begins) * self.period), np.nan)

    def _steps(self, samples: Vector) -> Vector:
        """Samples of each step, shape (steps, each): of the first, which has none before it, the one at its time."""
        steps = 1 + (len(samples) - 1) // self.each
        padded = np.concatenate([np.full(self.each - 1, np.nan), samples])
        return padded[: steps * self.each].reshape(steps, self.each)


def sampling(duration: float, round_trip: float, rows: int) -> Sampling:
    """Steps as many as a plot has room for, and in each as many samples as the shortest round trip asks for, within what there is time for.

    Args:
        duration: of the simulation, seconds.
        round_trip: the shortest, seconds, without queues.
        rows: of tables, for each sample.

    """
    step = _round(duration / _MOST_STEPS)
    room = _MOST_ROWS * step / (rows * duration)
    wanted = _OF_ROUND_TRIP * step / round_trip if round_trip else math.inf
    # The least that is enough, or else what there is room for; a quotient that is such a number may come out a little above it.
    enough = next((each for each in _IN_STEP if each >= wanted * (1 - 1e-9)), _IN_STEP[-1])
    return Sampling(step, max((each for each in _IN_STEP if each <= min(enough, room)), default=1))


def _round(least: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not below this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
