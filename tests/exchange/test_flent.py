"""What flent wrote (2.3.0, over loopback) is read in exact units, and what is wrong with a file has its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sawtooth import foreign
from sawtooth.errors import FileUnreadable

DATA = Path(__file__).parent / "data"


def told(name: str) -> dict[str, Any]:
    """The JSON of a file, as Python reads it."""
    return json.loads(gzip.decompress((DATA / f"flent-{name}.flent.gz").read_bytes()))


def test_each_series_of_a_tool_is_a_flow_and_computed_ones_are_none() -> None:
    measured = foreign.read(DATA / "flent-tcp_nup.flent.gz")
    assert measured.program == "flent 2.3.0"
    assert measured.flows["flow"].to_list() == ["Ping (ms) ICMP", "TCP upload::1", "TCP upload::2"]
    assert measured.flows["direction"].to_list() == [None, "upload", "upload"]
    assert (measured.facts["test"], measured.facts["title"], measured.facts["step_ns"]) == ("tcp_nup", "two", 500_000_000)


def test_goodput_is_what_netperf_told_at_its_end_in_bits_per_second() -> None:
    meta = told("tcp_nup")["metadata"]["SERIES_META"]["TCP upload::1"]
    row = foreign.read(DATA / "flent-tcp_nup.flent.gz").flows.row(1, named=True)
    assert row["goodput_bps"] == meta["MEAN_VALUE"] * 1e6
    assert (row["delivered_bytes"], row["sent_bytes"], row["cc"]) == (meta["BYTES_RECVD"], meta["BYTES_SENT"], meta["CONG_CONTROL"])
    # netperf was not built to tell it, and says -1.
    assert meta["TCP_RETRANSMIT"] == "-1"
    assert row["retransmits"] is None


def test_pings_are_flows_with_round_trips_of_what_ping_told() -> None:
    values = [each["val"] for each in told("tcp_nup")["raw_values"]["Ping (ms) ICMP"]]
    row = foreign.read(DATA / "flent-tcp_nup.flent.gz").flows.row(0, named=True)
    assert (row["min_rtt_ns"], row["max_rtt_ns"]) == (round(min(values) * 1e6), round(max(values) * 1e6))
    assert row["rtt_mean_ns"] == round(sum(values) / len(values) * 1e6)
    assert row["goodput_bps"] is None


def test_values_over_time_are_those_of_the_file() -> None:
    whole = told("tcp_download")
    series = foreign.read(DATA / "flent-tcp_download.flent.gz").series
    there = [
        (round(t * 1e9), value * 1e6)
        for t, value in zip(whole["x_values"], whole["results"]["TCP download"], strict=True)
        if value is not None
    ]
    assert series.filter(flow="TCP download").select("t_ns", "throughput_bps").rows() == there
    assert there


def test_a_test_of_both_directions_has_flows_of_both() -> None:
    flows = foreign.read(DATA / "flent-rrul_be.flent.gz").flows
    assert sorted(flows["direction"].fill_null("").to_list()) == [""] * 4 + ["download"] * 4 + ["upload"] * 4
    assert flows.filter(transport="udp")["flow"].to_list() == ["Ping (ms) UDP BE1", "Ping (ms) UDP BE2", "Ping (ms) UDP BE3"]


def test_the_sum_of_flows_is_the_sum_that_flent_tells() -> None:
    whole = told("tcp_nup")["metadata"]["SERIES_META"]
    line = foreign.as_csv(foreign.read(DATA / "flent-tcp_nup.flent.gz")).splitlines()
    row = dict(zip(line[1].split(","), line[2].split(","), strict=True))
    assert float(row["sum_goodput_bps"]) == pytest.approx(whole["TCP upload sum"]["MEAN_VALUE"] * 1e6, rel=1e-12)
    assert float(row["goodput_bps"]) == pytest.approx(whole["TCP upload avg"]["MEAN_VALUE"] * 1e6, rel=1e-12)


def test_a_file_of_version_1_is_read_without_what_it_has_not(tmp_path: Path) -> None:
    old = {
        "x_values": [0.0, 0.2],
        "results": {"TCP upload": [1.5, None], "Ping (ms) ICMP": [10.0, 12.0]},
        "metadata": {"NAME": "tcp_upload", "NETPERF_WRAPPER_VERSION": "0.7.0"},
    }
    (tmp_path / "old.json").write_text(json.dumps(old))
    measured = foreign.read(tmp_path / "old.json")
    assert measured.program == "flent 0.7.0"
    assert measured.flows["goodput_bps"].to_list() == [1.5e6, None]
    assert measured.flows["rtt_mean_ns"].to_list() == [None, 11_000_000]


def text(**changes: Any) -> str:
    small = {
        "metadata": {"NAME": "ping"},
        "version": 4,
        "x_values": [0.0, 1.0],
        "results": {"Ping (ms) ICMP": [1.0, 2.0]},
        "raw_values": {},
    }
    return json.dumps({**small, **changes}, indent=1)


WRONG = {
    "a later version": (text(version=5), "FILE:5:13: the file has version 5 of flent's format\nhint: versions 1 to 4 are read"),
    "too few values": (
        text(results={"Ping (ms) ICMP": [1.0]}),
        "FILE:11:21: `Ping (ms) ICMP` has 1 values, and `x_values` 2\nhint: each series has a value, or null, for each of its times",
    ),
    "a word among values": (text(results={"Ping (ms) ICMP": [1.0, "late"]}), "FILE:13:4: a number or null is needed, found 'late'"),
    "no time": (text(x_values=[0.0, None]), "FILE:8:3: a value of `x_values` is a number of seconds, found null"),
    "no list": (text(results={"Ping (ms) ICMP": 3}), "FILE:11:21: `Ping (ms) ICMP` is a list, found 3"),
    "cut off": (text()[:100], "FILE:11:2: the text ends in the middle of a value\nhint: the file was cut off, or is still being written"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_file_has_its_place(case: str, tmp_path: Path) -> None:
    content, message = WRONG[case]
    file = tmp_path / "x.flent"
    file.write_text(content)
    with pytest.raises(FileUnreadable) as refused:
        foreign.read(file)
    assert str(refused.value) == f"error: {message.replace('FILE', str(file))}"


def test_tools_that_failed_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.flent").write_text(text(metadata={"NAME": "ping", "FAILED_RUNNERS": 2}))
    assert foreign.read(tmp_path / "x.flent").damage == "2 of its tools failed, as flent says"
