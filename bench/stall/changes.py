"""What each choice of the data-stream-stall study does to the dips of its faulty kernel: the table of docs/guides/stall-study.md.

    python bench/stall/changes.py

Each row is the study's arm `faulty` with one thing changed, on one interface of each medium, beside the published curves (of Fast Ethernet the one without stopwatch).
The hosts stay those of the study, which were calibrated on the corrected curves.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from messages import times
from numpy.typing import NDArray

from sawtooth.stats import dips

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "studies/stall/study.toml"
PUBLISHED = ROOT / "studies/stall/published.csv"
WINDOW = 32_768
# Interfaces that faulty curves are published of.
CURVES = ("fe1", "atm1")
PHASES = ("0 ms", "2 ms", "4 ms", "6 ms", "8 ms")

Changes = dict[str, Any]
ROWS: dict[str, Changes] = {
    "nothing": {},
    "messages at any time": {"anytime": True},
    'acknowledgements of every second segment (`ack_every = 2`)': {"tcp": {"ack_every": 2}},
    "of every segment (`ack_every = 1`)": {"tcp": {"ack_every": 1}},
    'delayed by 20 ms whatever waits (`delayed_ack_timeout_several = "20 ms"`)': {"tcp": {"delayed_ack_timeout_several": "20 ms"}},
    "by 10 ms whatever waits": {"tcp": {"delayed_ack_timeout": "10 ms"}},
    'a timer of the sender\'s own (`partial_timer = "10 ms"`)': {"tcp": {"partial_timer": "10 ms"}},
    "the same, and `ack_every = 2`": {"tcp": {"partial_timer": "10 ms", "ack_every": 2}},
    "an MTU of 9180 bytes over ATM": {"mtu": "9180 B"},
    'a writer woken by any room (`wake_free = 0`)': {"host": {"wake_free": 0}},
    "packets of 1 byte more than their data (`packet_overhead`)": {"host": {"packet_overhead": "1 B"}},
    "of 200 bytes more": {"host": {"packet_overhead": "200 B"}},
    "of 500 bytes more": {"host": {"packet_overhead": "500 B"}},
    '`socket_memory = "48 KiB"`': {"host": {"socket_memory": "48 KiB"}},
    '`socket_memory = "32 KiB"`: the writer never gets beyond the window': {"host": {"socket_memory": "32 KiB"}},
    "windows of whole packets (`byte_window = false`)": {"tcp": {"byte_window": False}},
}  # fmt: skip


def took(study: Changes, case: Changes, partial: str, changes: Changes, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean time of a message by size, us, shape (n,)."""
    scenario, nic = study["scenario"], case["scenario.host"]
    if case["links.lan.medium"] == "atm" and "mtu" in changes:
        case = {**case, "links.lan.mtu": changes["mtu"]}
    host = {**scenario["hosts"][nic], **changes.get("host", {})}
    phases = PHASES if changes.get("anytime") else PHASES[:1]
    variants = [(case, host, {"receiver_phase": phase, "partial": partial, **changes.get("tcp", {})}) for phase in phases]
    return np.asarray(times(scenario, variants, sizes).mean(axis=0) / 1e3)


def cell(study: Changes, case: Changes, changes: Changes, published: pl.DataFrame) -> str:
    """Shares of dips found and surplus, lowest throughput beyond the window in MB/s."""
    published = published.filter(host=case["scenario.host"])
    sizes = published["message_bytes"].to_numpy()
    ours = sizes / took(study, case, "linux-2.0.29", changes, sizes)
    level = sizes / took(study, case, "minshall", changes, sizes)
    agreement = dips.agreement(dips.below(ours, level), dips.below(published["faulty"].to_numpy(), published["corrected"].to_numpy()))
    surplus = f"{agreement.surplus:.2f}" if agreement.ours else "-"
    return f"{agreement.found:.2f}, {surplus}, {ours[sizes > WINDOW].min():.1f}"


def table() -> str:
    """The table."""
    study = tomllib.loads(STUDY.read_text())
    published = (
        pl.read_csv(PUBLISHED, comment_prefix="#")
        .pivot("kernel", index=["host", "message_bytes"], values="throughput")
        .sort("message_bytes")
    )
    cases = {case["scenario.host"]: case for case in study["sweep"][0]["cases"]}
    lowest = [published.filter(pl.col("message_bytes") > WINDOW, host=nic)["faulty"].min() for nic in CURVES]
    lines = ["| Changed | Fast Ethernet: found, surplus, lowest | ATM: found, surplus, lowest |", "|---|---|---|"]
    lines.append("| published | " + " | ".join(f"1, 0, {value:.1f}" for value in lowest) + " |")
    for name, changes in ROWS.items():
        lines.append(f"| {name} | " + " | ".join(cell(study, cases[nic], changes, published) for nic in CURVES) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
