"""The findings of the self-similar background study, each an answer that is computed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
from scipy import stats as scipy_stats

from sawtooth import stats
from sawtooth.report.document import Verdict
from sawtooth.report.self_similar_data import (
    ARMS,
    BASE,
    MEGA,
    WINDOW_LIMITED,
    WINDOW_WORDS,
    WINDOWS,
    Data,
    against,
    left_over,
    mean,
    vector,
)
from sawtooth.stats import Interval

CAPPED_BELOW = 425.0
"""Mbit/s of background, as published: below, the receiver's window caps the flows."""
UNLIKE_UNTIL = 775.0
"""As published: from there on the stacks are alike again."""
NEAR = 0.10
"""Throughput is near what the background leaves if it is within this share of it."""
ALIKE = 0.01
"""Coefficients of variation are alike if they differ by less."""
RIGHT_HURST = 0.05
"""A Hurst parameter is the one asked for if it is within this of it."""


def answer(low: float, high: float, least: float = 0.0) -> str:
    """Of a claim that something is above `least`."""
    return "yes" if low > least else "no" if high < least else "cannot distinguish"


def published(data: Data) -> list[Verdict]:
    """Those of the published study, in its order."""
    made: list[Verdict | None] = [_near_line_rate(data, arm) for arm in data.arms]
    made += [_capped(data, arm) for arm in data.arms]
    below = data.base.filter(pl.col("background_mbps") < CAPPED_BELOW)
    above = between(data.base)
    for arm in data.arms[1:]:
        made += [_alike(below, arm, name) for name in WINDOWS]
    for arm in data.arms[1:]:
        made += [_less_steady(above, arm, name, f"{CAPPED_BELOW:g} to {UNLIKE_UNTIL:g} Mbit/s of background") for name in WINDOWS]
    if "highspeed" in data.arms:
        made.append(_higher_window(above))
    if "scalable" in data.arms:
        made.append(_lower_window_somewhere(above))
    for arm in data.arms[1:]:
        for column, words in (("CongSignals", "congestion signals"), ("SegsRetrans", "retransmissions"), ("DupAcksIn", "duplicate ACKs")):
            made.append(_more(above, arm, column, f"{ARMS[arm]} has more {words} than vanilla above {CAPPED_BELOW:g} Mbit/s of background"))
    return [verdict for verdict in made if verdict is not None]


def beyond(data: Data) -> list[Verdict]:
    """What the authors could not do: long paths, larger buffers; and what the background is."""
    made: list[Verdict | None] = []
    paths = data.where("RTT", fitted=True)
    for rtt in data.levels(paths, "RTT")[1:]:
        path = paths.filter(pl.col("RTT") == rtt)
        for arm in data.arms[1:]:
            made.append(_more(path, arm, "mean_bps", f"With a round trip of {rtt} {ARMS[arm]} carries more than vanilla", MEGA, " Mbit/s"))
            made.append(
                _less_steady(between(path), arm, "second", f"{CAPPED_BELOW:g} to {UNLIKE_UNTIL:g} Mbit/s and a round trip of {rtt}")
            )
    made += [_short_buffer(data, rtt) for rtt in data.levels(paths, "RTT")[1:]]
    made += [_buffer_lifts_the_cap(data, arm) for arm in data.arms]
    buffers = data.where("buffers").filter(pl.col("relative") > 1 + 1e-9, pl.col("background_mbps") < CAPPED_BELOW)
    made += [
        _less_steady(buffers, arm, "second", f"less than {CAPPED_BELOW:g} Mbit/s, where a larger buffer lets the flow fill the link,")
        for arm in data.arms[1:]
    ]
    for variance in data.levels(data.runs, "variance"):
        made += [_rougher_with_hurst(data, arm, variance) for arm in data.arms]
    return [verdict for verdict in made if verdict is not None]


def between(frame: pl.DataFrame) -> pl.DataFrame:
    """Background rates in which the published stacks differed."""
    return frame.filter(pl.col("background_mbps").is_between(CAPPED_BELOW, UNLIKE_UNTIL))


# --- as published -------------------------------------------------------------------------------------------------------


def _near_line_rate(data: Data, arm: str) -> Verdict | None:
    frame = data.base.filter(pl.col("arm") == arm, pl.col("background_mbps") > CAPPED_BELOW).with_columns(
        share=pl.col("mean_bps") / MEGA / left_over(pl.col("background_mbps"))
    )
    if frame.is_empty():
        return None
    shares = {rate: mean(group, "share") for (rate,), group in frame.group_by("background_mbps", maintain_order=True)}
    if all(own.low > 1 - NEAR and own.high < 1 + NEAR for own in shares.values()):
        verdict = "yes"
    elif any(own.high < 1 - NEAR or own.low > 1 + NEAR for own in shares.values()):
        verdict = "no"
    else:
        verdict = "cannot distinguish"
    far, own = max(shares.items(), key=lambda each: abs(each[1].estimate - 1))
    per_replicate = stats.mean_interval(vector(frame.group_by("replicate", maintain_order=True).agg(pl.col("share").mean()), "share"))
    near = sum(each.low > 1 - NEAR and each.high < 1 + NEAR for each in shares.values())
    return Verdict(
        f"Above {CAPPED_BELOW:g} Mbit/s of background {ARMS[arm]} has what the background leaves of the link, within {NEAR:.0%}",
        verdict,
        f"{per_replicate.words('.1%')} of it on average; within {NEAR:.0%} at {near} of {len(shares)} rates; farthest at {far:g} Mbit/s, "
        f"{own.words('.1%')}",
    )


def _capped(data: Data, arm: str) -> Verdict | None:
    frame = data.base.filter(arm=arm)
    below = frame.filter(pl.col("background_mbps") < CAPPED_BELOW)
    if below.is_empty():
        return None
    shares = {rate: mean(group, "by_receiver") for (rate,), group in below.group_by("background_mbps", maintain_order=True)}
    lowest_at, lowest = min(shares.items(), key=lambda each: each[1].estimate)
    verdict = "yes" if all(own.low > WINDOW_LIMITED for own in shares.values()) else (
        "no" if any(own.high < WINDOW_LIMITED for own in shares.values()) else "cannot distinguish")  # fmt: skip
    ends = [end for (_,), group in frame.group_by("replicate", maintain_order=True) if (end := _crossing(group)) is not None]
    until = f"; it does so for half of the time up to {stats.mean_interval(ends).words('.0f')} Mbit/s" if ends else ""
    carried = mean(below.group_by("replicate", maintain_order=True).agg(pl.col("mean_bps").mean()), "mean_bps", MEGA)
    return Verdict(
        f"Below {CAPPED_BELOW:g} Mbit/s of background the receiver's window holds {ARMS[arm]} back",
        verdict,
        f"for {lowest.words('.0%')} of the time at {lowest_at:g} Mbit/s, where least{until}; it carries {carried.words('.0f')} Mbit/s "
        f"there",
    )


def _crossing(frame: pl.DataFrame) -> float | None:
    """The background rate at which one replicate's share of time under the receiver's window falls below the half, interpolated."""
    rows = frame.sort("background_mbps").select("background_mbps", "by_receiver").rows()
    for (x0, y0), (x1, y1) in pairwise(rows):
        if y0 > WINDOW_LIMITED >= y1:
            return float(x0 + (y0 - WINDOW_LIMITED) / (y0 - y1) * (x1 - x0))
    return None


def _alike(below: pl.DataFrame, arm: str, name: str) -> Verdict | None:
    theirs, mine = against(below, arm, f"cov_{name}")
    if not mine.size:
        return None
    difference = stats.mean_interval(mine - theirs)
    inside, outside = difference.low > -ALIKE and difference.high < ALIKE, difference.low > ALIKE or difference.high < -ALIKE
    verdict = "yes" if inside else "no" if outside else "cannot distinguish"
    return Verdict(
        f"Below {CAPPED_BELOW:g} Mbit/s of background the CoV of {ARMS[arm]} is that of vanilla, within {ALIKE:g} (windows of "
        f"{WINDOW_WORDS[name]})",
        verdict,
        f"{_mean(mine)} against {_mean(theirs)}; paired difference {difference.words('+.4f')}",
    )


def _less_steady(frame: pl.DataFrame, arm: str, name: str, where: str) -> Verdict | None:
    theirs, mine = against(frame, arm, f"cov_{name}")
    if not mine.size:
        return None
    difference = stats.mean_interval(mine - theirs)
    return Verdict(
        f"With {where} the CoV of {ARMS[arm]} is higher than that of vanilla (windows of {WINDOW_WORDS[name]})",
        answer(difference.low, difference.high),
        f"{_mean(mine)} against {_mean(theirs)}; paired difference {difference.words('+.4f')}; {_by_cell(frame, arm, f'cov_{name}')}",
    )


def _mean(values: stats.Vector) -> str:
    return f"{float(values.mean()):.4f}"


def _by_cell(frame: pl.DataFrame, arm: str, column: str) -> str:
    """In how many cells one is clearly above the other: Bonferroni intervals of paired differences."""
    own = differences(frame, arm, column)
    if not own:
        return "no combination of both"
    more, less = sum(each.low > 0 for each in own.values()), sum(each.high < 0 for each in own.values())
    return f"clearly higher in {more} and lower in {less} of {len(own)} combinations"


def differences(frame: pl.DataFrame, arm: str, column: str) -> dict[float, Interval]:
    """Paired differences to vanilla by cell (its number), with intervals that hold together at 95 % (Bonferroni)."""
    wide = frame.filter(pl.col("arm").is_in([arm, BASE])).select("cell", "arm", "replicate", pl.col(column).cast(pl.Float64)).drop_nulls()
    numbers = wide["cell"].n_unique()
    found: dict[float, Interval] = {}
    for (cell,), group in wide.group_by("cell", maintain_order=True):
        theirs, mine = against(group, arm, column)
        if mine.size:
            found[float(str(cell))] = stats.mean_interval(mine - theirs, 1 - 0.05 / max(numbers, 1))
    return found


def _higher_window(frame: pl.DataFrame) -> Verdict | None:
    return _more(frame, "highspeed", "cwnd_bytes",
                 f"With {CAPPED_BELOW:g} to {UNLIKE_UNTIL:g} Mbit/s of background HighSpeed TCP's mean congestion window is larger than "
                 f"vanilla's",
                 1e3, " kB")  # fmt: skip


def _lower_window_somewhere(frame: pl.DataFrame) -> Verdict | None:
    own = differences(frame, "scalable", "cwnd_bytes")
    if not own:
        return None
    rates = dict(frame.select("cell", "background_mbps").unique().rows())
    lower = sorted(rates[int(cell)] for cell, each in own.items() if each.high < 0)
    verdict = "yes" if lower else "no" if all(each.low > 0 for each in own.values()) else "cannot distinguish"
    theirs, mine = against(frame, "scalable", "cwnd_bytes")
    where = f"clearly smaller at {', '.join(f'{rate:g}' for rate in lower)} Mbit/s" if lower else (
        f"clearly larger at {sum(each.low > 0 for each in own.values())} of {len(own)} rates, clearly smaller at none")  # fmt: skip
    return Verdict(
        f"Scalable TCP's mean congestion window is smaller than vanilla's in part of {CAPPED_BELOW:g} to {UNLIKE_UNTIL:g} Mbit/s of "
        f"background",
        verdict,
        f"{where}; over the range {mine.mean() / 1e3:.0f} kB against {theirs.mean() / 1e3:.0f} kB",
    )


def _more(frame: pl.DataFrame, arm: str, column: str, claim: str, divisor: float = 1.0, unit: str = "") -> Verdict | None:
    theirs, mine = against(frame, arm, column)
    if not mine.size:
        return None
    difference = stats.mean_interval((mine - theirs) / divisor)
    ratio = f", {mine.mean() / theirs.mean():.2f} times" if theirs.mean() > 0 else ""
    return Verdict(
        claim,
        answer(difference.low, difference.high),
        f"{mine.mean() / divisor:,.1f}{unit} against {theirs.mean() / divisor:,.1f}{unit}{ratio}; paired difference "
        f"{difference.words('+,.1f')}; "
        f"{_by_cell(frame, arm, column)}",
    )


# --- beyond -------------------------------------------------------------------------------------------------------------


def _short_buffer(data: Data, rtt: str) -> Verdict | None:
    """The published buffer on a long path."""
    frame = data.where("RTT").filter(pl.col("RTT") == rtt)
    if frame.is_empty():
        return None
    shares = mean(frame.group_by("replicate", maintain_order=True).agg(pl.col("by_receiver").mean()), "by_receiver")
    carried = mean(frame.group_by("replicate", maintain_order=True).agg(pl.col("mean_bps").mean()), "mean_bps", MEGA)
    fitted = data.where("RTT", fitted=True).filter(pl.col("RTT") == rtt, pl.col("background").is_in(frame["background"].unique().to_list()))
    more = (
        f"; with a buffer that fits the path it is {float(vector(fitted, 'mean_bps').mean()) / MEGA:.0f}" if not fitted.is_empty() else ""
    )
    return Verdict(
        f"With a round trip of {rtt} and the published buffer it is the receiver's window that holds all stacks back",
        answer(shares.low, shares.high, WINDOW_LIMITED),
        f"for {shares.words('.0%')} of the time; they carry {carried.words('.1f')} Mbit/s{more}",
    )


def _buffer_lifts_the_cap(data: Data, arm: str) -> Verdict | None:
    """Throughput below the cap with the largest buffer against the published one; other backgrounds, so not paired."""
    frame = data.where("buffers").filter(pl.col("arm") == arm, pl.col("background_mbps") < CAPPED_BELOW)
    largest = float(frame["relative"].max() or 1.0)  # type: ignore[arg-type]
    rates = set(frame.filter(pl.col("relative") == largest)["background"])
    frame = frame.filter(pl.col("background").is_in(list(rates)))
    large, small = (vector(frame.filter((pl.col("relative") - which).abs() < 1e-9).group_by("replicate", maintain_order=True).agg(pl.col("mean_bps").mean()), "mean_bps")
                    for which in (largest, 1.0))  # fmt: skip
    if largest <= 1 or not small.size or not large.size:
        return None
    found = stats.ratio_interval(stats.means_of_groups(large, small))
    share = mean(
        frame.filter(pl.col("relative") == largest).group_by("replicate", maintain_order=True).agg(pl.col("by_receiver").mean()),
        "by_receiver",
    )
    return Verdict(
        f"A buffer {largest:g} times as large lifts the cap: {ARMS[arm]} carries more below {CAPPED_BELOW:g} Mbit/s of background",
        answer(found.low, found.high, 1.0),
        f"{found.words('.2f')} times as much, {large.mean() / MEGA:.0f} instead of {small.mean() / MEGA:.0f} Mbit/s; the receiver's "
        f"window then "
        f"holds it back for {share.words('.0%')} of the time",
    )


def _rougher_with_hurst(data: Data, arm: str, variance: str) -> Verdict | None:
    """The most against the least self-similar background; other backgrounds, so not paired."""
    frame = data.where("H", "variance").filter(
        pl.col("arm") == arm, pl.col("variance") == variance, pl.col("background_mbps") > CAPPED_BELOW
    )
    levels = data.levels(frame, "H")
    if len(levels) < 2:
        return None
    rates = set(frame.filter(pl.col("H") == levels[0])["background"]) & set(frame.filter(pl.col("H") == levels[-1])["background"])
    frame = frame.filter(pl.col("background").is_in(list(rates)))
    low, high = (vector(frame.filter(pl.col("H") == level).group_by("replicate", maintain_order=True).agg(pl.col("cov_second").mean()), "cov_second")
                 for level in (levels[0], levels[-1]))  # fmt: skip
    if not low.size or not high.size:
        return None
    difference = stats.difference_interval(stats.means_of_groups(high, low))
    return Verdict(
        f"With a variance of {variance} packets the CoV of {ARMS[arm]} is higher beside background with H = {levels[-1]} than with "
        f"{levels[0]}",
        answer(difference.low, difference.high),
        f"{_mean(high)} against {_mean(low)}, difference {difference.words('+.4f')} (windows of 1 s, above {CAPPED_BELOW:g} Mbit/s)",
    )


def right_hurst(table: pl.DataFrame) -> list[Verdict]:
    """Whether the background is as self-similar as it was asked to be: for each variance and estimator, over all Hurst parameters."""
    made: list[Verdict] = []
    for (variance, method), group in table.group_by("variance", "method", maintain_order=True):
        off = {h: _off(own) for (h,), own in group.group_by("H", maintain_order=True)}
        far, own = max(off.items(), key=lambda each: abs(each[1].estimate))
        inside = all(each.low > -RIGHT_HURST and each.high < RIGHT_HURST for each in off.values())
        outside = any(each.low > RIGHT_HURST or each.high < -RIGHT_HURST for each in off.values())
        made.append(Verdict(
            f"With a variance of {variance} packets the background has the Hurst parameter asked for, within {RIGHT_HURST:g} ({method})",
            "yes" if inside else "no" if outside else "cannot distinguish",
            f"farthest at H = {far}: {own.words('+.3f')} off, of {own.n} backgrounds",
        ))  # fmt: skip
    return made


def _off(group: pl.DataFrame) -> Interval:
    """Mean estimate less the parameter asked for, with the estimators' own standard errors."""
    values, errors = vector(group, "hurst") - vector(group, "H_value"), vector(group, "error")
    half = float(scipy_stats.norm.ppf(0.975)) * float(np.sqrt((errors**2).sum())) / values.size
    centre = float(values.mean())
    return Interval(centre, centre - half, centre + half, int(values.size), "95 % interval by the estimator's error")
