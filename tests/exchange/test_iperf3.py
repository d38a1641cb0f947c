"""What iperf3 wrote (3.12 and 3.21, over loopback) is read in exact units; what it does not tell is null; what is wrong with a file has its place."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sawtooth import foreign
from sawtooth.errors import FileUnreadable

DATA = Path(__file__).parent / "data"


def told(name: str) -> dict[str, Any]:
    """The JSON of a file, as Python reads it."""
    return json.loads((DATA / f"iperf3-{name}.json").read_text())


def flow(name: str, number: int = 0) -> dict[str, Any]:
    return foreign.read(DATA / f"iperf3-{name}.json").flows.row(number, named=True)


def test_rates_and_counts_of_tcp_are_those_of_the_file() -> None:
    end, row = told("tcp")["end"]["streams"][0], flow("tcp")
    assert (row["transport"], row["direction"], row["cc"]) == ("tcp", "upload", "bbr")
    assert row["goodput_bps"] == end["receiver"]["bits_per_second"]
    assert row["sending_bps"] == end["sender"]["bits_per_second"]
    assert (row["sent_bytes"], row["delivered_bytes"]) == (end["sender"]["bytes"], end["receiver"]["bytes"])
    assert row["retransmits"] == end["sender"]["retransmits"]
    assert row["lifetime_ns"] == round(end["receiver"]["end"] * 1e9)
    # iperf3 tells round trips in microseconds.
    assert [row[f"srtt_{which}_ns"] for which in ("min", "mean", "max")] == [
        1000 * end["sender"][f"{which}_rtt"] for which in ("min", "mean", "max")
    ]


def test_a_rate_is_its_bytes_over_its_time() -> None:
    for name in ("tcp", "two-streams", "reverse-omit", "bidirectional", "stream"):
        flows = foreign.read(DATA / f"iperf3-{name}.json").flows
        for row in flows.iter_rows(named=True):
            assert row["goodput_bps"] == pytest.approx(row["delivered_bytes"] * 8e9 / row["lifetime_ns"], rel=1e-9)


def test_what_iperf3_does_not_tell_is_null() -> None:
    row = flow("tcp")
    for column in ("min_rtt_ns", "dupacks_in", "timeouts", "lost_packets", "completion_ns", "limited_cwnd_ns", "cwnd_mean_bytes"):
        assert row[column] is None, column


def test_window_and_round_trips_are_told_only_of_what_its_own_end_sends() -> None:
    both = told("bidirectional")["end"]["streams"]
    # iperf3 has numbers there, of the socket that only acknowledges.
    assert both[1]["sender"]["mean_rtt"] > 0
    up, down = flow("bidirectional", 0), flow("bidirectional", 1)
    assert (up["direction"], down["direction"]) == ("upload", "download")
    assert up["srtt_mean_ns"] == both[0]["sender"]["mean_rtt"] * 1000
    assert down["srtt_mean_ns"] is None
    assert down["cwnd_most_bytes"] is None
    series = foreign.read(DATA / "iperf3-bidirectional.json").series
    assert series.filter(flow="stream 2")["cwnd_bytes"].null_count() == 2
    assert series.filter(flow="stream 1")["cwnd_bytes"].null_count() == 0


def test_several_streams_are_several_flows_with_their_intervals() -> None:
    measured = foreign.read(DATA / "iperf3-two-streams.json")
    assert measured.flows["flow"].to_list() == ["stream 1", "stream 2"]
    first = told("two-streams")["intervals"][0]["streams"][1]
    row = measured.series.filter(flow="stream 2").row(0, named=True)
    assert (row["from_ns"], row["t_ns"]) == (round(first["start"] * 1e9), round(first["end"] * 1e9))
    assert (row["throughput_bps"], row["sent_bytes"], row["srtt_ns"]) == (first["bits_per_second"], first["bytes"], first["rtt"] * 1000)


def test_what_was_omitted_is_marked_and_not_in_the_totals() -> None:
    measured = foreign.read(DATA / "iperf3-reverse-omit.json")
    assert measured.series["omitted"].to_list() == [True, False, False]
    assert measured.flows["delivered_bytes"][0] == measured.series.filter(~pl.col("omitted"))["delivered_bytes"].sum()
    assert (measured.flows["direction"][0], measured.facts["omitted_ns"]) == ("download", 1_000_000_000)


def test_losses_and_jitter_of_udp_are_those_of_the_receiver() -> None:
    udp, row = told("udp")["end"]["streams"][0]["udp"], flow("udp")
    assert (row["lost_packets"], row["sent_packets"]) == (udp["lost_packets"], udp["packets"])
    assert row["jitter_ns"] == round(udp["jitter_ms"] * 1e6)
    assert row["goodput_bps"] == told("udp")["end"]["sum_received"]["bits_per_second"]
    assert row["retransmits"] is None
    assert row["srtt_mean_ns"] is None


def test_of_several_streams_of_udp_in_a_direction_it_is_not_told_what_arrived(tmp_path: Path) -> None:
    whole = told("udp")
    second = json.loads(json.dumps(whole["end"]["streams"][0]))
    second["udp"]["socket"] = 99
    whole["end"]["streams"].append(second)
    (tmp_path / "x.json").write_text(json.dumps(whole))
    assert foreign.read(tmp_path / "x.json").flows["goodput_bps"].to_list() == [None, None]


def test_a_stream_of_json_says_the_same_as_one_object(tmp_path: Path) -> None:
    events = [json.loads(line) for line in (DATA / "iperf3-stream.json").read_text().splitlines()]
    parts: dict[str, Any] = {"intervals": [event["data"] for event in events if event["event"] == "interval"]}
    parts |= {event["event"]: event["data"] for event in events if event["event"] in ("start", "end")}
    (tmp_path / "one.json").write_text(json.dumps(parts))
    one, stream = foreign.read(tmp_path / "one.json"), foreign.read(DATA / "iperf3-stream.json")
    assert stream.flows.equals(one.flows)
    assert stream.series.equals(one.series)
    assert stream.flows.height == 2


def test_a_stream_that_tells_all_again_at_its_end_is_read_once() -> None:
    measured = foreign.read(DATA / "iperf3-stream-full-output.json")
    assert (measured.flows.height, measured.series.height) == (1, 2)


def test_a_stream_that_was_cut_off_between_events_has_what_came() -> None:
    measured = foreign.read(DATA / "iperf3-udp-bidirectional-stream.json")
    assert measured.flows["direction"].to_list() == ["upload", "download"]
    assert measured.damage is None


def test_an_interrupted_stream_says_so(tmp_path: Path) -> None:
    lines = (DATA / "iperf3-stream.json").read_text().splitlines()
    (tmp_path / "x.json").write_text("\n".join(lines[:-1]))
    measured = foreign.read(tmp_path / "x.json")
    assert measured.damage == "it ends before iperf3 told its totals"
    assert measured.flows["goodput_bps"].to_list() == [None, None]
    assert measured.series.height == 4


def test_a_server_does_not_tell_what_its_client_counted(tmp_path: Path) -> None:
    whole = told("tcp")
    whole["start"]["accepted_connection"] = whole["start"].pop("connecting_to")
    for side in whole["end"]["streams"][0].values():
        side["sender"] = False
    whole["end"]["streams"][0]["sender"]["bytes"] = 0
    (tmp_path / "x.json").write_text(json.dumps(whole))
    row = foreign.read(tmp_path / "x.json").flows.row(0, named=True)
    assert (row["direction"], row["sent_bytes"], row["retransmits"]) == ("upload", None, None)
    assert row["goodput_bps"] == whole["end"]["streams"][0]["receiver"]["bits_per_second"]


def test_a_compressed_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "x.json.gz").write_bytes(gzip.compress((DATA / "iperf3-tcp.json").read_bytes()))
    assert foreign.read(tmp_path / "x.json.gz").flows.equals(foreign.read(DATA / "iperf3-tcp.json").flows)


def test_as_published_numbers_a_direction_has_the_mean_over_its_streams() -> None:
    lines = foreign.as_csv(foreign.read(DATA / "iperf3-two-streams.json")).splitlines()
    assert lines[0] == "# iperf 3.12: means over the streams of each direction"
    row = dict(zip(lines[1].split(","), lines[2].split(","), strict=True))
    rates = [each["receiver"]["bits_per_second"] for each in told("two-streams")["end"]["streams"]]
    assert (row["direction"], row["streams"]) == ("upload", "2")
    assert float(row["goodput_bps"]) == pytest.approx(sum(rates) / 2, rel=1e-15)
    assert float(row["sum_goodput_bps"]) == pytest.approx(sum(rates), rel=1e-15)


def test_what_all_streams_of_a_direction_got_is_bytes_over_one_time() -> None:
    measured = foreign.read(DATA / "iperf3-two-streams.json")
    late = measured.flows.with_columns(start_ns=pl.Series([0, int(20e9)], dtype=pl.Int64))
    lines = foreign.as_csv(dataclasses.replace(measured, flows=late)).splitlines()
    row = dict(zip(lines[1].split(","), lines[2].split(","), strict=True))
    second = late.row(1, named=True)
    seconds = 20 + second["delivered_bytes"] * 8 / second["goodput_bps"]
    assert float(row["sum_goodput_bps"]) == pytest.approx(late["delivered_bytes"].sum() * 8 / seconds, rel=1e-9)


TCP = (DATA / "iperf3-tcp.json").read_text()
STREAM = (DATA / "iperf3-stream.json").read_text()
WRONG = {
    "cut off": (TCP[:800], "FILE:39:2: the text ends in the middle of a value\nhint: the file was cut off, or is still being written"),
    "cut off in a text": (TCP[:150], "FILE:8:5: the text ends in the middle of a value\nhint: the file was cut off, or is still being written"),
    "edited": (
        TCP.replace('"socket":	5,', '"socket":	five,', 1),
        "FILE:4:15: this is no JSON: expecting value\nhint: was it edited by hand, or joined with others?",
    ),
    "a line of a stream": (
        STREAM.replace('{"event":"end"', '{"event":"end",,', 1),
        "FILE:4:16: this is no JSON: expecting property name enclosed in double quotes\nhint: was it edited by hand, or joined with others?",
    ),
    "two results": (
        TCP + TCP,
        "FILE:150:1: a second result begins here\nhint: iperf3 adds to a log file that is there (`--logfile`); put each result into a file of its own",
    ),
    "another version": (
        TCP.replace("iperf 3.12", "iperf 4.0"),
        "FILE:10:14: it was written by 'iperf 4.0'\nhint: files of iperf 3 are read",
    ),
    "no version": (
        TCP.replace('"version"', '"verse"'),
        "FILE:2:11: `start` has no `version`\nhint: is it whole, and iperf3's?",
    ),
    "a text for a number": (
        TCP.replace('"retransmits":	0,', '"retransmits":	"none",', 1),
        "FILE:47:21: `retransmits` is a number, found a text",
    ),
    "a number below 0": (
        TCP.replace('"snd_cwnd":	', '"snd_cwnd":	-', 1),
        "FILE:48:18: `snd_cwnd` is -1.17869e+06, below 0",
    ),
    "a stream without sides": (
        json.dumps({"start": {"version": "iperf 3.12"}, "intervals": [], "end": {"streams": [{}]}}),
        "FILE:1:75: a stream has neither `sender` and `receiver` nor `udp`",
    ),
    "a stream without its number": (
        json.dumps({"start": {"version": "iperf 3.12"}, "intervals": [{"streams": [{"start": 0}]}], "end": {"streams": [{"sender": {"start": 0}}]}}),
        "FILE:1:113: a stream has no `socket`\nhint: is it whole, and iperf3's?",
    ),
    "an unknown event": (
        STREAM + '{"event":"pause"}\n',
        "FILE:5:1: `event` is 'pause', which iperf3 3.x does not write\n"
        "hint: known are end, error, interval, server_output_json, server_output_text, start",
    ),
    "another program": (
        '{"a": 1}',
        "FILE:1:1: this is JSON, and of neither iperf3 nor flent\nhint: what `iperf3 -J`, `iperf3 --json-stream` and flent write is read",
    ),
    "too deep": (
        '{"a":' + "[" * 100_000,
        "FILE:1:1: values stand in each other too deeply\nhint: no program that is known here writes that",
    ),
    "nothing measured": (
        (DATA / "iperf3-refused.json").read_text(),
        "FILE: nothing was measured: iperf3 says unable to connect to server: Connection refused\nhint: run it again",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_file_has_its_place(case: str, tmp_path: Path) -> None:
    content, message = WRONG[case]
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(FileUnreadable) as refused:
        foreign.read(file)
    assert str(refused.value) == f"error: {message.replace('FILE', str(file))}"


def test_a_compressed_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.json.gz"
    file.write_bytes(gzip.compress(TCP.encode())[:-20])
    with pytest.raises(FileUnreadable) as refused:
        foreign.read(file)
    assert (
        str(refused.value) == f"error: {file} is compressed (gzip) and ends in the middle\nhint: it was cut off: ask for another copy of it"
    )
