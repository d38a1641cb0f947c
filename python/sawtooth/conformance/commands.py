"""Commands of the shell in a script: read here for the settings of net.ipv4 that they make, never executed as a shell would.

Scripts of others keep their settings in files beside them. Such a file is read as its commands; a program there whose arguments are all `/proc/sys/net/ipv4/NAME=VALUE`
is taken to set these. What restores settings or only reads counters is without effect for an endpoint that each script has anew.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CONTINUED = re.compile(r"\\(\n|$)")
_ARITHMETIC = re.compile(r"\$\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)")
_SETTING = re.compile(r"net[./]ipv4[./](\w+)=(.*)", re.DOTALL)
_PROC_SETTING = re.compile(r"/proc/sys/net/ipv4/(\w+)=(.*)", re.DOTALL)
_RESTORES = re.compile(r"/tmp/sysctl_restore_\S+")
_ENDS = {";", "&&", "\n"}
_REDIRECTIONS = {">", ">>", ">&", "&>", "<"}
_DEEPEST = 4
"""Of files that call files."""
_COUNTS = "nstat"


@dataclass(frozen=True)
class Setting:
    """A setting of net.ipv4.

    Args:
        name: after `net.ipv4.`.
        value: as it is written.
        must: a kernel without it cannot run the script; a file of many settings goes on, as a shell does.

    """

    name: str
    value: str
    must: bool = True


@dataclass(frozen=True)
class Beyond:
    """A command that does something else, as its words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"the command `{' '.join(self.words)}`"


Effect = Setting | Beyond


def effects(command: str, folder: Path) -> tuple[Effect, ...]:
    """What a command does, with files that it calls read from a script's folder.

    Raises:
        ValueError: if quotes or arithmetic cannot be read; what says which.
        OSError: if there is no such file.

    """
    return tuple(_effects(command, folder, 0))


def _effects(text: str, folder: Path, depth: int) -> Iterator[Effect]:
    for words in _commands(text):
        if words[0] == "sysctl":
            yield from _sysctl(words, must=depth == 0)
        elif _RESTORES.fullmatch(words[0]) or words == (_COUNTS,):
            continue
        elif words[0].startswith(".") and "/" in words[0]:
            yield from _called(words, folder, depth)
        else:
            yield Beyond(words)


def _called(words: tuple[str, ...], folder: Path, depth: int) -> Iterator[Effect]:
    path = folder / words[0]
    settings = [_PROC_SETTING.fullmatch(word) for word in words[1:]]
    if settings and all(settings):
        yield from (Setting(found[1], found[2]) for found in settings if found)
    elif len(words) > 1 or depth >= _DEEPEST:
        yield Beyond(words)
    else:
        yield from _effects(path.read_text(), folder, depth + 1)


def _sysctl(words: tuple[str, ...], *, must: bool) -> Iterator[Effect]:
    given = [word for word in words[1:] if not word.startswith("-")]
    found = [_SETTING.fullmatch(word) for word in given]
    if not given or not all(found):
        yield Beyond(words)
        return
    yield from (Setting(each[1], each[2], must) for each in found if each)


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    """The words of each command, without redirections."""
    text = _ARITHMETIC.sub(lambda found: str(_number(found[1])), _CONTINUED.sub(" ", text))
    for line in text.splitlines():
        words: list[str] = []
        tokens = iter(_tokens(line))
        for token in tokens:
            if token in _ENDS:
                if words:
                    yield tuple(words)
                words = []
            elif token in _REDIRECTIONS:
                # As in `2>&1`: the number before belongs to it, and so does the word after.
                if words and words[-1] in ("1", "2"):
                    words.pop()
                target = next(tokens, "")
                if target.startswith("/") and target != "/dev/null":
                    words += [token, target]
            else:
                words.append(token)
        if words:
            yield tuple(words)


def _tokens(line: str) -> list[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
    reader.whitespace_split = True
    return list(reader)


def _number(text: str) -> int:
    """Arithmetic of whole numbers."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError):
        raise ValueError(f"`{text}` is no arithmetic of whole numbers") from None


def _value(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) // _value(right)
        case _:
            raise ValueError(f"`{ast.unparse(node)}` is no arithmetic of whole numbers")
