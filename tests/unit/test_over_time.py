"""Measures over time, of datasets whose samples are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth import measures
from sawtooth.errors import DatasetError
from sawtooth.execute import execute
from sawtooth.measures import over_time
from sawtooth.metrics import sides
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
repeat = 2
[scenario]
duration = "10 s"
sample = "{sample}"
links.l = {{ rate = "8 Mbit/s", delay = "5 ms" }}
flows = [{{ path = ["l"], name = "a" }}, {{ path = ["l"], name = "b", start = "2 s" }}]
"""


def ran(directory: Path, sample: str = "100 ms") -> Dataset:
    path = directory / "s.toml"
    path.write_text(STUDY.format(sample=sample))
    plan = make_plan(Study.load(path))
    dataset = Dataset.create(directory / "out", plan)
    execute(plan, dataset)
    return dataset


def windows(rates: Mapping[str, Callable[[int], float | None]], count: int) -> pl.DataFrame:
    rows = [(0, name, at, rate(at)) for name, rate in rates.items() for at in range(count)]
    return pl.DataFrame([row for row in rows if row[3] is not None], schema=["run", "flow", "window", "bps"], orient="row")


def test_windows_add_up_to_what_was_delivered(tmp_path: Path) -> None:
    dataset = ran(tmp_path)
    found = over_time.windows(dataset).filter(run=0)
    assert found.filter(flow="a")["window"].to_list() == list(range(10))
    # The second flow starts after two windows.
    assert found.filter(flow="b")["window"].to_list() == list(range(2, 10))
    carried = found.group_by("flow").agg(pl.col("bps").sum() / 8).sort("flow")["bps"].to_list()
    delivered = dataset.flows().filter(run=0).sort("flow").collect()["delivered_bytes"].to_list()
    # What is delivered after the last sample, at most 100 ms of the link's 1 MB/s, is in no window.
    for sampled, whole in zip(carried, delivered, strict=True):
        assert whole - 100_000 <= sampled <= whole


def test_windows_are_whole_seconds_between_a_flow_s_start_and_its_end_and_the_end_of_its_run(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(sample="100 ms"))
    dataset = Dataset.create(tmp_path / "out", make_plan(Study.load(path)))
    # `a` is from 0.5 s on, 1 kB in each tenth of a second, and 2 kB in those of the fourth second; `b` is from 2 s to 5 s.
    rows: list[dict[str, object]] = []
    for run, last in ((0, 99), (1, 98)):
        for n in range(1, last + 1):
            t = n * 100_000_000
            rows.append({"run": run, "flow": "a", "t_ns": t, "delivered_bytes": 1000 * n + 1000 * min(max(n - 30, 0), 10)})
            rows.append({"run": run, "flow": "b", "t_ns": t, "delivered_bytes": 3000 * min(max(n - 20, 0), 30)})
    flows = [
        {"run": run, "flow": flow, "start_ns": start, "completion_ns": completion}
        for run in (0, 1)
        for flow, start, completion in (("a", 500_000_000, None), ("b", 2_000_000_000, 3_000_000_000))
    ]
    tables = {name: pl.DataFrame(made).with_columns(pl.col("run").cast(pl.UInt32)) for name, made in (("series", rows), ("flows", flows))}
    dataset.write_batch(
        0,
        tables,
        pl.DataFrame([(0, "ok", ""), (1, "ok", "")], {"run": pl.UInt32, "status": pl.String, "message": pl.String}, orient="row"),
    )
    found = over_time.windows(dataset)
    # 10 kB a second are 80 kbit/s. A sample may be missing at the end of a run: it is of just before its time.
    for run, last in ((0, 9), (1, 8)):
        a = found.filter(run=run, flow="a")
        assert a["window"].to_list() == list(range(1, last + 1))
        assert a["bps"].to_list() == pytest.approx(
            [160_000 if window == 3 else 72_000 if window == 9 else 80_000 for window in range(1, last + 1)]
        )
        b = found.filter(run=run, flow="b")
        assert (b["window"].to_list(), b["bps"].to_list()) == ([2, 3, 4], pytest.approx([240_000] * 3))
    halves = over_time.windows(dataset, 500_000_000).filter(run=0, flow="b")
    assert (halves["window"].to_list(), halves["bps"].to_list()) == (list(range(4, 10)), pytest.approx([240_000] * 6))


def test_steadiness_is_the_standard_deviation_over_the_mean() -> None:
    found = over_time.steadiness(windows({"a": lambda at: (1.0, 3.0)[at % 2], "b": lambda _: 5.0}, 4))
    # Of 1, 3, 1, 3 with n - 1: mean 2, variance 4/3.
    assert found.row(0) == (0, "a", 4, 2.0, pytest.approx((4 / 3) ** 0.5), pytest.approx((4 / 3) ** 0.5 / 2))
    assert found.row(1)[3:] == (5.0, 0.0, 0.0)
    # Of 0.1, 0.3: the ratio does not depend on the unit, and of nothing there is none.
    small = over_time.steadiness(windows({"a": lambda at: (0.1, 0.3)[at % 2], "b": lambda _: 0.0}, 4))
    assert small["cov"].to_list() == [pytest.approx((4 / 3) ** 0.5 / 2), None]


def test_fairness_counts_from_when_all_take_part_and_convergence_to_a_tenth_below_fair() -> None:
    # Shares of b: from window 2 on 0.1, 0.2, 0.3 ... of the whole: 0.45 at a fair share of 0.5 less a tenth is reached with 0.5, in window 6.
    def share(at: int) -> float:
        return min(0.5, 0.1 * (at - 1))

    found = windows({"a": lambda at: 1.0 - max(0.0, share(at)), "b": lambda at: share(at) if at >= 2 else None}, 10)
    per_window = over_time.jain(found)
    assert per_window["window"].to_list() == list(range(2, 10))
    assert per_window["jain"][0] == pytest.approx(1 / (2 * (0.9**2 + 0.1**2)))
    assert over_time.convergence(found, width_ns=10).rows() == [(0, 50)]
    never = windows({"a": lambda _: 9.0, "b": lambda _: 1.0}, 5)
    assert over_time.convergence(never).rows() == [(0, None)]


def test_a_flow_is_fair_with_nine_tenths_of_its_share() -> None:
    for share, time in ((0.4499, None), (0.4501, 1_000_000_000)):
        found = windows({"a": lambda _, share=share: 1 - share, "b": lambda _, share=share: share}, 3)  # type: ignore[misc]
        assert over_time.convergence(found).rows() == [(0, time)]


def test_where_nothing_is_carried_there_is_nothing_to_share() -> None:
    found = over_time.jain(windows({"a": lambda _: 0.0, "b": lambda _: 0.0}, 2))
    assert (found["jain"].to_list(), found["smallest"].to_list()) == ([0.0, 0.0], [0.0, 0.0])
    small = over_time.jain(windows({"a": lambda _: 0.1, "b": lambda _: 0.3}, 1))
    assert (small["jain"].item(), small["smallest"].item()) == pytest.approx((0.8, 0.5))


def test_a_links_directions_are_items_of_their_own(tmp_path: Path) -> None:
    found = sides.observe(ran(tmp_path), measures.measure("links.arrived_packets"), "mean")
    assert found["item"].to_list() == ["l forward", "l reverse"] * 2
    assert (found["value"] > 0).all()


def test_measures_over_time_are_metrics_like_others(tmp_path: Path) -> None:
    dataset = ran(tmp_path)
    cov = sides.observe(dataset, measures.measure("throughput_cov"), "each")
    assert cov["item"].unique().sort().to_list() == ["a", "b"]
    assert cov.height == 4
    assert (cov["value"] > 0).all()
    fair = sides.observe(dataset, measures.measure("jain_over_time"), "mean")
    assert fair["item"].to_list() == ["flows"] * 2
    assert fair["value"].is_between(0.5, 1.0).all()


def test_harm_is_the_share_that_is_gone() -> None:
    solo, beside = np.array([10.0, 4.0]), np.array([5.0, 5.0])
    assert over_time.harm(solo, beside).tolist() == [0.5, -0.25]
    assert over_time.harm(solo, beside, more_is_better=False).tolist() == pytest.approx([-1.0, 0.2])


def test_what_cannot_be_told_from_the_samples_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="windows of 1000 ms are too short for samples every 800 ms"):
        over_time.windows(ran(tmp_path, "800 ms"))


def test_the_largest_of_a_blocks_flows_is_when_the_last_one_was_done(tmp_path: Path) -> None:
    dataset = ran(tmp_path)
    each = sides.observe(dataset, measures.measure("goodput_bps"), "each")
    most = sides.observe(dataset, measures.measure("goodput_bps"), "max")
    blocks = each.with_columns(pl.col("item").str.replace(r"\[\d+\]$", "")).group_by(
        "cell", "arm", "replicate", "item", maintain_order=True
    )
    expected = blocks.agg(pl.col("value").max())
    assert most["value"].to_list() == expected["value"].to_list()
