"""Why the kernel's Reno and the simulator's differ: each cause with its evidence and its effect, from the runs.

Kernels are described here by what was measured and by the documents they follow; nothing is taken from their sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import reno_cases as rc
from reno_cases import Case, Side
from reno_runs import Job, Results, run
from reno_traces import acked_per_increment

ROUND_TRIP_MS = 41.3
"""Of a segment on an empty link: an acknowledgement less that is when its segment was sent."""
CASES = {case.name: case for case in rc.CASES}


@dataclass(frozen=True)
class Cause:
    """One row of the work list.

    Attributes:
        name: the feature.
        reference: where it is specified.
        effect_ms: largest change of a completion time.
        where: the case with that change.
        evidence: how that is known.
        wanted: what the simulator needs; nothing if it can be set already.

    """

    name: str
    reference: str
    effect_ms: float
    where: str
    evidence: str
    wanted: str


EXPLAINED = {
    "slow-start": "IW, ACK",
    "early-loss": "ACK, IW, CA, GSO, PRR",
    "late-loss": "IW, ACK, PRR, rescue",
    "avoidance-loss": "ACK, IW, CA, half, GSO, PRR",
    "two-losses": "IW, ACK, PRR",
    "tail-loss": "RTO, DelAck, IW, RTT, ticks",
    "tail-losses": "RTO, DelAck, IW, TLP, RACK, ticks",
    "lost-retransmission": "RACK, ACK, RTO, IW; without RACK: buffers, again, restart",
    "drop-tail-50": "IW, ACK, RACK, PRR",
    "drop-tail-10": "3WHS, IW, GSO",
    "drop-tail-bdp": "IW, ACK, RACK, PRR",
    "lost-syn": "SYN, ACK, DelAck, ticks",
    "lost-acks": "IW, ACK",
}
"""Causes of each case's differences, by the short names of [`causes`]."""

PARTING = {
    "slow-start": "",
    "early-loss": "PRR",
    "late-loss": "PRR",
    "avoidance-loss": "ACK (a delayed one)",
    "two-losses": "PRR",
    "tail-loss": "ACK (of the last segment but one, delayed)",
    "tail-losses": "TLP (its probe finds the loss when nothing is in flight)",
    "lost-retransmission": "PRR",
    "drop-tail-50": "PRR",
    "drop-tail-10": "3WHS (data segment 10 is lost)",
    "drop-tail-bdp": "ACK (a delayed one)",
    "lost-syn": "SYN",
    "lost-acks": "ACK (the simulator does not count what lost ACKs acknowledged)",
}
"""What makes the first difference to the simulator that is set like the kernel."""


def completion(results: Results, case: Case, side: Side) -> float:
    """The median of a side's runs, ms."""
    return median(run.completion_ms for run in results.all(case, side))


def causes(results: Results, cases: Sequence[Case]) -> list[Cause]:
    """All of them, the largest effect first."""
    kernel, like = rc.KERNEL, rc.LIKE_KERNEL

    def time(name: str, side: Side) -> float:
        return completion(results, CASES[name], side)

    def step(name: str) -> tuple[float, str]:
        """The largest effect of one of the simulator's parameters."""
        sides = [rc.RFC, *rc.steps()]
        at = next(at for at, side in enumerate(sides) if side.name == f"+ {name}")
        found = [(time(case.name, sides[at]) - time(case.name, sides[at - 1]), case.name) for case in cases]
        return max(found, key=lambda one: abs(one[0]))

    def ticks(case: Case) -> float:
        """What the start of the flow between two ticks changes."""
        times = [one.completion_ms for one in results.all(case, kernel)]
        return max(times) - min(times)

    def off(side: Side) -> tuple[float, str]:
        """The largest effect of one of the kernel's features that is more than ticks."""
        tried = [(time(case.name, kernel) - time(case.name, side), case) for case in cases if results.has(case, side)]
        return max(((effect, case.name) for effect, case in tried if abs(effect) > 2 * ticks(case)), key=lambda one: abs(one[0]))

    ladder = "the simulator's parameter set"
    tail, syn = CASES["tail-loss"], CASES["lost-syn"]
    tails = [results.of(tail, side).window for side in (rc.PLAIN, like)]
    srtt = [one.srtt_ms[-2] for one in tails]
    last_ack = [one.t_ms[-2] for one in tails]
    again = CASES["lost-retransmission"]
    repaired = [results.of(again, side).window for side in (rc.PLAIN, like)]
    passed = [next(row for row, acked in enumerate(one.acked) if acked > again.lost[0] + 0.5) for one in repaired]
    outstanding = [one.sent[row - 1] - one.acked[row - 1] for one, row in zip(repaired, passed, strict=True)]
    threshold = [one.ssthresh[row] for one, row in zip(repaired, passed, strict=True)]
    repaired_at = [one.t_ms[row] - ROUND_TRIP_MS for one, row in zip(repaired, passed, strict=True)]
    spread = ticks(syn)
    growth = [acked_per_increment(results.of(CASES["early-loss"], side).window) for side in (rc.PLAIN, like)]
    growth_long = [acked_per_increment(results.of(CASES["avoidance-loss"], side).window) for side in (rc.PLAIN, like)]
    first, first_like = (results.of(syn, side).window for side in (kernel, like))
    burst = with_first_burst_lost()
    exits = [results.of(CASES["early-loss"], side).window for side in (rc.PLAIN, like)]
    after = [one.t_ms[next(row for row, acked in enumerate(one.acked) if acked > 20.5)] for one in exits]
    acks = [results.of(CASES[name], kernel).acks / results.of(CASES[name], kernel).sent for name in ("slow-start", "avoidance-loss")]
    late = CASES["late-loss"]
    found = [
        Cause("ACK: growth by segments acknowledged, not by acknowledgements; quick ACKs first, then every second segment",
              "RFC 3465 without its limit L", *step(rc.EVERY_ACK),
              f"{ladder} (`ack_every = 1`, which makes both counts equal); the kernel sends {acks[0]:.2f} ACKs a segment in slow-start and "
              f"{acks[1]:.2f} in avoidance-loss, and its window does not depend on that; lost-acks: with three ACKs lost the kernel's "
              f"window is the same again at the next, the simulator's stays 3 segments behind",
              "byte counting in `cc::Reno`; `delayed_ack = \"linux\"` in the receiver"),
        Cause("RTO: 200 ms added to srtt instead of a floor of 1 s", "RFC 6298 §2.3 with G = 200 ms; §2.4 departed from", *step(rc.RTO), ladder,
              "default of a `linux` stack"),
        Cause("IW: initial window 10", "RFC 6928", *step(rc.INITIAL_WINDOW), ladder, "default of a `linux` stack"),
        Cause("SYN: after a lost SYN the window stays 10 and the threshold infinite", "departs from RFC 5681 §3.1", time("lost-syn", kernel) - time("lost-syn", like),
              "lost-syn", f"first row of the trace: window {first.cwnd[0]:.0f} on the kernel, {first_like.cwnd[0]:.0f} in the simulator with threshold "
              f"{first_like.ssthresh[0]:.0f}; the simulator's slow-start and 1 s take {time('slow-start', like) + 1000:.0f} ms, the kernel "
              f"{min(one.completion_ms for one in results.all(syn, kernel)):.0f} and up to {spread:.0f} more (ticks)",
              "a parameter for the window after a lost SYN; no equation 4 for a SYN"),
        Cause("DelAck: a delayed ACK waits 40 ms, not 200", "RFC 1122 §4.2.3.2", *step(rc.ACK_TIMER), ladder, "default of a `linux` stack"),
        Cause("RACK: a loss is what was sent a round trip before something delivered; finds lost retransmissions", "RFC 8985 §6", *off(rc.NO_RACK),
              "`tcp_recovery = 0`: " f"{results.of(CASES['lost-retransmission'], rc.NO_RACK).timeouts} timeout instead of "
              f"{results.of(CASES['lost-retransmission'], kernel).timeouts} there; in drop-tail-50 and drop-tail-bdp the second overflow is found a round trip later "
              f"({completion(results, CASES['drop-tail-bdp'], rc.NO_RACK) - time('drop-tail-bdp', kernel):+z.0f} ms in drop-tail-bdp), as in the simulator", "`recovery = \"rack\"`"),
        Cause("RTT: a sample at every ACK, also in recovery", "RFC 7323 §4, RFC 6298 §3", srtt[0] - srtt[1], "tail-loss",
              f"srtt at the last ACK before the timeout: {srtt[0]:.0f} ms on the kernel, {srtt[1]:.0f} ms in the simulator, which times one segment at a "
              f"time; the timeout is later by as much, and by {last_ack[0] - last_ack[1]:.0f} ms because that ACK was a delayed one (ACK)",
              "samples from every ACK of data that was sent once"),
        Cause("buffers: receive window and send buffer bound what is outstanding, and both grow only as data is delivered", "RFC 9293 §3.8.6",
              time("lost-retransmission", rc.PLAIN) - time("lost-retransmission", rc.BUFFERS), "lost-retransmission",
              f"seen when nothing is delivered for long (RACK off): {outstanding[0]:.0f} segments outstanding at the timeout, {outstanding[1]:.0f} in the "
              "simulator; `tcp_rmem` and `tcp_wmem` of 4 MB take the effect away", "a receive window that grows; a send buffer"),
        Cause("again: the timeout of a lost retransmission leaves the threshold as it is", "RFC 5681 §3.1 (for a segment retransmitted by the timer)", 0.0,
              "lost-retransmission", f"RACK off: threshold {threshold[0]:.0f} after the timeout, {threshold[1]:.0f} in the simulator, which halves twice; no switch",
              "once per recovery point"),
        Cause("restart: in recovery the retransmission timer starts again", "departs from RFC 6298 §5.3", repaired_at[0] - repaired_at[1], "lost-retransmission",
              f"RACK off: the timeout comes {repaired_at[0]:.0f} ms after the handshake, {repaired_at[1]:.0f} in the simulator. That is srtt and 200 ms after the last "
              "segment sent before the loss was found has been selectively acknowledged; that this restarts it is concluded from the times only",
              "only without RACK; to be measured again then"),
        Cause("3WHS: the handshake's last ACK is a packet in the queue", "RFC 9293 §3.5",
              time("drop-tail-10", kernel) - time("drop-tail-10", like), "drop-tail-10",
              f"it and the first burst of 10 are 11 packets for a queue of 10: the kernel loses data segment 10; the simulator with that segment "
              f"lost, too: {burst:.0f} ms", "the third packet of the handshake"),
        Cause("TLP: a probe after two round trips, before the timeout", "RFC 8985 §7", *off(rc.NO_TLP),
              f"`tcp_early_retrans = 0`: {results.of(CASES['tail-losses'], rc.NO_TLP).timeouts} timeout instead of "
              f"{results.of(CASES['tail-losses'], kernel).timeouts}", "tail loss probe"),
        Cause("ticks: timers expire at ticks of 10 ms, from 640 ms on at every eighth", "measured", spread, "lost-syn",
              "the range over flows that start at different points between ticks", "nothing"),
        Cause("CA: the window grows by exactly one segment when a window has been acknowledged", "RFC 5681 §3.1, its recommended way",
              time("early-loss", rc.PLAIN) - time("early-loss", like), "early-loss",
              f"segments acknowledged while the window grows by one, over the window: {growth[0]:.3f} on the kernel, {growth[1]:.3f} in the "
              f"simulator (1/cwnd at every ACK compounds to less), {growth_long[0]:.3f} and {growth_long[1]:.3f} in avoidance-loss",
              "count acknowledged segments in `cc::Reno`"),
        Cause("GSO: with segmentation offload segments leave in bursts", "none", *off(rc.NO_GSO), "`kernel.gso = false`", "nothing: a host effect"),
        Cause("timestamps: 12 bytes of every packet", "RFC 7323 §3.2", *step(rc.TIMESTAMPS), ladder, "default of a `linux` stack"),
        Cause("half: half of the window in whole segments, not of FlightSize", "RFC 5681 equation 4", *step(rc.HALF), ladder, "default of a `linux` stack"),
        Cause("PRR: in recovery the window shrinks with what is delivered, one segment for every second ACK", "RFC 6937",
              after[0] - after[1], "early-loss", f"no switch; effect: first ACK after the recovery {after[0]:.1f} ms on the kernel, {after[1]:.1f} ms in the simulator, "
              "which sends nothing for half a round trip and then a segment for every ACK", "`prr`"),
        Cause("rescue: no rescue retransmission", "RFC 6675 §4 rule 4", 0.0, "late-loss",
              f"retransmissions: {results.of(late, kernel).retransmits} on the kernel, {results.of(late, like).retransmits} in the simulator", "a switch"),
    ]  # fmt: skip
    return sorted(found, key=lambda cause: -abs(cause.effect_ms))


def with_first_burst_lost() -> float:
    """The simulator, set like the kernel, on drop-tail-10 with data segment 10 lost, ms."""
    case = replace(CASES["drop-tail-10"], lost=(10,))
    return run([Job(case, rc.LIKE_KERNEL)])[0].completion_ms
