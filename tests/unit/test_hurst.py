"""The estimators of the Hurst parameter held against their definitions, on series whose spectrum or block variances are known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, special
from scipy import stats as scipy_stats

from sawtooth import traffic
from sawtooth.stats import hurst

# Daubechies (1992), table 6.1, N = 2.
LOW = np.array([0.482962913145, 0.836516303738, 0.224143868042, -0.129409522551])
HIGH = LOW[::-1] * [1, -1, 1, -1]


def _of_spectrum(true: float, points: int, highest: int) -> Any:
    """A series whose periodogram is 2 frequency^(1 - 2 H) up to a frequency: cosines, of which one of amplitude A has A^2 N / (8 pi)."""
    k = np.arange(1, highest + 1)
    wanted = 2.0 * (2 * np.pi * k / points) ** (1 - 2 * true)
    amplitudes = np.sqrt(wanted * 8 * np.pi / points)
    return 5.0 + (amplitudes[:, None] * np.cos(2 * np.pi * np.outer(k, np.arange(points)) / points + k[:, None])).sum(axis=0), wanted


def test_block_variances_are_of_the_means_of_all_blocks_that_overlap() -> None:
    # Less their mean: -1, 2, -1, 0. Means of two in a row: 1/2, 1/2, -1/2.
    found = hurst.block_variances(np.array([0.0, 3.0, 0.0, 1.0]), np.array([1.0, 2.0, 4.0]))
    assert found == pytest.approx([6 / 4, 1 / 4, 0])


@pytest.mark.parametrize("true", [0.3, 0.6, 0.9])
def test_local_whittle_finds_the_exponent_of_a_spectrum_that_is_a_power(true: float) -> None:
    series, wanted = _of_spectrum(true, 400, 60)
    found = hurst.local_whittle(series, 60)
    assert found.method == "local Whittle"
    assert found.hurst == pytest.approx(true, abs=1e-5)
    assert found.error == pytest.approx(1 / (2 * np.sqrt(60)))
    assert found.scales == pytest.approx(np.arange(1, 61) / 400)
    assert found.values == pytest.approx(wanted)
    assert found.fitted == pytest.approx(wanted, rel=1e-3)
    assert found.p is None
    # 400^0.65 = 49.1.
    assert hurst.local_whittle(series).scales.size == 49


def test_a_bandwidth_is_of_two_frequencies_or_more_and_not_beyond_half_of_the_points() -> None:
    series = traffic.noise(0.7, 200)
    assert [hurst.local_whittle(series, bandwidth).values.size for bandwidth in (2, 100)] == [2, 100]
    for bandwidth in (1, 101):
        with pytest.raises(ValueError, match=f"a bandwidth of 2 to 100 is possible, found {bandwidth}"):
            hurst.local_whittle(series, bandwidth)


def test_what_no_stationary_noise_has_is_taken_to_the_nearest_that_one_has() -> None:
    # Sums of noise, and differences of differences.
    for true, nearest in ((1.4, 0.999), (-0.4, 0.001)):
        assert hurst.local_whittle(_of_spectrum(true, 400, 60)[0], 60).hurst == pytest.approx(nearest, abs=2e-5)


def _fejer_covariance(true: float, sizes: Any, points: int) -> Any:
    """Of the logarithms of weighted sums of a periodogram, by all of its frequencies below one half."""
    half = np.pi * np.arange(1, points // 2) / points
    weighted = np.array([(np.sin(m * half) / (m * np.sin(half))) ** 2 for m in sizes]) * (2 * half) ** (1 - 2 * true)
    return weighted @ weighted.T / np.outer(weighted.sum(axis=1), weighted.sum(axis=1))


@pytest.mark.parametrize(("points", "tolerance"), [(1024, 1e-6), (2**16, 1e-3)])
def test_aggregated_variance_finds_the_exponent_of_variances_that_are_a_power(
    points: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = 0.8
    doublings = int(np.log2(points / 256))
    sizes = 8.0 * 2 ** np.arange(doublings + 1)
    exact = 3.0 * (sizes ** (2 * true - 2) - points ** (2 * true - 2))
    monkeypatch.setattr(hurst, "block_variances", lambda *_: exact)  # pyright: ignore[reportUnknownLambdaType]
    found = hurst.aggregated_variance(traffic.noise(0.5, points))
    assert found.method == "aggregated variance"
    assert found.scales == pytest.approx(sizes)
    assert found.hurst == pytest.approx(true, abs=1e-5)
    assert found.values == pytest.approx(exact)
    assert found.fitted == pytest.approx(exact, rel=1e-4)
    # The error of the slope of generalised least squares, of which the derivative of the logarithm of a power difference is known.
    whole = float(points)
    slopes = 2 * (sizes ** (2 * true - 2) * np.log(sizes) - whole ** (2 * true - 2) * np.log(whole)) / (exact / 3)
    design = np.stack([np.ones_like(sizes), slopes], axis=1)
    inverse = np.linalg.inv(_fejer_covariance(true, sizes, points))
    assert found.error == pytest.approx(np.sqrt(np.linalg.inv(design.T @ inverse @ design)[1, 1]), rel=tolerance + 1e-4)


def test_aggregated_variance_is_the_generalised_least_squares_of_the_logarithms() -> None:
    series = traffic.noise(0.8, 2**13)
    found = hurst.aggregated_variance(series)
    logs = np.log(hurst.block_variances(series, found.scales))
    inverse = np.linalg.inv(_fejer_covariance(found.hurst, found.scales, series.size))
    ones = np.ones(logs.size)

    def level(h: float) -> tuple[float, Any]:
        rest = logs - np.log(found.scales ** (2 * h - 2) - float(series.size) ** (2 * h - 2))
        return float(ones @ inverse @ rest / (ones @ inverse @ ones)), rest

    def misfit(h: float) -> float:
        middle, rest = level(h)
        return float((rest - middle) @ inverse @ (rest - middle))

    best = optimize.minimize_scalar(misfit, bounds=(0.5, 0.99), method="bounded", options={"xatol": 1e-7})
    assert found.hurst == pytest.approx(float(best.x), abs=1e-4)
    expected = np.exp(level(found.hurst)[0]) * (found.scales ** (2 * found.hurst - 2) - float(series.size) ** (2 * found.hurst - 2))
    assert found.fitted == pytest.approx(expected, rel=1e-3)


def test_aggregated_variance_needs_three_sizes_of_blocks() -> None:
    # 1024 points are 32 blocks of 32; twice as many with blocks from 16 on.
    assert hurst.aggregated_variance(traffic.noise(0.7, 1024)).scales.tolist() == [8, 16, 32]
    assert hurst.aggregated_variance(traffic.noise(0.7, 2048), 16).scales.tolist() == [16, 32, 64]
    assert hurst.aggregated_variance(traffic.noise(0.7, 1024), fewest=16).scales.tolist() == [8, 16, 32, 64]
    with pytest.raises(ValueError, match="1023 points are too few for blocks of 8 periods"):
        hurst.aggregated_variance(traffic.noise(0.7, 1023))


@pytest.mark.parametrize(("first", "last", "points"), [(1, None, 300), (2, 5, 2000), (4, None, 2**12)])
def test_the_wavelet_estimator_is_as_in_veitch_and_abry(first: int, last: int | None, points: int) -> None:
    series = traffic.noise(0.8, points) + 7
    found = hurst.wavelet(series, first, last)
    rest, energies, counts = series, [], []
    # Every second inner product, of those that need no value beyond the ends; the last octave has at least four.
    while (rest.size - 4) // 2 + 1 >= 4 and len(counts) != last:
        at = range(0, rest.size - 3, 2)
        details = np.array([HIGH @ rest[k : k + 4][::-1] for k in at])
        rest = np.array([LOW @ rest[k : k + 4][::-1] for k in at])
        energies.append(np.mean(details**2))
        counts.append(len(at))
    octaves, n = np.arange(first, len(counts) + 1), np.array(counts[first - 1 :])
    assert found.method == "wavelet"
    assert found.scales.tolist() == octaves.tolist()
    # The mean and the variance of the logarithm of a chi-square over n.
    values = np.log2(energies[first - 1 :]) - (special.digamma(n / 2) / np.log(2) - np.log2(n / 2))
    assert found.values == pytest.approx(values, abs=1e-6)
    weights = np.log(2) ** 2 / special.polygamma(1, n / 2)
    slope, begin = np.polyfit(octaves, values, 1, w=np.sqrt(weights))
    assert found.hurst == pytest.approx((slope + 1) / 2, abs=1e-6)
    assert found.fitted == pytest.approx(begin + slope * octaves, abs=1e-6)
    design = np.stack([np.ones(octaves.size), octaves], axis=1)
    assert found.error == pytest.approx(np.sqrt(np.linalg.inv(design.T @ (weights[:, None] * design))[1, 1]) / 2)
    misfit = (weights * (values - begin - slope * octaves) ** 2).sum()
    assert found.p == pytest.approx(scipy_stats.chi2.sf(misfit, octaves.size - 2), abs=1e-6)


def test_a_line_needs_three_octaves() -> None:
    # Of 128 points 63, 30, 14 and 6 coefficients are within; the next octave would have two.
    noise = traffic.noise(0.7, 128)
    assert hurst.wavelet(noise, 2).scales.tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="128 points have 4 octaves, and three are needed from octave 3 on"):
        hurst.wavelet(noise, 3)
    with pytest.raises(ValueError, match="at least 128 points are needed, found 127"):
        hurst.wavelet(noise[:127], 2)


def test_a_series_is_one_row_of_finite_numbers() -> None:
    assert hurst.wavelet(np.arange(128) % 7, 1).scales.size == 4
    for series in (np.full(200, np.nan), np.array(["a"] * 200), list(range(200))):
        with pytest.raises(Exception, match="a series is an array of finite numbers, one of each period"):
            hurst.local_whittle(series)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="at least 128 points are needed"):
        hurst.local_whittle(np.ones((200, 2)))


def test_all_three_have_their_defaults() -> None:
    noise = traffic.noise(0.7, 2**12)
    found = hurst.estimates(noise)
    assert [each.method for each in found] == ["aggregated variance", "local Whittle", "wavelet"]
    # 4096 = 8 x 32 x 2^4; 4096^0.65 = 222.9; octaves from the fourth to the last with four coefficients, 2045 ... 5 of them.
    assert found[0].scales.tolist() == [8, 16, 32, 64, 128]
    assert found[1].scales.size == 222
    assert found[2].scales.tolist() == [4, 5, 6, 7, 8, 9]
