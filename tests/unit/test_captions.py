"""Captions: what is said of points and of what was chosen, in sentences."""

from __future__ import annotations

import math

from sawtooth import estimates
from sawtooth.estimates import Estimate
from sawtooth.stats import Interval


def of_kind(kind: str, n: int = 12) -> Estimate:
    """An estimate whose interval was made so."""
    return Estimate(Interval(1.0, 0.0, math.inf, n, kind), n)


def test_a_caption_counts_what_has_no_interval_and_names_methods_once() -> None:
    found = [
        of_kind("95% t interval"),
        of_kind("95% t, log-scale and bootstrap-t interval"),
        *[of_kind("no variation in 12 runs: up to 23% of further ones may differ")] * 2,
        of_kind("n = 12 does not suffice: too many values are alike, or far off"),
        of_kind("95% t and log-scale interval, 2 of 12 unfinished: at least"),
    ]
    assert estimates.said(found, "mean") == (
        "Means of 12 runs with 95 % intervals (t, log-scale or bootstrap-t); 2 points without variation; of 1 point n = 12 does not suffice."
    )
    assert (
        estimates.said([of_kind("95% order-statistic interval")], "median") == "Medians of 12 runs with 95 % intervals (order-statistic)."
    )
    mixed = [of_kind("95% t interval", 3), of_kind("n = 1: no interval", 1)]
    assert estimates.said(mixed, "mean") == "Means of 1 to 3 runs with 95 % intervals (t); 1 point of a single run."
