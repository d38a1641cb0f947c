"""The verdicts of the self-similar background study follow its data: told a made-up story they confirm it, and told the contrary they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sawtooth import analyses
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from sawtooth.study.shipped import DIRECTORY

PERIOD, SAMPLES = 500_000_000, 60
Story = Callable[[Mapping[str, Any]], dict[str, float]]
CLAIMS = {
    "above": "From 425 to 775 Mbit/s of background the CoV of {} is higher than that of vanilla (windows of 1 s)",
    "window": "From 425 to 775 Mbit/s of background HighSpeed TCP's mean congestion window is larger than vanilla's",
    "smaller": "Scalable TCP's mean congestion window is smaller than vanilla's in a part of 425 to 775 Mbit/s of background",
    "signals": "From 425 to 775 Mbit/s of background {} has more congestion signals than vanilla",
}


def published(row: Mapping[str, Any]) -> dict[str, float]:
    """Capped below 425 Mbit/s, rough and busy new stacks above."""
    capped, new = row["background_value"] < 425e6, row["arm"] != "vanilla"
    return {
        "bps": 570e6 if capped else (1e9 - row["background_value"]) * 1448 / 1500,
        "swing": 0.0 if capped else 0.2 + 0.01 * row["replicate"] if new else 0.1,
        "signals": 0 if capped else 40 if new else 10 + row["replicate"],
        "cwnd": 3e5 * {"vanilla": 1.0, "highspeed": 1.2, "scalable": 0.9}[row["arm"]] + row["replicate"],
    }


def swapped(row: Mapping[str, Any]) -> dict[str, float]:
    """Vanilla and the new stacks exchanged."""
    arm = {"vanilla": "highspeed", "highspeed": "vanilla", "scalable": "vanilla"}[row["arm"]]
    return published({**row, "arm": arm}) | {
        "cwnd": 3e5 * {"vanilla": 1.0, "highspeed": 0.8, "scalable": 1.2}[row["arm"]] + row["replicate"]
    }


def shuffled(row: Mapping[str, Any]) -> dict[str, float]:
    """Rates of background mistaken: each has what was told of half of it."""
    return published({**row, "background_value": row["background_value"] / 2})


def verdicts(folder: Path, story: Story, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(analyses, "stored", lambda _manifest: None)
    made = Dataset.create(folder / "out", make_plan(Study.load(DIRECTORY / "self-similar-background/study.toml")))
    flows: list[dict[str, object]] = []
    series: list[dict[str, object]] = []
    for row in made.runs.filter(RTT="6 ms", buffers="1", queue="100 packets").to_dicts():
        told, signals = story(row), story(row)["signals"]
        life = SAMPLES * PERIOD
        flows.append({
            "run": row["run"], "flow": "tcp", "cc": row["arm"], "start_ns": 0, "completion_ns": -1, "lifetime_ns": life, "goodput_bps": told["bps"],
            "congestion_signals": signals, "retransmits": 3 * signals, "dupacks_in": 9 * signals, "fast_retransmits": signals, "sent_packets": 1,
        })  # fmt: skip
        delivered = 0.0
        for sample in range(1, SAMPLES + 1):
            # Seconds in turn above and below the mean.
            delivered += told["bps"] * (1 + told["swing"] * (1 if (sample - 1) // 2 % 2 else -1)) * PERIOD / 8e9
            series.append(
                {"run": row["run"], "flow": "tcp", "t_ns": sample * PERIOD, "cwnd_bytes": told["cwnd"], "delivered_bytes": int(delivered)}
            )
    status = made.runs.select("run", status=pl.lit("ok"), message=pl.lit(None, pl.String))
    tables = {"flows": pl.DataFrame(flows), "series": pl.DataFrame(series)}
    made.write_batch(0, {name: table.with_columns(pl.col("run").cast(pl.UInt32)) for name, table in tables.items()}, status)
    return {verdict.claim: verdict.answer for verdict in Answers(made).verdicts()}


def test_what_was_published_is_confirmed_of_data_that_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(tmp_path, published, monkeypatch)
    for name in ("HighSpeed TCP", "Scalable TCP"):
        assert found[CLAIMS["above"].format(name)] == found[CLAIMS["signals"].format(name)] == "yes"
    assert (found[CLAIMS["window"]], found[CLAIMS["smaller"]]) == ("yes", "yes")


def test_with_arms_swapped_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(tmp_path, swapped, monkeypatch)
    for name in ("HighSpeed TCP", "Scalable TCP"):
        assert found[CLAIMS["above"].format(name)] == found[CLAIMS["signals"].format(name)] == "no"
    assert (found[CLAIMS["window"]], found[CLAIMS["smaller"]]) == ("no", "no")


def test_with_rates_of_background_mistaken_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(tmp_path, shuffled, monkeypatch)
    for name in ("HighSpeed TCP", "Scalable TCP"):
        assert "yes" not in (found[CLAIMS["above"].format(name)], found[CLAIMS["signals"].format(name)])
