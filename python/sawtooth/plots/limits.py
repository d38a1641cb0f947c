"""What held a connection back over time: shares of every interval, stacked, above its goodput."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from sawtooth.plots.style import COLOURS, figure
from sawtooth.stats import Vector

# One colour per cause, the same in every figure; those that are no fault of anything are grey.
_COLOURS = {
    "application": "#DDDDDD", "network card": "#999999", "receive window": COLOURS[0], "send buffer": COLOURS[1], "congestion window": COLOURS[2],
    "pacing": COLOURS[3], "partial segment": COLOURS[4], "loss recovery": COLOURS[5], "timeout": "#000000",
}  # fmt: skip
_VISIBLE = 0.01


def over_time(begins: Vector, ends: Vector, shares: Mapping[str, Vector], goodput_mbps: Vector, title: str) -> Figure:
    """Bars of the intervals from `begins` to `ends` (s), each of shape (n,), as the shares, by cause in words, and the goodput."""
    made, (upper, lower) = figure(7.0, 3.4, rows=2, share_x=True, heights=(2, 1))
    bottom = np.zeros(len(begins))
    for cause, share in shares.items():
        if float(share.sum()) > 0:
            # What is too little to be seen in any interval is drawn, and not named.
            label = cause if float(share.max()) > _VISIBLE else "_nolegend_"
            upper.bar(begins, share, ends - begins, bottom, align="edge", color=_COLOURS[cause], label=label, linewidth=0)
            bottom = bottom + share
    upper.set_title(title)
    upper.set_ylabel("share of the time")
    upper.set_ylim(0, 1)
    upper.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, reverse=True)
    lower.stairs(goodput_mbps, np.append(begins, ends[-1]), color=COLOURS[0], baseline=None)
    lower.set_ylim(0, max(1.1 * float(goodput_mbps.max()), 1e-3))
    lower.set_ylabel("goodput\n(Mbit/s)")
    lower.set_xlabel("time since the watch began (s)")
    return made
