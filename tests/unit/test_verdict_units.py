"""Differences that verdicts tell have their unit, as what they are differences of has."""

from __future__ import annotations

import re

import pytest

import sawtooth
from sawtooth import Dataset, Study
from sawtooth.plots.forest import forest
from sawtooth.report import closing
from sawtooth.stats.interval import signed

STUDY = """
name = "s"
repeat = 3
[draws]
S = { distribution = "uniform", low = "0 ms", high = "500 ms" }
[scenario]
duration = "5 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], start = "S" }, { path = ["l"] }]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("units")
    (folder / "s.toml").write_text(STUDY)
    return sawtooth.run(Study.load(folder / "s.toml"), out=folder / "out", jobs=1)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"than": "3 Mbit/s"}, "from 3 Mbit/s it is"),
        ({"than": {"arm": "cubic"}}, "difference"),
        ({"than": {"arm": "cubic", "times": 2}}, "less 2 times that"),
        ({"than": "3 Mbit/s", "is_": "within", "margin": "5 %"}, "from 3 Mbit/s it is"),
    ],
)
def test_a_difference_has_the_unit_of_both_sides(results: Dataset, keys: dict[str, object], what: str) -> None:
    text = results.finding(**{"claim": "c", "metric": "total_goodput_bps", "arm": "reno", "is_": "above", **keys}).numbers  # type: ignore[arg-type]
    end = r"[+-][\d.e+]+"
    assert re.search(rf"{what} {end} Mbit/s \({end} to {end} Mbit/s, 95% ", text), text


def test_a_plain_number_has_none(results: Dataset) -> None:
    text = results.finding(claim="c", metric="total_goodput_bps / 1 Mbit/s", arm="reno", is_="above", than=0.5).numbers
    assert re.search(r"it is [+-][\d.]+ \([+-][\d.]+ to [+-][\d.]+, ", text), text


@pytest.mark.parametrize(
    ("value", "told"),
    [(2345.6, "+2,346"), (-61250.0, "-61,250"), (12.345, "+12.3"), (-0.00123, "-0.00123"), (3.2e11, "+3.2e+11"), (0.0, "+0")],
)
def test_a_difference_is_written_as_people_read_it(value: float, told: str) -> None:
    assert signed(value) == told


def test_a_difference_of_medians_is_said_to_be_the_median_of_the_differences(results: Dataset) -> None:
    found = results.finding(claim="c", metric="total_goodput_bps", arm="reno", is_="above", than={"arm": "cubic"}, statistic="median")
    assert "median of the pairs' differences" in found.numbers


def test_all_numbers_of_a_finding_are_told_in_one_unit(results: Dataset) -> None:
    # Some kbit/s of several Mbit/s.
    found = results.finding(claim="c", metric="total_goodput_bps", arm="reno", is_="within", margin="0.0001 %", than={"arm": "cubic"})
    texts = [text.get_text() for axis in forest([found]).axes for text in axis.texts]
    told = [found.numbers, closing.number(found), *(each.doubt for each in found.evidence), *texts]
    assert {unit for text in told for unit in re.findall(r"[kMG]?bit/s", text)} == {"Mbit/s"}
    assert abs(found.evidence[0].interval.estimate) < 1e6  # type: ignore[union-attr]
    facts = found.facts()["evidence"][0]["interval"]
    assert (facts["unit"], facts["read_in"]) == ("bit/s", {"unit": "Mbit/s", "divisor": 1e6})


def test_the_unit_that_a_finding_names_is_that_of_all_its_numbers(results: Dataset) -> None:
    found = results.finding(claim="c", metric="total_goodput_bps", arm="reno", is_="above", than={"arm": "cubic"}, unit="kbit/s")
    assert " kbit/s" in closing.number(found) and "Mbit/s" not in found.numbers
