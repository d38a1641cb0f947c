"""What the study that is proposed does: simulated once, captured as the sender was, and held against what was measured.

Congestion controls are compared in simulations that lose packets where the capture lost them. The study has chance, and a buffer that may be assumed, instead: whether it behaves as the capture
is another question, and only its own simulation answers it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sawtooth import captures, taps
from sawtooth.api import simulate
from sawtooth.errors import SawtoothError
from sawtooth.study import Study

SEED = 1
"""Of the simulation: that of a study which names none, and of `sawtooth compare`."""
_FAR = 0.15
"""What is farther from what was measured has a caveat: three times what `sawtooth advise` calls a difference."""
_CHANCE = 2.0
"""Counts of what comes by chance differ by that many standard deviations and mean nothing."""


@dataclass(frozen=True)
class Behaviour:
    """A flow in three numbers; what is not known is None.

    Attributes:
        goodput_bps: of what was acknowledged. rtt_s: the mean smoothed round trip. again: segments that were sent again.

    """

    goodput_bps: float | None
    rtt_s: float | None
    again: int | None


@dataclass(frozen=True)
class Again:
    """A flow as it was measured, and as the study has it when it is simulated once."""

    measured: Behaviour
    simulated: Behaviour

    @property
    def apart(self) -> dict[str, float | None]:
        """By how much of what was measured the simulation has more (or less, if negative); None where that is not known, infinite if nothing was measured."""
        return {name: _apart(getattr(self.measured, name), getattr(self.simulated, name)) for name in ("goodput_bps", "rtt_s", "again")}

    @property
    def is_far(self) -> bool:
        """Whether one of them is farther away than the limit, and of what was sent again farther than chance sets two counts apart."""
        for name, apart in self.apart.items():
            if apart is None or abs(apart) <= _FAR:
                continue
            one, other = getattr(self.measured, name), getattr(self.simulated, name)
            if name != "again" or abs(one - other) > _CHANCE * math.sqrt(one + other):
                return True
        return False

    @property
    def words(self) -> str:
        """Each, first simulated, then measured."""
        apart = self.apart
        parts = [
            f"{what} {_told(getattr(self.simulated, name), factor)} and {_told(getattr(self.measured, name), factor)}{unit}{_signed(apart[name])}"
            for what, name, factor, unit in (
                ("goodput", "goodput_bps", 1e-6, " Mbit/s"),
                ("mean round trip", "rtt_s", 1e3, " ms"),
                ("segments sent again", "again", 1, ""),
            )
        ]
        return f"simulated once, beside the capture: {', '.join(parts)}"

    @property
    def caveat(self) -> str | None:
        """A sentence for the study, if it is far."""
        return f"The study does not behave as the capture did; {self.words}." if self.is_far else None


def again(text: str, measured: Mapping[str, Any]) -> Again | None:
    """Simulates a study of which this is the text, once.

    Args:
        text: a study in TOML, whose first flow is meant.
        measured: the row of `flows` of the flow that it was fitted to.

    Returns:
        None if it cannot be simulated, such as where a run has more events than are allowed.

    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "simulated.pcapng"
        try:
            simulate(Study.parse(text, Path("fitted.toml")), seed=SEED, captures=taps.wanted(file, ["sender"]))
            flows = captures.read(file).flows
        except SawtoothError:
            return None
    rows = flows.filter(flows["transport"] == "tcp").sort("connection", maintain_order=True)
    return Again(_behaviour(measured), _behaviour(rows.row(0, named=True))) if rows.height else None


def _behaviour(row: Mapping[str, Any]) -> Behaviour:
    rtt = row["srtt_mean_ns"]
    return Behaviour(row["goodput_bps"], None if rtt is None else rtt / 1e9, row["retransmits"])


def _apart(measured: float | None, simulated: float | None) -> float | None:
    if measured is None or simulated is None:
        return None
    if measured == 0:
        return 0.0 if simulated == 0 else math.inf
    return simulated / measured - 1


def _told(value: float | None, factor: float) -> str:
    return "unknown" if value is None else f"{value * factor:.4g}"


def _signed(apart: float | None) -> str:
    return "" if apart is None or math.isinf(apart) else f" ({apart:+.1%})"
