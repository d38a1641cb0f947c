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
    "a limit below one packet of drr": (
        '{ name = "drr", limit = "1 kB" }',
        "`limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        '"1 kB"',
    ),
    "a limit below one packet of sfq, in bdp": (
        '{ name = "sfq", limit = "0.01 bdp" }',
        "`limit` is 250 B, less than one packet of 1500 B: no packet would ever wait",
        '"0.01 bdp"',
    ),
    "a limit of no packet": (
        '{ name = "sfq", limit = "0 packets" }',
        "`limit` must be a whole number of packets above zero, found 0",
        '"0 packets"',
    ),
    "a limit below one packet of fq_codel": (
        '{ name = "fq_codel", limit = "1499 B" }',
        "`limit` is 1499 B, less than one packet of 1500 B: no packet would ever wait",
        '"1499 B"',
    ),
    "a memory below one packet": (
        '{ name = "fq_pie", memory_limit = "1 kB" }',
        "`memory_limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        '"1 kB"',
    ),
    "a target of fq_codel above the interval": (
        '{ name = "fq_codel", interval = "4 ms" }',
        "`target` is 5 ms, and `interval` is 4 ms: the delay is to be below it for most of an interval",
        '"4 ms"',
    ),
    "a turn of drr that sends nothing": (
        '{ name = "drr", quantum = "0 B" }',
        "`quantum` must be a whole number of bytes above zero, found 0",
        '"0 B"',
    ),
    "a turn of sfq that sends nothing": (
        '{ name = "sfq", quantum = "0 packets" }',
        "`quantum` must be a whole number of packets above zero, found 0",
        '"0 packets"',
    ),
    "a hash that changes all the time": (
        '{ name = "sfq", perturbation_period = "0 s" }',
        "`perturbation_period` must be above zero, found 0 s",
        '"0 s"',
    ),
    "a threshold of a queue that has none": (
        '{ name = "drr", min_threshold = "3 packets" }',
        "unknown parameter of drr `min_threshold`",
        "min_threshold",
    ),
    "a limit below one packet of dualpi2": (
        '{ name = "dualpi2", limit = "1 kB" }',
        "`limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        '"1 kB"',
    ),
    "a limit in time below one packet": (
        '{ name = "dualpi2", limit_time = "1 ms", target = "0.9 ms" }',
        "`limit_time` is 1 ms, less than one packet of 1500 B takes: no packet would ever wait",
        '"1 ms"',
    ),
    "a target of dualpi2 that its limit never lets it reach": (
        '{ name = "dualpi2", target = "300 ms" }',
        "`target` is 300 ms, and the queue drops above 250 ms: its delay would never get there",
        '"300 ms"',
    ),
    "a threshold of dualpi2 that its limit never lets it reach": (
        '{ name = "dualpi2", limit_time = "20 ms", min_threshold = "20 ms" }',
        "`min_threshold` is 20 ms, and the queue drops above 20 ms: no L4S packet would ever wait that long",
        '"20 ms"',
    ),
    "a threshold of dualpi2 in packets": (
        '{ name = "dualpi2", min_threshold = "5 packets" }',
        "expected a time such as `20 ms`, found a number of packets",
        '"5 packets"',
    ),
    "a share that leaves nothing": (
        '{ name = "dualpi2", classic_share = 1 }',
        "`classic_share` must be from 0.001 to 0.999, found 1",
        "1 }",
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
    # What there is to do follows from the sentence, or is told.
    assert error.hint or "must be" in message or "expected" in message


def test_a_bucket_that_fills_as_fast_as_its_link_is_warned_of() -> None:
    text = STUDY.replace("QUEUE", '{ name = "token_bucket", rate = "10 Mbit/s" }')
    (warning,) = make_plan(Study.parse(text, Path("queue.toml"))).warnings
    assert "it will hold nothing back" in str(warning)
