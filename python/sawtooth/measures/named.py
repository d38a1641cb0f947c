"""Measures: what an expression stands for, with its unit, its tables and its words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sawtooth.measures import expression, tables
from sawtooth.measures.computed import COMPUTED, ComputedMeasure
from sawtooth.measures.expression import ExpressionError
from sawtooth.measures.functions import CHOOSING, aggregate
from sawtooth.measures.resolve import (
    SAMPLED,
    Column,
    Combined,
    Computed,
    Constant,
    Context,
    Elsewhere,
    Pooled,
    Referred,
    RowTerm,
    Rowwise,
    Stored,
    Term,
    resolve,
    resolve_rows,
    unit_of,
)  # fmt: skip
from sawtooth.measures.tables import SHAPES
from sawtooth.measures.units import Unit


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes:
        name: the expression, as the user wrote it.
        term: what it stands for.

    """

    name: str
    term: Term

    @property
    def unit(self) -> str:
        """Of its values, in a form that can follow a number; empty for plain numbers."""
        return unit_of(self.term).natural.name

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it reads."""
        return frozenset(_tables(self.term))

    @property
    def computed(self) -> Mapping[str, ComputedMeasure]:
        """The computed measures in it."""
        return {name: COMPUTED[name] for name in _computed(self.term)}

    @property
    def references(self) -> Sequence[str]:
        """The references that it has a column of, by their names."""
        return references_of(self.term)

    @property
    def referred(self) -> Sequence[Referred]:
        """The columns of references that it has of its own cells, arms and items."""
        return _referred(self.term)

    @property
    def unreferred(self) -> Measure:
        """The same as if every reference had a number, and that were 1: what it is asked of whether or not there is one."""
        return Measure(self.name, _unreferred(self.term))

    @property
    def items(self) -> Sequence[tuple[str, Measure]]:
        """The items that it names, as `items.bbr.goodput_bps` does, each with what it is asked for."""
        return [(name, Measure(self.name, of)) for name, of in _items(self.term)]

    @property
    def coarse(self) -> bool:
        """Whether it is made of stored percentiles, which are known within `tables.RESOLUTION`."""
        return any(tables.is_coarse(table, column) for table, column in _columns(self.term))

    def within(self, flows: str) -> tuple[float, float]:
        """The least and the most that it can be, infinite where that is not known; `flows` says how those of a block are taken together."""
        return (0.0, 1.0) if flows != "sum" and _is_share(self.term) else _range(self.term)

    @property
    def kind(self) -> str:
        """What kind of thing it is of: `flow`, `link`, `host`, or `flows` for all flows together."""
        return _kind(self.term) or "flows"

    @property
    def alone(self) -> str:
        """The name of the column, if it is a column and nothing else; else empty."""
        if isinstance(self.term, Pooled) and self.term.function is None and isinstance(self.term.of, Column):
            return self.term.of.name
        return self.term.name if isinstance(self.term, Computed) else ""

    @property
    def counts(self) -> bool:
        """Whether it is a number of events or packets, and nothing else."""
        term = self.term
        return (
            isinstance(term, Pooled)
            and term.function is None
            and isinstance(term.of, Column)
            and tables.counts(term.of.table, term.of.name)
        )

    @property
    def words(self) -> str:
        """What an axis calls it where the study does not say: a column's name without its unit, or the expression."""
        return without_unit(self.alone) if self.alone else self.name

    def pooling(self, flows: str, several: bool) -> str:
        """What is pooled within a run, for captions; `several` says whether blocks have several flows."""
        if isinstance(self.term, Pooled) and self.term.function is not None:
            rows = {"flows": "the flows of a block"}.get(self.term.table, f"the rows of `{self.term.table}`")
            if self.term.function in CHOOSING:
                return f"of {rows} within each run the one {CHOOSING[self.term.function][0]}"
            found = functions_said(self.term.function, self.term.share)
            finite = any(f"{table}.{column}" in tables.MAY_BE_INFINITE for table, column in _columns(self.term))
            return f"{found} over {rows}{' in which it is finite,' if finite else ''} within each run"
        if not several or flows == "each" or self.kind != tables.FLOW:
            return ""
        if flows == "sum" and self.alone == "goodput_bps":
            return "what the flows of a block delivered over one time, from the first start to the last end, within each run"
        return f"{flows} over the flows of a block within each run"


@dataclass(frozen=True)
class Samples:
    """What each row of a table has a value of, such as a sample, a flow, or a loss episode.

    Attributes:
        name: the expression, as the user wrote it.
        term: what it stands for.

    """

    name: str
    term: RowTerm

    @property
    def unit(self) -> str:
        """Of the values, in a form that can follow a number."""
        return self.term.unit.natural.name

    @property
    def counts(self) -> bool:
        """Whether each is a number of events or packets, and nothing else."""
        return isinstance(self.term, Column) and tables.counts(self.term.table, self.term.name)

    @property
    def tables(self) -> frozenset[str]:
        """The table that it reads."""
        return frozenset([self.term.table])

    @property
    def computed(self) -> Mapping[str, ComputedMeasure]:
        """None."""
        return {}

    @property
    def kind(self) -> str:
        """What kind of thing its rows are of."""
        return SHAPES[self.term.table].item

    @property
    def words(self) -> str:
        """What an axis calls it where the study does not say."""
        return without_unit(self.term.name) if isinstance(self.term, Column) else self.name


def unit(of: Measure | Samples) -> Unit:
    """The unit that its term has."""
    return of.term.unit if isinstance(of, Samples) else unit_of(of.term)


def without_unit(column: str) -> str:
    """A column's name in words, without its unit."""
    stem, _, last = column.rpartition("_")
    return (stem if last in ("ns", "bps", "bytes", "packets", "secs") and stem else column).replace("_", " ")


def samples(text: str, context: Context | None = None) -> Samples:
    """What an expression is of each row of a table; names without a table are columns of samples before they are of flows.

    Raises:
        ExpressionError: if there is none, or it is not of rows.

    """
    given = context or Context()
    return Samples(text, resolve_rows(expression.parse(text), Context(given.references, given.arms, SAMPLED)))


def functions_said(name: str, share: float | None) -> str:
    """A function in words."""
    found = aggregate(name, share)
    return found.said if found else name


def measure(text: str, context: Context | None = None) -> Measure:
    """The measure that an expression names.

    Raises:
        ExpressionError: if there is none; it knows in which characters of the text.

    """
    term = resolve(expression.parse(text), context or Context())
    kinds = dict.fromkeys(_kinds(term))
    if len(kinds) > 1:
        first, second = list(kinds)[:2]
        raise ExpressionError(
            f"a {first} and a {second} have nothing in common that could be combined",
            (0, len(text)),
            f'say which {second}: items."NAME".COLUMN',
        )
    return Measure(text, term)


def _tables(term: Term) -> list[str]:
    if isinstance(term, Pooled | Stored):
        return [term.table]
    if isinstance(term, Elsewhere):
        return _tables(term.of)
    return [table for argument in term.arguments for table in _tables(argument)] if isinstance(term, Combined) else []


def _computed(term: Term) -> list[str]:
    if isinstance(term, Computed):
        return [term.name]
    if isinstance(term, Elsewhere):
        return _computed(term.of)
    return [name for argument in term.arguments for name in _computed(argument)] if isinstance(term, Combined) else []


def _columns(term: Term | RowTerm | Constant) -> list[tuple[str, str]]:
    """The columns that a term is made of, each with its table."""
    if isinstance(term, Column):
        return [(term.table, term.name)]
    if isinstance(term, Stored):
        return [(term.table, term.column)]
    if isinstance(term, Pooled):
        return [*_columns(term.of), *(_columns(term.by) if term.by is not None else [])]
    if isinstance(term, Elsewhere):
        return _columns(term.of)
    return [each for argument in term.arguments for each in _columns(argument)] if isinstance(term, Combined | Rowwise) else []


def references_of(term: Term) -> list[str]:
    """The references that a term has a column of, by their names."""
    if isinstance(term, Referred):
        return [term.reference]
    if isinstance(term, Elsewhere):
        return references_of(term.of)
    return [name for argument in term.arguments for name in references_of(argument)] if isinstance(term, Combined) else []


def _referred(term: Term) -> list[Referred]:
    if isinstance(term, Referred):
        return [term]
    return [each for argument in term.arguments for each in _referred(argument)] if isinstance(term, Combined) else []


def _unreferred(term: Term) -> Term:
    if isinstance(term, Referred):
        return Constant(1.0, term.unit)
    if isinstance(term, Elsewhere):
        return replace(term, of=_unreferred(term.of))
    return replace(term, arguments=tuple(map(_unreferred, term.arguments))) if isinstance(term, Combined) else term


def _is_share(term: Term) -> bool:
    """Whether it is a part of something over all of it, row by row."""
    of = term.of if isinstance(term, Pooled) and term.function is None else None
    if not isinstance(of, Rowwise) or of.function != "/":
        return False
    names = tuple(f"{each.table}.{each.name}" for each in of.arguments if isinstance(each, Column))
    return names in tables.PARTS_OF


def _range(term: Term | RowTerm | Constant) -> tuple[float, float]:
    """Between what a term must be: an index not above its most, and what is measured, unless it can be negative, not below 0."""
    if isinstance(term, Constant):
        return term.value, term.value
    if isinstance(term, Computed):
        return 0.0, COMPUTED[term.name].most
    if isinstance(term, Elsewhere):
        return _range(term.of)
    if isinstance(term, Pooled):
        return (0.0, 1.0) if term.function in ("jain", "share_above") else (_range(term.of)[0], math.inf)
    if isinstance(term, Combined | Rowwise) and term.function in ("/", "*", "+"):
        return (0.0 if all(_range(argument)[0] >= 0 for argument in term.arguments) else -math.inf), math.inf
    if isinstance(term, Column | Stored):
        column = term.name if isinstance(term, Column) else term.column
        return -math.inf if f"{term.table}.{column}" in tables.MAY_BE_NEGATIVE else 0.0, math.inf
    return -math.inf, math.inf


def _items(term: Term) -> list[tuple[str, Term]]:
    if isinstance(term, Elsewhere):
        return [*([(term.name, term.of)] if term.kind == "items" else []), *_items(term.of)]
    return [item for argument in term.arguments for item in _items(argument)] if isinstance(term, Combined) else []


def _kinds(term: Term) -> list[str]:
    """Of what things a term has a value each."""
    if isinstance(term, Pooled | Stored):
        return [SHAPES[term.table].item]
    if isinstance(term, Computed):
        return [] if COMPUTED[term.name].together else [tables.FLOW]
    if isinstance(term, Elsewhere):
        return [] if term.kind == "items" else _kinds(term.of)
    return [kind for argument in term.arguments for kind in _kinds(argument)] if isinstance(term, Combined) else []


def _kind(term: Term) -> str | None:
    return next(iter(_kinds(term)), None)
