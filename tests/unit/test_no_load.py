"""A load of no flows: the level without load of figures and findings, as a factor or as an arm."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import StudyError
from sawtooth.report.answers import Answers

STUDY = """
repeat = 2
[scenario]
duration = "3 s"
stack = "linux"
vars.N = 1
links.line = { rate = "20 Mbit/s", delay = "15 ms", queue = { name = "drop_tail", limit = "200 kB" } }
[[scenario.flows]]
name = "call"
transport = "udp"
path = ["line"]
source = { name = "constant_rate", rate = "2 Mbit/s", size = "1200 B" }
[[scenario.flows]]
name = "upload"
count = "N"
path = ["line"]
start = "100 ms / N"
"""
SWEPT = """
[sweep]
"vars.N" = [0, 1, 4]
[[figures]]
name = "load"
kind = "latency_under_load"
metric = "datagrams.delay_ns"
percentiles = [50, 95]
of = "call"
x = "N"
base = "0"
[[figures]]
name = "goodput"
metric = "goodput_bps"
of = "upload"
flows = "sum"
x = "N"
"""
ARMS = """
[arms]
upload = {}
idle = { "flows[1].count" = 0 }
[[findings]]
claim = "An upload adds 20 ms"
metric = "p95(datagrams.delay_ns) - arms.idle.p95(datagrams.delay_ns)"
of = "call"
arm = "upload"
is = "above"
than = "20 ms"
"""


def test_a_factor_may_have_a_level_without_load(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + SWEPT)
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    load, goodput = Answers(dataset).plots()[0]
    assert load.numbers is not None
    assert goodput.numbers is not None
    # 1,200 octets at 20 Mbit/s and 15 ms: nobody else is there.
    assert load.numbers.filter(N="0")["estimate"].to_list() == [15.48e6] * 2
    assert (load.numbers.filter(N="4")["added"] > 20e6).all()
    # What is not there has no goodput, not one of 0.
    assert goodput.numbers["N"].to_list() == ["1", "4"]


def test_an_arm_may_have_no_load(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + ARMS)
    (verdict,) = Answers(sawtooth.run(tmp_path / "s.toml", tmp_path / "out")).verdicts()
    assert verdict.answer == "yes"


def test_links_have_a_count_above_0(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.replace('delay = "15 ms"', 'delay = "15 ms", count = 0'))
    with pytest.raises(StudyError, match="a count must be a whole number from 1 to 10000000, found 0"):
        sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
