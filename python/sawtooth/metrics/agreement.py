"""Do two sides agree? Cell by cell, as ratios of means against a tolerance.

Three answers: `agree` if the ratio is shown to lie within the tolerance, `differ` if it is shown to lie beyond, else `not decided`.
Both are tests at 5 %, each adjusted by Holm for the number of rows tested: the chance that any row says `agree` wrongly is at most 5 %,
and so is the chance that any says `differ` wrongly. What has no counterpart is listed; what did not finish keeps its metric, with bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.counted import counted, form
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.measures import Measure, undefined
from sawtooth.measures.blocks import name_of_block
from sawtooth.measures.tables import SHAPES
from sawtooth.metrics import sides
from sawtooth.metrics.matching import NO_SPREAD, Matcher, Observed, Row, Tested, Unmatched, collides
from sawtooth.metrics.planned import Key, planned
from sawtooth.references import Reference
from sawtooth.results.dataset import Dataset

ERROR = 0.05
VERDICTS = ("agree", "differ", "not decided")


@dataclass(frozen=True)
class Comparison:
    """Sides laid beside each other.

    Attributes:
        sides: their names; of more than two, each row says which two it is of.
        factors: those by which cells were recognised, and those that only the first side has.
        unmatched: what has no counterpart.
        notes: what a reader must know of either side.

    """

    sides: tuple[str, ...]
    tolerance: float
    factors: Sequence[str]
    rows: Sequence[Row]
    unmatched: Sequence[Unmatched]
    notes: Sequence[str]

    def frame(self) -> pl.DataFrame:
        """One line per row, in base units."""
        return pl.DataFrame([_line(row) for row in self.rows], infer_schema_length=None)

    def every_cell(self) -> pl.DataFrame:
        """As `frame`, with a line more for each cell that was not compared: its verdict is `not compared`, and `why` has the reason."""
        cells = [
            {"cell": entry.cell, **entry.factors, "arm": entry.arm, "verdict": "not compared", "why": entry.why}
            for entry in self.unmatched
            if entry.cell is not None
        ]
        frame = self.frame()
        return pl.concat([frame, pl.DataFrame(cells, infer_schema_length=None)], how="diagonal_relaxed") if cells else frame


def of_datasets(
    datasets: Sequence[Dataset], names: Sequence[str], tolerance: float, how: str = "mean", arm: str | None = None, of: Sequence[str] = ()
) -> Comparison:
    """Datasets of one study, each over those that come after it.

    Args:
        datasets: two or more.
        names: of measures; none for completion times of transfers, else goodput.
        tolerance: of ratios.
        how: the flows of a block are taken together.
        arm: only this one.
        of: only these items.

    Raises:
        DatasetError: if they are of different studies, or have nothing in common, or a metric, arm or item does not exist.

    """
    for other in datasets[1:]:
        require_same_study(datasets[0], other)
    _require_arm(datasets, arm)
    labels = labels_of(datasets)
    metrics = _metrics(names, datasets)
    seen = [[sides.observe(dataset, metric, how, arm) for metric, _ in metrics] for dataset in datasets]
    for at, (metric, _) in enumerate(metrics):
        _require_told(metric, [frames[at] for frames in seen], datasets)
    sides.require_items([(metric, [frames[at] for frames in seen]) for at, (metric, _) in enumerate(metrics)], of, each=bool(names))
    matchers: list[Matcher] = []
    for one, other in combinations(range(len(datasets)), 2):
        first, second, called = datasets[one], datasets[other], (labels[one], labels[other])
        shared = _shared_factors(first, second, called)
        notes = [*_state(first, called[0]), *_state(second, called[1]), *_setting_notes(first, second, called)]
        matcher = Matcher(called, shared, notes)
        matcher.exact = collides(first, shared) or collides(second, shared)
        plans = [planned(dataset, matcher.key, shared, arm) for dataset in (first, second)]
        for at, (metric, items) in enumerate(metrics):
            a, b = (_of_items(matcher.gather(sides.chosen(seen[side][at], of)), items) for side in (one, other))
            matcher.missing_cells(a, b, *plans)
            matcher.attested(a, b)
            matcher.pair(metric, a, b)
        matchers.append(matcher)
    return _comparison(labels, matchers, tolerance, sides.factors(datasets[0]))


def of_arms(dataset: Dataset, names: Sequence[str], tolerance: float, how: str = "mean", of: Sequence[str] = ()) -> Comparison:
    """Each pair of arms of one dataset, the later arm over the earlier one.

    Raises:
        DatasetError: if there are no two arms, or nothing was run, or an item does not exist.

    """
    arms = list(dict.fromkeys(dataset.runs["arm"].to_list()))
    if len(arms) < 2:
        raise DatasetError(f"{dataset.directory} has no arms to compare", "name a second directory, or a CSV of published numbers")
    shared = sides.factors(dataset)
    metrics = _metrics(names, [dataset])
    seen = [{arm: sides.observe(dataset, metric, how, arm) for arm in arms} for metric, _ in metrics]
    for (metric, _), of_arm in zip(metrics, seen, strict=True):
        _require_told(metric, list(of_arm.values()), [dataset])
    sides.require_items([(metric, list(of_arm.values())) for (metric, _), of_arm in zip(metrics, seen, strict=True)], of, each=bool(names))
    matchers: list[Matcher] = []
    for earlier, later in combinations(arms, 2):
        matcher = Matcher((later, earlier), shared, [*_state(dataset, str(dataset.directory))])
        matcher.exact = collides(dataset, shared)
        pair = pl.lit(f"{later} / {earlier}").alias("arm")
        plans = [
            {(*key[:-1], f"{later} / {earlier}"): replace(cell, arm=f"{later} / {earlier}") for key, cell in planned(dataset, matcher.key, shared, arm).items()}
            for arm in (later, earlier)
        ]  # fmt: skip
        for (metric, items), of_arm in zip(metrics, seen, strict=True):
            a, b = (_of_items(matcher.gather(sides.chosen(of_arm[arm], of).with_columns(pair)), items) for arm in (later, earlier))
            matcher.missing_cells(a, b, *plans)
            matcher.pair(metric, a, b)
        matchers.append(matcher)
    return _comparison(list(reversed(arms)), matchers, tolerance, shared)


def with_reference(
    dataset: Dataset, reference: Reference, label: str, pairs: Sequence[tuple[Measure, str]], tolerance: float, how: str = "mean",
    arm: str | None = None, of: Sequence[str] = (),
) -> Comparison:  # fmt: skip
    """A dataset against published numbers.

    Args:
        dataset: whose runs.
        reference: the numbers.
        label: what they are called.
        pairs: which metric is held against which of their columns.
        tolerance: of ratios.
        how: the flows of a block are taken together.
        arm: only this one.
        of: only these items.

    Raises:
        DatasetError: if units do not fit, or no row is of a cell that was run, or the arm or an item does not exist, or one number is of several items.

    """
    _require_arm([dataset], arm)
    own = sides.factors(dataset)
    notes = [*_state(dataset, _label(dataset))]
    if reference.exact:
        notes.append(f"{reference.path.name}: taken as exact, because no column says how far the numbers can be trusted")
    # A directory may be called like the table that it is held against.
    matcher = Matcher((_label(dataset), f"{label} (reference)" if label == _label(dataset) else label), own, notes)
    matcher.exact = collides(dataset, own)
    for metric, column in pairs:
        _require_unit(reference, column, metric, notes)
        found = sides.observe(dataset, metric, how, arm)
        _require_told(metric, [found], [dataset])
        sides.require_items([(metric, [found])], of, each=True)
        matcher.pair_published(metric, matcher.gather(sides.chosen(found, of)), reference, column, planned(dataset, matcher.key, own, arm))
    return _comparison(matcher.labels, [matcher], tolerance, own)


def _require_told(metric: Measure, found: Sequence[pl.DataFrame], datasets: Sequence[Dataset]) -> None:
    """Raises for a measure of which no finished run has anything, with what it needs; or a value, where its expression has none in any."""
    # Runs of several datasets have the same numbers.
    every = pl.concat(frame.select(pl.struct(pl.lit(at).alias("side"), "run").alias("run"), "why") for at, frame in enumerate(found))
    if every.height and not every["why"].null_count():
        why = undefined.words(every)
        raise DatasetError(f"no run has a value of `{metric.name}`: {why}", undefined.advice(why))
    if every.height or not any(dataset.status().filter(status="ok").height for dataset in datasets):
        return
    needs = [f"the table `{table}` needs {SHAPES[table].needs}" for table in sorted(metric.tables) if SHAPES[table].needs]
    raise DatasetError(
        f"no run has `{metric.name}`{': ' if needs else ''}{'; '.join(needs)}",
        "results hold what the study records; `sawtooth list metric` says what else there is",
    )


def _require_unit(reference: Reference, column: str, metric: Measure, notes: list[str]) -> None:
    quantity = reference.quantities[column]
    for text, place in reference.table(column).filter(pl.col("value") < 0).select("text", "place").iter_rows():
        raise DatasetError(f"{place}: `{text}` in column `{quantity.column}` is below 0", "ratios need values of at least 0")
    if quantity.unit.natural.name == metric.unit:
        return
    # What a study says of its reference, no option does.
    at_study = f"at {quantity.place}; `sawtooth run` takes a change over and runs nothing again" if quantity.place else ""
    if quantity.unit_name:
        raise DatasetError(
            f"`{quantity.column}` of {reference.path} is in {quantity.unit_name}, `{metric.name}` in {metric.unit or 'plain numbers'}",
            f"--metric names ours, --value theirs; the study says the unit of theirs {at_study}" if at_study
            else "--metric names ours, --value theirs, --unit the unit of theirs",
        )  # fmt: skip
    notes.append(
        f"{reference.path.name}: `{quantity.column}` says no unit and is taken to be in {metric.unit}, as `{metric.name}` is; "
        + (f"`unit` at {quantity.place} says another" if at_study else "--unit says another")
    )


def _comparison(labels: Sequence[str], matchers: Sequence[Matcher], tolerance: float, factors: Sequence[str]) -> Comparison:
    rows = [row for matcher in matchers for row in matcher.rows]
    unmatched = list(dict.fromkeys(entry for matcher in matchers for entry in matcher.unmatched))
    if not rows:
        listed = "; ".join(f"{x.what}: {x.where} ({x.why})" for x in unmatched[:3])
        raise DatasetError(f"{_and(labels)} have no cell in common", listed or "none has a finished run")
    notes = list(dict.fromkeys(note for matcher in matchers for note in matcher.notes))
    judged = _judged(rows, tolerance)
    for metric in dict.fromkeys(row.metric for row in judged):
        own = [row for row in judged if row.metric == metric]
        marked = sum(any(row.unfinished) for row in own)
        without = sum(row.bound == "unbounded" for row in own)
        if marked:
            notes.append(
                f"{metric.name}: in {marked} of {len(own)} rows runs did not finish; each counts as the least that it may be, "
                + ("and no row has a bound" if without == marked else f"and the row has bounds{f', but for {without}' if without else ''}")
            )
    return Comparison(tuple(labels), tolerance, list(factors), judged, unmatched, notes)


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _judged(rows: Sequence[Tested], tolerance: float) -> list[Row]:
    tested = [at for at, each in enumerate(rows) if each.testable]
    raw = [stats.equivalence_of_bounds(rows[at].least, rows[at].most, tolerance) for at in tested]
    within = dict(zip(tested, stats.holm([p for p, _ in raw]), strict=True))
    beyond = dict(zip(tested, stats.holm([p for _, p in raw]), strict=True))
    judged: list[Row] = []
    for at, each in enumerate(rows):
        row = each.row
        why = [f"{row.unfinished[0]} and {row.unfinished[1]} runs unfinished"] if any(row.unfinished) else []
        if at not in within:
            judged.append(replace(row, why=", ".join([*([] if row.bound == "unbounded" else [_untested(each)]), *why])))
            continue
        verdict = "agree" if within[at] < ERROR else "differ" if beyond[at] < ERROR else "not decided"
        if all(means is None or means.variances == (0.0, 0.0) for means in (each.least, each.most)):
            why = ["no variation: exact", *why]
        judged.append(replace(row, p_within=within[at], p_beyond=beyond[at], verdict=verdict, why=", ".join(why)))
    return judged


def _untested(each: Tested) -> str:
    """Why a row allows no test."""
    known = [means for means in (each.least, each.most) if means is not None]
    theirs_only = each.row.second.kind.startswith(NO_SPREAD) and all(means.freedom[0] > 0 for means in known)
    return NO_SPREAD if theirs_only else "n = 1"


def _metrics(names: Sequence[str], datasets: Sequence[Dataset]) -> list[tuple[Measure, Callable[[str], bool]]]:
    """Each metric, and of which items: without names the completion of transfers, and the goodput of what is none, in all cells alike."""
    if names:
        context = sides.context(datasets[0])
        return [(sides.chosen_measure(name, context), lambda _: True) for name in dict.fromkeys(names)]
    sized = {item for dataset in datasets for item in sides.transfers(dataset)}

    def completes(item: str) -> bool:
        return name_of_block(item) in sized

    return [(sides.chosen_measure("completion_ns"), completes), (sides.chosen_measure("goodput_bps"), lambda item: not completes(item))]


def _of_items(found: Mapping[Key, Observed], wanted: Callable[[str], bool]) -> dict[Key, Observed]:
    return {key: observed for key, observed in found.items() if wanted(observed.item)}


def require_same_study(first: Dataset, second: Dataset) -> None:
    """Refuses datasets of different studies.

    Raises:
        DatasetError: that says of which they are.

    """
    a, b = first.manifest.get("name"), second.manifest.get("name")
    if a != b:
        raise DatasetError(
            f"{first.directory} holds results of `{a}`, {second.directory} of `{b}`",
            "two datasets are compared cell by cell, so both must be of one study (its `name`)",
        )


def _require_arm(datasets: Sequence[Dataset], arm: str | None) -> None:
    for dataset in datasets:
        arms = list(dict.fromkeys(dataset.runs["arm"].to_list()))
        if arm is not None and arm not in arms:
            raise DatasetError(f"{dataset.directory} has no arm `{arm}`", did_you_mean(arm, arms) if any(arms) else "its study has no arms")


def _shared_factors(first: Dataset, second: Dataset, labels: tuple[str, str]) -> list[str]:
    a, b = sides.factors(first), sides.factors(second)
    for mine, theirs, has, lacks in ((a, b, first, 1), (b, a, second, 0)):
        for name in mine:
            if name not in theirs and has.runs[name].n_unique() > 1:
                raise DatasetError(f"{labels[1 - lacks]} sweeps `{name}`, {labels[lacks]} does not", "their cells do not correspond")
    return [name for name in a if name in b]


def _label(dataset: Dataset) -> str:
    return dataset.directory.resolve().name


def labels_of(datasets: Sequence[Dataset]) -> list[str]:
    """Short names: of the backends, or of the directories, where those tell them apart; else the whole paths."""
    named = [[str(dataset.manifest.get("backend")) for dataset in datasets], [_label(dataset) for dataset in datasets]]
    return next((names for names in named if len(set(names)) == len(datasets)), [str(dataset.directory) for dataset in datasets])


def _state(dataset: Dataset, label: str) -> list[str]:
    status, planned = dataset.status(), dataset.runs.height
    failures = status.filter(pl.col("status") != "ok")
    notes = (
        [f"{label}: {status.height:,} of {counted(planned, 'run')} {form(status.height, 'is', 'are')} done"]
        if status.height < planned
        else []
    )
    if failures.height:
        notes.append(f"{label}: {counted(failures.height, 'run')} failed; the first: {failures['message'][0]}")
    return notes


def _setting_notes(first: Dataset, second: Dataset, labels: tuple[str, str]) -> list[str]:
    """Whether both hold the same, else what the manifests differ in that may make the results differ."""
    notes: list[str] = []
    if first.digest == second.digest:
        notes.append(
            f"{labels[0]} and {labels[1]} hold the same records to the bit, as a copy does, or the same runs done again: "
            "nothing else can be learnt of their agreement"
        )
    for field_name, words in (
        ("study_sha256", "text of the study"),
        ("results_epoch", "results epoch"),
        ("seed", "seed"),
        ("options", "options"),
    ):
        a, b = (_setting(dataset, field_name) for dataset in (first, second))
        if a != b:
            told = f"{_told(a)} on {labels[0]}, {_told(b)} on {labels[1]}" if field_name != "study_sha256" else "the files are not the same"
            notes.append(f"{'other' if words == 'options' else 'another'} {words}: {told}")
    return notes


def _setting(dataset: Dataset, name: str) -> Any:
    """A field of a manifest; of options all but the backend, which the sides are called by."""
    if name != "options":
        return dataset.manifest.get(name)
    return [option for option in cast(list[str], dataset.manifest.get(name) or []) if not option.startswith("backend=")]


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _line(row: Row) -> dict[str, Any]:
    def bound(value: float) -> float | None:
        return value if np.isfinite(value) else None

    intervals = {"first": row.first, "second": row.second, "difference": row.difference, "ratio": row.ratio}
    numbers = {
        f"{name}{part}": bound(value)
        for name, interval in intervals.items()
        for part, value in (("", interval.estimate), ("_low", interval.low), ("_high", interval.high))
    }
    # What is decided stands first, then what it is decided of.
    decisive = ("first", "second", "ratio", "ratio_low", "ratio_high")
    return {
        "metric": row.metric.name, "first_side": row.sides[0], "second_side": row.sides[1],
        "cell": row.cell, **row.factors, "arm": row.arm, "item": row.item, "verdict": row.verdict,
        **{name: numbers.pop(name) for name in decisive}, "bound": row.bound, "published_digits": row.digits, "why": row.why,
        "n_first": row.first.n, "n_second": row.second.n, "unfinished_first": row.unfinished[0], "unfinished_second": row.unfinished[1],
        "paired": row.paired, **numbers, "p_within": row.p_within, "p_beyond": row.p_beyond,
    }  # fmt: skip
