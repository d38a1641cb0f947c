"""What the names and functions of an expression stand for: a tree of terms, each with its unit and with how many numbers of it there are in a run.

A term is of rows (each flow, each sample has one), of items (one number per run and item), or a constant. Rows become items by a function such as
`p95(...)`, or, where a table has one row per item, by themselves; the flows of a block are taken together then, as the figure or finding says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from sawtooth import _core
from sawtooth.hints import did_you_mean
from sawtooth.measures import functions, tables, units
from sawtooth.measures.computed import COMPUTED
from sawtooth.measures.expression import Call, ExpressionError, Name, Negative, Node, Number, Operation
from sawtooth.measures.functions import AGGREGATES, ELEMENTWISE
from sawtooth.measures.tables import SHAPES, WINDOWS
from sawtooth.measures.units import Unit


@dataclass(frozen=True)
class Constant:
    """A number."""

    value: float
    unit: Unit


@dataclass(frozen=True)
class Column:
    """A column of a table: a value per row."""

    table: str
    name: str
    unit: Unit


@dataclass(frozen=True)
class Rowwise:
    """Something of several values of a row; `function` is a sign, or a function of one value."""

    table: str
    function: str
    arguments: tuple[RowTerm | Constant, ...]
    unit: Unit


RowTerm: TypeAlias = Column | Rowwise


@dataclass(frozen=True)
class Pooled:
    """Rows of a run and item made one number: by `function`, or as figure and finding say (None); by one that chooses a row, of what `by` is.

    `share` is that of a quantile, and of `share_above` the bound, in the unit of the rows.
    """

    of: RowTerm
    function: str | None
    share: float | None
    unit: Unit
    by: RowTerm | None = None

    @property
    def table(self) -> str:
        """Whose rows they are."""
        return self.of.table


@dataclass(frozen=True)
class Stored:
    """A summary of a distribution that a table has a column of."""

    table: str
    quantity: str
    function: str
    column: str
    unit: Unit


@dataclass(frozen=True)
class Computed:
    """A measure that a function of the package computes."""

    name: str
    unit: Unit


@dataclass(frozen=True)
class Elsewhere:
    """What a term is in another arm (`arms`), or of another item (`items`), of the same cell and replicate."""

    kind: str
    name: str
    of: Term


@dataclass(frozen=True)
class Referred:
    """A column of a reference."""

    reference: str
    column: str
    unit: Unit


@dataclass(frozen=True)
class Combined:
    """Something of several terms."""

    function: str
    arguments: tuple[Term, ...]
    unit: Unit


Term: TypeAlias = Constant | Pooled | Stored | Computed | Elsewhere | Referred | Combined


_ELSEWHERE = ("arms", "items")
"""What a name begins with that says of which arm or item the rest is: the kinds of `Elsewhere`."""


class Columns(Protocol):
    """What an expression may ask of a reference."""

    @property
    def columns(self) -> Mapping[str, Unit]:
        """The units of its columns, by their names in expressions."""
        ...


@dataclass(frozen=True)
class Context:
    """What an expression may name besides measures.

    Attributes:
        references: those of the study, by name.
        arms: of the study; None if any may be named.
        first: tables whose columns need no table before them, the first that has one.

    """

    references: Mapping[str, Columns] = field(default_factory=dict[str, Columns])
    arms: Sequence[str] | None = None
    first: Sequence[str] = ("flows",)


SAMPLED = ("series", WINDOWS, "flows")
"""Tables whose columns need no table before them where samples are shown."""


def resolve(node: Node, context: Context) -> Term:
    """What an expression stands for: one number per run and item.

    Raises:
        ExpressionError: for a name that nothing has, units that do not fit, or rows that are not taken together.

    """
    return _Resolver(context).item(node)


def resolve_rows(node: Node, context: Context) -> RowTerm:
    """What an expression stands for that is of each row of a table, such as a sample or a flow.

    Raises:
        ExpressionError: as for `resolve`, and if it is not of the rows of one table.

    """
    resolver = _Resolver(context)
    found = resolver.rows(node)
    if found is None or isinstance(found, Constant):
        # Why it is none: a name that nothing has is told as such.
        resolver.item(node)
        raise ExpressionError(
            "this is one number per run, and a figure of samples is made of each row of a table",
            node.span,
            "leave out the function, such as srtt_ns",
        )
    return found


class _Resolver:
    def __init__(self, context: Context) -> None:
        self.context = context

    # --- one number per run and item

    def item(self, node: Node) -> Term:
        rows = self.rows(node)
        if isinstance(rows, Constant):
            return rows
        if rows is not None:
            return self.pooled(rows, node)
        if isinstance(node, Negative):
            value = self.item(node.value)
            return Combined("negative", (value,), _unit(value))
        if isinstance(node, Operation):
            left, right = self.item(node.left), self.item(node.right)
            _require_divisor(node, right)
            return Combined(node.sign, (left, right), self.fitted(node.sign, _unit(left), _unit(right), node))
        if isinstance(node, Call):
            return self.call(node)
        assert isinstance(node, Name)
        return self.name(node)

    def pooled(self, rows: RowTerm, node: Node) -> Term:
        if SHAPES[rows.table].many:
            what = f"`{node.text}`" if isinstance(node, Name) else "this"
            raise ExpressionError(
                f"{what} has many values in a run (the table `{_said(rows.table)}` has a row for each), and a measure is one number per run",
                node.span,
                f"take them together: mean(...), p95(...), max(...), count(...), such as mean({node.text if isinstance(node, Name) else '...'})",
            )
        return Pooled(rows, None, None, rows.unit)

    def call(self, node: Call) -> Term:
        if len(node.of) >= 2 and node.of[0] in _ELSEWHERE:
            return self.elsewhere(node.of[0], node.of[1], replace(node, of=node.of[2:]), node.span)
        share: float | None = None
        arguments = node.arguments
        if node.function == "quantile":
            share, arguments = self.share(node), arguments[:1]
        if node.function == "share_above":
            share, arguments = self.bound(node), arguments[:1]
        if node.function in functions.CHOOSING:
            return self.choosing(node)
        found = functions.aggregate(node.function, share)
        if node.of or (found is None and node.function not in ELEMENTWISE):
            raise ExpressionError(
                f"there is no function `{node.text}`",
                (node.span[0], node.span[0] + len(node.text)),
                did_you_mean(node.function, functions.known()),
            )
        if len(arguments) != 1:
            raise ExpressionError(
                f"`{node.function}` takes one value, found {len(arguments)}", node.span, f"such as {node.function}(series.srtt_ns)"
            )
        argument = arguments[0]
        if isinstance(argument, Name) and len(argument.parts) > 2 and argument.parts[0] in _ELSEWHERE:
            # The rows are of one arm or item: so is what they come to.
            inner = replace(node, arguments=(Name(argument.parts[2:], argument.span), *node.arguments[1:]))
            return self.elsewhere(argument.parts[0], argument.parts[1], inner, argument.part(1))
        if found is None:
            value = self.item(argument)
            if (factor := _to_natural(_unit(value))) is not None:
                value = Combined("*", (value, factor), _unit(value).natural)
            return Combined(node.function, (value,), units.PLAIN)
        stored = self.stored(node.function, share, argument)
        if stored is not None:
            return stored
        rows = self.rows(argument)
        if rows is None or isinstance(rows, Constant):
            # What nothing is called is told as such.
            self.item(argument)
            raise ExpressionError(
                f"`{node.function}` takes the rows of one table together, and this is one number per run already",
                argument.span,
                "means over runs are the figure's and the finding's",
            )
        return Pooled(rows, node.function, share, units.PLAIN if found.plain else rows.unit)

    def choosing(self, node: Call) -> Term:
        """What a value is in the row that another chooses."""
        rows = [self.rows(argument) for argument in node.arguments]
        if len(rows) != 2:
            raise ExpressionError(
                f"`{node.function}` takes a value and what chooses its row, found {len(rows)}", node.span,
                f"such as {node.function}(goodput_bps, start_ns)",
            )  # fmt: skip
        for argument, found in zip(node.arguments, rows, strict=True):
            if found is None or isinstance(found, Constant):
                # What nothing is called is told as such.
                self.item(argument)
                raise ExpressionError(
                    f"`{node.function}` chooses among the rows of one table, and this is one number per run already", argument.span
                )
        first, second = (found for found in rows if found is not None and not isinstance(found, Constant))
        if first.table != second.table:
            raise ExpressionError(
                f"`{_said(first.table)}` and `{_said(second.table)}` have rows of their own", node.span, "both values must be of one table"
            )
        return Pooled(first, node.function, None, first.unit, second)

    def share(self, node: Call) -> float:
        if len(node.arguments) == 2 and isinstance(node.arguments[1], Number):
            constant = self.number(node.arguments[1])
            if constant.unit.plain and 0 < constant.value < 1:
                return constant.value
        raise ExpressionError("`quantile` takes values and a share between 0 and 1", node.span, "such as quantile(completion_ns, 0.9)")

    def bound(self, node: Call) -> float:
        """What values are to be above, in their unit."""
        such = "such as share_above(completion_ns, 100 ms)"
        if len(node.arguments) != 2 or not isinstance(node.arguments[1], Number):
            raise ExpressionError("`share_above` takes values and a quantity that they may be above", node.span, such)
        inner = node.arguments[0]
        if isinstance(inner, Name) and len(inner.parts) > 2 and inner.parts[0] in _ELSEWHERE:
            inner = Name(inner.parts[2:], inner.span)
        rows, constant = self.rows(inner), self.number(node.arguments[1])
        if rows is None or isinstance(rows, Constant):
            # What it is instead is told where one value is looked at.
            return constant.value
        if rows.unit.powers != constant.unit.powers:
            unit = rows.unit.name or "a plain number"
            raise ExpressionError(f"the values are in {unit}, the quantity is not", node.arguments[1].span, such)
        return constant.value * constant.unit.factor(rows.unit)

    def stored(self, function: str, share: float | None, argument: Node) -> Term | None:
        """A summary that a table has, if the argument is the name of what it summarises."""
        if not isinstance(argument, Name) or len(argument.parts) != 2 or argument.parts[0] not in SHAPES:
            return None
        table, quantity = argument.parts
        columns = tables.stored(table).get(quantity)
        if columns is None:
            return None
        wanted = f"p{f'{share:.6f}'[2:].rstrip('0'):<02}" if share is not None else "p50" if function == "median" else function
        if wanted not in columns:
            raise ExpressionError(
                f"`{table}` has no {wanted} of `{quantity}`",
                argument.span,
                f"it has {', '.join(f'{how}({argument.text})' for how in columns)}",
            )
        column = columns[wanted]
        return Stored(table, quantity, wanted, column, units.of_column(tables.numeric_columns(table)[column][0]))

    def name(self, node: Name) -> Term:
        first, *rest = node.parts
        if first in _ELSEWHERE and len(rest) >= 2:
            return self.elsewhere(first, rest[0], Name(tuple(rest[1:]), node.span), node.part(1))
        if first in _ELSEWHERE:
            raise ExpressionError(f"`{node.text}` says of which, and not what", node.span, f"such as {first}.NAME.goodput_bps")
        if first in ("reference", "references"):
            return self.reference(first, rest, node)
        computed = COMPUTED.get(node.text)
        if computed is not None:
            return Computed(node.text, units.of_column(computed.unit))
        raise self.unknown(node)

    def elsewhere(self, kind: str, name: str, node: Node, span: tuple[int, int]) -> Elsewhere:
        """What a node is in another arm, or of another item."""
        if kind == "arms" and self.context.arms is not None and name not in self.context.arms:
            raise ExpressionError(
                f"there is no arm `{name}`", span, did_you_mean(name, self.context.arms) if self.context.arms else "the study has none"
            )
        return Elsewhere(kind, name, self.item(node))

    def reference(self, first: str, rest: Sequence[str], node: Name) -> Term:
        known = self.context.references
        if not known:
            raise ExpressionError("the study has no reference", node.span, "add [[references]] with name, file and columns")
        if first == "reference":
            if len(known) > 1 or len(rest) != 1:
                raise ExpressionError(
                    f"`{node.text}` does not say which column of which reference",
                    node.span,
                    f"such as references.{next(iter(known))}.COLUMN",
                )
            rest = [next(iter(known)), *rest]
        if len(rest) != 2:
            message = f"`{node.text}` does not say which column of which reference"
            raise ExpressionError(message, node.span, f"such as references.{next(iter(known))}.COLUMN")
        if rest[0] not in known:
            raise ExpressionError(f"there is no reference `{rest[0]}`", node.part(1), did_you_mean(rest[0], known))
        columns = known[rest[0]].columns
        if rest[1] not in columns:
            raise ExpressionError(
                f"the reference `{rest[0]}` has no column `{rest[1]}`", node.part(len(node.parts) - 1), did_you_mean(rest[1], columns)
            )
        return Referred(rest[0], rest[1], columns[rest[1]])

    def unknown(self, node: Name) -> ExpressionError:
        if len(node.parts) == 2 and node.parts[0] in SHAPES and node.parts[1] in tables.stored(node.parts[0]):
            hows = ", ".join(f"{how}({node.text})" for how in tables.stored(node.parts[0])[node.parts[1]])
            return ExpressionError(f"`{node.text}` is a distribution, and a measure is one number per run", node.span, f"there are {hows}")
        text = [table for table in SHAPES if node.parts[-1] in tables.text_columns(table)]
        if text and (len(node.parts) == 1 or node.parts[0] in text):
            return ExpressionError(f"`{node.text}` is no number", node.span, "a measure is one")
        others = [f"{table}.{node.text}" for table in SHAPES if len(node.parts) == 1 and node.parts[0] in tables.numeric_columns(table)]
        hint = f"there is {' and '.join(others)}" if others else did_you_mean(node.text, names())
        return ExpressionError(f"there is no measure `{node.text}`", node.span, hint)

    # --- a number per row

    def rows(self, node: Node) -> RowTerm | Constant | None:
        """The expression as one of the rows of a single table; None if it is of more than that."""
        if isinstance(node, Number):
            return self.number(node)
        if isinstance(node, Name):
            return self.column(node)
        if isinstance(node, Negative):
            value = self.rows(node.value)
            if isinstance(value, Constant):
                return Constant(-value.value, value.unit)
            return None if value is None else Rowwise(value.table, "negative", (value,), value.unit)
        if isinstance(node, Operation):
            return self.row_operation(node)
        if not node.of and node.function in ELEMENTWISE and node.function not in AGGREGATES and len(node.arguments) == 1:
            value = self.rows(node.arguments[0])
            if value is None or isinstance(value, Constant):
                return None
            if (factor := _to_natural(value.unit)) is not None:
                value = Rowwise(value.table, "*", (value, factor), value.unit.natural)
            return Rowwise(value.table, node.function, (value,), units.PLAIN)
        return None

    def row_operation(self, node: Operation) -> RowTerm | Constant | None:
        left, right = self.rows(node.left), self.rows(node.right)
        if left is None or right is None:
            return None
        of = {each.table for each in (left, right) if not isinstance(each, Constant)}
        if len(of) > 1:
            return None
        unit = self.fitted(node.sign, left.unit, right.unit, node)
        _require_divisor(node, right)
        if not of:
            assert isinstance(left, Constant)
            assert isinstance(right, Constant)
            return _constant(node, left, right, unit)
        return Rowwise(of.pop(), node.sign, (left, right), unit)

    def column(self, node: Name) -> Column | None:
        if len(node.parts) == 1 and node.parts[0] not in COMPUTED:
            name = node.parts[0]
            table = next((each for each in self.context.first if name in tables.numeric_columns(each)), "flows")
        elif len(node.parts) == 2:
            table, name = node.parts
        else:
            return None
        if table == "series" and name in tables.numeric_columns(WINDOWS):
            table = WINDOWS
        if table not in SHAPES or name not in tables.numeric_columns(table):
            return None
        return Column(table, name, units.of_column(tables.numeric_columns(table)[name][0]))

    def number(self, node: Number) -> Constant:
        text = node.text
        if text.endswith("%"):
            return Constant(float(text[:-1]) / 100, units.PLAIN)
        if text.endswith("1/s") and text != "1/s":
            return Constant(float(text[:-3]), units.of_column("1/s"))
        try:
            value, unit = units.of_quantity(text)
        except _core.ScenarioError as error:
            raise ExpressionError(getattr(error, "message", str(error)), node.span, getattr(error, "hint", None)) from None
        return Constant(value, unit)

    def fitted(self, sign: str, left: Unit, right: Unit, node: Node) -> Unit:
        """The unit of a sum, difference, product or ratio."""
        if sign == "*":
            return left * right
        if sign == "/":
            return left / right
        if left.powers != right.powers:
            first, second = (unit.name or "a plain number" for unit in (left, right))
            raise ExpressionError(
                f"{'a sum' if sign == '+' else 'a difference'} of {first} and {second}",
                node.span,
                "both sides need units of one kind; 15 ms is a time",
            )
        return left


def names() -> list[str]:
    """All that a name in an expression may be, as a user writes it."""
    columns = [column if table == "flows" else f"{_said(table)}.{column}" for table in SHAPES for column in tables.numeric_columns(table)]
    return [*columns, *COMPUTED]


def _said(table: str) -> str:
    """What a table is called in expressions."""
    return "series" if table == WINDOWS else table


def _unit(term: Term) -> Unit:
    return _unit(term.of) if isinstance(term, Elsewhere) else term.unit


unit_of = _unit


def _to_natural(unit: Unit) -> Constant | None:
    """What a value is multiplied by to be in the unit that it is shown in, whose logarithm is meant; None if it is.

    Such as `completion_ns / 1 s`, which is kept as nanoseconds per second.
    """
    factor = unit.factor(unit.natural)
    return None if factor == 1.0 else Constant(factor, units.PLAIN)


def _require_divisor(node: Operation, divisor: Term | RowTerm | Constant) -> None:
    """Refuses what is divided by a constant that is 0: no run has a value of it."""
    if node.sign == "/" and isinstance(divisor, Constant) and divisor.value == 0:
        raise ExpressionError("division by zero", node.right.span, "divide by what is above 0 in some run")


def _constant(node: Operation, left: Constant, right: Constant, unit: Unit) -> Constant:
    a, b = left.value, right.value
    if node.sign in "+-":
        b *= right.unit.factor(left.unit)
    return Constant(a + b if node.sign == "+" else a - b if node.sign == "-" else a * b if node.sign == "*" else a / b, unit)
