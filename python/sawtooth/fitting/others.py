"""The traffic of others as sources of a scenario."""

from __future__ import annotations

from typing import Any

from sawtooth.fitting.cross import Cross
from sawtooth.fitting.steps import Step

_NAME = "others"
_LEAST = 0.05
"""Of the mean: a step with less has no source."""


def repeated(cross: Cross) -> list[dict[str, Any]]:
    """What repeats the traffic as it came, whatever it had been: constant rates, one after the other."""
    return _constant(cross, cross.fine)


def sources(cross: Cross) -> list[dict[str, Any]]:
    """What a study has: a source that goes on if the traffic is steady, connections if it is responsive, and otherwise constant rates, one after the other."""
    if not cross.steps or not cross.rate_bps.value:
        return []
    kind = cross.kind
    start = {"start": f"{kind.began_s:.3f} s"} if kind.began_s > 0 else {}
    if kind.name == "steady":
        begin, end = cross.steps[0].since_s, cross.steps[-1].until_s
        rate = cross.rate_bps.value * (end - begin) / (end - max(kind.began_s, begin))
        source = {"name": "constant_rate" if kind.even else "poisson", "rate": f"{rate:.0f} bit/s"}
        return [{"name": _NAME, "transport": "udp", **start, "source": source}]
    if kind.name == "responsive":
        return [{"name": _NAME, "cc": "cubic", **start, "count": cross.connections}]
    return _constant(cross, cross.steps)


def _constant(cross: Cross, steps: list[Step]) -> list[dict[str, Any]]:
    """An entry for each step."""
    least = _LEAST * (cross.rate_bps.value or 0.0)
    return [
        {
            "name": f"{_NAME}{number}",
            "transport": "udp",
            "start": f"{step.since_s:.6f} s",
            "stop": f"{step.until_s:.6f} s",
            "source": {"name": "constant_rate", "rate": f"{step.rate:.0f} bit/s"},
        }
        for number, step in enumerate((step for step in steps if step.rate > least), start=1)
    ]
