"""Ticks are round, few, and reach around all values, and names of levels leave their common unit to the axis."""

import math

import pytest

from sawtooth.plots.ticks import label, of_levels, of_values


@pytest.mark.parametrize(
    ("values", "scale", "names"),
    [
        ([14.3, 19.2], "linear", "14 15 16 17 18 19 20"),
        ([0.0, 1.0], "linear", "0.0 0.2 0.4 0.6 0.8 1.0 1.2"),
        ([93.9647744, 93.96477440000001], "linear", "0 20 40 60 80 100"),
        ([-7.0, -7.0], "linear", "-8 -7 -6 -5 -4 -3 -2 -1 0"),
        ([-3.0, 7.0], "linear", "-4 -2 0 2 4 6 8"),
        ([31.0, 76.0], "log", "30 40 50 60 70 80"),
        ([0.001, 3000.0], "log", "0.001 0.01 0.1 1 10 100 1,000"),
        ([50.0, 52.0], "log", "46 48 50 52 54 56"),
    ],
)
def test_ticks_are_round_numbers(values: list[float], scale: str, names: str) -> None:
    assert " ".join(of_values(values, scale).names) == names


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("values", [[5.0], [1e-12, 1e12], [3.0, 3.0000001], [1.0, 10.0], [2e15, 3e15], [99.0, 101.0]])
def test_every_axis_has_ticks_and_room_for_its_values(values: list[float], scale: str) -> None:
    found = of_values(values, scale)
    assert 2 <= len(found.places) <= 9 and len(set(found.names)) == len(found.places)
    assert found.low < found.high and found.low <= found.places[0] and found.places[-1] <= found.high
    assert all(found.low <= value <= found.high for value in values if value > 0)


@pytest.mark.parametrize(("values", "scale"), [([], "linear"), ([math.nan], "log"), ([0.0, -1.0], "log")])
def test_an_axis_of_nothing_has_no_ticks(values: list[float], scale: str) -> None:
    found = of_values(values, scale)
    assert (found.places, found.names, found.broken) == ([], [], False) and 0 <= found.low < found.high


def test_nothing_but_zeros_has_no_fine_ticks() -> None:
    assert of_values([0.0, 0.0], "linear").names == ["0", "1"]


@pytest.mark.parametrize(
    ("values", "scale", "names"),
    [
        ([1.0, 1.0], "log", "1 2"),
        ([1.0, 2.0], "linear", "0 1 2 3"),
        ([0.0], "linear", "0 1"),
        ([0.0, 7.4], "linear", "0 1 2 3 4 5 6 7 8"),
        ([40.0, 45.0], "log", "38 40 42 44 46 48"),
        ([0.25, 0.5], "linear", "0.0 0.1 0.2 0.3 0.4 0.5 0.6"),
        ([2000.0, 9000.0], "linear", "0 2,000 4,000 6,000 8,000 10,000"),
    ],
)
def test_counts_have_whole_ticks_unless_means_of_them_differ_by_less(values: list[float], scale: str, names: str) -> None:
    assert " ".join(of_values(values, scale, counts=True).names) == names


def test_an_axis_is_broken_that_does_not_reach_0() -> None:
    assert [of_values(values, "linear").broken for values in ([90.0, 100.0], [-100.0, -90.0], [10.0, 100.0], [-1.0, 1.0])] == [
        True,
        True,
        False,
        False,
    ]
    assert not of_values([90.0, 100.0], "log").broken


def test_levels_of_one_unit_leave_it_to_the_axis() -> None:
    assert (
        of_levels(["10 ms", "20 ms"]) == (["10", "20"], "ms")
        and label("delay", "ms") == "delay (ms)"
        and label("a (b)", "ms") == "a (b, ms)"
    )
    assert of_levels(["10 ms", "2 s"]) == (["10 ms", "2 s"], "") and label("delay", "") == "delay"
