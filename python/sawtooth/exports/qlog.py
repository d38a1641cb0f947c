"""A simulated run as qlog, in a file.

    FILE.sqlog   the newest drafts: draft-ietf-quic-qlog-main-schema-14 (a JSON text sequence, RFC 7464) and draft-ietf-quic-qlog-quic-events-13
    FILE.qlog    qlog 0.3, which qvis draws: draft-ietf-quic-qlog-main-schema-05 (one JSON object) and draft-ietf-quic-qlog-quic-events-04

Two forms, since no file is both: qvis takes no other version than 0.3 and looks for events by the names that they have there, which the newest drafts have not (`recovery:metrics_updated` is `quic:recovery_metrics_updated`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from sawtooth import outputs, trace
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
        form = _FORMS[path.suffix]
        about = _About(trace.title(plan, run), plan.study.question, _vantage(chosen, batch.tables))
        made = events(CapturedSegments(str(capture), CAPTURE_EPOCH_NS), _samples(series), chosen, form.words)
        return _written(path, form, form.head(about), made)


def _vantage(chosen: frozenset[str], tables: Mapping[str, pl.DataFrame]) -> str:
    """Which end the senders are: a client opens the connection (main-schema §6), and who answers requests does not."""
    answering = chosen.intersection(tables["exchanges"]["flow"].to_list() if "exchanges" in tables else ())
    if not answering:
        return "client"
    return "server" if answering == chosen else "unknown"


def _samples(series: pl.DataFrame) -> Iterator[dict[str, Any]]:
    columns = ("t_ns", "flow", "cwnd_bytes", "ssthresh_bytes", "srtt_ns", "flight_bytes", "pipe_bytes", "pacing_rate_bps")
    return series.select(columns).iter_rows(named=True)


def _written(path: Path, form: _Form, head: str, made: Iterable[Event]) -> int:
    """Writes a file that has its name once it is whole."""
    with outputs.placed(path, "qlog") as target:
        unfinished = target.with_name(temporary_name(target.name))
        try:
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                count = _texts(file, form, head, made)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    return count


def _texts(file: TextIO, form: _Form, head: str, made: Iterable[Event]) -> int:
    file.write(head)
    count = 0
    for event in made:
        file.write(f"{form.between if count else form.before}{_line(event)}{form.after}")
        count += 1
    file.write(form.end)
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


@dataclass(frozen=True)
class _About:
    """What a file is about: the run's title, the study's question, and which end is told."""

    title: str
    question: str
    vantage: str

    @property
    def file(self) -> dict[str, Any]:
        return {"title": self.title, "description": self.question}

    @property
    def trace(self) -> dict[str, Any]:
        vantage = {"name": "sender", "type": self.vantage}
        return {"title": self.title, "description": f"Sawtooth {version()}, simulated TCP", "vantage_point": vantage}


@dataclass(frozen=True)
class _Form:
    """How a file is written.

    Attributes:
        words: how events are called.
        head: what it begins with.
        before, between: what stands before the first event and before any other.
        after: what stands after each.
        end: after the last.

    """

    words: Words
    head: Callable[[_About], str]
    before: str
    between: str
    after: str
    end: str


def _sequence_head(about: _About) -> str:
    # Both members by which a file is known stand first, as they are to be among the first 256 bytes (main-schema §3).
    head = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        **about.file,
        "trace": {
            **about.trace,
            # A monotonic clock has no epoch (main-schema §7.1).
            "common_fields": {"time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic", "epoch": "unknown"}},
            "event_schemas": [_SCHEMA],
        },
    }
    return f"\x1e{_dumps(head)}\n"


def _contained_head(about: _About) -> str:
    common = {"time_format": "relative", "reference_time": 0, "protocol_type": ["TCP"]}
    head = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        **about.file,
        "traces": [{**about.trace, "common_fields": common}],
    }
    # The object is left open where its events go.
    return _dumps(head).removesuffix("}]}") + ',"events":['


_FORMS = {
    # A record separator before each text, a line feed after it (RFC 7464 §2.2).
    SEQUENCE: _Form(_NEWEST, _sequence_head, before="\x1e", between="\x1e", after="\n", end=""),
    CONTAINED: _Form(_OLDER, _contained_head, before="\n", between=",\n", after="", end="\n]}]}\n"),
}
