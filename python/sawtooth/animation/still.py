"""A moment of an animation as SVG: what stands still, and the packets where they are; colours are classes, of which pages and files say what they mean."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from sawtooth.animation.film import Film, Place, backlog, place
from sawtooth.animation.network import WIDTH, Line, Network

LANE = 5.0
"""How far from a link's line its packets are: data above it where it goes to the right, what comes back below."""
QUEUE_FROM, QUEUE_WIDTH, SLICE = 16.0, 10.0, 5.0
"""From the node to the queue, and its width; the most that one packet is high."""
THICK = {"data": 7.0, "datagram": 7.0, "ack": 3.5}
SHORTEST, RIM = 4.0, 4.0
"""The shortest bar; by how much wider the line is that is seen behind a retransmission."""
FALL = 46.0
"""How far what is dropped is seen to fall."""
COLOURS = 6
_LABELLED = 30.0
"""Links with so much room for their queue have room for their names, too."""
_LONGEST_NAME = 12


def point(line: Line, way: int, share: float) -> tuple[float, float]:
    """Where a packet of one direction is that has covered this share of the way."""
    x, y = line.at(1.0 - share if way else share)
    length = line.length or 1.0
    across = (line.y2 - line.y1) / length, (line.x2 - line.x1) / length
    side = 1.0 if way else -1.0
    return x - side * LANE * across[0], y + side * LANE * across[1]


def queue_place(line: Line, way: int) -> tuple[float, float, float]:
    """Left edge of a queue, where it begins, and whether it grows upwards (-1) or downwards (1)."""
    share = min(QUEUE_FROM / (line.length or 1.0), 0.4)
    x, y = point(line, way, share)
    return x - QUEUE_WIDTH / 2, y + (LANE if way else -LANE), 1.0 if way else -1.0


def peaks(film: Film) -> list[list[int]]:
    """Of each line and direction the most packets that wait at once."""
    return [[max(backlog(film.packets, at, way)[1], default=0) for way in ("forward", "reverse")] for at in range(len(film.network.lines))]


def slice_height(line: Line, peak: int) -> float:
    """How high one packet is in a queue that never has more than `peak`."""
    return min(SLICE, line.room / max(peak, 1))


def standing(network: Network, peak: list[list[int]]) -> str:
    """Links, nodes, outlines of queues, names."""
    parts: list[str] = []
    for line, most in zip(network.lines, peak, strict=True):
        parts.append(
            f'<line class="link" x1="{line.x1:.1f}" y1="{line.y1:.1f}" x2="{line.x2:.1f}" y2="{line.y2:.1f}"><title>{_told(line)}</title></line>'
        )
        for way, held in enumerate(most):
            if held > 1:
                x, y, up = queue_place(line, way)
                high = slice_height(line, held) * held
                parts.append(f'<rect class="queue" x="{x:.1f}" y="{min(y, y + up * high):.1f}" width="{QUEUE_WIDTH}" height="{high:.1f}"/>')
        if line.room >= _LABELLED:
            x, y = line.at(0.5)
            parts.append(f'<text class="name" x="{x:.1f}" y="{y + 26:.1f}" text-anchor="middle">{_told(line)}</text>')
    for node in network.nodes:
        host = bool(node.sends or node.receives)
        parts.append(f'<circle class="{"host" if host else "router"}" cx="{node.x:.1f}" cy="{node.y:.1f}" r="{6 if host else 8}"/>')
        if node.label:
            left = bool(node.sends)
            name = node.label if len(node.label) <= _LONGEST_NAME else f"{node.label[: _LONGEST_NAME - 1]}…"
            anchor, x = ("end", node.x - 11) if left else ("start", node.x + 11)
            parts.append(
                f'<text class="name" x="{x:.1f}" y="{node.y + 4:.1f}" text-anchor="{anchor}">{html.escape(name)}<title>{html.escape(node.label)}</title></text>'
            )
    return "\n".join(parts)


def _told(line: Line) -> str:
    rate, delay = line.ways[0]
    amount, unit = next(
        (rate / scale, name)
        for scale, name in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
        if rate >= scale or scale == 1
    )
    return html.escape(f"{line.name}: {amount:g} {unit}, {delay * 1e3:g} ms")


def moving(film: Film, now_ns: float, fall_ns: float) -> str:
    """The packets of a moment."""
    parts: list[str] = []
    waiting: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    peak = peaks(film)
    # Packets that came later, and those that went before what falls now, need not be looked at.
    rows = film.packets.filter(pl.col("arrived_ns") <= now_ns)
    for row in rows.iter_rows(named=True):
        line: Line = film.network.lines[int(row["line"])]
        way = int(row["direction"] == "reverse")
        where = place(row, now_ns, line.ways[way][1] * 1e9, fall_ns)
        if where is None:
            continue
        if where.phase == "waits":
            waiting.setdefault((row["line"], way), []).append(row)
        elif where.phase == "moves":
            parts.append(bar(line, way, where, row))
        else:
            parts.append(falling(line, way, where, row))
    for (at, way), rows_there in waiting.items():
        parts += stack(film.network.lines[at], way, rows_there, peak[at][way])
    return "\n".join(parts)


def classes(row: Mapping[str, Any]) -> str:
    """What a packet looks like."""
    words = [f"c{row['of'] % COLOURS}", row["kind"]]
    words += [word for word in ("retransmission", "marked") if row[word]]
    return " ".join([*words, *(["damaged"] if row["fate"] == "damaged" else [])])


def bar(line: Line, way: int, where: Place, row: Mapping[str, Any]) -> str:
    """A packet on a link."""
    (x1, y1), (x2, y2) = ends(line, way, where)
    thick, place_there = THICK[row["kind"]], f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    rim = f'<line class="again" {place_there} stroke-width="{thick + RIM}"/>' if row["retransmission"] else ""
    return f'{rim}<line class="packet {classes(row)}" {place_there} stroke-width="{thick}"/>'


def ends(line: Line, way: int, where: Place) -> tuple[tuple[float, float], tuple[float, float]]:
    """The back and the front of a packet on a link, which is never too short to be seen."""
    least = SHORTEST / (line.length or 1.0)
    front = max(where.front, min(where.back + least, 1.0))
    return point(line, way, min(where.back, front - least if front >= least else 0.0)), point(line, way, front)


def falling(line: Line, way: int, where: Place, row: Mapping[str, Any]) -> str:
    """A packet that is lost."""
    x, y = point(line, way, where.back or min(QUEUE_FROM / (line.length or 1.0), 0.4))
    fade = f' opacity="{1 - 0.7 * where.front:.2f}"'
    return f'<rect class="fallen {classes(row)}" x="{x - 4:.1f}" y="{y - 4 + FALL * where.front:.1f}" width="8" height="8"{fade}/>'


def stack(line: Line, way: int, rows: Iterable[Mapping[str, Any]], peak: int) -> list[str]:
    """Packets that wait, the next to leave at the link."""
    x, y, up = queue_place(line, way)
    high = slice_height(line, peak)
    order = sorted(rows, key=lambda row: (row["started_ns"] is None, row["started_ns"] or 0, row["arrived_ns"]))
    return [
        f'<rect class="waits {classes(row)}" x="{x:.1f}" y="{min(y + up * at * high, y + up * (at + 1) * high):.2f}" width="{QUEUE_WIDTH}" height="{high:.2f}"/>'
        for at, row in enumerate(order)
    ]


def picture(film: Film, inside: str) -> str:
    """The drawing that has this in it."""
    return f'<svg id="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {film.network.height:g}" role="img" aria-labelledby="what">{inside}</svg>'
