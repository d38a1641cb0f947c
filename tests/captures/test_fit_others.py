"""The traffic of others at the bottleneck, as `sawtooth fit` finds it in captures of known scenarios, and queues that are not drop-tail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sawtooth import captures, fitting, taps
from sawtooth.api import simulate
from sawtooth.cli.fit_text import as_json, lines
from sawtooth.fitting.cross import shared
from sawtooth.fitting.packets import packets
from sawtooth.fitting.path import path
from sawtooth.plan import make_plan
from sawtooth.study import Study

RATE = 8e6
UDP = {"path": ["l"], "transport": "udp"}


def capture(directory: Path, others: list[dict[str, Any]], queue: str = "drop_tail", cc: str = "cubic") -> captures.Capture:
    link = {"rate": "8 Mbit/s", "delay": "20 ms", "queue": {"name": queue, "limit": "40 packets"}}
    scenario = {"duration": "20 s", "stack": "linux", "cc": cc, "links": {"l": link}, "flows": [{"path": ["l"]}, *others]}
    simulate(scenario, seed=3, captures=taps.wanted(directory / "x.pcapng"))
    return captures.read(directory / "x.pcapng")


def found(directory: Path, others: list[dict[str, Any]], queue: str = "drop_tail", cc: str = "cubic") -> tuple[fitting.Path, fitting.Cross]:
    made = capture(directory, others, queue, cc)
    seen = packets(made, made.flows["flow"][0])
    return shared(seen, path(seen))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
@pytest.mark.parametrize(("name", "even"), [("constant_rate", True), ("poisson", False)])
def test_steady_traffic_is_found_with_its_rate_and_the_path_is_as_without_it(tmp_path: Path, name: str, even: bool, share: float) -> None:
    path, cross = found(tmp_path, [{**UDP, "source": {"name": name, "rate": f"{share * RATE:.0f} bit/s"}}])
    assert cross.rate_bps.value == pytest.approx(share * RATE, abs=0.05 * RATE)
    assert cross.rate_bps.low <= share * RATE <= cross.rate_bps.high
    assert (cross.kind.name, cross.kind.even) == ("steady", even)
    assert path.rate_bps.value == pytest.approx(RATE, rel=0.02)
    assert path.delay_s.value == pytest.approx(0.04, rel=0.02)
    assert path.buffer_packets.value == pytest.approx(40, rel=0.1)
    assert path.loss.low == 0


def test_the_steps_of_traffic_that_is_on_and_off_are_found(tmp_path: Path) -> None:
    source = {"name": "constant_rate", "rate": "4 Mbit/s"}
    _, cross = found(tmp_path, [{**UDP, "source": source, "start": f"{at} s", "stop": f"{at + 3} s"} for at in (1, 7, 13)])
    assert cross.kind.name == "on-off"
    on = [step for step in cross.steps if step.rate > 2e6]
    assert [(round(step.since_s), round(step.until_s)) for step in on] == [(1, 4), (7, 10), (13, 16)]
    assert [step.rate for step in on] == [pytest.approx(4e6, rel=0.1)] * 3
    assert sum(step.lasts_s for step in cross.steps if step not in on and step.rate > 4e5) < 1


def test_connections_that_take_what_they_can_are_responsive(tmp_path: Path) -> None:
    _, cross = found(tmp_path, [{"path": ["l"], "start": "2 s"}, {"path": ["l"], "start": "5 s", "cc": "reno"}])
    assert cross.kind.name == "responsive"
    assert 2 <= cross.kind.began_s < 5


def test_where_nobody_else_is_none_are_found_and_what_there_may_be_at_most_is_told(tmp_path: Path) -> None:
    _, cross = found(tmp_path, [])
    assert (cross.rate_bps.value, cross.kind.name, cross.steps) == (0.0, "none", [])
    assert cross.rate_bps.high == pytest.approx(0.02 * RATE, rel=0.01)


@pytest.mark.parametrize(
    ("others", "entry"),
    [
        ([{**UDP, "source": {"name": "constant_rate", "rate": "3 Mbit/s"}}], "constant_rate"),
        ([{**UDP, "source": {"name": "poisson", "rate": "3 Mbit/s"}}], "poisson"),
        ([{"path": ["l"], "start": "2 s"}], 'cc = "cubic"\nstart ='),
    ],
)
def test_the_study_has_sources_of_the_same_traffic_and_leaves_the_flow_as_much(
    tmp_path: Path, others: list[dict[str, Any]], entry: str
) -> None:
    made = capture(tmp_path, others)
    study = fitting.fit(made, made.flows["flow"][0], ["cubic"]).study
    assert entry in study
    flows = simulate(json.loads(make_plan(Study.parse(study, Path("fitted.toml"))).runs[0].scenario)).tables["flows"]
    assert flows["flow"][0] == "flow"
    assert flows["acked_bytes"][0] == pytest.approx(made.flows["acked_bytes"][0], rel=0.3)


def test_the_congestion_control_is_named_beside_others_and_the_words_say_what_was_found(tmp_path: Path) -> None:
    made = capture(tmp_path, [{**UDP, "source": {"name": "constant_rate", "rate": "3 Mbit/s"}}], cc="reno")
    fit = fitting.fit(made, made.flows["flow"][0], ["reno", "cubic", "bbr"])
    assert fit.control.name == "reno"
    said = list(lines(fit, None, None))
    assert re.fullmatch(
        r"others  [23]\.\d+ Mbit/s \(.* Mbit/s\): what the queue had to do besides the flow's own packets, 3\d\.\d% of the link's time",
        said[5],
    )
    assert said[6].startswith("        steady: its rate was the same within ") and said[6].endswith(", and its packets came evenly")
    told = as_json(fit, None)["cross"]
    assert (told["kind"], len(told["steps"]) >= 1) == ("steady", True)


@pytest.mark.parametrize("queue", ["codel", "fq_codel", "pie"])
def test_a_queue_that_loses_packets_before_it_is_full_is_said_to_be_another_one_than_drop_tail(tmp_path: Path, queue: str) -> None:
    link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": queue}
    simulate(
        {"duration": "20 s", "stack": "linux", "cc": "bic", "links": {"l": link}, "flows": [{"path": ["l"]}]},
        seed=3,
        captures=taps.wanted(tmp_path / "x.pcapng"),
    )
    made = captures.read(tmp_path / "x.pcapng")
    told = path(packets(made, made.flows["flow"][0]))
    assert told.not_drop_tail is not None
    assert told.buffer_packets.value is None
    assert told.buffer_packets.why == f"cannot tell: the queue is not drop-tail: {told.not_drop_tail}; it has room for what was queued"


def test_marks_are_seen_to_be_of_a_managed_queue(tmp_path: Path) -> None:
    link = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"name": "codel", "ecn": True}}
    simulate(
        {"duration": "20 s", "stack": "linux", "cc": "reno", "tcp": {"ecn": "classic"}, "links": {"l": link}, "flows": [{"path": ["l"]}]},
        captures=taps.wanted(tmp_path / "x.pcapng"),
    )
    made = captures.read(tmp_path / "x.pcapng")
    marks = made.flows["ecn_signals"][0]
    assert marks > 0
    assert path(packets(made, made.flows["flow"][0])).not_drop_tail == f"{marks} acknowledgements told of marks (ECN)"
