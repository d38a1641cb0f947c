"""The traffic of others at the bottleneck: how much, when, and of what kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from sawtooth.fitting.packets import Packets
from sawtooth.fitting.path import Estimate, Path, path
from sawtooth.fitting.steps import Kind, Step, kind, steps, stretches
from sawtooth.fitting.unexplained import Between, between, contradicts, highest_rate

_FEWEST_BUSY = 0.02
"""Of the link's rate: less than that is told as none."""
_ABOVE, _BELOW, _LEAST, _MOST = 0.7, 0.6, 0.02, 0.08
"""Of what is between the mean and what it is at most and at least, its interval has these shares, within these shares of the rate: so that it was right of what was drawn for training."""
_MOST_CONNECTIONS = 20


@dataclass(frozen=True)
class Cross:
    """The traffic of others.

    Attributes:
        rate_bps: the mean over the capture, of IP packets that the link transmitted; 0 if there is none.
        kind: what it is like; its name is "none" if there is none, and empty if that cannot be told.
        steps: the rate over time, in steps; none if there is no other traffic.
        fine: the same in short stretches of one length, with which a simulation repeats it.
        connections: how many like the flow would take so much; 0 if there is no other traffic.
        contradicted: whether arrivals contradict that one queue with one rate sends the packets.

    """

    rate_bps: Estimate
    kind: Kind
    steps: list[Step] = field(default_factory=list[Step])
    fine: list[Step] = field(default_factory=list[Step])
    connections: int = 0
    contradicted: bool = False


def shared(seen: Packets, alone: Path) -> tuple[Path, Cross]:
    """The bottleneck and the traffic of others at it.

    Args:
        seen: the flow.
        alone: the bottleneck, if nobody else is there.

    """
    assert alone.rate_bps.value is not None
    rate = highest_rate(seen, alone.rate_bps.value)
    if rate.value is None:
        why = f"cannot tell: {rate.why}"
        return alone, Cross(Estimate(None, 0.0, math.inf, why), Kind("", why), contradicted=contradicts(rate))
    found = path(seen, rate)
    dropped = np.array(sorted(set(found.lost) - set(found.strays)), dtype=np.int64)
    came = between(seen, rate.value, found.floor_s, dropped)
    if came is None:
        why = "cannot tell: too few round trips"
        return alone, Cross(Estimate(None, 0.0, rate.value, why), Kind("", why))
    share, least, greatest = (float(np.sum(what)) / came.seconds for what in (came.busy, came.met, came.met + came.idle))
    if share < _FEWEST_BUSY:
        why = f"none: what was queued is what the flow had sent, but for {max(share, 0.0):.2%} of the link's time"
        return alone, Cross(Estimate(0.0, 0.0, max(_FEWEST_BUSY, share) * rate.value, why), Kind("none", why))
    low = share - min(max(_BELOW * (share - least), _LEAST), _MOST)
    high = share + min(max(_ABOVE * (greatest - share), _LEAST), _MOST)
    why = f"what the queue had to do besides the flow's own packets, {share:.1%} of the link's time"
    mean = Estimate(share * rate.value, max(low, 0.0) * rate.value, min(high, 1.0) * rate.value, why)
    sending = 8 * seen.packet / rate.value
    levels = steps(came, share, sending)
    told = kind(came, levels, sending)
    return found, Cross(
        mean,
        told,
        [step.times(rate.value) for step in levels],
        [step.times(rate.value) for step in stretches(came, share, sending)],
        _connections(seen, came, told.began_s, rate.value),
    )


def _connections(seen: Packets, came: Between, began_s: float, rate_bps: float) -> int:
    """Connections that would share the link with the flow as the others did, if each took as much as it."""
    own = float(np.sum((seen.sent >= began_s) & (seen.sent <= came.until[-1]))) * 8 * seen.packet / rate_bps
    theirs = float(came.over(np.array([began_s, came.until[-1]]), came.busy)[0])
    return int(np.clip(round(theirs / max(own, 1e-9)), 1, _MOST_CONNECTIONS))
