"""What kinds of figures say and read alike: titles, sentences of captions, scales, and references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from sawtooth.errors import StudyError, cut
from sawtooth.figures.data import Data, Panel
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Condition, ExpressionError, Measure, Samples, measure, unit, units
from sawtooth.measures.named import without_unit
from sawtooth.measures.resolve import Referred
from sawtooth.measures.tables import SHAPES, numeric_columns
from sawtooth.questions import Reader
from sawtooth.recognise import unit_suffix, written
from sawtooth.scales import scale as units_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def titles(panels: Sequence[Panel]) -> tuple[list[str], list[str]]:
    """Of the rows and the columns of panels."""
    return list(dict.fromkeys(panel.row for panel in panels)), list(dict.fromkeys(panel.column for panel in panels))


def place(data: Data, panel: Panel, curve: str) -> dict[str, str]:
    """Where a point stands, as cells of a table: by the names of the dimensions."""
    named = (("rows", panel.row), ("panels", panel.column), ("curves", curve))
    return {data.places[role]: level.removeprefix(f"{data.places[role]} = ") for role, level in named if role in data.places}


def in_units(numbers: pl.DataFrame, **units: str) -> pl.DataFrame:
    """The numbers of a figure with what they are in, each in a column of its own; empty of plain numbers, ratios and shares."""
    # Without a row there is nothing that had a unit, and a literal would make one.
    return numbers.with_columns(**{name: pl.lit(unit) for name, unit in units.items()}) if numbers.height else numbers


def sentences(*parts: str) -> str:
    """Parts of a caption, those that are there."""
    return " ".join(part.strip() for part in parts if part.strip())


def scale(data: Data, values: Sequence[float], *, log: bool = False) -> tuple[str, str]:
    """The scale of an axis, and what is to be said of it: a logarithmic one has no place for what is not above 0; `log` asks for one, too."""
    wanted = "log" if log else data.spec.scale
    if wanted != "log" or all(value > 0 for value in values):
        return wanted, ""
    if not any(value > 0 for value in values):
        return "linear", "Nothing is above 0: the scale is linear."
    return "log", "What is not above 0 has no place on a logarithmic scale."


def whole(picture: Callable[[], Figure], **axes: Measure | Samples | Iterable[Measure | Samples] | None) -> Callable[[], Figure]:
    """A picture with whole numbers at the ticks of axes of counts: `x`, `y` or `right`, each with its measure or measures."""
    from sawtooth.plots import whole

    given = {name: [of] if isinstance(of, Measure | Samples) else [*(of or ())] for name, of in axes.items()}
    along = [name for name, measures in given.items() if measures and all(each.counts for each in measures)]
    return partial(whole.ticked, picture, along) if along else picture


def chosen(spec: FigureSpec) -> str:
    """Of which cells, arms, items and rows a figure is; empty if it is of all. Which part of the run counts is `pooling`'s."""
    choice = spec.choice
    parts = [f"{factor} {', '.join(map(written, levels))}" for factor, levels in choice.where.items()]
    parts += [f"{relation.factor} {relation.sign} {relation.other}" for relation in choice.relations]
    parts += [_condition(condition, spec.measures) for condition in spec.view.rows.conditions]
    parts += [", ".join(names) for names in (choice.arms, choice.of) if names]
    return f"Shown: {'; '.join(parts)}." if parts else ""


def resolution(spec: FigureSpec) -> str:
    """How well what a figure shows is known, where that is not exactly."""
    coarse = any(measure.coarse for measure in spec.measures if isinstance(measure, Measure))
    return "Percentiles are stored within 0.8 % (1/128)." if coarse else ""


def without_value(data: Data) -> str:
    """Why an expression has no value in some of the runs, where it has one in others."""
    if not data.kind.measured:
        return ""
    measures = list(data.spec.several.items()) or [("", data.measure)]
    frames = [(each, data.frame.filter(measure=name) if name else data.frame) for name, each in measures]
    found = dict.fromkeys(data.undefined(each, frame) for each, frame in frames)
    return sentences(*(f"Without a value: {text}." for text in found if text))


def _condition(condition: Condition, measures: Sequence[Measure | Samples]) -> str:
    """A condition on a column, its number with a unit."""
    if condition.number is None:
        return f"{condition.column} {', '.join(condition.texts)}"
    columns = (numeric_columns(table) for measure in measures for table in measure.tables)
    unit = next((found[condition.column][0] for found in columns if condition.column in found), "")
    divisor, unit = units_scale(unit, [condition.number])
    return f"{condition.column} {condition.sign} {condition.number / divisor:g} {unit}".strip()


def pooling(data: Data) -> str:
    """What is taken together within a run, and which part of the run counts."""
    several = any(name.endswith("]") for name in _flows(data))
    measured = data.spec.several.values() or [data.measure]
    found = dict.fromkeys(each.pooling(data.spec.view.flows, several) for each in measured if isinstance(each, Measure))
    parts = [part for part in (*found, data.spec.view.rows.words) if part]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _flows(data: Data) -> list[str]:
    """Names of flows, if blocks may have several."""
    placed = any(name in shape.orders for name in data.spec.view.by for shape in SHAPES.values())
    if data.spec.view.flows == "each" or placed or data.measure.kind != "flow":
        return []
    return data.evaluator.flow_names


def referred(reader: Reader, tree: Mapping[str, Any], path: str) -> Referred:
    """The column of a reference that `reference` names: `REFERENCE.COLUMN`."""
    text = reader.text(dict(tree), "reference", path)
    place = reader.study.document.place(f"{path}.reference")
    try:
        found = measure(f"references.{text}", reader.context) if text.strip() else None
    except ExpressionError as error:
        if text in reader.references:
            raise StudyError(f"`{text}` does not say which of its columns", place, f"there is {_columns(reader, text)}") from None
        raise StudyError(error.message, place, error.hint) from None
    if found is None or not isinstance(found.term, Referred):
        there = "; ".join(_columns(reader, name) for name in reader.references) or "the study has no [[references]]"
        raise StudyError(f"`{cut(text)}` names no column of a reference", place, f"such as REFERENCE.COLUMN: {there}")
    return found.term


def beside(reader: Reader, tree: Mapping[str, Any], path: str, measured: Measure) -> Referred:
    """The column of a reference that a measure is held against.

    Raises:
        StudyError: if it is of another kind, at what has to be changed: what the reference says of its column, or which column is named.

    """
    term = referred(reader, tree, path)
    wanted = unit(measured)
    if term.unit.powers == wanted.powers:
        return term
    columns = reader.references[term.reference].quantities
    quantity, named = columns[term.column], f"`{term.reference}.{term.column}`"
    message = f"{named} is in {quantity.said}, `{measured.name}` in {measured.unit or 'plain numbers'}"
    used = reader.study.document.place(f"{path}.reference")
    # A column that is called as one of the measure's kind is, or of which nothing says the unit, has the wrong one; else the wrong one is named.
    untold = not quantity.unit_name and not _is_measure(term)
    if quantity.place is not None and (untold or _called(term.column, measured)):
        raise StudyError(message, quantity.place, f"`unit` says what the file has; {named} is held against `{measured.name}` at {used}")
    fitting = [f"{term.reference}.{name}" for name, each in columns.items() if each.unit.powers == wanted.powers]
    others = f"in {measured.unit or 'plain numbers'} there is {', '.join(fitting)}; " if fitting else ""
    raise StudyError(message, used, f"{others}the unit of {named} is said {f'at {quantity.place}' if quantity.place else 'by `unit`'}")


def _is_measure(term: Referred) -> bool:
    """Whether a column is called like a measure of its kind."""
    try:
        return unit(measure(term.column)).powers == term.unit.powers
    except ExpressionError:
        return False


def _called(column: str, measured: Measure) -> bool:
    """Whether a column is called like a measure, with another unit or without one, or as something in units of its kind."""
    suffix = unit_suffix(column)
    if suffix and units.of_quantity(f"1 {suffix}")[1].powers == unit(measured).powers:
        return True
    return bool(measured.alone) and column.split("_") == without_unit(measured.alone).split()


def _columns(reader: Reader, reference: str) -> str:
    return ", ".join(f"{reference}.{column}" for column in reader.references[reference].quantities)


def measure_of(term: Referred) -> Measure:
    """A reference's column as a measure."""
    return Measure(f"references.{term.reference}.{term.column}", term)
