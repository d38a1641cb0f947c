"""What a terminal or a program gets to see of an interval."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from sawtooth import streams
from sawtooth.counted import counted
from sawtooth.errors import OutputLost
from sawtooth.live import causes
from sawtooth.live.causes import CAUSES, rate
from sawtooth.live.exact import Stall
from sawtooth.live.netlink import LiveError
from sawtooth.live.session import Report
from sawtooth.live.watch import Spell, Spells

# Columns by cause; rare ones share the last.
_COLUMNS = (("app", ("source",)), ("rwnd", ("rwnd",)), ("sndbuf", ("send_buffer",)), ("cwnd", ("cwnd",)), ("pacing", ("pacing",)),
            ("else", ("nagle", "recovery", "rto", "device")))  # fmt: skip
_ELSE = 0.05
_FRAME_LINES = 4
_NAME_WIDTH = 44
_MOST_EXPLAINED = 6
_BYTE = np.uint64(8)
_PLAIN, _BOLD, _DIM, _RED, _YELLOW = (Style.parse(style) for style in ("", "bold", "dim", "red", "yellow"))
Line = list[tuple[str, Style]]
"""A line on the screen, of parts with a style each."""


@contextlib.contextmanager
def output(target: str, *, as_json: bool) -> Generator[Callable[[Report], None]]:
    """What shows a report: lines of JSON, a table that is refreshed in place, or one table after another where there is no terminal."""
    if as_json:
        yield _written(_Lines().show)
        return
    console = _console()
    if not console.redraws:
        yield _written(lambda report: console.print(Table(report.spells, target, report.elapsed, None, report.note), ""))
        return
    waiting = Text(f"watching {target} ...", style="dim")
    with Live(waiting, console=console, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
        yield lambda report: live.update(Table(report.spells, target, report.elapsed, console.height - 1, report.note), refresh=True)


def _written(show: Callable[[Report], None]) -> Callable[[Report], None]:
    """The same, for output that may be refused: BrokenPipeError if nobody reads it any more, else LiveError."""

    def shown(report: Report) -> None:
        try:
            show(report)
        except OutputLost as lost:
            raise LiveError(lost.message, "what was recorded until then is kept") from None
        except OSError as error:
            # What is left of it would be refused once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            raise LiveError(f"cannot write the output: {error.strerror}", "what was recorded until then is kept") from None

    return shown


def print_totals(totals: Spells, target: str) -> None:
    """Prints what the whole watch saw."""
    elapsed = float(totals.rows["end_ns"].max() - totals.rows["start_ns"].min()) / 1e9
    _console().print(Text("The whole watch", style="bold underline"), Table(totals, target, elapsed, None))


class _Console(streams.Console):
    def on_broken_pipe(self) -> None:
        # Rich would end the program here.
        raise BrokenPipeError


def _console() -> streams.Console:
    # A pipe gets whole lines.
    return _Console() if sys.stdout.isatty() else _Console(width=120)


class _Lines:
    """Reports as lines of JSON. What there is to say of a connection to which nothing happens is written once."""

    def __init__(self) -> None:
        self._quiet: dict[int, str] = {}

    def show(self, report: Report) -> None:
        """Prints an interval."""
        spells = report.spells
        cookies: list[int] = spells.rows["after"]["cookie"].tolist()
        quiet: list[bool] = spells.quiet.tolist()
        anew = [at for at, cookie in enumerate(cookies) if not (quiet[at] and cookie in self._quiet)]
        said = self._quiet | {cookies[at]: f"{words[1:]}\n" for at, words in zip(anew, as_json(spells.some(anew)), strict=True)}
        self._quiet = {cookie: said[cookie] for cookie, nothing in zip(cookies, quiet, strict=True) if nothing}
        seconds: list[float] = (spells.wall_ns / 1e9).round(4).tolist()
        begins = {length: f'{{"time":{time.time():.3f},"seconds":{length},' for length in set(seconds)}
        parts = [part for cookie, length in zip(cookies, seconds, strict=True) for part in (begins[length], said[cookie])]
        parts += [json.dumps(stall_as_json(stall)) + "\n" for stall in report.stalls]
        sys.stdout.write("".join(parts))
        sys.stdout.flush()


class Table:
    """An interval as a table with the causes in words below, the most stalled first; for Rich's console.

    Lines are laid out here, since Rich's own tables and texts take as long as everything else together.

    Args:
        spells: of the interval.
        target: what is watched.
        elapsed: seconds since the watch began.
        height: lines there are; as many as needed if None.
        note: a line at the end.

    """

    def __init__(self, spells: Spells, target: str, elapsed: float, height: int | None, note: str = "") -> None:
        rows = spells.rows
        order: list[int] = np.lexsort((np.arange(len(spells)), -rows["busy_ns"], -(rows["stall_ns"] / spells.wall_ns).round(2))).tolist()
        # Two lines to explain each of the first few, and a line for each connection; rather fewer explained than fewer shown.
        free = len(order) + 3 * _MOST_EXPLAINED if height is None else max(height - _FRAME_LINES, 4)
        self._explained = min(_MOST_EXPLAINED, len(order), max(1, (free - min(len(order), free // 2)) // 3))
        self._shown = spells.some(order if height is None else order[: max(free - 3 * self._explained, 1)])
        self._heading = _heading(len(order), target, elapsed, int(rows["ended"].sum()))
        self._note = note
        self._more = len(order) - len(self._shown)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines(options.max_width):
            yield from (Segment(text, style) for text, style in line)
            yield Segment.line()

    def lines(self, width: int) -> Iterator[Line]:
        """As many characters wide."""
        yield from _wrapped(self._heading, len(self._heading), width)
        yield from (_cropped(line, width) for line in _grid(self._shown))
        if self._more:
            yield [(f"... and {self._more} that stalled less", _DIM)]
        for spell in self._shown[: self._explained]:
            name = title(spell)
            yield []
            yield from _wrapped(f"{name}: {spell.cause.says(spell.after)}", len(name) + 1, width)
            yield from _wrapped(f"  try: {spell.cause.advice(spell.after)}", 0, width)
        if self._note:
            yield [(self._note, _YELLOW)]


def _heading(count: int, target: str, elapsed: float, ended: int) -> str:
    gone = f", {ended} of them ended" if ended else ""
    return f"{counted(count, 'connection')} of {target}{gone}, after {f'{elapsed:.1f}'.removesuffix('.0')} s; % of the time"


def _grid(spells: Spells) -> Iterator[Line]:
    rows, wall = spells.rows, spells.wall_ns
    names = [each.name + (" (ended)" if ended else "") for each, ended in zip(spells.connections, rows["ended"].tolist(), strict=True)]
    width = min(max([len(name) for name in names] + [14]), _NAME_WIDTH)
    yield [("connection".ljust(width) + f"{'sends':>12} busy" + "".join(f"{name:>7}" for name, _ in _COLUMNS) + "  stall", _BOLD)]
    shares = rows["limited_ns"] / wall[:, None]
    parts = np.array([shares[:, [causes.NAMES.index(part) for part in parts]].sum(axis=1) for _, parts in _COLUMNS]).T
    # The application's share is no fault, so it is not the one that stands out.
    worst: list[int] = (1 + np.argmax(parts[:, 1:], axis=1)).tolist()
    # Shares of the time: busy, by cause, stalled.
    percent: list[list[float]] = (100 * np.column_stack([rows["busy_ns"] / wall, parts, rows["stall_ns"] / wall])).tolist()
    for name, bps, (busy, *by_cause, stall), at in zip(names, spells.sent_bps.tolist(), percent, worst, strict=True):
        cells = [f"{cell:7.0f}" for cell in by_cause]
        yield [
            (name.ljust(width) if len(name) <= width else name[: width - 1] + "…", _DIM if name.endswith(")") else _PLAIN),
            (f"{rate(bps):>12}{busy:5.0f}{''.join(cells[:at])}", _PLAIN),
            (cells[at], _RED if by_cause[at] > 100 * _ELSE else _PLAIN),
            ("".join(cells[at + 1 :]), _PLAIN),
            (f"{stall:7.0f}", _BOLD),
        ]


def _wrapped(words: str, bold: int, width: int) -> Iterator[Line]:
    """Text over as many lines as it needs, the first `bold` characters of it bold."""
    for text in textwrap.wrap(words, width, break_on_hyphens=False):
        yield [(text[:bold], _BOLD), (text[bold:], _PLAIN)]
        bold = max(bold - len(text) - 1, 0)


def _cropped(line: Line, width: int) -> Line:
    """A line as far as there is room."""
    kept: Line = []
    for text, style in line:
        kept.append((text if len(text) <= width else text[: max(width - 1, 0)] + "…"[:width], style))
        width -= len(kept[-1][0])
    return kept


def title(spell: Spell) -> str:
    """A connection with its process and what holds it back."""
    who = spell.connection
    process = f" ({who.process}, {who.pid})" if who.pid is not None else ""
    also = [
        f"{CAUSES[at].title} {_percent(share)} %"
        for at, share in enumerate(spell.limited_ns / max(spell.wall_ns, 1))
        if share > _ELSE and CAUSES[at] is not spell.cause and CAUSES[at].name in _COLUMNS[-1][1]
    ]
    return f"{who.name}{process}: {spell.cause.title} {_percent(spell.share(spell.cause.name))} %" + (
        f", {', '.join(also)}" if also else ""
    )


def as_json(spells: Spells) -> list[str]:
    """An object for each connection: times in seconds, shares of the interval's time, rates in bit/s."""
    rows, wall, who = spells.rows, spells.wall_ns, spells.connections
    now, before, found = rows["after"], rows["before"], spells.causes
    says, tries = causes.words(found, now)
    shares = (rows["limited_ns"] / wall[:, None]).round(4)
    return _objects({
        "connection": [each.name for each in who], "local": [each.local for each in who], "remote": [each.remote for each in who],
        "pid": [each.pid for each in who], "process": [each.process for each in who], "uid": now["uid"], "ended": rows["ended"],
        "busy": (rows["busy_ns"] / wall).round(4), "limited": {name: shares[:, at] for at, name in enumerate(causes.NAMES)},
        "stall_s": (rows["stall_ns"] / 1e9).round(4), "cause": [causes.NAMES[at] for at in found.tolist()], "says": says, "try": tries,
        "sent_bps": spells.sent_bps.round().astype(np.int64), "cc": [name.decode("ascii", "replace") for name in now["cc"].tolist()],
        "srtt_ms": now["srtt_us"] / 1e3, "min_rtt_ms": now["min_rtt_us"] / 1e3, "cwnd": now["cwnd"], "mss": now["mss_bytes"],
        "unacked": now["unacked"], "notsent_bytes": now["notsent_bytes"], "receive_window_bytes": now["snd_wnd_bytes"],
        "send_buffer_bytes": now["sndbuf_bytes"], "device_bytes": now["device_bytes"], "unread_bytes": now["rqueue"],
        "pacing_bps": now["pacing_rate"] * _BYTE, "delivery_bps": now["delivery_rate"] * _BYTE, "delivery_app_limited": (now["flags"] & 1) > 0,
        "retransmits": now["total_retrans"] - before["total_retrans"],
        "since_connected": {
            "busy_s": now["busy_us"] / 1e6, "rwnd_s": now["rwnd_limited_us"] / 1e6, "send_buffer_s": now["sndbuf_limited_us"] / 1e6,
            "retransmits": now["total_retrans"],
        },
    })  # fmt: skip


def _objects(columns: Mapping[str, Any]) -> list[str]:
    """JSON objects of columns, which may be such objects themselves. Numbers are the same in JSON and in Python."""
    template, values = _template(columns)
    return [template % row for row in zip(*values, strict=True)]


def _template(columns: Mapping[str, Any]) -> tuple[str, list[list[Any]]]:
    parts: list[str] = []
    values: list[list[Any]] = []
    for name, column in columns.items():
        if isinstance(column, Mapping):
            inner, more = _template(column)  # pyright: ignore[reportUnknownArgumentType]
        else:
            told: Any = column
            numbers = getattr(told, "dtype", np.bool_) != np.bool_
            inner, more = "%s", [told.tolist() if numbers else [_json(each) for each in told]]
        parts.append(f'"{name}":{inner}')
        values += more
    return "{" + ",".join(parts) + "}", values


@functools.lru_cache(1 << 14)
def _json(value: str | bool | int | None) -> str:
    """Few of these change from one interval to the next."""
    return json.dumps(bool(value) if isinstance(value, np.bool_) else value)


def stall_as_json(stall: Stall) -> dict[str, Any]:
    """An exact stall for programs; times in seconds since the watch began."""
    row = stall.as_row()
    return {"stall": row["flow"], "cause": row["cause"], "from_s": row["start_ns"] / 1e9, "to_s": row["end_ns"] / 1e9}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
