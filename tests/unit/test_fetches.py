"""Statistics of fetches, and what held connections back, of datasets small enough to compute by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth.metrics import fetch, instruments, limits
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
name = "small"
question = "Which?"
repeat = {repeat}
[vars]
delay = "5 ms"
[scenario]
duration = "9 s"
sample = "100 ms"
links.l = {{ rate = "8 Mbit/s", delay = "delay" }}
flows = [{{ path = ["l"], name = "a" }}, {{ path = ["l"], name = "b" }}]
[sweep]
"vars.delay" = ["5 ms", "7 ms"]
"""


def _dataset(directory: Path, repeat: int, status: list[tuple[int, str, str | None]], **tables: pl.DataFrame) -> Dataset:
    made = Dataset.create(directory / "out", make_plan(Study.parse(STUDY.format(repeat=repeat), Path("small.toml"))))
    schema = {"run": pl.UInt32, "status": pl.String, "message": pl.String}
    numbered = {name: table.with_columns(pl.col("run").cast(pl.UInt32)) for name, table in tables.items()}
    made.write_batch(0, numbered, pl.DataFrame(status, schema, orient="row"))
    return made


def _fetches(*rows: tuple[int, str, int, float | None]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema={"run": pl.UInt32, "arm": pl.String, "fetch": pl.UInt32, "seconds": pl.Float64}, orient="row")
    return frame.with_columns(retransmits=pl.col("fetch") * 2, timeouts=pl.lit(0))


def test_of_few_blocks_each_fetch_is_resampled_and_of_five_each_block() -> None:
    few = fetch.resampled(_fetches((0, "x", 1, 1.0), (0, "x", 2, 2.0), (1, "x", 1, 6.0), (1, "x", 2, None), (2, "y", 1, 4.0)), ["arm"])
    assert few.kind == "fetches"
    assert few.keys["arm"].to_list() == ["x", "y"]
    assert few.mean_s.tolist() == [3.0, 4.0]
    assert few.units.tolist() == [3, 1]
    assert not few.resampled
    assert fetch.resampled(_fetches((0, "x", 1, 1.0), (0, "x", 2, 2.0)), ["arm"]).resampled
    # Means of three of 1, 2 and 6.
    assert few.draws_s.shape == (fetch.DRAWS, 2)
    assert {round(3 * mean) for mean in few.draws_s[:, 0]} == {3, 4, 5, 6, 8, 9, 10, 13, 14, 18}
    # Blocks of two fetches and one: a block's mean is of all its fetches.
    blocks = _fetches(*((run, "x", n, 1.0 + run) for run in range(5) for n in range(1, 3 if run % 2 else 2)))
    many = fetch.resampled(blocks, ["arm"])
    assert (many.kind, many.units.tolist()) == ("blocks", [5])
    # 1, 2, 2, 3, 4, 4 and 5.
    assert many.mean_s == pytest.approx([21 / 7])
    drawn = np.random.default_rng(1).integers(0, 5, (fetch.DRAWS, 5))
    totals, counts = np.array([1.0, 4.0, 3.0, 8.0, 5.0]), np.array([1, 2, 1, 2, 1])
    assert many.draws_s[:, 0] == pytest.approx(totals[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    low, high = np.quantile(many.draws_s[:, 0], (0.025, 0.975))
    (interval,) = many.intervals()
    assert (interval.low, interval.high, interval.n) == (pytest.approx(low), pytest.approx(high), 5)


def test_statistics_are_over_completed_fetches_and_over_blocks() -> None:
    found = fetch.statistics(_fetches((0, "x", 1, 1.0), (0, "x", 2, 3.0), (1, "x", 1, 6.0), (1, "x", 2, None), (2, "y", 1, 4.0)), ["arm"])
    x, y = found.to_dicts()
    assert [x[name] for name in ("arm", "n", "blocks", "unfinished", "max_s", "min_s")] == ["x", 3, 2, 1, 6.0, 1.0]
    assert (x["mean_s"], x["stdev_s"], x["cov"]) == pytest.approx((10 / 3, np.sqrt(19 / 3), np.sqrt(19 / 3) / (10 / 3)))
    # Student's t: 4.3027 of two degrees of freedom, 12.7062 of one; blocks are 2 and 6, whose standard error is 2.
    assert (x["ci95_s"], x["ci95_blocks_s"]) == pytest.approx((4.30265 * np.sqrt(19 / 3 / 3), 12.7062 * 2), rel=1e-5)
    assert (x["retransmits"], x["timeouts"]) == (3.0, 0.0)
    assert [y[name] for name in ("n", "blocks", "mean_s", "stdev_s", "ci95_s", "cov", "ci95_blocks_s")] == [
        1,
        1,
        4.0,
        None,
        None,
        None,
        None,
    ]


def test_what_is_missing_is_runs_not_done_and_failed_and_fetches_that_did_not_complete(tmp_path: Path) -> None:
    # Runs 0 to 2 are of 5 ms, 3 to 5 of 7 ms.
    made = _dataset(tmp_path, 3, [(0, "ok", None), (1, "failed", "it broke"), (3, "ok", None), (4, "ok", None), (5, "ok", None)])
    planned = fetch.cells(made, {"delay_ms": "delay"})
    assert planned["delay_ms"].to_list() == [5.0] * 3 + [7.0] * 3
    fetches = _fetches((0, "", 1, None), (0, "", 2, None), (0, "", 3, 1.0), (3, "", 1, 1.0), (4, "", 1, 1.0), (5, "", 1, 1.0))
    (row,) = fetch.missing(made, planned, fetches, ["delay_ms"]).to_dicts()
    assert row == {"delay_ms": 5.0, "runs": 3, "not_done": 1, "failed": 1, "unfinished_fetches": 2, "message": "it broke"}
    # Each of the three is enough.
    done = [(run, "ok", None) for run in range(6)]
    for at, (name, status, seconds) in enumerate(
        (("not_done", done[1:], 1.0), ("failed", [*done[:5], (5, "failed", None)], 1.0), ("unfinished_fetches", done, None))
    ):
        directory = tmp_path / str(at)
        directory.mkdir()
        made = _dataset(directory, 3, status)  # type: ignore[arg-type]
        (row,) = fetch.missing(made, planned, _fetches((0, "", 1, seconds)), ["delay_ms"]).to_dicts()
        assert {key: row[key] for key in ("not_done", "failed", "unfinished_fetches") if row[key]} == {name: 1}


def _flow(run: int, name: str, **columns: float) -> dict[str, object]:
    return {
        "run": run, "flow": name, "lifetime_ns": 4_000_000_000, "goodput_bps": 1e6, "retransmits": 3, "stall_ns": 1_000_000_000,
        "limited_rwnd_ns": 2_000_000_000, "limited_cwnd_ns": 1_000_000_000, **columns,
    }  # fmt: skip


def test_connections_have_the_share_of_each_cause_and_the_most_stalled_come_first(tmp_path: Path) -> None:
    rows = [
        _flow(1, "a"),
        _flow(0, "unmeasured", stall_ns=-1),
        _flow(0, "empty", lifetime_ns=0),
        _flow(0, "slower"),
        _flow(0, "quick", goodput_bps=9e6),
        _flow(0, "same", goodput_bps=9e6),
        _flow(0, "never", stall_ns=0),
        _flow(0, "stalled", stall_ns=3_000_000_000),
    ]
    found = limits.per_connection(_dataset(tmp_path, 1, [(0, "ok", None), (1, "ok", None)], flows=pl.DataFrame(rows)))
    assert found["flow"].to_list() == ["stalled", "quick", "same", "slower", "never", "unmeasured", "a"]
    assert found["run"].to_list() == [0] * 6 + [1]
    assert found["replicate"].to_list() == [1] * 7
    assert found["seconds"].to_list() == pytest.approx([4.0] * 7)
    assert found["stall"].to_list() == [0.75, 0.25, 0.25, 0.25, 0.0, None, 0.25]
    assert found["receive window"].to_list() == [0.5] * 7
    assert found["congestion window"].to_list() == [0.25] * 7
    # What no column tells is not shown.
    assert "pacing" not in found.columns


def test_intervals_of_a_connection_have_their_rate_and_the_share_of_each_cause(tmp_path: Path) -> None:
    causes = {f"limited_{name}_ns": 0 for name in limits.TITLES} | {"limited_rto_ns": 100_000_000}
    rows = [
        {"run": run, "flow": flow, "start_ns": begin, "t_ns": end, "interval_bytes": 50_000, "stall_ns": 150_000_000, **causes}
        for run, flow, begin, end in (
            (0, "a", 1_000_000_000, 1_400_000_000),
            (0, "a", 500_000_000, 1_000_000_000),
            (0, "b", 0, 1_000_000_000),
            (1, "a", 0, 1_000_000_000),
        )
    ]
    found = limits.over_time(_dataset(tmp_path, 1, [(0, "ok", None), (1, "ok", None)], limits=pl.DataFrame(rows)), 0, "a")
    assert (found["begin"].to_list(), found["seconds"].to_list()) == (pytest.approx([0.5, 1.0]), pytest.approx([1.0, 1.4]))
    # 400 kbit in 0.5 s and in 0.4 s.
    assert found["goodput_bps"].to_list() == pytest.approx([8e5, 1e6])
    assert found["stall"].to_list() == pytest.approx([0.3, 0.375])
    assert found["timeout"].to_list() == pytest.approx([0.2, 0.25])
    assert found["pacing"].to_list() == [0.0, 0.0]


def test_a_sixth_of_a_run_is_the_warm_up_of_its_instruments(tmp_path: Path) -> None:
    # Of 4.2 s the first 0.7: the window is 99 kB before, 46 kB just then, and then 10 kB. 1 kB a sample arrives before 1 s, then 2 kB.
    times = [n * 100_000_000 for n in range(1, 43)]
    series = pl.DataFrame(
        {
            "run": [0] * 42,
            "flow": ["a"] * 42,
            "t_ns": times,
            "cwnd_bytes": [99_000.0 if t < 700_000_000 else 46_000.0 if t == 700_000_000 else 10_000.0 for t in times],
            "delivered_bytes": [n * 1000 if n <= 10 else 10_000 + (n - 10) * 2000 for n in range(1, 43)],
        }
    )
    names = (
        "congestion_signals", "retransmits", "dupacks_in", "fast_retransmits", "timeouts", "subsequent_timeouts", "sacks_in", "dsacks_in",
        *(f"limited_{name}_ns" for name in limits.TITLES),
    )  # fmt: skip
    flow = dict.fromkeys(names, 0) | {"run": 0, "cc": "reno", "start_ns": 0, "completion_ns": -1, "lifetime_ns": 4_200_000_000}
    flows = pl.DataFrame([flow | {"flow": "a", "limited_rwnd_ns": 2_100_000_000, "timeouts": 5}, flow | {"flow": "udp", "cc": ""}])
    made = _dataset(tmp_path, 1, [(0, "ok", None), (1, "ok", None)], flows=flows, series=series)
    (row,) = instruments.per_run(made, {"half": 500_000_000, "second": 1_000_000_000}).to_dicts()
    assert row["cwnd_bytes"] == pytest.approx((46_000 + 35 * 10_000) / 36)
    # Windows of half a second from 1 s on; 20 kB/s are 160 kbit/s.
    assert (row["mean_bps"], row["sd_half_bps"], row["cov_second"]) == (160_000, 0, 0)
    assert (row["Timeouts"], row["by_receiver"], row["by_window"]) == (5, 0.5, 0)
