"""One endless flow over a path that loses packets and has no queue: its mean window, and the signals that it got."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.backends import sim

RTT_S = 0.1
# So fast that a window leaves at once: the round-trip time is the path's, whatever the window.
RATE = "1 Tbit/s"
SAMPLES = 40
# The first quarter of a run is left out.
SETTLED = SAMPLES // 4
# Nothing but the congestion window limits a flow.
ROOM = {
    "send_buffer_max": "10 GB",
    "receive_buffer_max": "10 GB",
    "receive_buffer_default": "none",
    "send_buffer_default": "none",
    "window_limit": "none",
}


@dataclass(frozen=True)
class Sender:
    """An algorithm in a stack."""

    name: str
    cc: str
    stack: str = "rfc"
    acked: float = 1
    """Segments that grow the window by as much as one does by itself: 2 with delayed acknowledgements, unless bytes are counted."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tcp: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Window:
    """What a run measured, after its start."""

    delivered: float
    """Segments per round-trip time."""
    sent: float
    """The same, with those sent again."""
    signals: int
    """Reductions of the window; timeouts in a row are one."""
    timeouts: int
    signal_rate: float
    """Signals per packet sent."""


def window(sender: Sender, p: float, guess: float, events: int, seed: int, *, periodic: bool, keep: Path | None = None) -> Window:
    """A run as long as `events` losses take with a window of `guess`; of periodic losses, `seed` says where the first is."""
    text = json.dumps(scenario(sender, p, guess, events, seed, periodic=periodic), sort_keys=True)
    place = keep / f"{hashlib.sha256(f'{text} {seed}'.encode()).hexdigest()[:20]}.json" if keep else None
    if place and place.exists():
        return Window(**json.loads(place.read_text()))
    batch = sim.run_batch([text], [seed])
    assert not batch.errors, batch.errors
    found = measured(batch.tables, int(json.loads(text)["tcp"]["smss"].split()[0]))
    if place:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(asdict(found)))
    return found


def scenario(sender: Sender, p: float, guess: float, events: int, seed: int, *, periodic: bool) -> dict[str, Any]:
    link: dict[str, Any] = {"rate": RATE, "delay": f"{RTT_S / 2} s", "queue": {"name": "drop_tail", "limit": "1000000000 packets"}}
    if periodic:
        # Packets are counted from the SYN on. Replicates differ in where the first loss is; there are three times as many as the run will meet.
        every = round(1 / p)
        first = round(every * (0.6 + 0.1 * seed))
        link["drop"] = [first + every * number for number in range(3 * events)]
    else:
        link["loss"] = p
    return {
        "duration": f"{events / p / guess * RTT_S} s",
        "sample": f"{events / p / guess * RTT_S / SAMPLES} s",
        "record": ["episodes"],
        "stack": sender.stack,
        "links": {"path": link},
        # About where a loss leaves the window: a run begins in the midst of a saw.
        "tcp": {"smss": "1460 B", "initial_ssthresh": f"{max(2, round(0.75 * guess))} packets", **ROOM, **sender.tcp},
        "flows": [{"path": ["path"], "cc": {"name": sender.cc, **sender.parameters}}],
    }


def measured(tables: dict[str, pl.DataFrame], smss: int) -> Window:
    series = tables["series"]
    since, until = series["t_ns"][SETTLED - 1], series["t_ns"][-1]
    trips = (until - since) / 1e9 / RTT_S
    delivered = (series["delivered_bytes"][-1] - series["delivered_bytes"][SETTLED - 1]) / smss
    episodes = tables["episodes"].filter(pl.col("start_ns").is_between(since, until, closed="left"))
    sent = delivered + int(episodes["retransmits"].sum())
    return Window(
        delivered / trips, sent / trips, episodes.height, int((episodes["timeouts"] > 0).sum()), episodes.height / sent if sent else 0.0
    )
