"""Levels, arms and options that reach nothing are said, with their place; those that reach something are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.plan import make_plan
from sawtooth.study import Study

HEAD = """\
[vars]
N = 2
T = "1 s"
[draws]
S = { distribution = "uniform", low = "0 s", high = "T" }
[scenario]
duration = "2 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], cc = "cubic", start = "S" }]
"""


def warned(text: str, options: tuple[str, ...] = ()) -> list[str]:
    plan = make_plan(Study.parse(HEAD + text, Path("s.toml"), options=options))
    return [str(warning) for warning in plan.warnings]


def test_levels_that_make_no_difference_are_said_at_their_axis() -> None:
    assert warned('[sweep]\ncc = ["reno", "bbr"]\n') == [
        """\
warning: the levels of `cc` make no difference: runs will be the same but for their random numbers
  --> s.toml:11:1
   |
11 | cc = ["reno", "bbr"]
   | ^^
hint: each flow has its own `cc`: set `flows[*].cc`, or leave theirs out"""
    ]
    (found,) = warned('[sweep]\n"vars.N" = [1, 2]\n')
    assert found.endswith("hint: no value uses `N`: write it where it is meant, or leave it out")


def test_a_level_that_is_as_another_is_said_at_its_place() -> None:
    assert warned('[sweep]\n"links.l.delay" = ["10 ms", "20 ms", "T / 100"]\n') == [
        """\
warning: this level makes no difference to the one at s.toml:11:20: their runs will be the same but for their random numbers
  --> s.toml:11:38
   |
11 | "links.l.delay" = ["10 ms", "20 ms", "T / 100"]
   |                                      ^^^^^^^^^
hint: something nearer to a flow or a link has the last word, or it is so by default; leave it out if that is meant"""
    ]


def test_arms_that_are_the_same_are_said_at_the_later_one() -> None:
    assert warned('[arms]\na = { "tcp.recovery" = "newreno" }\nc = { "tcp.smss" = "900 B" }\nb = { "tcp.recovery" = "newreno" }\n') == [
        """\
warning: the arm `b` makes no difference to `a` at s.toml:11:1: their runs will be the same
  --> s.toml:13:1
   |
13 | b = { "tcp.recovery" = "newreno" }
   | ^
hint: something nearer to a flow or a link has the last word, or it is so by default; leave it out if that is meant"""
    ]
    assert "each flow has its own `cc`" in warned('[arms]\na = {}\nb = { cc = "bbr" }\n')[0]


def test_naming_the_same_congestion_control_elsewhere_makes_no_difference() -> None:
    text = '[arms]\na = { "tcp.recovery" = "sack" }\nb = { "flows[0].cc" = "reno", "tcp.recovery" = "sack" }\n'
    plan = make_plan(
        Study.parse((HEAD + text).replace(', cc = "cubic"', "").replace("[scenario]", '[scenario]\ncc = "reno"'), Path("s.toml"))
    )
    (found,) = map(str, plan.warnings)
    assert found.startswith("warning: the arm `b` makes no difference to `a` at s.toml:12:1: their runs will be the same")


def test_an_arm_that_reaches_nothing_is_said_unless_it_says_what_is_so_by_default() -> None:
    (found,) = warned('[arms]\na = { "tcp.recovery" = "newreno" }\nb = { cc = "bbr" }\n')
    assert found.startswith("warning: the arm `b` makes no difference: its runs are the same without what it sets\n  --> s.toml:12:1")
    assert found.endswith("hint: each flow has its own `cc`: set `flows[*].cc`, or leave theirs out")
    assert not warned('[arms]\na = { "links.l.loss" = 0.0 }\nb = { "tcp.recovery" = "newreno" }\n')


def test_an_option_that_reaches_nothing_is_said() -> None:
    arms = '[arms]\na = { "tcp.recovery" = "newreno" }\nb = { "tcp.recovery" = "sack" }\n'
    (found,) = warned(arms, ("tcp.recovery=tahoe",))
    assert found.startswith("warning: `tcp.recovery` makes no difference: every run sets it once more at s.toml:11:7\n --> --set:1:14")
    (found,) = warned(arms, ("cc=bbr",))
    assert found.startswith('warning: `cc` = "bbr" makes no difference: runs are the same without it\n --> --set:1:4')
    assert not warned(arms.replace("b = {", "b = {}#"), ("tcp.recovery=tahoe",)), "one arm does not set it"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        pytest.param('[sweep]\n"vars.T" = ["0.5 s", "1 s"]\n', (), id="a variable that only draws use"),
        pytest.param('[sweep]\n"flows[*].cc" = ["reno", "cubic"]\n"tcp.recovery" = ["sack", "rack"]\n[arms]\na = {}\nb = { "tcp.smss" = "900 B" }\n', (), id="all reach"),
        pytest.param('[sweep]\n"links.l.queue" = ["drop_tail", "codel"]\n"links.l.queue.limit" = ["9 packets", "5 packets"]\n', ("vars.T=2 s", "duration=3 s"), id="options reach"),
    ],
)  # fmt: skip
def test_what_reaches_something_is_not_said(text: str, options: tuple[str, ...]) -> None:
    assert not warned(text, options)


def test_what_is_alike_in_the_first_cell_only_is_not_said() -> None:
    text = '[sweep]\n"vars.T" = ["1 s", "0.5 s"]\n"links.l.delay" = ["T / 100", "10 ms"]\n'
    assert not warned(text)
    assert warned(text.replace('"1 s", "0.5 s"', '"1 s"')), "these are the same everywhere"
