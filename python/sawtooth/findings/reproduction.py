"""`reproduced`: that what was published comes out again, to the digit, within a margin, or where runs like these would lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.references import Reference, has_digits, recognised
from sawtooth.scales import number
from sawtooth.stats import Vector
from sawtooth.study.keys import Key

REFERENCE = Key("reference", '`"REFERENCE.COLUMN"`', "needed", "the published values")
BY = Key(
    "by", '`"digits"`, `"margin"`, `"prediction"`', '`"digits"`',
    "the mean of the runs has the published digits; is within `margin`, shown by two one-sided tests; or the published value lies in the 95 % prediction interval of the runs",
)  # fmt: skip
MARGIN = Key("margin", 'share such as `"5 %"`', 'needed with `by = "margin"`', "how far it may be away")


_MOST_TOLD = 3


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """The reference, and what counts as reproduced."""
    from sawtooth.figures.shown import beside

    assert spec.measure is not None
    term = beside(reader, tree, path, spec.measure)
    by = reader.one_of(dict(tree), "by", path, ("digits", "margin", "prediction"), "digits")
    found: dict[str, Any] = {"reference": term, "by": by}
    if by == "margin":
        if "margin" not in tree:
            raise reader.error('`by = "margin"` needs a margin', path, 'such as margin = "5 %"')
        value, unit = reader.quantity(tree["margin"], f"{path}.margin")
        if not unit.plain or value <= 0:
            raise reader.error("a margin is a share above 0", f"{path}.margin", 'such as "5 %"')
        found["margin"] = value
    elif "margin" in tree:
        raise reader.error(f'`by = "{by}"` has no margin', f"{path}.margin", 'by = "margin" has one', key=True)
    return found


def weigh(data: Data) -> list[Evidence]:
    """Of each row of the reference that is of a cell of these, whether it comes out again."""
    term = data.spec.options["reference"]
    reference = data.references[term.reference]
    table = reference.table(term.column)
    found: list[Evidence] = []
    for cell in data.groups():
        told = cell.values.height > 0
        published = _of(reference, table, cell.values if told else cell.plan)
        if published is not None:
            found.append(
                cell.counted(_evidence(cell.name, cell.values, published, reference, term.column, data)) if told else cell.untold()
            )
    if not found and data.frame.height:
        # Says what a cell is and what a row.
        reference.match(data.evaluator.plan, term.column)
    return found


def remark(data: Data) -> str:
    """How many published values are of no cell that was run."""
    term = data.spec.options["reference"]
    reference = data.references[term.reference]
    table, named = reference.table(term.column), [name for name in reference.keys if name != "item"]
    plan = data.evaluator.plan.select(named).unique().with_columns(recognised(name) for name in named if name != "arm")
    lost = table.join(plan, on=named, how="anti") if named else table.clear()
    if lost.is_empty():
        return ""
    shown = "; ".join(lost["label"].head(_MOST_TOLD)) + ("; ..." if lost.height > _MOST_TOLD else "")
    return f"{lost.height} of {table.height} published values are of no cell that was run ({shown})"


def _of(reference: Reference, table: pl.DataFrame, group: pl.DataFrame) -> dict[str, Any] | None:
    """The row of the reference that a cell is of."""
    cell = group.head(1).select(*(name for name in reference.keys))
    cell = cell.with_columns(recognised(name) for name in cell.columns if name not in ("arm", "item"))
    rows = table.join(cell, on=list(reference.keys)) if reference.keys else table
    return rows.row(0, named=True) if rows.height else None


def _evidence(name: str, group: pl.DataFrame, published: dict[str, Any], reference: Reference, column: str, data: Data) -> Evidence:
    quantity = reference.quantities[column]
    factor = quantity.unit.factor(quantity.unit.natural)
    # What is stored coarsely is known between two ends in every run, also of those that finished.
    known = pl.col("high").is_finite() if data.evaluator.coarse else pl.col("low") == pl.col("high")
    exact = group.filter(known)
    theirs, unit = float(published["value"]), quantity.unit_name or quantity.unit.natural.name
    if exact.height < group.height or exact.is_empty():
        words = f"{group.height - exact.height} of {group.height} runs did not finish; published {published['text']} {unit}".rstrip()
        return Evidence(name, lambda _: False, lambda _: False, words)
    values = exact["low"].to_numpy()
    mean = float(values.mean())
    digits, by = int(published["digits"]), str(data.spec.options["by"])
    ours = f"{mean / factor:.{max(digits, 0)}f}" if by == "digits" else number(mean / factor)
    words = f"{ours} against the published {published['text']} {unit}".rstrip()
    shown = stats.centre(values).less(theirs)
    ends = [_decided(end, published, factor, data.spec.options) for end in (values, exact["high"].to_numpy())]
    limits = (-math.inf, math.inf)
    if by == "digits":
        half = 0.5 * 10.0**-digits * factor
        limits = (-half, half)
    elif by == "margin":
        margin = abs(theirs) * float(data.spec.options["margin"])
        limits = (-margin, margin)
    else:
        predicted = stats.prediction_interval(values, _of_mean(published))
        told = bool(np.isfinite(predicted.low))
        # Of what the mean is above the published value: this lies within what is predicted if that lies as far around 0.
        limits = (mean - predicted.high, mean - predicted.low)
        words += f", predicted {number(predicted.low / factor)} to {number(predicted.high / factor)}" if told else f" ({predicted.kind})"

    def shows(level: float) -> bool:
        return all(end(level) is True for end in ends)

    def denies(level: float) -> bool:
        # Two ends on either side have what was published between them.
        sides = {float(exact[end].to_numpy().mean()) > theirs for end in ("low", "high")}
        return len(sides) == 1 and all(end(level) is False for end in ends)

    return Evidence(name, shows, denies, words, shown, limits, data.measure.unit)


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
    return int(published["freedom"]) + 1 if math.isfinite(published["freedom"]) else 1


KIND = Kind(("reproduced",), "that published values come out again", weigh, (REFERENCE, BY, MARGIN), read, remark=remark, bounds=True)
