"""What figures and findings name is held against what runs will have when a study is planned, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.plan import make_plan
from sawtooth.study import Study
from tests.errors.test_messages import message

HEAD = """\
[scenario]
duration = "1 s"
sample = "100 ms"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
[[scenario.flows]]
name = "near"
path = ["l"]
[[scenario.flows]]
name = "far"
path = ["l"]
count = 2
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""
FIGURE = '[[figures]]\nname = "g"\n'
FINDING = '[[findings]]\nclaim = "c"\narm = "cubic"\nis = "above"\nthan = { arm = "reno" }\n'

REFUSED = {
    "a figure of what is not there": (
        f'{FIGURE}metric = "goodput_bps"\nof = ["near", "fr"]\n',
        """\
error: no run has an item `fr` of `goodput_bps`
  --> pair.toml:18:15
   |
18 | of = ["near", "fr"]
   |               ^^^^
hint: did you mean `far`?""",
    ),
    "a figure over time": (
        f'{FIGURE}kind = "time"\nmetric = "cwnd_bytes"\nof = "l forward"\n',
        """\
error: no run has an item `l forward` of `cwnd_bytes`
  --> pair.toml:19:6
   |
19 | of = "l forward"
   |      ^^^^^^^^^^^
hint: known here: near, far[1], far[2], far""",
    ),
    "a finding of a link without its direction": (
        f'{FINDING}metric = "links.dropped_packets"\nof = "l"\n',
        """\
error: no run has an item `l` of `links.dropped_packets`
  --> pair.toml:21:6
   |
21 | of = "l"
   |      ^^^
hint: known here: l forward, l reverse""",
    ),
    "a finding that must say of what": (
        f'{FINDING}metric = "goodput_bps"\n',
        """\
error: a finding about `goodput_bps` must say of what
  --> pair.toml:20:10
   |
20 | metric = "goodput_bps"
   |          ^^^^^^^^^^^^^
hint: add of = one of near, far""",
    ),
    "an item in an expression": (
        f'{FINDING}metric = "goodput_bps / items.fur.goodput_bps"\nof = "near"\n',
        """\
error: no run has an item `fur` of `goodput_bps / items.fur.goodput_bps`
  --> pair.toml:20:31
   |
20 | metric = "goodput_bps / items.fur.goodput_bps"
   |                               ^^^
hint: did you mean `far`?""",
    ),
    "the other side of a finding": (
        f'{FINDING}metric = "goodput_bps"\nof = "near"\n'.replace('arm = "reno"', 'of = "fur"'),
        """\
error: no run has an item `fur` of `goodput_bps`
  --> pair.toml:19:15
   |
19 | than = { of = "fur" }
   |               ^^^^^
hint: did you mean `far`?""",
    ),
    "exchanges without a flow that asks": (
        f'{FIGURE}metric = "exchanges.answered"\n',
        """\
error: no run has `exchanges.answered`: the table `exchanges` needs a flow with source = { name = "request_response" }
  --> pair.toml:17:10
   |
17 | metric = "exchanges.answered"
   |          ^^^^^^^^^^^^^^^^^^^^
hint: take another measure, or give it to a flow""",
    ),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_no_run_has_is_refused_when_it_is_planned(text: str, expected: str) -> None:
    assert message(HEAD + text) == expected


def test_what_is_computed_over_time_needs_samples() -> None:
    text = HEAD.replace('sample = "100 ms"\n', "") + f'{FIGURE}metric = "jain_over_time"\n'
    assert message(text).startswith("error: `jain_over_time` needs samples\n  --> pair.toml:16:10")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{FIGURE}metric = "goodput_bps"\nof = ["far", "near"]\n', id="a block"),
        pytest.param(f'{FIGURE}metric = "goodput_bps"\nflows = "each"\nof = ["far", "far[1]"]\n', id="each of a block"),
        pytest.param(f'{FIGURE}kind = "cdf"\nmetric = "cwnd_bytes"\nof = ["far", "far[2]"]\n', id="a block, sampled"),
        pytest.param(f'{FIGURE}kind = "time"\nmetric = "queues.backlog_packets"\nof = "l forward"\n', id="a queue, sampled"),
        pytest.param(f'{FINDING}metric = "jain_over_time"\n', id="all flows together"),
        pytest.param(f'{FINDING}metric = "throughput_cov"\nof = "far"\n', id="over time"),
    ],
)
def test_what_runs_have_is_not(text: str) -> None:
    assert make_plan(Study.parse(HEAD + text, Path("pair.toml"))).runs


def test_what_only_some_runs_have_is_not() -> None:
    arms = '[arms]\na = {}\nb = { "flows[1].name" = "off" }\n'
    text = HEAD.partition("[arms]")[0] + arms + f'{FIGURE}metric = "goodput_bps"\nof = "off"\n'
    assert make_plan(Study.parse(text, Path("pair.toml"))).runs
