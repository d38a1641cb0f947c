"""What `[scenario.kernel]` and the scenario tell a kernel, in real guests of user-mode Linux."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sawtooth import doctor
from sawtooth.backends import uml
from sawtooth.backends.batch import Batch

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")


def fetch(link: dict[str, Any], size: str = "1 MB", **keys: Any) -> dict[str, Any]:
    """A fetch over one link, with other keys of the scenario."""
    flow = {"path": ["l"], "source": {"name": "bulk", "size": size}}
    return {"duration": "8 s", "cc": "reno", "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", **link}}, "flows": [flow], **keys}


def run(*trees: dict[str, Any]) -> Batch:
    """All in one guest."""
    return uml.run_batch([json.dumps(tree) for tree in trees], [1] * len(trees))


def completions(batch: Batch) -> list[float]:
    """In seconds."""
    return [value / 1e9 for value in batch.tables["flows"]["completion_ns"]]


def test_a_connection_inherits_a_threshold_only_where_the_cache_keeps_it() -> None:
    link = {"rate": "480 Mbit/s", "delay": "5 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}, "drop": [60]}
    two = fetch(link)
    two["flows"][0] |= {"count": 2, "start": "(i - 1) * 2 s"}
    modes = ("off", "default", "with_ssthresh")
    batch = run(*({**two, "kernel": {"metrics_cache": mode}} for mode in modes))
    second = dict(zip(modes, completions(batch)[1::2], strict=True))
    # Slow start takes eight round trips of 10 ms; congestion avoidance from half of the window at the loss, some 33 segments, about twice as many.
    assert second["off"] == pytest.approx(0.079, abs=0.002)
    assert second["default"] == pytest.approx(second["off"], abs=0.001), "since Linux 5.6"
    assert second["with_ssthresh"] > 2 * second["off"]


def test_the_least_timeout_of_the_route_is_heeded() -> None:
    # The last segment but one is lost, and nothing but the timer finds it: without tail loss probes.
    lost = fetch({"drop": [44]}, size="60 kB", kernel={"sysctl": {"net.ipv4.tcp_early_retrans": 0}})
    batch = run(lost, {**lost, "tcp": {"rto_min": "1 s"}})
    assert batch.tables["flows"]["retransmits"].to_list() == [1, 1]
    usual, late = completions(batch)
    # Linux's least timeout is 200 ms.
    assert late - usual == pytest.approx(0.8, abs=0.09), "beyond 64 of its 10-ms ticks the kernel keeps timers in steps of eight"


def test_the_initial_window_of_the_route_is_heeded() -> None:
    batch = run(*(fetch({}, size="60 kB", sample="ack", tcp={"initial_window": f"{window} packets"}) for window in (2, 10)))
    # The row of the handshake's answer, before the application has written.
    first = batch.tables["series"].group_by("run", maintain_order=True).first()
    assert first["cwnd_bytes"].to_list() == [2 * 1448, 10 * 1448]
    assert first["flight_bytes"].to_list() == [0, 0]


def test_chosen_packets_are_lost_and_sent_again() -> None:
    batch = run(fetch({"drop": [20, 100, 300]}))
    forward = batch.tables["links"].filter(pl.col("direction") == "forward")
    assert forward["lost_packets"].to_list() == [3]
    assert batch.tables["flows"]["delivered_bytes"].to_list() == [1_000_000]
    assert batch.tables["flows"]["retransmits"][0] >= 3


def test_the_kernels_own_shaper_takes_as_long_as_the_simulators_link() -> None:
    link = {"queue": {"name": "drop_tail", "limit": "1000 packets"}}
    ours, theirs = completions(run(fetch(link), fetch(link, kernel={"shaper": "kernel"})))
    # No loss: the time is that of the link, of which docs/validation/shaper.md says how exact it is.
    assert theirs == pytest.approx(ours, rel=0.01)


def test_a_discipline_that_the_kernel_lacks_fails_its_run_only() -> None:
    batch = run(*(fetch({}, kernel={"shaper": "kernel", "qdisc": qdisc}) for qdisc in ("fq_codel", "fq_pie")))
    assert list(batch.errors) == [1]
    assert batch.errors[1].startswith("this kernel has no queue discipline `fq_pie`, at: tc -n left qdisc add dev right parent 1:1 fq_pie")
    assert batch.tables["flows"]["delivered_bytes"].to_list() == [1_000_000]


def test_a_setting_that_a_namespace_lacks_fails_its_run() -> None:
    batch = run(fetch({}, kernel={"sysctl": {"net.core.netdev_budget": 1}}))
    assert batch.errors[0].startswith("a network namespace of this kernel has no setting `net.core.netdev_budget`")


@pytest.mark.skipif(not Path("/usr/sbin/apache2").exists(), reason="Apache is not installed (package apache2-bin)")
def test_apache_and_wget_take_half_a_round_trip_longer() -> None:
    link = {"queue": {"name": "drop_tail", "limit": "1000 packets"}}
    sockets, http = completions(run(fetch(link), fetch(link, kernel={"application": "http"})))
    # The client's request takes half a round trip of 40 ms; its answer's header is some 200 bytes.
    assert http - sockets == pytest.approx(0.020, abs=0.002)
