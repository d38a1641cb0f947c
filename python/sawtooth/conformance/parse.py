"""Reads a script: its grammar, what is made of each part, and errors that say where and what was expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from lark import Lark, Token, Transformer
from lark import v_args as annotated  # pyright: ignore[reportUnknownVariableType]
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from sawtooth.conformance.commands import effects
from sawtooth.conformance.script import Call, Code, Event, Foreign, Inbound, Outbound, Script, Segment, Shell, What, When
from sawtooth.errors import Place, StudyError

_GRAMMAR = r"""
script: option* event*
option: OPTION
event: TIME? (SHELL | CODE) | TIME (packet | call)

packet: DIRECTION ecn? segment | DIRECTION ecn? FOREIGN
ecn: "[" ECN "]"
segment: FLAGS range ack? window? urgent? options?
range: NUMBER ":" NUMBER "(" NUMBER ")"
ack: "ack" NUMBER
window: "win" NUMBER
urgent: "urg" NUMBER
options: "<" (tcp_option ("," tcp_option)*)? ">" | "<" ELLIPSIS ">"
tcp_option: "mss" (NUMBER | OTHER) -> mss
    | "sackOK" -> sack_permitted
    | "sack" (NUMBER ":" NUMBER)+ -> sack
    | "TS" "val" NUMBER "ecr" NUMBER -> stamps
    | "wscale" NUMBER -> wscale
    | ("nop" | "eol") -> padding
    | OTHER (NUMBER | OTHER)* -> other

call: NAME "(" (expression ("," expression)*)? ")" "=" result NOTE?
result: INTEGER NAME? | ELLIPSIS
expression: atom ("|" atom)*
atom: INTEGER -> integer
    | STRING -> text
    | ELLIPSIS -> anything
    | NAME ("(" (expression ("," expression)*)? ")")? -> name
    | "[" (expression ("," expression)*)? "]" -> array
    | "{" (member ("," member)*)? "}" -> structure
member: expression ("=" expression)?

TIME.3: /(\+?(\d+\.?\d*|\.\d+)(\s*(~|\.\.\.)\s*\+?(\d+\.?\d*|\.\d+))?|\+?\*)(?=[\s<>`%a-z])/
OPTION: /--[a-z_0-9]+(=\S*)?/
DIRECTION: /[<>]/
ECN: "noecn" | "ect0" | "ect1" | "ce"
FLAGS: /[SFRP.UEWA]+|-(?=\s)/
FOREIGN: /(icmp|udp|sctp|ipv4|ipv6|gre|mpls|encap)\b[^\n]*/
NUMBER: /\d+/
INTEGER: /-?0x[0-9a-fA-F]+|-?\d+/
ELLIPSIS: "..."
NAME: /[A-Za-z_][A-Za-z_0-9]*/
OTHER: /[A-Za-z_][A-Za-z_0-9]*/
STRING: /"([^"\\\n]|\\.)*"/
NOTE: /\([^)\n]*\)/
SHELL: /`[^`]*`/
CODE: /%\{(.|\n)*?\}%/
%import common.WS
%ignore WS
%ignore /\/\/[^\n]*/
%ignore /\/\*(.|\n)*?\*\//
"""

_PARSER = Lark(_GRAMMAR, start="script", parser="lalr", propagate_positions=True, maybe_placeholders=False)

_WORDS = {
    "$END": "the end of the script",
    "TIME": "a time such as 0.1, +.05, +0.1~+0.2 or *",
    "OPTION": "an option such as --tolerance_usecs=1000",
    "DIRECTION": "`<` or `>`",
    "ECN": "noecn, ect0, ect1 or ce",
    "FLAGS": "flags of SFRP.UEWA",
    "FOREIGN": "a packet of another protocol",
    "NUMBER": "a number",
    "INTEGER": "a number",
    "ELLIPSIS": "`...`",
    "NAME": "a name",
    "OTHER": "the name of an option",
    "STRING": "a text in quotes",
    "NOTE": "a note in parentheses",
    "SHELL": "a command in backquotes",
    "CODE": "%{ Python }%",
}


_ARGUMENTS: dict[str, tuple[int, tuple[int, ...]]] = {
    # Of each call how many arguments it has at least, and which of them are numbers.
    "bind": (3, (0,)),
    "listen": (2, (0, 1)),
    "accept": (3, (0,)),
    "accept4": (4, (0,)),
    "connect": (3, (0,)),
    "write": (3, (0, 2)),
    "send": (4, (0, 2)),
    "sendto": (6, (0, 2)),
    "read": (3, (0, 2)),
    "recv": (4, (0, 2)),
    "recvfrom": (6, (0, 2)),
    "setsockopt": (5, (0,)),
    "getsockopt": (5, (0,)),
    "fcntl": (2, (0,)),
    "shutdown": (2, (0,)),
    "close": (1, (0,)),
}
_MOST_SHIFT = 14
"""RFC 7323 §2.3."""


@annotated(inline=True)
class _Reader(Transformer[Token, Any]):
    """Makes events of what the grammar has found."""

    def __init__(self, name: str, lines: list[str], defined: Mapping[str, str]) -> None:
        super().__init__()
        self._name = name
        self._lines = lines
        self._defined = defined

    def place(self, token: Token) -> Place:
        line, column = token.line or 1, token.column or 1
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        first_line = token.split("\n")[0]
        return Place(self._name, line, column, column + max(1, len(first_line)), text)

    def script(self, *parts: Any) -> Script:
        options: dict[str, str] = dict(cast("tuple[str, str]", part) for part in parts if isinstance(part, tuple))
        return Script(self._name, options, tuple(part for part in parts if isinstance(part, Event)))

    def number(self, token: Token, most: int = 2**32 - 1) -> int:
        if int(token) > most:
            raise StudyError(f"{token} is more than its field of a header holds", self.place(token), f"write at most {most}")
        return int(token)

    def option(self, token: Token) -> tuple[str, str]:
        name, _, value = token[2:].partition("=")
        if name == "tolerance_usecs" and not value.isdecimal():
            raise StudyError(f"`{value}` is no number of microseconds", self.place(token), "write --tolerance_usecs=4000")
        return name, value

    def event(self, *parts: Any) -> Event:
        first = parts[0]
        timed = isinstance(first, Token) and first.type == "TIME"
        when = _when(first) if timed else When()
        what = parts[-1]
        if isinstance(what, Token):
            place = self.place(first)
            made: What = self.shell(what) if what.type == "SHELL" else Code(what[2:-2])
        else:
            made, place = what
            if timed:
                place = Place(place.name, first.line or 1, first.column or 1, place.end_column, self._lines[(first.line or 1) - 1])
                place = Place(place.name, place.line, place.column, len(place.text.rstrip()) + 1, place.text)
        return Event(when, made, place)

    def shell(self, token: Token) -> Shell:
        try:
            return Shell(effects(token[1:-1].strip(), Path(self._name).parent))
        except OSError as error:
            message = f"{error.filename} cannot be read: {error.strerror}"
            raise StudyError(message, self.place(token), "files that a script calls are looked for from its folder") from None
        except ValueError as error:
            raise StudyError(
                f"the command is not understood: {error}", self.place(token), "such as: `sysctl -q net.ipv4.tcp_sack=0`"
            ) from None

    def packet(self, direction: Token, *parts: Any) -> tuple[What, Place]:
        body = parts[-1]
        if isinstance(body, Token):
            words = [self._defined.get(word, word) for word in body.split()]
            return Foreign(" ".join(words), direction == "<"), self.place(direction)
        if len(parts) > 1:
            body = replace(body, ecn=parts[0])
        return (Inbound if direction == "<" else Outbound)(body), self.place(direction)

    def ecn(self, word: Token) -> str:
        return str(word)

    def segment(self, flags: Token, bounds: tuple[Token, int, int, int], *parts: Any) -> Segment:
        token, start, end, length = bounds
        if end - start != length:
            raise StudyError(
                f"{start}:{end} are {end - start} bytes, and {length} are said",
                self.place(token),
                f"write {start}:{start + length}({length}), as SYN and FIN are not counted here",
            )
        known = dict(parts)
        letters = "" if flags == "-" else str(flags)
        return Segment(letters, start, length, known.get("ack"), known.get("win"), known.get("options", {}), None, known.get("urg", 0))

    def range(self, start: Token, end: Token, length: Token) -> tuple[Token, int, int, int]:
        return start, self.number(start), self.number(end), self.number(length, 2**30)

    def ack(self, number: Token) -> tuple[str, int]:
        return "ack", self.number(number)

    def window(self, number: Token) -> tuple[str, int]:
        return "win", self.number(number, 2**16 - 1)

    def urgent(self, number: Token) -> tuple[str, int]:
        return "urg", self.number(number, 2**16 - 1)

    def options(self, *parts: Any) -> tuple[str, dict[str, Any] | None]:
        if len(parts) == 1 and isinstance(parts[0], Token):
            return "options", None
        return "options", dict(part for part in parts if part is not None)

    def mss(self, number: Token) -> tuple[str, int]:
        if not number.isdecimal():
            number = number.update(value=self._defined.get(number, number))
        if not number.isdecimal():
            raise StudyError(f"{number} is no number", self.place(number), f"give it by --define {number}=1460")
        return "mss", self.number(number, 2**16 - 1)

    def sack_permitted(self) -> tuple[str, None]:
        return "sackOK", None

    def sack(self, *numbers: Token) -> tuple[str, list[tuple[int, int]]]:
        values = [self.number(number) for number in numbers]
        return "sack", list(zip(values[::2], values[1::2], strict=True))

    def stamps(self, value: Token, echo: Token) -> tuple[str, tuple[int, int]]:
        return "TS", (self.number(value), self.number(echo))

    def wscale(self, number: Token) -> tuple[str, int]:
        return "wscale", self.number(number, _MOST_SHIFT)

    def padding(self) -> None:
        return None

    def other(self, name: Token, *values: Token) -> tuple[str, str]:
        return str(name), "".join(self._defined.get(value, value) for value in values)

    def call(self, name: Token, *parts: Any) -> tuple[What, Place]:
        parts = tuple(part for part in parts if not (isinstance(part, Token) and part.type == "NOTE"))
        *arguments, (result, error) = parts
        self.check(name, arguments)
        return Call(str(name), tuple(arguments), result, error), self.place(name)

    def check(self, name: Token, arguments: list[Any]) -> None:
        least, numbers = _ARGUMENTS.get(name, (0, ()))
        if len(arguments) < least:
            raise StudyError(
                f"{name} takes {least} arguments, and has {len(arguments)}", self.place(name), "write `...` for what does not matter"
            )
        for at in numbers:
            if not isinstance(arguments[at], int) or not 0 <= arguments[at] < 2**31:
                raise StudyError(f"argument {at + 1} of {name} has to be a number", self.place(name), "write a number that is not negative")

    def result(self, value: Token, error: Token | None = None) -> tuple[int | None, str | None]:
        return (None if value == "..." else _integer(value)), (str(error) if error is not None else None)

    def expression(self, *atoms: Any) -> Any:
        return atoms[0] if len(atoms) == 1 else tuple(str(atom) for atom in atoms)

    def integer(self, token: Token) -> int:
        return _integer(token)

    def text(self, token: Token) -> bytes:
        return re.sub(rb"\\x([0-9a-fA-F]{2})", lambda found: bytes.fromhex(found[1].decode()), token[1:-1].encode())

    def anything(self, token: Token) -> Any:
        del token
        return ...

    def name(self, token: Token, *arguments: Any) -> Any:
        return {"call": str(token), "arguments": list(arguments)} if arguments else self._defined.get(token, str(token))

    def array(self, *values: Any) -> list[Any]:
        return list(values)

    def structure(self, *members: tuple[str | None, Any]) -> dict[str, Any] | list[Any]:
        """By name, or in order where a structure has no names, as of `iovec`."""
        named = {name: value for name, value in members if name is not None}
        return named if len(named) == len(members) else [value for _, value in members]

    def member(self, *parts: Any) -> tuple[str | None, Any]:
        if len(parts) == 1:
            return None, parts[0]
        name, value = parts
        return str(cast("dict[str, Any]", name)["call"] if isinstance(name, dict) else name), value


def _integer(text: str) -> int:
    return int(text, 16 if "x" in text else 10)


def _when(token: Token) -> When:
    text = "".join(token.split())
    if text in ("*", "+*"):
        return When(None)
    relative = text.startswith("+")
    for mark in ("...", "~"):
        first, found, last = text.partition(mark)
        if found:
            return When(float(first), float(last), relative, mark == "...")
    return When(float(text), None, relative)


def parse(text: str, name: str, defined: Mapping[str, str] = MappingProxyType({})) -> Script:
    """The script of a text, with what words in it are defined to be; `StudyError` says what is wrong and where."""
    lines = text.splitlines()
    try:
        tree = _PARSER.parse(text)
        script = cast("Script", _Reader(name, lines, defined).transform(tree))
    except VisitError as error:
        raise error.orig_exc from None
    except UnexpectedInput as error:
        raise _wrong(error, name, lines) from None
    if not script.events:
        place = Place(name, 1, 1, 2, lines[0] if lines else "")
        raise StudyError(
            "the script has no statement, so nothing would be tested", place, "such as: 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"
        )
    return script


def load(path: Path, defined: Mapping[str, str] = MappingProxyType({})) -> Script:
    """The script of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise StudyError(f"{path} cannot be read: {words}", None, "give a script of packets, or a folder of .pkt files") from None
    return parse(text, str(path), defined)


def _wrong(error: UnexpectedInput, name: str, lines: list[str]) -> StudyError:
    at_end = isinstance(error, UnexpectedToken) and str(cast("Any", error.token).type) == "$END"
    line = min(error.line if error.line > 0 and not at_end else len(lines), max(1, len(lines)))
    text = lines[line - 1] if lines else ""
    column = len(text) + 1 if at_end else max(1, error.column)
    expected: set[str] = set()
    if isinstance(error, UnexpectedCharacters):
        expected = set(error.allowed or ())
    elif isinstance(error, UnexpectedToken):
        expected = set(error.accepts or error.expected)
    found = "the script ends" if at_end else f"`{_word(text[column - 1 :])}` is not understood"
    words = sorted({_term(each) for each in expected})
    wanted = f": expected is {', or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}" if words else ""
    length = 1 if at_end else max(1, len(_word(text[column - 1 :])))
    return StudyError(
        f"{found} here{wanted}",
        Place(name, line, column, column + length, text),
        "`sawtooth conform --help` names the language's parts",
    )


def _word(rest: str) -> str:
    return (rest.split() or [""])[0][:40]


def _term(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    pattern = next((terminal.pattern.value for terminal in _PARSER.terminals if terminal.name == name), name)
    return f"`{pattern}`"
