"""Do two sides agree? Cell by cell, as ratios of means against a tolerance.

Three answers: `agree` if the ratio is shown to lie within the tolerance, `differ` if it is shown to lie beyond, else `not decided`.
Both are tests at 5 %, each adjusted by Holm for the number of rows tested: the chance that any row says `agree` wrongly is at most 5 %,
and so is the chance that any says `differ` wrongly. What has no counterpart is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.measures import Measure
from sawtooth.metrics import sides
from sawtooth.metrics.sides import Published
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Means

ERROR = 0.05
VERDICTS = ("agree", "differ", "not decided")
_DEFAULT = ("completion_ns", "goodput_bps")

Key = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One metric of one item (a flow, a block of flows, a link's direction) in one cell and arm, on both sides.

    Attributes:
        cell: its number on the first side.
        arm: its name; of two arms of one dataset, `first / second`.
        first, second: means with 95 % intervals.
        difference, ratio: first less second, first over second.
        p_within, p_beyond: of the two tests, adjusted by Holm; None where one replicate allows none.
        why: what a verdict rests on, where it is not the tests.

    """

    metric: Measure
    cell: int
    factors: Mapping[str, str]
    arm: str
    item: str
    paired: bool
    first: Interval
    second: Interval
    difference: Interval
    ratio: Interval
    p_within: float | None
    p_beyond: float | None
    verdict: str = "not decided"
    why: str = ""


@dataclass(frozen=True)
class Unmatched:
    """Something that only one side has, or does not tell."""

    what: str
    side: str
    why: str
    rows: int


@dataclass(frozen=True)
class Comparison:
    """Two sides laid beside each other.

    Attributes:
        first, second: their names.
        factors: those by which cells were recognised, and those that only the first side has.
        unmatched: what has no counterpart.
        notes: what a reader must know of either side.

    """

    first: str
    second: str
    tolerance: float
    factors: Sequence[str]
    rows: Sequence[Row]
    unmatched: Sequence[Unmatched]
    notes: Sequence[str]

    def frame(self) -> pl.DataFrame:
        """One line per row, in base units."""
        return pl.DataFrame([_line(row) for row in self.rows], infer_schema_length=None)


@dataclass
class _Observed:
    """What a side has of one key."""

    cell: int
    factors: dict[str, str]
    arm: str
    item: str
    values: dict[int, tuple[int, float | None]] = field(default_factory=dict[int, tuple[int, "float | None"]])
    cc: set[str] = field(default_factory=set[str])

    @property
    def known(self) -> dict[int, float]:
        return {replicate: value for replicate, (_, value) in self.values.items() if value is not None}

    @property
    def complete(self) -> bool:
        return len(self.known) == len(self.values)


def of_datasets(
    first: Dataset, second: Dataset, names: Sequence[str], tolerance: float, how: str = "mean", arm: str | None = None
) -> Comparison:
    """Two datasets of one study.

    Raises:
        DatasetError: if they are of different studies, or have nothing in common, or a metric or arm does not exist.

    """
    _require_same_study(first, second)
    _require_arm([first, second], arm)
    labels = _labels(first, second)
    shared = _shared_factors(first, second, labels)
    notes = [*_state(first, labels[0]), *_state(second, labels[1]), *_setting_notes(first, second, labels)]
    matcher = _Matcher(labels, shared, [], notes)
    matcher.exact = _collides(first, shared) or _collides(second, shared)
    planned = [_planned(dataset, matcher.key, shared, arm) for dataset in (first, second)]

    def observe(metric: Measure) -> tuple[dict[Key, _Observed], dict[Key, _Observed]]:
        return matcher.gather(sides.observe(first, metric, how, arm)), matcher.gather(sides.observe(second, metric, how, arm))

    for name, a, b in _chosen(names, observe):
        matcher.missing_cells(a, b, planned[0], planned[1])
        matcher.attested(a, b)
        matcher.pair(name, a, b)
    return matcher.comparison(tolerance, sides.factors(first))


def of_arms(dataset: Dataset, names: Sequence[str], tolerance: float, how: str = "mean") -> Comparison:
    """Each pair of arms of one dataset, the later arm over the earlier one.

    Raises:
        DatasetError: if there are no two arms, or nothing was run.

    """
    arms = list(dict.fromkeys(dataset.runs["arm"].to_list()))
    if len(arms) < 2:
        raise DatasetError(f"{dataset.directory} has no arms to compare", "name a second directory, or a CSV of published numbers")
    labels = (arms[1], arms[0]) if len(arms) == 2 else ("the first arm named", "the second")
    shared = sides.factors(dataset)
    matcher = _Matcher(labels, shared, [], [*_state(dataset, str(dataset.directory))])
    matcher.exact = _collides(dataset, shared)

    def observe(metric: Measure) -> tuple[dict[Key, _Observed], dict[Key, _Observed]]:
        a: dict[Key, _Observed] = {}
        b: dict[Key, _Observed] = {}
        of_arm = {arm: sides.observe(dataset, metric, how, arm) for arm in arms}
        for earlier, later in combinations(arms, 2):
            pair = pl.lit(f"{later} / {earlier}").alias("arm")
            a |= matcher.gather(of_arm[later].with_columns(pair))
            b |= matcher.gather(of_arm[earlier].with_columns(pair))
        return a, b

    pairs = [f"{later} / {earlier}" for earlier, later in combinations(arms, 2)]
    planned = {(*key[:-1], pair) for key in _planned(dataset, matcher.key, shared, None) for pair in pairs}
    for name, a, b in _chosen(names, observe):
        matcher.missing_cells(a, b, planned, planned)
        matcher.pair(name, a, b)
    return matcher.comparison(tolerance, shared)


def with_table(
    dataset: Dataset, path: Path, columns: Published, name: str, tolerance: float, how: str = "mean", arm: str | None = None
) -> Comparison:
    """A dataset against published numbers, its metric `name` against their column.

    Raises:
        DatasetError: if the table cannot be used, or has no cell of the study, or the metric or arm does not exist.

    """
    _require_arm([dataset], arm)
    metric = sides.chosen_measure(name)
    own = sides.factors(dataset)
    table, names = sides.published(path, columns, metric, ["cell", *own, "arm", "item"])
    notes = [*_state(dataset, _label(dataset))]
    if columns.sd is None and columns.ci is None:
        notes.append(f"{path.name}: taken as exact, because no column says how far the numbers can be trusted")
    matcher = _Matcher((_label(dataset), path.stem), own, names, notes)
    matcher.exact = _collides(dataset, own)
    a = matcher.gather(sides.observe(dataset, metric, how, arm))
    b = {matcher.published_key(line): line for line in table.to_dicts()}
    matcher.pair_published(metric, a, b)
    return matcher.comparison(tolerance, own)


class _Matcher:
    """Brings together what belongs together, and keeps account of the rest."""

    def __init__(self, labels: tuple[str, str], shared: Sequence[str], published: Sequence[str], notes: list[str]) -> None:
        self.labels = labels
        self.shared = shared
        self.names = published
        self.notes = notes
        self.rows: list[tuple[Row, Means]] = []
        self.unmatched: list[Unmatched] = []
        self.exact = False

    def key(self, line: Mapping[str, Any]) -> Key:
        recognise: Callable[[Any], str] = str if self.exact else sides.level
        return (*(recognise(line[name]) for name in self.shared), str(line["arm"]))

    def published_key(self, line: Mapping[str, Any]) -> Key:
        as_is = ("arm", "item")
        return tuple(str(line[name]) if name in as_is else sides.level(str(line[name])) for name in self.names)

    def gather(self, frame: pl.DataFrame) -> dict[Key, _Observed]:
        found: dict[Key, _Observed] = {}
        for line in frame.iter_rows(named=True):
            key = (*self.key(line), str(line["item"]))
            observed = found.get(key)
            if observed is None:
                texts = {name: str(line[name]) for name in self.shared if line[name] is not None}
                observed = found[key] = _Observed(line["cell"], texts, line["arm"], line["item"])
            observed.values[line["replicate"]] = (line["seed"], line["value"])
            if line["cc"]:
                observed.cc.add(line["cc"])
        return found

    def pair(self, metric: Measure, a: Mapping[Key, _Observed], b: Mapping[Key, _Observed]) -> None:
        untold: Counter[tuple[str, bool, bool]] = Counter()
        lost = 0
        for key in [key for key in a if key in b]:
            mine, theirs = a[key], b[key]
            known = mine.known, theirs.known
            if not known[0] or not known[1]:
                untold[mine.item, bool(known[0]), bool(known[1])] += 1
                continue
            common = sorted(known[0].keys() & known[1].keys())
            paired = bool(common) and all(mine.values[at][0] == theirs.values[at][0] for at in common)
            if paired:
                used = [known[0][at] for at in common], [known[1][at] for at in common]
                means = stats.means_of_pairs(*used)
                lost += max(len(mine.values), len(theirs.values)) > len(common)
            else:
                used = list(known[0].values()), list(known[1].values())
                means = stats.means_of_groups(*used)
                lost += not (mine.complete and theirs.complete)
            self._add(metric, mine, means, stats.mean_interval(used[0]), stats.mean_interval(used[1]))
        if lost:
            self.notes.append(
                f"{metric.name}: {lost} rows rest on fewer replicates than were planned or run, those of which both sides tell"
            )
        for (item, first, second), count in untold.items():
            has, lacks = (self.labels[0], self.labels[1]) if first else (self.labels[1], self.labels[0])
            what = f"{metric.name} of {item}"
            told = (has, f"{lacks} does not tell it") if first or second else ("neither", "no run of either side tells it")
            self.unmatched.append(Unmatched(what, *told, count))

    def pair_published(self, metric: Measure, a: Mapping[Key, _Observed], b: Mapping[Key, Mapping[str, Any]]) -> None:
        used: set[Key] = set()
        alone: list[_Observed] = []
        for observed in a.values():
            line = {**observed.factors, "cell": observed.cell, "arm": observed.arm, "item": observed.item}
            key = self.published_key({name: line.get(name) for name in self.names})
            theirs = b.get(key)
            if theirs is None:
                alone.append(observed)
                continue
            used.add(key)
            known = list(observed.known.values())
            if not known or theirs["value"] is None:
                side = 1 if known else 0
                what = f"{metric.name} of {_words(observed)}"
                self.unmatched.append(Unmatched(what, self.labels[1 - side], f"{self.labels[side]} does not tell it", 1))
                continue
            means = stats.means_against(known, theirs["value"], theirs["error"], theirs["freedom"])
            second = stats.difference_interval(stats.means_against([0.0, 0.0], theirs["value"], theirs["error"], theirs["freedom"]))
            second = Interval(theirs["value"], -second.high, -second.low, second.n, "as published" if theirs["error"] == 0 else second.kind)
            if theirs["freedom"] <= 0:
                second = replace(second, low=-np.inf, high=np.inf, kind="n = 1: no interval")
            self._add(metric, observed, means, stats.mean_interval(known), second)
        if not used:
            ours = ", ".join(f"{name} {text}" for name, text in next(iter(a.values())).factors.items()) if a else "nothing"
            theirs = ", ".join(f"{name} {b[key][name]}" for key in list(b)[:1] for name in self.names)
            raise DatasetError(
                f"no cell of {self.labels[0]} is in {self.labels[1]}",
                f"the first of ours is {ours}; the first of theirs {theirs}; a column's name should end in its unit, as `delay_ms` does",
            )
        for observed in alone:
            self.unmatched.append(Unmatched(_words(observed), self.labels[0], f"{self.labels[1]} has no such row", 1))
        for key in b:
            if key not in used:
                self.unmatched.append(
                    Unmatched(
                        ", ".join(f"{name} {b[key][name]}" for name in self.names), self.labels[1], f"{self.labels[0]} has no such run", 1
                    )
                )

    def missing_cells(self, a: Mapping[Key, _Observed], b: Mapping[Key, _Observed], plan_a: set[Key], plan_b: set[Key]) -> None:
        """Lists what one side lacks: by level where a whole level is missing, else cell by cell."""
        for side, (mine, others, other_plan) in enumerate(((a, b, plan_b), (b, a, plan_a))):
            there = {key[:-1] for key in others}
            names = (*self.shared, "arm")
            levels = [{key[at] for key in there | other_plan} for at in range(len(names))]
            found: Counter[tuple[str, str]] = Counter()
            for key, observed in mine.items():
                if key in others:
                    continue
                texts = {**observed.factors, "arm": observed.arm}
                strange = [f"{name} {texts.get(name, 'none')}" for at, name in enumerate(names) if key[at] not in levels[at]]
                if strange:
                    found[strange[0], "not in the plan"] += 1
                elif key[:-1] in there:
                    found[f"{observed.item} in {_words(observed)}", "no such flow or link there"] += 1
                else:
                    why = "no finished run there" if key[:-1] in other_plan else "not in the plan"
                    found[_words(observed), why] += 1
            for (what, why), count in found.items():
                entry = Unmatched(what, self.labels[side], f"{self.labels[1 - side]}: {why}", count)
                if entry not in self.unmatched:
                    self.unmatched.append(entry)

    def attested(self, a: Mapping[Key, _Observed], b: Mapping[Key, _Observed]) -> None:
        """Notes where the two sides ran other algorithms than each other."""
        pairs: Counter[tuple[str, str, str]] = Counter()
        for key in [key for key in a if key in b]:
            ran = [", ".join(sorted(observed[key].cc)) for observed in (a, b)]
            if ran[0] != ran[1]:
                pairs[a[key].item, ran[0], ran[1]] += 1
        for (item, ours, theirs), count in pairs.items():
            note = f"{item} ran {ours} on {self.labels[0]} and {theirs} on {self.labels[1]} in {count} cells"
            if note not in self.notes:
                self.notes.append(note)

    def comparison(self, tolerance: float, factors: Sequence[str]) -> Comparison:
        if not self.rows:
            listed = "; ".join(f"{x.what}: only {x.side} ({x.why})" for x in self.unmatched[:3])
            raise DatasetError(f"{self.labels[0]} and {self.labels[1]} have no cell in common", listed or "neither has a finished run")
        return Comparison(
            self.labels[0], self.labels[1], tolerance, list(factors), _judged(self.rows, tolerance), self.unmatched, self.notes
        )

    def _add(self, metric: Measure, observed: _Observed, means: Means, first: Interval, second: Interval) -> None:
        row = Row(
            metric, observed.cell, observed.factors, observed.arm, observed.item, means.paired, first, second,
            stats.difference_interval(means), stats.ratio_interval(means), None, None,
        )  # fmt: skip
        self.rows.append((row, means))


def _judged(rows: Sequence[tuple[Row, Means]], tolerance: float) -> list[Row]:
    tested = [at for at, (_, means) in enumerate(rows) if means.testable]
    raw = [stats.equivalence(rows[at][1], tolerance) for at in tested]
    within = dict(zip(tested, stats.holm([p for p, _ in raw]), strict=True))
    beyond = dict(zip(tested, stats.holm([p for _, p in raw]), strict=True))
    judged: list[Row] = []
    for at, (row, means) in enumerate(rows):
        if at not in within:
            judged.append(replace(row, why="n = 1"))
            continue
        verdict = "agree" if within[at] < ERROR else "differ" if beyond[at] < ERROR else "not decided"
        exact = means.variances == (0.0, 0.0)
        judged.append(replace(row, p_within=within[at], p_beyond=beyond[at], verdict=verdict, why="no variation: exact" if exact else ""))
    return judged


def _chosen(
    names: Sequence[str], observe: Callable[[Measure], tuple[dict[Key, _Observed], dict[Key, _Observed]]]
) -> Iterable[tuple[Measure, dict[Key, _Observed], dict[Key, _Observed]]]:
    """Each metric with what both sides have of it; by default completion where a flow completes on both sides, else goodput."""
    metrics = [sides.chosen_measure(name) for name in dict.fromkeys(names or _DEFAULT)]
    if names:
        for metric in metrics:
            yield metric, *observe(metric)
        return
    time, rate = (observe(metric) for metric in metrics)
    never = {key for side in time for key, observed in side.items() if not observed.complete}
    for metric, (a, b), wanted in ((metrics[0], time, False), (metrics[1], rate, True)):
        mine, theirs = ({key: found for key, found in side.items() if (key in never) == wanted} for side in (a, b))
        if mine or theirs:
            yield metric, mine, theirs


def _require_same_study(first: Dataset, second: Dataset) -> None:
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


def _collides(dataset: Dataset, names: Sequence[str]) -> bool:
    """Whether two cells of one side would be taken for the same (`reno` and `kernel:reno`)."""
    cells = dataset.runs.select("cell", *names).unique()
    return len({tuple(sides.level(text) for text in line[1:]) for line in cells.iter_rows()}) < cells["cell"].n_unique()


def _planned(dataset: Dataset, key: Callable[[Mapping[str, Any]], Key], names: Sequence[str], arm: str | None) -> set[Key]:
    cells = dataset.runs.select(*names, "arm").unique()
    return {key(line) for line in cells.to_dicts() if arm is None or line["arm"] == arm}


def _label(dataset: Dataset) -> str:
    return dataset.directory.resolve().name


def _labels(first: Dataset, second: Dataset) -> tuple[str, str]:
    """Short names: of the directories, or of the backends where those are what differs."""
    backends = str(first.manifest.get("backend")), str(second.manifest.get("backend"))
    if backends[0] != backends[1]:
        return backends
    if _label(first) != _label(second):
        return _label(first), _label(second)
    return str(first.directory), str(second.directory)


def _state(dataset: Dataset, label: str) -> list[str]:
    status, planned = dataset.status(), dataset.runs.height
    failures = status.filter(pl.col("status") != "ok")
    notes = [f"{label}: {status.height:,} of {planned:,} runs are done"] if status.height < planned else []
    if failures.height:
        notes.append(f"{label}: {failures.height:,} runs failed; the first: {failures['message'][0]}")
    return notes


def _setting_notes(first: Dataset, second: Dataset, labels: tuple[str, str]) -> list[str]:
    """What the manifests differ in that may make the results differ."""
    notes: list[str] = []
    for field_name, words in (
        ("study_sha256", "text of the study"),
        ("results_epoch", "results epoch"),
        ("seed", "seed"),
        ("options", "options"),
    ):
        a, b = first.manifest.get(field_name), second.manifest.get(field_name)
        if a != b:
            told = f"{_told(a)} on {labels[0]}, {_told(b)} on {labels[1]}" if field_name != "study_sha256" else "the files are not the same"
            notes.append(f"another {words}: {told}")
    return notes


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _words(observed: _Observed) -> str:
    """Cell and arm of something observed, for lists."""
    parts = [f"{name} {text}" for name, text in observed.factors.items()] or [f"cell {observed.cell}"]
    return ", ".join([*parts, *([observed.arm] if observed.arm else [])])


def _line(row: Row) -> dict[str, Any]:
    def bound(value: float) -> float | None:
        return value if np.isfinite(value) else None

    intervals = {"first": row.first, "second": row.second, "difference": row.difference, "ratio": row.ratio}
    numbers = {
        f"{name}{part}": bound(value)
        for name, interval in intervals.items()
        for part, value in (("", interval.estimate), ("_low", interval.low), ("_high", interval.high))
    }
    return {
        "metric": row.metric.name, "cell": row.cell, **row.factors, "arm": row.arm, "item": row.item, "verdict": row.verdict,
        "n_first": row.first.n, "n_second": row.second.n, "paired": row.paired, **numbers,
        "p_within": row.p_within, "p_beyond": row.p_beyond, "why": row.why,
    }  # fmt: skip
