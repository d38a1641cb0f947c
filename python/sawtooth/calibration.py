"""How exactly a backend makes the links it is told to make, measured; and what it cannot reach.

Bursts of datagrams tell delay, rate and queue limit of a link alone; a bulk transfer tells what rate TCP carries over it. What a backend
reached is kept in the cache, so that a study beyond it can be told so.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sawtooth.backends import guest, registry
from sawtooth.errors import BackendUnavailable
from sawtooth.storage import cache

RATES_BPS = (1e6, 1e7, 1e8, 4.8e8, 1e9, 1e10)
DELAYS_MS = (0, 1, 5, 10, 20, 100)
LIMITS = ("5 packets", "50 packets", "500 packets", "7500 B", "75000 B", "750000 B")
SHAPERS = ("simulator", "kernel")
UNITS = {"delay": "ns", "rate": "bit/s", "queue": "packets", "queue_bytes": "B", "transfer": "bit/s"}

# A full packet, and what TCP carries in it besides its timestamps.
PACKET = 1500
_PAYLOAD = 1448
_REPEATS = 10
_RATE_OF_DELAYS = 1e8
# So slow that next to nothing of a burst leaves before the last of it has entered, also in real time.
_RATE_OF_QUEUES = 1e7
# Packets that tell a rate.
_FEWEST = 10
# A link that TCP fills to this share is reached: slow start and a sample's length take the rest.
_FILLED = 0.97


@dataclass(frozen=True)
class Point:
    """One setting, and what came of it.

    Attributes:
        quantity: a key of `UNITS`; `transfer` is the rate that a bulk flow's packets had, its headers included.
        configured, measured: in that unit; `measured` is None if too little arrived.
        spread: between the smallest and the largest of repeated measurements.
        entered_ns: how long it took to send the burst.
        segment_bytes: of a transfer, the mean payload of the packets that the receiver saw; no more than a segment where packets are packets.
        gso: whether TCP was allowed to hand down several segments at once.

    """

    quantity: str
    configured: float
    measured: float | None
    spread: float = 0.0
    entered_ns: int = 0
    segment_bytes: float | None = None
    gso: bool = True

    @property
    def error(self) -> float | None:
        """Measured less configured."""
        return None if self.measured is None else self.measured - self.configured

    @property
    def relative(self) -> float | None:
        """The error as a share of what was configured."""
        return None if self.error is None or not self.configured else self.error / self.configured


@dataclass(frozen=True)
class Calibration:
    """What one backend made of links by one shaper."""

    backend: str
    shaper: str
    time: str
    release: str
    date: str
    points: Sequence[Point]
    errors: Mapping[str, str] = field(default_factory=dict[str, str])

    def of(self, quantity: str) -> list[Point]:
        """The points of a quantity."""
        return [point for point in self.points if point.quantity == quantity]

    @property
    def reached_bps(self) -> float:
        """The fastest link that TCP fills, or else the most that it carried."""
        filled = [point.configured for point in self.of("transfer") if (point.measured or 0) >= _FILLED * point.configured]
        return max([*filled, *(point.measured or 0.0 for point in self.of("transfer"))], default=0.0)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_json`."""
        others = {key: value for key, value in values.items() if key not in ("points", "reached_bps")}
        return cls(points=[Point(**point) for point in values["points"]], **others)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "reached_bps": self.reached_bps}


def measure(
    backend: str,
    shaper: str = "simulator",
    *,
    clock: str = "virtual",
    rates_bps: Sequence[float] = RATES_BPS,
    delays_ms: Sequence[float] = DELAYS_MS,
    limits: Sequence[str] = LIMITS,
) -> Calibration:
    """Measures a backend; the result is kept in the cache, too, if it is of all rates and nothing failed.

    Args:
        backend: one with kernels.
        shaper: `simulator` or `kernel`.
        clock: `virtual` or `real`, where the backend has both.
        rates_bps: to configure.
        delays_ms: to configure.
        limits: of queues, as a study writes them.

    Raises:
        BackendUnavailable: if the backend cannot be run here, or lacks what the shaper needs.

    """
    clock = registry.BACKENDS[backend].clock(clock)
    jobs: dict[str, dict[str, Any]] = {}
    specs: dict[str, Point] = {}
    for spec, job in _jobs(shaper, clock, rates_bps, delays_ms, limits):
        name = f"{len(jobs):03}.json"
        jobs[name], specs[name] = job, spec
    outcomes = guest.run_jobs(_kernels(backend).LAUNCHER, jobs)
    points = [_point(specs[name], outcomes[name]) for name in jobs if "error" not in outcomes[name]]
    errors = {_words(specs[name]): str(outcomes[name]["error"]) for name in jobs if "error" in outcomes[name]}
    made = Calibration(backend, shaper, clock, _kernels(backend).release(), time.strftime("%Y-%m-%d"), points, errors)
    if set(RATES_BPS) <= set(rates_bps) and not errors:
        path = _path(backend, shaper, clock, made.release)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(made.to_json(), indent=1) + "\n", encoding="utf-8")
    return made


def last(backend: str, shaper: str, clock: str, image: str = "", *, fetch: bool = True) -> Calibration | None:
    """What was measured when this backend was last calibrated on this kernel; unless told not to, that is fetched if it is not here."""
    try:
        return Calibration.from_json(
            json.loads(_path(backend, shaper, clock, _kernels(backend).release(image, fetch=fetch)).read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, KeyError, TypeError, BackendUnavailable):
        # Never calibrated, or by another version: as good as never.
        return None


def unreachable(backend: str, keys: Mapping[str, Any]) -> str | None:
    """A sentence if a scenario has a faster link than the backend reached when it was last calibrated.

    Args:
        backend: where the scenario is to run.
        keys: what `_core.kernel_settings` says of it.

    """
    row = registry.BACKENDS[backend]
    if not row.clocks or (clock := row.clock(keys["time"])) in row.boundless:
        return None
    found = last(backend, keys["shaper"], clock, keys["image"])
    fastest = float(keys["fastest_link_bps"])
    if found is None or fastest <= found.reached_bps:
        return None
    return (
        f"a link of {_rate(fastest)} is more than `{backend}` reached in {clock} time on kernel {found.release} when it was calibrated on "
        f"{found.date}, {_rate(found.reached_bps)}: what is measured may be the machine's limit, not TCP's"
    )


def _kernels(backend: str) -> registry.Kernels:
    found = registry.kernels(backend)
    assert found is not None
    return found


def _path(backend: str, shaper: str, clock: str, kernel: str) -> Path:
    return cache() / "calibration" / f"{backend}-{clock}-{shaper}-{kernel}.json"


def _jobs(
    shaper: str, clock: str, rates_bps: Sequence[float], delays_ms: Sequence[float], limits: Sequence[str]
) -> Iterable[tuple[Point, dict[str, Any]]]:
    """What is to be measured, and the job that does."""
    real = clock == "real"
    # Where time is real, so is that which it takes to send a burst.
    sending = 1.5 if real else 0.0

    def scenario(rate_bps: float, delay_ms: float, limit: str, seconds: float, **more: Any) -> dict[str, Any]:
        link = {"rate": f"{rate_bps:.0f} bit/s", "delay": f"{delay_ms} ms", "queue": {"name": "drop_tail", "limit": limit}}
        settings = {"shaper": shaper, "time": clock, **more.pop("kernel", {})}
        return {"duration": f"{seconds:.6f} s", "links": {"l": link}, "flows": [{"path": ["l"]}], "kernel": settings, **more}

    def bursts(sizes: Sequence[int], tree: dict[str, Any]) -> dict[str, Any]:
        return {"kind": "calibration", "bursts": list(sizes), "scenario": tree, "seed": 1}

    for delay_ms in delays_ms:
        tree = scenario(_RATE_OF_DELAYS, delay_ms, "100 packets", delay_ms * 1e-3 + 0.02)
        yield Point("delay", delay_ms * 1e6, None), bursts([1] * _REPEATS, tree)
    for rate_bps in rates_bps:
        # A twentieth of a second, so that a clock that is late by microseconds does not matter.
        packets = int(min(max(rate_bps * 0.05 / (8 * PACKET), 30), 2000))
        tree = scenario(rate_bps, 1, f"{packets + 10} packets", 1.2 * packets * _transmission_ns(rate_bps) * 1e-9 + 0.2 + sending)
        yield Point("rate", rate_bps, None), bursts([packets], tree)
    for limit in limits:
        number = float(limit.split()[0])
        packets, quantity = (number, "queue") if limit.endswith("packets") else (number / PACKET, "queue_bytes")
        tree = scenario(_RATE_OF_QUEUES, 1, limit, 1.2 * packets * _transmission_ns(_RATE_OF_QUEUES) * 1e-9 + 0.1 + sending)
        yield Point(quantity, number, None), bursts([int(2 * packets) + 20], tree)
    for rate_bps in rates_bps:
        for gso in (True, False):
            # 4000 packets, but in real time not less than the scheduler's hiccups, and never longer than a few seconds.
            seconds = min(max(4000 * _transmission_ns(rate_bps) * 1e-9, 0.5 if real else 0.03), 3.0)
            tree = scenario(rate_bps, 0.1, "1000 packets", seconds, cc="kernel:cubic", sample=f"{seconds / 20:.6f} s", kernel={"gso": gso})
            yield Point("transfer", rate_bps, None, gso=gso), {"scenario": tree, "seed": 1}


def _point(spec: Point, outcome: Mapping[str, Any]) -> Point:
    """The specification with what came of it."""
    if spec.quantity == "transfer":
        return _transfer(spec, outcome)
    found: Sequence[Mapping[str, Any]] = outcome["bursts"]
    arrivals = [burst["arrivals_ns"] for burst in found]
    entered = max(burst["entered_ns"] for burst in found)
    values: list[float] = []
    if spec.quantity == "delay":
        values = [times[0] - _transmission_ns(_RATE_OF_DELAYS) for times in arrivals if times]
    elif spec.quantity == "rate":
        values = [rate for times, burst in zip(arrivals, found, strict=True) if (rate := _rate_of(times, burst["entered_ns"]))]
    else:
        # What had left before the last of the burst came made room for others; if that is much, nothing can be said.
        left = [burst["entered_ns"] // _transmission_ns(_RATE_OF_QUEUES) for burst in found]
        values = [len(times) - gone for times, gone in zip(arrivals, left, strict=True) if gone <= len(times) / 2]
    if spec.quantity == "queue_bytes":
        values = [value * PACKET for value in values]
    if not values:
        return Point(spec.quantity, spec.configured, None, entered_ns=entered)
    return Point(spec.quantity, spec.configured, statistics.median(values), max(values) - min(values), entered)


def _rate_of(arrivals_ns: Sequence[int], entered_ns: int) -> float | None:
    """That of the packets that queued behind another: the latter half of those that came when all had been sent.

    Nothing if sending took as long as the link did then: what came was late, or never queued.
    """
    late = [at for at in arrivals_ns if at > entered_ns]
    late = late[len(late) // 2 :]
    if len(late) < _FEWEST or late[-1] < 2 * entered_ns or late[-1] == late[0]:
        return None
    return 8e9 * PACKET * (len(late) - 1) / (late[-1] - late[0])


def _transfer(spec: Point, outcome: Mapping[str, Any]) -> Point:
    series: Sequence[Mapping[str, Any]] = outcome["series"]
    # Without its beginning: slow start has filled the link by then.
    late = [row for row in series if row["t_ns"] >= 0.4 * series[-1]["t_ns"]]
    delivered = late[-1]["delivered_bytes"] - late[0]["delivered_bytes"]
    rate = 8e9 * delivered / (late[-1]["t_ns"] - late[0]["t_ns"]) * PACKET / _PAYLOAD
    counters = {(row["host"], row["counter"]): row["value"] for row in outcome["counters"]}
    # The receiver's kernel counts what came to TCP, whatever its length; two of them, of the handshake, carried no data.
    arrived = counters.get(("receiver", "TcpInSegs"), 0) - 2
    segment = outcome["flows"][0]["delivered_bytes"] / arrived if arrived > 0 else None
    return Point("transfer", spec.configured, rate, segment_bytes=segment, gso=spec.gso)


def _words(spec: Point) -> str:
    """Which measurement it is."""
    return f"{spec.quantity} {spec.configured:g} {UNITS[spec.quantity]}{'' if spec.gso else ' without offload'}"


def _transmission_ns(rate_bps: float) -> float:
    return 8e9 * PACKET / rate_bps


def _rate(bps: float) -> str:
    """As a study would write it."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= factor:
            return f"{bps / factor:.3g} {unit}"
    return f"{bps:.3g} bit/s"
