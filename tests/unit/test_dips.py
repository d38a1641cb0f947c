"""Dips of a curve of throughput over message size, and the published ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth import stats
from sawtooth.stats import dips

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


def test_agreement_counts_what_is_found_and_what_is_too_much() -> None:
    ours, theirs = np.array([True, True, True, False, False]), np.array([True, False, False, True, False])
    assert dips.agreement(ours, theirs) == dips.Agreement(theirs=2, found=0.5, ours=3, surplus=2 / 3)
    assert math.isnan(dips.agreement(ours & ~ours, theirs).surplus)


def test_the_published_dips_are_beyond_the_window_of_32_kib_but_for_one_size_and_stall_tells_them() -> None:
    published = pl.read_csv(PUBLISHED / "published.csv", comment_prefix="#")
    corrected = published.filter(kernel="corrected").select("host", "message_bytes", level="throughput")
    for host, count in (("fe1", 26), ("atm1", 36)):
        faulty = published.filter(kernel="stopwatch", host=host).join(corrected, on=["host", "message_bytes"]).sort("message_bytes")
        sizes, throughput, level = (faulty[name].to_numpy() for name in ("message_bytes", "throughput", "level"))
        at = sizes[dips.below(throughput, level)]
        # The first is at 32,000 bytes over ATM, which the window has room for.
        assert (at.min(), at.size) == (33_000 if host == "atm1" else 32_000, count)
        assert stats.spearman(throughput / level, faulty["stall"].to_numpy()) < -0.7
