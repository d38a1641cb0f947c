"""The scenarios that the kernel's Reno and the simulator's are compared over, and the settings that move one side towards the other.

A case says which *data segments* are lost, counted from 1. The links count packets, and the two sides differ in the packets before the
first data segment: a kernel sends SYN and the handshake's last ACK, the simulator only the SYN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

MSS_KERNEL = 1448
"""1460 less the 12 bytes of the timestamps option."""
MSS_RFC = 1460
MBIT = 10
"""Rate of every link, Mbit/s."""


@dataclass(frozen=True)
class Case:
    """One scenario.

    Attributes:
        name: as in the tables.
        title: what happens in it.
        size: bytes of the transfer.
        delay_ms: of the link, one way.
        queue: its limit.
        lost: data segments that are lost at their first transmission; negative ones count from the transfer's end.
        lost_packets: packets of any kind that are lost on the way there, counted from 1.
        lost_acks: packets that are lost on the way back.
        again: whether the first retransmission of the first lost segment is lost, too.
        duration_s: of the run.

    """

    name: str
    title: str
    size: int = 300_000
    delay_ms: int = 20
    queue: str = "1000 packets"
    lost: tuple[int, ...] = ()
    lost_packets: tuple[int, ...] = ()
    lost_acks: tuple[int, ...] = ()
    again: bool = False
    duration_s: int = 6


CASES = (
    Case("slow-start", "no loss: slow start to the end of the transfer"),
    Case("early-loss", "data segment 5 lost, in the first round trips", lost=(5,)),
    Case("late-loss", "data segment 100 lost, late in slow start", lost=(100,)),
    Case("avoidance-loss", "segment 20 lost, then segment 700 in congestion avoidance", size=2_000_000, lost=(20, 700)),
    Case("two-losses", "data segments 60 and 66 lost, two of one window", lost=(60, 66)),
    Case("tail-loss", "the last data segment lost", lost=(-1,)),
    Case("tail-losses", "the last three data segments of 60 kB lost", size=60_000, lost=(-3, -2, -1)),
    # Longer: near the end of a transfer the rescue retransmission of RFC 6675 repairs it by chance.
    Case("lost-retransmission", "data segment 60 of 600 kB lost, and its retransmission", size=600_000, lost=(60,), again=True),
    Case("drop-tail-50", "drop-tail queue of 50 packets", size=2_000_000, queue="50 packets"),
    Case("drop-tail-10", "drop-tail queue of 10 packets", size=1_000_000, queue="10 packets"),
    Case("drop-tail-bdp", "100 ms each way, drop-tail queue of one bandwidth-delay product", size=4_000_000, delay_ms=100, queue="1 bdp",
         duration_s=10),
    Case("lost-syn", "the SYN lost", lost_packets=(1,)),
    Case("lost-acks", "three acknowledgements lost, packets 10 to 12 on the way back", lost_acks=(10, 11, 12)),
)  # fmt: skip
LONG = 1_000_000
"""From this size on a case is run on fewer variants of the kernel."""


@dataclass(frozen=True)
class Side:
    """A way to run a case: which backend, and with which settings of `tcp` and `kernel`."""

    name: str
    backend: str
    tcp: dict[str, Any] = field(default_factory=dict[str, Any])
    kernel: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def mss(self) -> int:
        """Data bytes of a full segment."""
        if self.backend == "sim":
            return int(str(self.tcp.get("smss", MSS_RFC)).split()[0])
        return MSS_RFC if self.kernel.get("sysctl", {}).get("net.ipv4.tcp_timestamps") == 0 else MSS_KERNEL

    @property
    def handshake_packets(self) -> int:
        """What goes towards the receiver before the first data segment."""
        return 1 if self.backend == "sim" else 2


def sysctl(**values: int | str) -> dict[str, Any]:
    """Settings of `net.ipv4`."""
    return {"sysctl": {f"net.ipv4.{name}": value for name, value in values.items()}}


KERNEL = Side("kernel", "uml")
RFC = Side("simulator", "sim")

NO_GSO = Side("no segmentation offload", "uml", kernel={"gso": False})
NO_TIMESTAMPS = Side("no timestamps", "uml", kernel=sysctl(tcp_timestamps=0))
NO_RACK = Side("no RACK", "uml", kernel=sysctl(tcp_recovery=0))
NO_TLP = Side("no TLP", "uml", kernel=sysctl(tcp_early_retrans=0))
NO_FRTO = Side("no F-RTO", "uml", kernel=sysctl(tcp_frto=0))
NO_SACK = Side("no SACK", "uml", kernel=sysctl(tcp_sack=0))
SMALL_WINDOW = Side("initial window 3", "uml", tcp={"initial_window": "3 packets"})
PLAIN = Side("no offload, RACK, TLP, F-RTO", "uml", kernel={"gso": False} | sysctl(tcp_recovery=0, tcp_early_retrans=0, tcp_frto=0))
"""The kernel without what the simulator has nothing of."""

BUFFERS = Side("the same with buffers of 4 MB", "uml", kernel={"gso": False} | sysctl(
    tcp_recovery=0, tcp_early_retrans=0, tcp_frto=0, tcp_rmem="4096 4000000 6291456", tcp_wmem="4096 4000000 6291456"))  # fmt: skip
"""The same, and neither the receive window nor the send buffer bounds what is outstanding: the simulator has none of them."""

ABLATIONS = (NO_GSO, NO_TIMESTAMPS, NO_RACK, NO_TLP, NO_FRTO, NO_SACK, SMALL_WINDOW, PLAIN, BUFFERS)
"""The kernel with one of its features off, or set as the RFCs' stack has it."""


def ablations(case: Case) -> tuple[Side, ...]:
    """Those that a case is run with."""
    if case.size >= LONG:
        return (NO_GSO, NO_RACK, PLAIN)
    # Without timestamps the receive window splits a segment, and the last is another one.
    at_the_end = any(number < 0 for number in case.lost)
    return tuple(side for side in ABLATIONS if (side is not NO_TIMESTAMPS or not at_the_end) and (side is not BUFFERS or case.again))


def starts_ms(case: Case) -> tuple[int, ...]:
    """When the flow starts, one run for each: the kernel's timers expire at its ticks, 10 ms apart, and from 640 ms on at every eighth.

    None is 0: the first run of a boot that starts at once gets a SYN timeout after a tick, because the guest's clock has just been set.
    """
    return tuple(100 + 18 * step for step in range(4 if case.size < LONG else 2))


TIMESTAMPS = "timestamps"
INITIAL_WINDOW = "initial window 10"
RTO = "RTO = srtt + max(200 ms, 4 rttvar)"
ACK_TIMER = "delayed ACK at most 40 ms"
EVERY_ACK = "an ACK for every segment"
HALF = "half the window, whole segments"
STEPS = (
    (TIMESTAMPS, {"smss": "1448 B", "header": "52 B", "ack_size": "52 B"}),
    (INITIAL_WINDOW, {"initial_window": "10 packets"}),
    (RTO, {"rto_granularity": "200 ms", "rto_min": "0 s"}),
    (ACK_TIMER, {"delayed_ack_timeout": "40 ms"}),
    (EVERY_ACK, {"ack_every": 1}),
    (HALF, {"reduce_from": "window", "whole_ssthresh": True}),
)
"""The simulator's parameters, set like the kernel's one after the other."""


def steps() -> list[Side]:
    """The simulator after each of [`STEPS`]; the last is set like the kernel."""
    sides: list[Side] = []
    tcp: dict[str, Any] = {}
    for name, values in STEPS:
        tcp = tcp | values
        sides.append(Side(f"+ {name}", "sim", tcp))
    return sides


LIKE_KERNEL = steps()[-1]


def scenario(case: Case, side: Side, start_ms: int = 0, more_lost: tuple[int, ...] = (), *, sampled: bool = True) -> dict[str, Any]:
    """The tree; `more_lost` are packets towards the receiver, as the link counts them."""
    segments = math.ceil(case.size / side.mss)
    data = [side.handshake_packets + (number if number > 0 else segments + 1 + number) for number in case.lost]
    # A retransmission is a packet, too: what is lost after it has come through is one later.
    data = [number + before for before, number in enumerate(data)] if spread(case) else data
    link: dict[str, Any] = {
        "rate": f"{MBIT} Mbit/s",
        "delay": f"{case.delay_ms} ms",
        "queue": {"name": "drop_tail", "limit": case.queue},
        "drop": sorted({*data, *case.lost_packets, *more_lost}),
        "reverse": {"drop": list(case.lost_acks)},
    }
    tree: dict[str, Any] = {
        "duration": f"{case.duration_s} s",
        "cc": "reno",
        "tcp": side.tcp,
        "kernel": side.kernel,
        "links": {"l": link},
        "flows": [{"path": ["l"], "start": f"{start_ms} ms", "source": {"name": "bulk", "size": f"{case.size} B"}}],
    }
    return tree | {"sample": "ack"} if sampled else tree


def spread(case: Case) -> bool:
    """Whether each of its losses is repaired before the next."""
    return len(case.lost) > 1 and case.lost[1] - case.lost[0] > 500
