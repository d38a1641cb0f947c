"""A warm-up as a share of runs and windows of another width: what they leave, and what each mistake in them is answered."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """\
repeat = 2
[scenario]
duration = "4.2 s"
sample = "100 ms"
links.l = { rate = "8 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"], name = "a" }]
[[findings]]
claim = "c"
is = "above"
than = THAN
metric = "METRIC"
"""
MISTAKES = {
    "a whole run": (
        "series.throughput_bps", 'warm_up = "100 %"', '"100 %"',
        "`100 %` leaves nothing of a run", 'such as warm_up = "10 %"',
    ),
    "nothing": (
        "series.throughput_bps", 'warm_up = "0 %"', '"0 %"',
        '`warm_up` is a share above 0, found "0 %"', 'such as warm_up = "5 %"',
    ),
    "of events": (
        "episodes.cwnd_after_bytes", 'warm_up = "10 %"', '"10 %"',
        "`mean(episodes.cwnd_after_bytes)` is of events, which do not tell when a run ended", 'name a time, such as "5 s"',
    ),
    "no time and no share": (
        "series.throughput_bps", "warm_up = 0.1", "0.1",
        "`0.1` is no time", 'such as "5 s", "10 %", or "mser-5"',
    ),
    "a width of nothing": (
        "series.throughput_bps", 'width = "0 ms"', '"0 ms"',
        "windows have a width above 0", 'such as width = "100 ms"',
    ),
    "a width that is no time": (
        "series.throughput_bps", 'width = "1 kB"', '"1 kB"',
        "`1 kB` is no time", 'such as width = "100 ms"',
    ),
    "a width of what has no windows": (
        "series.cwnd_bytes", 'width = "100 ms"', '"100 ms"',
        "`width` is of windows in which throughput is taken", "only series.throughput_bps has them",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_where_it_is_and_with_what_to_write(case: str) -> None:
    metric, key, at, message, hint = MISTAKES[case]
    than = '"1 Mbit/s"' if "throughput" in metric else '"10 kB"'
    text = STUDY.replace("METRIC", f"mean({metric})").replace("THAN", than) + key + "\n"
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(text, Path("s.toml")))
    assert caught.value.place is not None
    column = key.index(at) + 1
    assert (caught.value.message, caught.value.hint, str(caught.value.place)) == (message, hint, f"s.toml:12:{column}")


def test_a_share_and_a_width_choose_the_samples_that_count(tmp_path: Path) -> None:
    # Of 4.2 s the first 0.7: the window is 99 kB before, 46 kB just then, and then 10 kB. 1 kB a sample arrives before 1 s, then 2 kB.
    times = [n * 100_000_000 for n in range(1, 43)]
    series = pl.DataFrame({
        "run": [0] * 42, "flow": ["a"] * 42, "t_ns": times,
        "cwnd_bytes": [99_000.0 if t < 700_000_000 else 46_000.0 if t == 700_000_000 else 10_000.0 for t in times],
        "delivered_bytes": [n * 1000 if n <= 10 else 10_000 + (n - 10) * 2000 for n in range(1, 43)],
    })  # fmt: skip
    flows = pl.DataFrame([{"run": 0, "flow": "a", "cc": "reno", "start_ns": 0, "completion_ns": None, "lifetime_ns": 4_200_000_000}])
    study = STUDY[: STUDY.index("[[findings]]")]
    made = Dataset.create(tmp_path / "out", make_plan(Study.parse(study, Path("small.toml"))))
    tables = {"flows": flows, "series": series}
    status = pl.DataFrame(
        {"run": [0], "status": ["ok"], "message": [None]}, schema={"run": pl.UInt32, "status": pl.String, "message": pl.String}
    )
    made.write_batch(0, {name: table.with_columns(pl.col("run").cast(pl.UInt32)) for name, table in tables.items()}, status)
    dataset = sawtooth.Dataset.open(tmp_path / "out")

    def found(metric: str, width: str | None = None) -> float:
        return dataset.measure(metric, of="a", warm_up="16.6 %", width=width)["value"].item()

    assert found("mean(series.cwnd_bytes)") == pytest.approx((46_000 + 35 * 10_000) / 36)
    # Windows of half a second from 1 s on, of which there are six; 20 kB/s are 160 kbit/s.
    assert found("mean(series.throughput_bps)", "500 ms") == 160_000
    assert found("sd(series.throughput_bps)", "500 ms") == 0
    assert found("count(series.throughput_bps)", "500 ms") == 6
    # Of a quarter the first begins at 0.75 s, when samples bring 1 kB each.
    assert found("min(series.throughput_bps)", "250 ms") < 160_000
