"""How well `sawtooth fit` finds the traffic of others at a bottleneck, over simulated captures that are drawn by a rule.

    .venv/bin/python bench/fit_cross.py --write        (docs/validation/fit-cross.md)

The rule, written before the method was:

- A scenario is the flow of a scenario of `bench/fit.py` (its rate, propagation, buffer, loss and congestion control are drawn as there), for 20 s, with other traffic at the same link. Only that
  flow's packets at its sender are shown. All packets are of 1500 bytes.
- The others are, in turn, and moved on by one after every eight, so that each congestion control meets each: `constant_rate`, `poisson`, `on_off` (a constant rate for exponential times, nothing for others) and `tcp`.
- Traffic of UDP sends from the beginning, a share of the link's rate that is uniform from 0 to 60 %. `on_off` is on for a mean of 0.3 to 2 s, uniform in its logarithm, and for 40 to 80 % of the time, but
  for so long at least that it sends no more than 90 % of the rate while it is on. It begins on or off with even chances.
- Traffic of TCP is one to three flows with reno, cubic or bbr that send all they can, each from a time between 0 and 5 s, over a path whose propagation is up to twice as long.
- Scenario N draws from a generator with the seed "fit cross test N", N from 1 to 50, and N is its seed, too. Whatever was tuned was tuned on "fit cross train N".
- What is to be found of the others is their mean rate: their IP packets that arrived, over the 20 s. Right is what is at most 10 % of the link's rate away; not told counts as wrong.
- Kinds are steady (`constant_rate`, `poisson`), on-off and responsive (`tcp`). Where the true mean is below 5 % of the rate, "none" is right as well. "Cannot tell" counts as not right.
- The other parameters count as in `bench/fit.py`.

The bars, set before, too: the mean in 45 of 50, its interval has it in 45 of 50, the kind in 40 of 50; rate within 2 %, base delay within 2 %, buffer within 10 %, loss within its interval in 45 of 50 each; the
congestion control in 40 of 50. Of the 200 captures of `bench/fit.py`, which have no other traffic, no more than 4 are said to have some.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fit as plain

KINDS = ("constant_rate", "poisson", "on_off", "tcp")
OTHERS = ("reno", "cubic", "bbr")
MOST, PEAK = 0.6, 0.9


@dataclass(frozen=True)
class Crossed:
    """A scenario of the rule.

    Attributes:
        flow: the flow that is shown, and its link.
        kind: one of `KINDS`.
        others: the entries of the other flows.

    """

    flow: plain.Drawn
    kind: str
    others: list[dict[str, Any]]

    @property
    def tree(self) -> dict[str, Any]:
        """The scenario, as `sawtooth.simulate` takes it."""
        tree = self.flow.tree
        return {**tree, "flows": [*tree["flows"], *self.others]}


def crossed(lot: str, number: int) -> Crossed:
    """Scenario `number` of the lot `train` or `test`."""
    flow = plain.drawn(f"cross {lot}", number)
    draw = random.Random(f"fit cross {lot} {number} others")
    # Every congestion control meets every kind.
    kind = KINDS[(number + number // len(plain.CONTROLS)) % len(KINDS)]
    if kind == "tcp":
        others = [
            {
                "path": ["l"],
                "cc": draw.choice(OTHERS),
                "start": f"{draw.uniform(0, 5):.3f} s",
                "delay": f"{draw.uniform(0, flow.delay_s / 2) * 1e9:.0f} ns",
            }
            for _ in range(draw.randint(1, 3))
        ]
        return Crossed(flow, kind, others)
    mean = draw.uniform(0, MOST) * flow.rate_bps
    if kind == "on_off":
        return Crossed(flow, kind, _on_off(draw, mean, mean / flow.rate_bps))
    return Crossed(flow, kind, [_udp({"name": kind, "rate": f"{mean:.0f} bit/s"})])


def _udp(source: dict[str, Any]) -> dict[str, Any]:
    return {"path": ["l"], "transport": "udp", "source": source}


def _on_off(draw: random.Random, mean_bps: float, of_link: float) -> list[dict[str, Any]]:
    """An entry for each time that it is on."""
    on = plain.between(draw, 0.3, 2)
    share = max(draw.uniform(0.4, 0.8), of_link / PEAK)
    off = on * (1 - share) / share
    source = {"name": "constant_rate", "rate": f"{mean_bps / share:.0f} bit/s"}
    entries: list[dict[str, Any]] = []
    at = 0.0 if draw.random() < 0.5 else draw.expovariate(1 / off)
    while at < plain.DURATION_S:
        until = at + draw.expovariate(1 / on)
        entries.append({**_udp(source), "start": f"{at:.6f} s", "stop": f"{until:.6f} s"})
        at = until + draw.expovariate(1 / off)
    return entries
