"""Standard output and standard error of the command line, wherever they lead: to a full disk, to a pipe that nobody reads any more, or nowhere."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO, cast

import rich.console
from rich.console import ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment

from sawtooth.errors import OutputLost, PlainError, ReaderGone, SawtoothError

_LEAST = 40
"""Columns to which tables and sentences are laid out at least: in fewer, words become columns of letters; a terminal folds what is too long itself."""
_LONGEST, _WIDEST = 200, 6000
"""Of a file's name in a message about the machine; of a line of any message."""
# What a terminal takes for a command rather than for a letter: controls but for the ends of lines and tabs, and what turns the direction of writing.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """A text of a study, a file or a process, without what a terminal takes for a command."""
    return _COMMANDS.sub("?", text)


class Console(rich.console.Console):
    """A console whose own commands, such as colours, reach the terminal, while those in a text do not."""

    @property
    def file(self) -> IO[str]:
        """Where it writes: past what makes other output harmless."""
        file = super().file
        return cast(IO[str], file.unchanged) if isinstance(file, _Stream) else file

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    @property
    def size(self) -> ConsoleDimensions:
        """What is laid out: as wide as the terminal, and no narrower than can be read."""
        found = super().size
        return ConsoleDimensions(max(found.width, _LEAST), found.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    @property
    def redraws(self) -> bool:
        """Whether something can be drawn anew in its place: on a terminal that does not fold the lines."""
        return self.is_terminal and super().size.width >= _LEAST

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of what is printed."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=harmless(part.text))


def command(run: Callable[[], object]) -> int:
    """Runs a command and returns its exit code: 2 after a mistake of the user or a refusal of the machine, which is told without a traceback."""
    _occupy()
    # SIGTERM ends it as Ctrl-C does, so that unfinished files are removed; the second one ends the process at once. Where it is ignored it stays so.
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        _lenient(stream)
    if not isinstance(sys.stdout, _Output):
        sys.stdout = cast(TextIO, _Output(sys.stdout))
        sys.stderr = cast(TextIO, _Messages(sys.stderr))
    code = _ended(run)
    # What is still in the buffer has not been written until now.
    return code or _ended(sys.stdout.flush)


def _terminate(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def _ended(run: Callable[[], object]) -> int:
    try:
        run()
    except SystemExit as asked:
        return int(asked.code or 0)
    except SawtoothError as error:
        return tell_error(error)
    except OSError as error:
        return tell_error(_refusal(error))
    except UnicodeEncodeError as error:
        return tell_error(
            PlainError(f"{error.object[error.start : error.end]!a} is no letter: its bytes are not UTF-8", "write it in UTF-8")
        )
    except MemoryError:
        return tell_error(PlainError("there is not enough memory", "`sawtooth plan` says how much a study takes"))
    return 0


def tell_error(error: SawtoothError) -> int:
    """Prints an error; returns the exit code that it is worth."""
    # Names of files may hold what a terminal takes for a command, and what is quoted may be a novel.
    for line in str(error).split("\n"):
        shown = line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..."
        print("".join(letter if letter.isprintable() else "?" for letter in shown), file=sys.stderr)
    return 2


def _refusal(error: OSError) -> SawtoothError:
    """What the machine refuses, where no better words are known."""
    name = "" if error.filename is None else os.fsdecode(cast("str | bytes", error.filename))
    name = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
    what = f"cannot use {name}" if name else "the system refuses what this needs"
    return PlainError(f"{what}: {error.strerror or error}", "name another, or see what `ls -ld` says of it" if name else None)


def _occupy() -> None:
    """What is closed leads nowhere from now on: the next file that is opened would get its number, and whatever is printed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _lenient(stream: TextIO | None) -> None:
    """No letter is a reason to stop: names of files are written as they are, and what the encoding has not as an escape."""
    # The locale C has `surrogateescape`, which still stops at letters.
    if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
        codecs.register_error("sawtooth", _byte_or_escape)
        stream.reconfigure(errors="sawtooth")


def _byte_or_escape(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    one = UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    with contextlib.suppress(UnicodeError):
        return codecs.lookup_error("surrogateescape")(one)
    return codecs.lookup_error("backslashreplace")(one)


class _Stream:
    def __init__(self, stream: TextIO | None, *, unchanged: bool = False) -> None:
        self._closed = stream is None
        self._stream = stream or io.StringIO()
        # What a console writes has been made harmless before it had its commands.
        self.unchanged = self if unchanged else type(self)(stream, unchanged=True)

    def shown(self, text: str) -> str:
        """What is written of a text."""
        return text if self.unchanged is self else harmless(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Output(_Stream):
    """Standard output. Its reader may go, as in `| head`: nothing is wrong then, and nothing is said. Anything else is an error.

    The libraries that print would each end with exit code 1; the signal that ends other tools would end this one also when a guest goes.
    """

    def write(self, text: str) -> int:
        if self._closed:
            raise OutputLost("standard output is closed", "send it somewhere, also to /dev/null")
        try:
            return self._stream.write(self.shown(text))
        except OSError as error:
            self._leave(error)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._leave(error)

    def _leave(self, error: OSError) -> NoReturn:
        # What is still in the buffer is written when Python ends.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone
        raise OutputLost(f"cannot write the output: {error.strerror}", "send it elsewhere, or make room and do the same again") from None


class _Messages(_Stream):
    """Standard error. Where nobody can be told, the exit code says what there is to say."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(self.shown(text))
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()
