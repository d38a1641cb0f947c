"""Two sides laid beside each other: as lines of text, a table, and a page with figures.

`sawtooth compare` takes two datasets of one study, the arms of one dataset, or a dataset and a table of published numbers. How a
verdict comes about is in `metrics.agreement`; here nothing is decided.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.table import Table
from rich.text import Text

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.measures import HOWS, Measure
from sawtooth.metrics import agreement, sides
from sawtooth.metrics.agreement import VERDICTS, Comparison, Row
from sawtooth.metrics.sides import Published
from sawtooth.plots import paired
from sawtooth.plots.paired import Dot, Legend
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.results.dataset import Dataset
from sawtooth.scales import scale, scaled
from sawtooth.stats import Interval
from sawtooth.storage import write_atomically, writing

MOST_LINES = 40
"""So many rows are read one by one; of more, those furthest from 1."""
_STYLES = {"agree": "green", "differ": "red", "not decided": "yellow"}


@dataclass(frozen=True)
class Question:
    """What is compared, and how.

    Attributes:
        metrics: columns of `flows`, or `links.COLUMN`; none for completion times where flows complete, else goodput.
        tolerance: ratios from 1 / (1 + tolerance) to 1 + tolerance are as good as 1.
        how: `mean`, `sum` or `max` over the flows of a block, or `each` flow by itself.
        arm: only this one.
        published: the columns of a table of published numbers, if the second side is one.
        cell, flow: whose window is drawn; by default the first.

    """

    metrics: Sequence[str] = ()
    tolerance: float = 0.05
    how: str = "mean"
    arm: str | None = None
    published: Published | None = None
    cell: int | None = None
    flow: str | None = None


def compare(first: Path, second: Path | None, asked: Question) -> Comparison:
    """Compares a results directory with another, with a CSV of published numbers, or its arms with each other.

    Raises:
        DatasetError: says what of the directories, the table or the question cannot be used, and what to do.

    """
    if asked.how not in HOWS:
        raise DatasetError(f"there is no way `{asked.how}` to take flows together", did_you_mean(asked.how, HOWS))
    if not 0 < asked.tolerance < math.inf:
        raise DatasetError(f"the tolerance must be above 0, found {asked.tolerance:g}", "such as 5 %, or 0.05")
    dataset = Dataset.open(first)
    if second is None:
        if asked.arm is not None:
            raise DatasetError("the arms of one dataset are compared with each other: there is nothing to choose with --arm")
        return agreement.of_arms(dataset, asked.metrics, asked.tolerance, asked.how)
    if not (second.is_file() or second.suffix == ".csv"):
        if asked.published is not None:
            raise DatasetError(f"{second} is no file", "--value names a column of a CSV of published numbers")
        return agreement.of_datasets(dataset, Dataset.open(second), asked.metrics, asked.tolerance, asked.how, asked.arm)
    if asked.published is None:
        columns = ", ".join(sides.read_table(second).columns)
        raise DatasetError(f"which column of {second} is compared?", f"--value COLUMN says it; there are {columns}")
    if len(asked.metrics) != 1:
        raise DatasetError(
            f"one metric is held against `{asked.published.value}`, found {len(asked.metrics)}",
            "--metric COLUMN names it, such as completion_ns",
        )
    return agreement.with_table(dataset, second, asked.published, asked.metrics[0], asked.tolerance, asked.how, asked.arm)


def tolerance(text: str) -> float:
    """A tolerance as people write it: `5 %`, `5%` or `0.05`. A plain number from 1 on is refused: `5` may be meant as 5 %.

    Raises:
        DatasetError: if it is no share.

    """
    percent = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise DatasetError(f"`{text}` is no tolerance", "such as 5 %, or 0.05") from None
    if not 0 < number < math.inf:
        raise DatasetError(f"`{text}` is no tolerance: it is above 0", "such as 5 %, or 0.05")
    if number >= 1 and not percent:
        raise DatasetError(
            f"`{text}` is {100 * number:g} % without a sign of it", f"write `{text.strip()} %` or {number / 100:g}, or `{100 * number:g} %`"
        )
    return number / 100 if percent else number


def published(
    value: str | None,
    *,
    sd: str | None = None,
    ci: str | None = None,
    n: str | None = None,
    unit: str | None = None,
    factors: Sequence[str] = (),
) -> Published | None:
    """What the columns of a table of published numbers are, with `factors` as `NAME=COLUMN`; None if nothing is said.

    Raises:
        DatasetError: if what is said is not enough.

    """
    if value is None:
        if sd or ci or n or unit or factors:
            raise DatasetError("which column holds the published means?", "--value COLUMN says it")
        return None
    named = dict[str, str]()
    for text in factors:
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise DatasetError(f"`--factor {text}` is not NAME=COLUMN", "such as --factor delay=delay_ms")
        named[name] = column
    return Published(value, sd, ci, n, unit, named)


def write_csv(comparison: Comparison, path: Path) -> None:
    """Writes every row, in base units.

    Raises:
        DatasetError: if it cannot be written.

    """
    with writing(path):
        write_atomically(path, comparison.frame().write_csv().encode())


def summary(comparison: Comparison) -> list[str]:
    """The findings in a few lines, by metric."""
    lines: list[str] = []
    for metric, rows in _by_metric(comparison).items():
        count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
        lines.append(
            f"{metric.name}: of {len(rows)} rows {count['agree']} agree within {comparison.tolerance * 100:.3g} % (ratio "
            f"{1 / (1 + comparison.tolerance):.3f} to {1 + comparison.tolerance:.3f}), {count['differ']} differ by more, "
            f"{count['not decided']} are not decided"
        )
        single = sum(row.p_within is None for row in rows)
        if single:
            inside = sum(row.p_within is None and _inside(row, comparison.tolerance) for row in rows)
            lines.append(
                f"{metric.name}: {single} rows have one replicate, of which nothing can be tested; {inside} of those ratios lie within"
            )
        ratios = [row.ratio.estimate for row in rows if _positive(row.ratio.estimate)]
        if ratios:
            lines.append(
                f"{metric.name}: {comparison.first} / {comparison.second} has the geometric mean {math.exp(float(np.mean(np.log(ratios)))):.4f}, "
                f"from {min(ratios):.4f} to {max(ratios):.4f}" + _rank_correlation(rows)
            )
        one_sided = sum(math.isinf(row.ratio.estimate) or row.ratio.estimate == 0 for row in rows)
        if one_sided:
            lines.append(f"{metric.name}: {one_sided} rows have a mean of 0 on one side only")
        furthest = [row for row in _furthest(rows) if _positive(row.ratio.estimate) and row.ratio.estimate != 1][:3]
        if furthest:
            lines.append(
                f"{metric.name}: furthest from 1: " + "; ".join(f"{_name(row, rows)}: {row.ratio.estimate:.3f}" for row in furthest)
            )
    if comparison.unmatched:
        lines.append(f"only on one side: {len(comparison.unmatched)} entries, listed")
    return lines


def table(comparison: Comparison, most: int = MOST_LINES) -> Table:
    """The rows for a terminal, in the order of the plan; of more than `most`, those furthest from 1."""
    rows = list(comparison.rows)
    if len(rows) > most:
        chosen = {id(row) for row in _furthest(rows)[:most]}
        rows = [row for row in rows if id(row) in chosen]
    units = {metric: _scale(metric, own) for metric, own in _by_metric(comparison).items()}
    names = [name for name in comparison.factors if len({row.factors.get(name) for row in comparison.rows}) > 1]
    arms, items = (len({getattr(row, name) for row in comparison.rows}) > 1 for name in ("arm", "item"))
    made = Table(box=None, pad_edge=False)
    for head in ["cell", *names, *(["arm"] if arms else []), *(["flow" if _all_flows(comparison) else "item"] if items else []), "metric"]:
        made.add_column(head, no_wrap=True)
    for head in (comparison.first, comparison.second, "ratio", "95 %"):
        made.add_column(head, justify="right", no_wrap=True)
    made.add_column("verdict", no_wrap=True)
    for row in rows:
        divisor, unit = units[row.metric]
        texts = [
            str(row.cell),
            *(row.factors.get(name, "") for name in names),
            *([row.arm] if arms else []),
            *([row.item] if items else []),
        ]
        texts.append(f"{row.metric.name} ({unit})" if unit else row.metric.name)
        texts += [_pm(side, divisor) for side in (row.first, row.second)]
        texts += [_number(row.ratio.estimate, 3), _range(row.ratio)]
        verdict = Text(row.verdict + (f" ({row.why})" if row.why else ""), style=_STYLES[row.verdict])
        made.add_row(*(Text(text) for text in texts), verdict)
    return made


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Everything, for other programs; numbers in base units."""
    return {
        "first": comparison.first,
        "second": comparison.second,
        "tolerance": comparison.tolerance,
        "summary": summary(comparison),
        "verdicts": {verdict: sum(row.verdict == verdict for row in comparison.rows) for verdict in VERDICTS},
        "rows": comparison.frame().to_dicts(),
        "only": [vars(entry) for entry in comparison.unmatched],
        "notes": list(comparison.notes),
    }


def page(comparison: Comparison, first: Path, second: Path | None, asked: Question) -> Report:
    """The comparison as a page with figures.

    Raises:
        DatasetError: if the cell or flow whose window is asked for does not exist.

    """
    dataset = Dataset.open(first)
    other = Dataset.open(second) if second is not None and asked.published is None else None
    names = (comparison.first, comparison.second)
    sections = [_verdicts(comparison)]
    for metric, rows in _by_metric(comparison).items():
        sections.append(Section(metric.name, plots=_plots(comparison, metric, rows)))
    window = None if asked.published else _window(dataset, other, comparison, asked)
    if window is not None:
        sections.append(Section("One cell over time", plots=[window]))
    sections += [_only(comparison), _sides(dataset, other, second, names)]
    # The page's heading is the question of this page; everything else in the manifest is the first side's.
    headed = copy.copy(dataset)
    headed.manifest = {
        **dataset.manifest,
        "question": f"{names[0]} against {names[1]}: {dataset.manifest.get('question') or dataset.manifest['name']}",
    }
    return Report(headed, sections, [*summary(comparison), *comparison.notes])


# --- sections -----------------------------------------------------------------------------------------------------------


def _verdicts(comparison: Comparison) -> Section:
    how = (
        f"Each row is a ratio of means over replicates, {comparison.first} over {comparison.second}. It says `agree` if the ratio is shown to lie from "
        f"{1 / (1 + comparison.tolerance):.4f} to {1 + comparison.tolerance:.4f} (two one-sided t tests at 5 %), `differ` if it is shown to lie "
        "beyond, else `not decided`, which is no evidence for either. p_within and p_beyond are adjusted by Holm, each for the number of rows "
        "tested; intervals are not adjusted. Replicates with the same seeds on both sides are compared in pairs (`paired`), others as independent "
        "samples (Welch). Intervals are 95 %: of means Student's t, of ratios Fieller's. Times are in ns, rates in bit/s."
    )
    digits = {"ratio": 4, "ratio_low": 4, "ratio_high": 4, "p_within": 4, "p_beyond": 4}
    return Section("Verdicts", [how], grids=[Grid("rows", comparison.frame(), "Every cell, arm and flow", digits)])


def _plots(comparison: Comparison, metric: Measure, rows: Sequence[Row]) -> list[Plot]:
    names = (comparison.first, comparison.second)
    divisor, unit = _scale(metric, rows)
    quantity = metric.name.rpartition("_")[0] if metric.name.endswith(("_ns", "_bps", "_bytes")) else metric.name
    shown = quantity + (f" ({unit})" if unit else "")
    colour = _telling(comparison, rows)
    dots = [_dot(row, rows, colour, divisor) for row in _ordered(rows, colour)]
    legend = Legend(colour, list(dict.fromkeys(dot.group for dot in dots))) if colour else None
    limits = f"the grey band is the tolerance, {1 / (1 + comparison.tolerance):.3f} to {1 + comparison.tolerance:.3f}"
    coloured = f" Coloured by {colour}, which explains most of the ratios' spread." if colour else ""
    slug = re.sub(r"\W+", "_", metric.name).strip("_")
    plots = [
        Plot(
            f"{slug}_against",
            paired.identity(dots, names, shown, comparison.tolerance, legend),
            f"Each point is a row; bars are 95 % t intervals of the means; the line is equality, {limits}.{coloured}",
        )
    ]
    usable = [dot for dot in dots if _positive(dot.ratio.estimate)]
    if not usable:
        return plots
    few = usable
    if len(usable) > MOST_LINES:
        few = sorted(usable, key=lambda dot: -abs(math.log(dot.ratio.estimate)))[:MOST_LINES]
        few = [dot for dot in usable if any(dot is one for one in few)]
    omitted = f" The {MOST_LINES} of {len(usable)} rows furthest from 1." if len(few) < len(usable) else ""
    zero = f" {len(dots) - len(usable)} rows without a ratio above 0 are left out." if len(usable) < len(dots) else ""
    alike = _constants(rows)
    caption = f"Ratios with 95 % Fieller intervals; {limits}.{coloured}{omitted}{zero}{alike}"
    plots.append(Plot(f"{slug}_ratios", paired.ratios(few, names, quantity, comparison.tolerance, legend), caption))
    if len(usable) > MOST_LINES:
        panels = _panels(comparison, rows)
        made = paired.ratios_by_level(panels, names, quantity, comparison.tolerance) if panels else None
        if made is not None:
            plots.append(
                Plot(f"{slug}_by_factor", made, f"All {len(usable)} ratios by the level of each factor, and their median; {limits}.{zero}")
            )
    return plots


def _panels(comparison: Comparison, rows: Sequence[Row]) -> dict[str, dict[str, list[Dot]]]:
    panels: dict[str, dict[str, list[Dot]]] = {}
    usable = [row for row in rows if _positive(row.ratio.estimate)]
    for name in _groupings(comparison, usable, most=20):
        levels: dict[str, list[Dot]] = {}
        for row in _ordered(usable, name):
            levels.setdefault(_level(row, name), []).append(_dot(row, rows, name, 1.0))
        panels[name] = levels
    return panels


def _window(dataset: Dataset, other: Dataset | None, comparison: Comparison, asked: Question) -> Plot | None:
    """The congestion window of one flow in one cell on both sides, if both sampled it."""
    arms = list(dict.fromkeys(dataset.runs["arm"].to_list()))
    pair = (arms[1], arms[0]) if other is None else (asked.arm or comparison.rows[0].arm,) * 2
    cell = asked.cell if asked.cell is not None else comparison.rows[0].cell
    runs = [_runs_of(dataset, dataset, cell, pair[0]), _runs_of(dataset, other or dataset, cell, pair[1])]
    series = [(side.series() if at == 0 else (other or dataset).series()) for at, side in enumerate((dataset, other or dataset))]
    tables = [
        frame.filter(pl.col("run").is_in(own["run"].to_list()))
        .select("run", "flow", "t_ns", "cwnd_bytes", "acked_bytes")
        .collect()
        .join(own, on="run")
        for frame, own in zip(series, runs, strict=True)
    ]
    flows = [flow for flow in tables[0]["flow"].unique(maintain_order=True) if flow in set(tables[1]["flow"])]
    if (asked.flow is not None and asked.flow not in flows) or (asked.cell is not None and not flows):
        raise DatasetError(
            f"cell {cell} has no window of {f'a flow `{asked.flow}`' if asked.flow else 'any flow'} on both sides",
            did_you_mean(asked.flow or "", flows) if flows else 'the study must sample: sample = "100 ms" in [scenario]',
        )
    if not flows:
        return None
    flow = asked.flow or flows[0]
    of_flow = [frame.filter(pl.col("flow") == flow) for frame in tables]
    common = sorted(set(of_flow[0]["replicate"]) & set(of_flow[1]["replicate"]))
    if not common:
        return None
    labels = pair if other is None else (comparison.first, comparison.second)
    chosen = [frame.filter(pl.col("replicate") == common[0]).sort("t_ns") for frame in of_flow]
    # Once everything has been acknowledged on both sides, windows tell nothing more.
    busy = [frame.filter(pl.col("acked_bytes") < pl.col("acked_bytes").max())["t_ns"].to_list() for frame in chosen]
    end = 1.05 * max((times[-1] for times in busy if times), default=math.inf)
    lines = {
        label: (stats.vector(shown["t_ns"].to_numpy()) / 1e9, stats.vector(shown["cwnd_bytes"].to_numpy()) / 1e3)
        for label, frame in zip(labels, chosen, strict=True)
        for shown in [frame.filter(pl.col("t_ns") <= end)]
    }
    row = dataset.runs.filter(pl.col("cell") == cell).to_dicts()[0]
    told = ", ".join(f"{name} {row[name]}" for name in sides.factors(dataset) if row[name] is not None)
    arm = f", arm {pair[0]}" if other is not None and pair[0] else ""
    caption = (
        f"Congestion window of {flow} in cell {cell}{f' ({told})' if told else ''}{arm}, replicate {common[0]}, as sampled: a value holds until the "
        "next sample."
    )
    return Plot("cwnd", paired.steps(lines, "cwnd (kB)"), caption)


def _runs_of(numbered: Dataset, dataset: Dataset, cell: int, arm: str) -> pl.DataFrame:
    """The runs of `dataset` in the cell that `numbered` calls `cell`."""
    wanted = numbered.runs.filter(pl.col("cell") == cell)
    if wanted.is_empty():
        cells = numbered.runs["cell"].unique().sort().to_list()
        raise DatasetError(f"there is no cell {cell}", f"cells are {cells[0]} to {cells[-1]}")
    names = [name for name in sides.factors(numbered) if name in dataset.runs.columns]
    lines = dataset.runs.filter(pl.col("arm") == arm).select("run", "replicate", *names).to_dicts()
    exact = [line for line in lines if all(line[name] == wanted[name][0] for name in names)]
    alike = [line for line in lines if all(sides.level(line[name]) == sides.level(wanted[name][0]) for name in names)]
    return pl.DataFrame(
        [(line["run"], line["replicate"]) for line in exact or alike], dataset.runs.select("run", "replicate").schema, orient="row"
    )


def _only(comparison: Comparison) -> Section:
    if not comparison.unmatched:
        return Section("Only on one side", ["Nothing: every cell, flow and value of one side has its counterpart."])
    listed = pl.DataFrame([{"what": x.what, "only": x.side, "because": x.why, "rows": x.rows} for x in comparison.unmatched])
    return Section(
        "Only on one side",
        ["What could not be compared, because the other side does not have it."],
        grids=[Grid("only", listed, "Without counterpart")],
    )


def _sides(first: Dataset, other: Dataset | None, path: Path | None, names: tuple[str, str]) -> Section:
    datasets = [first, *([other] if other else [])]
    keys = {
        "directory": [str(dataset.directory) for dataset in datasets],
        **{key: [_plain(dataset.manifest.get(key)) for dataset in datasets] for key in ("name", "backend", "options", "seed", "repeat", "results_epoch", "started")},
        "sawtooth": [str(dataset.manifest["versions"]["sawtooth"]) for dataset in datasets],
        "commit": [_plain(dataset.manifest.get("commit")) for dataset in datasets],
        "runs done": [f"{dataset.status().height} of {dataset.runs.height}" for dataset in datasets],
    }  # fmt: skip
    heads = ["first", "second"] if other is None or names[0] == names[1] else list(names)
    frame = pl.DataFrame([{"": key, **dict(zip(heads, values, strict=False))} for key, values in keys.items()])
    published = [f"The second side is the table {path.name}."] if path is not None and other is None else []
    return Section("The sides", published, grids=[Grid("sides", frame, "Where the numbers come from")])


# --- rows ---------------------------------------------------------------------------------------------------------------


def _by_metric(comparison: Comparison) -> dict[Measure, list[Row]]:
    found: dict[Measure, list[Row]] = {}
    for row in comparison.rows:
        found.setdefault(row.metric, []).append(row)
    return found


def _furthest(rows: Iterable[Row]) -> list[Row]:
    """The rows by how far their ratio is from 1; without a ratio last, a ratio of 0 or infinity first."""

    def distance(row: Row) -> float:
        ratio = row.ratio.estimate
        return -1.0 if math.isnan(ratio) else abs(math.log(ratio)) if _positive(ratio) else math.inf

    return sorted(rows, key=distance, reverse=True)


def _rank_correlation(rows: Sequence[Row]) -> str:
    a, b = ([getattr(row, side).estimate for row in rows] for side in ("first", "second"))
    if len(rows) < 3 or len(set(a)) < 2 or len(set(b)) < 2:
        return ""
    return f"; rank correlation {stats.spearman(a, b):.3f}"


def _level(row: Row, name: str) -> str:
    return row.arm if name == "arm" else row.item if name == "flow" else row.factors.get(name, "")


def _groupings(comparison: Comparison, rows: Sequence[Row], most: int) -> list[str]:
    """Factors, arm and flow, as far as they have several levels but no more than `most`."""
    return [name for name in [*comparison.factors, "arm", "flow"] if 1 < len({_level(row, name) for row in rows}) <= most]


def _telling(comparison: Comparison, rows: Sequence[Row]) -> str:
    """The grouping whose levels explain most of the variance of the logarithms of the ratios; empty if there is none."""
    usable = [row for row in rows if _positive(row.ratio.estimate)]
    logs = np.log([row.ratio.estimate for row in usable])

    def within(name: str) -> float:
        levels = [_level(row, name) for row in usable]
        return sum(
            float(((own := logs[[x == level for x in levels]]) - own.mean()) @ (own - own.mean())) for level in dict.fromkeys(levels)
        )

    # A grouping into single rows would explain everything and say nothing.
    found = [
        name for name in _groupings(comparison, usable, paired.MOST_LEVELS) if len({_level(row, name) for row in usable}) < len(usable)
    ]
    return min(found, key=within) if found else ""


def _ordered(rows: Sequence[Row], name: str) -> list[Row]:
    def key(row: Row) -> tuple[float, str, float]:
        level = sides.level(_level(row, name)) if name else ""
        try:
            amount = float(level.split(" ")[0])
        except ValueError:
            amount = math.inf
        return amount, level, row.ratio.estimate if math.isfinite(row.ratio.estimate) else math.inf

    return sorted(rows, key=key)


def _dot(row: Row, rows: Sequence[Row], colour: str, divisor: float) -> Dot:
    level = _level(row, colour) if colour else ""
    return Dot(_name(row, rows), level, scaled(row.first, divisor), scaled(row.second, divisor), row.ratio)


def _name(row: Row, among: Sequence[Row]) -> str:
    """A row in a few words: what it does not have in common with all the rows it is named `among`."""
    parts = [(name, text) for name, text in row.factors.items() if len({other.factors.get(name) for other in among}) > 1]
    parts += [("", row.arm)] if len({other.arm for other in among}) > 1 else []
    parts += [("", row.item)] if len({other.item for other in among}) > 1 else []
    short = [(name, text if len(text) <= 28 else text[:27] + "…") for name, text in parts if text]
    return ", ".join(f"{name} {text}" if text.replace(".", "").isdigit() else text for name, text in short) or f"cell {row.cell}"


def _constants(rows: Sequence[Row]) -> str:
    same = [f"{name} {text}" for name, text in rows[0].factors.items() if len({row.factors.get(name) for row in rows}) < 2]
    same += [rows[0].arm] if rows[0].arm and len({row.arm for row in rows}) < 2 else []
    return f" In all rows: {', '.join(same)}." if same else ""


# --- numbers ------------------------------------------------------------------------------------------------------------


def _scale(metric: Measure, rows: Sequence[Row]) -> tuple[float, str]:
    """What the metric's numbers are divided by, and the unit they then have."""
    return scale(metric.unit, [side.estimate for row in rows for side in (row.first, row.second)])


def _positive(ratio: float) -> bool:
    return math.isfinite(ratio) and ratio > 0


def _inside(row: Row, width: float) -> bool:
    return math.isnan(row.ratio.estimate) or 1 / (1 + width) <= row.ratio.estimate <= 1 + width


def _pm(interval: Interval, divisor: float) -> str:
    half = (interval.high - interval.low) / 2 / divisor
    return f"{interval.estimate / divisor:.4g}" + (f" ± {half:.2g}" if math.isfinite(half) and half > 0 else "")


def _range(interval: Interval) -> str:
    if not math.isfinite(interval.high - interval.low):
        return ""
    return f"{_number(interval.low, 3)} to {_number(interval.high, 3)}"


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def _all_flows(comparison: Comparison) -> bool:
    return all(row.metric.kind == "flow" for row in comparison.rows)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
