"""Trends by ranks of single runs, and by ranks of what the runs of a cell are together."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import stats
from sawtooth.errors import StudyError
from sawtooth.results.dataset import Dataset

# Of so short runs the start decides as much as the rate does.
STUDY = """\
repeat = 5
[draws]
start = { distribution = "uniform", low = "0", high = "900" }
[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
[[scenario.flows]]
name = "f"
path = ["l"]
start = "start * 1 ms"
[sweep]
"links.l.rate" = ["1000 kbit/s", "1010 kbit/s", "1020 kbit/s"]
"links.l.delay" = ["10 ms", "20 ms"]
"""
CLAIM = {"claim": "c", "metric": "delivered_bytes * 1", "is_": "rising", "along": "rate", "strata": True}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder: Path = tmp_path_factory.mktemp("trend")
    (folder / "s.toml").write_text(STUDY)
    return sawtooth.run(folder / "s.toml", folder / "out")


@pytest.mark.parametrize("statistic", ["mean", "median", "geometric mean"])
def test_ranks_of_cells_are_those_of_what_their_runs_are_together(results: Dataset, statistic: stats.Centre) -> None:
    found = results.finding(**CLAIM, ranks="cells", statistic=statistic)
    values = results.measure("delivered_bytes")
    strata = [
        ([1.0, 2.0, 3.0], [
            stats.centre(values.filter(delay=delay, rate=rate)["value"].to_numpy(), statistic).estimate
            for rate in ("1000 kbit/s", "1010 kbit/s", "1020 kbit/s")
        ]) for delay in ("10 ms", "20 ms")
    ]  # fmt: skip
    expected = stats.trend(strata)
    interval = found.evidence[0].interval
    assert interval is not None
    assert (interval.estimate, interval.n) == (pytest.approx(expected.rho), 6)
    assert f"rank correlation of the cells' {statistic}s within 2 strata {expected.rho:+.2f}" in found.numbers


def test_ranks_are_of_single_runs_where_nothing_is_said(results: Dataset) -> None:
    interval = results.finding(**CLAIM).evidence[0].interval
    assert interval is not None and interval.n == 30
    assert interval == results.finding(**CLAIM, ranks="runs").evidence[0].interval
    # Without strata each level of the other factor has ranks of its own.
    apart = results.finding(**{**CLAIM, "strata": False}, ranks="cells").evidence
    assert [each.interval.n for each in apart if each.interval] == [3, 3]


def test_other_ranks_are_refused(results: Dataset) -> None:
    with pytest.raises(StudyError) as caught:
        results.finding(**CLAIM, ranks="means")
    assert caught.value.message == "`ranks` cannot be `means`"
