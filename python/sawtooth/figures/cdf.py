"""`cdf`: how values are distributed, each curve with a band; what did not come to an end counts as such (Kaplan and Meier 1958).

Where a run has many values (samples, or the flows of a block), each run has a distribution, and the curve is the mean of the runs' with a pointwise
95 % t interval over runs: samples within a run are no replicates. Where it has one, the runs are the sample: the band is that of a share
of them, and from the first that did not end Greenwood's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.estimates import number
from sawtooth.figures import shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.plots.steps import Steps, apart, common
from sawtooth.questions import Reader
from sawtooth.stats import Vector
from sawtooth.stats.quantiles import t_quantile
from sawtooth.study.keys import Key

_LEVEL = 0.95
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Curve:
    """A curve's steps, of how many runs and values they are, how many of these are only bounds, and whether runs are the sample.

    It is `mixed` if something ended after what did not: two kinds of bands then follow each other.
    """

    steps: Steps
    runs: int
    values: int
    unfinished: int
    of_runs: bool
    mixed: bool = False


AXES = Key(
    "axes", '`"by range"`, `"own"`, `"common"`', '`"by range"`',
    "whether each row of panels has a horizontal axis of its own; `by range`: on a linear scale, where the range of one is more than ten times another's",
)  # fmt: skip


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Whether rows have axes of their own."""
    return {"axes": reader.one_of(dict(tree), "axes", path, ("by range", "own", "common"), "by range")}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import bands

    _require_least(data)
    divisor, unit = data.unit
    axes = data.spec.options["axes"]
    panels = data.panels()
    found = [{name: _curve(part, divisor, name) for name, part in data.curves(panel.frame)} for panel in panels]
    curves = [curve for panel in found for curve in panel.values()]
    scale, note = shown.scale(data, [float(curve.steps.x[0]) for curve in curves if len(curve.steps.x)])
    titles = shown.titles(panels)
    steps = [{name: curve.steps for name, curve in panel.items()} for panel in found]
    own = (
        len(titles[0]) > 1
        and (apart(steps, len(titles[0])) if axes == "by range" else axes == "own")
        and (scale == "linear" or axes == "own")
    )
    names = _named_with_n(data.curve_names(), found)
    picture = partial(
        bands.draw, [{names[name]: curve.steps for name, curve in panel.items()} for panel in found], titles,
        [names[name] for name in data.curve_names()],
        (data.label(data.spec.label, data.measure, unit), f"share of {'runs' if curves and curves[0].of_runs else _values(data)}"), scale=scale, own=own,
    )  # fmt: skip
    rows = [
        {
            **shown.place(data, panel, name),
            "value": float(x) * divisor,
            "share": float(share),
            "low": float(low),
            "high": float(high),
            "runs": curve.runs,
        }
        for panel, by_name in zip(panels, found, strict=True)
        for name, curve in by_name.items()
        for x, share, low, high in zip(curve.steps.x, curve.steps.share, curve.steps.low, curve.steps.high, strict=True)
    ]
    return Drawn(
        shown.whole(picture, x=data.measure),
        shown.sentences(
            _said(curves, _values(data)),
            f"Each row has a horizontal axis of its own{': their ranges are too different for one' if axes == 'by range' else ''}."
            if own
            else "",
            note,
            shown.pooling(data),
        ),
        shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=data.measure.unit),
    )


def _require_least(data: Data) -> None:
    """Refuses what has no least: the estimate of Kaplan and Meier is of values that are at least so much."""
    low, high = pl.col("low"), pl.col("high")
    lost = data.frame.filter((low != high) & (high.is_finite() | low.is_infinite())).height
    if lost:
        raise DatasetError(
            f"the distribution of `{data.measure.name}` is not known: of {lost} of {data.frame.height} values, whose runs did not finish, it is known what they are at most, or nothing",
            "show what grows with what did not finish, such as `completion_ns`; or choose with `where` what all finished; `box` and `levels` show such bounds",
        )


def _values(data: Data) -> str:
    table = next(iter(data.measure.tables))
    return {"flows": "flows", "transfers": "transfers", "stalls": "stalls", "episodes": "episodes"}.get(table, "samples")


def _curve(frame: pl.DataFrame, divisor: float, name: str) -> _Curve:
    """The distribution of the values of a curve."""
    runs = [group for _, group in frame.group_by("run", maintain_order=True)]
    low = [group["low"].to_numpy() / divisor for group in runs]
    ended = [group["low"].to_numpy() == group["high"].to_numpy() for group in runs]
    unfinished = sum(int((~each).sum()) for each in ended)
    values = sum(len(each) for each in low)
    if max((len(each) for each in low), default=0) <= 1:
        each, ends = np.concatenate(low), np.concatenate(ended)
        mixed = bool(unfinished and unfinished < values and each[ends].max() > each[~ends].min())
        return _Curve(_of_runs(each, ends, name), len(runs), values, unfinished, of_runs=True, mixed=mixed)
    x = common(low)
    shares = np.array([_share(each, ends, x) for each, ends in zip(low, ended, strict=True)])
    middle = shares.mean(axis=0)
    reach = np.zeros_like(middle)
    if len(runs) > 1:
        reach = t_quantile(0.5 + _LEVEL / 2, len(runs) - 1) * shares.std(axis=0, ddof=1) / np.sqrt(len(runs))
    steps = Steps(x, middle, np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1), name)
    return _Curve(steps, len(runs), values, unfinished, of_runs=False)


def _share(values: Vector, ended: NDArray[np.bool_], x: Vector) -> Vector:
    """The share of values that are no larger than each of `x`; with unfinished ones the estimate of Kaplan and Meier."""
    if ended.all():
        return np.searchsorted(np.sort(values), x, side="right") / len(values)
    places, survival = _survival(values, ended)
    at = np.searchsorted(places, x, side="right") - 1
    return np.where(at >= 0, 1 - survival[np.maximum(at, 0)], 0.0)


def _survival(values: Vector, ended: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Places and the share that is still above them (Kaplan and Meier, Journal of the American Statistical Association 53, 1958)."""
    from scipy import stats as scipy_stats

    found: Any = scipy_stats.ecdf(scipy_stats.CensoredData(uncensored=values[ended], right=values[~ended]))
    return np.asarray(found.sf.quantiles, dtype=np.float64), np.asarray(found.sf.probabilities, dtype=np.float64)


def _of_runs(values: Vector, ended: NDArray[np.bool_], name: str) -> Steps:
    """The distribution over runs with its band: up to the first run that did not end a share of n, from there on Greenwood's."""
    n, exact = len(values), np.sort(values[ended])
    if not len(exact):
        # All that is known is that none was that fast.
        x = np.array([values.min(), values.max()]) if n else np.zeros(0)
        return Steps(x, np.zeros(len(x)), np.zeros(len(x)), np.full(len(x), stats.share(0, n).high if n > 1 else np.nan), name)
    x = np.unique(exact)
    share = _share(values, ended, x)
    if n < 2:
        return Steps(x, share, np.full(len(x), np.nan), np.full(len(x), np.nan), name)
    first = values[~ended].min() if not ended.all() else np.inf
    bands = [stats.share(int((exact <= place).sum()), n) if place <= first else None for place in x]
    low, high = _greenwood(values, ended)
    # Of all that ended the variance is 0: it is a share of those.
    whole = stats.share(len(exact), len(exact))
    low, high = np.where(share >= 1 - _ROUNDING, whole.low, low), np.where(share >= 1 - _ROUNDING, 1.0, high)
    low = np.array([least if band is None else band.low for band, least in zip(bands, low, strict=True)])
    high = np.array([most if band is None else band.high for band, most in zip(bands, high, strict=True)])
    low, high = np.minimum(low, share), np.maximum(high, share)
    if not ended.all() and values[~ended].max() > x[-1]:
        # So long it stays as it is, as far as is known.
        x = np.append(x, values[~ended].max())
        share, low, high = (np.append(each, each[-1]) for each in (share, low, high))
    return Steps(x, share, low, high, name)


def _greenwood(values: Vector, ended: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Greenwood's band on the log-log scale, which stays within 0 and 1, at each value that ended; 0 and 1 where it is not defined."""
    from scipy import stats as scipy_stats

    found: Any = scipy_stats.ecdf(scipy_stats.CensoredData(uncensored=values[ended], right=values[~ended]))
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        # That a band is not defined everywhere is known, and seen to below.
        warnings.simplefilter("ignore", RuntimeWarning)
        band = found.cdf.confidence_interval(_LEVEL, method="log-log")
    at = np.searchsorted(np.asarray(found.cdf.quantiles), np.unique(values[ended]))
    low, high = (np.asarray(each.probabilities, dtype=np.float64)[at] for each in (band.low, band.high))
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 1.0)


def _named_with_n(names: list[str], found: list[dict[str, _Curve]]) -> dict[str, str]:
    """Each curve's name with the number of its values, or runs, where it is one for all panels."""
    made: dict[str, str] = {}
    for name in names:
        curves = [panel[name] for panel in found if name in panel]
        n = {curve.runs for curve in curves}
        made[name] = f"{name} (n = {n.pop()})" if len(n) == 1 else name
    return made


def _said(curves: list[_Curve], values: str) -> str:
    runs, counts = {curve.runs for curve in curves}, {curve.values for curve in curves}
    unfinished, total = sum(curve.unfinished for curve in curves), sum(curve.values for curve in curves)
    if all(curve.of_runs for curve in curves):
        text = (
            f"Distribution over {number(runs)} runs with the pointwise 95 % band of a binomial share (mid-p)"
            f"{', and of Greenwood after the first unfinished run.' if any(curve.mixed for curve in curves) else '.'}"
            if max(runs) > 1
            else "A single run each: no band."
        )
    else:
        each = f"{min(counts):,} to {max(counts):,}" if len(counts) > 1 else f"{max(counts, default=0):,}"
        text = f"Mean of the distributions of {number(runs)} runs, {each} {values} a curve"
        text += " with pointwise 95 % t interval over runs." if max(runs) > 1 else "; a single run each: no band."
    if unfinished:
        text += f" {unfinished} of {total} did not come to an end and count as longer than they had taken (Kaplan-Meier)."
    return text


KIND = Kind(
    "cdf", "how values of rows are distributed, such as samples or completion times, with a band; what is unfinished is counted (Kaplan-Meier)",
    ("curves", "panels", "rows"), draw, (AXES,), read, samples=True, statistic=False,
)  # fmt: skip
