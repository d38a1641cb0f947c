"""Rows taken together: where they belong is found once, and what they come to is the same to the bit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sawtooth.measures.together import Together, taken_together


def rows(seed: int, runs: int = 200) -> pl.DataFrame:
    """Flows of two blocks in each run, as many as come; some values are unknown, some unfinished."""
    generator = np.random.default_rng(seed)
    found = [(run, item) for run in range(runs) for item in ("a", "b") for _ in range(generator.integers(0, 40))]
    low = generator.lognormal(10, 3, len(found))
    known = pl.DataFrame(found, schema={"run": pl.UInt32, "item": pl.String}, orient="row").with_columns(
        low=pl.Series(np.where(generator.random(len(found)) < 0.002, np.nan, low)).fill_nan(None)
    )
    unfinished = pl.Series(generator.random(len(found)) < 0.002)
    return known.with_columns(high=pl.when(unfinished).then(float("inf")).otherwise("low"))


@pytest.mark.parametrize("how", ["mean", "each", "sum", "max", "min", "median", "count", "sd", "cov", "jain", "p95", "first", "last"])
def test_what_is_known_of_rows_changes_no_bit(how: str) -> None:
    together, table = Together(), rows(1)
    expected = taken_together(table.lazy(), how, (), many=False)
    assert expected["low"].null_count() > 0
    for _ in range(3):
        assert together.whole(table.lazy(), how, (), ("flows",)).equals(expected, null_equal=True)


def test_rows_in_between_are_taken_together_all_the_same() -> None:
    table = rows(2).sample(fraction=1.0, shuffle=True, seed=3)
    together = Together()
    for _ in range(2):
        # Sums of rows in between others are put together as threads come to them: their last digit may differ from one time to the next.
        found = together.whole(table.lazy(), "median", (), ("flows",))
        assert found.equals(taken_together(table.lazy(), "median", (), many=False), null_equal=True)


@pytest.mark.parametrize("change", ["a run more", "a run less", "another order"])
def test_rows_that_were_stored_meanwhile_are_found_anew(change: str) -> None:
    together, table = Together(), rows(4)
    together.whole(table.lazy(), "mean", (), ("flows",))
    other = {
        "a run more": pl.concat([table, rows(5, 3).with_columns(pl.col("run") + 1000)]),
        "a run less": table.filter(pl.col("run") != 199),
        "another order": pl.concat([table.filter(pl.col("run") >= 100), table.filter(pl.col("run") < 100)]),
    }[change]
    for _ in range(2):
        found = together.whole(other.lazy(), "mean", (), ("flows",))
        assert found.equals(taken_together(other.lazy(), "mean", (), many=False), null_equal=True)


def test_columns_that_tell_values_apart_have_groups_of_their_own() -> None:
    table = (
        rows(6).with_columns(link=pl.Series(["l", "m"]).sample(rows(6).height, with_replacement=True, seed=7)).sort("run", "item", "link")
    )
    together = Together()
    for _ in range(2):
        assert together.whole(table.lazy(), "sum", (), ("t",)).equals(taken_together(table.lazy(), "sum", (), many=False), null_equal=True)
        found = together.whole(table.lazy(), "sum", ("link",), ("t", "link"))
        assert found.equals(taken_together(table.lazy(), "sum", ("link",), many=False), null_equal=True)
