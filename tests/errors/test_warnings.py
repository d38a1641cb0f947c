"""The exact text of every warning: what can be run, and is hardly meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
[scenario]
duration = "1 s"
cc = "reno"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
tcp = { recovery = "rack" }
[[scenario.flows]]
path = ["l"]
"""
STEP = 'queue = { name = "step", limit = "50 packets", mark_above = "9 packets" } }'


def changed(*changes: tuple[str, str]) -> str:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


MARKING = ('"10 ms" }', f'"10 ms", {STEP}')

CASES = {
    "an algorithm that lives on marks where nothing marks": (
        changed(('"reno"', '"dctcp"')),
        """\
warning: no queue on the path of `dctcp` marks: it will react to losses only, as reno
 --> pair.toml:3:6
  |
3 | cc = "dctcp"
  |      ^^^^^^^
hint: give a link of its path queue = { name = "step" }, or take another algorithm""",
    ),
    "ECN where nothing marks": (
        changed(('"rack"', '"rack", ecn = "classic"')),
        """\
warning: no queue on the path marks: ECN is agreed on, and changes nothing
 --> pair.toml:5:34
  |
5 | tcp = { recovery = "rack", ecn = "classic" }
  |                                  ^^^^^^^^^
hint: give a link of its path a queue that marks, such as "red", or leave `ecn` out""",
    ),
    "prague without ECN": (
        changed(('"reno"', '"prague"'), MARKING, ('"rack"', '"rack", ecn = "off"')),
        """\
warning: `prague` without ECN hears of no marks: it will react to losses only, as reno
 --> pair.toml:5:34
  |
5 | tcp = { recovery = "rack", ecn = "off" }
  |                                  ^^^^^
hint: leave `ecn` out: it then brings what it needs""",
    ),
    "prague with classic feedback": (
        changed(('"reno"', '"prague"'), MARKING, ('path = ["l"]', 'path = ["l"]\ntcp.ecn = "classic"')),
        """\
warning: with classic feedback `prague` hears of one mark per round trip: it will react as to a loss
 --> pair.toml:8:11
  |
8 | tcp.ecn = "classic"
  |           ^^^^^^^^^
hint: leave `ecn` out: it then brings what it needs""",
    ),
    "dctcp with classic feedback": (
        changed(('"reno"', '"dctcp"'), MARKING, ('"rack"', '"rack", ecn = "classic"')),
        """\
warning: with classic feedback `dctcp` takes all that is echoed until its CWR arrives for marked: it will reduce too much
 --> pair.toml:5:34
  |
5 | tcp = { recovery = "rack", ecn = "classic" }
  |                                  ^^^^^^^^^
hint: leave `ecn` out: it then brings what it needs""",
    ),
    "a reaction to marks without marks": (
        changed(('"reno"', '{ name = "reno", beta_ecn = 0.8 }')),
        """\
warning: `beta_ecn` has no effect: without ECN there are no marks
 --> pair.toml:3:23
  |
3 | cc = { name = "reno", beta_ecn = 0.8 }
  |                       ^^^^^^^^
hint: set tcp.ecn = "classic", and a queue that marks""",
    ),
    "a key that the recovery does not read": (
        changed(('"rack"', '"sack", prr = false')),
        """\
warning: `prr` has no effect: `recovery` is "sack" here
 --> pair.toml:5:28
  |
5 | tcp = { recovery = "sack", prr = false }
  |                            ^^^
hint: leave it out, or set recovery = "fack" or "rack\"""",
    ),
    "a wait that the policy of delayed acknowledgements does not read": (
        changed(('"rack"', '"rack", delayed_ack_pushed = "20 ms"')),
        """\
warning: `delayed_ack_pushed` has no effect: `delayed_ack` is "timeout" here
 --> pair.toml:5:28
  |
5 | tcp = { recovery = "rack", delayed_ack_pushed = "20 ms" }
  |                            ^^^^^^^^^^^^^^^^^^
hint: leave it out, or set delayed_ack = "linux-2.0\"""",
    ),
    "a link that no flow crosses": (
        changed(('"10 ms" }', '"10 ms" }\nlinks.idle = { count = 3, rate = "1 Mbit/s" }')),
        """\
warning: no flow crosses `idle`: it will do nothing
 --> pair.toml:5:7
  |
5 | links.idle = { count = 3, rate = "1 Mbit/s" }
  |       ^^^^
hint: name it in the `path` of a flow, or leave it out""",
    ),
    "a path that crosses a link twice": (
        changed(('path = ["l"]', 'path = ["l", "l"]')),
        """\
warning: the path crosses `l` twice: packets will queue there twice
 --> pair.toml:7:14
  |
7 | path = ["l", "l"]
  |              ^^^
hint: acknowledgements take the same links back by themselves: list each link once""",
    ),
    "a start after the end": (
        changed(('path = ["l"]', 'path = ["l"]\ncount = 2\nstart = "i * 1 s"')),
        """\
warning: the run ends at 1 s, before this starts: it will send nothing
 --> pair.toml:9:9
  |
9 | start = "i * 1 s"
  |         ^^^^^^^^^
hint: start it earlier, or give the scenario a longer `duration`""",
    ),
}


UDP = 'path = ["l"]\ntransport = "udp"\nsource = "poisson"\n'
CASES |= {
    "a path of UDP that crosses a link twice": (
        changed(('path = ["l"]\n', UDP.replace('["l"]', '["l", "l"]') + "count = 2\n")),
        """\
warning: the path crosses `l` twice: packets will queue there twice
 --> pair.toml:7:14
  |
7 | path = ["l", "l"]
  |              ^^^
hint: list each link once""",
    ),
    "a start of UDP after the end": (
        changed(('path = ["l"]\n', f'{UDP}start = "1 s"\n')),
        """\
warning: the run ends at 1 s, before this starts: it will send nothing
  --> pair.toml:10:9
   |
10 | start = "1 s"
   |         ^^^^^
hint: start it earlier, or give the scenario a longer `duration`""",
    ),
    "arrivals after the end": (
        changed(('path = ["l"]', 'path = ["l"]\nstart = "2 s"\narrivals = { rate = 1 }')),
        """\
warning: the run ends at 1 s, before this starts: it will send nothing
 --> pair.toml:8:9
  |
8 | start = "2 s"
  |         ^^^^^
hint: start it earlier, or give the scenario a longer `duration`""",
    ),
    "arrivals whose path crosses a link twice": (
        changed(('path = ["l"]', 'path = ["l", "l"]\narrivals = { rate = 1 }')),
        """\
warning: the path crosses `l` twice: packets will queue there twice
 --> pair.toml:7:14
  |
7 | path = ["l", "l"]
  |              ^^^
hint: acknowledgements take the same links back by themselves: list each link once""",
    ),
}


def warnings(text: str) -> list[str]:
    return [str(warning) for warning in make_plan(Study.parse(text, Path("pair.toml"))).warnings]


@pytest.mark.parametrize("name", CASES)
def test_warning(name: str) -> None:
    text, expected = CASES[name]
    assert warnings(text) == [expected]


def test_what_is_harmless_or_meant_is_not_warned_of() -> None:
    assert warnings(STUDY) == []
    assert warnings(changed(('"rack"', '"rack", ecn = "classic"'), MARKING)) == []
    assert warnings(changed(('"reno"', '"prague"'), MARKING)) == []
    # One flow reads it.
    mixed = changed(
        ('"rack"', '"rack", prr = false'), ('path = ["l"]', 'path = ["l"]\n[[scenario.flows]]\npath = ["l"]\ntcp.recovery = "sack"')
    )
    assert warnings(mixed) == []


def test_a_warning_is_told_once_and_the_study_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(
        changed(('"reno"', '"dctcp"'), ('path = ["l"]', 'path = ["l"]\ncount = 3')) + "[sweep]\n'links.l.delay' = ['1 ms', '2 ms']\n"
    )
    outcome = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert outcome.exit_code == 0
    assert outcome.stderr.count("warning: no queue on the path of `dctcp` marks") == 1


def test_a_sweep_that_leads_there_is_pointed_at() -> None:
    (warning,) = warnings(STUDY + "[sweep]\n'cc' = ['reno', 'dctcp']\n")
    assert "pair.toml:9:17" in warning


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        (
            'limit = "9 packets", mark_above = "9 packets"',
            "`mark_above` is 9 packets, and the queue drops above 9 packets: it would never mark",
        ),
        (
            'limit = "90 kB", mark_above = "1 kB"',
            "`mark_above` is 1000 B, less than one packet of 1500 B: every packet that waits would be marked",
        ),
    ],
)
def test_a_threshold_is_below_the_limit_and_at_least_a_packet(queue: str, expected: str) -> None:
    from sawtooth.errors import StudyError

    text = changed(('"10 ms" }', f'"10 ms", queue = {{ name = "step", {queue} }} }}'))
    with pytest.raises(StudyError) as raised:
        make_plan(Study.parse(text, Path("pair.toml")))
    assert raised.value.message == expected
    assert raised.value.place is not None
    assert raised.value.place.text[raised.value.place.column - 1 :].startswith(queue.split("mark_above = ")[1])
