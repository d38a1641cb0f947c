"""`reproduced`: that what was published comes out again, to the digit, within a margin, or where runs like these would lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import DIFFERENCE, Evidence
from sawtooth.questions import Reader
from sawtooth.references import Quantity, Reference, has_digits, recognised
from sawtooth.scales import number
from sawtooth.stats import Interval, Vector
from sawtooth.study.keys import Key

REFERENCE = Key("reference", '`"REFERENCE.COLUMN"`', "needed", "the published values")
BY = Key(
    "by", '`"digits"`, `"margin"`, `"prediction"`', '`"digits"`',
    "the mean of the runs has the published digits; is within `margin`, shown by two one-sided tests in which a published `sd` or `ci` counts; or the published value, a mean of `n`, lies in the 95 % prediction interval of the runs",
)  # fmt: skip
MARGIN = Key("margin", 'share such as `"5 %"`', 'needed with `by = "margin"`', "how far it may be away")
N = Key(
    "n",
    "whole number from 1",
    "the reference's",
    'with `by = "prediction"`: of how many runs each published value is the mean, where the reference does not tell it',
)


_MOST_TOLD = 3


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """The reference, and what counts as reproduced."""
    from sawtooth.figures.shown import beside

    assert spec.measure is not None
    term = beside(reader, tree, path, spec.measure)
    by = reader.one_of(dict(tree), "by", path, ("digits", "margin", "prediction"), "digits")
    if spec.statistic != "mean":
        raise reader.error("`reproduced` is of means, as what was published is", f"{path}.statistic", "leave it out")
    found: dict[str, Any] = {"reference": term, "by": by}
    if by == "margin":
        if "margin" not in tree:
            raise reader.error('`by = "margin"` needs a margin', path, 'such as margin = "5 %"')
        found["margin"] = reader.share(tree["margin"], f"{path}.margin", "margin")
    elif "margin" in tree:
        raise reader.error(f'`by = "{by}"` has no margin', f"{path}.margin", 'by = "margin" has one', key=True)
    if "n" in tree:
        n = tree["n"]
        if by != "prediction":
            raise reader.error(f'`by = "{by}"` has no `n`', f"{path}.n", 'by = "prediction" has one', key=True)
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise reader.error("`n` is a whole number of runs from 1", f"{path}.n", "such as n = 30")
        if reader.references[term.reference].quantities[term.column].n is not None:
            raise reader.error(f"`{term.reference}.{term.column}` tells its `n` already", f"{path}.n", "leave it out", key=True)
        found["n"] = n
    return found


def weigh(data: Data) -> list[Evidence]:
    """Of each row of the reference that is of a cell of these, whether it comes out again."""
    term = data.spec.options["reference"]
    reference = data.references[term.reference]
    table = reference.table(term.column)
    found: list[Evidence] = []
    for cell, published in _beside(reference, table, list(data.groups())):
        told = cell.values.height > 0
        if published is not None:
            published["n"] = published["n"] if published["n"] is not None else data.spec.options.get("n")
            found.append(
                cell.counted(_evidence(cell.name, cell.values, published, reference, term.column, data)) if told else cell.untold()
            )
    if not found and data.frame.height:
        # Says what a cell is and what a row.
        reference.match(data.evaluator.plan, term.column)
    return found


def remark(data: Data) -> str:
    """Whether the published spread counts, and how many published values are of no cell that was run."""
    term = data.spec.options["reference"]
    reference = data.references[term.reference]
    table, named = reference.table(term.column), [name for name in reference.keys if name != "item"]
    held = [row for cell, row in _beside(reference, table, list(data.groups())) if cell.values.height and row is not None]
    n = data.spec.options.get("n")
    counts = (
        f"Each published value is taken for the mean of {n} runs"
        if n
        else _counts(reference.quantities[term.column], held, str(data.spec.options["by"]))
    )
    plan = data.evaluator.plan.select(named).unique().with_columns(recognised(name) for name in named if name != "arm")
    lost = table.join(plan, on=named, how="anti") if named else table.clear()
    if lost.is_empty():
        return counts
    shown = "; ".join(lost["label"].head(_MOST_TOLD)) + ("; ..." if lost.height > _MOST_TOLD else "")
    return f"{counts}. {lost.height} of {table.height} published values are of no cell that was run ({shown})"


def _counts(quantity: Quantity, held: Sequence[Mapping[str, Any]], by: str) -> str:
    """Whether what was published of the spread counts, as a sentence."""
    spread = [f"`{key}`" for key, value in (("sd", quantity.sd), ("ci", quantity.ci), ("n", quantity.n)) if value is not None]
    what, does = " and ".join(spread), "do" if len(spread) > 1 else "does"
    if by == "digits":
        return f"The digits of the mean decide, and no interval{f': the published {what} {does} not count' if what else ''}"
    if by == "margin":
        if not what:
            return "The published values are taken as exact: neither `sd` nor `ci` of them is told"
        told = sum(row["freedom"] > 0 for row in held)
        rest = f" of {told} of {len(held)} values; of the others, which have none, nothing is decided" if told < len(held) else ""
        return f"The published {what} {'count' if len(spread) > 1 else 'counts'} in the interval{rest}"
    told = sum(row["n"] is not None for row in held)
    if not told:
        others = f", and the published {what} {does} not count" if what else ""
        return f"Each published value is taken for that of one run: no `n` is told{others}"
    rest = f" of {told} of {len(held)} values, each of the others for that of one run" if told < len(held) else ""
    return f"The published values are taken for means of so many runs as their `n`{rest}; the published {spread[0]} does not count"


def _beside(reference: Reference, table: pl.DataFrame, cells: Sequence[Cell]) -> list[tuple[Cell, dict[str, Any] | None]]:
    """Cells, each with the row of the reference that it is of."""
    keys = list(reference.keys)
    if not keys:
        return [(cell, table.row(0, named=True) if table.height else None) for cell in cells]
    if not cells:
        return []
    heads = pl.concat([(cell.values if cell.values.height else cell.plan).head(1)[keys] for cell in cells])
    heads = heads.with_columns(recognised(name) for name in keys if name not in ("arm", "item"))
    first = table.unique(keys, keep="first", maintain_order=True).with_columns(_there=True)
    rows = heads.join(first, on=keys, how="left", maintain_order="left").rows(named=True)
    return [(cell, row if row.pop("_there") else None) for cell, row in zip(cells, rows, strict=True)]


def _evidence(name: str, group: pl.DataFrame, published: dict[str, Any], reference: Reference, column: str, data: Data) -> Evidence:
    quantity = reference.quantities[column]
    factor = quantity.unit.factor(quantity.unit.natural)
    low, high = group["low"].to_numpy(), group["high"].to_numpy()
    # What is stored coarsely is known between two ends in every run, also of those that finished.
    known = int((np.isfinite(high) if data.evaluator.coarse else low == high).sum())
    theirs, unit = float(published["value"]), quantity.unit_name or quantity.unit.natural.name
    if known < group.height or not known:
        words = f"{group.height - known} of {group.height} runs did not finish; published {published['text']} {unit}".rstrip()
        return Evidence(name, lambda _: False, lambda _: False, words)
    mean = float(low.mean())
    digits, by = int(published["digits"]), str(data.spec.options["by"])
    ours = f"{mean / factor:.{max(digits, 0)}f}" if by == "digits" else number(mean / factor)
    words = f"{ours} against the published {published['text']} {unit}".rstrip()
    ends = [_decided(end, published, factor, data.spec.options) for end in (low, high)]
    if by == "digits":
        half = 0.5 * 10.0**-digits * factor
        shown, limits = _alone(mean - theirs, len(low), "the digits of the mean decide, no interval"), (-half, half)
    elif by == "margin":
        margin = abs(theirs) * float(data.spec.options["margin"])
        if not margin:
            return Evidence(name, lambda _: False, lambda _: False, f"{words}; a share of 0 is no margin")
        shown, limits = _difference(low, published), (-margin, margin)
        words += f", difference {shown.over(factor).words(unit=unit)}"
    else:
        of = _of_mean(published)
        predicted = stats.prediction_interval(low, of)
        told = bool(np.isfinite(predicted.low))
        kind = f"{predicted.kind} of {f'a mean of {of} runs' if of > 1 else 'one run'}"
        # What the mean is above the published value is held against what runs like these differ by.
        shown = _alone(mean - theirs, len(low), kind) if told else stats.unbounded(mean - theirs, len(low), predicted.kind)
        limits = (mean - predicted.high, mean - predicted.low)
        words += f", {kind} {number(predicted.low / factor)} to {number(predicted.high / factor)}" if told else f" ({predicted.kind})"

    def shows(level: float) -> bool:
        return all(end(level) is True for end in ends)

    def denies(level: float) -> bool:
        # Two ends on either side have what was published between them.
        sides = {float(end.mean()) > theirs for end in (low, high)}
        return len(sides) == 1 and all(end(level) is False for end in ends)

    return Evidence(
        name,
        shows,
        denies,
        words,
        shown,
        limits,
        data.measure.unit,
        chance=by != "digits",
        quantity=DIFFERENCE,
        read_in=(factor, unit),
        sides=(ours, str(published["text"])),
    )


def _decided(values: Vector, published: dict[str, Any], factor: float, options: Mapping[str, Any]) -> Callable[[float], bool | None]:
    """Whether runs with these values have what was published, at a level; None where that is open."""
    theirs, by = float(published["value"]), str(options["by"])
    if by == "digits":
        same = has_digits(float(values.mean()), theirs, int(published["digits"]), factor)
        return lambda _: same
    if by == "prediction":
        return lambda level: _predicted(values, published, level)
    margin = abs(theirs) * float(options["margin"])
    error, freedom = float(published["error"]), float(published["freedom"])

    def within(level: float) -> bool | None:
        means = stats.means_against(values, theirs, error, freedom)
        # Two one-sided tests at a are intervals of 1 - 2 a.
        near = stats.difference_interval(means, max(2 * level - 1, 0.5))
        if -margin < near.low and near.high < margin:
            return True
        far = stats.difference_interval(means, level)
        return False if far.low > margin or far.high < -margin else None

    return within


def _alone(difference: float, n: int, kind: str) -> Interval:
    """A difference that is held against the limits by itself."""
    return Interval(difference, difference, difference, n, kind)


def _difference(values: Vector, published: Mapping[str, Any]) -> Interval:
    """The mean less what was published, with the interval that decides: the spread of both counts."""
    error, freedom = float(published["error"]), float(published["freedom"])
    means = stats.means_against(values, float(published["value"]), error, freedom)
    found = stats.difference_interval(means)
    if means.variances == (0.0, 0.0) and means.testable:
        return stats.unvaried(found.estimate, len(values))
    if not means.testable and len(values) > 1:
        why = "published n = 1" if published["n"] == 1 else "no published spread"
        return stats.unbounded(found.estimate, len(values), f"{why}: no interval")
    return replace(found, n=len(values))


def _predicted(values: Vector, published: dict[str, Any], level: float) -> bool | None:
    """Whether the published value lies where runs like these do: at 95 % that it does, at `level` that it does not."""
    theirs = float(published["value"])
    usual = stats.prediction_interval(values, _of_mean(published), 0.95)
    if not np.isfinite(usual.low):
        return None
    if usual.low <= theirs <= usual.high:
        return True
    wide = stats.prediction_interval(values, _of_mean(published), level)
    return None if wide.low <= theirs <= wide.high else False


def _of_mean(published: dict[str, Any]) -> int:
    """Of how many runs the published value is the mean."""
    return 1 if published["n"] is None else int(published["n"])


KIND = Kind(("reproduced",), "that published values come out again", weigh, (REFERENCE, BY, MARGIN, N), read, remark=remark, bounds=True)
