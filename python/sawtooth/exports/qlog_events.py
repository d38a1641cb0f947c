"""A run of TCP as the events of qlog: what its senders sent, got and knew.

qlog has no events for TCP. A TCP connection is told as a QUIC connection of one stream would be: each packet that the sender sends has a number of its own, also if it repeats others; its payload is a frame of stream 0 at the offset of its first byte. An acknowledgement has the numbers of
the packets that it is the first to acknowledge, cumulatively or selectively: of those that carried a byte several times the last. A packet is lost when its bytes are sent again.

Events are made as they are asked for: memory does not grow with packets, but for the rows of the run's series, which are sampled in long runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sawtooth._core import CapturedSegment
from sawtooth.exports.sender import FIN, SYN, Sender

_ARBITRARILY_HIGH = 2**53
"""Larger thresholds stand for none (RFC 5681 §3.1), and JSON's numbers end there (RFC 7493 §2.2)."""


@dataclass(frozen=True)
class Words:
    """How a version of qlog calls the events of `quic-events`, and what its stream frames have.

    Attributes:
        sent, received, lost, metrics, state: names of events.
        frame_length: whether the length of a stream frame's payload is a member of the frame (`length`), not of what it has as `raw`.

    """

    sent: str
    received: str
    lost: str
    metrics: str
    state: str
    frame_length: bool

    def stream(self, offset: int, payload: int, *, fin: bool) -> dict[str, Any]:
        """The frame of a part of the stream; `fin` is told where it is true."""
        size: dict[str, Any] = {"length": payload} if self.frame_length else {"raw": {"payload_length": payload}}
        frame = {"frame_type": "stream", "stream_id": 0, "offset": offset, **size}
        return {**frame, "fin": True} if fin else frame


class Event(NamedTuple):
    """An event of a flow.

    Attributes:
        t_ns: when, since the run began.
        flow: by name.
        name: of the event, in the words of its version.
        data: its members.

    """

    t_ns: int
    flow: str
    name: str
    data: Mapping[str, Any]


_Told = tuple[str, Mapping[str, Any]]
"""Name and data of an event."""


@dataclass
class _Flow:
    """What has been told of a flow.

    Attributes:
        sender: by its packets.
        handshake: numbers of the packets of its own in the handshake, and of the other's.
        metrics: that were told last.
        latest_ns, least_ns: the last and the least round trip of its packets.
        state: of its congestion control.

    """

    sender: Sender = field(default_factory=Sender)
    handshake: list[int] = field(default_factory=lambda: [0, 0])
    metrics: dict[str, Any] = field(default_factory=dict[str, Any])
    latest_ns: int | None = None
    least_ns: int | None = None
    state: str | None = None


def events(sent: Iterable[CapturedSegment], samples: Iterable[Mapping[str, Any]], chosen: frozenset[str], words: Words) -> Iterator[Event]:
    """The events of the flows that are chosen, in the order of time; what a packet changes is told after it.

    Args:
        sent: what a capture at the senders has, by time.
        samples: rows of the series, by time.
        chosen: names of flows.
        words: how events are called.

    """
    flows: dict[str, _Flow] = {name: _Flow() for name in chosen}
    rows = iter(samples)
    row = next(rows, None)
    for packet in sent:
        while row is not None and row["t_ns"] < packet.t_ns:
            yield from _of_sample(flows, row, words)
            row = next(rows, None)
        yield from _of_packet(flows, packet, words)
    while row is not None:
        yield from _of_sample(flows, row, words)
        row = next(rows, None)


def _of_packet(flows: Mapping[str, _Flow], packet: CapturedSegment, words: Words) -> Iterator[Event]:
    flow = flows.get(packet.flow)
    if flow is None:
        return
    told = _handshake if packet.flags & SYN else _sent if packet.outgoing else _received
    for name, data in told(flow, packet, words):
        yield Event(packet.t_ns, packet.flow, name, data)


def _of_sample(flows: Mapping[str, _Flow], row: Mapping[str, Any], words: Words) -> Iterator[Event]:
    flow = flows.get(row["flow"])
    if flow is None:
        return
    for name, data in _metrics(flow, row, words):
        yield Event(row["t_ns"], row["flow"], name, data)


def _handshake(flow: _Flow, packet: CapturedSegment, words: Words) -> Iterator[_Told]:
    """As in QUIC packets of the handshake are counted by themselves."""
    flow.sender.offset(packet) if packet.outgoing else flow.sender.offset_of_other(packet)
    side = 0 if packet.outgoing else 1
    header = {"packet_type": "initial", "packet_number": flow.handshake[side]}
    flow.handshake[side] += 1
    yield words.sent if packet.outgoing else words.received, {"header": header, "raw": _raw(packet)}


def _sent(flow: _Flow, packet: CapturedSegment, words: Words) -> Iterator[_Told]:
    number, lost = flow.sender.send(packet)
    for each in lost:
        yield words.lost, {"header": {"packet_type": "1RTT", "packet_number": each}}
    if lost and flow.state != "recovery":
        yield _state(flow, "recovery", words)
    data: dict[str, Any] = {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": _raw(packet)}
    fin = bool(packet.flags & FIN)
    # What only acknowledges has no frame that is told.
    if packet.payload or fin:
        data["frames"] = [words.stream(flow.sender.offset(packet), packet.payload, fin=fin)]
    yield words.sent, data


def _received(flow: _Flow, packet: CapturedSegment, words: Words) -> Iterator[_Told]:
    number = flow.sender.received
    new = flow.sender.get(packet)
    ack: dict[str, Any] = {"frame_type": "ack"}
    if new.numbers:
        ack["acked_ranges"] = _ranges(new.numbers)
    frames = [ack]
    offset = flow.sender.offset_of_other(packet)
    fin = bool(packet.flags & FIN)
    if packet.payload or fin:
        frames.append(words.stream(offset, packet.payload, fin=fin))
    yield words.received, {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": _raw(packet), "frames": frames}
    if new.rtt_ns is not None:
        flow.latest_ns = new.rtt_ns
        flow.least_ns = min(new.rtt_ns, new.rtt_ns if flow.least_ns is None else flow.least_ns)


def _raw(packet: CapturedSegment) -> dict[str, Any]:
    """Bytes of the IP packet and of TCP's payload."""
    return {"length": packet.length, "payload_length": packet.payload}


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers as ranges, ends included."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return found


def _metrics(flow: _Flow, row: Mapping[str, Any], words: Words) -> Iterator[_Told]:
    """What a sender knows, as far as it has changed, and the state that its window is in."""
    flight = row["flight_bytes"] if row["pipe_bytes"] is None else row["pipe_bytes"]
    now = {
        "congestion_window": _whole(row["cwnd_bytes"]),
        "bytes_in_flight": flight,
        "ssthresh": _whole(row["ssthresh_bytes"]),
        "smoothed_rtt": _ms(row["srtt_ns"]),
        "latest_rtt": _ms(flow.latest_ns),
        "min_rtt": _ms(flow.least_ns),
        "pacing_rate": _whole(row["pacing_rate_bps"]),
    }
    changed = {name: value for name, value in now.items() if value is not None and flow.metrics.get(name) != value}
    flow.metrics.update(changed)
    if flow.sender.recovers is None and row["cwnd_bytes"] is not None and row["ssthresh_bytes"] is not None:
        state = "slow_start" if row["cwnd_bytes"] < row["ssthresh_bytes"] else "congestion_avoidance"
        if state != flow.state:
            yield _state(flow, state, words)
    if changed:
        yield words.metrics, changed


def _state(flow: _Flow, state: str, words: Words) -> _Told:
    data = {"new": state} if flow.state is None else {"old": flow.state, "new": state}
    flow.state = state
    return words.state, data


def _whole(value: float | None) -> int | None:
    """A number of bytes or bits per second; None of what is unbounded."""
    return None if value is None or not math.isfinite(value) or value > _ARBITRARILY_HIGH else round(value)


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6
