"""An animation as one SVG that moves by itself (SMIL), again and again: for a page of documentation or a slide, where no script runs.

Packets are pieces of one size here, which cross a link from when their transmission starts until their last bit is at its end; queues are bars.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from sawtooth.animation import still
from sawtooth.animation.film import Film, backlog
from sawtooth.animation.network import WIDTH, Line

_FALL_SECS = 0.6
_LONGEST = 14.0
_STYLE = """
.paper { fill: #fff; } .link { stroke: #c9d0d7; stroke-width: 2; } .host { fill: #1b1f24; } .router { fill: #5b6470; } .queue { fill: none; stroke: #c9d0d7; }
.name { fill: #5b6470; font: 13px system-ui, sans-serif; } .held { fill: #5b6470; } .time { fill: #0b6aa8; } .rail { fill: #e6eaee; }
.c0 { fill: #0072B2; } .c1 { fill: #D55E00; } .c2 { fill: #009E73; } .c3 { fill: #B85C98; } .c4 { fill: #B57900; } .c5 { fill: #3E94C8; }
.retransmission { stroke: #1b1f24; stroke-width: 2; } .fallen { stroke: #b42318; stroke-width: 2; } .marked { fill-opacity: .6; } .damaged { fill-opacity: .45; }
@media (prefers-color-scheme: dark) { .paper { fill: #14171a; } .link, .queue { stroke: #454d55; } .host { fill: #e4e7ea; } .router, .name, .held { fill: #a3abb5; } .rail { fill: #2a3036; } .retransmission { stroke: #e4e7ea; } }
"""


def drawing(film: Film, title: str, speed: float) -> str:
    """The whole file. In a second it shows `speed` seconds of the run; it pauses for a second before it begins again."""
    peak = still.peaks(film)
    begin = film.begin * 1e9
    total = (film.end - film.begin) / speed

    def at(time_ns: float) -> float:
        return (time_ns - begin) / 1e9 / speed

    height = film.network.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}" role="img" aria-labelledby="what">',
        f'<title id="what">{html.escape(title)}: {film.begin:.6g} to {film.end:.6g} s, 1 s shows {speed:g} s</title><style>{_STYLE}</style>',
        f'<rect class="paper" width="100%" height="100%"/>{still.standing(film.network, peak)}',
        f'<rect class="rail" x="0" y="{height - 6:g}" width="{WIDTH:g}" height="6"/><rect class="time" x="0" y="{height - 6:g}" width="0" height="6">'
        f'<animate id="all" attributeName="width" from="0" to="{WIDTH:g}" begin="0s;all.end+1s" dur="{total:.3f}s" fill="freeze"/></rect>',
        f'<text class="name" x="8" y="{height - 14:g}">{film.begin:.6g} s</text><text class="name" x="{WIDTH - 8:g}" y="{height - 14:g}" text-anchor="end">{film.end:.6g} s</text>',
    ]
    for number, line in enumerate(film.network.lines):
        for way, name in enumerate(("forward", "reverse")):
            parts.append(
                _bar(
                    line,
                    way,
                    peak[number][way],
                    [(at(time), held) for time, held in zip(*backlog(film.packets, number, name), strict=True)],
                    total,
                )
            )
    for row in film.packets.iter_rows(named=True):
        line: Line = film.network.lines[int(row["line"])]
        way = int(row["direction"] == "reverse")
        parts.append(
            _packet(
                line,
                way,
                row,
                {name: at(time) for name in ("dropped", "started", "sent", "delivered") if (time := row[f"{name}_ns"]) is not None},
                total,
                speed,
            )
        )
    return "\n".join([*(part for part in parts if part), "</svg>\n"])


def _bar(line: Line, way: int, peak: int, steps: list[tuple[float, int]], total: float) -> str:
    """A queue, whose height changes with what it holds."""
    if peak < 2:
        return ""
    x, y, up = still.queue_place(line, way)
    high = still.slice_height(line, peak)
    kept: list[tuple[float, int]] = [(0.0, 0)]
    for time, held in steps:
        share = max(0.0, time / total)
        if share >= 1:
            break
        kept = [*kept[:-1], (kept[-1][0], held)] if share - kept[-1][0] < 1e-4 else [*kept, (share, held)]
    times = ";".join(f"{share:.4f}" for share, _ in kept)
    heights = ";".join(f"{held * high:.1f}" for _, held in kept)
    turned = "" if up > 0 else f' transform="matrix(1 0 0 -1 0 {2 * y:.1f})"'
    change = (
        f'<animate attributeName="height" calcMode="discrete" values="{heights}" keyTimes="{times}" begin="all.begin" dur="{total:.3f}s"/>'
    )
    return f'<rect class="held" x="{x:.1f}" y="{y:.1f}" width="{still.QUEUE_WIDTH}" height="0"{turned}>{change}</rect>'


def _packet(line: Line, way: int, row: Mapping[str, Any], times: Mapping[str, float], total: float, speed: float) -> str:
    """A packet on its way, or as it falls; nothing while it waits."""
    look, thick = still.classes(row), still.THICK[row["kind"]]
    if row["dropped_ns"] is not None:
        x, y = still.point(line, way, min(still.QUEUE_FROM / (line.length or 1.0), 0.4))
        return _falls(look, (x, y), times["dropped"], total)
    if row["started_ns"] is None:
        return ""
    lost = row["fate"] == "lost"
    delay = line.ways[way][1] / speed if row["delivered_ns"] is None else times["delivered"] - times["sent"]
    begin, until = times["started"], times["started"] + delay / 2 if lost else times["delivered"]
    if row["delivered_ns"] is None and not lost:
        return ""
    sending = (row["sent_ns"] - row["started_ns"]) / 1e9 / speed
    long = max(still.SHORTEST, min(_LONGEST, line.length * sending / delay if delay > 0 else _LONGEST))
    points = still.point(line, way, 0.0), still.point(line, way, 0.5 if lost else 1.0)
    # What is under way when the stretch begins has a part of its way behind it.
    (x1, y1), (x2, y2) = points
    length = max(until - begin, 1e-3)
    if begin < 0:
        done = min(-begin / length, 1.0)
        x1, y1, begin = x1 + done * (x2 - x1), y1 + done * (y2 - y1), 0.0
        length = max(until, 1e-3)
    if begin >= total:
        return ""
    when = f'begin="all.begin+{begin:.3f}s" dur="{length:.3f}s"'
    moved = (
        f'<rect class="packet {look}" x="{-long / 2:.1f}" y="{-thick / 2:.1f}" width="{long:.1f}" height="{thick}" opacity="0">'
        f'<set attributeName="opacity" to="1" {when}/><animateMotion path="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" rotate="auto" {when}/></rect>'
    )
    return moved + (_falls(look, (x2, y2), until, total) if lost else "")


def _falls(look: str, place: tuple[float, float], time: float, total: float) -> str:
    if not 0 <= time < total:
        return ""
    x, y = place
    when = f'begin="all.begin+{time:.3f}s" dur="{_FALL_SECS}s"'
    return (
        f'<rect class="fallen {look}" x="-4" y="-4" width="8" height="8" opacity="0"><set attributeName="opacity" to="1" {when}/>'
        f'<animateMotion path="M{x:.1f} {y:.1f}l0 {still.FALL:g}" {when}/></rect>'
    )
