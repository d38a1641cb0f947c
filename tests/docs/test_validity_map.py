"""The page of the validity map is what its table says, and the table what the scenarios are."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from sawtooth.fidelity.compared import FIXED, FRESH, TABLE, TRAIN, Compared, read
from sawtooth.plots import style
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/linux"))

import validity
import validity_page

import fuzz

FOLDER = ROOT / "docs/validation"


@pytest.fixture(scope="module")
def rows() -> Sequence[Compared]:
    return read(TABLE)


def test_the_page_and_its_figure_say_what_the_table_has(rows: Sequence[Compared]) -> None:
    assert FOLDER.joinpath("map.md").read_text(encoding="utf-8") == validity_page.page(rows)
    assert FOLDER.joinpath("map.svg").read_text(encoding="utf-8") == style.svg(validity_page.figure(rows))


def test_random_scenarios_are_where_their_numbers_draw_them(rows: Sequence[Compared]) -> None:
    drawn = [each for each in rows if each.set != FIXED]
    assert len(drawn) >= 68
    assert len({(each.set, each.scenario) for each in drawn}) == len(drawn)
    for each in drawn:
        (place,) = validity.situations(fuzz.drawn(each.set, int(each.scenario)))
        assert (place.algorithm, place.marks, place.slow_acks, place.flows, place.ends) == (
            each.situation.algorithm, each.situation.marks, each.situation.slow_acks, each.situation.flows, each.situation.ends,
        )  # fmt: skip
        for name in ("rate_bps", "rtt_s", "buffer_bdp", "loss"):
            assert getattr(each.situation, name) == pytest.approx(getattr(place, name), rel=1e-5)
        assert each.kind in fuzz.KINDS


def test_fixed_scenarios_are_those_of_the_page_beside_linux(rows: Sequence[Compared]) -> None:
    table = {(each.situation.algorithm, each.scenario): each for each in rows if each.set == FIXED}
    now = validity.fixed()
    assert [(each.situation.algorithm, each.scenario) for each in now] == list(table)
    for each in now:
        there = table[each.situation.algorithm, each.scenario]
        for now_is, was in ((each.apart, there.apart), (each.itself, there.itself)):
            assert {name for name, value in was.items() if value is None} == {name for name, value in now_is.items() if value is None}
            assert [value for value in was.values() if value is not None] == pytest.approx(
                [value for value in now_is.values() if value is not None], rel=1e-5
            )


def test_the_page_of_packets_and_the_map_have_the_same_kinds(rows: Sequence[Compared]) -> None:
    said = FOLDER.joinpath("linux-packets.md").read_text(encoding="utf-8")
    of = TRAIN if f'of the set "{TRAIN}"' in said else FRESH
    for name in fuzz.DETERMINISTIC + fuzz.OTHERS:
        own = [each.kind for each in rows if each.set == of and each.situation.algorithm == name]
        counts = [str(own.count(kind) or "") for kind in fuzz.KINDS]
        assert f"\n| {name} | {len(own)} | {' | '.join(counts)} |\n" in said


def side(goodput: float, done: int | None, sent: int, again: int, windows: Sequence[tuple[int, float]]) -> fuzz.Side:
    packets = [fuzz.Packet(at, at, 1) for at in range(sent - again)] + [fuzz.Packet(at, 0, 1) for at in range(again)]
    series = pl.DataFrame(
        {"flow": "f", "t_ns": [time for time, _ in windows], "cwnd_bytes": [window for _, window in windows], "srtt_ns": 100_000}
    )
    flows = pl.DataFrame(
        {
            "flow": ["f"],
            "start_ns": [0],
            "delivered_bytes": [1000],
            "goodput_bps": [goodput],
            "completion_ns": pl.Series([done], dtype=pl.Int64),
        }
    )
    return fuzz.Side({"f": packets}, series, flows, 1000)


def test_how_far_sides_are_apart_is_a_share_of_the_first() -> None:
    one = side(8.0, None, 100, 10, [(0, 10.0), (500, 30.0)])
    other = side(9.0, None, 90, 5, [(0, 10.0), (900, 30.0)])
    found = validity.apart(one, other)
    assert found == pytest.approx({"goodput": 0.125, "packets": -0.1, "retransmits": -0.5, "rtt": 0.0, "cwnd": 12 / 20 - 1})
    # Nothing sent again on one side: as a share of one.
    assert validity.apart(side(8.0, None, 10, 0, [(0, 1.0)]), side(8.0, None, 12, 2, [(0, 1.0)]))["retransmits"] == 2
    # What both ended is held against each other while it lasted; what one ended over the run.
    assert validity.apart(side(8.0, 100, 9, 0, [(0, 1.0)]), side(8.0, 200, 9, 0, [(0, 1.0)]))["goodput"] == -0.5
    assert validity.apart(side(8.0, 100, 9, 0, [(0, 1.0)]), side(6.0, None, 9, 0, [(0, 1.0)]))["goodput"] == -0.25


def test_a_window_counts_as_long_as_it_lasts() -> None:
    assert validity.over_time(np.array([10, 20]), np.array([1.0, 4.0]), 40) == pytest.approx(3)
    assert validity.over_time(np.array([]), np.array([]), 40) is None
