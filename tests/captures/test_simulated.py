"""What captures of simulated runs analyse to, beside what the runs recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sawtooth import captures, taps
from sawtooth.api import simulate

_STEP = {"name": "step", "limit": "100 packets", "mark_above": "10 packets"}


def scenario(*, queue: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """A flow over 10 Mbit/s and 15 ms each way, with 60 packets of room if no queue is named."""
    link = {"rate": "10 Mbit/s", "delay": "15 ms", "queue": queue or {"name": "drop_tail", "limit": "60 packets"}}
    return {"duration": "4 s", "stack": "linux", "links": {"l": link}, "flows": [{"path": ["l"]}], **keys}


def analysed(tree: dict[str, Any], directory: Path, *points: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record of the only flow, and its rows in the captures at these points."""
    records = simulate(tree, captures=taps.wanted(directory, points))
    names = [point.replace(":", "-") for point in points]
    (record,) = records.flows.iter_rows(named=True)
    return record, [captures.read(directory / f"{name}.pcapng").flows.row(0, named=True) for name in names]


def test_marks_that_accecn_reports_are_those_that_the_receiver_got(tmp_path: Path) -> None:
    record, (sender, receiver) = analysed(scenario(queue=_STEP, cc="prague"), tmp_path, "sender", "receiver")
    assert record["ce_in"] > 100
    for row in (sender, receiver):
        assert (row["ecn_feedback"], row["cwr_packets"]) == ("accurate", None)
        # Of full segments each.
        assert row["ce_reported_bytes"] == 1448 * row["ce_reported"]
    assert receiver["ce_reported"] == receiver["ce_in"] == record["ce_in"]
    # The last reports may be on their way.
    assert record["ce_in"] - 10 <= sender["ce_reported"] <= record["ce_in"]
    assert sender["ecn_signals"] == record["ecn_signals"]


def test_ece_is_a_signal_where_accecn_was_not_agreed_on(tmp_path: Path) -> None:
    record, (sender,) = analysed(scenario(queue=_STEP, cc="reno", tcp={"ecn": "classic"}), tmp_path, "sender")
    assert (sender["ecn_feedback"], sender["ce_reported"], sender["ce_reported_bytes"]) == ("classic", None, None)
    assert sender["ecn_signals"] == record["ecn_signals"] > 10
    assert sender["cwr_packets"] > 1


@pytest.mark.parametrize("cc", ["reno", "cubic"])
def test_behind_the_queue_of_a_bottleneck_is_not_at_the_sender(cc: str, tmp_path: Path) -> None:
    _, rows = analysed(scenario(cc=cc, duration="8 s"), tmp_path, "sender", "link:l", "link:l:far", "receiver")
    assert [row["vantage"] for row in rows] == ["sender", "near_sender", "receiver", "receiver"]
    assert [row["limited_recovery_ns"] is None for row in rows] == [False, True, True, True]


def test_timestamps_that_tick_seldom_give_no_shorter_round_trip_than_acknowledgements(tmp_path: Path) -> None:
    tree = scenario(duration="3 ms", tcp={"handshake": False})
    tree["links"]["l"] |= {"rate": "1 Gbit/s", "delay": "40 us"}
    record, (sender, receiver) = analysed(tree, tmp_path, "sender", "receiver")
    assert sender["min_rtt_ns"] == sender["receiver_rtt_min_ns"] == record["min_rtt_ns"]
    assert sender["receiver_rtt_samples"] > 100 > sender["timestamp_rtt_samples"]
    assert receiver["min_rtt_ns"] >= record["min_rtt_ns"]


def test_flows_of_a_link_are_captured_at_one_place(tmp_path: Path) -> None:
    tree = scenario(duration="8 s")
    # The first is over before there is a queue, so its sender answers at once.
    tree["flows"] = [{"path": ["l"], "source": {"name": "bulk", "size": "60 kB"}}, {"path": ["l"], "start": "1 s"}]
    simulate(tree, seed=1, captures=taps.wanted(tmp_path / "x.pcapng", ["link:l"]))
    flows = captures.read(tmp_path / "x.pcapng").flows
    assert flows["vantage"].to_list() == ["near_sender", "near_sender"]
    # What only the sender itself could tell of the second is not told, either.
    for column in ("rtt_samples", "srtt_ns", "limited_source_ns", "limited_other_ns"):
        assert flows[column].to_list() == [None, None]


def test_a_sender_without_sack_is_not_told_to_send_tail_loss_probes(tmp_path: Path) -> None:
    tree = scenario(duration="20 s", stack="ns2", cc="reno")
    tree["links"]["l"] = {"rate": "2 Mbit/s", "delay": "20 ms", "loss": 0.01, "queue": {"name": "drop_tail", "limit": "5 packets"}}
    tree["flows"] = [{"path": ["l"], "tcp": {"recovery": "newreno"}}]
    simulate(tree, seed=2, captures=taps.wanted(tmp_path / "x.pcapng"))
    row = captures.read(tmp_path / "x.pcapng").flows.row(0, named=True)
    assert row["retransmits"] > 50
    assert row["tail_loss_probes"] == 0


@pytest.mark.parametrize(
    ("stack", "rate", "delay", "loss", "queue", "seed"),
    [
        # A timer goes off in a recovery, which partial acknowledgements go on with, each of which starts no timer again.
        ("linux", "20 Mbit/s", "5 ms", 0.0, 20, 1),
        ("linux", "2 Mbit/s", "20 ms", 0.02, 10, 20),
        # What was sent again is lost, while duplicate acknowledgements go on to come.
        ("linux", "20 Mbit/s", "5 ms", 0.02, 20, 38),
        # Three duplicate acknowledgements below the recovery point start nothing.
        ("ns2", "1 Mbit/s", "5 ms", 0.005, 5, 5),
        ("ns2", "10 Mbit/s", "10 ms", 0.02, 50, 13),
    ],
)
def test_timeouts_without_sack_are_those_that_the_sender_had(
    stack: str, rate: str, delay: str, loss: float, queue: int, seed: int, tmp_path: Path
) -> None:
    link = {"rate": rate, "delay": delay, "loss": loss, "queue": {"name": "drop_tail", "limit": f"{queue} packets"}}
    flow = {"path": ["l"], "tcp": {"recovery": "newreno"}}
    tree = {"duration": "20 s", "stack": stack, "cc": "reno", "links": {"l": link}, "flows": [flow]}
    records = simulate(tree, seed=seed, captures=taps.wanted(tmp_path / "x.pcapng"))
    seen = captures.read(tmp_path / "x.pcapng").flows
    assert seen["timeouts"].to_list() == records.flows["timeouts"].to_list()
    assert seen["timeouts"][0] > 0
