"""Outages, changes and losses of a link that do not do what they say, and numbers that nobody can read."""

from __future__ import annotations

import pytest

from sawtooth.errors import StudyError
from sawtooth.linting import lint
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
[scenario]
duration = "30 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "10 ms", KEYS }
flows = [{ path = ["l"], tcp.ecn = "off" }]
"""


def told(keys: str) -> list[str]:
    found = lint(Study.parse(STUDY.replace("KEYS", keys)))
    return [f"{each.rule.code} {each.message}" for each in found if each.rule.code.startswith("SW31")]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('outages = [{ from = "30 s", until = "31 s", every = "2 s" }]', "SW310 the run ends after 30 s, and this outage begins at 30 s"),
        ('changes = [{ at = "40 s", rate = "1 Mbit/s" }]', "SW310 the run ends after 30 s, and the first change is at 40 s"),
        ('changes = { rows = [{ at = "40 s", rate = "1 Mbit/s" }], every = "60 s" }', "SW310 the run ends after 30 s, and the first change is at 40 s"),
        (
            'reverse = { outages = [{ from = "8 s", until = "9 s" }, { from = "5 s", until = "20 s" }] }',
            "SW311 the link is down already: another outage lasts from 5 s to 20 s",
        ),
        ("drop = [3, 3, 2]", "SW312 packet 3 is dropped twice, which is once"),
        ("drop = [3, 2]", "SW312 the packets that are dropped are not in their order"),
        ('loss = "0.5 * 2"', "SW313 every packet is lost: nothing ever arrives"),
    ],
)  # fmt: skip
def test_what_does_not_do_what_it_says_is_told(keys: str, expected: str) -> None:
    assert told(keys) == [expected]


@pytest.mark.parametrize(
    "keys",
    [
        'outages = [{ from = "1 s", until = "2 s", every = "5 s" }, { from = "3 s", until = "4 s" }]', 'changes = [{ at = "1 s", rate = "1 Mbit/s" }, { at = "40 s", rate = "1 Mbit/s" }]',
        "drop = [2, 3]", "drop = []", "loss = 0.99", 'loss = { name = "gilbert_elliott" }',
    ],
)  # fmt: skip
def test_what_does_what_it_says_is_not(keys: str) -> None:
    assert told(keys) == []


def test_numbers_of_messages_can_be_read() -> None:
    text = STUDY.replace(", KEYS", "")
    (trips,) = [each.message for each in lint(Study.parse(text.replace("10 ms", "1e8 s"))) if each.rule.code == "SW502"]
    assert trips == "a run has 1e-07 round trips of 2.00e8 s, without any queue"
    with pytest.raises(StudyError, match="a link's delay can be up to 292 years, found 1e300 s") as caught:
        make_plan(Study.parse(text.replace("10 ms", "1e300 s")))
    assert caught.value.hint is not None and caught.value.place is not None


def test_changes_that_do_not_ascend_have_a_hint() -> None:
    with pytest.raises(StudyError, match="1 s comes after 2 s: times must ascend") as caught:
        make_plan(Study.parse(STUDY.replace("KEYS", 'changes = [{ at = "2 s", rate = "1 Mbit/s" }, { at = "1 s", rate = "2 Mbit/s" }]')))
    assert str(caught.value.hint).startswith("write the changes in the order of their times, each time once")
