"""The pseudo-code of the RFCs, line by line, as a third implementation: slow, plain, and written without a look at the simulator's.

Each class has `enqueue` and `dequeue`; `run` is the transmitter. Where a peer departs from the RFC a switch makes the same departure here:
if it then does what the peer does, that is the reason of the difference.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ours import Fed, Flow
from traffic import RATE_BPS, Packet, Traffic

CE = 3


@dataclass
class Waiting:
    """A packet in a queue."""

    packet: Packet
    came: float
    marked: bool = False

    @property
    def capable(self) -> bool:
        """Whether it may be marked."""
        return self.packet.ecn != 0


class Discipline(Protocol):
    """A queue."""

    def enqueue(self, packet: Waiting, now: float) -> None: ...

    def dequeue(self, now: float) -> Waiting | None: ...


class Codel:
    """RFC 8289 §5, a packet being marked where it would be dropped if it is ECN-capable.

    Switches: `mark_from_now`, the time of the next mark is counted from the last one and not from when that was due; `newton`, the inverse
    square root is approached by one Newton step per drop, with 16 bits.
    """

    TARGET, INTERVAL, MAXPACKET = 0.005, 0.1, 1500

    def __init__(self, limit: int, *, mark_from_now: bool = False, newton: bool = False) -> None:
        self.limit, self.mark_from_now, self.newton = limit, mark_from_now, newton
        self.queue: deque[Waiting] = deque()
        self.bytes = 0
        self.first_above = self.drop_next = 0.0
        self.count = self.lastcount = 0
        self.dropping = False
        self.inverse = 0xFFFF

    def enqueue(self, packet: Waiting, now: float) -> None:  # noqa: ARG002 - as the others
        if len(self.queue) < self.limit:
            self.queue.append(packet)
            self.bytes += packet.packet.size

    def control_law(self, time: float) -> float:
        if self.newton:
            return time + self.INTERVAL * self.inverse / 65536
        return time + self.INTERVAL / math.sqrt(self.count)

    def counted(self, count: int) -> None:
        self.count = count
        if count == 1:
            self.inverse = 0xFFFF
        else:
            value = (3 << 32) - count * (self.inverse << 16) ** 2 // (1 << 32)
            self.inverse = ((self.inverse << 16) * (value >> 2) >> (32 - 2 + 1)) >> 16

    def dodequeue(self, now: float) -> tuple[Waiting | None, bool]:
        if not self.queue:
            self.first_above = 0.0
            return None, False
        packet = self.queue.popleft()
        self.bytes -= packet.packet.size
        if now - packet.came < self.TARGET or self.bytes <= self.MAXPACKET:
            self.first_above = 0.0
        elif self.first_above == 0.0:
            self.first_above = now + self.INTERVAL
        elif now >= self.first_above:
            return packet, True
        return packet, False

    def dequeue(self, now: float) -> Waiting | None:
        packet, ok = self.dodequeue(now)
        if self.dropping:
            if not ok:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                assert packet is not None
                self.counted(self.count + 1)
                if packet.capable:
                    packet.marked = True
                    self.drop_next = self.control_law(now if self.mark_from_now else self.drop_next)
                    break
                packet, ok = self.dodequeue(now)
                if not ok:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok:
            assert packet is not None
            if packet.capable:
                packet.marked = True
            else:
                packet, ok = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            if delta > 1 and now - self.drop_next < 16 * self.INTERVAL:
                self.counted(delta)
            else:
                self.counted(1)
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return packet


class Pie:
    """RFC 8033 appendix A, with ECN (§5.1), derandomisation (§5.4) and capped steps (§5.5) of appendix B, and the delay taken from timestamps.

    When an update finds nothing waiting the delay is 0. Switch: `keep_after_mark`, a mark does not begin the sum of probabilities anew.
    """

    TARGET, UPDATE, ALPHA, BETA, BURST, ECN = 0.015, 0.015, 0.125, 1.25, 0.15, 0.1
    TUNING = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2))

    def __init__(self, limit: int, seed: int, *, derandomise: bool, mean_packet: int = 1000, keep_after_mark: bool = False) -> None:
        self.limit, self.derandomise, self.mean_packet, self.keep_after_mark = limit, derandomise, mean_packet, keep_after_mark
        self.random = random.Random(seed)
        self.queue: deque[Waiting] = deque()
        self.bytes = 0
        self.probability = self.old = self.delay = self.sum = 0.0
        # Updates are counted, and the allowance in updates.
        self.updates, self.burst = 0, round(self.BURST / self.UPDATE)

    def update(self, now: float) -> None:
        while (self.updates + 1) * self.UPDATE <= now:
            self.updates += 1
            if not self.queue:
                self.delay = 0.0
            step = self.ALPHA * (self.delay - self.TARGET) + self.BETA * (self.delay - self.old)
            step /= next((divisor for below, divisor in self.TUNING if self.probability < below), 1)
            if self.probability >= 0.1:
                step = min(step, 0.02)
            self.probability += step
            if self.delay == 0 and self.old == 0:
                self.probability *= 0.98
            self.probability = min(max(self.probability, 0.0), 1.0)
            self.old = self.delay
            self.burst = max(0, self.burst - 1)

    def drop_early(self) -> bool:
        if (self.old < self.TARGET / 2 and self.probability < 0.2) or self.bytes <= 2 * self.mean_packet:
            return False
        if self.derandomise:
            if self.probability == 0:
                self.sum = 0.0
            self.sum += self.probability
            if self.sum < 0.85:
                return False
            if self.sum >= 8.5:
                return True
        return self.random.random() < self.probability

    def enqueue(self, packet: Waiting, now: float) -> None:
        self.update(now)
        if len(self.queue) >= self.limit:
            self.sum = 0.0
            return
        if self.probability == 0 and self.delay < self.TARGET / 2 and self.old < self.TARGET / 2:
            self.burst = round(self.BURST / self.UPDATE)
        if self.burst == 0 and self.drop_early():
            if self.probability < self.ECN and packet.capable:
                packet.marked = True
                if not self.keep_after_mark:
                    self.sum = 0.0
            else:
                self.sum = 0.0
                return
        self.queue.append(packet)
        self.bytes += packet.packet.size

    def dequeue(self, now: float) -> Waiting | None:
        self.update(now)
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.packet.size
        self.delay = now - packet.came
        return packet


class Red:
    """Floyd & Jacobson 1993, figure 2, with the gentle slope and marks.

    Switch: `spare_short`, nothing is signalled while no more than one packet waits.
    """

    def __init__(self, limit: int, seed: int, *, spare_short: bool = False) -> None:
        self.limit, self.spare_short = limit, spare_short
        self.random = random.Random(seed)
        self.queue: deque[Waiting] = deque()
        self.least, self.most, self.weight, self.max_p = 5.0, 15.0, 0.002, 0.1
        self.idle_packet = 8 * 500 / RATE_BPS
        self.average, self.count = 0.0, -1
        self.idle_since: float | None = 0.0

    def enqueue(self, packet: Waiting, now: float) -> None:
        if self.idle_since is None:
            self.average += self.weight * (len(self.queue) - self.average)
        else:
            self.average *= (1 - self.weight) ** ((now - self.idle_since) / self.idle_packet)
            self.idle_since = now
        signal = False
        if self.average < self.least or (self.spare_short and len(self.queue) <= 1):
            self.count = -1
        elif self.average >= 2 * self.most:
            signal, self.count = True, 0
        else:
            self.count += 1
            if self.average < self.most:
                p_b = self.max_p * (self.average - self.least) / (self.most - self.least)
            else:
                p_b = self.max_p + (1 - self.max_p) * (self.average - self.most) / self.most
            p_a = p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0
            if self.random.random() < p_a:
                signal, self.count = True, 0
        if len(self.queue) >= self.limit:
            self.count = 0
            return
        if signal and not packet.capable:
            return
        packet.marked = signal
        self.queue.append(packet)

    def dequeue(self, now: float) -> Waiting | None:
        if not self.queue:
            if self.idle_since is None:
                self.idle_since = now
            return None
        self.idle_since = None
        return self.queue.popleft()


class AdaptiveRed(Red):
    """Floyd, Gummadi & Shenker 2001: thresholds and weight from a delay of 5 ms, and figure 1's steps of `max_p` every half second."""

    def __init__(self, limit: int, seed: int, *, spare_short: bool = False) -> None:
        super().__init__(limit, seed, spare_short=spare_short)
        per_second = 1 / self.idle_packet
        self.least = max(5.0, 0.005 * per_second / 2)
        self.most = 3 * self.least
        self.weight = 1 - math.exp(-1 / per_second)
        self.next_step = 0.5

    def enqueue(self, packet: Waiting, now: float) -> None:
        while self.next_step <= now:
            self._step(self.next_step)
            self.next_step += 0.5
        super().enqueue(packet, now)

    def _step(self, at: float) -> None:
        average, span = self.average, self.most - self.least
        if self.idle_since is not None:
            average *= (1 - self.weight) ** ((at - self.idle_since) / self.idle_packet)
        if average > self.least + 0.6 * span and self.max_p <= 0.5:
            self.max_p += min(0.01, self.max_p / 4)
        elif average < self.least + 0.4 * span and self.max_p >= 0.01:
            self.max_p *= 0.9


class DualPi2:
    """RFC 9332 appendix A, figures 2, 3, 5, 7 and 8, with a weighted round robin of a sixteenth for the Classic queue.

    Line 5a counts the packet that is leaving: "the queue is only 1 packet". The credit of the round robin is as the section says of Linux.

    Switches: `forget`, the round robin begins anew whenever one of the queues is empty, and not only when both are; `others`, line 5a does
    not count the packet that is leaving.
    """

    def __init__(self, limit_bytes: int, *, forget: bool = False, others: bool = False) -> None:
        self.limit, self.forget, self.others = limit_bytes, forget, others
        self.k = 2.0
        self.target, rtt_max = 0.015, 0.1
        self.p_c_max = min(1 / self.k**2, 1.0)
        self.update_s = min(self.target, rtt_max / 3)
        self.alpha, self.beta = 0.1 * self.update_s / rtt_max**2, 0.3 / rtt_max
        self.min_th, self.range, self.th_len = 800e-6, 400e-6, 1
        self.l4s: deque[Waiting] = deque()
        self.classic: deque[Waiting] = deque()
        self.bytes = 0
        self.base = self.p_cl = self.p_c = self.previous = 0.0
        self.counts = {"l": 0.0, "c": 0.0}
        self.updates = 0
        self.credit = 0.0

    @staticmethod
    def time(queue: Sequence[Waiting], now: float) -> float:
        return now - queue[0].came if queue else 0.0

    def update(self, now: float) -> None:
        while (self.updates + 1) * self.update_s <= now:
            self.updates += 1
            at = self.updates * self.update_s
            current = max(self.time(self.classic, at), self.time(self.l4s, at))
            self.base += self.alpha * (current - self.target) + self.beta * (current - self.previous)
            self.base = min(max(self.base, 0.0), 1.0)
            # A probability: no more than 1.
            self.p_cl, self.p_c = min(self.base * self.k, 1.0), self.base**2
            self.previous = current

    def enqueue(self, packet: Waiting, now: float) -> None:
        self.update(now)
        if self.bytes + packet.packet.size > self.limit:
            return
        (self.l4s if packet.packet.ecn % 2 == 1 else self.classic).append(packet)
        self.bytes += packet.packet.size

    def recur(self, queue: str, likelihood: float) -> bool:
        self.counts[queue] += likelihood
        if self.counts[queue] > 1:
            self.counts[queue] -= 1
            return True
        return False

    def laqm(self, delay: float) -> float:
        if delay >= self.min_th + self.range:
            return 1.0
        return (delay - self.min_th) / self.range if delay > self.min_th else 0.0

    def scheduled(self) -> str:
        """The credit that says who is next changes only while both wait."""
        if not (self.l4s and self.classic):
            if self.forget:
                self.credit = 0.0
            return "l" if self.l4s else "c"
        share, l4s, classic = 1 / 16, self.l4s[0].packet.size, self.classic[0].packet.size
        if self.credit >= (1 - share) * classic:
            self.credit -= (1 - share) * classic
            return "c"
        self.credit += share * l4s
        return "l"

    def dequeue(self, now: float) -> Waiting | None:
        self.update(now)
        while self.l4s or self.classic:
            which = self.scheduled()
            queue = self.l4s if which == "l" else self.classic
            delay = self.time(queue, now)
            packet = queue.popleft()
            self.bytes -= packet.packet.size
            if which == "l":
                if self.p_cl < 1:
                    native = self.laqm(delay) if len(self.l4s) + (not self.others) > self.th_len else 0.0
                    if self.recur("l", max(native, self.p_cl)):
                        packet.marked = True
                else:
                    if self.recur("l", self.p_c):
                        continue
                    if self.recur("l", self.p_cl):
                        packet.marked = True
            elif self.recur("c", self.p_c):
                if packet.packet.ecn == 0 or self.p_c >= self.p_c_max:
                    continue
                packet.marked = True
            return packet
        self.credit = 0.0
        return None


def fed(discipline: Discipline, traffic: Traffic) -> Fed:
    """What a discipline does with packets that a transmitter takes out; a transmission that ends at an arrival ends before it."""
    left: list[tuple[Waiting, float]] = []
    due = math.inf

    def start(now: float) -> float:
        packet = discipline.dequeue(now)
        if packet is None:
            return math.inf
        left.append((packet, now))
        return now + 8 * packet.packet.size / RATE_BPS

    for packet in traffic.packets:
        now = packet.ns / 1e9
        while due <= now:
            due = start(due)
        discipline.enqueue(Waiting(packet, now), now)
        if due == math.inf:
            due = start(now)
    while due < math.inf:
        due = start(due)
    return Fed(outcomes(traffic, [(waiting.packet, time - waiting.came, waiting.marked) for waiting, time in left]), None)


def outcomes(traffic: Traffic, left: Sequence[tuple[Packet, float, bool]]) -> list[Flow]:
    """Of each flow, from the packets that left, their waits and whether they had been marked."""
    arrived: dict[int, int] = {}
    for packet in traffic.packets:
        arrived[packet.flow] = arrived.get(packet.flow, 0) + 1
    sums: Mapping[int, list[Any]] = {flow: [0, 0, 0.0] for flow in arrived}
    for packet, wait, marked in left:
        flow = sums[packet.flow]
        flow[0] += 1
        flow[1] += marked
        flow[2] += wait
    return [Flow(arrived[flow], arrived[flow] - n, marked, wait) for flow, (n, marked, wait) in sorted(sums.items())]
