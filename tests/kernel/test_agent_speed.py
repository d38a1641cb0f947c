"""The agent's system calls many at once, by io_uring, against one by one: what is measured is the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sawtooth import _core, doctor
from sawtooth.backends import guest, uml
from sawtooth.backends.launcher import Settings

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")


def fetch(cc: str, queue: str = "50 packets", size: str = "200 kB", **more: Any) -> dict[str, Any]:
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": queue}}
    flow = {"path": ["l"], "count": 2, "start": "(i-1)*0.3 s", "source": {"name": "bulk", "size": size}}
    return {"duration": "2 s", "links": {"l": link}, "cc": f"kernel:{cc}", "flows": [flow], **more}


SCENARIOS = {
    "drop-tail": fetch("cubic", queue="10 packets", sample="ack"),
    "paced": fetch("bbr", sample="10 ms"),
    "ends of the data": fetch("reno", size="65537 B", sample="ack"),
    "kernel's shaper": fetch("reno", kernel={"shaper": "kernel"}, sample="10 ms"),
}
# The kernel tells round trips in whole microseconds, and its clock goes in steps of 256 ns whose phase differs between boots. Measured: 1 us.
CLOCK_NS = 2_000


def measured(calls: str) -> dict[str, guest.Outcome]:
    found: dict[str, guest.Outcome] = {}
    for shaped in (False, True):
        names = [name for name, tree in SCENARIOS.items() if ("kernel" in tree) == shaped]
        keys = [_core.kernel_settings(json.dumps(SCENARIOS[name])) for name in names]
        algorithms = frozenset(name for key in keys for name in key["algorithms"])
        machine = uml.LAUNCHER.machine(Settings.of(keys[0]), algorithms)
        jobs = {name: {"scenario": SCENARIOS[name], "seed": 1, "calls": calls} for name in names}
        results, console, _ = guest.boot("uml", machine, jobs, patience=120.0)
        assert results.keys() >= set(names), console
        found |= {name: results[name] for name in names}
    return found


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    """The columns that no clock is in; shares and means of links are over times."""
    return {key: value for key, value in row.items() if not key.endswith(("_ns", "_bps", "utilisation")) and "_mean_" not in key}


def test_calls_at_once_measure_what_calls_one_by_one_measure() -> None:
    one_by_one, at_once = measured("one by one"), measured("at once")
    for name in SCENARIOS:
        plain, fast = one_by_one[name], at_once[name]
        assert "error" not in plain and "error" not in fast, (name, plain.get("error"), fast.get("error"))
        # The kernel's own shaper fills no table of links.
        assert "links" in plain or name == "kernel's shaper"
        for table in sorted(plain.keys() | fast.keys()):
            assert [without_times(row) for row in fast[table]] == [without_times(row) for row in plain[table]], (name, table)
            for row, same in zip(fast[table], plain[table], strict=True):
                times = {key: (row[key], same[key]) for key in row if key.endswith("_ns")}
                assert all(abs(one - other) <= CLOCK_NS for one, other in times.values()), (name, table, times)


def request_response(**source: Any) -> dict[str, Any]:
    link = {"rate": "100 Mbit/s", "delay": "100 us", "queue": {"name": "drop_tail", "limit": "1000 packets"}}
    exchanges = {"name": "request_response", "response": "100 B", "request": "200 B", "count": 8, "think": "1 ms", **source}
    flow = {"name": "q", "path": ["l"], "source": exchanges}
    return {"duration": "4 s", "stack": "linux", "cc": "kernel:cubic", "kernel": {"gso": False}, "links": {"l": link}, "flows": [flow]}


# Each takes well below a second of its four. Before the ring cancelled its waits one by one, the third of them slept after five answers
# until its end, if the two before it had run in the same guest.
CONNECTIONS = [
    request_response(),
    request_response(request_writes=2),
    request_response(request="1000 B", request_writes=2),
    request_response(request_writes=2, think="50 ms"),
    request_response(request_writes=2, server_think="20 ms"),
    request_response(response="20 kB"),
]


def test_no_run_of_a_batch_sleeps_while_something_is_to_be_done() -> None:
    found = guest.run_jobs(
        uml.LAUNCHER, {f"j{at}": {"scenario": tree, "seed": 1, "calls": "at once"} for at, tree in enumerate(CONNECTIONS)}
    )
    assert [outcome.get("error") for outcome in found.values()] == [None] * len(CONNECTIONS)
    assert [outcome["exchanges"][0]["answered"] for outcome in found.values()] == [8] * len(CONNECTIONS)
