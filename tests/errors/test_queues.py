"""Queues that contradict themselves, or could never work, are refused at load, and the place is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = QUEUE }
flows = [{ path = ["l"] }]
"""

# A queue, what is said of it, and where.
CASES = {
    "a limit below one packet": (
        '{ name = "drop_tail", limit = "1 kB" }',
        "`limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        '"1 kB"',
    ),
    "a limit below one packet in bdp": (
        '{ name = "codel", limit = "0.01 bdp" }',
        "`limit` is 250 B, less than one packet of 1500 B: no packet would ever wait",
        '"0.01 bdp"',
    ),
    "thresholds that cross": (
        '{ name = "red", min_threshold = "20 packets", max_threshold = "10 packets" }',
        "`min_threshold` is 20 packets, and `max_threshold` is 10 packets: the thresholds cross",
        '"20 packets"',
    ),
    "a threshold that crosses a default": (
        '{ name = "red", max_threshold = "4 packets" }',
        "`min_threshold` is 5 packets, and `max_threshold` is 4 packets: the thresholds cross",
        '"4 packets"',
    ),
    "thresholds of different kinds": (
        '{ name = "red", min_threshold = "5 packets", max_threshold = "30 kB" }',
        "`min_threshold` is 5 packets, and `max_threshold` 30000 B: the average is counted in one or the other",
        '"5 packets"',
    ),
    "a threshold above the limit": (
        '{ name = "red", min_threshold = "10 packets", limit = "10 packets" }',
        "`min_threshold` is 10 packets, and the queue drops above 10 packets: its average would never get there",
        '"10 packets"',
    ),
    "bounds that cross": (
        '{ name = "ared", max_p_least = 0.6 }',
        "`max_p_least` is 0.6, and `max_p_most` is 0.5: the bounds cross",
        "0.6",
    ),
    "a target above the interval": (
        '{ name = "codel", target = "100 ms" }',
        "`target` is 100 ms, and `interval` is 100 ms: the delay is to be below it for most of an interval",
        '"100 ms"',
    ),
    "a bucket without a rate": (
        '{ name = "token_bucket" }',
        "a token bucket needs a `rate`",
        '{ name = "token_bucket" }',
    ),
    "a bucket that holds no packet": (
        '{ name = "token_bucket", rate = "1 Mbit/s", burst = "1 kB" }',
        "`burst` is 1000 B, less than one packet of 1500 B: no such packet would ever leave",
        '"1 kB"',
    ),
    "a peak below the rate": (
        '{ name = "token_bucket", rate = "5 Mbit/s", peak_rate = "2 Mbit/s" }',
        "`rate` is 5 Mbit/s, and `peak_rate` is 2 Mbit/s: no burst would be faster than the rest",
        '"5 Mbit/s"',
    ),
    "a probability above one": (
        '{ name = "red", max_p = 1.5 }',
        "`max_p` must be from 0 to 1, found 1.5",
        "1.5",
    ),
    "a key of another queue": (
        '{ name = "codel", update = "5 ms" }',
        "unknown parameter of codel `update`",
        "update",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_queue_that_cannot_be_meant_is_refused(name: str) -> None:
    queue, message, found = CASES[name]
    with pytest.raises(StudyError) as raised:
        make_plan(Study.parse(STUDY.replace("QUEUE", queue), Path("queue.toml")))
    error = raised.value
    assert error.message == message
    assert error.place is not None
    assert error.place.line == 3
    assert error.place.text[error.place.column - 1 :].startswith(found)


def test_a_bucket_that_fills_as_fast_as_its_link_is_warned_of() -> None:
    text = STUDY.replace("QUEUE", '{ name = "token_bucket", rate = "10 Mbit/s" }')
    (warning,) = make_plan(Study.parse(text, Path("queue.toml"))).warnings
    assert "it will hold nothing back" in str(warning)
