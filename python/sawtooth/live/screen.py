"""What a terminal or a program gets to see of an interval."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from sawtooth.live import causes
from sawtooth.live.causes import CAUSES, rate
from sawtooth.live.exact import Stall
from sawtooth.live.session import Report
from sawtooth.live.watch import Connection, Spell, Spells

# Columns by cause; rare ones share the last.
_COLUMNS = (("app", ("source",)), ("rwnd", ("rwnd",)), ("sndbuf", ("send_buffer",)), ("cwnd", ("cwnd",)), ("pacing", ("pacing",)),
            ("else", ("nagle", "recovery", "rto", "device")))  # fmt: skip
_ELSE = 0.05
_FRAME_LINES = 4
_NAME_WIDTH = 44
_MOST_EXPLAINED = 6
_BYTE = np.uint64(8)


@contextlib.contextmanager
def output(target: str, *, as_json: bool) -> Generator[Callable[[Report], None]]:
    """What shows a report: lines of JSON, a table that is refreshed in place, or one table after another where there is no terminal."""
    if as_json:
        yield _Lines().show
        return
    console = _console()
    if not console.is_terminal:
        yield lambda report: console.print(table(report.spells, target, report.elapsed, None, report.note), "")
        return
    waiting = Text(f"watching {target} ...", style="dim")
    with Live(waiting, console=console, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
        yield lambda report: live.update(table(report.spells, target, report.elapsed, console.height - 1, report.note), refresh=True)


def print_totals(totals: Spells, target: str) -> None:
    """Prints what the whole watch saw."""
    elapsed = float(totals.rows["end_ns"].max() - totals.rows["start_ns"].min()) / 1e9
    _console().print(Text("The whole watch", style="bold underline"), table(totals, target, elapsed, None))


def _console() -> Console:
    # A pipe gets whole lines.
    return Console() if sys.stdout.isatty() else Console(width=120)


class _Lines:
    """Reports as lines of JSON. Who the connections are is looked up when they change."""

    def __init__(self) -> None:
        self._connections: list[Connection] = []
        self._who = pl.DataFrame()

    def show(self, report: Report) -> None:
        """Prints an interval."""
        if report.spells:
            if report.spells.connections is not self._connections:
                self._connections, self._who = report.spells.connections, _identities(report.spells.connections)
            sys.stdout.write(as_json(report.spells, self._who))
        sys.stdout.write("".join(json.dumps(stall_as_json(stall)) + "\n" for stall in report.stalls))
        sys.stdout.flush()


def _identities(who: Sequence[Connection]) -> pl.DataFrame:
    """What of a line stays the same as long as its connection."""
    return pl.DataFrame({
        "connection": [each.name for each in who], "local": [each.local for each in who], "remote": [each.remote for each in who],
        "pid": pl.Series([each.pid for each in who], dtype=pl.Int64),
        "process": pl.Series([each.process for each in who], dtype=pl.String),
        "uid": [each.uid for each in who],
    })  # fmt: skip


def table(spells: Spells, target: str, elapsed: float, height: int | None, note: str = "") -> RenderableType:
    """An interval as a table with the causes in words below, the most stalled first.

    Args:
        spells: of the interval.
        target: what is watched.
        elapsed: seconds since the watch began.
        height: lines there are; as many as needed if None.
        note: a line at the end.

    """
    rows = spells.rows
    order: list[int] = np.lexsort((np.arange(len(spells)), -rows["busy_ns"], -(rows["stall_ns"] / spells.wall_ns).round(2))).tolist()
    # Two lines to explain each of the first few, and a line for each connection; rather fewer explained than fewer shown.
    free = len(order) + 3 * _MOST_EXPLAINED if height is None else max(height - _FRAME_LINES, 4)
    explained = min(_MOST_EXPLAINED, len(order), max(1, (free - min(len(order), free // 2)) // 3))
    shown = [spells[at] for at in (order if height is None else order[: max(free - 3 * explained, 1)])]
    parts: list[RenderableType] = [_heading(len(order), target, elapsed, int(rows["ended"].sum())), _grid(shown)]
    if len(shown) < len(order):
        parts.append(Text(f"... and {len(order) - len(shown)} that stalled less", style="dim"))
    parts += [_explanation(spell) for spell in shown[:explained]]
    if note:
        parts.append(Text(note, style="yellow"))
    return Group(*parts)


def _heading(count: int, target: str, elapsed: float, ended: int) -> Text:
    gone = f", {ended} of them ended" if ended else ""
    return Text(f"{count} connection{'' if count == 1 else 's'} of {target}{gone}, after {elapsed:.0f} s; % of the time", style="bold")


def _grid(spells: Sequence[Spell]) -> Text:
    """The lines of the table: laid out here, since Rich's tables take as long as everything else together."""
    names = [spell.connection.name + (" (ended)" if spell.ended else "") for spell in spells]
    width = min(max([len(name) for name in names] + [14]), _NAME_WIDTH)
    made = Text(no_wrap=True, overflow="ellipsis")
    made.append("connection".ljust(width) + f"{'sends':>12} busy" + "".join(f"{name:>7}" for name, _ in _COLUMNS) + "  stall", style="bold")
    for spell, name in zip(spells, names, strict=True):
        cells = [sum(spell.share(part) for part in parts) for _, parts in _COLUMNS]
        # The application's share is no fault, so it is not the one that stands out.
        worst = max(range(1, len(cells)), key=lambda at: cells[at])
        short = name if len(name) <= width else name[: width - 1] + "…"
        made.append("\n" + short.ljust(width), style="dim" if spell.ended else "")
        made.append(f"{rate(spell.sent_bps):>12}{_percent(spell.busy_ns / max(spell.wall_ns, 1)):>5}")
        for at, cell in enumerate(cells):
            made.append(f"{_percent(cell):>7}", style="red" if at == worst and cell > _ELSE else "")
        made.append(f"{_percent(spell.stall_ns / max(spell.wall_ns, 1)):>7}", style="bold")
    return made


def _explanation(spell: Spell) -> Text:
    return Text.assemble(
        (f"\n{title(spell)}: ", "bold"), spell.cause.says(spell.after), ("\n  try: ", "dim"), spell.cause.advice(spell.after)
    )  # fmt: skip


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


def as_json(spells: Spells, who: pl.DataFrame) -> str:
    """A line for each connection: times in seconds, shares of the interval's time, rates in bit/s; `who` they are goes to the front."""
    rows, wall = spells.rows, spells.wall_ns
    now, before, found = rows["after"], rows["before"], spells.causes
    says, tries = causes.words(found, now)
    limited = pl.from_numpy((rows["limited_ns"] / wall[:, None]).round(4), schema=list(causes.NAMES))
    since = pl.DataFrame({
        "busy_s": now["busy_us"] / 1e6, "rwnd_s": now["rwnd_limited_us"] / 1e6, "send_buffer_s": now["sndbuf_limited_us"] / 1e6,
        "retransmits": now["total_retrans"],
    })  # fmt: skip
    columns: dict[str, Any] = {
        "ended": rows["ended"],
        "seconds": (wall / 1e9).round(4), "busy": (rows["busy_ns"] / wall).round(4), "limited": limited.to_struct(),
        "stall_s": (rows["stall_ns"] / 1e9).round(4), "cause": pl.Series(causes.NAMES).gather(found), "says": says, "try": tries,
        "sent_bps": spells.sent_bps.round().astype(np.int64), "cc": [name.decode("ascii", "replace") for name in now["cc"].tolist()],
        "srtt_ms": now["srtt_us"] / 1e3, "min_rtt_ms": now["min_rtt_us"] / 1e3, "cwnd": now["cwnd"], "mss": now["mss_bytes"],
        "unacked": now["unacked"], "notsent_bytes": now["notsent_bytes"], "receive_window_bytes": now["snd_wnd_bytes"],
        "send_buffer_bytes": now["sndbuf_bytes"], "device_bytes": now["device_bytes"], "unread_bytes": now["rqueue"],
        "pacing_bps": now["pacing_rate"] * _BYTE, "delivery_bps": now["delivery_rate"] * _BYTE, "delivery_app_limited": (now["flags"] & 1) > 0,
        "retransmits": now["total_retrans"] - before["total_retrans"], "since_connected": since.to_struct(),
    }  # fmt: skip
    when = pl.DataFrame({"time": np.full(len(spells), round(time.time(), 3))})
    return when.hstack(who.get_columns()).hstack(pl.DataFrame(columns).get_columns()).write_ndjson()


def stall_as_json(stall: Stall) -> dict[str, Any]:
    """An exact stall for programs; times in seconds since the watch began."""
    row = stall.as_row()
    return {"stall": row["flow"], "cause": row["cause"], "from_s": row["start_ns"] / 1e9, "to_s": row["end_ns"] / 1e9}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
