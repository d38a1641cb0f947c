"""What sources send, and what estimators of the Hurst parameter make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sawtooth
from sawtooth import traffic
from sawtooth.plots.style import svg
from sawtooth.plots.variance_time import variance_time
from sawtooth.stats import hurst


def _scenario(source: dict[str, Any], duration: str = "60 s") -> dict[str, Any]:
    flow = {"name": "b", "path": ["l"], "transport": "udp", "source": source}
    return {"duration": duration, "links": {"l": {"rate": "1 Gbit/s", "delay": "3 ms"}}, "flows": [flow]}


SELF_SIMILAR = {
    "name": "self_similar",
    "mean": "50 packets",
    "variance": 100,
    "hurst": 0.9,
    "period": "1476 us",
    "cap": "120 packets",
}


@pytest.mark.parametrize("true", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
def test_estimators_recover_the_hurst_parameter_within_0_02_on_a_million_points(true: float) -> None:
    for found in hurst.estimates(traffic.noise(true, 2**20)):
        # Standard errors are 0.006 at most, so 0.02 is more than three of them.
        assert found.hurst == pytest.approx(true, abs=0.02), found.method
        assert 0.0005 < found.error < 0.0065, found.method


def test_standard_errors_are_the_spread_of_estimates() -> None:
    found = [hurst.estimates(traffic.noise(0.8, 2**13, seed)) for seed in range(60)]
    for at, first in enumerate(found[0]):
        values = np.array([each[at].hurst for each in found])
        errors = np.mean([each[at].error for each in found])
        # Of 60 values the standard deviation is known to 9 %: 0.7 and 1.4 are more than three of these off. Asymptotic errors are a little small.
        assert 0.7 < values.std(ddof=1) / errors < 1.4, first.method
        assert abs(values.mean() - 0.8) < 4 * values.std() / np.sqrt(60) + 0.012, first.method


def test_the_wavelet_estimator_does_not_see_a_straight_line() -> None:
    noise = traffic.noise(0.6, 2**16)
    trend = noise + np.linspace(0.0, 3.0, noise.size)
    assert hurst.wavelet(trend).hurst == pytest.approx(hurst.wavelet(noise).hurst, abs=1e-6)
    assert hurst.aggregated_variance(trend).hurst > 0.9


def test_a_line_that_does_not_fit_the_octaves_is_seen() -> None:
    noise = traffic.noise(0.8, 2**16)
    assert (hurst.wavelet(noise).p or 0) > 0.01
    # White noise on top, which dominates the first octaves.
    assert (hurst.wavelet(noise + 3 * traffic.noise(0.5, 2**16, name="white")).p or 0) < 1e-6


@pytest.mark.parametrize(
    ("series", "words"),
    [(np.arange(10.0), "at least 128 points are needed, found 10"), (np.ones(500), "a constant series has no Hurst parameter")],
)
def test_a_series_of_which_nothing_can_be_said_is_refused(series: Any, words: str) -> None:
    for estimator in (hurst.aggregated_variance, hurst.local_whittle, hurst.wavelet):
        with pytest.raises(ValueError, match=words):
            estimator(series)


def test_a_run_sends_the_packets_that_departures_tells() -> None:
    scenario = _scenario(SELF_SIMILAR)
    times, sizes = traffic.departures(scenario, 7, "b")
    records = sawtooth.simulate(scenario, 7)
    sent = records.tables["datagrams"]
    assert sent["sent_packets"].item() == times.size
    assert sent["sent_bytes"].item() == sizes.sum()
    counts = traffic.counts(times, 1476e-6, 60.0)
    told = {row["quantity"]: row["value"] for row in records.tables["sources"].iter_rows(named=True)}
    # The last period is cut off by the end of the run.
    assert told["periods"] == counts.size + 1
    assert counts.max() <= 120
    assert told["mean"] == pytest.approx(counts.mean(), rel=1e-3)
    assert told["variance"] == pytest.approx(counts.var(), rel=1e-2)
    # 40 650 periods; the error of the estimate is 0.01.
    assert hurst.wavelet(counts).hurst == pytest.approx(0.9, abs=0.04)


def test_on_off_sources_with_heavy_tails_are_self_similar_together() -> None:
    source = {"name": "pareto_on_off", "rate": "300 Mbit/s", "sources": 200, "alpha": 1.4, "mean_on": "20 ms", "mean_off": "20 ms"}
    times, _ = traffic.departures(_scenario(source, "100 s"), 3, "b")
    counts = traffic.counts(times, 2e-3, 100.0)
    # H = (3 - 1.4) / 2 = 0.8, in the limit of long times: from octave 8 on, 512 ms or 13 periods of on and off, and with an error of 0.05.
    assert hurst.wavelet(counts, first_octave=8).hurst == pytest.approx(0.8, abs=0.1)


def test_a_flow_of_udp_has_a_row_that_can_be_told_from_tcp() -> None:
    scenario = _scenario(SELF_SIMILAR, "2 s")
    scenario |= {"sample": "500 ms", "flows": [*scenario["flows"], {"name": "t", "path": ["l"]}]}
    records = sawtooth.simulate(scenario)
    assert records.flows.filter(pl.col("cc") == "")["flow"].to_list() == ["b"]
    series = records.series.filter(pl.col("flow") == "b")["delivered_bytes"].to_list()
    assert series == sorted(series)
    assert series[-1] > 0


def test_the_figure_is_drawn() -> None:
    counts = 50 + 10 * traffic.noise(0.9, 2**12)
    figure = variance_time({"H = 0.9": counts}, {"H = 0.9": hurst.aggregated_variance(counts)})
    assert "<path" in svg(figure)


def test_what_there_is_no_noise_or_flow_for_is_told() -> None:
    with pytest.raises(ValueError, match="a Hurst parameter is above 0 and below 1, found 1"):
        traffic.noise(1.0, 8)
    with pytest.raises(ValueError, match="no flow of UDP is called `c`; there are: b"):
        traffic.departures(_scenario(SELF_SIMILAR), 1, "c")
