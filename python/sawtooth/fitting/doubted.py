"""What is left of a bottleneck where packets that were sent together did not arrive at one rate.

Such packets leave a queue one after the other, at the rate of its link, and nobody comes between. Where they do not arrive so, something else held them or their acknowledgements: hosts that had other things to do,
mostly. What that took cannot be told from the time in the queue, and can only add to it. So a queue may have been shorter than round trips say, at all times, and what was lost where it looks
short of full may have found it full.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sawtooth.fitting.packets import Packets
from sawtooth.fitting.path import Estimate, Path, around, marked, queued_packets
from sawtooth.stats import share

_MOSTLY = 0.75
"""Of packets that were sent: a loss is usually of chance if the queue that it met, in the middle, was no longer than what so many of all met."""
_FRACTION = 0.5
"""Of a packet, by which a queue may seem longer than it is."""
_WHY = "packets that were sent together did not arrive at one rate"


def doubted(seen: Packets, found: Path) -> Path:
    """The bottleneck with a buffer that cannot be told, and a loss of which all may have been the queue's.

    A study needs a buffer and a loss still. Where packets were mostly lost when the queue was long, it has no loss, and room for what was queued then, in the middle: some of these
    round trips are of hosts that were late, and most are not. Otherwise it has what it would have without the doubt.
    """
    assert found.rate_bps.value is not None
    queued = queued_packets(seen, found.rate_bps.value, found.floor_s)
    lost, sent = (around(seen, queued, times, found.rate_bps.value) for times in (seen.lost, seen.sent))
    lost, sent = lost[np.isfinite(lost)], sent[np.isfinite(sent)]
    may_overflow = lost.size > 0 and float(np.median(lost)) > float(np.quantile(sent, _MOSTLY))
    usual = found.buffer_packets.value or 2 * found.buffer_packets.low
    return replace(
        found,
        buffer_packets=Estimate(
            None, 1.0, math.inf, f"cannot tell: {_WHY}, so what looks as if it was queued may have waited at a busy host"
        ),
        loss=_loss(seen, found, may_overflow=may_overflow),
        not_drop_tail=marked(seen),
        assumed_packets=math.ceil(float(np.median(lost)) - _FRACTION) if may_overflow else usual,
    )


def _loss(seen: Packets, found: Path, *, may_overflow: bool) -> Estimate:
    """Of all that was sent; nothing of it is surely chance."""
    count, of = len(found.lost), seen.sent.size
    if count == 0:
        return found.loss
    most = max(share(count, of).high, found.loss.high)
    if may_overflow:
        why = f"cannot tell: {_WHY}, so all of the {count} of {of} packets that were lost may have found the queue full"
        return Estimate(None, 0.0, most, why)
    return replace(found.loss, low=0.0, high=most, why=f"{found.loss.why}; {_WHY}, so all may have found it full")
