"""A message through all layers: `sawtooth trace --layers`, measures of messages, and the study of latencies."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.errors import DatasetError, StudyError
from sawtooth.execute import execute
from sawtooth.measures import layers
from sawtooth.measures.parts import PARTS
from sawtooth.plan import make_plan
from sawtooth.report import report
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from tests.conftest import ROOT

STUDY = """
name = "way"
[scenario]
duration = "1 s"
stack = "rfc"
tcp = { handshake = false, smss = "1000 B", header = "40 B" }
links.lan = { rate = "8 Mbit/s", delay = "1 ms" }
flows = [{ path = ["lan"], source = { name = "messages", size = "2000 B", count = 1 } }]
"""
HOST = """
[scenario.hosts.pc]
send_packet_cost = "20 us"
driver_send_cost = "10 us"
receive_packet_cost = "30 us"
"""


def write(directory: Path, text: str) -> Path:
    path = directory / "way.toml"
    path.write_text(text)
    return path


def test_tables_take_the_place_of_links_of_their_names_and_a_directory_that_is_none_is_told(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST)
    victim = tmp_path / "victim"
    victim.write_text("of another\n")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("layers-run-0.csv", "layers-run-0-messages.csv"):
        (out / name).symlink_to(victim)
    ran = CliRunner().invoke(app, ["trace", str(study), "--layers", "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    assert victim.read_text() == "of another\n"
    assert sorted(path.name for path in out.iterdir() if path.is_symlink() or path.suffix not in (".csv", ".svg", ".png")) == []
    for options in (["--layers"], []):
        ran = CliRunner().invoke(app, ["trace", str(study), *options, "--out", str(victim)])
        assert isinstance(ran.exception, DatasetError), ran.exception
        assert str(ran.exception).startswith(f"error: cannot write to {victim}: ")


def test_a_packet_s_times_add_up_to_what_each_layer_takes(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST)
    ran = CliRunner().invoke(app, ["trace", str(study), "--layers", "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert "figure:" in ran.output
    assert (tmp_path / "layers-run-0.png").stat().st_size > 1000
    first = pl.read_csv(tmp_path / "layers-run-0.csv").row(0, named=True)
    # 20 us of TCP, 10 us of the driver; 1040 bytes at 8 Mbit/s are 1040 us; 1 ms of way; 30 us of TCP on the other side.
    assert first["kind"] == "data"
    assert first["bytes"] == 1000
    assert [first[name] for name in ("driver_send", "handed", "wire_begin", "wire_end", "arrive", "tcp_receive")] == [20, 30, 30, 1070, 2070, 2100]  # fmt: skip
    # Copies and reads cost nothing here, and the acknowledgement is delayed.
    assert [first[name] for name in ("copied", "readable", "read")] == [0, 2100, 2100]


def test_without_hosts_there_is_nothing_to_show(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["trace", str(write(tmp_path, STUDY)), "--layers"])
    assert ran.exit_code != 0
    assert "no layers" in ran.output + str(ran.exception)


def test_a_flow_that_is_not_there_is_an_error_with_the_one_that_is(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST)
    ran = CliRunner().invoke(app, ["trace", str(study), "--layers", "--flow", "flov"])
    assert ran.exit_code != 0
    assert "there is no flow `flov` with a host" in ran.output + str(ran.exception)


MESSAGES = STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"').replace("count = 1 }", 'count = 3, interval = "100 ms" }') + HOST


def traced(directory: Path, *options: str) -> dict[str, Any]:
    ran = CliRunner().invoke(app, ["trace", str(write(directory, MESSAGES)), "--layers", "--json", "--out", str(directory), *options])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def test_the_stalls_of_the_sending_socket_are_told_with_their_causes(tmp_path: Path) -> None:
    options = ["--cell", "240", "--arm", "faulty", "--layers", "--json", "--out", str(tmp_path)]
    ran = CliRunner().invoke(app, ["trace", str(ROOT / "studies/stall/study.toml"), *options])
    assert ran.exit_code == 0, ran.output
    shown = json.loads(ran.output)
    # 40,000 bytes over ATM: nine full packets, of which the receiver acknowledges eight at once, and a partial one that waits for the acknowledgement of the ninth: two ticks.
    last = shown["stalls"][-1]
    assert last["cause"] == "partial"
    assert 10_000 < last["us"] < 20_000 < last["to_us"]
    assert last["us"] == pytest.approx(last["to_us"] - last["from_us"])
    # Between the copy and TCP.
    assert shown["message"]["copied"] / 1e3 < last["from_us"] < last["to_us"] < shown["message"]["tcp_send"] / 1e3


def test_any_message_can_be_chosen_and_its_time_counts_from_its_write(tmp_path: Path) -> None:
    first, second = traced(tmp_path), traced(tmp_path, "--message", "2")
    assert [shown["message"]["message"] for shown in (first, second)] == [1, 2]
    assert second["origin_ns"] == 100_000_000
    # Two packets of 1000 bytes each; messages alike that do not meet take the same time.
    assert [packet["seq"] for packet in second["packets"] if packet["kind"] == "data"] == [2, 3]
    assert [packet["tcp_send"] for packet in second["packets"][:2]] == [packet["tcp_send"] for packet in first["packets"][:2]] == [20, 50]
    assert first["message"]["total_ns"] == second["message"]["total_ns"]
    assert second["figure"].endswith("layers-run-0-message-2.svg")
    assert pl.read_csv(tmp_path / "layers-run-0-messages.csv")["message"].to_list() == [1, 2, 3]


def test_a_stretch_of_time_shows_what_happens_in_it(tmp_path: Path) -> None:
    shown = traced(tmp_path, "--from", "50 ms", "--to", "150 ms")
    assert shown["message"] is None
    assert [packet["seq"] for packet in shown["packets"] if packet["kind"] == "data"] == [2, 3]
    assert shown["packets"][0]["tcp_send"] == 100_020


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--layers", "--message", "4"], "there is no message 4\nhint: flow `flow` wrote messages 1 to 3 in this run"),
        (["--layers", "--message", "2", "--from", "1 ms"], "--message goes without --from and --to"),
        (["--message", "2"], "--message is for --layers"),
        (["--layers", "--link", "lan"], "--layers draws no links"),
        (["--layers", "--flow", "flow", "--flow", "other"], "layers are shown of one flow, not of flow, other"),
        (["--layers", "--from", "900 ms"], "nothing happens in that time"),
    ],
)
def test_what_cannot_be_shown_is_an_error_that_says_what_to_do(tmp_path: Path, options: list[str], words: str) -> None:
    ran = CliRunner().invoke(app, ["trace", str(write(tmp_path, MESSAGES)), *options])
    assert ran.exit_code != 0
    assert words in str(ran.exception)


def test_of_a_message_that_is_not_read_in_time_what_is_known_is_shown(tmp_path: Path) -> None:
    # The third is written at 200 ms, and its first packet comes after 2.07 ms.
    shown = traced(tmp_path, "--message", "3", "--set", "scenario.duration=202 ms")
    # Its last byte is copied when its first packet has been sent, 20 us of TCP and 10 us of the driver.
    assert shown["message"]["copied"] == 200_030_000
    assert shown["message"]["total_ns"] is None
    ran = CliRunner().invoke(app, ["trace", str(tmp_path / "way.toml"), "--layers", "--message", "3", "--set", "scenario.duration=202 ms",
                                   "--out", str(tmp_path)])  # fmt: skip
    assert "message 3 of 3 (2,000 B), written at 0.2 s: not read when the run ended" in ran.output


LOSSY = {
    "duration": "4 s", "stack": "linux", "host": "pc", "record": ["layers"],
    "hosts": {"pc": {"write_cost": "15 us", "write_byte_cost": "12 ns", "send_packet_cost": "40 us", "transmit_queue": 4, "socket_memory": "30 kB",
                     "transmit_interrupt_cost": "8 us", "receive_packet_cost": "45 us", "read_cost": "15 us", "wake_cost": "10 us"}},
    "links": {"lan": {"rate": "100 Mbit/s", "delay": "2 ms", "loss": {"name": "bernoulli", "probability": 0.03}}},
    "flows": [{"path": ["lan"], "count": 2, "source": {"name": "messages", "size": "30 kB", "count": 20, "interval": "100 ms"}}],
}  # fmt: skip


def test_the_parts_of_every_message_add_up_to_its_time_also_where_packets_are_lost() -> None:
    events = sawtooth.simulate(LOSSY, seed=3).layers
    found = layers.messages(events)
    assert found.group_by("flow", maintain_order=True).len()["len"].to_list() == [20, 20]
    assert found["total_ns"].null_count() == 0
    parts = found.select(part.column for part in PARTS)
    assert (parts.sum_horizontal() == found["total_ns"]).all()
    assert parts.min_horizontal().min() == 0
    # Some waited for a packet that was lost: more than a way there and back.
    waited = found["tcp_to_socket_ns"].max()
    assert isinstance(waited, int)
    assert waited > 4_000_000
    # A lost copy of a segment brings nothing; the one that came does.
    packets = layers.packets(events.filter(flow=found["flow"][0]))
    lost = packets.filter(pl.col("arrive").is_null(), pl.col("wire_end").is_not_null(), kind="data")
    assert lost.height > 5
    assert lost["readable"].null_count() == lost.height
    brought = packets.filter(pl.col("readable").is_not_null())
    assert brought.filter(pl.col("bytes") > 0).unique("seq")["bytes"].sum() == 20 * 30_000


# --- the study of latencies


@pytest.fixture(scope="module")
def latencies(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    plan = make_plan(Study.load(ROOT / "studies/stall/latency.toml"))
    dataset = Dataset.create(tmp_path_factory.mktemp("latencies"), plan)
    assert execute(plan, dataset, jobs=1).failed == 0
    return dataset


def test_in_every_cell_the_parts_add_up_to_the_time_of_the_message(latencies: Dataset) -> None:
    found = layers.messages(latencies.layers().collect())
    assert found.height == 128
    assert (found.select(part.column for part in PARTS).sum_horizontal() == found["total_ns"]).all()
    completions = latencies.flows().select("run", "completion_ns").collect().sort("run")["completion_ns"]
    assert (found["total_ns"] == completions).all()
    names = [part.column for part in PARTS]
    opened = sawtooth.Dataset.open(latencies.directory)
    parts = [opened.measure(f"mean(messages.{name})")["value"].alias(name) for name in names]
    assert (pl.DataFrame(parts).sum_horizontal() == opened.measure("mean(messages.total_ns)")["value"]).all()


def test_a_byte_takes_in_each_layer_what_the_host_s_parameters_say(latencies: Dataset) -> None:
    hosts = tomllib.loads((ROOT / "studies/stall/latency.toml").read_text())["scenario"]["hosts"]
    found = layers.messages(latencies.layers().collect()).join(latencies.runs, on="run").filter(size="1 B")
    assert found.height == 16
    for row in found.iter_rows(named=True):
        host = {key: float(value.split()[0]) * {"us": 1e3, "ns": 1.0}[value.split()[1]] for key, value in hosts[row["host"]].items() if value.endswith("s")}  # fmt: skip
        # A byte is a packet of 41 bytes.
        if row["host"].startswith("fe"):
            # The least frame of Ethernet is 64 bytes, with preamble and gap 84, at 100 Mbit/s; a switch sends it anew when it has all of it.
            on_wire = forwarded = 84 * 8 / 100e6 * 1e9
        else:
            # 41 bytes, 8 of LLC/SNAP and 8 of AAL5 are two cells of 48, 53 on the wire, at 149.76 Mbit/s; a switch sends each cell anew when it has it.
            on_wire, forwarded = 2 * 53 * 8 / 149.76e6 * 1e9, 53 * 8 / 149.76e6 * 1e9
        # Each cable takes 1 us.
        way = 1000.0 if row["arm"] == "direct" else 2000.0 + forwarded
        expected = {
            "application_to_socket_ns": 0.0,
            "socket_to_tcp_ns": host["send_packet_cost"],
            "tcp_to_driver_ns": 41 * host["driver_send_byte_cost"],
            "driver_to_wire_ns": 0.0,
            "transmission_ns": on_wire,
            "way_ns": way,
            "wire_to_driver_ns": host["receive_delay"] + 41 * host["driver_receive_byte_cost"],
            "driver_to_tcp_ns": host["receive_packet_cost"],
            "tcp_to_socket_ns": 0.0,
            # Reading costs nothing here, and the acknowledgement is delayed.
            "socket_to_application_ns": 0.0,
        }
        assert list(expected) == [part.column for part in PARTS]
        # Both ends of a part are whole nanoseconds: it is less than one off.
        for column, wanted in expected.items():
            assert abs(row[column] - wanted) < 1, (row["host"], row["arm"], column)
        assert abs(row["total_ns"] - sum(expected.values())) < 1


def test_the_report_has_a_row_for_every_cell_and_bars_for_every_interface(latencies: Dataset) -> None:
    made = report(latencies, run_analysis=True)
    grids = {grid.name: grid.frame for section in made.sections for grid in section.grids}
    grid = grids["latency_by_layer"]
    assert grid.height == 64
    assert grid.columns[:8] == ["cell", "host", "medium", "forwarding", "cable", "size", "mtu", "arm"]
    assert grid.columns[8:-1] == [part.column.replace("_ns", "_us") for part in PARTS]
    # fe1: TCP 18.7 us on each side, 41 bytes of the driver 0.127 each, a frame of 6.72, the way of 1 and the interface's 69.4.
    assert grid["total_us"][0] == pytest.approx(114.774)
    assert grids["parts"].rows() == [(part.name, part.what) for part in PARTS]
    assert grids["latencies"].height == 8
    assert grids["latencies"]["1 B"][0] == grid["total_us"][0]
    (plot,) = [plot for section in made.sections for plot in section.plots if plot.name == "layers"]
    figure = plot.figure
    # Nothing varies: there is no interval to draw.
    assert "Lines:" not in plot.caption
    assert [axis.get_title() for axis in figure.axes[:4]] == ["fe1", "fe2", "atm1", "atm2"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [part.name for part in PARTS]


def measured(directory: Path, text: str) -> sawtooth.Dataset:
    return sawtooth.run(write(directory, text), directory / "out", jobs=1)


def test_blocks_of_flows_are_by_themselves_and_a_message_that_is_not_read_is_a_bound(tmp_path: Path) -> None:
    # At 202 ms the third message of one block is on its way. The other writes one byte: a packet of 41 bytes, 41 us at 8 Mbit/s.
    byte = '{ path = ["lan"], name = "byte", start = "50 ms", source = { name = "messages", size = "1 B", count = 1 } }'
    text = MESSAGES.replace("flows = [{", f"flows = [{byte}, {{") + 'close = "acknowledged"\n'
    dataset = measured(tmp_path, text.replace('duration = "1 s"', 'duration = "202 ms"\nrecord = ["layers"]'))
    found = dataset.measure("mean(messages.total_ns)")
    # TCP, driver, transmission, way, TCP; the acknowledgement is delayed.
    byte_ns = (20 + 10 + 41 + 1000 + 30) * 1e3
    assert found.filter(item="byte").select("low", "high").rows() == [(byte_ns, byte_ns)]
    told = layers.messages(dataset.layers().collect()).filter(flow="flow2")["total_ns"]
    one = told[0]
    assert told.to_list() == [one, one, None]
    ((low, high),) = found.filter(item="flow2").select("low", "high").rows()
    assert high == float("inf")
    assert low == pytest.approx((2 * one + 2e6) / 3)
    # Its parts are not known: they are of the two that were read.
    parts = [dataset.measure(f"sum(messages.{part.column})").filter(item="flow2")["value"][0] for part in PARTS]
    assert sum(parts) == 2 * one
    assert dataset.measure("sum(messages.bytes)").filter(item="flow2")["value"].to_list() == [3 * 2000]


def test_requests_and_answers_are_messages_of_their_flow(tmp_path: Path) -> None:
    source = 'source = { name = "request_response", request = "500 B", response = "1500 B", think = "1 ms" }'
    text = STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"\nrecord = ["layers"]').replace(
        'source = { name = "messages", size = "2000 B", count = 1 }', source
    )
    dataset = measured(tmp_path, text + HOST)
    assert dataset.measure("mean(messages.total_ns)")["item"].to_list() == ["flow"]
    assert [dataset.measure(f"{which}(messages.bytes)")["value"].to_list() for which in ("min", "max")] == [[500], [1500]]


def test_messages_that_are_not_recorded_are_refused_with_what_records_them(tmp_path: Path) -> None:
    figure = '[[figures]]\nname = "a"\nmetric = "mean(messages.way_ns)"\n'
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST + figure)))
    assert caught.value.message == 'no run has `mean(messages.way_ns)`: the table `layers` needs record = ["layers"]'
    assert caught.value.hint == 'write record = ["layers"] in [scenario]'


def test_what_is_not_read_by_the_end_is_readable_all_the_same() -> None:
    names = ("flow", "packet", "kind", "seq", "bytes", "layer", "event", "t_ns")
    rows = [
        ("a", None, None, None, 1000, "application", "write", 10),
        ("a", None, None, None, 1000, "socket", "copied", 20),
        ("a", 0, "data", 0, 1000, "tcp", "send", 30),
        ("a", 0, "data", 0, None, "wire", "arrive", 40),
        ("a", 0, "data", 0, None, "tcp", "receive", 50),
        ("a", None, None, None, 1000, "socket", "readable", 60),
    ]
    events = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    (packet,) = layers.packets(events).to_dicts()
    assert [packet[name] for name in ("copied", "tcp_send", "arrive", "tcp_receive", "readable", "read")] == [20, 30, 40, 50, 60, None]
    (message,) = layers.messages(events).to_dicts()
    assert [message[name] for name in ("message", "bytes", "packet", "write", "readable", "total_ns")] == [1, 1000, 0, 10, 60, None]
