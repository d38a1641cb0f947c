"""The figures and findings that a study file names (see `sawtooth.presentation`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import polars as pl
from matplotlib.figure import Figure
from scipy import stats as scipy_stats

from sawtooth import _core, stats
from sawtooth.errors import DatasetError
from sawtooth.metrics import over_time, sides
from sawtooth.named import block
from sawtooth.plots import curves, distribution, plane
from sawtooth.plots.trace import Curve, Panel
from sawtooth.plots.trace import over_time as drawn_over_time
from sawtooth.presentation import THROUGHPUT, FigureSpec, FindingSpec, Side, presentation
from sawtooth.report.document import Plot, Section, Verdict
from sawtooth.report.scales import ratio, scale, scaled
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Means

_MOST_NUMBERS = 4


def section(dataset: Dataset) -> Section | None:
    """What the study asks to be shown; None if it asks for nothing.

    Raises:
        DatasetError: if a figure or finding names an item that no run has.

    """
    study = dataset.study
    shown = presentation(study)
    if not shown.figures and not shown.findings:
        return None
    return Section(
        "Answer",
        [study.question] if study.question else [],
        verdicts=[verdict(dataset, finding) for finding in shown.findings],
        plots=[plot(dataset, figure) for figure in shown.figures],
    )


# --- findings -----------------------------------------------------------------------------------------------------------


def verdict(dataset: Dataset, finding: FindingSpec) -> Verdict:
    """Whether a finding holds in every cell it speaks of.

    `yes`: in each the 95 % interval of the difference says so. `no`: in one an interval, at 95 % for all of them together (Bonferroni), says
    the contrary.
    """
    values = sides.observe(dataset, finding.metric, finding.flows)
    mine = _of(values, finding.side, finding.metric.name)
    theirs = None if finding.other is None else _of(values, finding.other, finding.metric.name)
    fixed = finding.side.where.keys() | (finding.other.where.keys() if finding.other else set[str]())
    # Without an arm it speaks of each by itself: values of several arms are no replicates of one another.
    named = finding.side.arm or (finding.other.arm if finding.other else None)
    dimensions = [*sides.factors(dataset), *([] if named else ["arm"])]
    free = [name for name in dimensions if name not in fixed and values[name].n_unique() > 1]
    sign = 1.0 if finding.below else -1.0
    cells: list[tuple[str, Means]] = []
    for key, group in mine.group_by(free, maintain_order=True) if free else [((), mine)]:
        name = ", ".join(f"{factor} {level}" for factor, level in zip(free, key, strict=True))
        if theirs is None:
            bound = finding.bound if finding.bound is not None else math.nan
            cells.append((name, stats.means_against(group["value"].to_numpy(), bound)))
            continue
        other = theirs
        for factor, level in zip(free, key, strict=True):
            other = other.filter(pl.col(factor).eq_missing(pl.lit(level)))
        joined = group.join(other, on=["replicate"], suffix="_other")
        if joined.height:
            cells.append((name, stats.means_of_pairs(joined["value"].to_numpy(), joined["value_other"].to_numpy())))
    if not cells:
        return Verdict(finding.claim, "cannot distinguish", "the runs that were made do not tell it")
    answers = [_holds(means, finding.times, sign, len(cells)) for _, means in cells]
    answer = "no" if "no" in answers else "yes" if all(each == "yes" for each in answers) else "cannot distinguish"
    return Verdict(finding.claim, answer, _numbers(finding, cells))


def _of(values: pl.DataFrame, side: Side, metric: str) -> pl.DataFrame:
    """The values that a side speaks of, one row per run: cell factors, replicate, value."""
    chosen = values
    if side.arm is not None:
        chosen = chosen.filter(arm=side.arm)
    for factor, level in side.where.items():
        chosen = chosen.filter(pl.col(factor) == level)
    if chosen.is_empty():
        return chosen
    items = chosen["item"].unique().sort().to_list()
    if side.of is not None and side.of not in items:
        raise DatasetError(f"no run has an item `{side.of}` of `{metric}`", f"there are {', '.join(items)}")
    chosen = chosen.filter(item=side.of) if side.of is not None else chosen
    if side.of is None and len(items) > 1:
        raise DatasetError(f"a finding about `{metric}` must say of what", f"add of = one of {', '.join(items)}")
    return chosen.filter(pl.col("value").is_not_null())


def _holds(means: Means, times: float, sign: float, cells: int) -> str:
    if not means.testable:
        return "cannot distinguish"
    difference, error, freedom = means.contrast(times)

    def beyond(level: float) -> float:
        return float(scipy_stats.t.ppf(0.5 + level / 2, freedom)) * error

    if sign * difference + beyond(0.95) < 0:
        return "yes"
    return "no" if sign * difference - beyond(1 - 0.05 / cells) > 0 else "cannot distinguish"


def _numbers(finding: FindingSpec, cells: Sequence[tuple[str, Means]]) -> str:
    divisor, unit = scale(finding.metric.unit, [means.first for _, means in cells])

    def one(name: str, means: Means) -> str:
        first, second = f"{means.first / divisor:.4g} {unit}".strip(), f"{means.second / divisor:.4g} {unit}".strip()
        if finding.other is None:
            away = scaled(stats.difference_interval(means), divisor)
            text = f"{first}; from {second} it is {away.words('+.3g')}"
        else:
            text = f"{first} against {second}, {ratio(stats.ratio_interval(means))}"
        return f"{name}: {text}" if name else text

    worst = sorted(cells, key=lambda cell: (1 if finding.below else -1) * _ratio(cell[1]), reverse=True)
    told = [one(name, means) for name, means in (cells if len(cells) <= _MOST_NUMBERS else worst[:1])]
    more = f"; the least clear of {len(cells)} cells" if len(cells) > _MOST_NUMBERS else ""
    return "; ".join(told) + more


def _ratio(means: Means) -> float:
    return means.first / means.second if means.second else math.inf


# --- figures ------------------------------------------------------------------------------------------------------------


def plot(dataset: Dataset, spec: FigureSpec) -> Plot:
    """One figure."""
    if spec.kind == "levels":
        made, caption = _levels(dataset, spec)
    elif spec.kind == "plane":
        made, caption = _plane(dataset, spec)
    elif spec.kind == "cdf":
        made, caption = _cdf(dataset, spec)
    else:
        made, caption = _time(dataset, spec)
    return Plot(spec.name, made, f"{spec.caption} {caption}".strip())


def _levels(dataset: Dataset, spec: FigureSpec) -> tuple[Figure, str]:
    assert spec.metric is not None
    assert spec.x is not None
    values = _shown(sides.observe(dataset, spec.metric, spec.flows), spec.of, spec.metric.name).filter(pl.col("value").is_not_null())
    divisor, unit = scale(spec.metric.unit, values["value"].to_numpy())
    levels = _levels_of(values, spec.x)
    data: dict[str, dict[str, list[Interval]]] = {}
    for title, panel in _split(values, spec.panels):
        data[title] = {}
        for name, curve in _split(panel, spec.curves):
            groups = [curve.filter(pl.col(spec.x).eq_missing(pl.lit(level)))["value"].to_numpy() for level in levels]
            data[title][name] = [scaled(stats.mean_interval(group), divisor) for group in groups]
    every = [interval for series in data.values() for curve in series.values() for interval in curve]
    known = [x for interval in every for x in (interval.estimate, interval.low, interval.high) if math.isfinite(x)]
    top = max([*known, 1e-9])
    positive = [x for x in known if x > 0]
    kind, note = _axis(spec, values["value"])
    limits = (min(positive, default=1.0) / 1.3, top * 1.3) if kind == "log" else (0.0, 1.05 * top)
    label = _label(spec.label, spec.metric.column, unit)
    made = curves.panels(data, [_short(level) for level in levels], spec.x_label or spec.x, label, limits, scale=kind)
    return made, _of_means(every) + note


def _plane(dataset: Dataset, spec: FigureSpec) -> tuple[Figure, str]:
    assert spec.metric is not None
    assert spec.against is not None
    sides_of = [
        _shown(sides.observe(dataset, metric, spec.flows), spec.of, metric.name).filter(pl.col("value").is_not_null())
        for metric in (spec.against, spec.metric)
    ]
    (x_divisor, x_unit), (y_divisor, y_unit) = (
        scale(metric.unit, values["value"].to_numpy()) for metric, values in zip((spec.against, spec.metric), sides_of, strict=True)
    )
    # A point is of what both measures know: an item of a cell and arm.
    keys = ["cell", "arm", "item"]
    both = sides_of[0].join(
        sides_of[1].select(*keys, "replicate", other="value"), on=[*keys, "replicate"], nulls_equal=True, maintain_order="left"
    )
    data: dict[str, dict[str, list[tuple[Interval, Interval]]]] = {}
    for title, panel in _split(both, spec.panels):
        data[title] = {
            name: [
                (
                    scaled(stats.mean_interval(point["value"].to_numpy()), x_divisor),
                    scaled(stats.mean_interval(point["other"].to_numpy()), y_divisor),
                )
                for _, point in curve.group_by(keys, maintain_order=True)
            ]
            for name, curve in _split(panel, spec.curves)
        }
    labels = _label(spec.x_label, spec.against.column, x_unit), _label(spec.label, spec.metric.column, y_unit)
    every = [interval for series in data.values() for curve in series.values() for point in curve for interval in point]
    kind, note = _axis(spec, *(values["value"] for values in sides_of))
    return plane.panels(data, *labels, scale=kind), _of_means(every) + note


def _axis(spec: FigureSpec, *measures: pl.Series) -> tuple[str, str]:
    """The scale of a figure's axes, and what is to be said of it: a logarithmic one has no place for what is not above 0."""
    if spec.scale != "log" or all((values > 0).all() for values in measures):
        return spec.scale, ""
    if not all((values > 0).any() for values in measures):
        return "linear", " Nothing is above 0: the scale is linear."
    return spec.scale, " What is not above 0 has no place on a logarithmic scale."


def _of_means(intervals: Sequence[Interval]) -> str:
    n = {interval.n for interval in intervals if interval.n}
    return f"Means of {_range(n)} runs with 95 % t interval." if max(n, default=1) > 1 else "A single run each."


def _cdf(dataset: Dataset, spec: FigureSpec) -> tuple[Figure, str]:
    samples, unit = _samples(dataset, spec)
    divisor, unit = scale(unit, samples["value"].to_numpy())
    data = {
        title: {name: curve["value"].to_numpy() / divisor for name, curve in _split(panel, spec.curves)}
        for title, panel in _split(samples, spec.panels)
    }
    runs = samples["run"].n_unique()
    label = _label(spec.label, spec.column, unit)
    kind, note = _axis(spec, samples["value"])
    return distribution.cumulative(data, label, scale=kind), f"Distribution of {samples.height:,} samples of {runs} runs.{note}"


def _time(dataset: Dataset, spec: FigureSpec) -> tuple[Figure, str]:
    samples, unit = _samples(dataset, spec)
    first = samples["replicate"].min()
    samples = samples.filter(pl.col("replicate") == first)
    divisor, unit = scale(unit, samples["value"].to_numpy())
    label = _label(spec.label, spec.column, unit)
    panels: list[Panel] = []
    for title, panel in _split(samples, spec.panels):
        named = list(_split(panel.sort("t_ns", maintain_order=True), spec.curves))
        # Each thinner than the one before, so that of curves that coincide none is hidden.
        drawn = [
            Curve(name, curve["t_ns"].to_numpy() / 1e9, curve["value"].to_numpy() / divisor, width=0.9 + 0.4 * (len(named) - 1 - at))
            for at, (name, curve) in enumerate(named)
        ]
        panels.append(Panel(f"{title}\n{label}" if title else label, drawn))
    end = float(samples["t_ns"].to_numpy().max()) / 1e9
    return drawn_over_time(panels, "", (0.0, end), width=6.5), f"Replicate {first}."


def _samples(dataset: Dataset, spec: FigureSpec) -> tuple[pl.DataFrame, str]:
    """Rows run, cell factors, arm, replicate, item, t_ns, value, in order of runs and time; and the value's unit."""
    if spec.column == THROUGHPUT:
        return _throughputs(dataset, spec), "bit/s"
    rows = dataset.table(spec.table)
    item = pl.col("flow") if spec.table == "series" else pl.col("link") + " " + pl.col("direction")
    value = pl.col(spec.column).cast(pl.Float64)
    plan = dataset.runs.lazy().select("run", *sides.factors(dataset), "arm", "replicate")
    finished = dataset.status().lazy().filter(pl.col("status") == "ok").select("run")
    found = (
        rows.select("run", "t_ns", item=item, value=value)
        .filter(pl.col("value").is_finite(), pl.col("value") >= 0)
        .join(finished, on="run", how="semi")
        .join(plan, on="run")
        .sort("run", "t_ns", maintain_order=True)
        .collect()
    )
    unit = next(column["unit"] for column in _core.schema()[spec.table]["columns"] if column["name"] == spec.column)
    return _shown(found, spec.of, spec.column), unit


def _throughputs(dataset: Dataset, spec: FigureSpec) -> pl.DataFrame:
    """As `_samples`: what arrived in order in each second, at the second's beginning."""
    plan = dataset.runs.select("run", *sides.factors(dataset), "arm", "replicate")
    finished = dataset.status().filter(pl.col("status") == "ok").select("run")
    found = (
        over_time.windows(dataset)
        .join(finished, on="run", how="semi")
        .join(plan, on="run")
        .with_columns(item="flow", t_ns=pl.col("window") * over_time.WINDOW_NS, value="bps")
        .sort("run", "t_ns", maintain_order=True)
    )
    return _shown(found, spec.of, spec.column)


def _shown(values: pl.DataFrame, of: Sequence[str], metric: str) -> pl.DataFrame:
    items = values["item"].unique(maintain_order=True).to_list()
    for item in of:
        if item not in items and item not in map(block, items):
            raise DatasetError(f"no run has an item `{item}` of `{metric}`", f"there are {', '.join(items)}")
    # In the order in which they are named; the name of a block is that of all its flows.
    named = [[each for each in items if item in (each, block(each))] for item in of]
    return pl.concat([values.filter(pl.col("item").is_in(each)) for each in named]) if of else values


def _split(values: pl.DataFrame, by: str | None) -> Iterable[tuple[str, pl.DataFrame]]:
    if by is None:
        return [("", values)]
    named = values.filter(pl.col(by).is_not_null()).group_by(by, maintain_order=True)
    # A bare number is no title.
    found = {str(key) if re.search("[a-zA-Z]", str(key)) else f"{by} = {key}": group for (key,), group in named}
    return found.items() if len(found) > 1 or by != "item" else [(next(iter(found), ""), values)]


def _levels_of(values: pl.DataFrame, name: str) -> list[str]:
    order = values.sort("cell")[name].unique(maintain_order=True)
    return [str(level) for level in order if level is not None]


def _short(level: str) -> str:
    """A level as an axis has room for it."""
    return level if len(level) <= 14 else level.replace(" ", "\n", 1)


def _label(given: str, column: str, unit: str) -> str:
    """Of an axis: what the study file calls the measure, or its column's name, and the unit."""
    return f"{given or _words(column)}{f' [{unit}]' if unit else ''}"


def _words(column: str) -> str:
    """A column's name without its unit."""
    stem, _, last = column.rpartition("_")
    return (stem if last in ("ns", "bps", "bytes", "packets", "secs") and stem else column).replace("_", " ")


def _range(n: set[int]) -> str:
    return f"{min(n)} to {max(n)}" if len(n) > 1 else str(max(n, default=0))


def summary(found: Section) -> list[str]:
    """The verdicts in plain text."""
    return [f"{verdict.answer}: {verdict.claim} ({verdict.numbers})" for verdict in found.verdicts]
