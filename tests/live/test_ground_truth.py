"""Connections that are held back by one known thing each: the tool names it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# Network, mounts and processes of their own, all of which end with the test, also if it is killed.
APART = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
LOOPBACK = [*APART, "sh", "-c", 'ip link set lo up && "$@"', "sh"]
SHAPED = [*APART, str(HERE / "network.sh")]
RECEIVER = "10.99.2.2"
# Of three seconds; the first looks still see the slow start, or data that is on its way to where it will wait.
MOSTLY = 0.7


def namespaces() -> str | None:
    """What keeps this user from making namespaces with devices in them that the kernel shapes; None if nothing does."""
    missing = [tool for tool in ("setpriv", "unshare", "ip", "tc") if not shutil.which(tool)]
    if missing:
        return f"needs {' and '.join(missing)}"
    probe = "ip link add here type veth peer name there && tc qdisc add dev here root tbf rate 1mbit burst 10kb limit 10kb"
    made = subprocess.run([*APART, "sh", "-c", probe], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return f"needs root, and a kernel with veth and tbf: {made.stderr.strip()}" if made.returncode else None


def tracepoints() -> str | None:
    """What keeps bpftrace from running here; None if nothing does."""
    if shutil.which("bpftrace") is None:
        return "needs bpftrace"
    return None if Path("/sys/kernel/btf/vmlinux").exists() else "needs a kernel with BTF"


WITHOUT_NAMESPACES, WITHOUT_TRACEPOINTS = namespaces(), tracepoints()
pytestmark = [
    pytest.mark.xdist_group("real time"),
    pytest.mark.skipif(WITHOUT_NAMESPACES is not None, reason=str(WITHOUT_NAMESPACES)),
]
exact = pytest.mark.skipif(WITHOUT_TRACEPOINTS is not None, reason=str(WITHOUT_TRACEPOINTS))


# What goes over the shaped path, with the settings of it; the others are on loopback.
ON_PATH = {
    "send_buffer": {"SEND_BUFFER": "8192"},
    "send_buffer, larger": {"SEND_BUFFER": "30000"},
    "cwnd": {},
    "device": {"OWN_RATE": "10mbit"},
}


@functools.cache
def observe(case: str) -> dict[str, Any]:
    """What is said of such a connection, and what the tracepoints say where they can be had; each case is watched once."""
    kind = case.partition(",")[0]
    where = [*SHAPED, sys.executable, str(HERE / "traffic.py"), kind, RECEIVER] if case in ON_PATH else [
        *LOOPBACK, sys.executable, str(HERE / "traffic.py"), kind]  # fmt: skip
    settings = ON_PATH.get(case, {}) | ({} if WITHOUT_TRACEPOINTS else {"EXACT": "1"})
    done = subprocess.run(where, env=os.environ | settings, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_slow_reader_is_told_by_its_window() -> None:
    seen = observe("rwnd")
    assert seen["cause"] == "rwnd"
    assert seen["shares"]["rwnd"] > MOSTLY
    assert seen["stall"] > MOSTLY
    assert seen["says"].startswith("the receiver's window of ")


def test_an_application_that_writes_too_little_is_told_and_is_no_stall() -> None:
    seen = observe("source")
    assert seen["cause"] == "source"
    assert seen["shares"]["source"] > MOSTLY
    assert seen["stall"] < 0.05
    assert seen["says"] == "the application gives it nothing to send"


@pytest.mark.parametrize(("case", "size"), [("send_buffer", "16 kB"), ("send_buffer, larger", "60 kB")])
def test_a_small_send_buffer_is_told(case: str, size: str) -> None:
    seen = observe(case)
    assert seen["cause"] == "send_buffer"
    assert seen["shares"]["send_buffer"] > MOSTLY
    assert seen["stall"] > MOSTLY
    # The kernel doubles what SO_SNDBUF asks for (man 7 socket): 8192 bytes are 16 kB, 30,000 are 60.
    assert seen["says"] == f"the send buffer of {size} is full, and all of it is in flight"


def test_the_congestion_window_of_a_shaped_path_is_told_with_the_queue_it_stands_in() -> None:
    seen = observe("cwnd")
    assert seen["cause"] == "cwnd"
    assert seen["shares"]["cwnd"] + seen["shares"]["recovery"] > MOSTLY
    assert "a queue stands in the path" in seen["says"]
    # 20 Mbit/s of frames: 1448 of 1514 bytes are data.
    assert seen["bps"] == pytest.approx(20e6 * 1448 / 1514, rel=0.1)


def test_pacing_by_the_application_is_told_with_its_rate() -> None:
    seen = observe("pacing")
    assert seen["cause"] == "pacing"
    assert seen["shares"]["pacing"] > MOSTLY
    assert seen["says"] == "it is paced at 8 Mbit/s, by its application (SO_MAX_PACING_RATE)"


def test_a_second_small_write_that_waits_for_the_acknowledgement_of_the_first_is_told() -> None:
    seen = observe("nagle")
    assert seen["cause"] == "nagle"
    assert seen["shares"]["nagle"] > MOSTLY
    # The last look may come between the acknowledgement and the next two writes.
    assert seen["says"].startswith(("100 bytes, less than a segment of ", "writes of less than a segment of "))


def test_a_queue_of_this_machines_own_is_the_network_card_and_no_stall() -> None:
    seen = observe("device")
    assert seen["cause"] == "device"
    assert seen["shares"]["device"] > MOSTLY
    assert seen["stall"] < 0.1


@exact
@pytest.mark.parametrize("case", ["rwnd", "send_buffer", "send_buffer, larger", "cwnd", "pacing", "nagle"])
def test_stalls_at_the_tracepoints_are_of_the_same_cause_and_take_about_as_long(case: str) -> None:
    seen = observe(case)
    assert max(seen["exact_causes"], key=seen["exact_causes"].get) == case.partition(",")[0]
    # A fifth of a second more is in it than in the looks, of three; and what the protocol and the processor need is no stall.
    assert 0.8 < seen["exact"] < 1.15


@exact
def test_tracepoints_see_no_stall_where_the_application_writes_too_little_or_the_card_is_busy() -> None:
    assert observe("source")["exact"] < 0.05
    assert observe("device")["exact"] < 0.1
