"""JSON as other programs write it, read so that whatever is wrong with it has a place: file, line and column."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from sawtooth import reading
from sawtooth.errors import FileUnreadable, cut

MOST_BYTES = 256_000_000
"""Of the text, after a compressed file was opened."""
_LARGEST = 2**53
"""Of the numbers that programs agree on (RFC 8259 §6)."""
_GZIP = b"\x1f\x8b"
_CAPTURES = (b"\n\r\r\n", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
"""How captures begin: pcapng, and pcap in either byte order with micro- and nanoseconds."""
_BLANK = " \t\r\n"
_SPACE = re.compile(r"[ \t\r\n]*")
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_CHUNK = 1 << 20

Where = Sequence[str | int]
"""The way to a value: names of members and numbers of items."""


@dataclass(frozen=True)
class Text:
    """A text of JSON.

    Attributes:
        name: the file, as it was named.
        text: what it holds.
        start: where the value begins that is read of it; others may stand before.

    """

    name: str
    text: str
    start: int = 0

    def at(self, position: int) -> str:
        """`file:line:column` of a character."""
        before = self.text[:position]
        return f"{self.name}:{before.count(chr(10)) + 1}:{position - before.rfind(chr(10))}"

    def place(self, where: Where) -> str:
        """`file:line:column` of a value; of the one around it, if it is not there."""
        return self.at(_find(self.text, self.start, list(where)))


@dataclass(frozen=True)
class Node:
    """A value with its place: what is asked of it is there and is what is expected, or an error says where it is not.

    Attributes:
        source: the text that it is of.
        where: the way to it.
        value: what is there.

    """

    source: Text
    where: Where
    value: Any

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Refuses the value.

        Raises:
            FileUnreadable: with its place.

        """
        raise FileUnreadable(f"{self.source.place(self.where)}: {message}", hint)

    def has(self, name: str) -> bool:
        """Whether it has a member that is not null."""
        return isinstance(self.value, dict) and cast(Mapping[str, Any], self.value).get(name) is not None

    def member(self, name: str) -> Node:
        """A member that has to be there."""
        if not self.has(name):
            self.fail(f"{_called(self.where)} has no `{name}`", "is the file whole?")
        return Node(self.source, [*self.where, name], self.value[name])

    def object(self, name: str) -> Node:
        """A member that is an object; one without members if it is not there."""
        return self._of(name, dict, {})

    def list(self, name: str) -> Sequence[Node]:
        """The items of a member that is a list; none if it is not there."""
        found = self._of(name, list, [])
        return [Node(self.source, [*found.where, at], value) for at, value in enumerate(found.value)]

    def items(self) -> Sequence[tuple[str, Node]]:
        """The members of an object."""
        return [(name, Node(self.source, [*self.where, name], value)) for name, value in self.value.items()]

    def text(self, name: str) -> str | None:
        """A member that is a text; None if it is not there."""
        return self._of(name, str, None).value

    def flag(self, name: str) -> bool | None:
        """A member that is true or false, also as 1 or 0; None if it is not there."""
        found = self._of(name, (bool, int), None)
        return None if found.value is None else bool(found.value)

    def number(self, name: str) -> float | None:
        """A member that is a number, not below 0; None if it is not there, or no finite number, which says as much."""
        found = self._of(name, (int, float), None)
        if isinstance(found.value, bool):
            found.fail(f"`{name}` is a number, found true or false")
        if found.value is None or (isinstance(found.value, float) and not math.isfinite(found.value)):
            return None
        if found.value > _LARGEST:
            found.fail(f"`{name}` is {found.value:g}, which nothing that is measured is")
        if found.value < 0:
            found.fail(f"`{name}` is {found.value:g}, below 0")
        return found.value

    def count(self, name: str) -> int | None:
        """A member that is a whole number, not below 0; None if it is not there."""
        value = self.number(name)
        if value is not None and not float(value).is_integer():
            self.member(name).fail(f"`{name}` is a whole number, found {value:g}")
        return None if value is None else int(value)

    def _of(self, name: str, kind: type | tuple[type, ...], default: Any) -> Node:
        found = Node(
            self.source, [*self.where, name], cast(Mapping[str, Any], self.value).get(name) if isinstance(self.value, dict) else None
        )
        if not isinstance(self.value, dict):
            self.fail(f"{_called(self.where)} is an object, found {_kind(self.value)}")
        if found.value is None:
            return Node(self.source, found.where, default)
        if not isinstance(found.value, kind):
            wanted = (
                "a number" if float in (kind if isinstance(kind, tuple) else ()) else _KINDS[kind[0] if isinstance(kind, tuple) else kind]
            )
            found.fail(f"`{name}` is {wanted}, found {_kind(found.value)}")
        return found


def is_json(path: Path) -> bool:
    """Whether a regular file begins as an object of JSON does, be it compressed by gzip."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 4096)
        except zlib.error:
            return False
    return head.lstrip(b"\xef\xbb\xbf \t\r\n\x1e").startswith(b"{")


def read(path: Path) -> Text:
    """The text of a file, opened if it is compressed by gzip.

    Raises:
        FileUnreadable: if there is none, or too much of it.

    """
    try:
        content = reading.read(path, MOST_BYTES, "give a part of it")
    except reading.Unreadable as error:
        raise FileUnreadable(error.message, error.hint) from None
    except OSError as error:
        raise FileUnreadable(f"cannot read {path}: {error.strerror}", "name another, or see what `ls -ld` says of it") from None
    if content.startswith(_GZIP):
        content = _opened(path, content)
    try:
        return Text(str(path), content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        if content.startswith(_CAPTURES):
            raise FileUnreadable(f"{path} is a capture of packets", "`sawtooth analyze` reads it") from None
        raise FileUnreadable(f"{path} is no text: byte {error.start} is not UTF-8", "JSON is UTF-8 (RFC 8259 §8.1)") from None


def _opened(path: Path, content: bytes) -> bytes:
    """What a compressed file holds, but not more than the limit."""
    made = bytearray()
    try:
        with gzip.open(io.BytesIO(content)) as file:
            while chunk := file.read(_CHUNK):
                made += chunk
                if len(made) > MOST_BYTES:
                    raise FileUnreadable(
                        f"{path} has more than {MOST_BYTES:,} bytes when it is opened, which is the limit", "give a part of it"
                    )
    except EOFError:
        raise FileUnreadable(f"{path} is compressed (gzip) and ends in the middle", "it was cut off: ask for another copy of it") from None
    except (OSError, zlib.error) as error:
        raise FileUnreadable(f"{path} is compressed (gzip) and damaged: {error}", "ask for another copy of it") from None
    return bytes(made)


def values(source: Text) -> list[Node]:
    """The values that stand in a text one after the other, without commas between them.

    Raises:
        FileUnreadable: for what is no JSON, with its place.

    """
    found: list[Node] = []
    position = _skip(source.text, 0)
    while position < len(source.text):
        value, after = _decoded(source, position)
        found.append(Node(Text(source.name, source.text, position), [], value))
        position = _skip(source.text, after)
    if not found:
        raise FileUnreadable(f"{source.name} is empty", "it has to hold what the program wrote: did it run to its end?")
    return found


def _decoded(source: Text, position: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(source.text, position)
    except json.JSONDecodeError as error:
        if error.pos >= len(source.text.rstrip()) or error.msg.startswith("Unterminated string"):
            message, hint = "the text ends in the middle of a value", "the file was cut off, or is still being written"
        else:
            message, hint = f"this is no JSON: {error.msg[0].lower()}{error.msg[1:]}", "was it edited by hand, or joined with others?"
        raise FileUnreadable(f"{source.at(error.pos)}: {message}", hint) from None
    except RecursionError:
        raise FileUnreadable(
            f"{source.at(position)}: values stand in each other too deeply", "no program that is known here writes that"
        ) from None
    except ValueError as error:
        raise FileUnreadable(f"{source.at(position)}: this is no JSON: {cut(str(error))}") from None


def _skip(text: str, position: int) -> int:
    """Past blanks, and the record separators of RFC 7464."""
    while position < len(text) and text[position] in _BLANK + "\x1e\0":
        position += 1
    return position


def _find(text: str, position: int, where: list[str | int]) -> int:
    """Where the value begins that a way leads to from the one at `position`."""
    position = _space(text, position)
    if not where or position >= len(text) or text[position] not in "{[":
        return position
    first, *rest = where
    start, number = position, 0
    position = _space(text, position + 1)
    while position < len(text) and text[position] not in "}]":
        name: str | int = number
        if text[start] == "{":
            name, position = _DECODER.raw_decode(text, position)
            position = _space(text, _space(text, position) + 1)
        if name == first:
            return _find(text, position, rest)
        _, position = _DECODER.raw_decode(text, position)
        position = _space(text, position)
        if position < len(text) and text[position] == ",":
            position = _space(text, position + 1)
        number += 1
    return start


def _space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _called(where: Where) -> str:
    return "`" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where).lstrip(".") + "`" if where else "the file"


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"{value}")


_DECODER = json.JSONDecoder()
