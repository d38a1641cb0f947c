"""Dips of a curve of throughput over message size, and the published ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth.metrics import dips

PUBLISHED = Path(__file__).resolve().parents[2] / "studies/stall"


def test_a_dip_lies_between_higher_throughputs_and_a_rise_is_none() -> None:
    sizes = np.arange(1.0, 8.0)
    throughput = np.array([1.0, 4.0, 10.0, 4.0, 2.0, 9.0, 12.0])
    # The surface: 10 over the valley, and at the sixth, too, since 12 follows.
    assert dips.surface(throughput).tolist() == [1, 4, 10, 10, 10, 10, 12]
    found = dips.find(sizes, throughput, stall=np.array([0, 0, 0, 0.5, 0.7, 0, 0]))
    assert [(dip.first, dip.last, dip.deepest) for dip in found] == [(4, 5, 5)]
    assert found[0].share == pytest.approx(0.2)
    assert found[0].stall == pytest.approx(0.6)


def test_dips_apart_are_told_apart_and_a_smooth_curve_has_none() -> None:
    sizes = np.arange(1.0, 6.0)
    found = dips.find(sizes, np.array([1.0, 9.0, 1.0, 9.0, 1.0]), baseline=np.full(5, 10.0))
    assert [dip.first for dip in found] == [1, 3, 5]
    assert all(math.isnan(dip.stall) for dip in found)
    assert dips.find(sizes, np.array([1.0, 2.0, 3.0, 3.5, 3.6])) == []


def test_half_of_the_baseline_is_not_below_it() -> None:
    throughput, baseline = np.array([0.5, 0.499, 1.0]), np.ones(3)
    assert dips.below(throughput, baseline).tolist() == [False, True, False]
    assert dips.below(np.array([1.0, 0.5, 1.0])).tolist() == [False, False, False]
    assert dips.below(np.array([1.0, 0.499, 1.0])).tolist() == [False, True, False]
    assert dips.below(throughput, baseline, 0.499).tolist() == [False, False, False]


def test_a_rank_correlation_does_not_depend_on_the_unit() -> None:
    assert dips.rank_correlation(np.array([0.0, 0.5, 1.0]), np.array([3.0, 4.0, 5.0])) == pytest.approx(1)
    assert dips.rank_correlation(np.array([3.0, 4.0, 5.0]), np.array([1.0, 0.5, 0.0])) == pytest.approx(-1)
    assert math.isnan(dips.rank_correlation(np.arange(4.0), np.ones(4)))


def test_agreement_counts_what_is_found_and_what_is_too_much() -> None:
    ours, theirs = np.array([True, True, True, False, False]), np.array([True, False, False, True, False])
    assert dips.agreement(ours, theirs) == dips.Agreement(theirs=2, found=0.5, ours=3, surplus=2 / 3)
    assert math.isnan(dips.agreement(ours & ~ours, theirs).surplus)
    assert math.isnan(dips.rank_correlation(np.ones(4), np.arange(4.0)))


def test_the_published_dips_are_beyond_the_window_of_32_kib_and_stall_tells_them() -> None:
    corrected = pl.read_csv(PUBLISHED / "published-corrected.csv")
    for medium, nic in (("fast-ethernet", "fe1_intel_MBps"), ("atm", "atm1_efficient_MBps")):
        unfixed = pl.read_csv(PUBLISHED / f"published-{medium}-unfixed.csv").join(corrected, on="message_bytes").sort("message_bytes")
        sizes, throughput, baseline = (unfixed[name].to_numpy() for name in ("message_bytes", "throughput_MBps", nic))
        at = sizes[dips.below(throughput, baseline)]
        # Its first is at 32,000 bytes: the message and what the window holds differ by the partial packet.
        assert at.min() >= 32_000
        assert at.size in (26, 36)
        assert dips.rank_correlation(throughput / baseline, unfixed["stall_normalized"].to_numpy()) < -0.7
