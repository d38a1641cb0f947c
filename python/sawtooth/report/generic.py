"""The report of any study: its answer first, then what its traffic comes to in every cell and arm, and what the arms differ in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import polars as pl

from sawtooth import estimates, figures
from sawtooth.design import NOT_SET, paired
from sawtooth.errors import DatasetError
from sawtooth.figures.data import Data
from sawtooth.figures.shown import sentences
from sawtooth.findings.direction import Bounds, Direction, direction, made_ready
from sawtooth.findings.resolution import resolved
from sawtooth.findings.verdict import AT_A_TIME, ERRORS, Claimed, Evidence, answer_of, decide
from sawtooth.measures import Asked, Evaluator, factors
from sawtooth.recognise import written
from sawtooth.report import effects, replicates, sensible
from sawtooth.report.answers import Answers, section, summary
from sawtooth.report.document import Grid, Plot, Report, Section
from sawtooth.report.many import of_rows
from sawtooth.report.sensible import Shown
from sawtooth.results.dataset import Dataset
from sawtooth.scales import number, scale

if TYPE_CHECKING:
    from sawtooth.plots.aside import Aside

_MOST_LINES = 6
_OF_ONE = " (a flow's, mean over those of a block)"
_LEVEL = 0.95
"""Of the intervals of the table of differences."""
_Sides = tuple[Bounds, Bounds]
"""The values of an arm, and those of the first beside them."""


def build(dataset: Dataset, *, drawn: bool = True, run_analysis: bool = False, aside: Aside | None = None) -> Report:
    """The answer that the study asks for; with none asked for, figures by its kind of traffic; tables; and, with several arms, differences to the first."""
    answers = Answers(dataset, run_analysis=run_analysis, aside=aside)
    answer = section(answers, drawn=drawn)
    asked_for = bool(answers.shown.figures) or not drawn
    sections: list[Section] = [*([answer] if answer else []), *answers.analysed]
    lines: list[str] = summary(answer) if answer else []
    told: list[str] = []
    differences: list[_Differences] = []
    shown = [*sensible.shown(dataset)]
    swept = [name for name in factors(dataset) if dataset.runs[name].n_unique() > 1]
    for one in shown:
        frame = _values(answers, one, answers.evaluator)
        if frame.is_empty():
            continue
        sections.append(_section(answers, one, frame, drawn=not asked_for))
        told.append(_range(one, frame, swept, pooled=bool(_pooling(one, answers))))
        coarse = _values(answers, one, answers.coarse) if one.measure.coarse and len(answers.arms) > 1 else None
        differences.append(_differences(one, frame, answers, coarse))
    found = [each for each in differences if each.table.height]
    if found:
        shared = "in the order of time" if dataset.files else "they share seeds and draws"
        sections.append(_compared(found, answers.arms[0], shared))
    matters = effects.section(answers, shown[0] if shown else None, drawn=drawn)
    if matters:
        # After what it is about, before all that follows.
        sections.insert(1 + len(answers.analysed), matters)
    by_rule = replicates.section(answers)
    if by_rule:
        sections.append(by_rule)
    if not sections:
        raise DatasetError(f"{dataset.directory} holds nothing that this report could show", "a study with flows has something to show")
    return Report(dataset, sections, lines or told[:_MOST_LINES])


def _values(answers: Answers, one: Shown, evaluator: Evaluator) -> pl.DataFrame:
    """The values of a measure in every run, its items, arms and cells in order."""
    found = evaluator.observe(Asked(one.measure, one.view()))
    found = found.filter(pl.col("low").is_not_null())
    if one.of:
        found = found.filter(pl.col("item").is_in(one.of))
    found = found.with_columns(pl.col(name).fill_null(NOT_SET) for name in factors(answers.dataset))
    return answers.in_order(found)


def _section(answers: Answers, one: Shown, frame: pl.DataFrame, *, drawn: bool) -> Section:
    """A measure's figure, if it is wanted and there is a place for every dimension, and its table."""
    names = factors(answers.dataset)
    plots: list[Plot] = []
    spec = sensible.figure(one, frame, names) if drawn else None
    if spec is not None:
        kind = figures.TABLE[spec.kind]
        made = kind.draw(Data(answers.evaluator, spec, kind, answers.shown.references, answers.arms))
        plots.append(Plot(spec.name, made.picture, made.note, made.numbers))
    divisor, unit = scale(one.measure.unit, frame["low"].to_numpy())
    keys = [name for name in (*names, "arm", "item", *one.by) if frame[name].n_unique() > 1 or name in names]
    points: list[estimates.Estimate] = []
    told = frame.select(*dict.fromkeys(["cell", *keys, "low", "high"]))

    def rows() -> Iterator[dict[str, object]]:
        for first, estimate in estimates.of_groups(told, ["cell", *keys], one.statistic, one.measure.within(one.view().flows)):
            point = estimate.over(divisor)
            points.append(point)
            yield {**{key: first[key] for key in keys}, **_cells(point, unit)}

    table = of_rows(rows())
    what = one.label or one.measure.words
    pooled = _pooling(one, answers)
    caption = sentences(
        f"{what[0].upper()}{what[1:]}{f' in {unit}' if unit else ''}.", estimates.said(points, one.statistic, mark="`bound`"),
        f"{pooled[0].upper()}{pooled[1:]}." if pooled else "",
    )  # fmt: skip
    return Section(one.title, plots=plots, grids=[Grid(one.name, table, caption)])


def _pooling(one: Shown, answers: Answers) -> str:
    """What of a measure is pooled within a run, where a block that is shown has several flows; else empty."""
    blocks = {name.rpartition("[")[0] for name in answers.evaluator.flow_names if name.endswith("]")}
    return one.measure.pooling("mean", not blocks.isdisjoint(one.of) if one.of else bool(blocks))


def _cells(point: estimates.Estimate, unit: str) -> dict[str, object]:
    interval = point.interval
    name = f"estimate ({unit})" if unit else "estimate"
    found: dict[str, object] = {name: interval.estimate, "low": interval.low, "high": interval.high, "runs": point.n}
    return found | ({"unfinished": point.unfinished, "bound": point.bound or None} if point.unfinished else {})


def _range(one: Shown, frame: pl.DataFrame, swept: Sequence[str], *, pooled: bool) -> str:
    """Where a measure is lowest and where it is highest, in words: by what varies, also what is swept and has one level in the runs that were made.

    That it is `pooled` is said: what several flows have could be of one of them, or of all together.
    """
    keys = [
        name
        for name in frame.columns
        if name not in ("run", "cell", "replicate", "seed", "low", "high", "value") and (name in swept or frame[name].n_unique() > 1)
    ]
    of = pl.Expr.median if one.statistic == "median" else pl.Expr.mean
    means = frame.group_by("cell", *keys, maintain_order=True).agg(
        of(pl.col("low")), bound=of(pl.col("low")) != of(pl.col("high")), unfinished=(pl.col("low") != pl.col("high")).sum(), runs=pl.len()
    )
    divisor, unit = scale(one.measure.unit, means["low"].to_numpy())
    ends = [means.sort("low", maintain_order=True, descending=down).row(0, named=True) for down in (False, True)]

    def said(row: dict[str, object]) -> str:
        where = ", ".join(f"{row[name]}" if name in ("arm", "item") else f"{name} {written(str(row[name]))}" for name in keys)
        some = f"{row['unfinished']} of {row['runs']} runs did not finish" if row["unfinished"] else ""
        told = "; ".join(each for each in (where, some) if each)
        return f"{'at least ' if row['bound'] else ''}{number(cast(float, row['low']) / divisor)} {unit}".strip() + (
            f" ({told})" if told else ""
        )

    what = f"{one.label or one.measure.words}{_OF_ONE if pooled else ''}"
    return f"{what}: {said(ends[0])}" if means.height == 1 else f"{what}: from {said(ends[0])} to {said(ends[1])}"


@dataclass(frozen=True)
class _Differences:
    """What arms differ in from the first by a measure: a row of each cell, arm and item; that it does, as a claim; and what that is decided on, unless it is open anyway."""

    table: pl.DataFrame
    claims: Sequence[Claimed] = ()
    sides: Sequence[Sequence[_Sides]] = ()


def _differences(one: Shown, frame: pl.DataFrame, answers: Answers, coarse: pl.DataFrame | None) -> _Differences:
    """What every other arm differs in from the first, by cell and item, replicate by replicate; in the measure's unit; and that it does, as a claim.

    `coarse` has the least and the most that values may stand for which are stored coarsely.
    """
    arms, runs = answers.arms, answers.dataset.runs
    if len(arms) < 2:
        return _Differences(pl.DataFrame())
    keys = ["cell", "item", *one.by]
    names = [name for name in frame.columns if name not in ("run", "replicate", "seed", "low", "high", "value")]
    divisor, unit = scale(one.measure.unit, frame["low"].to_numpy())
    claims: list[Claimed] = []
    kept: list[Sequence[_Sides]] = []
    bounds = None if coarse is None else dict(_groups(_beside(coarse, arms[0], keys, runs), names))

    def rows() -> Iterator[dict[str, object]]:
        coming = _groups(_beside(frame, arms[0], keys, runs), names)
        while some := list(itertools.islice(coming, AT_A_TIME)):
            asked = [[sides] if bounds is None else [sides, bounds[key]] for key, sides in some]
            made_ready(itertools.chain.from_iterable(asked), _LEVEL)
            for (key, sides), of in zip(some, asked, strict=True):
                found = _direction(sides)
                evidence = [_evidence(found)]
                claim = _settled(evidence if bounds is None else resolved(evidence, [_evidence(_direction(of[-1]))]))
                claims.append(claim)
                kept.append([] if claim is _OPEN else of)
                least, most = (interval.over(divisor) for interval in found.reach(_LEVEL))
                (low, high), (low_other, high_other) = sides
                unfinished = int(((low != high) | (low_other != high_other)).sum())
                yield {
                    "measure": f"{one.title.lower()}{f' ({unit})' if unit else ''}", **dict(zip(names, key, strict=True)),
                    "difference": None if unfinished else least.estimate, "low": _end(least.low), "high": _end(most.high), "runs": len(low),
                    **({"unfinished": unfinished} if unfinished else {}),
                }  # fmt: skip

    return _Differences(of_rows(rows()), claims, kept)


def _beside(frame: pl.DataFrame, base: str, keys: list[str], runs: pl.DataFrame) -> pl.DataFrame:
    """The values of all arms but the first, with its own of the same replicate."""
    return paired(frame.filter(pl.col("arm") != base), frame.filter(arm=base), keys, runs).drop_nulls("low_other")


def _groups(beside: pl.DataFrame, names: Sequence[str]) -> Iterator[tuple[tuple[object, ...], _Sides]]:
    """The values of a cell and arm, and those of the first arm beside them: low and high of both."""
    values = ["low", "high", "low_other", "high_other"]
    for row, (low, high, low_other, high_other) in estimates.grouped(beside.select(*names, *values), names, values):
        yield tuple(row[name] for name in names), ((low, high), (low_other, high_other))


def _direction(sides: _Sides) -> Direction:
    """Whether an arm has more than the first, and by how much, decided as a finding is."""
    return direction(*sides, {"times": 1.0}, "mean", below=False)


def _settled(evidence: Sequence[Evidence]) -> Claimed:
    """A claim of its own. One that is open by itself stays so beside others, and only counts: nothing else of it is kept, as there may be a million."""
    claim = Claimed("", evidence)
    return _OPEN if answer_of(claim, ERRORS) == "cannot distinguish" else claim


_OPEN = Claimed("", [Evidence("", shows=lambda _: False, denies=lambda _: False, words="")])


def _evidence(found: Direction) -> Evidence:
    return Evidence("", found.shows, found.denies, "")


def _compared(found: list[_Differences], base: str, shared: str) -> Section:
    """The differences of all measures, and which of them are beyond chance: of all together, by Holm's procedure."""
    table = pl.concat([each.table for each in found], how="diagonal_relaxed")
    claims = [claim for each in found for claim in each.claims]
    sides = [each_of for each in found for each_of in each.sides]

    def ready(asked: Sequence[int], errors: float) -> None:
        made_ready((pair for at in asked for pair in sides[at]), 1 - errors)

    said = {"yes": "more", "no": "less", "mixed": "", "cannot distinguish": "cannot distinguish"}
    table = table.with_columns(verdict=pl.Series([said[answer] for answer in decide(claims, ready=ready)]))
    constant = [name for name in ("cell", "item") if name in table.columns and (name == "cell" or table[name].n_unique() == 1)]
    alone = table.filter(pl.col("verdict") == "cannot distinguish", (pl.col("low") > 0) | (pl.col("high") < 0)).height
    by_signs = table.filter(pl.col("verdict").is_in(["more", "less"]), pl.all_horizontal(pl.col("low", "high").is_null())).height
    text = (
        f"Each arm less {base}, run by run of the same replicate ({shared}), with 95 % intervals. The verdicts are adjusted "
        f"for their number by Holm's procedure: at most 5 % that any of all {table.height} is wrong."
        + (
            f" Of {alone} the interval leaves 0 out, which is not enough beside so many: more replicates may tell those, or claims of the study about a few."
            if alone
            else ""
        )
        + (" Of pairs that did not both finish only a bound is known, on one side or on none." if "unfinished" in table.columns else "")
        + (" Where ties leave no interval and all pairs point one way, that is told by a sign test." if by_signs else "")
    )
    return Section(f"Differences to {base}", [text], grids=[Grid("differences", table.drop(constant), f"Every cell and arm, less {base}")])


def _end(value: float) -> float | None:
    """The end of an interval; none where there is none."""
    return value if math.isfinite(value) else None


def factor_table(dataset: Dataset) -> pl.DataFrame:
    """One row per cell with its factors as text."""
    return dataset.runs.select("cell", *factors(dataset)).unique(maintain_order=True)
