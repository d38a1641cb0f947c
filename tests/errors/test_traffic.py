"""The exact text of mistakes in arrivals and distributions."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study

BASE = """\
name = "web"
[scenario]
duration = "5 s"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
[[scenario.flows]]
path = ["l"]
arrivals = { ARRIVALS }
"""


def study(arrivals: str) -> str:
    return BASE.replace("ARRIVALS", arrivals)


def message(text: str, directory: Path = Path(), options: tuple[str, ...] = ()) -> str:
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(text, directory / "web.toml", options=options))
    return str(raised.value)


CASES = {
    "load above 100 %": (
        "load = 1.2",
        """\
error: the offered load on `l` is 120.0000 %: no queue can hold that
 --> web.toml:7:21
  |
7 | arrivals = { load = 1.2 }
  |                     ^^^
hint: a load of at most 1, together with what other entries offer; `rate` takes any""",
    ),
    "rate and load": (
        "load = 0.5, rate = 10",
        """\
error: `rate` and `load` say the same twice
 --> web.toml:7:21
  |
7 | arrivals = { load = 0.5, rate = 10 }
  |                     ^^^
hint: leave one of the two out""",
    ),
    "neither": (
        'size = "3 kB"',
        """\
error: how often do flows arrive?
 --> web.toml:7:12
  |
7 | arrivals = { size = "3 kB" }
  |            ^^^^^^^^^^^^^^^^^
hint: `rate` is a number per second, `load` a share of a link's rate""",
    ),
    "a link that is not on the path": (
        'load = 0.5, link = "m"',
        """\
error: unknown link `m`
 --> web.toml:7:33
  |
7 | arrivals = { load = 0.5, link = "m" }
  |                                 ^^^
hint: did you mean `l`?""",
    ),
    "sizes without a mean": (
        'load = 0.5, size = { name = "pareto", shape = 0.9, minimum = "1 kB" }',
        """\
error: sizes without a mean offer no certain load
 --> web.toml:7:33
  |
7 | arrivals = { load = 0.5, size = { name = "pareto", shape = 0.9, minimum = "1 kB" } }
  |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give a `rate`, or sizes with a mean, such as a Pareto shape above 1""",
    ),
    "a mean that does not exist": (
        'rate = 5, size = { name = "pareto", shape = 0.9, mean = "1 kB" }',
        """\
error: a Pareto distribution of shape 0.9 has no mean
 --> web.toml:7:45
  |
7 | arrivals = { rate = 5, size = { name = "pareto", shape = 0.9, mean = "1 kB" } }
  |                                                          ^^^
hint: take a shape above 1, or a `minimum`, or a `max`""".replace("7:45", "7:58"),
    ),
    "unknown distribution": (
        'rate = 5, size = { name = "parato", mean = "1 kB" }',
        """\
error: unknown distribution `parato`
 --> web.toml:7:40
  |
7 | arrivals = { rate = 5, size = { name = "parato", mean = "1 kB" } }
  |                                        ^^^^^^^^
hint: did you mean `pareto`? `sawtooth list distribution` shows all""",
    ),
    "a time for a size": (
        'rate = 5, size = { name = "exponential", mean = "1 s" }',
        """\
error: expected a size such as `1500 B`, found a time
 --> web.toml:7:65
  |
7 | arrivals = { rate = 5, size = { name = "exponential", mean = "1 s" } }
  |                                                              ^^^^^""".replace("7:65", "7:62"),
    ),
    "points that are no distribution": (
        'rate = 5, size = { name = "empirical", points = [[1000, 0.7], [2000, 0.6], [3000, 1]] }',
        """\
error: point 2: cumulative probabilities must ascend: 0.6 comes after 0.7
 --> web.toml:7:62
  |
7 | arrivals = { rate = 5, size = { name = "empirical", points = [[1000, 0.7], [2000, 0.6], [3000, 1]] } }
  |                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: each is a value and the probability of it or less; the last one's is 1""",
    ),
}


@pytest.mark.parametrize(("arrivals", "expected"), CASES.values(), ids=CASES.keys())
def test_a_mistake_in_arrivals_has_an_exact_message(arrivals: str, expected: str) -> None:
    assert message(study(arrivals)) == expected


def test_loads_of_two_entries_add_up() -> None:
    text = study("load = 0.7") + '[[scenario.flows]]\nname = "more"\npath = ["l"]\narrivals = { load = 0.4 }\n'
    assert message(text).startswith("error: the offered load on `l` is 110.0000 %: no queue can hold that\n  --> web.toml:11:21")


def test_a_load_of_the_command_line_is_blamed_there() -> None:
    text = message(study("load = 0.5"), options=("flows[0].arrivals.load=1.5",))
    assert text.startswith("error: the offered load on `l` is 150.0000 %")
    assert "--set:1:" in text


FILES = {
    "not ascending": (
        "100 0.2\n# the median\n300, 0.5\n200 0.9\n500 1\n",
        """\
error: values must ascend: 200 comes after 300
 --> cdf.txt:4:1
  |
4 | 200 0.9
  | ^^^""",
    ),
    "probabilities that fall": (
        "100 0.2\n300 0.1\n500 1\n",
        """\
error: cumulative probabilities must ascend: 0.1 comes after 0.2
 --> cdf.txt:2:5
  |
2 | 300 0.1
  |     ^^^""",
    ),
    "not ending in 1": (
        "100 0.2\n300 0.99\n",
        """\
error: the last cumulative probability must be 1, found 0.99
 --> cdf.txt:2:1
  |
2 | 300 0.99
  | ^^^^^^^^""",
    ),
    "a word": (
        "100 0.2\nmany 1\n",
        """\
error: `many` is no number
 --> cdf.txt:2:1
  |
2 | many 1
  | ^^^^""",
    ),
    "three columns": (
        "100 1 0.2\n",
        """\
error: expected a value and a probability, found 3 words
 --> cdf.txt:1:1
  |
1 | 100 1 0.2
  | ^^^^^^^^^""",
    ),
}


@pytest.mark.parametrize(("text", "expected"), FILES.values(), ids=FILES.keys())
def test_a_file_that_is_no_distribution_is_refused_with_its_line(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "cdf.txt").write_text(text)
    found = message(study('rate = 5, size = { name = "empirical", file = "cdf.txt" }'), tmp_path)
    found = found.replace(str(tmp_path / "cdf.txt"), "cdf.txt")
    hint = "\nhint: each line has a value and the probability of it or less, such as `1000 0.25`; the last probability is 1"
    assert found == expected + hint


def test_per_cent_are_recognised(tmp_path: Path) -> None:
    (tmp_path / "cdf.txt").write_text("100 20\n300 100\n")
    found = message(study('rate = 5, size = { name = "empirical", file = "cdf.txt" }'), tmp_path)
    assert found.endswith("hint: divide by 100: probabilities, not per cent")


def test_a_missing_file_is_blamed_where_it_is_named(tmp_path: Path) -> None:
    found = message(study('rate = 5, size = { name = "empirical", file = "nowhere.txt" }'), tmp_path)
    assert found.startswith(f"error: cannot read {tmp_path / 'nowhere.txt'}: No such file or directory\n")
    assert "web.toml:7:60" in found


def test_a_file_is_part_of_the_scenario_and_of_the_runs_id(tmp_path: Path) -> None:
    text = study('rate = 50, size = { name = "empirical", file = "cdf.txt" }')
    ids: list[str] = []
    for content in ("100 0.5\n200 1\n", "100 0.5\n300 1\n"):
        (tmp_path / "cdf.txt").write_text(content)
        plan = make_plan(Study.parse(text, tmp_path / "web.toml"))
        assert "cdf.txt" not in plan.runs[0].scenario
        ids.append(plan.runs[0].id)
    assert ids[0] != ids[1]


def test_packaged_programs_do_not_arrive_at_kernels_and_answer_nobody() -> None:
    text = study("rate = 5").replace("[scenario]", 'backend = "uml"\n[scenario]\nkernel = { application = "http" }', 1)
    assert message(text).startswith("error: packaged programs fetch one file each: none arrive and leave\n --> web.toml:9:12")
    text = text.replace("arrivals = { rate = 5 }", 'source = "request_response"')
    assert message(text).startswith("error: a fetch is of one file, not `request_response`\n --> web.toml:9:10")


def test_records_of_a_run_with_arrivals_and_exchanges() -> None:
    records = sawtooth.simulate({
        "duration": "10 s",
        "record": ["transfers"],
        "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flows": [
            {"name": "web", "path": ["l"], "arrivals": {"load": 0.3, "size": {"name": "exponential", "mean": "20 kB"}}},
            {"name": "page", "path": ["l"], "source": {"name": "request_response", "think": "100 ms", "count": 20}},
        ],
    })  # fmt: skip
    arrivals = records.tables["arrivals"].row(0, named=True)
    assert arrivals["started"] == records.tables["transfers"].height
    assert records.tables["completions"]["completed"].sum() == arrivals["completed"]
    exchanges = records.tables["exchanges"].row(0, named=True)
    assert (exchanges["asked"], exchanges["answered"]) == (20, 20)
    # The response to a request takes a round trip of 10 ms at least.
    assert exchanges["completion_p50_ns"] > 10_000_000
