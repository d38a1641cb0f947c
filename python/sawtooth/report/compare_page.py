"""The page of a comparison: verdicts, figures of each metric, one cell over time, what has no counterpart, and where the sides are from."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import stats
from sawtooth.counted import counted
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.measures import Measure, without_unit
from sawtooth.measures.blocks import name_of_block
from sawtooth.metrics import sides
from sawtooth.metrics.agreement import Comparison
from sawtooth.metrics.matching import Row
from sawtooth.plots import paired, whiskers
from sawtooth.plots.paired import Dot, Legend
from sawtooth.reference_files import Columns
from sawtooth.references import Reference
from sawtooth.report.compare import Question, published_side, reference_of, summary
from sawtooth.report.compare_rows import (
    MOST_LINES,
    MOST_PAIRS,
    constants,
    dot,
    groupings,
    level_of,
    name_of,
    ordered,
    positive,
    scale_of,
    telling,
)
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.results.dataset import Dataset
from sawtooth.scales import scaled
from sawtooth.stats import Interval

_OFTEN_EMPTY = ("arm", "unfinished_first", "unfinished_second", "bound", "published_digits", "why")


def page(comparison: Comparison, first: Path, others: Sequence[Path], asked: Question) -> Report:
    """The comparison as a page with figures.

    Raises:
        DatasetError: if the cell or flow whose window is asked for does not exist.

    """
    dataset = Dataset.open(first)
    table = published_side(others, asked)
    datasets = [dataset, *(Dataset.open(path) for path in others if table is None)]
    sections = [_verdicts(comparison), *figures(comparison)]
    window = None if table is not None else _window(datasets, comparison, asked)
    if window is not None:
        sections.append(Section("One cell over time", plots=[window]))
    reference = None if table is None else reference_of(dataset, table, asked.published or Columns())[0]
    sections += [_only(comparison), _sides(datasets, comparison.sides, reference)]
    # The page's heading is the question of this page; everything else in the manifest is the first side's.
    headed = copy.copy(dataset)
    headed.manifest = {
        **dataset.manifest,
        "question": f"{' against '.join(comparison.sides)}: {dataset.manifest.get('question') or dataset.manifest['name']}",
    }
    return Report(headed, sections, [*summary(comparison), *comparison.notes])


def slug(text: str) -> str:
    """A name of files."""
    return re.sub(r"\W+", "_", text).strip("_")


# --- sections -----------------------------------------------------------------------------------------------------------


def _verdicts(comparison: Comparison) -> Section:
    pairs = list(dict.fromkeys(row.sides for row in comparison.rows))
    over = f"{pairs[0][0]} over {pairs[0][1]}" if len(pairs) == 1 else "first_side over second_side"
    how = (
        f"Each row is a ratio of means over replicates, {over}. It says `agree` if the ratio is shown to lie from "
        f"{1 / (1 + comparison.tolerance):.4f} to {1 + comparison.tolerance:.4f} (two one-sided t tests at 5 %), `differ` if it is shown to lie "
        "beyond, else `not decided`, which is no evidence for either. p_within and p_beyond are adjusted by Holm, each for the number of rows "
        "tested; intervals are not adjusted. Replicates with the same seeds on both sides are compared in pairs (`paired`), others as independent "
        "samples (Welch). Intervals are 95 %: of means Student's t, of ratios Fieller's. Times are in ns, rates in bit/s. Of runs that did not "
        "finish the least that they may be counts, or the most: such a row has a `bound`, and no interval on that side."
    )
    digits = {"ratio": 4, "ratio_low": 4, "ratio_high": 4, "p_within": 4, "p_beyond": 4}
    frame = comparison.frame()
    # What no row has anything of is left out.
    empty = [name for name in frame.columns if name in _OFTEN_EMPTY and not any(frame[name])]
    return Section("Verdicts", [how], grids=[Grid("rows", frame.drop(empty), "Every cell, arm and flow", digits)])


def figures(comparison: Comparison) -> list[Section]:
    """Of each metric the figures of each pair of sides; of many pairs they stand in one."""
    found: list[Section] = []
    pairs = list(dict.fromkeys(row.sides for row in comparison.rows))
    for metric in dict.fromkeys(row.metric for row in comparison.rows):
        own = [row for row in comparison.rows if row.metric == metric]
        if len(pairs) > MOST_PAIRS:
            plots = [*_together(comparison, metric, own), *_plots(comparison, metric, own, ("first of the pair", "second of the pair"), "")]
        else:
            plots = [*_together(comparison, metric, own)] if len(pairs) > 1 else []
            plots += [
                plot for pair in pairs if (rows := [row for row in own if row.sides == pair])
                for plot in _plots(comparison, metric, rows, pair, f"_{slug(' over '.join(pair))}" if len(pairs) > 1 else "")
            ]  # fmt: skip
        found.append(Section(metric.name, plots=plots))
    return found


def _together(comparison: Comparison, metric: Measure, rows: Sequence[Row]) -> Iterator[Plot]:
    """All sides beside each other in every cell, if those are few enough to be read."""
    found: dict[str, dict[str, Interval]] = {}
    divisor, unit = scale_of(metric, rows)
    arms = any(row.arm == row.pair for row in rows)
    for row in rows:
        plain = replace(row, sides=("", ""), arm="" if arms else row.arm)
        label = name_of(plain, [replace(each, sides=("", ""), arm="" if arms else each.arm) for each in rows])
        found.setdefault(label, {}).update({row.sides[0]: scaled(row.first, divisor), row.sides[1]: scaled(row.second, divisor)})
    if len(found) <= MOST_LINES:
        quantity = f"{without_unit(metric.name)}{f' ({unit})' if unit else ''}"
        bounds = " Arrows: runs did not finish, and the mean is at least so much." if any(row.bound for row in rows) else ""
        made = paired.sides(found, comparison.sides, quantity)
        yield Plot(f"{slug(metric.name)}_sides", made, f"Means of each side with 95 % t intervals, in every cell.{bounds}")


def _plots(comparison: Comparison, metric: Measure, rows: Sequence[Row], names: tuple[str, str], suffix: str) -> list[Plot]:
    divisor, unit = scale_of(metric, rows)
    quantity = metric.name.rpartition("_")[0] if metric.name.endswith(("_ns", "_bps", "_bytes")) else metric.name
    shown = quantity + (f" ({unit})" if unit else "")
    colour = telling(comparison, rows)
    dots = [dot(row, rows, colour, divisor) for row in ordered(rows, colour)]
    legend = Legend(colour, list(dict.fromkeys(each.group for each in dots))) if colour else None
    limits = f"the grey band is the tolerance, {1 / (1 + comparison.tolerance):.3f} to {1 + comparison.tolerance:.3f}"
    coloured = f" Coloured by {colour}, which explains most of the ratios' spread." if colour else ""
    named = f"{slug(metric.name)}{suffix}"
    marked = " An arrow: runs did not finish, and the ratio is at least, or at most, so much." if any(row.bound for row in rows) else ""
    least = " Where runs did not finish a point is at the least that the mean may be." if marked else ""
    cut = whiskers.said([side for each in dots for side in (each.first, each.second)], paired.identity_limits(dots))
    plots = [
        Plot(
            f"{named}_against",
            paired.identity(dots, names, shown, comparison.tolerance, legend),
            f"Each point is a row; bars are 95 % t intervals of the means; the line is equality, {limits}.{coloured}{least}{cut}",
        )
    ]
    usable = [dot for dot in dots if positive(dot.ratio.estimate)]
    if not usable:
        return plots
    few = usable
    if len(usable) > MOST_LINES:
        few = sorted(usable, key=lambda dot: -abs(math.log(dot.ratio.estimate)))[:MOST_LINES]
        few = [dot for dot in usable if any(dot is one for one in few)]
    omitted = f" The {MOST_LINES} of {len(usable)} rows furthest from 1." if len(few) < len(usable) else ""
    zero = _left_out(dots)
    alike = constants(rows)
    # A ratio of which neither end is known, because runs did not finish, is marked already.
    ends = whiskers.said([each.ratio for each in few if not each.bound], paired.ratio_limits(few, comparison.tolerance))
    caption = f"Ratios with 95 % Fieller intervals; {limits}.{coloured}{marked}{ends}{omitted}{zero}{alike}"
    plots.append(Plot(f"{named}_ratios", paired.ratios(few, names, quantity, comparison.tolerance, legend), caption))
    if len(usable) > MOST_LINES:
        panels = _panels(comparison, rows)
        made = paired.ratios_by_level(panels, names, quantity, comparison.tolerance) if panels else None
        if made is not None:
            bounds = sum(bool(dot.bound) for dot in usable)
            open_ = f" {bounds} of them are bounds, as runs did not finish." if bounds else ""
            text = f"All {len(usable)} ratios by the level of each factor, and their median; {limits}.{open_}{zero}"
            plots.append(Plot(f"{named}_by_factor", made, text))
    return plots


def _left_out(dots: Sequence[Dot]) -> str:
    """Of rows that a figure of ratios cannot hold how many there are, and why."""
    unbounded = sum(dot.bound == "unbounded" for dot in dots)
    zero = sum(dot.bound != "unbounded" and not positive(dot.ratio.estimate) for dot in dots)
    said = f" Left out: {_rows(unbounded)} whose ratio nothing bounds, as runs of both sides did not finish." if unbounded else ""
    return said + (f" Left out: {_rows(zero)} without a ratio above 0." if zero else "")


def _rows(count: int) -> str:
    return counted(count, "row")


def _panels(comparison: Comparison, rows: Sequence[Row]) -> dict[str, dict[str, list[Dot]]]:
    panels: dict[str, dict[str, list[Dot]]] = {}
    usable = [row for row in rows if positive(row.ratio.estimate)]
    for name in groupings(comparison, usable, most=20):
        levels: dict[str, list[Dot]] = {}
        for row in ordered(usable, name):
            levels.setdefault(level_of(row, name), []).append(dot(row, rows, name, 1.0))
        panels[name] = levels
    return panels


def _window(datasets: Sequence[Dataset], comparison: Comparison, asked: Question) -> Plot | None:
    """The congestion window of one flow in one cell on all sides, if all sampled it; of arms of the first two that are compared."""
    dataset, arms = datasets[0], len(datasets) == 1
    cell = asked.cell if asked.cell is not None else comparison.rows[0].cell
    labels = comparison.rows[0].sides if arms else comparison.sides
    arm = asked.arm or comparison.rows[0].arm
    tables: list[pl.DataFrame] = []
    for label, side in zip(labels, [dataset, dataset] if arms else datasets, strict=True):
        own = _runs_of(dataset, side, cell, label if arms else arm)
        series = side.series().filter(pl.col("run").is_in(own["run"].to_list()))
        tables.append(series.select("run", "flow", "t_ns", "cwnd_bytes", "acked_bytes").collect().join(own, on="run"))
    flows = [flow for flow in tables[0]["flow"].unique(maintain_order=True) if all(flow in set(table["flow"]) for table in tables)]
    if (asked.flow is not None and asked.flow not in flows) or (asked.cell is not None and not flows):
        raise DatasetError(
            f"cell {cell} has no window of {f'a flow `{asked.flow}`' if asked.flow else 'any flow'} on {'both' if len(labels) == 2 else 'all'} sides",
            did_you_mean(asked.flow or "", flows) if flows else 'the study must sample: sample = "100 ms" in [scenario]',
        )
    if not flows:
        return None
    of_items = [flow for flow in flows if flow in asked.of or name_of_block(flow) in asked.of]
    flow = asked.flow or (of_items or flows)[0]
    of_flow = [frame.filter(pl.col("flow") == flow) for frame in tables]
    replicates: list[set[int]] = [set(frame["replicate"]) for frame in of_flow]
    common = sorted(set[int].intersection(*replicates))
    if not common:
        return None
    chosen = [frame.filter(pl.col("replicate") == common[0]).sort("t_ns") for frame in of_flow]
    # Once everything has been acknowledged on all sides, windows tell nothing more.
    busy = [frame.filter(pl.col("acked_bytes") < pl.col("acked_bytes").max())["t_ns"].to_list() for frame in chosen]
    end = 1.05 * max((times[-1] for times in busy if times), default=math.inf)
    lines = {
        label: (stats.vector(shown["t_ns"].to_numpy()) / 1e9, stats.vector(shown["cwnd_bytes"].to_numpy()) / 1e3)
        for label, frame in zip(labels, chosen, strict=True)
        for shown in [frame.filter(pl.col("t_ns") <= end)]
    }
    row = dataset.runs.filter(pl.col("cell") == cell).to_dicts()[0]
    told = ", ".join(f"{name} {row[name]}" for name in sides.factors(dataset) if row[name] is not None)
    of_arm = f", arm {arm}" if not arms and arm else ""
    caption = (
        f"Congestion window of {flow} in cell {cell}{f' ({told})' if told else ''}{of_arm}, replicate {common[0]}, as sampled: a value holds until the "
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
        ["What could not be compared, because the other side does not have it, or neither has."],
        grids=[Grid("only", listed, "Without counterpart")],
    )


def _sides(datasets: Sequence[Dataset], names: Sequence[str], reference: Reference | None) -> Section:
    keys = {
        "directory": [str(dataset.directory) for dataset in datasets],
        **{key: [_plain(dataset.manifest.get(key)) for dataset in datasets] for key in ("name", "backend", "options", "seed", "repeat", "results_epoch", "started")},
        "SHA-256 of the results": [dataset.digest for dataset in datasets],
        "sawtooth": [str(dataset.manifest["versions"]["sawtooth"]) for dataset in datasets],
        "commit": [_plain(dataset.manifest.get("commit")) for dataset in datasets],
        "runs done": [f"{dataset.status().height} of {dataset.runs.height}" for dataset in datasets],
    }  # fmt: skip
    heads = ["results"] if len(datasets) == 1 else list(names)
    frame = pl.DataFrame([{"": key, **dict(zip(heads, values, strict=True))} for key, values in keys.items()])
    grids = [Grid("sides", frame, "Where the numbers come from")]
    if reference is not None:
        grids.append(Grid("reference", _published(reference, names[-1]), "Where the published numbers come from"))
    return Section("The sides", [], grids=grids)


def _published(reference: Reference, name: str) -> pl.DataFrame:
    facts = {
        "file": str(reference.path),
        "source": reference.source or "not told",
        "SHA-256": reference.digest,
        "rows": str(len(reference.sheet.records)),
        "columns": ", ".join(dict.fromkeys(quantity.column for quantity in reference.quantities.values())),
    }
    return pl.DataFrame({"": list(facts), name: list(facts.values())})


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
