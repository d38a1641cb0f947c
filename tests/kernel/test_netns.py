"""The same scenario on this machine's own kernel, of which nothing is changed."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sawtooth import doctor
from sawtooth.backends import netns
from sawtooth.errors import BackendUnavailable

from .test_uml import guests, tree

GUEST = doctor.netns_finding()
pytestmark = [
    pytest.mark.xdist_group("real time"),
    pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}"),
]


def test_runs_use_the_algorithms_of_this_kernel_in_real_time() -> None:
    names = netns.congestion_controls()[:2]
    batch = netns.run_batch([tree("10 s", cc=f"kernel:{name}") for name in names], [1] * len(names))
    assert not batch.errors
    assert batch.tables["flows"]["cc"].to_list() == names
    assert batch.tables["flows"]["delivered_bytes"].to_list() == [100_000] * len(names)
    # The links are the simulator's: never faster than they are told (20 ms each way), and by how much slower depends on the machine's load.
    assert all(rtt >= 40_000_000 for rtt in batch.tables["flows"]["min_rtt_ns"])


def test_flows_arrive_and_requests_are_answered_on_this_kernel() -> None:
    flows = [
        {"name": "web", "path": ["l"], "arrivals": {"rate": 20, "number": 20, "size": "10 kB"}},
        {"name": "client", "path": ["l"], "source": {"name": "request_response", "count": 3}},
    ]
    (cc, *_) = netns.congestion_controls()
    batch = netns.run_batch([tree("4 s", flows=flows, cc=f"kernel:{cc}")], [1])
    assert not batch.errors
    (arrivals,), (exchanges,) = (batch.tables[name].rows(named=True) for name in ("arrivals", "exchanges"))
    # Twenty arrive within a second or little more, and have three more to get there whatever the machine's load.
    assert (arrivals["started"], arrivals["completed"], arrivals["delivered_bytes"]) == (20, 20, 200_000)
    assert (exchanges["answered"], exchanges["requested_bytes"]) == (3, 900)
    # A handshake or a request and an answer take a round trip at least; a transfer of 10 kB comes after a handshake.
    assert arrivals["completion_mean_ns"] >= 60_000_000 and exchanges["completion_mean_ns"] >= 40_000_000
    assert batch.tables["flows"]["acked_bytes"].to_list() == batch.tables["flows"]["delivered_bytes"].to_list() == [90_000]


def test_one_batch_runs_at_a_time_because_time_is_real() -> None:
    assert netns.parallel([tree(), tree()]) == 1
    assert netns.provenance([tree()])[0]["time"] == "real"


def test_an_algorithm_that_this_kernel_lacks_is_named_with_what_brings_it() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        netns.run_batch([tree(cc="kernel:yaeh")], [1])
    release, known = platform.release(), ", ".join(netns.congestion_controls())
    assert str(raised.value) == (
        f"error: kernel {release} has no congestion control `yaeh`\nhint: it has {known}; the module tcp_yaeh is not installed for it "
        "(some distributions have it in linux-modules-extra); `--backend uml` and `qemu` have it"
    )


@pytest.mark.parametrize("victim", ["laboratory", "agent"])
def test_nothing_of_the_host_changes_whoever_is_killed(victim: str, tmp_path: Path) -> None:
    before = state_of_the_host()
    process = subprocess.Popen([sys.executable, "-c", LABORATORY, tree("60 s", "1 GB")], env=os.environ | {"TMPDIR": str(tmp_path)},
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    wait_for(lambda: bool(list(tmp_path.glob("*/results/begun"))))
    time.sleep(0.5)
    if victim == "laboratory":
        process.kill()
    else:
        # The one that is process 1 of its namespace.
        agents = [number for number in guests(tmp_path) if "sawtooth-agent" in Path(f"/proc/{number}/exe").readlink().name]
        os.kill(min(map(int, agents)), signal.SIGKILL)
    said, _ = process.communicate(timeout=120)
    wait_for(lambda: not guests(tmp_path))
    assert not guests(tmp_path)
    assert state_of_the_host() == before
    if victim == "agent":
        assert said.startswith("the guest ended before this run did")


LABORATORY = """
import sys
from sawtooth.backends import netns
print(netns.run_batch([sys.argv[1]], [1]).errors[0])
"""


def state_of_the_host() -> dict[str, object]:
    """Every setting of the network, the devices, the mounts, the modules."""
    settings: dict[str, object] = {}
    for path in sorted(Path("/proc/sys/net").rglob("*")):
        # A count is what any connection of the host changes.
        if path.is_file() and not path.name.endswith("_count"):
            with contextlib.suppress(OSError):
                settings[str(path)] = path.read_bytes()
    settings["devices"] = sorted(line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    settings["mounts"] = Path("/proc/self/mountinfo").read_text()
    settings["modules"] = sorted(entry.name for entry in Path("/sys/module").iterdir())
    return settings


def wait_for(what: object, seconds: float = 120) -> None:
    """Until `what` says yes, or time is over."""
    assert callable(what)
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
