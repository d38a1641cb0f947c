"""Measures held against their definitions, on tables small enough to compute by hand."""

from __future__ import annotations

import polars as pl
import pytest

from sawtooth.metrics import fairness, throughput

# Jain, Chiu and Hawe (1984): (sum x)^2 / (n sum x^2). Of 1, 2, 3 and 4: 100 / (4 x 30); of 1 and 3: 16 / (2 x 10).
FOUR = 100 / 120
TWO = 0.8


def _flows(*rows: tuple[int, str, int, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["cell", "arm", "replicate", "flow", "throughput_bps"], orient="row")


def test_jains_index_of_a_run_is_that_of_its_flows() -> None:
    flows = _flows(
        *((1, "a", 1, f"f[{n}]", float(n)) for n in (1, 2, 3, 4)),
        *((0, "a", 1, f"f[{n}]", x) for n, x in ((1, 1.0), (2, 3.0))),
        (0, "b", 1, "f[1]", 0.0),
        (0, "b", 1, "f[2]", 0.0),
    )
    runs = throughput.per_run(flows)
    assert runs["cell"].to_list() == [0, 0, 1]
    assert runs["arm"].to_list() == ["a", "b", "a"]
    assert runs["sum_bps"].to_list() == [4, 0, 10]
    assert runs["jain"].to_list() == pytest.approx([TWO, 0, FOUR])
    assert runs["min_share"].to_list() == pytest.approx([0.25, 0, 0.1])


def test_jains_index_of_means_is_that_of_the_flows_averaged_over_replicates() -> None:
    # Each run is unfair, to one side and then to the other; the means are 1 and 3.
    flows = _flows((0, "a", 1, "x", 2.0), (0, "a", 1, "y", 2.0), (0, "a", 2, "x", 0.0), (0, "a", 2, "y", 4.0), (0, "b", 1, "x", 0.0))
    found = fairness.of_means(flows)
    assert found["sum_of_means_bps"].to_list() == [4, 0]
    assert found["jain_of_means"].to_list() == pytest.approx([TWO, 0])
