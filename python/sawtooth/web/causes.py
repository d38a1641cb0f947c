"""Why a flow had a loss episode: what befell the packets that it was about, and at which link.

An episode is about what was sent before it began and had not been acknowledged (RFC 6675 §5: up to RecoveryPoint), and about what is sent again in it. What is new and lost
while it lasts is found by the next one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

_WORDS = {"dropped": "dropped by the queue of", "lost": "lost on the wire of", "marked": "marked by the queue of"}
NOTHING = "nothing was lost"
"""Where a sender took what came late, or in another order, for a loss."""


def sent(packets: pl.DataFrame) -> pl.DataFrame:
    """Rows of the table `packets` with `sent_by_flow_ns`: when each copy of a segment came to the first link of its flow, which is when it was sent."""
    packets = packets.sort("arrived_ns", maintain_order=True)
    # What a flow's first packet came to first is its first link.
    first = packets.filter(pl.col("kind") == "data").group_by("flow", maintain_order=True).agg(pl.col("link", "direction").first())
    copies = packets.filter(pl.col("kind") == "data").join(first, on=["flow", "link", "direction"], how="semi", maintain_order="left")
    copies = copies.select("flow", "number", "arrived_ns", sent_by_flow_ns="arrived_ns")
    return packets.join_asof(copies, on="arrived_ns", by=["flow", "number"], check_sortedness=False)


def told(episodes: Sequence[Mapping[str, Any]], packets: pl.DataFrame | None) -> list[list[str]]:
    """Of each episode what befell the flow's data, in words, the most first.

    Args:
        episodes: `flow`, `start` and `end` (s, None if it was not over), `cause`; those of a flow in the order of time.
        packets: rows that `sent` made, with all that were dropped, lost or marked; None if that is not known.

    """
    if packets is None:
        return [[] for _ in episodes]
    of_flows: dict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(episodes):
        of_flows[each["flow"]].append(at)
    found = [Counter[tuple[str, str]]() for _ in episodes]
    what = pl.when(pl.col("fate").is_in(["dropped", "lost"])).then("fate").otherwise(pl.lit("marked"))
    data = packets.filter(pl.col("kind") == "data").select("flow", what, "link", "retransmission", pl.col("sent_by_flow_ns") * 1e-9)
    edges = {flow: ([episodes[at]["start"] for at in ats], [_end(episodes[at]) for at in ats]) for flow, ats in of_flows.items()}
    for flow, befell, link, again, when in data.iter_rows():
        if flow not in of_flows:
            continue
        starts, ends = edges[flow]
        which = bisect_left(ends, when) if again else bisect_right(starts, when)
        # To a mark answers who was told of it, and nobody else.
        if which < len(starts) and (befell != "marked" or episodes[of_flows[flow][which]]["cause"] == "ecn"):
            found[of_flows[flow][which]][befell, link] += 1
    return [[f"{number:,} {_WORDS[what]} {link}" for (what, link), number in each.most_common()] or [NOTHING] for each in found]


def _end(episode: Mapping[str, Any]) -> float:
    return float("inf") if episode["end"] is None else episode["end"]
