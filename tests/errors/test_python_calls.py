"""Wrong arguments of the public functions: a `SawtoothError` or a `TypeError` that says what was expected and what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import _core, report, traffic
from sawtooth.cli import app
from sawtooth.errors import SawtoothError
from sawtooth.study import Study
from tests.conftest import STUDY

ANY: Any = sawtooth
SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms"}},
    "flows": [{"path": ["l"]}],
}


def deep() -> dict[str, Any]:
    tree: dict[str, Any] = {}
    tree["vars"] = tree
    return {**SCENARIO, "vars": tree}


CASES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "simulate a number": (
        lambda: ANY.simulate(5),
        TypeError,
        "a scenario is a mapping, TOML text, a Study or the path of a study file, found an int: 5",
    ),
    "simulate nothing": (
        lambda: ANY.simulate(None),
        TypeError,
        "a scenario is a mapping, TOML text, a Study or the path of a study file, found a NoneType: None",
    ),
    "simulate a file that is not there": (
        lambda: sawtooth.simulate("no.toml"),
        sawtooth.StudyError,
        "error: there is no file no.toml\nhint: `sawtooth list study` shows the studies that come along",
    ),
    "a seed that is a text": (lambda: ANY.simulate(SCENARIO, seed="1"), TypeError, "a seed is a whole number, found a str: '1'"),
    "a seed that is true": (lambda: sawtooth.simulate(SCENARIO, seed=True), TypeError, "a seed is a whole number, found a bool: True"),
    "a seed below zero": (
        lambda: sawtooth.simulate(SCENARIO, seed=-1),
        sawtooth.StudyError,
        "error: a seed is from 0 to 2^64 - 1, found -1",
    ),
    "a seed beyond 64 bits": (
        lambda: sawtooth.simulate(SCENARIO, seed=2**70),
        sawtooth.StudyError,
        "error: a seed is from 0 to 2^64 - 1, found 1180591620717411303424",
    ),
    "an empty mapping": (
        lambda: sawtooth.simulate({}),
        sawtooth.StudyError,
        'error: a scenario needs a `duration` (at `duration`)\nhint: for example duration = "60 s"',
    ),
    "a key that is no text": (
        lambda: ANY.simulate({**SCENARIO, 5: 6}),
        sawtooth.StudyError,
        "error: the keys of a scenario are texts, found 5",
    ),
    "a set in a mapping": (
        lambda: sawtooth.simulate({**SCENARIO, "record": {"waits"}}),
        sawtooth.StudyError,
        "error: a scenario holds tables, lists, texts, true and false, and finite numbers; found a value of type set (at `record`)",
    ),
    "nan in a mapping": (
        lambda: sawtooth.simulate({**SCENARIO, "duration": float("nan")}),
        sawtooth.StudyError,
        "error: a scenario holds tables, lists, texts, true and false, and finite numbers; found nan (at `duration`)",
    ),
    "a number of 5000 digits in a mapping": (
        lambda: sawtooth.simulate({**SCENARIO, "vars": {"N": 10**5000}}),
        sawtooth.StudyError,
        "error: a scenario holds tables, lists, texts, true and false, and finite numbers; found a number that is too large (at `vars.N`)",
    ),
    "a mapping that holds itself": (
        lambda: sawtooth.simulate(deep()),
        sawtooth.StudyError,
        "error: a scenario is nested 64 deep at most (at `vars.vars.vars.vars.vars.vars.vars.v...`)",
    ),
    "run a list": (
        lambda: ANY.run(["hstcp"]),
        TypeError,
        "`run` takes a study: the path of its file, its text, a mapping, or a Study, found a list: ['hstcp']",
    ),
    "run a number": (
        lambda: ANY.run(5),
        TypeError,
        "`run` takes a study: the path of its file, its text, a mapping, or a Study, found an int: 5",
    ),
    "threads below one": (
        lambda: sawtooth.run("x.toml", jobs=0),
        TypeError,
        "`jobs` is a number of threads, from 1 to 1024, found an int: 0",
    ),
    "threads that are a text": (
        lambda: ANY.run("x.toml", jobs="2"),
        TypeError,
        "`jobs` is a number of threads, from 1 to 1024, found a str: '2'",
    ),
    "a number for the directory": (
        lambda: ANY.run(Study.parse(STUDY, Path("pair.toml")), 5),
        TypeError,
        "`out` is the path of a directory, found an int: 5",
    ),
    "a study with options of the call": (
        lambda: sawtooth.run(Study.parse(STUDY, Path("pair.toml")), short=True),
        TypeError,
        "a Study has its `short` and `options` already: give them to `Study.load`",
    ),
    "options that are one text": (
        lambda: Study.parse(STUDY, Path("pair.toml"), options="vars.N=2"),
        TypeError,
        "`options` is a list such as [\"vars.N=2\"], found a str: 'vars.N=2'",
    ),
    "options that are numbers": (
        lambda: ANY.Study.parse(STUDY, Path("pair.toml"), options=[2]),
        TypeError,
        '`options` is a list such as ["vars.N=2"], found a list: [2]',
    ),
    "a study of a number": (lambda: ANY.Study.load(5), TypeError, "`Study.load` takes the path of a study file, found an int: 5"),
    "a study of bytes": (
        lambda: ANY.Study.parse(b"name", "x.toml"),
        TypeError,
        "`Study.parse` takes the text of a study, found a bytes: b'name'",
    ),
    "a plan of a text": (
        lambda: ANY.make_plan("x.toml"),
        TypeError,
        "a plan is made of a Study; `Study.load(path)` reads one, found a str: 'x.toml'",
    ),
    "a dataset of a text that is no directory": (
        lambda: sawtooth.Dataset("text"),
        sawtooth.DatasetError,
        "error: text is no results directory\nhint: `sawtooth.run(study, out)` makes one",
    ),
    "a dataset of a number": (
        lambda: ANY.Dataset(5),
        TypeError,
        "a dataset is opened by the path of its directory, found an int: 5",
    ),
    "a report of a path": (
        lambda: ANY_REPORT.report("results"),
        TypeError,
        "a report is made of a Dataset; `Dataset.open(directory)` opens one, found a str: 'results'",
    ),
    "a name of RFC 4898 that is none": (
        lambda: sawtooth.rfc4898("SegsRetrans", "flow"),
        sawtooth.DatasetError,
        f"error: there is no table `flow`\nhint: there are {', '.join(_core.schema())}",
    ),
    "departures of no scenario": (
        lambda: traffic.departures({}, 1, "a"),
        sawtooth.StudyError,
        'error: a scenario needs a `duration` (at `duration`)\nhint: for example duration = "60 s"',
    ),
}
ANY_REPORT: Any = report


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_wrong_argument_is_told(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, kind, expected = CASES[case]
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value) == expected


def test_numbers_of_numpy_tuples_and_paths_are_as_good_as_pythons_own() -> None:
    plain = {**SCENARIO, "vars": {"N": 2, "x": 0.5}, "flows": [{"path": ["l"], "count": "N"}]}
    others = {**SCENARIO, "vars": {"N": np.int64(2), "x": np.float32(0.5)}, "flows": ({"path": ("l",), "count": "N"},)}
    assert sawtooth.simulate(others).flows.equals(sawtooth.simulate(plain).flows)


def test_a_study_is_as_good_as_its_file(study_file: Path, tmp_path: Path) -> None:
    study = Study.load(study_file, short=True)
    by_study = sawtooth.run(study, tmp_path / "a").flows().collect()
    assert by_study.equals(sawtooth.run(study_file, tmp_path / "b", short=True).flows().collect())
    assert sawtooth.simulate(study).flows.height == 2


def test_seeds_of_the_command_line_have_64_bits(study_file: Path) -> None:
    outcome = CliRunner().invoke(app, ["simulate", str(study_file), "--seed", str(2**70)])
    assert outcome.exit_code == 2
    assert "less than or equal to 18446744073709551615" in outcome.output
    assert CliRunner().invoke(app, ["simulate", str(study_file), "--short", "--seed", str(2**64 - 1)]).exit_code == 0


@pytest.mark.parametrize(
    "option",
    ["=5", "vars.N", ".=5", "[" * 100_000 + "=5", "vars.N=" + "[" * 100_000, "vars.N=" + "1" * 5000, "repeat=" + "9" * 5000,
     "repeat=1e999", "seed=[1]", "seed=-1", "backend=5", "arms.sack=1", "flows[9].start=1 s", "flows[*]=5", "flows=5", "flows[0]=5"],
    ids=lambda option: option[:12],
)  # fmt: skip
def test_an_option_that_cannot_be_is_an_error_of_the_user(option: str, study_file: Path) -> None:
    with pytest.raises(SawtoothError) as raised:
        sawtooth.make_plan(Study.load(study_file, options=[option]))
    assert len(str(raised.value)) < 1000
    assert json.dumps(str(raised.value))


ALONE = """\
duration = "1 s"
[links.l]
rate = "1 Mbit/s"
changes = { rows = [
  { at = "0.5 s", rate = "2 Mbit/s" },
] }
[[flows]]
path = ["l"]
arrivals.rate = 1
arrivals.size = { name = "empirical", points = [
  [1000, 0.5],
  [2000, 1]
] }
"""
GIVEN = {
    "a key": ("rate =", "rat =", "<scenario>:3:1"),
    "a header": ("[links.l]", "[link.l]", "<scenario>:2:2"),
    "a header of a list": ("[[flows]]", "[[flow]]", "<scenario>:7:3"),
    "what is no TOML": ('"1 s"', '"scenario', "<scenario>:1:12"),
    "the first line": ('"1 s"', '"-1 s"', "<scenario>:1:12"),
}


@pytest.mark.parametrize("case", GIVEN)
def test_a_scenarios_text_has_its_own_lines(case: str) -> None:
    old, new, place = GIVEN[case]
    text = ALONE
    with pytest.raises(sawtooth.StudyError) as raised:
        sawtooth.simulate(text.replace(old, new, 1))
    told = raised.value.place
    assert told is not None
    assert f"{told.name}:{told.line}:{told.column}" == place, str(raised.value)
    assert told.text == text.replace(old, new, 1).split("\n")[told.line - 1]


def test_a_list_over_several_lines_is_no_header() -> None:
    assert sawtooth.simulate(ALONE).links.height == 2
