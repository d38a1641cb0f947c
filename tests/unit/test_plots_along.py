"""The names of levels on an axis: their unit is said once, some are left out where the others are read off, and numbers stand as far apart as they are."""

from __future__ import annotations

import pytest

from sawtooth.figures import data
from sawtooth.plots import shifts, standing
from sawtooth.plots.along import along

ONE = ([""], [""])
THREE = ([""], ["a", "b", "c"])
RATES = [f"{each} Mbit/s" for each in range(0, 1000, 50)]


def shown(levels: list[str], titles: tuple[list[str], list[str]] = ONE, *, valued: bool = True) -> tuple[str, list[str], list[float]]:
    held = along(titles, levels, valued=valued)
    held.name()
    held.label("factor", "y")
    axis = held.laid.axes[0]
    return axis.get_xlabel(), [text.get_text() for text in axis.get_xticklabels()], [float(at) for at in axis.get_xticks()]


def test_a_unit_that_all_levels_have_is_said_once() -> None:
    assert shown(["5 ms", "10 ms", "20 ms"])[:2] == ("factor (ms)", ["5", "10", "20"])
    assert shown(["500 B", "2 kB"])[:2] == ("factor", ["500 B", "2 kB"])
    assert shown(["5 ms"])[:2] == ("factor", ["5 ms"])
    assert shown(["0.5", "1"])[:2] == ("factor", ["0.5", "1"])
    assert shown(["4 packets", "unlimited"])[:2] == ("factor", ["4 packets", "unlimited"])
    held = along(ONE, ["5 ms", "10 ms"])
    held.label("delay (one way)", "y")
    assert held.laid.axes[0].get_xlabel() == "delay (one way, ms)"


def test_of_many_equal_steps_the_round_ones_are_named() -> None:
    _, names, places = shown(RATES)
    assert names == [str(each) for each in range(0, 1000, 100)]
    assert places == [float(each) for each in range(0, 20, 2)]
    # Three panels beside each other have less room, and are no wider than a page.
    _, names, _ = shown(RATES, THREE)
    assert names == ["0", "200", "400", "600", "800"]
    assert shown([str(each) for each in range(1, 25)], THREE)[1] == ["5", "10", "15", "20"]


def test_steps_that_are_not_equal_are_all_named() -> None:
    levels = [f"{4**each} kbit/s" for each in range(12)]
    assert len(shown(levels, THREE)[1]) == 12


@pytest.mark.parametrize(
    ("levels", "places"),
    [
        (["0.5", "0.6", "0.7", "0.8", "0.9", "0.95"], [0, 2, 4, 6, 8, 9]),
        (["1", "2", "4", "8", "16"], [0, 1, 2, 3, 4]),
        (["a", "b", "c", "d", "e"], [0, 1, 2, 3, 4]),
        (["5", "4", "3", "2", "1"], [0, 1, 2, 3, 4]),
    ],
)
def test_numbers_in_steps_that_are_much_alike_stand_as_far_apart_as_they_are(levels: list[str], places: list[float]) -> None:
    assert shown(levels)[2] == pytest.approx(places)
    assert shown(levels, valued=False)[2] == list(range(len(levels)))


def test_a_name_that_would_touch_the_one_before_is_left_out() -> None:
    rates = [f"{rate} Mbit/s" for rate in (*range(0, 1000, 100), 950)]
    _, names, places = shown(rates)
    assert names == [str(each) for each in range(0, 1000, 100)]
    assert places[-1] == 18.0
    assert along(ONE, rates, valued=True).places[-1] == 19.0


def test_levels_in_disorder_stand_by_size() -> None:
    """Several grids of a sweep give them so; what rises, falls or is no quantity stays."""
    ordered = data.in_order
    assert ordered(["100 packets", "25 packets", "400 packets"]) == ["25 packets", "100 packets", "400 packets"]
    assert ordered(["1 kB", "500 B", "2 kB"]) == ["500 B", "1 kB", "2 kB"]
    assert ordered(["0.8", "0.5", "0.95"]) == ["0.5", "0.8", "0.95"]
    for kept in (["3", "2", "1"], ["b", "a", "c"], ["2 ms", "1 kB", "3 ms"], ["5 ms", "none", "1 ms"]):
        assert ordered(kept) == kept


def test_verdicts_under_assumptions_are_a_row_each() -> None:
    counts = {"all": {"yes": 3, "no": 1}, "queue 1 B": {"yes": 2}, "queue 2 B": {"yes": 1, "no": 1}}
    few, many = (standing.bars({f"claim {at}": counts for at in range(number)}) for number in (1, 25))
    texts = [text.get_text() for text in many.axes[0].texts]
    assert sum(text.startswith("claim ") for text in texts) == 25
    assert [text for text in texts if "(" in text] == ["all (4)", "queue 1 B (2)", "queue 2 B (2)"]
    # No row is higher than its text and its bar need.
    assert (many.get_figheight() - few.get_figheight()) / 24 < 0.4


def test_curves_that_are_joined_stand_nearly_at_their_level() -> None:
    for curves in (1, 2, 5, 8, 40):
        places = [shifts.dodge(at, curves, joined=True) for at in range(curves)]
        apart = [shifts.dodge(at, curves) for at in range(curves)]
        assert sum(places) == pytest.approx(0) and places == sorted(places)
        assert max(map(abs, places)) <= max(map(abs, apart)) <= shifts.WIDEST / 2 + 1e-9
    assert abs(shifts.dodge(0, 2, joined=True)) < 0.02 < abs(shifts.dodge(0, 2))
