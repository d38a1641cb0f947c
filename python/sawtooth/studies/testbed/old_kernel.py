"""Whether rules of old kernels explain the published times better than those of today, also where they were not chosen by them.

A setting is a queue, a loss and the cache on or off; by the rules of each kernel it is chosen by the smallest residual, the root mean square of the log of our mean over the
published one over delays and algorithms. It is held against what it was not chosen by: each delay left out in turn, then each algorithm. Intervals: blocks of fetches drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth import Dataset, stats
from sawtooth.plots import dots
from sawtooth.report import Claimed, Grid, Plot, Section, held

Vector = NDArray[np.float64]
Numbers = NDArray[np.int_]
RULES = {
    "linux": ("Linux 6.1", ["linux", "linux-cache"]),
    "linux-3-2": ("Linux 3.2", ["linux-3-2", "linux-3-2-cache"]),
    "linux-3-11": ("Linux 3.11", ["linux-3-11", "linux-3-11-cache"]),
}
HELD = {"in sample": None, "at delays left out": 1, "at algorithms left out": 2}
"""Along which axis of settings, delays and algorithms."""
DRAWS, SEED = 2000, 1


@dataclass(frozen=True)
class Times:
    """What is compared: settings x delays x algorithms x blocks of means in s, and the logs of the published."""

    settings: list[tuple[str, str, str]]
    seconds: Vector
    published: Vector
    ccs: list[str]

    def logs(self, of: list[int], blocks: Numbers) -> Vector:
        """Of the settings with these numbers, over these blocks: log of ours over the published."""
        return np.log(self.seconds[of][..., blocks].mean(axis=-1)) - self.published


def sections(dataset: Dataset) -> list[Section]:
    """Shown after the figures."""
    times = _times(dataset)
    delays, blocks = times.seconds.shape[1], times.seconds.shape[3]
    if delays < 2 or blocks < 2:
        return [Section("Where nothing was chosen", ["Less than two delays or blocks of fetches: nothing can be left out."])]
    rng = np.random.default_rng(SEED)
    drawn: list[Numbers] = [np.arange(blocks), *(rng.integers(0, blocks, blocks) for _ in range(DRAWS))]
    # Every draw is of the same blocks for the rules of all kernels.
    found = {
        rule: {name: np.array([residual(times.logs(_of(times, rule), draw), axis) for draw in drawn]) for name, axis in HELD.items()}
        for rule in RULES
    }
    centred = times.published - times.published.mean(axis=1, keepdims=True)
    per_delay, count = float(np.sqrt((centred**2).mean())), len(times.ccs)
    limits = {"in sample": per_delay, "at delays left out": per_delay, "at algorithms left out": per_delay * count / (count - 1)}
    claims = [_below(found[rule][name], limits[name], f"By the rules of {words} the published times are told better than by one time per delay, {name}")
              for rule, (words, _) in RULES.items() for name in ("at delays left out", "at algorithms left out")]  # fmt: skip
    claims += [_below(found[rule]["in sample"] - found["linux"]["in sample"], 0.0, f"The best setting by the rules of {RULES[rule][0]} is nearer to the published times than that by those of Linux 6.1")
               for rule in ("linux-3-2", "linux-3-11")]  # fmt: skip
    rows: list[dict[str, object]] = [{"rules": RULES[rule][0], "held": name, "residual": one[0], "low": _ends(one, 0.95)[0], "high": _ends(one, 0.95)[1],
             "one_time_per_delay": limits[name], "below_in": float((one[1:] < limits[name]).mean())} for rule, own in found.items() for name, one in own.items()]  # fmt: skip
    digits = {name: 3 for name in rows[0] if name not in ("rules", "held")}
    paragraphs = [
        "Linux 6.1 is the simulator's `linux` stack; Linux 3.11 are the rules of 3.2 with delayed early retransmit and tail loss probes, which came between.",
        f"One time per delay, alike for all algorithms, leaves {per_delay:.3f}. It has a number fitted to each delay and is told nothing of TCP; where an algorithm is left out of its mean it leaves "
        f"{limits['at algorithms left out']:.3f}.",
        "Blocks are drawn again with the choice that they make. Where two settings are nearly as good, some draws choose the other, and what is left there may be much more: that is most of the intervals' width.",
    ]
    held_out = Grid(
        "held_out",
        pl.DataFrame(rows),
        "Residuals with intervals of 95 %, and in which share of draws they are below one time per delay.",
        digits,
    )
    return [Section("Where nothing was chosen", paragraphs, grids=[held_out], claims=claims), _chosen(times, drawn[0])]


def residual(logs: Vector, axis: int | None) -> float:
    """What the best setting leaves: in sample, or along an axis at each level that it was not chosen by."""
    if axis is None:
        return float(by_setting(logs).min())
    squares: list[float] = []
    for level in range(logs.shape[axis]):
        best = int(by_setting(np.delete(logs, level, axis)).argmin())
        squares.append(float((np.take(logs, level, axis)[best] ** 2).mean()))
    return float(np.sqrt(np.mean(squares)))


def by_setting(logs: Vector) -> Vector:
    """The residual of each."""
    return np.asarray(np.sqrt((logs**2).mean(axis=(1, 2))), dtype=np.float64)


def _times(dataset: Dataset) -> Times:
    """From the means of each run, which is a block of fetches."""
    own = dataset.measure("completion_ns", flows="mean")
    theirs = dataset.measure("references.b.mean").select("run", published="value")
    table = own.join(theirs, on="run").sort("arm", "queue", "loss", "delay", "cc", "replicate")
    axes = {name: table[name].n_unique() for name in ("arm", "queue", "loss", "delay", "cc", "replicate")}
    shape = (axes["arm"] * axes["queue"] * axes["loss"], axes["delay"], axes["cc"], axes["replicate"])
    published = table["published"].to_numpy().reshape(shape)[0, :, :, 0] / 1e9
    settings = table.select("arm", "queue", "loss").unique(maintain_order=True).rows()
    ccs = table["cc"].unique(maintain_order=True).to_list()
    return Times(settings, table["value"].to_numpy().reshape(shape) / 1e9, np.log(published), ccs)


def _of(times: Times, rule: str) -> list[int]:
    return [at for at, (arm, *_) in enumerate(times.settings) if arm in RULES[rule][1]]


def _ends(found: Vector, level: float) -> tuple[float, float]:
    low, high = np.quantile(found[1:], [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _below(found: Vector, limit: float, claim: str) -> Claimed:
    def interval(level: float) -> stats.Interval:
        return stats.Interval(float(found[0]), *_ends(found, level), DRAWS, "bootstrap of blocks")

    low, high = _ends(found, 0.95)
    words = f"{found[0]:.3f}, 95 % of draws {low:.3f} to {high:.3f}, against {limit:.3f}; below it in {(found[1:] < limit).mean():.0%}"
    return Claimed(claim, [held(interval, below=limit, words=words)], refuted_by=f"A residual above {limit:.3f}, with all of its interval.")


def _chosen(times: Times, every: Numbers) -> Section:
    """The five best settings by each kernel's rules, and how far each algorithm is from the published times at the best."""
    rows: list[dict[str, object]] = []
    series: dict[str, list[stats.Interval | None]] = {}
    for rule, (words, _) in RULES.items():
        numbers = _of(times, rule)
        logs = times.logs(numbers, every)
        left = by_setting(logs)
        order = sorted(range(len(left)), key=lambda at: float(left[at]))
        for at in order[:5]:
            arm, queue, loss = times.settings[numbers[at]]
            rows.append({"rules": words, "arm": arm, "queue": queue, "loss": loss, "residual": float(left[at])})
        ratios = np.exp([logs[order[0]].mean(axis=0), logs[order[0]].min(axis=0), logs[order[0]].max(axis=0)])
        series[words] = [
            stats.Interval(float(mean), float(least), float(most), len(logs[0]), "over delays") for mean, least, most in ratios.T
        ]
    figure = dots.multiples({"": series}, times.ccs, "server's algorithm", "time over the published")
    caption = "Download time over the published one at the best setting by each kernel's rules: geometric mean over delays, and the least and the most of them."
    grid = Grid("settings", pl.DataFrame(rows), "The five that leave least, by the rules of each kernel.", {"residual": 3})
    return Section("The best settings", plots=[Plot("over_published", figure, caption)], grids=[grid])
