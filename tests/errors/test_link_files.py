"""Files that links name: what they hold, and every mistake in them with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study

LINK = 'links.l = {{ delay = "10 ms", {keys} }}'
STUDY = """\
name = "traced"
[scenario]
duration = "2 s"
{link}
flows = [{{ path = ["l"] }}]
"""


def study(keys: str, directory: Path) -> Path:
    path = directory / "traced.toml"
    path.write_text(STUDY.format(link=LINK.format(keys=keys)))
    return path


def link(keys: str, directory: Path) -> dict[str, object]:
    plan = make_plan(Study.load(study(keys, directory)))
    return json.loads(plan.runs[0].scenario)["links"]["l"]


def message(keys: str, directory: Path) -> str:
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.load(study(keys, directory)))
    return str(raised.value)


TRACE = 'trace = { file = "up.trace" }'
CHANGES = 'rate = "5 Mbit/s", changes = { file = "wifi.csv" }'
JITTER = 'rate = "5 Mbit/s", jitter = { name = "table", file = "rtt.txt" }'
BAD = {
    "a word in a trace": (
        TRACE,
        "up.trace",
        "1\n2\n\n# a remark\n3 ms\n",
        "error: `3 ms` is no time of a trace\n --> {file}:5:1\n  |\n5 | 3 ms\n  | ^^^^\n"
        "hint: each line is a whole number of milliseconds: one opportunity to deliver 1500 bytes",
    ),
    "a time of 5000 digits": (
        TRACE,
        "up.trace",
        "1\n" + "2" * 5000 + "\n",
        f"error: `{'2' * 36}...` is no time of a trace\n --> {{file}}:2:1\n  |\n2 | {'2' * 160}...\n  | {'^' * 160}\n"
        "hint: each line is a whole number of milliseconds: one opportunity to deliver 1500 bytes",
    ),
    "two columns of one name": (
        CHANGES,
        "wifi.csv",
        "at,rate,rate\n0 s,5 Mbit/s,6 Mbit/s\n",
        "error: two columns say `rate`\n --> {file}:1:9\n  |\n1 | at,rate,rate\n  |         ^^^^\nhint: leave one of the two out",
    ),
    "two names of the time": (
        CHANGES,
        "wifi.csv",
        "at,t,rate\n0 s,0 s,6 Mbit/s\n",
        "error: two columns say `at`\n --> {file}:1:4\n  |\n1 | at,t,rate\n  |    ^\nhint: leave one of the two out",
    ),
    "a trace that goes back": (
        TRACE,
        "up.trace",
        "1\n5\n4\n",
        "error: 4 ms comes after 5 ms: the times of a trace ascend\n --> {file}:3:1\n  |\n3 | 4\n  | ^\nhint: write the lines in the order of their times",
    ),
    "an empty trace": (
        TRACE,
        "up.trace",
        "\n",
        "error: {file} holds no delivery opportunity\n{named}\nhint: each line is a whole number of milliseconds, such as 12",
    ),
    "a table of changes without a row": (
        CHANGES,
        "wifi.csv",
        "at,rate\n",
        "error: {file} holds no row of changes\n{named}\nhint: a line of names, such as at,rate, and below it a line for each change, such as 5 s,2 Mbit/s",
    ),
    "a trace of one moment": (
        TRACE,
        "up.trace",
        "0\n0\n",
        "error: {file} has no opportunity after 0 ms\n{named}\nhint: its last time is the length of a lap",
    ),
    "a column of something else": (
        CHANGES,
        "wifi.csv",
        "at,rate,colour\n0,1,2\n",
        "error: unknown column `colour`\n --> {file}:1:9\n  |\n1 | at,rate,colour\n  |         ^^^^^^\nhint: there are at (or t), rate, delay and loss",
    ),
    "a time for a rate": (
        CHANGES,
        "wifi.csv",
        "at,rate\n0 s,5 Mbit/s\n1 s,5 ms\n",
        "error: `5 ms` is a time, where a rate is expected\n --> {file}:3:5\n  |\n3 | 1 s,5 ms\n  |     ^^^^\nhint: such as 5 Mbit/s, or a plain number in bit/s",
    ),
    "a row that goes back": (
        CHANGES,
        "wifi.csv",
        "t,loss\n1,0.1\n0.5,0\n",
        "error: 0.5 does not come after the row before: times ascend\n --> {file}:3:1\n  |\n3 | 0.5,0\n  | ^^^",
    ),
    "a loss above one": (
        CHANGES,
        "wifi.csv",
        "t,loss\n1,1.5\n",
        "error: a loss is from 0 to 1, found 1.5\n --> {file}:2:3\n  |\n2 | 1,1.5\n  |   ^^^\nhint: such as 0.01",
    ),
    "too few cells": (
        CHANGES,
        "wifi.csv",
        "t,loss\n1\n",
        "error: 1 cells, where the first line has 2\n --> {file}:2:1\n  |\n2 | 1\n  | ^",
    ),
    "a delay that is none": (
        JITTER,
        "rtt.txt",
        "1.5\nnan\n",
        "error: `nan` is no number of milliseconds\n --> {file}:2:1\n  |\n2 | nan\n  | ^^^",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.replace(" ", "_"))
def test_a_bad_line_is_named(case: str, tmp_path: Path) -> None:
    keys, name, text, expected = BAD[case]
    (tmp_path / name).write_text(text)
    # What is of the whole file is told where the study names it.
    line = (tmp_path / "traced.toml").read_text().splitlines()[3] if message(keys, tmp_path) else ""
    before = line.index(f'"{name}"')
    named = f" --> {tmp_path / 'traced.toml'}:4:{before + 1}\n  |\n4 | {line}\n  | {' ' * before}{'^' * (len(name) + 2)}"
    assert message(keys, tmp_path) == expected.format(file=tmp_path / name, named=named)


def test_a_file_that_is_not_there_is_shown_where_it_is_named(tmp_path: Path) -> None:
    told = message(TRACE, tmp_path)
    assert told.startswith(f"error: cannot read {tmp_path / 'up.trace'}: No such file or directory\n --> {tmp_path / 'traced.toml'}:4:47\n")


def test_an_mtu_below_a_segment_names_flow_and_link(tmp_path: Path) -> None:
    told = message('rate = "5 Mbit/s", mtu = "576 B"', tmp_path)
    expected = "error: segments of flow `flow` are 1500 B (smss 1460 B, header 40 B), and link `l` carries 576 B at most"
    assert told.splitlines()[0] == expected
    assert told.splitlines()[-1] == 'hint: set tcp.smss = "536 B", or tcp.path_mtu_discovery = true'


def test_what_files_hold_is_part_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n2\n2\n5\n")
    (tmp_path / "wifi.csv").write_text("t,rate,delay\n0.5,2e6,\n1,4 Mbit/s,30 ms\n")
    (tmp_path / "rtt.txt").write_text("3\n1\n2.5\n")
    assert link(TRACE, tmp_path)["trace"] == {"opportunities": [1, 2, 2, 5]}
    reverse = link(f'rate = "1 Mbit/s", reverse = {{ {TRACE} }}', tmp_path)["reverse"]
    assert reverse == {"trace": {"opportunities": [1, 2, 2, 5]}}
    rows = [{"at": "0.5 s", "rate": "2000000.0 bit/s"}, {"at": "1 s", "rate": "4 Mbit/s", "delay": "30 ms"}]
    rows[1]["at"] = "1.0 s"
    assert link(CHANGES, tmp_path)["changes"] == {"rows": rows}
    assert link(JITTER, tmp_path)["jitter"] == {"name": "table", "quantiles": ["1.0 ms", "2.5 ms", "3.0 ms"]}


def test_a_changed_file_is_another_run(tmp_path: Path) -> None:
    runs: list[str] = []
    for text in ("1\n2\n", "1\n2\n3\n"):
        (tmp_path / "up.trace").write_text(text)
        runs.append(make_plan(Study.load(study(TRACE, tmp_path))).runs[0].id)
    assert len(set(runs)) == 2


def test_a_trace_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("2\n")
    links = sawtooth.simulate(study(TRACE, tmp_path)).links
    # 1500 bytes in 2 ms: 6 Mbit/s in both directions.
    assert 0.5 < links["utilisation"][0] < 1.05
