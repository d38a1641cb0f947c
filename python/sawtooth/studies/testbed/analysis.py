"""What of the ranking an inherited threshold makes, who gains or loses with delay, and every cell beside its published statistics.

A run is a block of fetches, which share what the kernel remembers: blocks are resampled within cells, not fetches.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from sawtooth import Dataset, stats
from sawtooth.plots import dots
from sawtooth.report import Claimed, Grid, Plot, Section, fact, held, rising

Array = NDArray[np.float64]
CELL = ["delay", "cc", "receiver_cc"]
DRAWS, FEWEST_BLOCKS = 1000, 5
MOVES = (("scalable", "Scalable degrades with delay", False), ("veno", "Veno gets better with delay", True), ("hybla", "Hybla gets better with delay", True))  # fmt: skip


class Cube(NamedTuple):
    """Logs of cell means in s, shape (delays, cc, receivers), NaN where nothing finished; of blocks, blocks last; resampled, draws first."""

    log: Array
    blocks: Array
    draws: Array | None


def scores(of: Array) -> Array:
    """Logs averaged over the receivers that have all algorithms: shape (..., delays, cc)."""
    return np.nanmean(np.where(np.isnan(of).any(axis=-2, keepdims=True), np.nan, of), axis=-1)


def sections(dataset: Dataset) -> list[Section]:
    """Shown after the figures."""
    runs = dataset.runs.select("run", "arm", "replicate", "delay_value", *CELL)
    fetches = runs.join(dataset.flows().drop("cc").collect(), on="run")
    fetches = fetches.with_columns(seconds=pl.col("completion_ns") / 1e9)
    given = dataset.runs.sort("cell").select(CELL).unique(maintain_order=True)
    levels = {name: given[name].unique(maintain_order=True).to_list() for name in CELL}
    for name in ("mean", "max", "min", "sd", "cov"):
        value = pl.col("value").first() / (1 if name == "cov" else 1e9)
        found = dataset.measure(f"references.b.{name}").group_by(CELL, maintain_order=True).agg(value.alias(f"published_{name}"))
        given = given.join(found, on=CELL, how="left", maintain_order="left")
    cubes = {"published": _cube(given.select(*CELL, replicate=1, seconds="published_mean"), levels)}
    cubes |= {arm: _cube(fetches.filter(arm=arm), levels) for arm in dataset.runs["arm"].unique(maintain_order=True)}
    return [_ranking(cubes, levels), _relative(cubes, levels), _shaper(fetches), _agreement(cubes, levels), _cells(fetches, given)]


def _cube(own: pl.DataFrame, levels: dict[str, list[str]]) -> Cube:
    blocks = own.group_by([*CELL, "replicate"], maintain_order=True).agg(pl.col("seconds").mean())
    values = np.full([*map(len, levels.values()), blocks["replicate"].n_unique()], np.nan)
    at = [blocks[name].replace_strict(own, range(len(own)), return_dtype=pl.Int64).to_numpy() for name, own in levels.items()]
    values[(*at, blocks["replicate"].rank("dense").to_numpy() - 1)] = blocks["seconds"].to_numpy()
    chosen = np.random.default_rng(1).integers(0, values.shape[-1], (DRAWS, *values.shape))
    draws = np.log(np.take_along_axis(values[None], chosen, axis=-1).mean(axis=-1))
    return Cube(np.log(values.mean(axis=-1)), np.log(values), draws if values.shape[-1] >= FEWEST_BLOCKS else None)


def _interval(value: float, draws: Array | None, level: float = 0.95) -> stats.Interval:
    if draws is None:
        return stats.unbounded(value, 1, f"fewer than {FEWEST_BLOCKS} blocks: no interval")
    low, high = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2))
    return stats.Interval(value, float(low), float(high), len(draws), f"{level:.0%} bootstrap over blocks")


def _less(on: Array, off: Array) -> Array:
    """The share of the variance between algorithms at the same delay, averaged over delays, that is gone with the cache off."""
    on, off = (scores(each).var(axis=-1, ddof=1).mean(axis=-1) for each in (on, off))
    return 1 - off / on


def _ranking(cubes: dict[str, Cube], levels: dict[str, list[str]]) -> Section:
    claims: list[Claimed] = []
    if {"cache", "no-cache"} <= set(cubes) and len(levels["cc"]) > 1:
        on, off = cubes["cache"], cubes["no-cache"]
        share = float(_less(on.log, off.log))
        many = None if on.draws is None or off.draws is None else _less(on.draws, off.draws)
        claim = "Less than half of what tells the algorithms apart is an inherited threshold"
        claims = [Claimed(claim, [held(lambda level: _interval(share, many, level), below=0.5)])]
    panels: dict[str, dict[str, list[stats.Interval | None]]] = {delay: {} for delay in levels["delay"]}
    for source, cube in cubes.items():
        own, draws = scores(cube.log), None if cube.draws is None else scores(cube.draws)
        for at, delay in enumerate(levels["delay"]):
            many_of = [None if draws is None else np.exp(draws[:, at, of]) for of in range(own.shape[1])]
            panels[delay][source] = [_interval(float(np.exp(own[at, of])), each) for of, each in enumerate(many_of)]
    words = "The share is that of the variance between server algorithms of the log time at the same delay, averaged over delays, that is gone with the cache off."
    shown = "Download time by the server's algorithm: geometric mean over clients, by one-way delay; 95 % bootstrap over blocks."
    plot = Plot("ranking", dots.multiples(panels, levels["cc"], "server's algorithm", "download time (s)", across=3), shown)
    return Section("How much of the ranking is an inherited threshold", [words], plots=[plot], claims=claims)


def _relative(cubes: dict[str, Cube], levels: dict[str, list[str]]) -> Section:
    """A server's time over the geometric mean of all servers' at the same delay, client and block."""
    claims: list[Claimed] = []
    for (source, cube), (name, claim, falling) in product(
        cubes.items(), [move for move in MOVES if len(levels["delay"]) > 1 and move[0] in levels["cc"]]
    ):
        own = (cube.blocks - cube.blocks.mean(axis=1, keepdims=True))[:, levels["cc"].index(name)].reshape(len(levels["delay"]), -1).T
        found = stats.trend([(np.arange(len(one), dtype=float), one) for one in own if not np.isnan(one).any()])
        claims.append(Claimed(f"{claim}, against the mean of all algorithms ({source})", [rising(found, falling=falling)]))
    return Section("Who gains and who loses with delay", ["The trend is of ranks over delays in each client and block."], claims=claims)


def _shaper(fetches: pl.DataFrame) -> Section:
    """The original pinged before each fetch; here each fetch's own smallest round-trip time is held against what was set."""
    off = fetches.drop_nulls("min_rtt_ns").select(off=pl.col("min_rtt_ns") / (2e9 * pl.col("delay_value")) - 1)["off"].to_numpy()
    within = int((np.abs(off) <= 0.05).sum())
    held_by = fact(0 < within == len(off), f"{within:,} of {len(off):,} smallest round-trip times are within 5 % of the one set")
    return Section("Shaping, checked at each fetch", claims=[Claimed("The shaper delays as it was set, at every fetch", [held_by])])


def _agreement(cubes: dict[str, Cube], levels: dict[str, list[str]]) -> Section:
    """By source and delay: how far all cells are from the published, and where each algorithm stands."""
    rows, places = list[dict[str, object]](), list[dict[str, object]]()
    for (source, cube), delay in product(cubes.items(), ["all", *levels["delay"]]):
        part = slice(None) if delay == "all" else [levels["delay"].index(delay)]
        log = (cube.log - cubes["published"].log)[part]
        log = log[~np.isnan(log)]
        mine, theirs = (scores(each.log)[part].mean(axis=0) for each in (cube, cubes["published"]))
        rows.append({
            "source": source, "delay": delay, "cells": len(log), "typical_factor": np.exp(np.sqrt((log**2).mean())), "bias": np.exp(log.mean()),
            "spearman": stats.spearman(mine, theirs) if len(mine) > 3 and np.ptp(mine) else None, "slowest_over_fastest": np.exp(np.ptp(mine)),
        })  # fmt: skip
        for of, rank in enumerate(pl.Series(mine).rank().to_list()):
            level = {"source": source, "delay": delay, "server_cc": levels["cc"][of], "rank": rank}
            places.append({**level, "seconds": np.exp(mine[of]), "over_mean": np.exp(mine[of] - mine.mean())})
    words = "The typical factor is the exponential of the root mean square of the log ratio, ours over published, bias that of its mean."
    digits = dict.fromkeys(("typical_factor", "bias", "spearman", "slowest_over_fastest", "over_mean"), 2) | {"seconds": 3}
    caption = "Server algorithms: rank, geometric mean over clients, and over the geometric mean of all algorithms."
    grids = [Grid("agreement", pl.DataFrame(rows), "By arm and delay.", digits), Grid("ranking", pl.DataFrame(places), caption, digits)]
    return Section("Agreement with the published means", [words], grids=grids)


def _cells(fetches: pl.DataFrame, given: pl.DataFrame) -> Section:
    time, n = pl.col("seconds"), pl.col("n")
    table = fetches.group_by([*CELL, "arm"], maintain_order=True).agg(
        n=time.count(), mean_s=time.mean(), max_s=time.max(), min_s=time.min(), stdev_s=time.std(), cov=time.std() / time.mean(),
        unfinished=time.null_count(), retransmits=pl.col("retransmits").mean(), timeouts=pl.col("timeouts").mean(),
    )  # fmt: skip
    quantile = n.map_elements(lambda n: scipy_stats.t.ppf(0.975, n - 1), return_dtype=pl.Float64)
    table = given.join(table.with_columns(ci95_s=pl.col("stdev_s") / n.sqrt() * quantile), on=CELL, maintain_order="left")
    words = "Over fetches, as published; those of a block share what the kernel remembers, so that findings go by blocks."
    return Section("All cells", [words], grids=[Grid("cells", table, "Tables 4.2 and 7.7 to 7.19, ours and the published.")])
