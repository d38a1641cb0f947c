"""Traffic of every kind on user-mode Linux, beside the simulator with the same random numbers.

Runs repeat themselves bit for bit, so tolerances are not about noise: they are about what two TCPs that differ in small things make of the same
traffic, with room for three times what was measured with Linux 6.1.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from sawtooth import doctor
from sawtooth.backends import sim, uml
from sawtooth.backends.batch import Batch

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")

LINK = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}
WEB = {"name": "web", "path": ["l"], "arrivals": {"load": 0.5, "size": {"name": "pareto", "shape": 1.2, "mean": "30 kB", "max": "1 MB"}}}
# The packaged kernel's ticks are of 10 ms.
TICKS = {"timer_tick": "10 ms"}


def both(*flows: dict[str, Any], duration: str = "5 s", link: dict[str, Any] = LINK, **more: Any) -> tuple[Batch, Batch]:
    """What a kernel and the simulator make of one scenario."""
    tree = {"duration": duration, "stack": "linux", "links": {"l": link}, "flows": list(flows), **more}
    real = uml.run_batch([json.dumps({**tree, "cc": "kernel:cubic", "kernel": {"gso": False}})], [1])
    model = sim.run_batch([json.dumps({**tree, "cc": "cubic", "tcp": TICKS})], [1])
    assert not real.errors and not model.errors, (real.errors, model.errors)
    return real, model


def values(batch: Batch, table: str, column: str) -> list[Any]:
    return batch.tables[table][column].to_list()


def test_the_same_flows_arrive_and_take_as_long() -> None:
    real, model = both(WEB, record=["transfers"])
    for column in ("rate", "started", "offered_bytes"):
        assert values(real, "arrivals", column) == values(model, "arrivals", column)
    columns = ["number", "start_ns", "size_bytes"]
    transfers = [batch.tables["transfers"].filter(pl.col("completion_ns") >= 0).sort("number") for batch in (real, model)]
    first, second = (frame.select(columns) for frame in transfers)
    # Which are still there at the end may differ.
    same = first.join(second, on=columns, how="semi", maintain_order="left")
    assert same.height >= 0.95 * max(first.height, second.height) > 50
    # Measured over 20 s and three seeds: means of all within 4 %, of a power of ten of sizes within 10 %.
    assert values(real, "arrivals", "completion_mean_ns")[0] == pytest.approx(values(model, "arrivals", "completion_mean_ns")[0], rel=0.1)
    assert values(real, "completions", "size_from_bytes") == values(model, "completions", "size_from_bytes")
    for column in ("started", "size_below_bytes"):
        assert values(real, "completions", column) == values(model, "completions", column)
    # A kernel counts neither expirations of the timer nor reductions of the window of a connection.
    assert values(real, "arrivals", "timeouts") == values(real, "arrivals", "congestion_signals") == [None]
    assert values(real, "arrivals", "retransmits")[0] is not None
    # Nobody was told that its port was taken, and nobody had to wait for another to be accepted.
    counted = dict(real.tables["counters"].filter(host="receiver").select("counter", "value").iter_rows())
    assert not {"TcpExtListenOverflows", "TcpExtListenDrops", "TcpExtTCPReqQFullDoCookies"} & counted.keys()


def test_more_flows_than_a_guest_holds_are_refused_with_what_to_do() -> None:
    link = {**LINK, "delay": "5 s"}
    many = {**WEB, "arrivals": {"rate": 20_000, "size": "1 kB"}}
    tree = {"duration": "4 s", "links": {"l": link}, "cc": "kernel:cubic", "flows": [many], "kernel": {"memory": "128 MiB"}}
    error = uml.run_batch([json.dumps(tree)], [1]).errors[0]
    assert " flows are alive when number " in error and " of `web` arrives at " in error
    assert error.endswith(" MiB of memory left for them: raise kernel.memory, or let fewer arrive")


def test_flows_that_arrive_cross_the_kernels_own_shaper_beside_one_that_stays() -> None:
    tree = {
        "duration": "3 s", "links": {"l": LINK}, "cc": "kernel:cubic", "sample": "500 ms", "kernel": {"shaper": "kernel"},
        "flows": [{"name": "long", "path": ["l"]}, {**WEB, "arrivals": {"rate": 20, "size": "10 kB"}, "start": "1 s"}],
    }  # fmt: skip
    batch = uml.run_batch([json.dumps(tree)], [1])
    assert not batch.errors
    row = batch.tables["arrivals"].row(0, named=True)
    assert row["started"] > 20
    # Those of the last moments are still there: the queue is full, and a transfer of 7 segments takes two or three round trips of up to 0.1 s.
    assert row["started"] - 12 <= row["completed"] <= row["started"]
    assert row["delivered_bytes"] >= row["completed"] * 10_000
    assert batch.tables["series"]["flow"].unique().to_list() == ["long"]


def test_requests_are_answered_as_fast_as_in_the_simulator() -> None:
    source = {"name": "request_response", "count": 20, "request": {"name": "exponential", "mean": "2 kB"},
              "response": {"name": "lognormal", "mean": "40 kB", "sigma": 1.0}, "think": {"name": "exponential", "mean": "100 ms"},
              "server_think": {"name": "exponential", "mean": "20 ms"}}  # fmt: skip
    real, model = both({"name": "q", "path": ["l"], "source": source}, duration="8 s")
    for column in ("asked", "answered", "requested_bytes"):
        assert values(real, "exchanges", column) == values(model, "exchanges", column)
    assert values(real, "exchanges", "answered") == [20]
    assert values(real, "flows", "delivered_bytes") == values(model, "flows", "delivered_bytes")
    # Measured over three seeds of a minute each: means up to 0.6 %.
    for table, column in (("exchanges", "completion_mean_ns"), ("flows", "completion_ns")):
        assert values(real, table, column)[0] == pytest.approx(values(model, table, column)[0], rel=0.02)


# What each does to acknowledgements: the second of two writes waits for one that is delayed; a server is too late to begin to delay them, or is not; segments
# 30 ms apart let it be later; pauses do not end it, and large requests are acknowledged by twos.
ANSWERS: dict[str, dict[str, Any]] = {
    "one write": {},
    "two writes": {"request_writes": 2},
    "a response in two": {"response_writes": 2},
    "pauses": {"request_writes": 2, "think": "300 ms"},
    "after 39 ms": {"request_writes": 2, "server_think": "39 ms"},
    "after 41 ms": {"request_writes": 2, "server_think": "41 ms"},
    "large": {"request": "20 kB", "think": "300 ms"},
    "apart": {"request": "500 B", "request_writes": 5, "write_interval": "30 ms", "server_think": "45 ms"},
}


def test_who_answers_delays_acknowledgements_as_in_the_simulator() -> None:
    near = {**LINK, "rate": "100 Mbit/s", "delay": "100 us"}
    tcp = {"partial": "minshall"}, {"partial": "nodelay"}
    trees: list[dict[str, Any]] = []
    for name, keys in ANSWERS.items():
        source = {"name": "request_response", "request": "200 B", "response": "100 B", "think": "1 ms", "count": 8, **keys}
        flow = {"path": ["l"], "source": source, "tcp": tcp[name == "apart"]}
        trees.append({"duration": "6 s", "stack": "linux", "links": {"l": near}, "flows": [flow]})
    seeds = [1] * len(trees)
    real = uml.run_batch([json.dumps({**tree, "cc": "kernel:cubic", "kernel": {"gso": False}}) for tree in trees], seeds)
    model = sim.run_batch([json.dumps({**tree, "cc": "cubic", "tcp": TICKS}) for tree in trees], seeds)
    assert not real.errors and not model.errors, (real.errors, model.errors)
    assert values(real, "exchanges", "answered") == values(model, "exchanges", "answered") == [8] * len(trees)
    # The guest's ticks are 50 us before the simulator's.
    means = zip(ANSWERS, *(values(batch, "exchanges", "completion_mean_ns") for batch in (real, model)), strict=True)
    for name, measured, modelled in means:
        assert measured == pytest.approx(modelled, abs=60_000), name
    # Each way: an acknowledgement is carried or not.
    assert values(real, "links", "arrived_packets") == values(model, "links", "arrived_packets")


def test_an_application_that_pauses_sends_the_same() -> None:
    real, model = both({"path": ["l"], "source": {"name": "on_off", "rate": "20 Mbit/s"}})
    # Measured: the same number of bytes, and as many losses.
    assert values(real, "flows", "delivered_bytes")[0] == pytest.approx(values(model, "flows", "delivered_bytes")[0], rel=0.01)
    assert abs(values(real, "links", "dropped_packets")[0] - values(model, "links", "dropped_packets")[0]) <= 5


@pytest.mark.parametrize(
    "source",
    [{"name": "constant_rate", "rate": "4 Mbit/s"}, {"name": "self_similar", "mean": "4 Mbit/s"}],
    ids=lambda source: source["name"],
)
def test_packets_of_udp_take_their_share_from_a_kernels_connection(source: dict[str, Any]) -> None:
    background = {"name": "u", "path": ["l"], "transport": "udp", "source": source}
    # TCP begins a little later: of packets that come at one time one cannot say which is first.
    real, model = both({"name": "tcp", "path": ["l"], "start": "2.6 ms"}, background)
    for column in ("sent_packets", "sent_bytes"):
        assert values(real, "datagrams", column) == values(model, "datagrams", column)
    of_kernel, of_model = (dict(batch.tables["flows"].select("flow", "goodput_bps").iter_rows()) for batch in (real, model))
    # Measured over six starts: 1 %; delays, which tell which packets a full queue dropped first, 8 %.
    for name in ("tcp", "u"):
        assert of_kernel[name] == pytest.approx(of_model[name], rel=0.05)
    assert values(real, "datagrams", "delay_mean_ns")[0] == pytest.approx(values(model, "datagrams", "delay_mean_ns")[0], rel=0.25)


WORLD: dict[str, dict[str, Any]] = {
    "fq_codel": {"queue": {"name": "fq_codel"}},
    "pie": {"queue": {"name": "pie"}},
    "jitter": {"jitter": {"name": "normal", "deviation": "2 ms"}},
    "bursts of loss": {"loss": {"name": "gilbert_elliott", "p": 0.002, "r": 0.3}},
    "changes": {"changes": [{"at": "2 s", "rate": "2 Mbit/s"}, {"at": "3 s", "rate": "10 Mbit/s", "delay": "40 ms"}]},
}


@pytest.mark.parametrize("name", WORLD)
def test_links_and_queues_of_the_world_carry_a_kernels_packets(name: str) -> None:
    flows = ({"name": f"tcp{at}", "path": ["l"], "start": f"{at} s"} for at in range(2))
    real, model = both(*flows, link={**LINK, **WORLD[name]})
    shares = [sum(values(batch, "flows", "goodput_bps")) for batch in (real, model)]
    assert shares[0] == pytest.approx(shares[1], rel=0.1)
