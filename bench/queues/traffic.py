"""What is fed to queues: lists of packets with their times, the same for every implementation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

RATE_BPS = 10e6
DURATION_S = 30.0
# On the wire, headers included: 0.8 ms at the rate.
BYTES = 1000
NOT_ECT, ECT1, ECT0 = 0, 1, 2


@dataclass(frozen=True)
class Packet:
    """A packet that comes: nanoseconds from the beginning, number of its flow, bytes on the wire, ECN field."""

    ns: int
    flow: int
    size: int
    ecn: int


@dataclass(frozen=True)
class Traffic:
    """Packets in the order of their times, and what they are."""

    name: str
    about: str
    packets: Sequence[Packet]

    @property
    def overload(self) -> bool:
        """Whether the queue is never empty for long."""
        return sum(packet.size for packet in self.packets) * 8 > RATE_BPS * DURATION_S


def _poisson(load: float, flow: int, ecn: int, seed: int, sizes: Sequence[int] = (BYTES,)) -> list[Packet]:
    draw = random.Random(f"{seed}/{flow}")
    mean_s = 8 * sum(sizes) / len(sizes) / (load * RATE_BPS)
    packets: list[Packet] = []
    now = 0.0
    while True:
        now += draw.expovariate(1 / mean_s)
        if now >= DURATION_S:
            return packets
        packets.append(Packet(round(now * 1e9), flow, draw.choice(sizes), ecn))


def _constant(load: float, flow: int, ecn: int) -> list[Packet]:
    gap_ns = 8e9 * BYTES / (load * RATE_BPS)
    # A flow begins where no other one's packets are.
    return [Packet(round((at + 0.37 + 0.1 * flow) * gap_ns), flow, BYTES, ecn) for at in range(int(DURATION_S * 1e9 / gap_ns) - 1)]


def _bursts(packets: int, period_ms: int, flow: int, ecn: int) -> list[Packet]:
    """At ten times the rate."""
    gap_ns = round(8e9 * BYTES / (10 * RATE_BPS))
    return [
        Packet(1_000_000 * period_ms * burst + gap_ns * at + 137, flow, BYTES, ecn)
        for burst in range(int(1000 * DURATION_S / period_ms))
        for at in range(packets)
    ]


def _merged(*flows: list[Packet]) -> list[Packet]:
    return sorted((packet for flow in flows for packet in flow), key=lambda packet: (packet.ns, packet.flow))


def _steps() -> list[Packet]:
    """Load 0.5, 1.5 and 0.8, ten seconds each."""
    loads = ((0.5, 0), (1.5, 10), (0.8, 20))
    parts = [[p for p in _poisson(load, 0, NOT_ECT, 40 + at) if p.ns < 10e9] for load, at in loads]
    return [Packet(p.ns + int(at * 1e9), 0, p.size, p.ecn) for part, (_, at) in zip(parts, loads, strict=True) for p in part]


def standing(rate_bps: float, packets: int) -> Traffic:
    """So many packets at once, and then one, ECN-capable, each time that one leaves at this rate: as many always wait."""
    each = round(8e9 * BYTES / rate_bps)
    first = [Packet(50_000_000 + 1000 * at, 0, BYTES, ECT0) for at in range(packets)]
    rest = [Packet(50_000_000 + each // 2 + each * at, 0, BYTES, ECT0) for at in range(int((DURATION_S - 1) * 1e9) // each)]
    return Traffic(f"{packets} packets stand at {rate_bps / 1e6:g} Mbit/s", "", [*first, *rest])


CONSTANT = Traffic("constant 1.2", "one flow, a packet every 1/1.2 of its transmission time", _constant(1.2, 0, NOT_ECT))
POISSON = Traffic("Poisson 1.1", "one flow at random times, on average 1.1 times the rate", _poisson(1.1, 0, NOT_ECT, 1))
BELOW = Traffic("Poisson 0.95", "one flow at random times, below the rate", _poisson(0.95, 0, NOT_ECT, 2))
BURSTS = Traffic("bursts", "150 packets at ten times the rate, every 200 ms: a load of 0.6", _bursts(150, 200, 0, NOT_ECT))
STEPS = Traffic("steps", "random times, a load of 0.5, then 1.5, then 0.8, ten seconds each", _steps())
CAPABLE = Traffic("ECN", "random times, 1.06 times the rate, every packet ECT(0)", _poisson(1.06, 0, ECT0, 3))
HALF = Traffic("half ECN", "two flows at random times, 0.6 of the rate each, one of them ECT(0)",
               _merged(_poisson(0.6, 0, NOT_ECT, 4), _poisson(0.6, 1, ECT0, 4)))  # fmt: skip
SIZES = Traffic(
    "sizes", "random times, 1.1 times the rate, packets of 100, 500 and 1500 bytes", _poisson(1.1, 0, NOT_ECT, 5, (100, 500, 1500))
)
UNEQUAL = Traffic("unequal flows", "four flows at random times, 0.1, 0.3, 0.5 and 0.9 of the rate",
                  _merged(*(_poisson(load, flow, NOT_ECT, 6) for flow, load in enumerate((0.1, 0.3, 0.5, 0.9)))))  # fmt: skip
UNEQUAL_ECN = Traffic("unequal flows, ECN", "four flows at random times, 0.1, 0.3, 0.35 and 0.4 of the rate, the third and fourth ECT(0)",
                      _merged(*(_poisson(load, flow, ECT0 if flow > 1 else NOT_ECT, 7) for flow, load in enumerate((0.1, 0.3, 0.35, 0.4)))))  # fmt: skip
LONG_AND_SHORT = Traffic("flows of long and short packets", "two flows at random times, 0.8 of the rate each, packets of 1500 and of 300 bytes",
                         _merged(_poisson(0.8, 0, NOT_ECT, 8, (1500,)), _poisson(0.8, 1, NOT_ECT, 8, (300,))))  # fmt: skip
L4S = Traffic("L4S beside others", "three flows at random times: 0.5 of the rate not capable, 0.3 ECT(0), 0.3 ECT(1)",
              _merged(_poisson(0.5, 0, NOT_ECT, 9), _poisson(0.3, 1, ECT0, 9), _poisson(0.3, 2, ECT1, 9)))  # fmt: skip
L4S_OVERLOAD = Traffic("L4S overload", "two flows at random times, 0.7 of the rate each, not capable and ECT(1)",
                       _merged(_poisson(0.7, 0, NOT_ECT, 10), _poisson(0.7, 1, ECT1, 10)))  # fmt: skip
REALISATIONS = [Traffic("Poisson 1.1", "", _poisson(1.1, 0, NOT_ECT, 100 + at)) for at in range(16)]
STRONG = Traffic("Poisson 3", "one flow at random times, three times the rate", _poisson(3.0, 0, NOT_ECT, 11))
ALL = (CONSTANT, POISSON, BELOW, BURSTS, STEPS, CAPABLE, HALF, SIZES, UNEQUAL, UNEQUAL_ECN, LONG_AND_SHORT, L4S, L4S_OVERLOAD, STRONG)
