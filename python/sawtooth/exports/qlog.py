"""A simulated run as qlog, in a file.

    FILE.sqlog   the newest drafts: draft-ietf-quic-qlog-main-schema-14 (a JSON text sequence, RFC 7464) and draft-ietf-quic-qlog-quic-events-13
    FILE.qlog    qlog 0.3, which qvis draws: draft-ietf-quic-qlog-main-schema-05 (one JSON object) and draft-ietf-quic-qlog-quic-events-04

Two forms, since no file is both: qvis takes no other version than 0.3 and looks for events by the names that they have there, which the newest drafts have not (`recovery:metrics_updated` is `quic:recovery_metrics_updated`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from sawtooth import called, outputs, trace
from sawtooth._core import CAPTURE_EPOCH_NS, CapturedSegments, version
from sawtooth.backends import sim
from sawtooth.errors import RunFailed, StudyError
from sawtooth.exports.qlog_events import Event, Words, events
from sawtooth.hints import did_you_mean
from sawtooth.plan import Plan, Run
from sawtooth.storage import temporary_name
from sawtooth.taps import Capture

SEQUENCE, CONTAINED = ".sqlog", ".qlog"
_NEWEST = Words(
    sent="quic:packet_sent",
    received="quic:packet_received",
    lost="quic:packet_lost",
    metrics="quic:recovery_metrics_updated",
    state="quic:congestion_state_updated",
    frame_length=False,
)
_SCHEMA = "urn:ietf:params:qlog:events:quic-13"
"""Until there is an RFC, the schema's name ends with the number of the draft (quic-events §2.1)."""
_OLDER = Words(
    sent="transport:packet_sent",
    received="transport:packet_received",
    lost="recovery:packet_lost",
    metrics="recovery:metrics_updated",
    state="recovery:congestion_state_updated",
    frame_length=True,
)
_SNAP = 128


def require_file(path: Path, backend: str, study: Path | None = None) -> None:
    """Refuses what is no name of a file for qlog, and runs that have no packets.

    Raises:
        StudyError: that says so.

    """
    if path.suffix not in (SEQUENCE, CONTAINED):
        raise StudyError(
            f"`{path}` is no name for qlog",
            hint=f"name a file that ends in {SEQUENCE} (the newest draft, a JSON text sequence) or {CONTAINED} (qlog 0.3, which qvis draws)",
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
        told = _Told(called.title(plan, run), plan.study.question, str(capture), series, _ends(chosen, batch.tables))
        return _written(path, told)


def _ends(chosen: frozenset[str], tables: Mapping[str, pl.DataFrame]) -> dict[str, frozenset[str]]:
    """The flows by which end their senders are: a client opens the connection (main-schema §6), and who answers requests does not."""
    answering = chosen.intersection(tables["exchanges"]["flow"].to_list() if "exchanges" in tables else ())
    return {end: flows for end, flows in (("client", chosen - answering), ("server", answering)) if flows}


@dataclass(frozen=True)
class _Told:
    """What a file tells.

    Attributes:
        title: of the run.
        question: of the study.
        capture: at the senders, the file's name.
        series: by time.
        ends: flows by which end their senders are.

    """

    title: str
    question: str
    capture: str
    series: pl.DataFrame
    ends: Mapping[str, frozenset[str]]

    def events(self, flows: frozenset[str], words: Words) -> Iterator[Event]:
        columns = ("t_ns", "flow", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "flight_bytes", "pipe_bytes", "pacing_rate_bps")
        samples = self.series.select(columns).iter_rows(named=True)
        return events(CapturedSegments(self.capture, CAPTURE_EPOCH_NS), samples, flows, words)

    def file(self) -> dict[str, Any]:
        return {"title": self.title, "description": self.question}

    def trace(self, end: str) -> dict[str, Any]:
        return {
            "title": self.title,
            "description": f"Sawtooth {version()}, simulated TCP",
            "vantage_point": {"name": "sender", "type": end},
        }


def _written(path: Path, told: _Told) -> int:
    """Writes a file that has its name once it is whole."""
    with outputs.placed(path, "qlog") as target:
        unfinished = target.with_name(temporary_name(target.name))
        try:
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                count = (_sequence if path.suffix == SEQUENCE else _contained)(file, told)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    return count


def _sequence(file: TextIO, told: _Told) -> int:
    """A JSON text sequence: a record separator before each text, a line feed after it (RFC 7464 §2.2)."""
    ends = list(told.ends)
    # Both members by which a file is known stand first, as they are to be among the first 256 bytes (main-schema §3).
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        **told.file(),
        "trace": {
            # There is one trace, for all flows.
            **told.trace(ends[0] if len(ends) == 1 else "unknown"),
            # A monotonic clock has no epoch (main-schema §7.1).
            "common_fields": {"time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic", "epoch": "unknown"}},
            "event_schemas": [_SCHEMA],
        },
    }
    file.write(f"\x1e{_dumps(head)}\n")
    count = 0
    for event in told.events(frozenset[str]().union(*told.ends.values()), _NEWEST):
        file.write(f"\x1e{_line(event)}\n")
        count += 1
    return count


def _contained(file: TextIO, told: _Told) -> int:
    """One object of qlog 0.3, an event per line; a trace for each end that there is."""
    head: dict[str, Any] = {"qlog_version": "0.3", "qlog_format": "JSON", **told.file(), "traces": []}
    common = {"time_format": "relative", "reference_time": 0, "protocol_type": ["TCP"]}
    # Objects are left open where their content goes.
    file.write(_dumps(head).removesuffix("]}"))
    count = 0
    for number, (end, flows) in enumerate(told.ends.items()):
        about = _dumps({**told.trace(end), "common_fields": common, "events": []}).removesuffix("]}")
        file.write(f"{',' if number else ''}\n{about}")
        separator = "\n"
        for event in told.events(flows, _OLDER):
            file.write(f"{separator}{_line(event)}")
            separator = ",\n"
            count += 1
        file.write("\n]}")
    file.write("]}\n")
    return count


def _line(event: Event) -> str:
    t_ns, flow, name, data = event
    return f'{{"time":{milliseconds(t_ns)},"name":"{name}","group_id":{_text(flow)},"data":{_dumps(data)}}}'


def milliseconds(nanoseconds: int) -> str:
    """Nanoseconds in ms as a number of JSON, to the last of them."""
    whole, part = divmod(nanoseconds, 10**6)
    return f"{whole}.{part:06d}".rstrip("0") if part else str(whole)


_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode


@cache
def _text(name: str) -> str:
    """The name of a flow as JSON: there are few, and many events of each."""
    return _dumps(name)
