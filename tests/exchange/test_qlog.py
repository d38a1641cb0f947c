"""qlog of simulated runs: its structure by the newest drafts and by what qvis asks for, and its numbers beside those of the run."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from sawtooth import DatasetError, StudyError, trace
from sawtooth._core import CapturedSegment
from sawtooth.backends.registry import BACKENDS
from sawtooth.exports import qlog
from sawtooth.exports.sender import ACK, FIN, SYN, Sender
from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study
from tests.exchange.test_commands import STUDY, told

__all__ = ["told"]

LOSSY = STUDY.replace('limit = "100 kB"', 'limit = "20 kB"')
Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    path = tmp_path_factory.mktemp("study") / "study.toml"
    path.write_text(LOSSY)
    return make_plan(Study.load(path))


@pytest.fixture(scope="module")
def written(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("qlog") / "run.sqlog"
    qlog.write(plan, plan.runs[0], path)
    return path


def texts(path: Path) -> Events:
    """The texts of a sequence, each of which begins with a record separator and ends with a line feed (RFC 7464 §2.2)."""
    content = path.read_bytes()
    assert content.startswith(b"\x1e")
    parts = content.split(b"\x1e")[1:]
    assert all(part.endswith(b"\n") and part.count(b"\n") == 1 for part in parts)
    return [json.loads(part) for part in parts]


def of(events: Events, name: str, flow: str = "flow[1]") -> Events:
    return [each for each in events if each["name"] == name and each["group_id"] == flow]


def test_the_head_of_a_sequence_is_that_of_the_newest_drafts(written: Path) -> None:
    head = texts(written)[0]
    assert set(head) == {"file_schema", "serialization_format", "title", "description", "trace"}
    assert (head["file_schema"], head["serialization_format"]) == ("urn:ietf:params:qlog:file:sequential", "application/qlog+json-seq")
    # The draft wants both within 256 bytes.
    assert written.read_bytes().index(b"application/qlog+json-seq") < 230
    # A monotonic clock has no epoch (main-schema §7.1).
    assert head["trace"]["common_fields"] == {
        "time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
    }  # fmt: skip
    assert head["trace"]["vantage_point"] == {"name": "sender", "type": "client"}
    assert head["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]


def test_each_event_has_what_the_draft_wants_and_times_do_not_go_back(written: Path) -> None:
    events = texts(written)[1:]
    times = [each["time"] for each in events]
    assert times == sorted(times)
    assert all(set(each) == {"time", "name", "group_id", "data"} for each in events)
    assert {each["name"] for each in events} == {
        "quic:packet_sent", "quic:packet_received", "quic:packet_lost", "quic:recovery_metrics_updated", "quic:congestion_state_updated",
    }  # fmt: skip
    # No list of frames is empty: qvis looks at the first of those that there are.
    assert all(each["data"].get("frames", ["none"]) for each in events)


def test_packets_have_numbers_sizes_and_offsets(written: Path) -> None:
    for flow in ("flow[1]", "flow[2]"):
        sent = of(texts(written)[1:], "quic:packet_sent", flow)
        data = [each["data"] for each in sent if each["data"]["header"]["packet_type"] == "1RTT"]
        assert [each["header"]["packet_number"] for each in data] == list(range(len(data)))
        # qvis leaves out packets without a length.
        assert all(each["raw"]["length"] == each["raw"]["payload_length"] + 52 for each in data)
        frames = [each["frames"][0] for each in data if "frames" in each]
        assert frames[0] == {"frame_type": "stream", "stream_id": 0, "offset": 0, "raw": {"payload_length": 1448}}


CASES = {
    "a short queue": ("linux", "20 kB", "", "cubic", ""),
    "losses": ("linux", "40 kB", ', loss = { name = "bernoulli", probability = 0.15 }', "cubic", ""),
    "losses without SACK": ("ns2", "40 kB", ', loss = { name = "bernoulli", probability = 0.03 }', "reno", ""),
    "packets that pass each other": ("linux", "40 kB", ', jitter = { name = "uniform", spread = "5 ms" }', "bbr", ""),
    "messages": ("rfc", "20 kB", "", "reno", 'source = { name = "messages", size = "20 kB", interval = "200 ms" }'),
    "transfers that end": ("linux", "20 kB", "", "cubic", 'source = { name = "bulk", size = "300 kB" }'),
}


@pytest.mark.parametrize("case", CASES)
def test_as_many_packets_are_sent_lost_and_acknowledged_as_the_run_records(case: str, tmp_path: Path) -> None:
    stack, limit, extra, control, source = CASES[case]
    link = f'links.bottleneck = {{ rate = "10 Mbit/s", delay = "10 ms", queue = {{ name = "drop_tail", limit = "{limit}" }}{extra} }}'
    flows = f'[[scenario.flows]]\npath = ["bottleneck"]\ncount = 2\ncc = {{ name = "{control}" }}\n{source}\n'
    (tmp_path / "study.toml").write_text(
        f'name = "x"\nquestion = "Is each packet told?"\nseed = 3\n[scenario]\nduration = "3 s"\nstack = "{stack}"\n{link}\n{flows}'
    )
    made = make_plan(Study.load(tmp_path / "study.toml"))
    qlog.write(made, made.runs[0], tmp_path / "run.sqlog")
    events = texts(tmp_path / "run.sqlog")[1:]
    recorded = trace.take(made, made.runs[0], BACKENDS["sim"].load())
    for row in recorded.flows.iter_rows(named=True):
        flow = row["flow"]
        sent = of(events, "quic:packet_sent", flow)
        # The records count the SYN, and no pure acknowledgement.
        assert sum("frames" in each["data"] or each["data"]["header"]["packet_type"] == "initial" for each in sent) == row["sent_packets"]
        lost = [each["data"]["header"]["packet_number"] for each in of(events, "quic:packet_lost", flow)]
        assert len(lost) == len(set(lost)) == row["retransmits"]
        acked = [number for each in of(events, "quic:packet_received", flow) for number in numbers(each)]
        assert len(acked) == len(set(acked))
        assert set(acked).isdisjoint(lost)
        data = [each["data"] for each in sent if each["data"]["header"]["packet_type"] == "1RTT"]
        size = {each["header"]["packet_number"]: each["raw"]["payload_length"] for each in data}
        assert sum(size[number] for number in acked) == recorded.series.filter(flow=flow)["sender_delivered_bytes"].max()
    assert case == "messages" or recorded.flows["retransmits"].sum() > 0


def numbers(event: dict[str, Any]) -> list[int]:
    ranges = [each for frame in event["data"].get("frames", []) for each in frame.get("acked_ranges", [])]
    return [number for each in ranges for number in range(each[0], each[-1] + 1)]


def test_metrics_are_those_of_the_series_in_bytes_and_milliseconds(plan: Plan, written: Path) -> None:
    series = trace.take(plan, plan.runs[0], BACKENDS["sim"].load()).series.filter(flow="flow[1]").sort("t_ns")
    state: dict[str, Any] = {}
    told = {}
    for each in of(texts(written)[1:], "quic:recovery_metrics_updated"):
        # Only what has changed is told.
        assert all(state.get(name) != value for name, value in each["data"].items())
        state.update(each["data"])
        told[round(each["time"] * 1e6)] = dict(state)
    checked = 0
    for row in series.unique("t_ns", keep="last").iter_rows(named=True):
        if row["t_ns"] in told:
            now = told[row["t_ns"]]
            assert now["congestion_window"] == round(row["cwnd_bytes"])
            assert now["smoothed_rtt"] == row["srtt_ns"] / 1e6
            assert now["bytes_in_flight"] == row["pipe_bytes"]
            # The handshake is a sample of the sender's, and none of its packets with numbers.
            assert now.get("min_rtt", 0) <= now.get("latest_rtt", 0)
            checked += 1
    assert checked > series.height * 0.9


def test_round_trips_are_at_least_that_of_the_path_and_the_least_is_the_records(plan: Plan, written: Path) -> None:
    taken = trace.take(plan, plan.runs[0], BACKENDS["sim"].load())
    told = [each["data"]["min_rtt"] for each in of(texts(written)[1:], "quic:recovery_metrics_updated") if "min_rtt" in each["data"]]
    assert told == sorted(told, reverse=True)
    # The handshake, which has no packet of the stream, is faster by what a full packet takes.
    assert taken.flows["min_rtt_ns"][0] / 1e6 <= told[-1] < 12


def test_states_follow_each_other(written: Path) -> None:
    states = [each["data"] for each in of(texts(written)[1:], "quic:congestion_state_updated")]
    assert states[0] == {"new": "slow_start"}
    assert all(after["old"] == before["new"] != after["new"] for before, after in itertools.pairwise(states))
    assert {each["new"] for each in states} == {"slow_start", "recovery", "congestion_avoidance"}


def test_times_are_to_the_nanosecond() -> None:
    assert [qlog.milliseconds(each) for each in (0, 1, 10_048_000, 1_000_000, 123_456_789_012)] == [
        "0",
        "0.000001",
        "10.048",
        "1",
        "123456.789012",
    ]


OLDER = {
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:congestion_state_updated": "recovery:congestion_state_updated",
}


def test_the_contained_file_has_the_same_events_as_qlog_0_3_calls_them(plan: Plan, written: Path, tmp_path: Path) -> None:
    qlog.write(plan, plan.runs[0], tmp_path / "run.qlog")
    whole = json.loads((tmp_path / "run.qlog").read_text())
    # qvis takes only versions that it knows.
    assert (whole["qlog_version"], whole["qlog_format"]) == ("0.3", "JSON")
    (only,) = whole["traces"]
    assert only["common_fields"] == {"time_format": "relative", "reference_time": 0, "protocol_type": ["TCP"]}
    # For qvis to tell flows apart all events need a group.
    assert {each["group_id"] for each in only["events"]} == {"flow[1]", "flow[2]"}
    newest = texts(written)[1:]
    for each in newest:
        each["name"] = OLDER[each["name"]]
        for frame in each["data"].get("frames", []):
            if frame["frame_type"] == "stream":
                frame["length"] = frame.pop("raw")["payload_length"]
    assert only["events"] == newest


ASKING = """\
name = "x"
question = "Who asks?"
seed = 3
[scenario]
duration = "2 s"
stack = "linux"
links.bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "40 kB" } }
[[scenario.flows]]
name = "asked"
path = ["bottleneck"]
source = { name = "request_response", request = "300 B", response = "20 kB", think = "80 ms" }
[[scenario.flows]]
name = "bulk"
path = ["bottleneck"]
"""


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    path = tmp_path_factory.mktemp("asking") / "study.toml"
    path.write_text(ASKING)
    return make_plan(Study.load(path))


@pytest.mark.parametrize("suffix", [".sqlog", ".qlog"])
def test_requests_are_the_other_end_s_part_of_the_stream(suffix: str, asking: Plan, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    qlog.write(asking, asking.runs[0], path, ["asked"])
    events = texts(path)[1:] if suffix == ".sqlog" else json.loads(path.read_text())["traces"][0]["events"]
    got = [each["data"]["frames"] for each in events if each["name"].endswith(":packet_received") and "frames" in each["data"]]
    frames = [frame for each in got for frame in each if frame["frame_type"] == "stream"]
    size = {"length": 300} if suffix == ".qlog" else {"raw": {"payload_length": 300}}
    assert frames == [{"frame_type": "stream", "stream_id": 0, "offset": 300 * at, **size} for at in range(len(frames))]
    assert len(frames) > 10


def test_each_end_is_a_trace_of_a_contained_file(asking: Plan, tmp_path: Path) -> None:
    count = qlog.write(asking, asking.runs[0], tmp_path / "run.qlog")
    traces = json.loads((tmp_path / "run.qlog").read_text())["traces"]
    assert [each["vantage_point"]["type"] for each in traces] == ["client", "server"]
    assert [{event["group_id"] for event in each["events"]} for each in traces] == [{"bulk"}, {"asked"}]
    assert sum(len(each["events"]) for each in traces) == count


@pytest.mark.parametrize(("flows", "vantage"), [(["bulk"], "client"), (["asked"], "server"), ([], "unknown")])
def test_a_client_is_who_opens_the_connection(flows: list[str], vantage: str, asking: Plan, tmp_path: Path) -> None:
    qlog.write(asking, asking.runs[0], tmp_path / "run.sqlog", flows)
    head, *events = texts(tmp_path / "run.sqlog")
    assert head["trace"]["vantage_point"] == {"name": "sender", "type": vantage}
    first = {each["group_id"]: each for each in reversed(events)}
    opened = {flow: each["name"] == "quic:packet_sent" for flow, each in first.items()}
    assert opened == {flow: flow == "bulk" for flow in flows or ["asked", "bulk"]}


def test_only_flows_that_are_named_are_told(plan: Plan, tmp_path: Path) -> None:
    count = qlog.write(plan, plan.runs[0], tmp_path / "run.sqlog", ["flow[2]"])
    events = texts(tmp_path / "run.sqlog")[1:]
    assert {each["group_id"] for each in events} == {"flow[2]"}
    assert count == len(events)


def test_nothing_is_left_of_a_file_that_could_not_be_written(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_event: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(qlog, "_line", fails)
    with pytest.raises(DatasetError, match="no space left"):
        qlog.write(plan, plan.runs[0], tmp_path / "run.sqlog")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_wrote(told, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    path = tmp_path / "run.sqlog"
    code, _, error = told("trace", tmp_path / "study.toml", "--qlog", path, "--out", tmp_path)
    assert (code, error) == (0, f"qlog: {path}, {len(texts(path)) - 1:,} events\n")


def test_what_cannot_be_is_told(told, plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    assert told("trace", tmp_path / "study.toml", "--qlog", "run.json")[2] == (
        "error: `run.json` is no name for qlog\n"
        "hint: name a file that ends in .sqlog (the newest draft, a JSON text sequence) or .qlog (qlog 0.3, which qvis draws)\n"
    )
    with pytest.raises(StudyError) as refused:
        qlog.require_file(Path("run.sqlog"), "uml")
    assert str(refused.value) == (
        "error: --qlog tells packets of the simulator, and this study runs on uml\nhint: leave it out, or add --backend sim"
    )
    with pytest.raises(StudyError, match="the run has no flow `flow`"):
        qlog.write(plan, plan.runs[0], tmp_path / "run.sqlog", ["flow"])


def packet(
    t: int, seq: int = 0, payload: int = 0, ack: int | None = None, flags: int = ACK, sacks: tuple[tuple[int, int], ...] = ()
) -> CapturedSegment:
    sizes = {"length": 52 + payload, "payload": payload}
    return CapturedSegment(
        t, "flow", outgoing=ack is None, **sizes, seq=seq % 2**32, ack=(ack or 0) % 2**32, flags=flags, sacks=list(sacks)
    )


def test_numbers_are_those_of_the_last_transmission_across_a_wrap_of_sequence_numbers() -> None:
    base = 2**32 - 1000
    sender = Sender()
    sender.offset(packet(0, base - 1, flags=SYN))
    assert [sender.send(packet(at, base + 500 * at, 500)) for at in range(4)] == [(0, []), (1, []), (2, []), (3, [])]
    # Number 0 is missing: what follows is acknowledged selectively, beyond 2^32.
    new = sender.get(packet(10, ack=base, sacks=((base + 500, (base + 1500) % 2**32),)))
    assert (new.numbers, new.rtt_ns) == ([1, 2], 8)
    assert sender.send(packet(11, base, 500)) == (4, [0])
    assert sender.recovers == 2000
    # An acknowledgement of a packet that was sent again tells no round trip.
    new = sender.get(packet(20, ack=(base + 1500) % 2**32))
    assert (new.numbers, new.rtt_ns) == ([4], None)
    new = sender.get(packet(21, ack=(base + 2000) % 2**32))
    assert (new.numbers, new.rtt_ns, sender.recovers) == ([3], 18, None)


def test_a_block_that_grows_is_acknowledged_once() -> None:
    sender = Sender()
    for at in range(5):
        sender.send(packet(at, 100 * at, 100))
    told = [sender.get(packet(9, ack=0, sacks=((100, right),))).numbers for right in (200, 250, 400, 400)]
    assert told == [[1], [], [2, 3], []]


def test_fin_takes_a_number_of_the_stream() -> None:
    sender = Sender()
    sender.send(packet(0, 0, 100, flags=ACK | FIN))
    assert sender.get(packet(5, ack=101)).numbers == [0]


def test_bytes_of_the_other_end_count_on_across_a_wrap() -> None:
    sender = Sender()
    assert sender.offset_of_other(packet(0, 2**32 - 101, flags=SYN | ACK, ack=0)) == -1
    at = [sender.offset_of_other(packet(0, 2**32 - 100 + each, 100, ack=0)) for each in (0, 100, 200, 100)]
    assert at == [0, 100, 200, 100]
