"""Mistakes whose place was not told, or not found: what is missing, names of variables, and values of lists on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
repeat = 2
vars = { N = 1 }
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"], count = "N" }]
"""
DRAW = '{ distribution = "uniform", low = 0, high = 10 }'

# The study, options, and what is told.
CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "no scenario": (
        "repeat = 2\n",
        (),
        """\
error: a study needs a [scenario]
 --> pair.toml:1:1
  |
1 | repeat = 2
  | ^
hint: see docs/start/first-study.md for a complete one""",
    ),
    "nothing at all": (
        "",
        (),
        """\
error: a study needs a [scenario]
 --> pair.toml:1:1
  |
1 |\x20
  | ^
hint: see docs/start/first-study.md for a complete one""",
    ),
    "a draw that cannot be a variable": (
        f'{STUDY}[draws]\n"a[0]" = {DRAW}\n',
        (),
        """\
error: `a[0]` cannot be the name of a variable
 --> pair.toml:8:1
  |
8 | "a[0]" = { distribution = "uniform", low = 0, high = 10 }
  | ^^^^^^
hint: use letters, digits and _; i and count are the counters of repeated items""",
    ),
    "a draw with a dot": (
        f'{STUDY}[draws]\nb = {DRAW}\n"a.b" = {DRAW}\n',
        (),
        """\
error: `a.b` cannot be the name of a variable
 --> pair.toml:9:1
  |
9 | "a.b" = { distribution = "uniform", low = 0, high = 10 }
  | ^^^^^
hint: use letters, digits and _; i and count are the counters of repeated items""",
    ),
    "a variable with a dot": (
        STUDY.replace("N = 1", 'N = 1, "a.b" = 2'),
        (),
        """\
error: `a.b` cannot be the name of a variable
 --> pair.toml:2:17
  |
2 | vars = { N = 1, "a.b" = 2 }
  |                 ^^^^^
hint: use letters, digits and _; i and count are the counters of repeated items""",
    ),
    "a variable of the scenario with a dot": (
        STUDY.replace("[scenario]\n", '[scenario]\nvars = { "a.b" = 2 }\n'),
        (),
        """\
error: `a.b` cannot be the name of a variable
 --> pair.toml:4:10
  |
4 | vars = { "a.b" = 2 }
  |          ^^^^^
hint: use letters, digits and _; i and count are the counters of repeated items""",
    ),
    "what is set below what is no table": (
        STUDY.replace("[scenario]\n", "[scenario]\ntcp = true\n") + '[arms]\nsack = { "tcp.recovery" = "sack" }\n',
        (),
        """\
error: `tcp.recovery` does not exist: `tcp` is true, not a table, at pair.toml:4:7
 --> pair.toml:9:10
  |
9 | sack = { "tcp.recovery" = "sack" }
  |          ^^^^^^^^^^^^^^""",
    ),
    "a value of a list on the command line": (
        f'{STUDY}[sweep]\n"vars.N" = [1, 2]\n',
        ('vars.N=[1,"q"]',),
        """\
error: unknown variable `q`
 --> --set:1:8
  |
1 | vars.N=[1,"q"]
  |        ^
hint: did you mean `N`?""",
    ),
    "a list in a list on the command line": (
        f'{STUDY}[sweep]\n"vars.N" = [1, 2]\n',
        ("vars.N=[[1],2]",),
        """\
error: `N` is a list of 1; say which, as in `N[1]`
 --> pair.toml:6:35
  |
6 | flows = [{ path = ["l"], count = "N" }]
  |                                   ^
hint: `N` is [1] here, from --set:1:8""",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_the_place_is_told(case: str) -> None:
    text, options, expected = CASES[case]
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(text, Path("pair.toml"), options=options))
    assert str(raised.value) == expected
