"""Swim lanes: each packet is a line from layer to layer, down one host, over the wire and up the other, over time."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure

LAYERS = ("application", "socket", "tcp", "driver", "wire")
_KINDS = {"data": (COLOURS[0], "data"), "ack": (COLOURS[1], "acknowledgement")}
_LAST = ("black", "the message's last byte")
_STALLS = {"window": COLOURS[4], "partial": COLOURS[3], "memory": COLOURS[2]}
# Beyond so many packets their lines are thin and have no dots: more would be a blot.
_MANY = 40
_MARGIN = 0.02
_TITLE_LETTERS = 135


def layers(
    events: pl.DataFrame,
    packets: pl.DataFrame,
    stalls: pl.DataFrame,
    span: tuple[int, int],
    origin: int,
    title: Sequence[str],
    message: Mapping[str, object] | None = None,
) -> Figure:
    """Lanes of the writing host above, of the reading one below.

    Args:
        events: rows of the table `layers` of one flow, in order of time.
        packets: those that are drawn, as `sawtooth.measures.layers.packets`.
        stalls: intervals in which the sending socket waits, from_ns, to_ns and cause; bands from its lane to TCP's.
        span: from and to, ns.
        origin: from when on time is told, ns.
        title: its lines.
        message: the row of one, as `sawtooth.measures.layers.messages`: the way of its last byte is drawn above all others.

    """
    divisor, unit = (1e3, "µs") if span[1] - span[0] < 20e6 else (1e6, "ms") if span[1] - span[0] < 20e9 else (1e9, "s")
    writer = events.filter((pl.col("layer") == "application") & (pl.col("event") == "write"))["host"]
    sender = writer[0] if len(writer) else events["host"][0]
    hosts = [sender, *(host for host in events["host"].unique(maintain_order=True) if host != sender)]
    lanes = [(hosts[0], layer) for layer in LAYERS] + [(host, layer) for host in hosts[1:] for layer in reversed(LAYERS)]
    place = {lane: at for at, lane in enumerate(lanes)}
    made, (axis,) = figure(9, 0.42 * len(lanes) + 1.1)
    width, marker = (0.9, ".") if packets.height <= _MANY else (0.5, "")
    above = {row["packet"]: row for row in packets.iter_rows(named=True)}
    last = message.get("packet") if message else None
    shown: set[str] = set()
    # The report of its transmission comes while it is on its way: a line through it would go back.
    drawn = events.filter(pl.col("event") != "transmitted").join(packets.select("packet"), on="packet", how="semi", maintain_order="left")
    for (number,), way in drawn.group_by("packet", maintain_order=True):
        colour, name = _KINDS.get(str(way["kind"][0]), (COLOURS[2], "other"))
        points: list[tuple[str, str, int | None]] = list(way.select("host", "layer", "t_ns").iter_rows())
        own = above[number]
        if number == last and message is not None:
            colour, name = _LAST
            points.insert(0, (hosts[0], "socket", own["copied"]))
            points.insert(0, (hosts[0], "application", int(str(message["write"]))))
        elif own["copied"] is not None and points[0][1] == "tcp":
            points.insert(0, (hosts[0], "socket", own["copied"]))
        if own["readable"] is not None:
            points += [(points[-1][0], "socket", own["readable"]), (points[-1][0], "application", own["read"])]
        known = [(host, layer, time) for host, layer, time in points if time is not None]
        label = name if name not in shown else "_"
        shown.add(name)
        above_all = name == _LAST[1]
        axis.plot([(time - origin) / divisor for *_, time in known], [place[host, layer] for host, layer, _ in known], color=colour, label=label,
                  linewidth=1.8 if above_all else width, marker="." if above_all else marker, markersize=3, zorder=3 if above_all else 2)  # fmt: skip
    alone = events.filter(pl.col("packet").is_null(), pl.col("t_ns").is_between(*span))
    if alone.height:
        heights = [place[host, layer] for host, layer in alone.select("host", "layer").rows()]
        axis.plot(((alone["t_ns"] - origin) / divisor).to_list(), heights, "|", color="black", markersize=7, markeredgewidth=0.7,
                  label="application and socket")  # fmt: skip
    for (cause,), waits in stalls.group_by("cause", maintain_order=True):
        at = [((begin - origin) / divisor, (end - begin) / divisor) for begin, end in waits.select("from_ns", "to_ns").iter_rows()]
        band = (place[sender, "socket"], place[sender, "tcp"] - place[sender, "socket"])
        axis.broken_barh(at, band, color=_STALLS.get(str(cause), COLOURS[5]), alpha=0.35, linewidth=0, zorder=1, label=f"stall: {cause}")
    axis.set_yticks(range(len(lanes)), [f"{host}: {layer}" for host, layer in lanes])
    axis.invert_yaxis()
    margin = max(_MARGIN * (span[1] - span[0]), 1.0)
    axis.set_xlim((span[0] - origin - margin) / divisor, (span[1] - origin + margin) / divisor)
    axis.set_xlabel(f"time since the write ({unit})" if message else f"time ({unit})")
    axis.set_title("\n".join(textwrap.fill(line, _TITLE_LETTERS) for line in title if line), loc="left", fontsize=8)
    made.legend(loc="outside upper right", ncols=4, frameon=False, fontsize=8)
    return made
