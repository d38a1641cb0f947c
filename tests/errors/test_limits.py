"""What asks for too much, nests too deeply, or is no file: refused with its place, at once."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

import sawtooth
from sawtooth import _core, forecast
from sawtooth.errors import DatasetError, SawtoothError, StudyError
from sawtooth.plan import make_plan
from sawtooth.reference_files import Columns, of_file
from sawtooth.study import Study
from sawtooth.web.looking import look
from tests.conftest import STUDY
from tests.errors.test_messages import changed, message

HINT = "hint: if that is meant, raise the limit: {name} = {value} under [limits], or --set limits.{name}={value}"


def raised(name: str, value: str) -> str:
    return HINT.format(name=name, value=value)


TOO_MUCH = {
    "replicates": (
        changed("repeat = 2", "repeat = 1_000_000_000"),
        f"""\
error: these are 4 cells x 2 arms x 1,000,000,000 replicates = 8,000,000,000 runs, and the limit is 1,000,000 runs
 --> pair.toml:3:10
  |
3 | repeat = 1_000_000_000
  |          ^^^^^^^^^^^^^
{raised("runs", "1e10")}""",
    ),
    "samples": (
        changed('duration = "3 s"', 'duration = "3 s"\nsample = "1 ns"'),
        f"""\
error: this takes about 9,000,000,006 rows, and the limit is 100,000,000
  --> pair.toml:15:10
   |
15 | sample = "1 ns"
   |          ^^^^^^
{raised("rows", "1e10")}""",
    ),
    "flows": (
        changed('count = "N"', "count = 10_000_000"),
        f"""\
error: these are 10,000,000 flows, and the limit is 200,000
  --> pair.toml:20:9
   |
20 | count = 10_000_000
   |         ^^^^^^^^^^
{raised("flows", "1e7")}""",
    ),
    "draws": (
        changed('unit = "ms" }', 'unit = "ms", count = 1_000_000_000 }'),
        f"""\
error: `S` is drawn 8,000,000,000 times in all, and the limit is 10,000,000 draws
  --> pair.toml:11:94
   |
11 | S = {{ distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms", count = 1_000_000_000 }}
   |                                                                                              ^^^^^^^^^^^^^
{raised("draws", "1e10")}""",
    ),
    "updates of a queue": (
        changed('name = "drop_tail", limit = "10 packets"', 'name = "pie", update = "1e-9 s"').replace('"3 s"', '"60 s"'),
        f"""\
error: this takes about 60,000,000,000 events, and the limit is 10,000,000,000
  --> pair.toml:16:88
   |
16 | links.bottleneck = {{ rate = "1 Mbit/s", delay = "Tp", queue = {{ name = "pie", update = "1e-9 s" }} }}
   |                                                                                        ^^^^^^^^
{raised("events", "1e11")}""",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_asks_for_too_much_is_refused_where_it_does(text: str, expected: str) -> None:
    assert message(text) == expected


def test_cells_are_counted_before_they_are_made() -> None:
    axes = "\n".join(f'"vars.v{number}" = {list(range(100))}' for number in range(6))
    head = changed("N = 2", "\n".join(["N = 2", *(f"v{number} = 0" for number in range(6))])).partition("[sweep]")[0]
    text = f"{head}[sweep]\n{axes}\n"
    found = message(text)
    assert "error: these are 1,000,000,000,000 cells x 1 arm x 2 replicates = 2,000,000,000,000 runs" in found
    assert "[sweep]" in found
    assert raised("runs", "1e13") in found
    grids = f"{head}[[sweep]]\ngrids = [{{ {axes.replace(chr(10), ', ')} }}]\n"
    assert "error: these are 1,000,000,000,000 cells, and the limit is 1,000,000 runs" in message(grids)


def test_limits_are_raised_and_lowered_by_name_and_have_no_part_in_what_a_run_is() -> None:
    text = changed("repeat = 2", "repeat = 2\nlimits = { runs = 4 }")
    assert "x 2 replicates = 16 runs, and the limit is 4 runs" in message(text)
    plan = make_plan(Study.parse(text, Path("pair.toml"), options=["limits.runs=16"]))
    plain = make_plan(Study.parse(STUDY, Path("pair.toml")))
    assert [run.id for run in plan.runs] == [run.id for run in plain.runs]
    assert message(STUDY, ("limits.evnts=1",)).splitlines()[-1] == "hint: did you mean `events`?"
    with pytest.raises(sawtooth.RunFailed, match="the limit is 10; if that is meant, raise the limit: events = "):
        sawtooth.simulate(STUDY.replace("repeat = 2", "limits = { events = 10 }"))


def test_what_is_far_beyond_the_limit_of_events_is_refused_at_its_duration() -> None:
    text = changed('duration = "3 s"', 'duration = "1e15 s"')
    assert message(text).startswith("error: a run takes up to about ")
    assert " events, and the limit is 10,000,000,000\n  --> pair.toml:14:12" in message(text)


def test_what_is_beyond_the_limit_of_events_is_warned_of_in_the_words_of_the_refusal() -> None:
    plan = make_plan(Study.parse(STUDY, Path("pair.toml"), options=["limits.events=100"]))
    (warning,) = [each for each in plan.warnings if " events, and the limit is 100" in each.message]
    assert warning.message.startswith("a run takes up to about ")
    assert warning.hint is not None and warning.hint.startswith("if that is meant, raise the limit: events = 1e")
    assert warning.place is not None and warning.place.text == 'duration = "3 s"'


def test_a_plan_notes_memory_beyond_its_limit_and_beyond_the_machine() -> None:
    plan = make_plan(Study.parse(STUDY, Path("pair.toml")))
    assert not plan.notes(1e9)
    plan = dataclasses.replace(plan, demand=dataclasses.replace(plan.demand, memory_bytes=2e10))
    assert plan.notes(1.6e10) == [
        "note: that is more than the 16.0 GB of this machine", "note: a run that takes more than limits.memory = 8.0 GB is ended",
    ]  # fmt: skip


def test_what_notes_memory_and_what_refuses_a_run_know_the_same_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    large = {"duration": "1000 s", "sample": "1 us", "links": {"l": {"rate": "1 Mbit/s", "delay": "1 ms"}}, "flows": [{"path": ["l"]}]}
    with pytest.raises(SawtoothError) as found:
        sawtooth.simulate({**large, "limits": {"memory": "1e15 B", "rows": 1e15, "events": 1e15}})
    machine = _core.machine_memory()
    assert machine is not None
    assert f"this machine has {machine:,.0f}" in str(found.value)
    # What the command line and the explorer note follows from the same, here that of a container that may take little.
    monkeypatch.setattr(_core, "machine_memory", lambda: 1000.0)
    plan = make_plan(Study.parse(STUDY, tmp_path / "pair.toml"))
    assert forecast.notes(plan) == ["note: that is more than the 0.0 GB of this machine"]
    assert look(STUDY, tmp_path / "pair.toml", "pair", short=False, below=[])["plan"]["notes"] == forecast.notes(plan)


def test_segments_are_at_most_where_nothing_about_them_is_random() -> None:
    assert not make_plan(Study.parse(STUDY, Path("pair.toml"))).random
    arriving = changed('cc = { name = "reno" }', "arrivals = { rate = 1 }").partition("[arms]")[0]
    assert make_plan(Study.parse(arriving, Path("pair.toml"))).random


DEEP = {
    "brackets": ("x = " + "[" * 10_000, "nested too deeply: tables and lists go 64 deep at most", 69),
    "closed brackets": ("x = " + "[" * 10_000 + "]" * 10_000, "nested too deeply: tables and lists go 64 deep at most", 69),
    "inline tables": ("x = " + "{a=" * 10_000, "nested too deeply: tables and lists go 64 deep at most", 197),
    "minus signs": ('y = "' + "-" * 50_000 + '1"', "nested too deeply: expressions go 100 deep at most", 106),
    "parentheses": ('y = "' + "(" * 50_000 + '1"', "nested too deeply: expressions go 100 deep at most", 106),
}


@pytest.mark.parametrize(("line", "expected", "column"), DEEP.values(), ids=DEEP)
def test_what_nests_too_deeply_is_refused_where_it_does(line: str, expected: str, column: int) -> None:
    text = changed("repeat = 2", line) if line.startswith("x") else changed("N = 2", f"N = 2\n{line}")
    with pytest.raises(StudyError) as found:
        make_plan(Study.parse(text, Path("pair.toml")))
    place = found.value.place
    assert place is not None
    assert (found.value.message, place.column) == (expected, column)


def test_a_chain_of_variables_is_no_deeper_than_an_expression() -> None:
    chain = "\n".join(f'v{number} = "v{number + 1}"' for number in range(20_000)) + "\nv20000 = 1\n"
    assert "nested too deeply" in message(changed("[vars]\n", f"[vars]\n{chain}"))


def test_a_scenario_of_python_may_not_nest_without_end() -> None:
    tree: dict[str, object] = {}
    for _ in range(100_000):
        tree = {"vars": tree}
    with pytest.raises(SawtoothError, match="nested 64 deep at most"):
        sawtooth.simulate(tree)


def test_an_unknown_key_with_a_dot_has_its_place() -> None:
    found = message('"tcp.recovery" = 1\n' + STUDY)
    assert found.startswith("error: unknown key `tcp.recovery`\n --> pair.toml:1:1\n")


# --- files --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def odd(tmp_path: Path) -> dict[str, Path]:
    """Things that are no regular files, and one that is too large."""
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(100_000_000)
    return {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "directory": tmp_path, "huge": tmp_path / "huge"}


SAID = {
    "pipe": "{} is a pipe",
    "device": "{} is a device",
    "directory": "cannot read {}: Is a directory",
    "huge": "{} has 100,000,000 bytes, and {limit} is the limit",
}


@pytest.mark.parametrize("what", SAID)
def test_a_study_is_a_regular_file_of_some_size(what: str, odd: dict[str, Path]) -> None:
    with pytest.raises(StudyError) as found:
        Study.load(odd[what])
    said = "{} is a directory, not a study file" if what == "directory" else SAID[what]
    assert found.value.message == said.format(odd[what], limit="16,777,216")


NAMED = {
    "trace": ('delay = "Tp"', 'delay = "Tp", trace = {{ file = "{}" }}'),
    "changes": ('delay = "Tp"', 'delay = "Tp", changes = {{ file = "{}" }}'),
    "jitter": ('delay = "Tp"', 'delay = "Tp", jitter = {{ name = "table", file = "{}" }}'),
    "sizes": ('cc = { name = "reno" }', 'source = {{ name = "bulk", size = {{ name = "empirical", file = "{}" }} }}'),
    "draws": (
        'S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms" }',
        'S = {{ distribution = "table", file = "{}", row = "cell", column = "s", unit = "ms" }}',
    ),
}


@pytest.mark.parametrize("what", SAID)
@pytest.mark.parametrize("named", NAMED)
def test_a_file_that_a_study_names_is_a_regular_one_of_some_size(named: str, what: str, odd: dict[str, Path]) -> None:
    old, new = NAMED[named]
    with pytest.raises(StudyError) as found:
        make_plan(Study.parse(changed(old, new.format(odd[what])), Path("pair.toml")))
    assert found.value.message == SAID[what].format(odd[what], limit="64,000,000")
    assert found.value.place is not None


@pytest.mark.parametrize("what", SAID)
def test_published_numbers_are_a_regular_file_of_some_size(what: str, odd: dict[str, Path]) -> None:
    with pytest.raises(DatasetError) as found:
        of_file(odd[what], Columns(), [])
    assert found.value.message == SAID[what].format(odd[what], limit="16,000,000")
