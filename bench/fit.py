"""How well `sawtooth fit` finds the scenario behind a capture, over simulated captures that are drawn by a rule.

    .venv/bin/python bench/fit.py --write        (docs/validation/fit.md)

The rule, written before any result was looked at:

- A scenario is one flow of the stack `linux` that sends all it can for 20 s over one link with drop-tail, captured at its sender.
- Rate: 2 to 50 Mbit/s; round-trip propagation: 10 to 100 ms; buffer: half to twice the product of both, at least 10 packets. All three are uniform in their logarithms.
- Loss: none with probability a half; otherwise each packet by itself, with a probability of 0.01 % to 1 %, uniform in its logarithm.
- Congestion control: each of `CONTROLS` as often as the others, in turn.
- Scenario N draws from a generator with the seed "fit test N", N from 1 to 200, and N is its seed, too. Whatever was tuned was tuned on "fit train N".
- Parameters count on the first 50, the congestion control on all 200. A rate or a delay that was not told counts as wrong. A buffer that was not told, with a reason, counts neither as right nor
  as wrong, and how many these are is shown; a loss counts if its interval has the true probability. "Cannot tell" of a congestion control counts as not right.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

CONTROLS = ("reno", "cubic", "bbr", "vegas", "htcp", "bic", "westwood", "illinois")
CAPTURES, OF_PARAMETERS = 200, 50
DURATION_S = 20
_FEWEST_PACKETS = 10
_PACKET = 1500


@dataclass(frozen=True)
class Drawn:
    """A scenario of the rule.

    Attributes:
        number: its number, which is its seed.
        rate_bps, delay_s, buffer_packets, loss, control: what is to be found; `delay_s` is the round-trip propagation.

    """

    number: int
    rate_bps: float
    delay_s: float
    buffer_packets: int
    loss: float
    control: str

    @property
    def tree(self) -> dict[str, Any]:
        """The scenario, as `sawtooth.simulate` takes it."""
        link = {
            "rate": f"{self.rate_bps:.0f} bit/s",
            "delay": f"{self.delay_s / 2 * 1e9:.0f} ns",
            "queue": {"name": "drop_tail", "limit": f"{self.buffer_packets} packets"},
            "loss": self.loss,
        }
        return {"duration": f"{DURATION_S} s", "stack": "linux", "cc": self.control, "links": {"l": link}, "flows": [{"path": ["l"]}]}


def drawn(lot: str, number: int) -> Drawn:
    """Scenario `number` of the lot `train` or `test`."""
    draw = random.Random(f"fit {lot} {number}")
    rate = _between(draw, 2e6, 50e6)
    delay = _between(draw, 0.01, 0.1)
    product = rate * delay / 8 / _PACKET
    packets = max(_FEWEST_PACKETS, round(product * _between(draw, 0.5, 2)))
    loss = _between(draw, 1e-4, 1e-2) if draw.random() < 0.5 else 0.0
    return Drawn(number, rate, delay, packets, loss, CONTROLS[number % len(CONTROLS)])


def _between(draw: random.Random, low: float, high: float) -> float:
    """Uniform in its logarithm."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))
