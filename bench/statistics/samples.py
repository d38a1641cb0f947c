"""What runs may measure: distributions whose mean and median are known, to draw samples of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, nan
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]


@dataclass(frozen=True)
class World:
    name: str
    draw: Draw
    mean: float
    # Where it is one value, with as much above as below.
    median: float = nan
    # Whether the rule must cover with 93 % at every n.
    asked: bool = False

    def samples(self, trial: str, count: int, n: int) -> NDArray[np.float64]:
        """Samples of shape (count, n), always the same for the same trial."""
        return self.draw(np.random.default_rng([crc32(f"{trial}, {self.name}".encode()), n]), (count, n))


def _either(share: float, one: Draw, other: Draw) -> Draw:
    return lambda g, shape: np.where(g.random(shape) < share, one(g, shape), other(g, shape))


def _always(value: float) -> Draw:
    return lambda _, shape: np.full(shape, value)


def _normal(middle: float, spread: float) -> Draw:
    return lambda g, shape: g.normal(middle, spread, shape)


def _lognormal(sigma: float, less: float = 0.0) -> Draw:
    return lambda g, shape: g.lognormal(0, sigma, shape) - less


WORLDS = (
    World("normal, 10 % spread", _normal(10, 1), 10, 10, asked=True),
    World("normal, 30 % spread", _normal(10, 3), 10, 10, asked=True),
    World("normal about 0", _normal(0, 1), 0, 0, asked=True),
    World("lognormal, sigma 0.5", _lognormal(0.5), exp(0.125), 1, asked=True),
    World("lognormal, sigma 1", _lognormal(1), exp(0.5), 1, asked=True),
    World("exponential", lambda g, shape: g.exponential(1, shape), 1, log(2)),
    World("uniform from 0", lambda g, shape: g.random(shape), 0.5, 0.5),
    World("levels 1 to 4", lambda g, shape: g.integers(1, 5, shape).astype(np.float64), 2.5, asked=True),
    World("levels 1 and 2", lambda g, shape: g.integers(1, 3, shape).astype(np.float64), 1.5, asked=True),
    World("counts of mean 2", lambda g, shape: g.poisson(2, shape).astype(np.float64), 2, asked=True),
    World("counts of mean 20", lambda g, shape: g.poisson(20, shape).astype(np.float64), 20, asked=True),
    World("half alike, half normal about it", _either(0.5, _always(10), _normal(10, 1)), 10, 10, asked=True),
    World("half alike, half lognormal about it", _either(0.5, _always(1), _lognormal(1)), 0.5 + exp(0.5) / 2, 1, asked=True),
    World(
        "half the least, half exponential above", _either(0.5, _always(10), lambda g, shape: 10 + g.exponential(5, shape)), 12.5, asked=True
    ),
    World("half 0, half exponential", _either(0.5, _always(0), lambda g, shape: g.exponential(5, shape)), 2.5, asked=True),
    World("outliers: 1 in 10 with 5 times the spread", _either(0.1, _normal(10, 5), _normal(10, 1)), 10, 10, asked=True),
    World("rare: 1 in 10 is three times as large", _either(0.1, _always(30), _normal(10, 1)), 12),
    World("lognormal, sigma 1, less its mean", _lognormal(1, exp(0.5)), 0, 1 - exp(0.5)),
)
BY_NAME = {world.name: world for world in WORLDS}
