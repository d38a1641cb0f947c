"""The Hurst parameter of a series of counts, by three estimators, each with its standard error.

All take increments (packets per period), not their sums, and agree on what they estimate: with 0.5 < H < 1 the autocovariance falls as
k^(2H - 2), the spectral density rises as f^(1 - 2H) towards f = 0, and the variance of means of m periods falls as m^(2H - 2).

Which to believe: on fractional Gaussian noise all three are right within their errors. Real traffic scales from some period
on only: look at the figure (`plots.variance_time`), and choose the range. A trend or a jump of the mean looks like H near 1 to
`aggregated_variance`, less so to `local_whittle`, and not to `wavelet`, which does not see a straight line. Confidence intervals are `hurst` +- 1.96 `error`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import optimize, special
from scipy import stats as scipy_stats

from sawtooth.errors import wrong_type
from sawtooth.stats import Vector, vector

# The fewest points of which anything can be said.
FEWEST = 128
# Where estimates are looked for: beyond both ends no stationary noise is self-similar.
_BOUNDS = (0.001, 0.999)
# Of numerical derivatives with respect to it.
_STEP = 1e-5


@dataclass(frozen=True)
class Estimate:
    """A Hurst parameter.

    Attributes:
        method: `aggregated variance`, `local Whittle` or `wavelet`.
        hurst: the estimate. error: its standard error, if the series is Gaussian and scales over the whole range used.
        scales: what was looked at: block sizes, in periods; frequencies, in cycles per period; or octaves.
        values: at each of them, the variance of block means; the periodogram; or the debiased log2 of the mean square of the wavelet coefficients.
        fitted: the model at each of them, in the unit of `values`.
        p: of the fit, where its goodness is tested (wavelet: chi-square of the octaves around the line); else null.

    """

    method: str
    hurst: float
    error: float
    scales: Vector
    values: Vector
    fitted: Vector
    p: float | None = None


def estimates(series: Vector) -> list[Estimate]:
    """All three with their defaults."""
    return [aggregated_variance(series), local_whittle(series), wavelet(series)]


def block_variances(series: Vector, sizes: Vector) -> Vector:
    """Variance of the means of `sizes` periods in a row, from every period on, around the mean of all; shape of `sizes`.

    Of blocks that overlap there is more to learn than of those that do not, and their variance is a weighted sum of the periodogram.
    """
    sums = np.concatenate([[0.0], np.cumsum(series - series.mean())])
    return vector([float(np.mean(((sums[size:] - sums[:-size]) / size) ** 2)) for size in map(int, sizes)])


def aggregated_variance(series: Vector, smallest: int = 8, fewest: int = 32) -> Estimate:
    """From how the variance of block means falls with the blocks' size m (Beran 1994, section 4.4; Taqqu, Teverovsky and Willinger 1995).

    The variance around the series' own mean is smaller than around the true one, by that of the mean of all N periods:
    `c (m^(2H - 2) - N^(2H - 2))`. The usual straight line leaves the second term out, and finds 0.90 instead of 0.95 in a million points. Here it is
    fitted with it, by generalised least squares of the logarithms: their covariance is known, as each is a weighted sum of the same periodogram,
    and with it the error is a third of what equal weights leave, for the slow swings that all block sizes share are told from the slope.

    Args:
        series: shape (N,).
        smallest: block size to begin with; what is special about short times ends there.
        fewest: how often the largest block fits into the series; its size is a power of two times `smallest`.

    Raises:
        ValueError: if the series is too short, or constant.

    """
    _check(series)
    doublings = int(np.log2(series.size / fewest / smallest))
    if doublings < 2:
        raise ValueError(f"{series.size} points are too few for blocks of {smallest} periods")
    sizes = vector([smallest * 2.0**doubling for doubling in range(doublings + 1)])
    values = block_variances(series, sizes)

    def shape(hurst: float) -> Vector:
        return sizes ** (2 * hurst - 2) - float(series.size) ** (2 * hurst - 2)

    hurst, level, error = 0.7, 0.0, np.inf
    # The covariance depends on what is estimated, a little.
    for _ in range(3):
        inverse = cast(Any, np.linalg.inv(_log_covariance(hurst, sizes, series.size)))
        total = inverse.sum(axis=0) / inverse.sum()
        centred = inverse - inverse.sum() * np.outer(total, total)

        def misfit(hurst: float, centred: Any = centred) -> float:
            rest = np.log(values) - np.log(shape(hurst))
            return float(rest @ centred @ rest)

        hurst = _minimum(misfit)
        level = float(total @ (np.log(values) - np.log(shape(hurst))))
        slopes = (np.log(shape(hurst + _STEP)) - np.log(shape(hurst - _STEP))) / (2 * _STEP)
        error = 1 / float(np.sqrt(slopes @ centred @ slopes))
    return Estimate("aggregated variance", hurst, error, sizes, values, np.exp(level) * shape(hurst))


def _log_covariance(hurst: float, sizes: Vector, points: int) -> Any:
    """Covariance of the logarithms of block variances, shape (sizes, sizes): sums over a periodogram whose ordinates are independent."""
    # Frequencies of which there are many are taken together: beyond the first ones the weights change slowly.
    edges = np.unique(np.round(np.geomspace(1, points // 2, 4000)).astype(np.int64))
    count = np.diff(edges)
    half = np.pi * (edges[:-1] + (count - 1) / 2) / points
    response = (np.sin(np.outer(sizes, half)) / np.outer(sizes, np.sin(half))) ** 2
    parts = response * (2 * half) ** (1 - 2 * hurst)
    sums = (parts * count).sum(axis=1)
    return (parts * count) @ parts.T / np.outer(sums, sums)


def local_whittle(series: Vector, bandwidth: int | None = None) -> Estimate:
    """The Gaussian semiparametric estimator of Robinson (1995, Annals of Statistics 23): the spectrum near 0, whatever it is further up.

    Args:
        series: shape (N,).
        bandwidth: how many of the lowest frequencies k / N are taken, k = 1, 2, ...; by default N^0.65. The error is 1 / (2 sqrt(bandwidth)).

    Raises:
        ValueError: if the series is too short, or constant; or the bandwidth is not within the series.

    """
    _check(series)
    bandwidth = int(series.size**0.65) if bandwidth is None else bandwidth
    if not 2 <= bandwidth <= series.size // 2:
        raise ValueError(f"a bandwidth of 2 to {series.size // 2} is possible, found {bandwidth}")
    spectrum = np.fft.rfft(series - series.mean())[1 : bandwidth + 1]
    periodogram = np.abs(spectrum) ** 2 / (2 * np.pi * series.size)
    frequencies = np.arange(1, bandwidth + 1) / series.size
    logs = np.log(2 * np.pi * frequencies)

    def level(hurst: float) -> float:
        return float(np.mean(np.exp((2 * hurst - 1) * logs) * periodogram))

    hurst = _minimum(lambda hurst: float(np.log(level(hurst)) - (2 * hurst - 1) * logs.mean()))
    fitted = level(hurst) * np.exp((1 - 2 * hurst) * logs)
    return Estimate("local Whittle", hurst, 0.5 / float(np.sqrt(bandwidth)), frequencies, periodogram, fitted)


def wavelet(series: Vector, first_octave: int = 4, last_octave: int | None = None) -> Estimate:
    """From how the energy of wavelet coefficients grows with the octave (Abry and Veitch 1998; Veitch and Abry 1999).

    Daubechies' wavelet with two vanishing moments; coefficients that would need values beyond the ends are left out. The line through the
    octaves is weighted by the variance of each logarithm, and their bias `psi(n / 2) / ln 2 - log2(n / 2)` is taken away. Its slope is 2 H - 1.

    Args:
        series: shape (N,).
        first_octave: j from which on the line is fitted, scale 2^j periods; a sampled series is not yet self-similar to a wavelet in the first ones.
        last_octave: the last one; by default the last with four coefficients.

    Raises:
        ValueError: if the series is too short, or constant.

    """
    _check(series)
    root = np.sqrt(3.0)
    low = np.array([1 + root, 3 + root, 3 - root, 1 - root]) / (4 * np.sqrt(2.0))
    high = low[::-1] * np.array([1.0, -1.0, 1.0, -1.0])
    rest, energies, counts = series - series.mean(), list[float](), list[int]()
    while rest.size >= 2 * low.size + 2 and (last_octave is None or len(counts) < last_octave):
        details, rest = (np.convolve(rest, taps, mode="valid")[::2] for taps in (high, low))
        energies.append(float(np.mean(details**2)))
        counts.append(int(details.size))
    octaves = np.arange(1.0, len(counts) + 1)[first_octave - 1 :]
    if octaves.size < 3:
        raise ValueError(f"{series.size} points have {len(counts)} octaves, and three are needed from octave {first_octave} on")
    n = np.array(counts, dtype=np.float64)[first_octave - 1 :]
    values = np.log2(energies[first_octave - 1 :]) - special.digamma(n / 2) / np.log(2) + np.log2(n / 2)
    weights = np.log(2) ** 2 / special.zeta(2, n / 2)
    centre = float(np.average(octaves, weights=weights))
    spread = float((weights * (octaves - centre) ** 2).sum())
    slope = float((weights * (octaves - centre) * values).sum() / spread)
    fitted = float(np.average(values, weights=weights)) + slope * (octaves - centre)
    p = float(cast(Any, scipy_stats.chi2.sf((weights * (values - fitted) ** 2).sum(), octaves.size - 2)))
    return Estimate("wavelet", (slope + 1) / 2, 0.5 / float(np.sqrt(spread)), octaves, values, fitted, p)


def _check(series: Vector) -> None:
    if not isinstance(series, np.ndarray) or series.dtype.kind not in "fiu" or not np.isfinite(series).all():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a series is an array of finite numbers, one of each period", series)
    if series.ndim != 1 or series.size < FEWEST:
        raise ValueError(f"at least {FEWEST} points are needed, found {series.size}")
    if float(np.ptp(series)) == 0.0:
        raise ValueError("a constant series has no Hurst parameter")


def _minimum(misfit: Callable[[float], float]) -> float:
    return float(cast(Any, optimize.minimize_scalar(misfit, bounds=_BOUNDS, method="bounded", options={"xatol": 1e-6})).x)
