"""Swim lanes: each packet is a line from layer to layer, down one host, over the wire and up the other, over time."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure

LAYERS = ("application", "socket", "tcp", "driver", "wire")
_KINDS = {"data": (COLOURS[0], "data"), "ack": (COLOURS[1], "acknowledgement")}


def layers(events: pl.DataFrame, title: str) -> Figure:
    """Lanes of the writing host above, of the reading one below.

    Args:
        events: rows of the table `layers` of one flow, in order of time.
        title: in one line.

    """
    writer = events.filter((pl.col("layer") == "application") & (pl.col("event") == "write"))["host"]
    sender = writer[0] if len(writer) else events["host"][0]
    hosts = [sender, *(host for host in events["host"].unique(maintain_order=True) if host != sender)]
    lanes = [(hosts[0], layer) for layer in LAYERS] + [(host, layer) for host in hosts[1:] for layer in reversed(LAYERS)]
    place = {lane: at for at, lane in enumerate(lanes)}
    made, (axis,) = figure(9, 0.42 * len(lanes) + 1.0)
    shown: set[str] = set()
    for _, packet in events.filter(pl.col("packet") >= 0).group_by("packet", maintain_order=True):
        # The report of its transmission comes while it is on its way: a line through it would go back.
        way = packet.filter(pl.col("event") != "transmitted")
        colour, name = _KINDS.get(str(way["kind"][0]), (COLOURS[2], "other")) if way.height else (COLOURS[2], "other")
        heights = [place[host, layer] for host, layer in way.select("host", "layer").rows()]
        label = name if name not in shown else "_"
        shown.add(name)
        axis.plot((way["t_ns"] / 1e3).to_list(), heights, color=colour, linewidth=0.9, marker=".", markersize=3, label=label)
    alone = events.filter(pl.col("packet") < 0)
    heights = [place[host, layer] for host, layer in alone.select("host", "layer").rows()]
    axis.plot((alone["t_ns"] / 1e3).to_list(), heights, "|", color="black", markersize=7, label="application and socket")
    axis.set_yticks(range(len(lanes)), [f"{host}: {layer}" for host, layer in lanes])
    axis.invert_yaxis()
    axis.set_xlabel("time [µs]")
    axis.set_title(title, loc="left", fontsize=8)
    made.legend(loc="outside upper right", ncols=3, frameon=False, fontsize=8)
    return made
