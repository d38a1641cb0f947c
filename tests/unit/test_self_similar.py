"""The report of the self-similar background study: its verdicts follow the data, and what the window holds back is flagged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sawtooth.metrics import instruments
from sawtooth.plan import make_plan
from sawtooth.report import report
from sawtooth.report.document import Report
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
name = "synthetic"
question = "Which?"
report = "self-similar"
repeat = 3
[vars]
background = "400 Mbit/s"
H = 0.8
variance = 1
RTT = "6 ms"
buffers = 1
queue = "100 packets"
time = "12 s"
[scenario]
duration = "time"
sample = "500 ms"
stack = "linux"
tcp = { receive_buffer_max = "1 MB * buffers" }
links.path = { rate = "1 Gbit/s", delay = "RTT / 2", queue = { name = "drop_tail", limit = "queue" } }
[[scenario.flows]]
name = "tcp"
path = ["path"]
[[scenario.flows]]
name = "background"
transport = "udp"
path = ["path"]
source = { name = "self_similar", mean = "background", variance = "variance", hurst = "H", period = "1476 us", cap = "120 packets", size = "1500 B" }
[[sweep]]
grids = [
  { "vars.H" = [0.8], "vars.variance" = [1], "vars.RTT" = ["6 ms"], "vars.buffers" = [1], "vars.queue" = ["100 packets"], "vars.time" = ["12 s"], "vars.background" = ["200 Mbit/s", "400 Mbit/s", "500 Mbit/s", "600 Mbit/s"] },
  { "vars.H" = [0.5, 0.8], "vars.variance" = [100], "vars.RTT" = ["6 ms"], "vars.buffers" = [1], "vars.queue" = ["100 packets"], "vars.time" = ["12 s"], "vars.background" = ["600 Mbit/s"] },
]
[arms]
vanilla = { "cc.name" = "reno" }
highspeed = { "cc.name" = "highspeed" }
scalable = { "cc.name" = "scalable" }
"""
PERIOD = 500_000_000
SAMPLES = 24
# Samples of half a second: windows of a tenth need more of them.
WIDTHS = {"second": 1_000_000_000, "tenth": 2_000_000_000}

Story = Callable[[Mapping[str, Any]], dict[str, float]]


def _story(row: Mapping[str, Any]) -> dict[str, float]:
    """What was published: capped below 425 Mbit/s, rough and busy new stacks above."""
    capped = row["background_value"] < 425e6
    new = row["arm"] != "vanilla"
    return {
        "bps": 570e6 if capped else (1e9 - row["background_value"]) * 1448 / 1500,
        "swing": 0.0 if capped else 0.2 + 0.01 * row["replicate"] if new else 0.1,
        "rwnd": 0.9 if capped else 0.0,
        "signals": 0 if capped else 40 if new else 10 + row["replicate"],
        "cwnd": 3e5 * {"vanilla": 1.0, "highspeed": 1.2, "scalable": 0.9}[row["arm"]] + row["replicate"],
    }


def _dataset(directory: Path, story: Story) -> Dataset:
    plan = make_plan(Study.parse(STUDY, Path("synthetic.toml")))
    made = Dataset.create(directory, plan)
    flows: list[dict[str, object]] = []
    series: list[dict[str, object]] = []
    for row in made.runs.to_dicts():
        told = story(row)
        life = SAMPLES * PERIOD
        flows.append({
            "run": row["run"], "flow": "tcp", "cc": row["arm"], "start_ns": 0, "completion_ns": -1, "lifetime_ns": life,
            "limited_rwnd_ns": int(told["rwnd"] * life), "limited_cwnd_ns": life - int(told["rwnd"] * life),
            **dict.fromkeys(("limited_pacing_ns", "limited_recovery_ns", "limited_rto_ns", "limited_source_ns", "limited_send_buffer_ns",
                             "limited_nagle_ns"), 0),
            "congestion_signals": told["signals"], "retransmits": 3 * told["signals"], "dupacks_in": 9 * told["signals"],
            "fast_retransmits": told["signals"], "timeouts": 0, "subsequent_timeouts": 0, "sacks_in": 10 * told["signals"], "dsacks_in": 0,
        })  # fmt: skip
        delivered = 0.0
        for sample in range(1, SAMPLES + 1):
            # Seconds in turn above and below the mean: samples 1 and 2 are the first one.
            swing = told["swing"] * (1 if (sample - 1) // 2 % 2 else -1)
            delivered += told["bps"] * (1 + swing) * PERIOD / 8e9
            series.append(
                {"run": row["run"], "flow": "tcp", "t_ns": sample * PERIOD, "cwnd_bytes": told["cwnd"], "delivered_bytes": int(delivered)}
            )
    status = pl.DataFrame(
        {"run": made.runs["run"], "status": "ok", "message": None}, schema={"run": pl.UInt32, "status": pl.String, "message": pl.String}
    )
    tables = {"flows": pl.DataFrame(flows), "series": pl.DataFrame(series)}
    made.write_batch(0, {name: table.with_columns(pl.col("run").cast(pl.UInt32)) for name, table in tables.items()}, status)
    return made


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("self_similar_data", "self_similar_findings"):
        monkeypatch.setattr(f"sawtooth.report.{module}.WINDOWS", WIDTHS)


def _answers(made: Report) -> dict[str, str]:
    return {verdict.claim: verdict.answer for section in made.sections for verdict in section.verdicts}


def _grid(made: Report, name: str) -> pl.DataFrame:
    return next(grid.frame for section in made.sections for grid in section.grids if grid.name == name)


@pytest.mark.usefixtures("widths")
def test_what_was_published_is_confirmed_of_data_that_show_it(tmp_path: Path) -> None:
    answers = _answers(report(_dataset(tmp_path / "out", _story)))
    assert answers["Above 425 Mbit/s of background vanilla has what the background leaves of the link, within 10%"] == "yes"
    assert answers["Below 425 Mbit/s of background the receiver's window holds Scalable TCP back"] == "yes"
    assert answers["Below 425 Mbit/s of background the CoV of HighSpeed TCP is that of vanilla, within 0.01 (windows of 1 s)"] == "yes"
    rough = "With 425 to 775 Mbit/s of background the CoV of {} is higher than that of vanilla (windows of 1 s)"
    assert answers[rough.format("HighSpeed TCP")] == answers[rough.format("Scalable TCP")] == "yes"
    assert answers["With 425 to 775 Mbit/s of background HighSpeed TCP's mean congestion window is larger than vanilla's"] == "yes"
    assert answers["Scalable TCP's mean congestion window is smaller than vanilla's in part of 425 to 775 Mbit/s of background"] == "yes"
    for words in ("congestion signals", "retransmissions", "duplicate ACKs"):
        assert answers[f"Scalable TCP has more {words} than vanilla above 425 Mbit/s of background"] == "yes"


@pytest.mark.usefixtures("widths")
def test_what_was_published_is_refuted_of_data_that_show_the_contrary(tmp_path: Path) -> None:
    turned = {"vanilla": "highspeed", "highspeed": "vanilla", "scalable": "vanilla"}

    def story(row: Mapping[str, Any]) -> dict[str, float]:
        told = _story({**row, "arm": turned[row["arm"]]})
        return told | {
            "rwnd": 0.1,
            "bps": 0.5 * told["bps"],
            "cwnd": 3e5 * (1 if row["arm"] == "vanilla" else 0.8 if row["arm"] == "highspeed" else 1.2),
        }

    answers = _answers(report(_dataset(tmp_path / "out", story)))
    refuted = [claim for claim, answer in answers.items() if answer == "no" and "Hurst parameter asked for" not in claim]
    for begin in ("Above 425", "Below 425 Mbit/s of background the receiver's window holds", "With 425 to 775 Mbit/s of background the CoV of Scalable",
                  "With 425 to 775 Mbit/s of background HighSpeed TCP's mean congestion window", "Scalable TCP's mean congestion window",
                  "HighSpeed TCP has more congestion signals"):  # fmt: skip
        assert any(claim.startswith(begin) for claim in refuted), begin


@pytest.mark.usefixtures("widths")
def test_stacks_that_do_alike_cannot_be_distinguished(tmp_path: Path) -> None:
    def story(row: Mapping[str, Any]) -> dict[str, float]:
        noise = np.random.default_rng(row["run"]).normal()
        return _story({**row, "arm": "vanilla"}) | {
            "swing": 0.1 + 0.01 * noise,
            "cwnd": 3e5 * (1 + 0.01 * noise),
            "signals": 20 + round(3 * noise),
        }

    answers = _answers(report(_dataset(tmp_path / "out", story)))
    assert (
        answers["With 425 to 775 Mbit/s of background HighSpeed TCP's mean congestion window is larger than vanilla's"]
        == "cannot distinguish"
    )
    assert (
        answers["Scalable TCP's mean congestion window is smaller than vanilla's in part of 425 to 775 Mbit/s of background"]
        == "cannot distinguish"
    )


@pytest.mark.usefixtures("widths")
def test_combinations_held_back_by_the_receivers_window_are_flagged_and_no_others(tmp_path: Path) -> None:
    flagged = _grid(report(_dataset(tmp_path / "out", _story)), "window_limited")
    # Two rates below 425 Mbit/s, three stacks.
    assert set(flagged["background"]) == {"200 Mbit/s", "400 Mbit/s"}
    assert flagged.height == 6


@pytest.mark.usefixtures("widths")
def test_the_background_that_was_sent_has_the_hurst_parameter_asked_for(tmp_path: Path) -> None:
    table = _grid(report(_dataset(tmp_path / "out", _story)), "hurst").filter(pl.col("variance_asked") == "100")
    # 8130 periods and three replicates: the standard error of the widest estimator is 0.03, of the mean of three 0.016.
    assert table.height == 2 * 3
    assert (table["measured"] - table["H_asked"].cast(pl.Float64)).abs().max() < 0.05  # type: ignore[operator]


def test_instruments_are_of_the_time_after_the_warm_up(tmp_path: Path) -> None:
    made = _dataset(tmp_path / "out", _story)
    found = (
        instruments.per_run(made, WIDTHS).join(made.runs, on="run").filter(pl.col("background") == "600 Mbit/s", pl.col("arm") == "vanilla")
    )
    # 12 s, of which 2 s are left out: ten windows of 1 s, in turn 10 % below and above the mean: CoV 0.1 sqrt(10 / 9).
    assert found["cov_second"].to_list() == pytest.approx([0.1 * np.sqrt(10 / 9)] * found.height, rel=1e-6)
    assert found["mean_bps"].to_list() == pytest.approx([4e8 * 1448 / 1500] * found.height, rel=1e-6)
    assert (found["by_receiver"] + found["by_window"] + found["by_sender"]).to_list() == pytest.approx([1.0] * found.height)
