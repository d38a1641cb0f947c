"""Captures of packets, whoever made them: tables of what their connections did, and figures of it."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.figure import Figure

from sawtooth import _core, tables
from sawtooth.errors import CaptureUnreadable, StudyError
from sawtooth.kinds import Kind, kind
from sawtooth.plots.time_sequence import TimeSequence, time_sequence
from sawtooth.tables import column_types, frame_of

if TYPE_CHECKING:
    from collections.abc import Generator

MOST_FIGURES = 3
"""Flows that are drawn if none is named."""
MOST_ROWS = 400_000
"""Rows of the series of all flows together."""
_LOOK_S = 0.5
"""Between two looks at how far a capture has been read."""

TABLES = ("flows", "series", "episodes", "marks")


@dataclass(frozen=True)
class Capture:
    """What a capture came to.

    Attributes:
        name: the file, as it was named.
        facts: its kind, frames, interfaces, times, and under `met` what was met in it, each with how often.
        flows: a row per direction of a connection that carried data, and per flow of UDP. It has all columns of a run's table `flows`, null where no capture tells
            them, and those of captures. series: a row per flow and packet, or stretch of time. episodes: a row per loss episode. marks: a row per segment that is
            not just the next one. All times count from the first frame, in ns.

    """

    name: str
    facts: dict[str, Any]
    flows: pl.DataFrame
    series: pl.DataFrame
    episodes: pl.DataFrame
    marks: pl.DataFrame

    @property
    def damage(self) -> str | None:
        """Why it was not read to its end; None if it was."""
        return self.facts["damage"]

    @property
    def warning(self) -> str | None:
        """What is to be told of its damage besides what was found in it; None if it has none."""
        return None if self.damage is None else f"{self.name} is damaged, and what is told is of what was read before: {self.damage}"


def read(path: str | Path, *, most_rows: int = MOST_ROWS, on_progress: Callable[[int, int | None], None] | None = None) -> Capture:
    """Reads a capture, pcap or pcapng, from its beginning to its end, in bounded memory.

    Args:
        path: the file; `-` for standard input.
        most_rows: of the series; more packets than that share rows.
        on_progress: is told now and then how many bytes have been read, and of how many, if that is known.

    Raises:
        CaptureUnreadable: if it is no capture, or none that is read.

    """
    name = str(path)
    _require_meant(name)
    size = None if name == "-" else _size(Path(path))
    told = "standard input" if name == "-" else name
    progress = _core.CaptureProgress()
    try:
        with _watched(progress, size, on_progress):
            made = _core.analyze_capture(name, most_rows, progress)
    except _core.CaptureError as error:
        raise CaptureUnreadable(f"{told} {error.message}", error.hint) from None
    read = {table: frame_of(columns) for table, columns in made["tables"].items()}
    flows = _with_all_columns(read.pop("flows")).sort("connection", maintain_order=True)
    return Capture(told, made["facts"], flows, **read)


_OTHERS = {
    Kind.STUDY: ("a study", "`sawtooth simulate {} --pcap run.pcapng` makes a capture of its first run"),
    Kind.TABLE: ("a table of numbers", "`sawtooth compare DIR {}` holds results against it"),
    Kind.JSON: ("JSON", "`sawtooth analyze {}` tells what iperf3 or flent measured; a capture has packets, as tcpdump records them"),
}


def _require_meant(name: str) -> None:
    """Refuses files that are known to be something else.

    Raises:
        CaptureUnreadable: that says what it is, and what takes it.

    """
    found = Kind.CAPTURE if name == "-" else kind(Path(name))
    if found in _OTHERS:
        what, hint = _OTHERS[found]
        raise CaptureUnreadable(f"{name} is {what}, and no capture", hint.format(name))


def _with_all_columns(flows: pl.DataFrame) -> pl.DataFrame:
    """The columns of a run's table in their order, null where the capture has none, then its own."""
    missing = [pl.lit(None, kind).alias(name) for name, kind in column_types("flows").items() if name not in flows.columns]
    order = list(column_types("flows"))
    return flows.with_columns(missing).select(*order, *(name for name in flows.columns if name not in order))


def _size(path: Path) -> int | None:
    """Bytes of a regular file; None of a pipe."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise CaptureUnreadable(f"there is no file {path}", "name a capture, or `-` for standard input") from None
    except OSError as error:
        raise CaptureUnreadable(f"cannot read {path}: {error.strerror}", "name another, or see what `ls -ld` says of it") from None
    if stat.S_ISDIR(found.st_mode):
        raise CaptureUnreadable(f"{path} is a directory, not a capture", "name the files in it")
    if not os.access(path, os.R_OK):
        raise CaptureUnreadable(f"{path} may not be read", "ask its owner for permission to read it, or read a copy")
    return found.st_size if stat.S_ISREG(found.st_mode) else None


@contextmanager
def _watched(progress: _core.CaptureProgress, size: int | None, on_progress: Callable[[int, int | None], None] | None) -> Generator[None]:
    """Within it another thread tells of the progress."""
    if on_progress is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_S):
            on_progress(progress.bytes, size)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def progress_lines(name: str, every: int = 1 << 28) -> Callable[[int, int | None], None]:
    """Tells on standard error of each 256 MiB that have been read."""
    told = 0

    def tell(done: int, size: int | None) -> None:
        nonlocal told
        if done - told < every:
            return
        told = done
        of = f" of {size >> 20:,}" if size else ""
        print(f"{name}: {done >> 20:,}{of} MiB read", file=sys.stderr)

    return tell


def choose(capture: Capture, wanted: Sequence[str]) -> list[str]:
    """The names of the flows that are meant: by their name, a part of it, or the number of their connection, and by default the largest. What is a number is no part of a name.

    Raises:
        StudyError: if one fits none.

    """
    flows = capture.flows.filter(pl.col("transport") == "tcp")
    if not wanted:
        largest = flows.filter(pl.col("sent_bytes") > 0).sort("sent_bytes", descending=True, maintain_order=True)
        return largest["flow"].head(MOST_FIGURES).to_list()
    chosen: list[str] = []
    for each in wanted:
        names: list[str] = flows["flow"].to_list()
        numbered: list[str] = flows.filter(pl.col("connection").cast(pl.String) == each)["flow"].to_list()
        if each.isdecimal() and not numbered:
            # It is part of many a port and address, and would fit them by chance.
            raise StudyError(
                f"no flow of {capture.name} is `{each}`",
                hint="a number is that of a connection, as `sawtooth analyze` tells them; a port is named as in `:443`",
            )
        found = numbered or [name for name in names if name == each] or [name for name in names if each in name]
        if not found:
            raise StudyError(
                f"no flow of {capture.name} is `{each}`", hint="name a flow, a part of its name, or the number of its connection"
            )
        chosen += [name for name in found if name not in chosen]
    return chosen


def figure(capture: Capture, flow: str, span: tuple[float, float] | None = None) -> Figure:
    """Time-sequence graph, flight size and round-trip times of a flow, from `span[0]` to `span[1]` seconds after the first frame."""
    series = capture.series.filter(pl.col("flow") == flow)
    marks = capture.marks.filter(pl.col("flow") == flow)
    row = capture.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    if span is None:
        first, last = row["start_ns"] / 1e9, (row["start_ns"] + row["lifetime_ns"]) / 1e9
        room = 0.02 * (last - first) or 1e-3
        span = (max(0.0, first - room), last + room)
    place = {
        "sender": ", captured at the sender",
        "near_sender": ", captured near the sender",
        "receiver": ", captured at the receiver",
        "middle": ", captured between both",
    }
    title = f"{flow}{place.get(row['vantage'], '')}"
    return time_sequence(TimeSequence(series, marks, title, span))


def files_of(capture: Capture) -> dict[str, bytes]:
    """The tables as the contents of files: as Parquet, and `flows` and `episodes` as CSV, too."""
    return tables.files_of({name: getattr(capture, name) for name in TABLES}, ("flows", "episodes"))
