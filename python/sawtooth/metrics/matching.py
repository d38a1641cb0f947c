"""What belongs together on two sides, replicate by replicate, and account of the rest.

A value that a run did not bring to an end lies between the least and the most that it may be. It counts with both, and is marked: it is neither
left out nor replaced by another measure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.measures import Measure
from sawtooth.measures.blocks import name_of_block
from sawtooth.metrics import sides
from sawtooth.metrics.planned import Key, Planned
from sawtooth.references import Quantity, Reference, has_digits
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Means

NO_SPREAD = "no published spread"
"""Of a value that nothing tells the spread of, while that of others in its table is told; so it is neither exact nor tested."""


@dataclass(frozen=True)
class Row:
    """One metric of one item (a flow, a block of flows, a link's direction) in one cell and arm, on both sides.

    Attributes:
        sides: what the two are called.
        cell: its number on the first side.
        arm: its name; of two arms of one dataset, `first / second`.
        first, second: means with 95 % intervals; of runs that did not finish, the least, with no upper end.
        difference, ratio: first less second, first over second; the bound that there is, where some did not finish.
        unfinished: runs of each side that did not finish.
        bound: `at least` or `at most` the ratio, `unbounded`, or empty where it is known.
        p_within, p_beyond: of the two tests, adjusted by Holm; None where one replicate allows none.
        digits: of a published value, `same` if the mean has its digits, else `other`; empty of anything else.
        why: what a verdict rests on, where it is not the tests.

    """

    metric: Measure
    sides: tuple[str, str]
    cell: int
    factors: Mapping[str, str]
    arm: str
    item: str
    paired: bool
    first: Interval
    second: Interval
    difference: Interval
    ratio: Interval
    unfinished: tuple[int, int] = (0, 0)
    bound: str = ""
    p_within: float | None = None
    p_beyond: float | None = None
    verdict: str = "not decided"
    digits: str = ""
    why: str = ""

    @property
    def pair(self) -> str:
        """What is over what."""
        return " / ".join(self.sides)


@dataclass(frozen=True)
class Tested:
    """A row, and the means that it is tested by: the least and the most that their ratio may be, the same where all is known."""

    row: Row
    least: Means | None
    most: Means | None

    @property
    def testable(self) -> bool:
        """Whether the data say how far the means can be trusted."""
        known = [means for means in (self.least, self.most) if means is not None]
        return bool(known) and all(means.testable for means in known)


@dataclass(frozen=True)
class Unmatched:
    """Something that only one side has, or does not tell, or that neither has.

    Attributes:
        what: in words.
        side: that has it; `neither` if none does.
        why: it could not be compared.
        rows: of how many it stands for.
        cell, factors, arm: of a whole cell, which one it is; else no number.

    """

    what: str
    side: str
    why: str
    rows: int
    cell: int | None = None
    factors: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    arm: str = ""

    @property
    def where(self) -> str:
        """On which side it is, in words."""
        return "on neither side" if self.side == "neither" else f"only {self.side}"


@dataclass
class Observed:
    """What a side has of one key: of each replicate its seed, and the least and the most that its value may be."""

    cell: int
    factors: dict[str, str]
    arm: str
    item: str
    values: dict[int, tuple[int, float | None, float]] = field(default_factory=dict[int, tuple[int, "float | None", float]])
    cc: set[str] = field(default_factory=set[str])
    why: set[str] = field(default_factory=set[str])

    @property
    def known(self) -> dict[int, tuple[float, float]]:
        """The values that the side tells."""
        return {replicate: (low, high) for replicate, (_, low, high) in self.values.items() if low is not None}

    @property
    def complete(self) -> bool:
        """Whether it tells all."""
        return len(self.known) == len(self.values)


class Matcher:
    """Brings together what belongs together, and keeps account of the rest."""

    def __init__(self, labels: tuple[str, str], shared: Sequence[str], notes: list[str]) -> None:
        self.labels = labels
        self.shared = shared
        self.notes = notes
        self.rows: list[Tested] = []
        self.unmatched: list[Unmatched] = []
        self.exact = False

    def key(self, line: Mapping[str, Any]) -> Key:
        """What a line of a plan or of values is recognised by: its factors and arm."""
        recognise: Callable[[Any], str] = str if self.exact else sides.level
        return (*(recognise(line[name]) for name in self.shared), str(line["arm"]))

    def gather(self, frame: pl.DataFrame) -> dict[Key, Observed]:
        """The values of a side by key and item."""
        found: dict[Key, Observed] = {}
        for line in frame.iter_rows(named=True):
            key = (*self.key(line), str(line["item"]))
            observed = found.get(key)
            if observed is None:
                texts = {name: str(line[name]) for name in self.shared if line[name] is not None}
                observed = found[key] = Observed(line["cell"], texts, line["arm"], line["item"])
            observed.values[line["replicate"]] = (line["seed"], line["low"], line["low"] if line["high"] is None else line["high"])
            for seen, text in ((observed.cc, line["cc"]), (observed.why, line["why"])):
                if text:
                    seen.add(text)
        return found

    def pair(self, metric: Measure, a: Mapping[Key, Observed], b: Mapping[Key, Observed]) -> None:
        """The rows of what both sides have."""
        untold: Counter[tuple[str, bool, bool, str]] = Counter()
        lost = 0
        for key in [key for key in a if key in b]:
            mine, theirs = a[key], b[key]
            known = mine.known, theirs.known
            if not known[0] or not known[1]:
                whys = sorted({*(() if known[0] else mine.why), *(() if known[1] else theirs.why)})
                untold[mine.item, bool(known[0]), bool(known[1]), f": {', '.join(whys)}" if whys else ""] += 1
                continue
            common = sorted(known[0].keys() & known[1].keys())
            paired = bool(common) and all(mine.values[at][0] == theirs.values[at][0] for at in common)
            if paired:
                lost += max(len(mine.values), len(theirs.values)) > len(common)
                self._add(metric, mine, [known[0][at] for at in common], [known[1][at] for at in common], stats.means_of_pairs)
            else:
                lost += not (mine.complete and theirs.complete)
                self._add(metric, mine, list(known[0].values()), list(known[1].values()), stats.means_of_groups)
        if lost:
            self.notes.append(
                f"{metric.name}: {lost} rows rest on fewer replicates than were planned or run, those of which both sides tell"
            )
        for (item, first, second, why), count in untold.items():
            has, lacks = (self.labels[0], self.labels[1]) if first else (self.labels[1], self.labels[0])
            what = f"{metric.name} of {item}"
            told = (has, f"{lacks} does not tell it{why}") if first or second else ("neither", f"no run of either side tells it{why}")
            self.unmatched.append(Unmatched(what, *told, count))

    def pair_published(self, metric: Measure, a: Mapping[Key, Observed], reference: Reference, column: str, plan: _Plan) -> None:
        """Each cell beside its row of a table of published numbers; of those that were planned and have no finished run, why."""
        self._require_one_item(metric, a, reference)
        table = reference.table(column)
        b = {tuple(str(line[name]) for name in reference.keys): line for line in table.to_dicts()}
        used: set[Key] = set()
        alone: list[Observed] = []
        for observed in a.values():
            line = {**observed.factors, "cell": observed.cell, "arm": observed.arm, "item": observed.item}
            key = published_key(reference.keys, line)
            theirs = b.get(key)
            if theirs is None:
                alone.append(observed)
                continue
            used.add(key)
            if not observed.known:
                what = f"{metric.name} of {_words(observed)}"
                why = f": {', '.join(sorted(observed.why))}" if observed.why else ""
                self.unmatched.append(Unmatched(what, self.labels[1], f"{self.labels[0]} does not tell it{why}", 1))
                continue
            self._add_published(metric, observed, theirs, reference.quantities[column])
        if not used:
            ours = ", ".join(f"{name} {text}" for name, text in next(iter(a.values())).factors.items()) if a else "nothing"
            theirs = table["label"][0] if table.height else "nothing"
            raise DatasetError(
                f"no cell of {self.labels[0]} is in {self.labels[1]}",
                f"the first of ours is {ours}; the first of theirs {theirs}; a column's name should end in its unit, as `delay_ms` does",
            )
        for observed in alone:
            self._list(Unmatched(_words(observed), self.labels[0], f"{self.labels[1]} has no number of it", 1), observed)
        self._published_alone({key: str(line["label"]) for key, line in b.items() if key not in used}, reference, plan)

    def _published_alone(self, alone: Mapping[Key, str], reference: Reference, plan: _Plan) -> None:
        """Lists published numbers without a run, and what was planned and has neither."""
        # A number may be of an item, a plan is of cells.
        keys = [name for name in reference.keys if name != "item"]
        lacking = {published_key(keys, {**p.factors, "cell": p.cell, "arm": p.arm}): p for p in plan.values() if p.lacking}
        told: set[Key] = set()
        for key, label in alone.items():
            of_cell = tuple(text for name, text in zip(reference.keys, key, strict=True) if name != "item")
            cell = lacking.get(of_cell)
            told.add(of_cell)
            self._list(Unmatched(label, self.labels[1], f"{self.labels[0]}{f': {cell.lacking}' if cell else ' has no such run'}", 1), cell)
        for key, cell in lacking.items():
            if key not in told:
                why = f"{self.labels[0]}: {cell.lacking}; {self.labels[1]} has no number of it"
                self._list(Unmatched(_words(cell), "neither", why, 1), cell)

    def _require_one_item(self, metric: Measure, a: Mapping[Key, Observed], reference: Reference) -> None:
        """Refuses to hold a number that is of a cell against several items of it, as if it had been published of each."""
        if "item" in reference.keys:
            return
        items = list(dict.fromkeys(name_of_block(observed.item) for observed in a.values()))
        if len(items) > 1:
            raise DatasetError(
                f"`{metric.name}` is of {len(items)} items ({', '.join(items[:4])}{', ...' if len(items) > 4 else ''}), and a number of "
                f"`{self.labels[1]}` is of a whole cell",
                "--of ITEM says which of them it is of; if the table has a column of items, --factor item=COLUMN does",
            )

    def missing_cells(self, a: Mapping[Key, Observed], b: Mapping[Key, Observed], plan_a: _Plan, plan_b: _Plan) -> None:
        """Lists what one side lacks: by level where a whole level is missing, else cell by cell; and cells of which neither has a finished run."""
        for side, (mine, others, other_plan) in enumerate(((a, b, plan_b), (b, a, plan_a))):
            there = {key[:-1] for key in others}
            names = (*self.shared, "arm")
            levels = [{key[at] for key in there | other_plan.keys()} for at in range(len(names))]
            found: Counter[tuple[str, str]] = Counter()
            cells: dict[tuple[str, str], Observed] = {}
            for key, observed in mine.items():
                if key in others:
                    continue
                texts = {**observed.factors, "arm": observed.arm}
                strange = [f"{name} {texts.get(name, 'none')}" for at, name in enumerate(names) if key[at] not in levels[at]]
                planned = other_plan.get(key[:-1])
                if strange:
                    found[strange[0], "not in the plan"] += 1
                elif key[:-1] in there or (planned is not None and not planned.lacking):
                    found[f"{observed.item} in {_words(observed)}", "no such flow or link there"] += 1
                else:
                    entry = _words(observed), "not in the plan" if planned is None else planned.lacking
                    found[entry] += 1
                    cells[entry] = observed
            for (what, why), count in found.items():
                self._list(Unmatched(what, self.labels[side], f"{self.labels[1 - side]}: {why}", count), cells.get((what, why)))
        for key, planned in plan_a.items():
            other = plan_b.get(key)
            if planned.lacking and other is not None and other.lacking:
                why = f"{self.labels[0]}: {planned.lacking}; {self.labels[1]}: {other.lacking}"
                self._list(Unmatched(_words(planned), "neither", why, 1), planned)

    def _list(self, entry: Unmatched, cell: Observed | Planned | None) -> None:
        """Lists what has no counterpart, once; of a cell, which one."""
        if cell is not None:
            entry = replace(entry, cell=cell.cell, factors=dict(cell.factors), arm=cell.arm)
        if entry not in self.unmatched:
            self.unmatched.append(entry)

    def attested(self, a: Mapping[Key, Observed], b: Mapping[Key, Observed]) -> None:
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

    def _add(self, metric: Measure, observed: Observed, first: _Bounds, second: _Bounds, means: _MeansOf) -> None:
        (a, a_most), (b, b_most) = (tuple(np.array(side, dtype=np.float64).T) for side in (first, second))
        for low in (a, b):
            _require_least(metric, observed, low)
        unfinished = int((a != a_most).sum()), int((b != b_most).sum())
        least = means(a, b_most) if np.isfinite(b_most).all() else None
        most = least if not any(unfinished) else means(a_most, b) if np.isfinite(a_most).all() else None
        if any(unfinished):
            # A least of 0, such as of 1 s over a time that did not end, bounds no ratio.
            least = None if least is not None and least.first == 0 else least
            most = None if most is not None and most.second == 0 else most
        shown = (_mean(a, a_most), _mean(b, b_most))
        self._tested(metric, observed, shown, least, most, unfinished)

    def _add_published(self, metric: Measure, observed: Observed, theirs: Mapping[str, Any], quantity: Quantity) -> None:
        value, error, freedom = float(theirs["value"]), float(theirs["error"]), float(theirs["freedom"])
        lows, highs = np.array(list(observed.known.values()), dtype=np.float64).T
        _require_least(metric, observed, lows)
        least = stats.means_against(lows, value, error, freedom)
        unfinished = int((lows != highs).sum())
        most = least if not unfinished else stats.means_against(highs, value, error, freedom) if np.isfinite(highs).all() else None
        second = stats.difference_interval(stats.means_against([0.0, 0.0], value, error, freedom))
        second = Interval(value, -second.high, -second.low, second.n, "as published" if error == 0 else second.kind)
        if freedom <= 0:
            second = replace(
                second, low=-np.inf, high=np.inf, kind="n = 1: no interval" if theirs["n"] == 1 else f"{NO_SPREAD}: no interval"
            )
        factor = quantity.unit.factor(quantity.unit.natural)
        same = not unfinished and has_digits(float(lows.mean()), value, int(theirs["digits"]), factor)
        self._tested(metric, observed, (_mean(lows, highs), second), least, most, (unfinished, 0), digits="same" if same else "other")

    def _tested(
        self, metric: Measure, observed: Observed, shown: tuple[Interval, Interval], least: Means | None, most: Means | None,
        unfinished: tuple[int, int], digits: str = "",
    ) -> None:  # fmt: skip
        told = least or most
        bound = "" if not any(unfinished) else "at least" if least is not None else "at most" if most is not None else "unbounded"
        row = Row(
            metric, self.labels, observed.cell, observed.factors, observed.arm, observed.item, told is not None and told.paired, *shown,
            _between(least, most, stats.difference_interval), _between(least, most, stats.ratio_interval), unfinished, bound, digits=digits,
        )  # fmt: skip
        self.rows.append(Tested(row, least, most))


def published_key(keys: Iterable[str], line: Mapping[str, Any]) -> Key:
    """What a cell is recognised by in a table of published numbers."""
    return tuple(str(line.get(name, "")) if name in ("arm", "item") else sides.level(str(line.get(name, ""))) for name in keys)


def collides(dataset: Dataset, names: Sequence[str]) -> bool:
    """Whether two cells of one side would be taken for the same (`reno` and `kernel:reno`)."""
    cells = dataset.runs.select("cell", *names).unique()
    return len({tuple(sides.level(text) for text in line[1:]) for line in cells.iter_rows()}) < cells["cell"].n_unique()


_Plan = Mapping[Key, Planned]
_Bounds = Sequence[tuple[float, float]]
_MeansOf = Callable[[stats.Vector, stats.Vector], Means]


def _require_least(metric: Measure, observed: Observed, low: stats.Vector) -> None:
    """Refuses what may be as far below 0 as one likes: of that there is no ratio."""
    lost = int(np.isneginf(low).sum())
    if lost:
        raise DatasetError(
            f"`{metric.name}` of {observed.item} has no least value in {lost} of {len(low)} runs ({_words(observed)}), which did not finish",
            "turn its sign round, so that those are at least so much",
        )


def _mean(low: stats.Vector, high: stats.Vector) -> Interval:
    """The mean of a side, or the least that it may be; the most where the least is 0."""
    unfinished = int((low != high).sum())
    if unfinished and not low.any() and np.isfinite(high).all():
        return replace(stats.mean_interval(high), low=-math.inf, kind=f"at most: {unfinished} of {len(low)} runs did not finish")
    found = stats.mean_interval(low)
    return replace(found, high=math.inf, kind=f"at least: {unfinished} of {len(low)} runs did not finish") if unfinished else found


def _between(least: Means | None, most: Means | None, of: Callable[[Means], Interval]) -> Interval:
    """What two means come to, of which the least and the most are known, or one of them."""
    told = least or most
    if told is None:
        return stats.unbounded(math.nan, 0, "no run of either side that finished bounds it")
    if least is most:
        return of(told)
    low = of(least).low if least is not None else -math.inf
    high = of(most).high if most is not None else math.inf
    found = of(told)
    return Interval(found.estimate, low, high, found.n, "a bound: some runs did not finish")


def _words(observed: Observed | Planned) -> str:
    """Cell and arm of something observed, or planned, for lists."""
    parts = [f"{name} {text}" for name, text in observed.factors.items()] or [f"cell {observed.cell}"]
    return ", ".join([*parts, *([observed.arm] if observed.arm else [])])
