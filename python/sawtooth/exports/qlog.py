"""A simulated run as qlog: what its senders sent, got and knew, as a stream of events that qvis draws.

    draft-ietf-quic-qlog-main-schema-14   files, traces, events; JSON text sequences (RFC 7464)
    draft-ietf-quic-qlog-quic-events-13   the fields of events; their names are those of qlog 0.3 (`transport:packet_sent`, `recovery:metrics_updated`), by which qvis finds them

qlog has no events for TCP. A TCP connection is told as a QUIC connection of one stream would be: each packet that the sender sends has a number of its own, also if it repeats others; its payload is a frame of stream 0 at the offset of its first byte. An acknowledgement has the numbers of
the packets that it is the first to acknowledge, cumulatively or selectively: of those that carried a byte several times the last. A packet is lost when its bytes are sent again.

Events are written as they are made: memory does not grow with packets, but for the rows of the run's series, which are sampled in long runs.
"""

from __future__ import annotations

import heapq
import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from sawtooth import outputs, trace
from sawtooth._core import CAPTURE_EPOCH_NS, CapturedSegment, CapturedSegments, version
from sawtooth.backends import sim
from sawtooth.errors import RunFailed, StudyError
from sawtooth.exports.sender import FIN, SYN, Sender
from sawtooth.hints import did_you_mean
from sawtooth.plan import Plan, Run
from sawtooth.storage import temporary_name
from sawtooth.taps import Capture

SEQUENCE, CONTAINED = ".sqlog", ".qlog"
"""A JSON text sequence of the current draft, and one object of qlog 0.3."""
_SCHEMAS = ["urn:x-sawtooth:qlog:events:transport", "urn:x-sawtooth:qlog:events:recovery"]
"""Of events that are called as in qlog 0.3 and are told of TCP: no registered schema is."""
_SNAP = 128
_ARBITRARILY_HIGH = 2**53
"""Larger thresholds stand for none (RFC 5681 §3.1), and JSON's numbers end there (RFC 7493 §2.2)."""

_Event = tuple[int, int, str, str, Mapping[str, Any]]
"""When, its order among those of that time, flow, name and data."""


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


def require_file(path: Path, backend: str, study: Path | None = None) -> None:
    """Refuses what is no name of a file for qlog, and runs that have no packets.

    Raises:
        StudyError: that says so.

    """
    if path.suffix not in (SEQUENCE, CONTAINED):
        raise StudyError(
            f"`{path}` is no name for qlog",
            hint=f"name a file that ends in {SEQUENCE} (a JSON text sequence) or {CONTAINED} (one JSON object, as older programs want it)",
        )
    outputs.require(path, "qlog", [] if study is None else [study])
    if backend != "sim":
        raise StudyError(
            f"--qlog tells packets of the simulator, and this study runs on {backend}", hint="leave it out, or add --backend sim"
        )


def write(plan: Plan, run: Run, path: Path, flows: Sequence[str] = ()) -> int:
    """Does a run once more and writes it.

    Args:
        plan: that it is of.
        run: which.
        path: of the file, which ends in `.sqlog` or `.qlog`.
        flows: by name; all if none is named.

    Returns:
        How many events there are.

    Raises:
        StudyError: for a flow that the run does not have.
        RunFailed: with the simulator's words.
        DatasetError: if the file cannot be written.

    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sawtooth-")))
        capture = folder / "sender.pcapng"
        scenario = json.dumps({**json.loads(run.scenario), "sample": trace.sampling(run)})
        wanted = Capture([("sender", None)], [str(capture)], _SNAP, [])
        batch = sim.run_batch([scenario], [run.seed], [wanted])
        for message in batch.errors.values():
            raise RunFailed(f"the run failed: {message}")
        names = batch.tables["flows"]["flow"].to_list()
        for flow in flows:
            if flow not in names:
                raise StudyError(f"the run has no flow `{flow}`", hint=did_you_mean(flow, names))
        series = batch.tables["series"].sort("t_ns", maintain_order=True)
        chosen = frozenset(flows or names)
        made = _events(CapturedSegments(str(capture), CAPTURE_EPOCH_NS), _samples(series), chosen)
        return _written(path, trace.title(plan, run), plan.study.question, made)


def _samples(series: pl.DataFrame) -> Iterator[dict[str, Any]]:
    columns = ("t_ns", "flow", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "flight_bytes", "pipe_bytes", "pacing_rate_bps")
    return series.select(columns).iter_rows(named=True)


def _events(sent: Iterable[CapturedSegment], samples: Iterator[dict[str, Any]], chosen: frozenset[str]) -> Iterator[_Event]:
    """The events of both, in the order of time; what a packet changes is told after it."""
    flows: dict[str, _Flow] = {}
    both = heapq.merge(((packet.t_ns, 0, packet) for packet in sent), ((row["t_ns"], 1, row) for row in samples), key=lambda each: each[:2])
    for t_ns, kind, each in both:
        name = each.flow if isinstance(each, CapturedSegment) else each["flow"]
        if name not in chosen:
            continue
        flow = flows.setdefault(name, _Flow())
        told = _of_packet(flow, each) if isinstance(each, CapturedSegment) else _of_sample(flow, each)
        yield from ((t_ns, kind, name, event, data) for event, data in told)


def _of_packet(flow: _Flow, packet: CapturedSegment) -> Iterator[tuple[str, dict[str, Any]]]:
    sender = flow.sender
    raw = {"length": packet.length, "payload_length": packet.payload}
    if packet.flags & SYN:
        # As in QUIC packets of the handshake are counted by themselves.
        side = 0 if packet.outgoing else 1
        header = {"packet_type": "initial", "packet_number": flow.handshake[side]}
        flow.handshake[side] += 1
        if packet.outgoing:
            sender.offset(packet)
        yield f"transport:packet_{'sent' if packet.outgoing else 'received'}", {"header": header, "raw": raw, "frames": []}
        return
    if packet.outgoing:
        number, lost = sender.send(packet)
        yield from (("recovery:packet_lost", {"header": {"packet_type": "1RTT", "packet_number": each}}) for each in lost)
        if lost and flow.state != "recovery":
            yield _state(flow, "recovery")
        yield (
            "transport:packet_sent",
            {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": raw, "frames": _frames(packet, sender)},
        )
        return
    number = sender.received
    new = sender.get(packet)
    ack: dict[str, Any] = {"frame_type": "ack"}
    if new.numbers:
        ack["acked_ranges"] = _ranges(new.numbers)
    frames = [ack, *([{"frame_type": "stream", "stream_id": 0, "raw": {"payload_length": packet.payload}}] if packet.payload else [])]
    yield "transport:packet_received", {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": raw, "frames": frames}
    if new.rtt_ns is not None:
        flow.latest_ns = new.rtt_ns
        flow.least_ns = min(new.rtt_ns, new.rtt_ns if flow.least_ns is None else flow.least_ns)


def _frames(packet: CapturedSegment, sender: Sender) -> list[dict[str, Any]]:
    """Of a packet of its own: its part of the stream; what only acknowledges has no frame that is told."""
    if not packet.payload and not packet.flags & FIN:
        return []
    frame: dict[str, Any] = {
        "frame_type": "stream",
        "stream_id": 0,
        "offset": sender.offset(packet),
        "raw": {"payload_length": packet.payload},
    }
    return [{**frame, "fin": True} if packet.flags & FIN else frame]


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers as ranges, ends included."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return found


def _of_sample(flow: _Flow, row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
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
            yield _state(flow, state)
    if changed:
        yield "recovery:metrics_updated", changed


def _state(flow: _Flow, state: str) -> tuple[str, dict[str, Any]]:
    data = {"new": state} if flow.state is None else {"old": flow.state, "new": state}
    flow.state = state
    return "recovery:congestion_state_updated", data


def _whole(value: float | None) -> int | None:
    """A number of bytes or bits per second; None of what is unbounded."""
    return None if value is None or not math.isfinite(value) or value > _ARBITRARILY_HIGH else round(value)


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


def milliseconds(nanoseconds: int) -> str:
    """Nanoseconds in ms as a number of JSON, to the last of them."""
    whole, part = divmod(nanoseconds, 10**6)
    return f"{whole}.{part:06d}".rstrip("0").rstrip(".")


def _written(path: Path, title: str, description: str, events: Iterator[_Event]) -> int:
    """Writes a file that has its name once it is whole."""
    with outputs.placed(path, "qlog") as target:
        unfinished = target.with_name(temporary_name(target.name))
        try:
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                count = (_sequence if path.suffix == SEQUENCE else _contained)(file, title, description, events)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    return count


def _sequence(file: TextIO, title: str, description: str, events: Iterator[_Event]) -> int:
    """A JSON text sequence: a record separator before each text, a line feed after it (RFC 7464 §2.2)."""
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        # By these older programs know it, qvis among them; the draft has tools ignore what they do not know.
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": title,
        "description": description,
        "trace": {
            **_about(title),
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                "protocol_type": "TCP",
            },
            "event_schemas": _SCHEMAS,
        },
    }
    file.write(f"\x1e{_dumps(head)}\n")
    count = 0
    for event in events:
        file.write(f"\x1e{_line(event)}\n")
        count += 1
    return count


def _contained(file: TextIO, title: str, description: str, events: Iterator[_Event]) -> int:
    """One object of qlog 0.3, an event per line."""
    about = {**_about(title), "common_fields": {"time_format": "relative", "reference_time": 0, "protocol_type": "TCP"}}
    head = _dumps({"qlog_version": "0.3", "qlog_format": "JSON", "title": title, "description": description, "traces": [about]})
    # The object is left open where its events go.
    file.write(head.removesuffix("}]}") + ',"events":[')
    count = 0
    for event in events:
        file.write(f"{',' if count else ''}\n{_line(event)}")
        count += 1
    file.write("\n]}]}\n")
    return count


def _about(title: str) -> dict[str, Any]:
    return {"title": title, "description": f"Sawtooth {version()}, simulated TCP", "vantage_point": {"name": "sender", "type": "client"}}


def _line(event: _Event) -> str:
    t_ns, _, flow, name, data = event
    return f'{{"time":{milliseconds(t_ns)},"name":{json.dumps(name)},"group_id":{json.dumps(flow)},"data":{_dumps(data)}}}'


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
