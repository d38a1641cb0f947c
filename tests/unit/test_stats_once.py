"""Intervals that are kept are those that would be computed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from sawtooth import stats
from sawtooth.stats.interval import Interval, Vector, vector
from sawtooth.stats.once import once

mean_module = import_module("sawtooth.stats.mean")
compare = import_module("sawtooth.stats.compare")

_SAMPLES = {
    "normal": np.random.default_rng(1).normal(10, 1, 30),
    "lognormal": np.random.default_rng(2).lognormal(0, 1, 30),
    "tied": np.array([3.0] * 6 + [1.0, 2.0, 4.0, 5.0]),
    "alike": np.full(10, 0.1),
    "beside 0": np.random.default_rng(3).normal(0, 1, 10),
    "one": np.array([2.0]),
}


def _unkept(function: Any) -> Callable[..., Interval]:
    return function.__wrapped__


@pytest.mark.parametrize("name", _SAMPLES)
def test_a_kept_interval_is_the_computed_one(name: str) -> None:
    values = _SAMPLES[name]
    others = np.random.default_rng(4).lognormal(0, 0.1, values.size)
    for level in (0.9, 0.95, 0.999):
        for origin in (True, False):
            computed = _unkept(mean_module._mean)(values, level=level, origin=origin)
            assert [stats.mean(values, level, origin=origin) for _ in range(2)] == [computed, computed]
        for paired in (True, False):
            for times in (1.0, 1.05):
                computed = _unkept(compare._difference)(values, others, paired=paired, level=level, times=times)
                assert [stats.difference(values, others, paired, level, times) for _ in range(2)] == [computed, computed]


def _pairs() -> list[tuple[Vector, Vector]]:
    generator = np.random.default_rng(8)
    drawn = [(generator.lognormal(0, 1, n), generator.lognormal(0, 1, n)) for n in (2, 5, 10, 10, 10)]
    beside_0 = [(generator.normal(0, 1, 10), generator.normal(0, 1, 10)) for _ in range(3)]
    still = [(np.full(10, 3.0), generator.lognormal(0, 1, 10)), (generator.lognormal(0, 1, 10), np.full(10, 3.0)), (np.ones(4), np.ones(4))]
    return [*drawn, *beside_0, *still, (np.array([1.0]), np.array([2.0]))]


@pytest.mark.parametrize("times", [1.0, 1.05, -1.0])
def test_differences_that_were_made_ready_together_are_those_of_each_alone(times: float, monkeypatch: pytest.MonkeyPatch) -> None:
    level, pairs = 0.9471, _pairs()
    alone = [_unkept(compare._difference)(a, b, paired=True, level=level, times=times) for a, b in pairs]
    monkeypatch.setattr(mean_module, "_mean", once(_unkept(mean_module._mean)))
    monkeypatch.setattr(compare, "_difference", once(_unkept(compare._difference)))
    stats.differences_made_ready(pairs, level, times)

    def made(*_: object, **__: object) -> None:
        raise AssertionError("it was to be there")

    monkeypatch.setattr(mean_module, "mean_rows", made)
    assert [stats.difference(a, b, level=level, times=times) for a, b in pairs] == alone


def test_draws_of_two_lognormal_means_are_those_of_products_of_matrices() -> None:
    for a, b in _pairs()[1:5]:
        n = a.size
        logarithms = np.stack([np.log(a), np.log(b)])
        values, vectors = np.linalg.eigh(np.cov(logarithms) * (n - 1))
        root = vectors @ np.diag(np.sqrt(values)) @ vectors.T
        one, both, other = compare._wishart(n)
        drawn = root @ np.stack([np.stack([one, both], 1), np.stack([both, other], 1)], 1) @ root
        factor = np.linalg.cholesky(drawn)
        z = np.stack([compare._pivots(n, 2)[0], compare._pivots(n, 3)[0]], 1)[:, :, None]
        expected = logarithms.mean(axis=1) - (factor @ z)[:, :, 0] / np.sqrt(n) + drawn[:, [0, 1], [0, 1]] / 2
        first, second = sorted([tuple(a), tuple(b)])
        # In the order of the two that the draws are made in.
        if (first, second) == (tuple(a), tuple(b)):
            assert np.allclose(np.stack(compare._log_means(a, b, True), 1), expected, rtol=1e-9)


def _counted() -> tuple[list[Vector], Callable[..., Interval]]:
    asked: list[Vector] = []

    def made(*samples: Vector, level: float) -> Interval:
        asked.extend(samples)
        return Interval(float(samples[0].sum()), 0.0, level, len(samples[0]), "made")

    return asked, once(made)


def test_the_same_values_are_asked_once_and_any_other_bit_again() -> None:
    asked, kept = _counted()
    values = vector([1.0, 2.0])
    assert kept(values, level=0.95) is kept(values.copy(), level=0.95)
    assert len(asked) == 1
    # The last bit, the sign of 0, the order, the level, and where one sample ends and the next begins.
    kept(vector([1.0, np.nextafter(2.0, 3.0)]), level=0.95)
    kept(vector([0.0, 2.0]), level=0.95)
    kept(vector([-0.0, 2.0]), level=0.95)
    kept(vector([2.0, 1.0]), level=0.95)
    kept(values, level=0.9)
    kept(vector([1.0]), vector([2.0]), level=0.95)
    assert len(asked) == 8
    # What is asked again has not been written to by the caller.
    values[0] = 5.0
    assert kept(values, level=0.95).estimate == 7.0
    assert kept(vector([1.0, 2.0]), level=0.95).estimate == 3.0


def test_large_samples_are_not_kept() -> None:
    asked, kept = _counted()
    for _ in range(2):
        kept(np.ones(301), level=0.95)
    assert len(asked) == 2
