"""`--pcap` of runs on real kernels: what it writes, that nothing else changes, and that it analyses to what the run recorded."""

from __future__ import annotations

import itertools
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import captures, doctor, taps
from sawtooth.backends import guest, netns, qemu, uml
from sawtooth.cli import app
from sawtooth.errors import BackendUnavailable
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import captures_kernel

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")
TREE = {
    "duration": "2 s", "sample": "10 ms", "cc": "kernel:cubic", "links": {"up link": {"rate": "5 Mbit/s", "delay": "10 ms", "loss": 0.01, "queue": {"name": "drop_tail", "limit": "20 packets"}}},
    "flows": [{"path": ["up link"], "name": "data", "count": 2}],
}  # fmt: skip
POINTS = ["sender", "receiver", "link:up link", "link:up link:far"]
STUDY = """
name = "captured"
backend = "uml"
repeat = 2
[scenario]
duration = "1 s"
links.l = { rate = "5 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[sweep]
"cc" = ["kernel:reno", "kernel:cubic"]
"""


def captured(backend, where: Path, points: list[str], snap: int = 96):
    text = json.dumps(TREE)
    batch = backend.run_batch([text], [1], [taps.wanted(where, points, snap, on_kernels=True).of_scenario(text, ["a remark"])])
    assert batch.errors == {}
    return batch


@pytest.fixture(scope="module")
def all_points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("points")
    captured(uml, where, POINTS)
    return where


def test_records_are_the_same_to_the_bit_with_a_capture_at_hosts(tmp_path: Path) -> None:
    plain = uml.run_batch([json.dumps(TREE)], [1]).tables
    tables = captured(uml, tmp_path / "hosts", ["sender", "receiver"], 0).tables
    for name in ("flows", "links", "series", "counters"):
        assert tables[name].equals(plain[name]), name
    # At links every transmission is an event, by whose rounding times differ by nanoseconds.
    tables = captured(uml, tmp_path / "links", POINTS, 0).tables
    for name in ("flows", "counters"):
        assert tables[name].equals(plain[name]), name
    assert (tables["links"]["wait_mean_ns"] - plain["links"]["wait_mean_ns"]).abs().max() <= 10


def test_each_point_has_its_file_with_names_and_comments(all_points: Path) -> None:
    assert sorted(path.name for path in all_points.iterdir()) == [
        "link-up link-far.pcapng", "link-up link.pcapng", "receiver.pcapng", "sender.pcapng",
    ]  # fmt: skip
    content = (all_points / "sender.pcapng").read_bytes()
    for text in (b"a remark", b"Linux ", b"data[1]", b"the sender of flow data[2], the kernel's cubic"):
        assert text in content
    assert b"lost on the wire" in (all_points / "link-up link.pcapng").read_bytes()


def test_points_see_the_same_packets_one_after_the_other(all_points: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    times: dict[str, dict[str, float]] = {}
    for path in all_points.iterdir():
        # A packet by its number of IP, sequence number and end.
        fields = ["-e", "ip.id", "-e", "tcp.seq_raw", "-e", "tcp.dstport", "-e", "frame.time_epoch"]
        words = ["tshark", "-r", str(path), "-Y", "ip.src == 10.0.0.1 && tcp.len > 0", "-T", "fields", *fields]
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        times[path.stem] = {line.rpartition("\t")[0]: float(line.rpartition("\t")[2]) for line in lines}
    way = ["sender", "link-up link", "link-up link-far", "receiver"]
    for earlier, later in itertools.pairwise(way):
        assert times[later].keys() <= times[earlier].keys()
        assert all(times[earlier][packet] <= time for packet, time in times[later].items())
    assert len(times["sender"]) > len(times["receiver"]) > 500
    # The transmission of what is on the link takes 2.4 ms of 1500 bytes, and then 10 ms pass.
    assert all(0.01 < times["link-up link-far"][packet] - times["link-up link"][packet] < 0.0125 for packet in times["receiver"])


SHAPED = {**TREE, "kernel": {"shaper": "kernel", "gso": True}, "links": {"l": {"rate": "20 Mbit/s", "delay": "10 ms", "loss": 0.002, "queue": {"name": "drop_tail", "limit": "30 packets"}}},
    "flows": [{"path": ["l"], "name": "data", "count": 2}]}  # fmt: skip


def test_what_the_kernels_own_shaper_carries_is_captured_and_the_run_is_the_same_to_the_bit(tmp_path: Path) -> None:
    text = json.dumps(SHAPED)
    plain = uml.run_batch([text], [1]).tables
    points = ["sender", "receiver", "link:l", "link:l:far"]
    batch = uml.run_batch([text], [1], [taps.wanted(tmp_path, points, 0, on_kernels=True).of_scenario(text, [])])
    assert batch.errors == {}
    for name in ("flows", "series", "counters"):
        assert batch.tables[name].equals(plain[name]), name
    analysed = captures.read(tmp_path / "sender.pcapng").flows
    for recorded, seen in (("sent_packets", "data_packets"), ("retransmits", "retransmits")):
        assert batch.tables["flows"][recorded].to_list() == analysed[seen].to_list()


def test_what_the_kernels_own_shaper_carries_is_as_on_the_wire(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    text = json.dumps(SHAPED)
    points = ["sender", "receiver", "link:l", "link:l:far"]
    uml.run_batch([text], [1], [taps.wanted(tmp_path, points, 0, on_kernels=True).of_scenario(text, [])])
    times: dict[str, dict[str, float]] = {}
    for name in ("sender", "link-l", "link-l-far", "receiver"):
        fields = ["ip.id", "tcp.seq_raw", "tcp.dstport", "tcp.len", "tcp.checksum.status", "ip.checksum.status", "frame.time_epoch"]
        words = ["tshark", "-r", str(tmp_path / f"{name}.pcapng"), "-Y", "ip.src == 10.0.1.1 && tcp.len > 0", "-T", "fields"]
        words += ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", *(word for field in fields for word in ("-e", field))]
        rows = [line.split("\t") for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()]
        # Segments that TCP handed down together are apart, and their checksums are complete.
        assert {(int(row[3]) <= 1448, row[4], row[5]) for row in rows} == {(True, "1", "1")}
        times[name] = {" ".join(row[:3]): float(row[6]) for row in rows}
    for earlier, later in itertools.pairwise(times):
        assert times[later].keys() <= times[earlier].keys()
        assert all(times[earlier][packet] <= time for packet, time in times[later].items())
    # The transmission of 1500 bytes takes 0.6 ms, and then 10 ms pass.
    passed = [times["link-l-far"][packet] - times["link-l"][packet] for packet in times["receiver"]]
    assert len(passed) > 2000
    assert min(passed) > 0.0104 and max(passed) < 0.0115


def test_what_a_capture_analyses_to_is_what_the_run_recorded(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    cases = ["reno, losses of 2 %", "cubic, losses and reordering", "bbr", "ECN, dctcp", "requests and responses"]
    for found in captures_kernel.outcomes(cases, tmp_path):
        assert +found.faults == {}, found.case
        assert found.differences == [], found.case


def test_the_page_of_agreement_has_every_case() -> None:
    text = captures_kernel.PAGE.read_text(encoding="utf-8")
    assert [case for case in captures_kernel.CASES if f"\n| {case} |" not in text] == []


def test_run_and_trace_capture_runs_on_kernels(tmp_path: Path) -> None:
    study = tmp_path / "captured.toml"
    study.write_text(STUDY)
    where = tmp_path / "captures"
    done = CliRunner().invoke(app, ["run", str(study), "--out", str(tmp_path / "out"), "--pcap", str(where)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    names = [f"cell-{cell}-replicate-{replicate}.sender.pcapng" for cell in (1, 2) for replicate in (1, 2)]
    assert sorted(path.name for path in where.iterdir()) == names
    assert b"study captured, cell 2 (cc = kernel:cubic), replicate 1, seed " in (where / names[2]).read_bytes()
    assert b"real kernels (uml), times by their clock; time 0 of the run is 2000-01-01T00:00:00Z" in (where / names[2]).read_bytes()
    one = tmp_path / "one.pcapng"
    words = ["trace", str(study), "--cell", "2", "--out", str(tmp_path / "drawn"), "--pcap", str(one)]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    recorded = sawtooth.Dataset.open(tmp_path / "out").flows().collect().sort("run")
    seen = captures.read(where / names[2]).flows.filter(transport="tcp").sort("sent_bytes")[-1]
    assert seen["acked_bytes"].item() == recorded["acked_bytes"][2]


def test_packets_of_udp_are_captured_beside_those_of_a_kernel_in_the_order_of_time(tmp_path: Path) -> None:
    others = {"name": "others", "path": ["up link"], "transport": "udp", "source": {"name": "constant_rate", "rate": "1 Mbit/s"}}
    text = json.dumps({**TREE, "flows": [*TREE["flows"], others]})
    batch = uml.run_batch([text], [1], [taps.wanted(tmp_path, POINTS, 0, on_kernels=True).of_scenario(text, [])])
    assert batch.errors == {}
    (record,) = batch.tables["flows"].filter(flow="others").iter_rows(named=True)
    ends = "10.0.0.1:32768 > 10.0.0.2:5001"
    seen = {point: captures.read(tmp_path / f"{point.replace(':', '-')}.pcapng") for point in POINTS}
    packets = {point: capture.flows.filter(flow=ends).row(0, named=True)["sent_packets"] for point, capture in seen.items()}
    assert packets["sender"] == record["sent_packets"] > 100
    # A tenth of the link is free at most, so that the queue drops some, and the wire loses some more.
    assert packets["sender"] > packets["link:up link"] > packets["link:up link:far"] >= packets["receiver"]
    for point in POINTS:
        times = packet_times(tmp_path / f"{point.replace(':', '-')}.pcapng")
        assert times == sorted(times), point


def packet_times(file: Path) -> list[int]:
    """Of a file of pcapng the times of its Enhanced Packet Blocks, in the order of the file."""
    content, at = file.read_bytes(), 0
    times: list[int] = []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", content, at + 12)
            times.append(high << 32 | low)
        at += length
    return times


def test_a_paced_sender_on_a_slow_short_path_is_where_it_is(tmp_path: Path) -> None:
    """Its packets are due one by one, a quarter of the way there and back apart or more: so late are its answers."""
    link = {"rate": "2.4 Mbit/s", "delay": "5.5 ms", "queue": {"name": "drop_tail", "limit": "10 packets"}, "loss": 0.002}
    text = json.dumps({"duration": "10 s", "cc": "kernel:bbr", "links": {"l": link}, "flows": [{"path": ["l"]}]})
    assert uml.run_batch([text], [1], [taps.wanted(tmp_path / "x.pcapng").of_scenario(text, [])]).errors == {}
    assert captures.read(tmp_path / "x.pcapng").flows["vantage"].to_list() == ["sender"]


@pytest.mark.xdist_group("real time")
def test_this_machines_kernel_is_captured(tmp_path: Path) -> None:
    try:
        netns.require()
    except BackendUnavailable as error:
        pytest.skip(str(error))
    batch = captured(netns, tmp_path, POINTS)
    seen = captures.read(tmp_path / "sender.pcapng").flows.filter(transport="tcp")
    assert sorted(batch.tables["flows"]["retransmits"].to_list()) == sorted(seen["retransmits"].to_list())
    assert (tmp_path / "link-up link-far.pcapng").stat().st_size > 10_000


@pytest.mark.long
def test_a_guest_of_qemu_hands_captures_out(tmp_path: Path) -> None:
    try:
        qemu.require()
    except BackendUnavailable as error:
        pytest.skip(str(error))
    batch = captured(qemu, tmp_path, ["sender", "link:up link"])
    seen = captures.read(tmp_path / "sender.pcapng").flows.filter(transport="tcp")
    assert sorted(batch.tables["flows"]["sent_packets"].to_list()) == sorted(seen["data_packets"].to_list())


def test_a_capture_that_cannot_be_written_fails_its_run_alone(tmp_path: Path) -> None:
    text = json.dumps({**TREE, "duration": "1 s"})
    orders = [taps.wanted(tmp_path / name).of_scenario(text, []) for name in ("taken.pcapng", "free.pcapng")]
    # What is there before is refused at once.
    (tmp_path / "taken.pcapng").mkdir()
    batch = uml.run_batch([text, text], [1, 2], orders)
    assert batch.errors == {0: f"{tmp_path}/taken.pcapng cannot be written: is a directory"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["free.pcapng", "taken.pcapng"]


def test_packets_that_a_capture_lacks_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "00000.json.0.pcapng").write_bytes(b"it")
    order = SimpleNamespace(points=[("sender", None)], paths=[str(tmp_path / "it.pcapng")], snap=96, comments=[])
    kept = guest.keep_captures({"00000.json": {"uncaptured": 3, "flows": []}}, tmp_path, {"00000.json": order})
    assert kept == {"00000.json": {"flows": []}}
    assert capsys.readouterr().err == f"warning: 3 packets are in none of {tmp_path}/it.pcapng: there was no room for them\n"
