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
hint: `sawtooth list study` shows complete ones that come along""",
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
hint: `sawtooth list study` shows complete ones that come along""",
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
  |          ^^^^^^^^^^^^^^
hint: write `tcp` as a table in the scenario, or name what is there""",
    ),
    "a value of a list on the command line": (
        f'{STUDY}[sweep]\n"vars.N" = [1, 2]\n',
        ('vars.N=[1,"q"]',),
        """\
error: unknown variable `q`
 --> --set:1:8
  |
1 | vars.N=[1,"q"]
  |        ^^^^^^^
hint: did you mean `N`?""",
    ),
    "a text in quotes on the command line": (
        STUDY,
        ('vars.N="1 + q"',),
        """\
error: unknown variable `q`
 --> --set:1:13
  |
1 | vars.N="1 + q"
  |             ^
hint: did you mean `N`?""",
    ),
    "a text without quotes on the command line": (
        STUDY,
        ("vars.N=1 + q",),
        """\
error: unknown variable `q`
 --> --set:1:12
  |
1 | vars.N=1 + q
  |            ^
hint: did you mean `N`?""",
    ),
    "a text as TOML has it on the command line": (
        STUDY,
        ("vars.N='1 + q'",),
        """\
error: unknown variable `q`
 --> --set:1:13
  |
1 | vars.N='1 + q'
  |             ^
hint: did you mean `N`?""",
    ),
    "a text with an escape": (
        STUDY.replace("N = 1", 'N = "1 \\u002B q"'),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:2:14
  |
2 | vars = { N = "1 \\u002B q" }
  |              ^^^^^^^^^^^^
hint: did you mean `N`?""",
    ),
    "a text in three quotes": (
        STUDY.replace("N = 1", "N = '''1 + q'''"),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:2:21
  |
2 | vars = { N = '''1 + q''' }
  |                     ^
hint: did you mean `N`?""",
    ),
    "a text over several lines": (
        STUDY.replace("vars = { N = 1 }", 'vars.N = """\n1\n+ q"""'),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:2:10
  |
2 | vars.N = \"\"\"
  |          ^^^
hint: did you mean `N`?""",
    ),
    "behind what ends lines elsewhere": (
        "# one line: \u2028 \x85\n" + STUDY.replace("N = 1", 'N = "q"'),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:3:15
  |
3 | vars = { N = "q" }
  |               ^
hint: did you mean `N`?""",
    ),
    "behind letters of two columns": (
        STUDY.replace("vars = { N = 1 }", 'vars = { "漢字" = 1, N = "q" }'),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:2:25
  |
2 | vars = { "漢字" = 1, N = "q" }
  |                           ^
hint: did you mean `N`?""",
    ),
    "in lines as other systems end them": (
        STUDY.replace("N = 1", 'N = "q"').replace("\n", "\r\n"),
        (),
        """\
error: unknown variable `q`
 --> pair.toml:2:15
  |
2 | vars = { N = "q" }
  |               ^
hint: did you mean `N`?""",
    ),
    "behind the end": (
        f"{STUDY}x = {{\n",
        (),
        """\
error: unclosed inline table, expected `}`
 --> pair.toml:7:6
  |
7 | x = {
  |      ^
hint: add } for the { of line 7""",
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


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("flows.mine.cc", "write `flows[0].cc`: `flows` is a list, and its items go by their numbers"),
        ("flows.0.cc", "write `flows[0].cc`: `flows` is a list, and its items go by their numbers"),
        ("flows.mine", "write `flows[0]`: `flows` is a list, and its items go by their numbers"),
        ("flows.1.cc", "`flows` is a list, whose items have numbers: `flows[0]`"),
        ("flows.cc", "`flows` is a list, whose items have numbers: `flows[0]`"),
    ],
)
def test_what_is_set_of_a_list_is_set_by_numbers(path: str, hint: str) -> None:
    text = STUDY.replace("flows = [{", "flows = [{ name = 'mine',")
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(f'{text}[arms]\nother = {{ "{path}" = "cubic" }}\n', Path("pair.toml")))
    assert str(raised.value).splitlines()[-1] == f"hint: {hint}"


# What `changes` of a link and a table of draws hold, and where they are wrong.
TABLES = {
    "a cell whose text is in another one": ("at,rate\n15,5 ms\n", "t.csv:2:4", "5 ms"),
    "a cell behind quotes": ('at,rate\n"15","5 ms"\n', "t.csv:2:6", '"5 ms"'),
    "a cell behind blanks": ("at , rate\n 1 ,  5 ms \n", "t.csv:2:7", "5 ms"),
    "a cell behind letters of other alphabets": ("# 漢字\n\nat,delay,rate\n1,,Grüße\n", "t.csv:4:4", "Grüße"),
    "behind what ends lines elsewhere": ("at,rate\n# \u2028\n1,x\n", "t.csv:3:3", "x"),
    "a line of which all is wrong": ("at,rate\n1,2,3\n", "t.csv:2:1", "1,2,3"),
}


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.replace(" ", "_"))
def test_the_place_in_a_table_of_changes_is_told(case: str, tmp_path: Path) -> None:
    text, place, blamed = TABLES[case]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    study = STUDY.replace('delay = "5 ms"', 'delay = "5 ms", changes = { file = "t.csv" }')
    _blames(study, tmp_path, place, blamed)


DRAWN = {
    "a cell whose text is in another one": ("cell,s\n1,x1\n", "t.csv:2:3", "x1"),
    "a cell behind quotes": ('name,cell,s\n"a,b",1,x\n', "t.csv:2:9", "x"),
    "a cell behind a quote in a cell": ('name,cell,s\n5",1,x\n', "t.csv:2:6", "x"),
    "behind what ends lines elsewhere": ("cell,s,name\n1,x,a\u2028b\n", "t.csv:2:3", "x"),
}


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.replace(" ", "_"))
def test_the_place_in_a_table_of_draws_is_told(case: str, tmp_path: Path) -> None:
    text, place, blamed = DRAWN[case]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    draw = '{ distribution = "table", file = "t.csv", row = "cell", column = "s", unit = "" }'
    _blames(f"{STUDY.replace('repeat = 2', 'repeat = 1')}[draws]\nD = {draw}\n", tmp_path, place, blamed)


def _blames(study: str, directory: Path, place: str, blamed: str) -> None:
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(study, directory / "pair.toml"))
    told = str(raised.value).splitlines()
    assert told[1].strip() == f"--> {directory / place}"
    line = (directory / "t.csv").read_text(encoding="utf-8").split("\n")[int(place.split(":")[1]) - 1]
    column = int(place.split(":")[2])
    assert line[column - 1 :].startswith(blamed)
    assert told[4].count("^") == len(blamed)
