"""Expressions over measures, read into trees: `p99(datagrams.delay_ns) - 15 ms`, `goodput_bps / arms."BBR v1".goodput_bps`.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = [ "-" ] value
    value    = number [ unit ] | number "%" | name | name "(" sum { "," sum } ")" | "(" sum ")"
    name     = part { "." part }            part = word | quoted text

What the names mean is not decided here. Every node knows which characters it was read from, so that an error can point at them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Span = tuple[int, int]
"""Characters of the text, the end excluded."""


class ExpressionError(Exception):
    """What is wrong with an expression, in which of its characters, and what to do."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint


@dataclass(frozen=True)
class Number:
    """A number, with the unit that follows it; `text` is both."""

    text: str
    span: Span


@dataclass(frozen=True)
class Name:
    """A name of one or more parts."""

    parts: tuple[str, ...]
    span: Span

    @property
    def text(self) -> str:
        """As it is said in messages."""
        return ".".join(self.parts)

    def part(self, at: int) -> Span:
        """The characters of one of its parts; all of them if some are in quotes."""
        start, end = self.span
        if end - start != len(self.text):
            return self.span
        first = start + sum(len(part) + 1 for part in self.parts[:at])
        return first, first + len(self.parts[at])


@dataclass(frozen=True)
class Call:
    """A function of arguments; `of` is what stands before its name: of `arms.NAME.p95(...)` arms and NAME."""

    function: str
    arguments: tuple[Node, ...]
    span: Span
    of: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The function with what stands before it."""
        return ".".join((*self.of, self.function))


@dataclass(frozen=True)
class Operation:
    """Two values that are put together by `+`, `-`, `*` or `/`."""

    sign: str
    left: Node
    right: Node
    span: Span


@dataclass(frozen=True)
class Negative:
    """A value below zero if it was above."""

    value: Node
    span: Span


Node: TypeAlias = Number | Name | Call | Operation | Negative

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*%|\s*(?:[A-Za-zµ]+/s\b|1/s\b|[A-Za-zµ]+(?![\w.(]))|)) |
      (?P<word>[^\W\d]\w*) |
      (?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') |
      (?P<sign>[-+*/().,])
    )""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"""\\(["'\\])""")
"""In a quoted name, a backslash makes the quote, or the backslash, after it a letter of the name; before all else it is one itself."""
_DEEPEST = 60


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    span: Span


def parse(text: str) -> Node:
    """The tree of an expression.

    Raises:
        ExpressionError: if it is none.

    """
    reader = _Reader(text, _tokens(text))
    tree = reader.sum(0)
    if reader.here.kind != "end":
        raise ExpressionError(f"unexpected `{reader.here.text}`", reader.here.span, "between two values stands one of + - * /")
    return tree


def _tokens(text: str) -> Sequence[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            first = at + len(text[at:]) - len(text[at:].lstrip())
            hint = (
                'a name with other letters is quoted: arms."BBR v1".goodput_bps'
                if text[first] in "\"'"
                else "numbers, names, + - * / and ( ) are"
            )
            raise ExpressionError(f"`{text[first]}` is no part of an expression", (first, first + 1), hint)
        found.append(_Token(match.lastgroup, match[match.lastgroup], match.span(match.lastgroup)))
        at = match.end()
    found.append(_Token("end", "", (max(len(text) - 1, 0), max(len(text), 1))))
    return found


class _Reader:
    def __init__(self, text: str, tokens: Sequence[_Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.here
        self.at += 1
        return token

    def next_is(self, *signs: str) -> bool:
        return self.here.kind == "sign" and self.here.text in signs

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise ExpressionError("the expression is nested too deeply", self.here.span, f"{_DEEPEST} levels are allowed")
        left = self.product(depth)
        while self.next_is("+", "-"):
            sign = self.take().text
            right = self.product(depth)
            left = Operation(sign, left, right, (left.span[0], right.span[1]))
        return left

    def product(self, depth: int) -> Node:
        left = self.signed(depth)
        while self.next_is("*", "/"):
            sign = self.take().text
            right = self.signed(depth)
            left = Operation(sign, left, right, (left.span[0], right.span[1]))
        return left

    def signed(self, depth: int) -> Node:
        if self.next_is("-"):
            start = self.take().span[0]
            value = self.value(depth)
            return Negative(value, (start, value.span[1]))
        return self.value(depth)

    def value(self, depth: int) -> Node:
        token = self.take()
        if token.kind == "number":
            return Number(token.text, token.span)
        if token.kind == "word":
            name = self.name(token)
            return self.call(name, depth) if self.next_is("(") else name
        if token.kind == "sign" and token.text == "(":
            inner = self.sum(depth + 1)
            self.close(token)
            return inner
        if token.kind == "end":
            self.at -= 1
            raise ExpressionError("the expression ends where a value was expected", token.span, "add a number or the name of a measure")
        raise ExpressionError(f"unexpected `{token.text}`", token.span, "a number, a name, a function or ( was expected")

    def name(self, first: _Token) -> Name:
        parts, end = [first.text], first.span[1]
        while self.next_is("."):
            self.take()
            part = self.take()
            if part.kind not in ("word", "quoted", "number"):
                raise ExpressionError("a name goes on after `.`", part.span, 'such as links.dropped_packets, or arms."BBR v1".goodput_bps')
            parts.append(_ESCAPED.sub(r"\1", part.text[1:-1]) if part.kind == "quoted" else part.text)
            end = part.span[1]
        return Name(tuple(parts), (first.span[0], end))

    def call(self, name: Name, depth: int) -> Call:
        opened = self.take()
        arguments = [self.sum(depth + 1)]
        while self.next_is(","):
            self.take()
            arguments.append(self.sum(depth + 1))
        end = self.close(opened)
        return Call(name.parts[-1], tuple(arguments), (name.span[0], end), name.parts[:-1])

    def close(self, opened: _Token) -> int:
        if not self.next_is(")"):
            raise ExpressionError("this ( is not closed", opened.span, "add )")
        return self.take().span[1]
