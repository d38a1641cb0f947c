"""Python in a script: statements about the fields of `TCP_INFO`, of which nothing but arithmetic and comparisons is done."""

from __future__ import annotations

import ast
import operator
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from sawtooth.conformance.endpoint import NotApplicable

_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_CONTINUED = re.compile(r"\\\s*(\n\s*|$)")
_CONSTANTS = {
    **{f"TCP_CA_{name}": value for value, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))},
    **{f"TCPI_OPT_{name}": 1 << bit for bit, name in enumerate(("TIMESTAMPS", "SACK", "WSCALE", "ECN", "ECN_SEEN", "SYN_DATA"))},
    **{
        f"TCP_{name}": value + 1
        for value, name in enumerate(
            [
                "ESTABLISHED",
                "SYN_SENT",
                "SYN_RECV",
                "FIN_WAIT1",
                "FIN_WAIT2",
                "TIME_WAIT",
                "CLOSE",
                "CLOSE_WAIT",
                "LAST_ACK",
                "LISTEN",
                "CLOSING",
            ]
        )
    },
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max}


def failures(code: str, known: Mapping[str, int]) -> list[str]:
    """Which assertions do not hold, each with the fields that it names; `NotApplicable` for what is not known or not done."""
    try:
        tree = ast.parse(textwrap.dedent(_CONTINUED.sub(" ", code)).strip())
    except SyntaxError as error:
        raise NotApplicable(f"Python that is none: {error.msg}") from None
    names: dict[str, Any] = dict(_CONSTANTS)
    found: list[str] = []
    for statement in tree.body:
        match statement:
            case ast.Assert(test=test):
                if not _value(test, known, names):
                    fields = sorted({node.id for node in ast.walk(test) if isinstance(node, ast.Name) and node.id in known})
                    values = ", ".join(f"{name} = {known[name]}" for name in fields)
                    found.append(f"assert {ast.unparse(test)}" + (f" ({values})" if values else ""))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = _value(value, known, names)
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) | ast.Pass():
                pass
            case _:
                raise NotApplicable(f"Python beyond assertions: {ast.unparse(statement).splitlines()[0]}")
    return found


def _value(node: ast.expr, known: Mapping[str, int], names: Mapping[str, Any]) -> Any:
    def value(inner: ast.expr) -> Any:
        return _value(inner, known, names)

    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            if name in names:
                return names[name]
            if name in known:
                return known[name]
            raise NotApplicable(f"{name} is not known of this endpoint")
        case ast.BoolOp(op=ast.And(), values=values):
            return all(value(each) for each in values)
        case ast.BoolOp(values=values):
            return any(value(each) for each in values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](value(left), value(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](value(operand))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _OPERATIONS for op in ops):
            values = [value(left), *map(value, others)]
            return all(_OPERATIONS[type(op)](values[at], values[at + 1]) for at, op in enumerate(ops))
        case ast.Tuple(elts=values):
            return tuple(value(each) for each in values)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(value, arguments))
        case _:
            raise NotApplicable(f"Python beyond arithmetic and comparisons: {ast.unparse(node)}")
