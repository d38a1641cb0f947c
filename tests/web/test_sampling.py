"""Steps of the playground's curves have as many samples as bursts ask for, and what is told of a step is of all of them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sawtooth.web.sampling import Sampling, sampling
from sawtooth.web.setting import parse


@pytest.mark.parametrize(
    ("setting", "step", "sample"),
    [
        ("d=30&l=10&f=cubic", 100, "5"),
        ("d=30&l=10,100&f=cubic", 100, "20"),
        ("d=2&l=10&f=cubic", 5, "5"),
        ("d=0.5&l=10&f=cubic", 2, "2"),
        ("d=7.3&l=10&f=cubic", 20, "4"),
        ("d=120&l=10&f=cubic", 500, "25"),
        # Of many flows less is looked at, and of each step at least once.
        ("d=30&l=100&f=cubic,10", 100, "20"),
        ("d=30&l=100&f=cubic,64", 100, "100"),
        # The shortest round trip counts: of flows over one link of two, and without those that come from farther.
        ("d=30&l=10,100&l=10,10&f=cubic&f=cubic,1,1-2", 100, "10"),
        ("d=30&l=10,100&l=10,10&f=cubic&f=cubic,1,2-1,500", 100, "20"),
    ],
)
def test_samples_are_as_fine_as_the_shortest_round_trip_asks_for(setting: str, step: float, sample: str) -> None:
    parsed = parse(f"v=1&{setting}")
    assert parsed.sampling.step * 1e3 == pytest.approx(step)
    assert f'sample = "{sample} ms"' in parsed.text()


@given(st.floats(0.1, 120), st.floats(0, 1), st.integers(3, 80))
def test_steps_are_a_round_time_and_as_many_as_a_plot_has_room_for(duration: float, round_trip: float, rows: int) -> None:
    found = sampling(duration, round_trip, rows)
    assert re.fullmatch(r"[125](\.0)?e[+-]\d+", f"{found.step:.1e}")
    assert 159 < duration / found.step < 401
    assert found.each == 1 or rows * duration / found.period <= 30_000 * (1 + 1e-9)


def test_of_a_step_the_most_and_the_mean_are_of_all_its_samples() -> None:
    by_three = Sampling(step=0.3, each=3)
    samples = np.array([5, 1, 9, 2, np.nan, 4, 6, 7])
    assert by_three.ends(samples).tolist() == [5, 2, 6]
    assert by_three.most(samples).tolist() == [5, 9, 6]
    assert by_three.mean(samples).tolist() == [5, 4, 5]
    nothing = by_three.mean(np.full(4, np.nan))
    assert np.isnan(nothing).all() and np.isnan(by_three.most(np.full(4, np.nan))).all()


def test_a_rate_is_of_whole_round_trips_so_that_bursts_make_no_waves() -> None:
    found = Sampling(step=0.1, each=20)
    # A burst of 8 every 40 ms, of which a step has two or three.
    samples = 8.0 * (np.arange(2001) * 5 // 40)
    assert found.rate(samples, 0.04)[2:].tolist() == pytest.approx([200] * 99)
    assert set(np.round(found.rate(samples, 0)[2:])) == {160, 240}


def test_a_rate_of_what_has_just_begun_is_of_the_time_since_then() -> None:
    found = Sampling(step=0.1, each=10)
    samples = np.concatenate([np.full(26, np.nan), np.arange(15) * 2.0])
    assert found.rate(samples, 0.04).tolist() == pytest.approx([np.nan, np.nan, np.nan, 200, 200], nan_ok=True)
    assert np.isnan(found.rate(np.full(21, np.nan), 0.04)).all()
