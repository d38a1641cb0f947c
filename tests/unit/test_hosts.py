"""Hosts from Python: their tables, and where mistakes are shown."""

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.errors import RunFailed, StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

SCENARIO = {
    "duration": "1 s", "stack": "rfc", "host": "pc", "record": ["stalls", "layers"],
    "tcp": {"handshake": False, "window_limit": "2 packets"},
    "hosts": {"pc": {"write_byte_cost": "10 ns", "send_packet_cost": "20 us", "receive_packet_cost": "20 us", "close": "acknowledged"}},
    "links": {"lan": {"rate": "100 Mbit/s", "delay": "1 ms"}},
    "flows": [{"path": ["lan"], "source": {"name": "messages", "size": "20440 B", "count": 1}}],  # 14 full segments: nothing is partial
}  # fmt: skip


def test_stalls_sum_to_the_flows_stall_and_latencies_come_from_the_layers() -> None:
    records = sawtooth.simulate(SCENARIO)
    flow = records.flows.row(0, named=True)
    spent = records.stalls.select((pl.col("to_ns") - pl.col("from_ns")).sum()).item()
    assert flow["stall_ns"] == spent == flow["stall_window_ns"] > 0
    data = records.layers.filter(layer="wire", kind="data")
    begun, arrived = data.filter(event="begin"), data.filter(event="arrive")
    latency = begun.join(arrived, on="packet", suffix="_arrived").select(pl.col("t_ns_arrived") - pl.col("t_ns")).to_series()
    # At least the way of 1 ms, and a packet of 1500 bytes takes 0.12 ms.
    assert latency.len() == flow["sent_packets"]
    assert latency.is_between(1_000_000, 1_200_000).all()


def test_without_a_host_there_is_no_stall_and_no_table() -> None:
    records = sawtooth.simulate({key: SCENARIO[key] for key in ("duration", "links", "flows")})
    assert records.flows["stall_ns"].to_list() == [None]
    with pytest.raises(RunFailed, match="no table `layers`"):
        _ = records.layers


def test_a_mistake_in_a_host_is_shown_where_it_is() -> None:
    text = (
        'name = "x"\n[scenario]\nduration = "1 s"\nhost = "pc"\n[scenario.hosts.pc]\nwake_free = 2\n'
        '[scenario.links.l]\nrate = "1 Mbit/s"\n[[scenario.flows]]\npath = ["l"]\n'
    )
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(text, Path("s.toml")))
    assert caught.value.message == "`wake_free` must be from 0 to 1, found 2"
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (6, 13)


def test_a_real_kernel_refuses_hosts() -> None:
    text = (
        'name = "x"\nbackend = "uml"\n[scenario]\nduration = "1 s"\n[scenario.hosts.pc]\n'
        '[scenario.links.l]\nrate = "1 Mbit/s"\n[[scenario.flows]]\npath = ["l"]\n'
    )
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(text, Path("s.toml")))
    assert caught.value.message == "`hosts` are of the simulator alone: a real kernel has its own costs"
    assert caught.value.place is not None
    assert caught.value.place.line == 5
