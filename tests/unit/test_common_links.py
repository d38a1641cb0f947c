"""Fairness is of flows that links bring together: of others reports have no section of it, and say what an index of it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import Study
from sawtooth.report import generic
from sawtooth.report.common_links import apart
from sawtooth.results.dataset import Dataset

STUDY = """
repeat = 2
[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "5 ms" }
links.m = { rate = "20 Mbit/s", delay = "5 ms" }
flows = [FLOWS]
"""
APART = '{ name = "a", path = ["l"], start = "draw * 1 ms" }, { name = "b", path = ["m"] }'
DRAWS = '[draws]\ndraw = { distribution = "uniform", low = "0", high = "100" }\n'
ASKED = """
[[findings]]
claim = "They share"
metric = "jain"
is = "above"
than = 0.9
[[figures]]
name = "j"
metric = "jain"
"""
SAID = "a and b share no link: this compares what their links carry, and no fairness between them."


def made(folder: Path, flows: str, more: str = "") -> Dataset:
    (folder / "s.toml").write_text(STUDY.replace("FLOWS", flows) + more)
    return sawtooth.run(Study.load(folder / "s.toml"), out=folder / "out", jobs=1)


@pytest.mark.parametrize(
    ("flows", "pair"),
    [
        (APART, ("a", "b")),
        ('{ path = ["l"] }, { path = ["l", "m"] }', None),
        # A chain: the ends meet in the middle.
        ('{ path = ["l"] }, { path = ["m"] }, { path = ["l", "m"] }', None),
        ('{ path = ["l"] }, { path = ["m"] }', ("flow1", "flow2")),
        ('{ path = ["l"], count = 3, name = "f" }', None),
        (
            '{ path = ["l"] }, { path = ["m"], transport = "udp", source = { name = "constant_rate", rate = "1 Mbit/s", size = "200 B" } }',
            None,
        ),
    ],
)
def test_flows_are_apart_that_no_link_brings_together(flows: str, pair: tuple[str, str] | None, tmp_path: Path) -> None:
    dataset = made(tmp_path, flows, DRAWS)
    assert apart(dataset) == pair
    several = (flows.count("path") > 1 and "udp" not in flows) or "count" in flows
    assert any(section.title == "Fairness" for section in generic.build(dataset, drawn=False).sections) is (several and pair is None)


def test_each_with_a_link_of_its_own_is_apart(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        STUDY.replace("FLOWS", '{ path = ["n[i]"], count = 3, name = "f" }').replace(
            "flows =", 'links.n = { rate = "1 Mbit/s", count = 3 }\nflows ='
        )
    )
    assert apart(sawtooth.run(tmp_path / "s.toml", tmp_path / "out")) == ("f[1]", "f[2]")


def test_who_asks_for_the_fairness_of_flows_that_are_apart_is_told(tmp_path: Path) -> None:
    (section, *_) = generic.build(made(tmp_path, APART, DRAWS + ASKED)).sections
    assert [verdict.caveat for verdict in section.verdicts] == [SAID]
    assert SAID in section.plots[0].caption


def test_paths_that_an_arm_changes_are_not_judged(tmp_path: Path) -> None:
    arms = '[arms]\none = {}\nother = { "flows[1].path" = ["l"] }\n'
    assert apart(made(tmp_path, APART, DRAWS + arms)) is None
