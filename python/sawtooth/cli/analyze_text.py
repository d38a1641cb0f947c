"""What `sawtooth analyze` does with a file, and says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sawtooth import captures, outputs
from sawtooth.captures import Capture
from sawtooth.cli import foreign_text
from sawtooth.cli.foreign_text import MOST_TOLD, Told, more
from sawtooth.counted import counted
from sawtooth.errors import SawtoothError, StudyError
from sawtooth.kinds import Kind, kind
from sawtooth.plots import style
from sawtooth.quantities import seconds


@dataclass(frozen=True)
class Analyzed:
    """A capture, which of its flows are told, and the files that were written."""

    capture: Capture
    told: list[dict[str, Any]]
    written: list[Path]


def places(files: Sequence[str], out: Path | None) -> list[Path | None]:
    """Where what is made of each file goes: of several into a folder each, of the file's name; of two of one name the second's has a number."""
    if out is None or len(files) == 1:
        return [out] * len(files)
    found: list[Path | None] = []
    for file in files:
        names = (f"{Path(file).stem}{number}" for number in ("", *(f"-{n}" for n in range(2, len(files) + 1))))
        found.append(next(place for name in names if (place := out / name) not in found))
    return found


@dataclass(frozen=True)
class Failed:
    """A file that could not be analysed, and why."""

    file: str
    error: SawtoothError


def all_analyzed(
    files: Sequence[str], flows: Sequence[str], times: tuple[str | None, str | None], out: Path | None
) -> list[Analyzed | Told | Failed]:
    """Each file by itself: what is wrong with one is told, and the others are analysed.

    Raises:
        StudyError: for times that no capture has, or standard input twice.

    """
    span = _times(times)
    if files.count("-") > 1:
        raise StudyError("standard input is one capture, and `-` is given twice", hint="name it once")
    done: list[Analyzed | Told | Failed] = []
    for file, place in zip(files, places(files, out), strict=True):
        try:
            is_foreign = file != "-" and kind(Path(file)) is Kind.JSON
            done.append(foreign_text.told(file, flows, times, place) if is_foreign else analyzed(file, flows, span, place))
        except SawtoothError as error:
            done.append(Failed(file, error))
    return done


def status(done: Sequence[Analyzed | Told | Failed]) -> int:
    """The exit code: 2 if a file could not be analysed, 1 if one is damaged, so that what is told of it is of its beginning."""
    if any(isinstance(each, Failed) for each in done):
        return 2
    return int(any(isinstance(each, Analyzed) and each.capture.damage is not None for each in done))


def analyzed(file: str, flows: Sequence[str], times: Times, directory: Path | None) -> Analyzed:
    """Reads a capture, and writes its tables and figures if they are wanted.

    Raises:
        SawtoothError: if it cannot be read or written, or has no such flow.

    """
    capture = captures.read(file, on_progress=captures.progress_lines(file))
    chosen = captures.choose(capture, flows)
    told = capture.flows.filter(capture.flows["flow"].is_in(chosen)) if flows else capture.flows
    written: list[Path] = []
    span = times.within(capture)
    if directory is not None:
        contents = captures.files_of(capture)
        written.append(directory / "flows.csv")
        for number, flow in enumerate(chosen, 1):
            contents |= style.files_of(captures.figure(capture, flow, span), f"flow-{number}")
            written.append(directory / f"flow-{number}.svg")
        outputs.write_all(directory, contents)
    return Analyzed(capture, list(told.iter_rows(named=True)), written)


@dataclass(frozen=True)
class Times:
    """The stretch of time that is drawn, seconds; None: from the beginning, or to the end.

    Attributes:
        told: as the user wrote it.

    """

    first: float | None
    last: float | None
    told: str

    def within(self, capture: Capture) -> tuple[float, float] | None:
        """The stretch of a capture; None for all that there is.

        Raises:
            StudyError: if the capture has no such time.

        """
        if self.first is None and self.last is None:
            return None
        duration = capture.facts["duration_ns"] / 1e9
        first, last = self.first or 0.0, duration if self.last is None else min(self.last, duration)
        if not first < last:
            raise StudyError(f"{self.told} is no time of {capture.name}", hint=f"it takes {duration:g} s")
        return first, last


def _times(times: tuple[str | None, str | None]) -> Times:
    first, last = (None if each is None else seconds(each) for each in times)
    told = f"from {times[0] or '0 s'} to {times[1] or 'the end'}"
    if (first is not None and first < 0) or (last is not None and last <= (first or 0.0)):
        raise StudyError(f"{told} is no stretch of time", hint="--from and --to count from the first frame, and --to is the later one")
    return Times(first, last, told)


def as_json(done: Analyzed | Told | Failed) -> dict[str, Any]:
    """The same for other programs."""
    if isinstance(done, Told):
        return foreign_text.as_json(done)
    if isinstance(done, Failed):
        return {"file": done.file, "error": str(done.error)}
    episodes = done.capture.episodes.filter(done.capture.episodes["flow"].is_in([row["flow"] for row in done.told]))
    return {
        "file": done.capture.name,
        **done.capture.facts,
        "flows": done.told,
        "episodes": episodes.to_dicts(),
        "written": [str(path) for path in done.written],
    }


def lines(done: Analyzed | Told) -> Iterator[str]:
    """A few lines on what was recorded and on each flow."""
    if isinstance(done, Told):
        yield from foreign_text.lines(done)
        return
    facts = done.capture.facts
    yield f"{done.capture.name}: {facts['format']}, {counted(facts['frames'], 'frame')} in {facts['duration_ns'] / 1e9:.6g} s{_interfaces(facts)}"
    if done.capture.damage is not None:
        yield f"  damaged: {done.capture.damage}"
    for count, what in (
        ("homeless", "packets of an interface that the file does not describe, not analysed"),
        ("untimed", "frames without a time"),
    ):
        if facts[count]:
            yield f"  {facts[count]:,} {what}"
    if facts["comments"]:
        yield f"  {counted(facts['comments'], 'comment')}"
    for met in facts["met"]:
        yield f"  {met['count']:,} {met['what']}"
    if not done.told:
        yield "  no flow of TCP or UDP" + (
            ": headers were cut off, capture at least 128 bytes of each packet (-s 128)" if _is_cut(facts) else ""
        )
    for row in done.told[:MOST_TOLD]:
        yield ""
        yield from _flow(row)
    if len(done.told) > MOST_TOLD:
        yield ""
        yield more(len(done.told))
    if done.written:
        yield ""
    for path in done.written:
        yield f"{'tables' if path.suffix == '.csv' else 'figure'}: {path}"


def _is_cut(facts: dict[str, Any]) -> bool:
    return any("cut" in met["what"] for met in facts["met"])


def _interfaces(facts: dict[str, Any]) -> str:
    names = [each["name"] for each in facts["interfaces"] if each["name"]]
    sections = f", {facts['sections']} sections" if facts["sections"] > 1 else ""
    return f"{sections}, captured on {', '.join(names)}" if names else sections


def _flow(row: dict[str, Any]) -> Iterator[str]:
    if row["transport"] == "udp":
        yield f"{row['connection']}. {row['flow']} (UDP): {counted(row['sent_packets'], 'packet')}, {row['sent_bytes']:,} B of payload"
        return
    yield f"{row['connection']}. {row['flow']}: {_delivered(row)}"
    again = [f"{counted(row['sent_packets'], 'segment')}, {row['data_packets']:,} with data", _retransmits(row)]
    for column, what in (("reordered_packets", "late"), ("duplicated_packets", "seen twice"), ("probes", "keep-alives or window probes")):
        if row[column]:
            again.append(f"{row[column]:,} {what}")
    yield f"   {'; '.join(again)}"
    if row["dupacks_in"] is not None:
        yield f"   acknowledgements: {row['dupacks_in']:,} duplicate, {_selective(row)}"
    yield from (f"   {line}" for line in (_round_trips(row), _limits(row), _ecn(row)) if line)
    yield from (f"   note: {line}" for line in _notes(row))


def _selective(row: dict[str, Any]) -> str:
    if row["sacks_in"] is None:
        return "with SACK not known: options were cut off"
    return f"{row['sacks_in']:,} with SACK, {row['dsacks_in']:,} of duplicates (DSACK)"


def _delivered(row: dict[str, Any]) -> str:
    if row["delivered_bytes"] is None:
        if row["closed"] == "reset" and not row["sent_bytes"]:
            return "refused: answered by RST"
        return f"{row['sent_bytes']:,} B sent, no acknowledgement of it seen"
    parts = [f"{row['delivered_bytes']:,} B in {row['lifetime_ns'] / 1e9:.6g} s"]
    if row["goodput_bps"] is not None:
        parts.append(_rate(row["goodput_bps"]))
    if row["completion_ns"] is not None:
        parts.append("complete")
    return ", ".join([*parts, _CLOSED[row["closed"]]])


_CLOSED = {"fin": "closed", "half": "closed by one end", "reset": "reset", "open": "not closed"}


def _rate(bps: float) -> str:
    for unit, name in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= unit:
            return f"{bps / unit:.4g} {name}"
    return f"{bps:.4g} bit/s"


def _retransmits(row: dict[str, Any]) -> str:
    if not row["retransmits"]:
        return "none sent again"
    share = row["retransmits"] / max(1, row["data_packets"])
    causes = [f"{row[column]:,} {what}" for column, what in (
        ("fast_retransmits", "fast retransmits"), ("timeouts", "timeouts"), ("tail_loss_probes", "tail loss probes"),
        ("retransmits_needless", "needless"), ("retransmits_unseen", "of what the capture had not seen")) if row[column]]  # fmt: skip
    return f"{row['retransmits']:,} sent again ({share:.2%}{'; ' if causes else ''}{', '.join(causes)})"


def _round_trips(row: dict[str, Any]) -> str:
    where = {
        "sender": "captured at the sender",
        "near_sender": "captured near the sender, behind a queue",
        "receiver": "captured at the receiver",
        "middle": "captured between both",
    }
    answers = [f"{who} answers within {row[column] / 1e6:.4g} ms" for who, column in (
        ("the sender", "sender_rtt_min_ns"), ("the receiver", "receiver_rtt_min_ns")) if row[column] is not None]  # fmt: skip
    place = (
        f"{where[row['vantage']]}: {' and '.join(answers)}"
        if row["vantage"]
        else "; ".join(["where it was captured is not known", *answers])
    )
    if not row["receiver_rtt_samples"]:
        return f"round trips: no sample; {place}"
    times = "/".join(f"{row[f'receiver_rtt_{which}_ns'] / 1e6:.4g}" for which in ("min", "mean", "p95", "max"))
    what = "round trips" if row["vantage"] == "sender" else "data to acknowledgement"
    return f"{what}: {times} ms (least/mean/95 %/most of {row['receiver_rtt_samples']:,}); {place}"


def _limits(row: dict[str, Any]) -> str:
    if row["limited_source_ns"] is None or not row["lifetime_ns"]:
        return ""
    parts = (("source", "source idle"), ("rwnd", "receiver's window"), ("recovery", "loss recovery"), ("rto", "waiting for timeouts"),
             ("other", "other: congestion window, pacing or a slow source"))  # fmt: skip
    shares = [(row[f"limited_{part}_ns"], name) for part, name in parts]
    return "limited by " + ", ".join(
        f"{name} {value / row['lifetime_ns']:.1%}" for value, name in shares if value >= 5e-4 * row["lifetime_ns"]
    )


def _ecn(row: dict[str, Any]) -> str:
    if not row["ect_packets"]:
        return ""
    seen = f"{counted(row['ect_packets'], 'packet')} capable, {row['ce_in']:,} marked CE"
    if row["ecn_feedback"] == "accurate":
        signals = (
            ""
            if row["ecn_signals"] is None
            else f"; {counted(row['ce_reported'], 'mark')} reported by {counted(row['ecn_signals'], 'acknowledgement')}"
        )
        told = "" if row["ce_reported_bytes"] is None else f", {row['ce_reported_bytes']:,} B by the option"
        return f"ECN (accurate): {seen}{signals}{told}"
    signals = "" if row["ecn_signals"] is None else f", {counted(row['ecn_signals'], 'acknowledgement')} with ECE"
    classic = " (classic)" if row["ecn_feedback"] == "classic" else ""
    return f"ECN{classic}: {seen}{signals}, {row['cwr_packets']:,} with CWR"


def _notes(row: dict[str, Any]) -> Iterator[str]:
    if row["handshake"] != "whole":
        yield f"{'no part' if row['handshake'] == 'none' else 'only a part'} of the handshake was seen" + (
            ": windows are not known" if row["window_scale"] is None else ""
        )
    if row["missed_bytes"]:
        yield f"{row['missed_bytes']:,} B were acknowledged and never seen: the capture lost packets"
    if row["zero_windows"]:
        yield f"the receiver closed its window {counted(row['zero_windows'], 'time')}"
