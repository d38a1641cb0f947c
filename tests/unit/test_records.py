from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sawtooth
from sawtooth import DatasetError, RunFailed, StudyError, rfc4898

SCENARIO: dict[str, Any] = {
    "duration": "5 s",
    "stack": "linux",
    "cc": "cubic",
    "sample": "100 ms",
    "record": ["variables", "episodes"],
    "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1 bdp"}}},
    "flows": [{"path": ["l"], "count": 2}],
}

STUDY = """
name = "records"
question = "What is recorded?"
repeat = 2

[scenario]
duration = "3 s"
stack = "linux"
sample = "ack"
record = ["variables", "episodes"]
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"] }]

[sweep]
"scenario.cc" = ["reno", "cubic"]
"""


@pytest.fixture(scope="module")
def records() -> sawtooth.Records:
    return sawtooth.simulate(SCENARIO)


def test_the_shares_of_a_flows_life_sum_to_it(records: sawtooth.Records) -> None:
    flows = records.flows
    shares = [name for name in flows.columns if name.startswith("limited_")]
    assert len(shares) == 8
    assert flows.select(pl.sum_horizontal(shares)).to_series().to_list() == flows["lifetime_ns"].to_list() == [5 * 10**9] * 2


def test_the_three_limits_of_rfc_4898_sum_to_the_life(records: sawtooth.Records) -> None:
    parts = records.flows.select(*(rfc4898(f"SndLimTime{limit}") for limit in ("Rwin", "Cwnd", "Snd")))
    assert parts.columns == ["SndLimTimeRwin", "SndLimTimeCwnd", "SndLimTimeSnd"]
    assert parts.sum_horizontal().to_list() == records.flows["lifetime_ns"].to_list()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("SegsRetrans", "retransmits"),
        ("tcpEStatsPerfSegsRetrans", "retransmits"),
        ("CongSignals", "congestion_signals"),
        ("DupAcksIn", "dupacks_in"),
        ("SACKsRcvd", "sacks_in"),
        ("DSACKDups", "dsacks_in"),
        ("MinRTT", "min_rtt_ns"),
        ("MaxRTT", "max_rtt_ns"),
        ("SmoothedRTT", "srtt_ns"),
        ("FastRetran", "fast_retransmits"),
        ("CERcvd", "ce_in"),
        ("ECNsignals", "ecn_signals"),
        ("CongOverCount", "spurious"),
        # web100's own names.
        ("PktsRetrans", "retransmits"),
        ("DataPktsOut", "sent_packets"),
        ("CongestionSignals", "congestion_signals"),
        ("CongestionOverCount", "spurious"),
    ],
)
def test_a_name_of_rfc_4898_is_a_column(records: sawtooth.Records, name: str, column: str) -> None:
    assert records.flows.select(rfc4898(name)).to_series().to_list() == records.flows[column].to_list()


def test_web100_calls_the_senders_limit_otherwise(records: sawtooth.Records) -> None:
    assert (
        records.flows.select(rfc4898("SndLimTimeSender")).to_series().to_list()
        == records.flows.select(rfc4898("SndLimTimeSnd")).to_series().to_list()
    )


def test_timeouts_of_rfc_4898_are_those_without_back_off() -> None:
    # The SYN is lost three times: 1 s, 2 s and 4 s.
    tree = SCENARIO | {"duration": "10 s", "flows": [{"path": ["l"], "source": {"name": "bulk", "size": "1 kB"}}]}
    tree["links"] = {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "drop": [1, 2, 3]}}
    flows = sawtooth.simulate(tree).flows
    assert flows["timeouts"].item() == 3
    assert flows.select(rfc4898("Timeouts")).item() == 1
    assert flows.select(rfc4898("SubsequentTimeouts")).item() == 2


def test_a_name_that_rfc_4898_does_not_have_is_told() -> None:
    with pytest.raises(DatasetError) as raised:
        rfc4898("SegRetrans")
    assert str(raised.value) == "error: `flows` has nothing that RFC 4898 calls `SegRetrans`\nhint: did you mean `SegsRetrans`?"
    with pytest.raises(DatasetError) as raised:
        rfc4898("CurCwnd")
    assert (
        str(raised.value)
        == "error: `flows` has nothing that RFC 4898 calls `CurCwnd`\nhint: it is in `series`: rfc4898('CurCwnd', 'series')"
    )


def test_a_dataset_has_the_tables_that_its_study_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "records.toml"
    path.write_text(STUDY)
    dataset = sawtooth.run(path, tmp_path / "out")
    episodes = dataset.episodes().collect()
    assert set(episodes["run"]) == {0, 1, 2, 3}
    assert set(episodes["cause"]) <= {"rack", "rto", "tail_loss_probe"}
    # Reno has no variables of its own.
    runs = dataset.runs.filter(pl.col("cc").str.contains("cubic"))["run"]
    variables = dataset.variables().collect()
    assert set(variables["run"]) == set(runs)
    assert set(variables["variable"]) == {"w_max", "k", "w_est", "cwnd_prior"}
    retransmits = dataset.column("SegsRetrans").collect()
    assert retransmits.columns == ["run", "flow", "SegsRetrans"]
    assert retransmits["SegsRetrans"].to_list() == dataset.column("retransmits").collect()["retransmits"].to_list()
    assert dataset.column("PipeSize", "series").collect_schema().names() == ["run", "t_ns", "flow", "PipeSize"]


def test_a_table_that_was_not_asked_for_is_told() -> None:
    records = sawtooth.simulate({key: value for key, value in SCENARIO.items() if key != "record"})
    with pytest.raises(RunFailed) as raised:
        _ = records.episodes
    assert str(raised.value) == 'error: this run has no table `episodes`\nhint: add record = ["episodes"] to the scenario'


def test_links_tell_waits_and_whose_packets_were_dropped_if_asked() -> None:
    tree: dict[str, Any] = {
        "duration": "20 s", "stack": "linux", "record": ["waits", "link_flows"],
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "20 packets"}}},
        "flows": [{"path": ["l"], "count": 2}],
    }  # fmt: skip
    records = sawtooth.simulate(tree)
    links, waits = records.links.row(0, named=True), records.waits.row(0, named=True)
    # A full queue of 1500 bytes each at 10 Mbit/s: 19 packets wait, 1.2 ms each; percentiles are within 1/128.
    assert 0 < waits["wait_p50_ns"] <= waits["wait_p99_ns"] <= waits["wait_max_ns"] <= 19 * 1_200_000
    assert abs(waits["wait_mean_ns"] - links["wait_mean_ns"]) < links["wait_mean_ns"] / 100
    assert 0 < links["backlog_mean_packets"] < waits["found_max_packets"] == links["peak_packets"] == 20
    forward = records.link_flows.filter(direction="forward")
    assert forward["flow"].to_list() == ["flow[1]", "flow[2]"]
    assert forward["dropped_packets"].sum() == links["dropped_packets"] > 0
    with pytest.raises(RunFailed) as raised:
        _ = sawtooth.simulate({key: value for key, value in tree.items() if key != "record"}).waits
    assert str(raised.value) == 'error: this run has no table `waits`\nhint: add record = ["waits"] to the scenario'


BESIDE = {"path": ["l"], "transport": "udp", "source": {"name": "constant_rate", "rate": "1 Mbit/s"}, "name": "beside"}
WITH_OTHERS = {**SCENARIO, "record": [], "flows": [{"path": ["l"], "name": "f", "count": 2}, BESIDE]}


@pytest.mark.parametrize("sample", ["100 ms", "ack"])
def test_the_series_of_one_flow_alone_is_its_rows_of_that_of_all(sample: str) -> None:
    scenario = {**WITH_OTHERS, "sample": sample}
    whole, one = sawtooth.simulate(scenario).tables, sawtooth.simulate(scenario, series_of="f[2]").tables
    assert whole["series"]["flow"].n_unique() == (3 if sample == "100 ms" else 2)
    assert one["series"].equals(whole["series"].filter(pl.col("flow") == "f[2]"))
    assert one["series"].height > 0
    assert set(one) == set(whole)
    assert all(one[name].equals(whole[name]) for name in whole if name != "series")


def test_a_series_is_of_a_flow_of_tcp_that_there_is() -> None:
    with pytest.raises(StudyError) as unknown:
        sawtooth.simulate(WITH_OTHERS, series_of="f[3]")
    assert str(unknown.value) == "error: the scenario has no flow `f[3]`\nhint: did you mean `f[2]`?"
    with pytest.raises(RunFailed, match="there is no flow of TCP `beside`"):
        sawtooth.simulate(WITH_OTHERS, series_of="beside")
    with pytest.raises(TypeError, match="`series_of` is the name of a flow"):
        sawtooth.simulate(WITH_OTHERS, series_of=3)  # type: ignore[arg-type]
