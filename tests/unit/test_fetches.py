"""What held connections back, of datasets small enough to compute by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sawtooth.metrics import limits
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


def _flow(run: int, name: str, **columns: float) -> dict[str, object]:
    return {
        "run": run, "flow": name, "lifetime_ns": 4_000_000_000, "goodput_bps": 1e6, "retransmits": 3, "stall_ns": 1_000_000_000,
        "limited_rwnd_ns": 2_000_000_000, "limited_cwnd_ns": 1_000_000_000, **columns,
    }  # fmt: skip


def test_connections_have_the_share_of_each_cause_and_the_most_stalled_come_first(tmp_path: Path) -> None:
    rows = [
        _flow(1, "a"),
        _flow(0, "unmeasured", stall_ns=None),
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
