"""A level of a sweep that is there twice: its runs would be the same, and would count as more evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
vars = { N = 1, T = "1 s" }
[scenario]
duration = "T"
links.l = { rate = "10 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], count = "N" }, { path = ["l"] }]
"""

# What is below the scenario, options, and what is told.
CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "a level": (
        '[sweep]\n"links.l.queue.limit" = ["1 bdp", "2 bdp", "1 bdp"]\n',
        (),
        """\
error: this level is there already, at pair.toml:7:26: its runs would be made twice
 --> pair.toml:7:44
  |
7 | "links.l.queue.limit" = ["1 bdp", "2 bdp", "1 bdp"]
  |                                            ^^^^^^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a level in another unit": (
        '[sweep]\n"vars.T" = ["1 s", "1000 ms"]\n',
        (),
        """\
error: this level is there already, at pair.toml:7:13: its runs would be made twice
 --> pair.toml:7:20
  |
7 | "vars.T" = ["1 s", "1000 ms"]
  |                    ^^^^^^^^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a level of all flows": (
        '[sweep]\n"flows[*].cc" = [{ name = "reno" }, "cubic", { name = "reno" }]\n',
        (),
        """\
error: this level is there already, at pair.toml:7:18: its runs would be made twice
 --> pair.toml:7:46
  |
7 | "flows[*].cc" = [{ name = "reno" }, "cubic", { name = "reno" }]
  |                                              ^^^^^^^^^^^^^^^^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a row of a zip": (
        '[[sweep]]\nzip = { "vars.N" = [1, 2, 1], "vars.T" = ["1 s", "1 s", "1 s"] }\n',
        (),
        """\
error: this level is there already, at pair.toml:7:21: its runs would be made twice
 --> pair.toml:7:27
  |
7 | zip = { "vars.N" = [1, 2, 1], "vars.T" = ["1 s", "1 s", "1 s"] }
  |                           ^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a case in another order": (
        '[[sweep]]\ncases = [{ "vars.N" = 1, "vars.T" = "1 s" }, { "vars.T" = "1 s", "vars.N" = 1.0 }]\n',
        (),
        """\
error: this level is there already, at pair.toml:7:10: its runs would be made twice
 --> pair.toml:7:46
  |
7 | cases = [{ "vars.N" = 1, "vars.T" = "1 s" }, { "vars.T" = "1 s", "vars.N" = 1.0 }]
  |                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a level of one of several grids": (
        '[[sweep]]\ngrids = [{ "vars.N" = [1, 2] }, { "vars.N" = [3, 3] }]\n',
        (),
        """\
error: this level is there already, at pair.toml:7:47: its runs would be made twice
 --> pair.toml:7:50
  |
7 | grids = [{ "vars.N" = [1, 2] }, { "vars.N" = [3, 3] }]
  |                                                  ^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a case that sets nothing": (
        "[[sweep]]\ncases = [{}, {}]\n",
        (),
        """\
error: this level is there already, at pair.toml:7:10: its runs would be made twice
 --> pair.toml:7:14
  |
7 | cases = [{}, {}]
  |              ^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
    "a level on the command line": (
        '[sweep]\n"vars.N" = [1, 2]\n',
        ("vars.N=[3,3]",),
        """\
error: this level is there already, at --set:1:8: its runs would be made twice
 --> --set:1:8
  |
1 | vars.N=[3,3]
  |        ^^^^^
hint: leave one of the two out; `repeat` makes more replicates of each""",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_what_would_be_made_twice_is_refused(case: str) -> None:
    below, options, expected = CASES[case]
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(f"{STUDY}{below}", Path("pair.toml"), options=options))
    assert str(raised.value) == expected


@pytest.mark.parametrize(
    ("below", "cells"),
    [
        # Each row is another, though each axis has a value twice.
        ('[[sweep]]\nzip = { "vars.N" = [1, 1, 2], "vars.T" = ["1 s", "2 s", "2 s"] }\n', 3),
        # What an earlier grid has is not repeated.
        ('[[sweep]]\ngrids = [{ "vars.N" = [1, 2] }, { "vars.N" = [2, 3] }]\n', 3),
        # A truth is no number, and a name is no other name.
        ('[sweep]\n"flows[*].cc" = ["reno", "cubic"]\n"tcp.timestamps" = [true, false]\n', 4),
    ],
)
def test_what_is_only_alike_is_no_repetition(below: str, cells: int) -> None:
    assert len(make_plan(Study.parse(f"{STUDY}{below}", Path("pair.toml"))).cells) == cells
