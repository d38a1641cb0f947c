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
    kind, began = cross.kind, f"{cross.kind.began_s:.6f} s"
    if kind.name == "steady":
        on = sum(step.rate * step.lasts_s for step in cross.steps) / sum(
            step.lasts_s for step in cross.steps if step.since_s >= kind.began_s
        )
        name = "constant_rate" if kind.even else "poisson"
        return [{"name": _NAME, "transport": "udp", "start": began, "source": {"name": name, "rate": f"{on:.0f} bit/s"}}]
    if kind.name == "responsive":
        return [{"name": _NAME, "cc": "cubic", "start": began, "count": cross.connections}]
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
