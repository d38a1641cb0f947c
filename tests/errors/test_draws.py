"""Mistakes in draws, sweeps and tables of draws: the exact text of each, and never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study
from tests.conftest import STUDY

SWEEP = '[sweep]\n"vars.Tp" = ["10 ms", "40 ms"]\n"vars.N" = [1, 2]'
DRAW = '{ distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms" }'
TABLE = '{ distribution = "table", file = "t.csv", row = "cell", column = "s{replicate}", unit = "ms" }'
STARTS = "cell,s1,s2\n1,5,6\n2,7,8\n3,9,10\n4,11,12\n"


def changed(*changes: tuple[str, str]) -> str:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


# The study, the file `t.csv` beside it, and what is told.
CASES: dict[str, tuple[str, str | bytes, str]] = {
    "a number for a sweep": (
        changed((SWEEP, ""), ("repeat = 2", "repeat = 2\nsweep = 5")),
        STARTS,
        """\
error: `sweep` is a table of axes, found 5
 --> pair.toml:4:9
  |
4 | sweep = 5
  |         ^
hint: for example [sweep] and below it "vars.N" = [1, 2]""",
    ),
    "a list for a distribution": (
        changed(('distribution = "uniform_integer"', "distribution = [1]")),
        STARTS,
        """\
error: unknown distribution `[1]`
  --> pair.toml:11:22
   |
11 | S = { distribution = [1], low = "0 ms", high = "12 * Tp", unit = "ms" }
   |                      ^^^
hint: there are uniform_integer, uniform, table""",
    ),
    "no distribution": (
        changed(('distribution = "uniform_integer", ', "")),
        STARTS,
        """\
error: `draws.S` lacks a distribution
  --> pair.toml:11:5
   |
11 | S = { low = "0 ms", high = "12 * Tp", unit = "ms" }
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: there are uniform_integer, uniform, table""",
    ),
    "an empty path of a sweep": (
        changed(('"vars.N" = [1, 2]', '"" = [1, 2]')),
        STARTS,
        """\
error: `` is no path into the scenario
  --> pair.toml:26:1
   |
26 | "" = [1, 2]
   | ^^
hint: a path is keys with dots between them, such as links.bottleneck.rate or flows[0].cc""",
    ),
    "a path that ends in a dot": (
        changed(('"vars.N" = [1, 2]', '"scenario." = [1, 2]')),
        STARTS,
        """\
error: `scenario.` is no path into the scenario
  --> pair.toml:26:1
   |
26 | "scenario." = [1, 2]
   | ^^^^^^^^^^^
hint: a path is keys with dots between them, such as links.bottleneck.rate or flows[0].cc""",
    ),
    "a path with a bracket that is not closed": (
        changed(('"vars.N" = [1, 2]', '"flows[0" = [1, 2]')),
        STARTS,
        """\
error: `flows[0` is no path into the scenario
  --> pair.toml:26:1
   |
26 | "flows[0" = [1, 2]
   | ^^^^^^^^^
hint: a path is keys with dots between them, such as links.bottleneck.rate or flows[0].cc""",
    ),
    "an empty path of an arm": (
        changed(('{ "tcp.recovery" = "sack" }', '{ "" = "sack" }')),
        STARTS,
        """\
error: `` is no path into the scenario
  --> pair.toml:30:10
   |
30 | sack = { "" = "sack" }
   |          ^^
hint: a path is keys with dots between them, such as links.bottleneck.rate or flows[0].cc""",
    ),
    "a number of 5000 digits": (
        changed(("N = 2\n", "N = " + "1" * 5000 + "\n")),
        STARTS,
        """\
error: integer number overflowed
 --> pair.toml:8:5
  |
8 | N = 111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111...
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: whole numbers are from -2^63 to 2^63 - 1; a larger one is written with a point or an exponent, such as 1e20""",
    ),
    "a bound beyond 64 bits": (
        changed(('high = "12 * Tp"', 'high = "1e30 s"')),
        STARTS,
        """\
error: `high` is 1e+33 ms: whole numbers are drawn up to 2^53
  --> pair.toml:11:62
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "1e30 s", unit = "ms" }
   |                                                              ^^^^^^^^
hint: take a larger unit, or the distribution `uniform`""",
    ),
    "a lower bound beyond 64 bits": (
        changed(('high = "12 * Tp"', 'high = "1e300 s"'), ('low = "0 ms"', 'low="-1e300 s"')),
        STARTS,
        """\
error: `low` is -1e+303 ms: whole numbers are drawn up to 2^53
  --> pair.toml:11:45
   |
11 | S = { distribution = "uniform_integer", low="-1e300 s", high = "1e300 s", unit = "ms" }
   |                                             ^^^^^^^^^^
hint: take a larger unit, or the distribution `uniform`""",
    ),
    "a range without a whole number": (
        changed(('high = "12 * Tp"', 'high = "0.4 ms"'), ('low = "0 ms"', 'low = "0.2 ms"')),
        STARTS,
        """\
error: there is no whole number of ms in the range of `S`
  --> pair.toml:11:5
   |
11 | S = { distribution = "uniform_integer", low = "0.2 ms", high = "0.4 ms", unit = "ms" }
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: take a smaller unit, or the distribution `uniform`""",
    ),
    "a range without an end": (
        changed(
            ('"uniform_integer"', '"uniform"'),
            (', unit = "ms"', ""),
            ('high = "12 * Tp"', 'high = "1.5e308 s"'),
            ('low = "0 ms"', 'low = "-1.5e308 s"'),
        ),
        STARTS,
        """\
error: the range of `S` has no end
  --> pair.toml:11:60
   |
11 | S = { distribution = "uniform", low = "-1.5e308 s", high = "1.5e308 s" }
   |                                                            ^^^^^^^^^^^
hint: no number is that large""",
    ),
    "a unit of something else": (
        changed(('unit = "ms"', 'unit = "kB"')),
        STARTS,
        """\
error: `unit` is for a number of bytes, and `low` is a time
  --> pair.toml:11:80
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "kB" }
   |                                                                                ^^^^
hint: for example unit = "s\"""",
    ),
    "an unknown unit": (
        changed(('unit = "ms"', 'unit = "fortnights"')),
        STARTS,
        """\
error: unknown unit `fortnights`
  --> pair.toml:11:81
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "fortnights" }
   |                                                                                 ^^^^^^^^^^
hint: units are ns us ms s min h, bit/s kbit/s Mbit/s Gbit/s B/s kB/s MB/s, B kB MB KiB MiB, packets, bdp""",
    ),
    "a number for a unit": (
        changed(('unit = "ms"', "unit = 5")),
        STARTS,
        """\
error: `unit` must be a text, found 5
  --> pair.toml:11:80
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = 5 }
   |                                                                                ^
hint: for example unit = "ms"; "" for plain numbers""",
    ),
    "a list for a bound": (
        changed(('low = "0 ms"', 'low = ["0 ms"]')),
        STARTS,
        """\
error: `low` must be a number, a quantity or an expression, found ["0 ms"]
  --> pair.toml:11:47
   |
11 | S = { distribution = "uniform_integer", low = ["0 ms"], high = "12 * Tp", unit = "ms" }
   |                                               ^^^^^^^^
hint: for example low = "20 ms\"""",
    ),
    "a table for a variable beside a draw": (
        changed(("N = 2\n", "N = 2\nA = { b = 1 }\n")),
        STARTS,
        """\
error: variable `A` is no number, quantity or expression
 --> pair.toml:9:5
  |
9 | A = { b = 1 }
  |     ^^^^^^^^^
hint: for example A = "20 ms", or a number""",
    ),
    "true for a variable beside a draw": (
        changed(("N = 2\n", "N = 2\nA = true\n")),
        STARTS,
        """\
error: variable `A` is no number, quantity or expression
 --> pair.toml:9:5
  |
9 | A = true
  |     ^^^^
hint: for example A = "20 ms", or a number""",
    ),
    "true for a variable that a draw uses": (
        changed(('Tp = "20 ms"', "Tp = true"), ('"vars.Tp" = ["10 ms", "40 ms"]\n', "")),
        STARTS,
        """\
error: variable `Tp` is no number, quantity or expression
  --> pair.toml:11:68
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms" }
   |                                                                    ^^
hint: a number, a quantity such as "20 ms", or an expression of variables""",
    ),
    "a variable that is not a number": (
        changed(("N = 2\n", "N = 2\nA = nan\n")),
        STARTS,
        """\
error: a study has no use for what is no finite number
 --> pair.toml:9:5
  |
9 | A = nan
  |     ^^^
hint: write a finite number, or leave it out""",
    ),
    "a number for a file": (
        changed((DRAW, TABLE.replace('file = "t.csv"', "file = 5"))),
        STARTS,
        """\
error: `file` must be the name of a file
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = 5, row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^
hint: such as file = "published.csv": from the folder of the study, in quotes""",
    ),
    "a file that is not there": (
        changed((DRAW, TABLE.replace('file = "t.csv"', 'file = "no.csv"'))),
        STARTS,
        """\
error: cannot read no.csv: No such file or directory
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = "no.csv", row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^^^^^^^^
hint: files are named from the directory of the study""",
    ),
    "a directory for a file": (
        changed((DRAW, TABLE.replace('file = "t.csv"', 'file = "."'))),
        STARTS,
        """\
error: cannot read DIR: Is a directory
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = ".", row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^^^
hint: files are named from the directory of the study""",
    ),
    "no name of a file": (
        changed((DRAW, TABLE.replace('file = "t.csv"', 'file = "a\\u0000b"'))),
        STARTS,
        """\
error: `file` must be the name of a file
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = "a\\u0000b", row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^^^^^^^^^^
hint: such as file = "published.csv": from the folder of the study, in quotes""",
    ),
    "an unknown unit of a table": (
        changed((DRAW, TABLE.replace('unit = "ms"', 'unit = "fortnights"'))),
        STARTS,
        """\
error: unknown unit `fortnights`
  --> pair.toml:11:94
   |
11 | S = { distribution = "table", file = "t.csv", row = "cell", column = "s{replicate}", unit = "fortnights" }
   |                                                                                              ^^^^^^^^^^
hint: units are ns us ms s min h, bit/s kbit/s Mbit/s Gbit/s B/s kB/s MB/s, B kB MB KiB MiB, packets, bdp""",
    ),
    "a binary file": (
        changed((DRAW, TABLE)),
        b"\x7fELF\xff\x00",
        """\
error: t.csv is no text: byte 4 is not UTF-8
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = "t.csv", row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^^^^^^^
hint: files are named from the directory of the study""",
    ),
    "a null character": (
        changed((DRAW, TABLE)),
        "cell,s1,s2\n1,\x00,5\n2,7,8\n",
        """\
error: `\x00` is no number
 --> t.csv:2:3
  |
2 | 1, ,5
  |   ^
hint: `s1` holds numbers in the draw's unit""",
    ),
    "a short row": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "2,7"),
        """\
error: 2 cells, where the first line has 3
 --> t.csv:3:1
  |
3 | 2,7
  | ^^^""",
    ),
    "nan in a table": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "2,nan,8"),
        """\
error: `nan` is no number
 --> t.csv:3:3
  |
3 | 2,nan,8
  |   ^^^
hint: `s1` holds numbers in the draw's unit""",
    ),
    "1e400 in a table": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "2,1e400,8"),
        """\
error: `1e400` is no number
 --> t.csv:3:3
  |
3 | 2,1e400,8
  |   ^^^^^
hint: `s1` holds numbers in the draw's unit""",
    ),
    "a huge field": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "2," + "7" * 200000 + ",8"),
        """\
error: this is no line of a table: field larger than field limit (131072)
 --> t.csv:3:1
  |
3 | 2,77777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777...
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^""",
    ),
    "a field of 5000 digits": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "2," + "7" * 5000 + ",8"),
        """\
error: `777777777777777777777777777777777777...` is no number
 --> t.csv:3:3
  |
3 | 2,77777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777777...
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: `s1` holds numbers in the draw's unit""",
    ),
    "two columns of one name": (
        changed((DRAW, TABLE)),
        STARTS.replace("s2", "s1"),
        """\
error: two columns are called `s1`
 --> t.csv:1:9
  |
1 | cell,s1,s1
  |         ^^
hint: give each its own name""",
    ),
    "two rows of one name": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", "1,7,8"),
        """\
error: line 2 is of cell `1` already
 --> t.csv:3:1
  |
3 | 1,7,8
  | ^
hint: leave one of the two out""",
    ),
    "an empty table": (
        changed((DRAW, TABLE)),
        "",
        """\
error: t.csv is empty
hint: its first line has the names of its columns""",
    ),
    "no column that names the rows": (
        changed((DRAW, TABLE.replace('row = "cell"', 'row = "experiment"'))),
        STARTS,
        """\
error: the table has no column `experiment`
 --> t.csv:1:1
  |
1 | cell,s1,s2
  | ^^^^^^^^^^
hint: `row` names the column that names the rows""",
    ),
    "no such column": (
        changed((DRAW, TABLE.replace('column = "s{replicate}"', 'column = "x"'))),
        STARTS,
        """\
error: t.csv has no column `x`
  --> pair.toml:11:70
   |
11 | S = { distribution = "table", file = "t.csv", row = "cell", column = "x", unit = "ms" }
   |                                                                      ^^^
hint: is `repeat` larger than the file?""",
    ),
    "no row for a cell": (
        changed((DRAW, TABLE)),
        STARTS.replace("4,11,12\n", ""),
        """\
error: t.csv has no row for cell 4
  --> pair.toml:11:38
   |
11 | S = { distribution = "table", file = "t.csv", row = "cell", column = "s{replicate}", unit = "ms" }
   |                                      ^^^^^^^""",
    ),
    "a quote that is not closed": (
        changed((DRAW, TABLE)),
        STARTS.replace("2,7,8", '2,"7,8'),
        """\
error: this is no line of a table: unexpected end of data
 --> t.csv:3:1
  |
3 | 2,"7,8
  | ^^^^^^""",
    ),
    "a number that its unit makes too large": (
        changed((DRAW, TABLE.replace('unit = "ms"', 'unit = "h"'))),
        STARTS.replace("2,7,8", "2,1e308,8"),
        """\
error: the result is not a finite number
 --> t.csv:3:3
  |
3 | 2,1e308,8
  |   ^^^^^""",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_mistake_is_told_with_its_place(case: str, tmp_path: Path) -> None:
    study, table, expected = CASES[case]
    (tmp_path / "t.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(study, tmp_path / "pair.toml"))
    assert str(raised.value).replace(f"{tmp_path}/", "").replace(str(tmp_path), "DIR") == expected


@pytest.mark.parametrize("name", ["seed", "cell", "run", "arm", "id", "item"])
def test_a_variable_called_as_a_column_of_the_plan_goes_by_its_path(name: str, tmp_path: Path) -> None:
    text = changed(
        ("N = 2\n", f"N = 2\n{name} = 2\n"), ('"vars.N" = [1, 2]', f'"vars.{name}" = [1, 2]'), ('"vars.N" = [2]', f'"vars.{name}" = [2]')
    )
    table = make_plan(Study.parse(text, tmp_path / "pair.toml")).table()
    assert table[f"vars.{name}"].unique().sort().to_list() == ["1", "2"]
    assert table["seed"].dtype.is_integer()


def test_a_table_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + STARTS.replace("\n", "\r\n").encode())
    runs = make_plan(Study.parse(changed((DRAW, TABLE)), tmp_path / "pair.toml")).runs
    assert [run.draws["S"] for run in runs[:2]] == [0.005, 0.006]
