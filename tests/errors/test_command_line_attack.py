"""Whatever a command is given: no traceback, words on standard error, an exit code that says it, standard output clean and nothing half-written."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest
import typer.main
from rich.progress import Progress

import sawtooth
from sawtooth import cli, streams

STUDY = """\
name = "tiny"
question = "[red]What[/x] of $x$ :smile:?"
repeat = 2
[scenario]
duration = "0.2 s"
sample = "50 ms"
links.l = { rate = "2 Mbit/s", delay = "5 ms" }
[[scenario.flows]]
path = ["l"]
[arms]
a = {}
b = { "tcp.initial_window" = "4 packets" }
"""
UNDECODABLE = os.fsdecode(b"\xff")
# Made once: that takes longer than most commands.
COMMAND: Any = typer.main.get_command(cli.app)


@dataclass(frozen=True)
class Ended:
    """What came of a command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a study, its results, and much that is neither."""
    made = tmp_path_factory.mktemp("attack")
    (made / "tiny.toml").write_text(STUDY)
    sawtooth.run(made / "tiny.toml", made / "results")
    (made / "empty").touch()
    (made / "binary").write_bytes(bytes(range(256)))
    (made / "text").write_text("name,goodput_bps\n")
    (made / "folder").mkdir()
    (made / "folder" / "mine").write_text("mine")
    (made / "loop").symlink_to("loop")
    os.mkfifo(made / "pipe")
    return made


@pytest.fixture
def call(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Ended]]:
    """Runs a command in `place`; what it leaves there is removed afterwards."""
    monkeypatch.chdir(place)
    clean = _files(place)

    def run(*words: str, code: int | Sequence[int] = 2) -> Ended:
        before = _files(place)
        ended = command(*words)
        known = (code,) if isinstance(code, int) else code
        assert ended.code in known, (words, ended)
        if ended.code == 2:
            _is_told(ended)
            assert _files(place) == before, words
        return ended

    yield run
    for path in sorted(_files(place) - clean, reverse=True):
        (place / path).rmdir() if (place / path).is_dir() and not (place / path).is_symlink() else (place / path).unlink()


TOLD = io.StringIO()
"""A stream that is told back."""


def command(*words: str, out: TextIO | None = TOLD, err: TextIO | None = TOLD) -> Ended:
    """Runs a command as `main` does, with these streams."""
    led = [_memory() if stream is TOLD else stream for stream in (out, err)]
    argv = sys.argv
    sys.argv = ["sawtooth", *words]
    try:
        with (
            contextlib.redirect_stdout(led[0]),
            contextlib.redirect_stderr(led[1]),
            pytest.MonkeyPatch.context() as patch,
            pytest.raises(SystemExit) as raised,
        ):
            patch.setattr(cli, "app", COMMAND)
            cli.main()
    finally:
        sys.argv = argv
    assert isinstance(raised.value.code, int)
    return Ended(raised.value.code, *(_written(stream) for stream in led))


def _memory(encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def _written(stream: object) -> str:
    if not (isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.BytesIO)):
        return ""
    stream.flush()
    return stream.buffer.getvalue().decode(errors="surrogateescape")


def _files(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def _is_told(ended: Ended) -> None:
    assert ended.out == "", ended
    assert re.search(r"^(error: |Error: |Usage: )\S", ended.err, re.MULTILINE), ended
    assert "Traceback" not in ended.err, ended
    assert not re.search(r"NoneType|object has no|\bErrno\b|<class|PosixPath", ended.err), ended
    # A message may quote what was given, not a novel.
    assert len(ended.err) < 12_000, ended


# --- what is read

PATHS = {
    "nothing": "no-such",
    "a directory": "folder",
    "an empty file": "empty",
    "bytes": "binary",
    "another text": "text",
    "a device": "/dev/null",
    "an endless device": "/dev/zero",
    "standard input": "/dev/stdin",
    "a dash": "-",
    "an empty name": "",
    "here": ".",
    "the root": "/",
    "below a file": "text/x",
    "a link to itself": "loop",
    "a pipe": "pipe",
    "what fails when it is read": "/proc/self/mem",
    "blanks": "a b",
    "quotes": "a'b\"c",
    "two lines": "a\nb",
    "a dollar": "$HOME",
    "unicode": "Grüße 漢字 🦈",
    "bytes that are no text": UNDECODABLE,
    "a long name": "n" * 300,
    "a very long name": "n" * 5000,
    "a deep name": "n/" * 3000,
    "a terminal's command": "\x1b[2J",
}
READERS = {
    "run": ["run", "PATH", "--out", "out"],
    "run, by default": ["run", "PATH"],
    "plan": ["plan", "PATH"],
    "simulate": ["simulate", "PATH"],
    "trace": ["trace", "PATH", "--out", "out"],
    "gallery": ["gallery", "PATH", "--out", "out"],
    "report": ["report", "PATH"],
    "compare": ["compare", "PATH"],
    "compare with another": ["compare", "results", "PATH"],
    "compare with a table": ["compare", "results", "PATH", "--value", "goodput_bps", "--metric", "goodput_bps"],
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_read_is_told(reader: str, path: str, call: Callable[..., Ended]) -> None:
    ended = call(*(PATHS[path] if word == "PATH" else word for word in READERS[reader]))
    assert "\x1b" not in ended.err


ESCAPES = "\x1b[2J\x9b2J\r\u202e"
"""What clears a terminal in two ways, takes a line's place, and turns what follows."""


def test_nothing_that_a_study_is_called_is_a_command_to_the_terminal(call: Callable[..., Ended], place: Path) -> None:
    name = json.dumps(f"f{ESCAPES}")
    study = STUDY.replace('path = ["l"]', f'path = ["l"]\nname = {name}').replace("[red]", json.dumps(ESCAPES)[1:-1])
    (place / "escapes.toml").write_text(study)
    for words in (["plan", "escapes.toml"], ["simulate", "escapes.toml"], ["run", "escapes.toml", "--out", "out"]):
        ended = call(*words, code=0)
        assert re.search(r"\?\[2J|4 runs", ended.out + ended.err), ended
        assert not re.search(r"[^\n -~\u2500-\u259f]", ended.out + ended.err), ended
    assert "f?[2J?2J??" in call("simulate", "escapes.toml", code=0).out


def test_letters_that_the_locale_c_has_not_are_escapes(call: Callable[..., Ended], place: Path) -> None:
    (place / "letters.toml").write_text(STUDY.replace("[red]What", "Größe"), encoding="utf-8")
    call("plan", "letters.toml", code=0)
    # So is standard output in that locale.
    ended = command("plan", "letters.toml", out=io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="surrogateescape"))
    assert ended.code == 0, ended
    assert ended.out.startswith("tiny: Gr\\xf6\\xdfe")


def test_a_console_keeps_its_own_commands_to_the_terminal_and_those_of_no_text() -> None:
    told = io.StringIO()
    output: Any = streams._Messages(told)  # pyright: ignore[reportPrivateUsage]
    with contextlib.redirect_stderr(output):
        console = streams.Console(stderr=True, force_terminal=True, color_system="standard", _environ={})
        console.print(f"a{ESCAPES}", style="red", highlight=False)
        with Progress(*Progress.get_default_columns(), console=console, auto_refresh=False) as bar:
            bar.add_task(f"t{ESCAPES}")
    shown = told.getvalue()
    assert "\x1b[31ma?[2J?2J" in shown
    assert "\x1b[?25l" in shown
    assert "t?[2J?" in shown
    assert "\x1b[2J" not in shown
    assert not set(shown) & {"\x9b", "\u202e"}


# --- what is written

TARGETS = {
    "a file": "text",
    "below a file": "text/x",
    "a device": "/dev/null",
    "below a device": "/dev/null/x",
    "where nobody writes": "/proc/sawtooth",
    "a link to itself": "loop",
    "a pipe": "pipe",
    "a long name": "n" * 300,
    "a very long name": "n" * 5000,
    "bytes that are no text": UNDECODABLE,
}
WRITERS = {
    "run": ["run", "tiny.toml", "--out", "PATH"],
    "report": ["report", "results", "--out", "PATH"],
    "trace": ["trace", "tiny.toml", "--out", "PATH"],
    "gallery": ["gallery", "tiny.toml", "--out", "PATH"],
    "compare": ["compare", "results", "--out", "PATH"],
}


@pytest.mark.parametrize("path", TARGETS)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_cannot_be_written_is_told(writer: str, path: str, call: Callable[..., Ended]) -> None:
    # What is not read again may be called anything.
    code = (0, 2) if path == "bytes that are no text" and writer != "run" else 2
    call(*(TARGETS[path] if word == "PATH" else word for word in WRITERS[writer]), code=code)


@pytest.mark.parametrize(
    "path", [*(name for name in TARGETS if name not in ("a file", "a link to itself", "bytes that are no text")), "a directory"]
)
def test_a_table_that_cannot_be_written_is_told(path: str, call: Callable[..., Ended]) -> None:
    call("compare", "results", "--csv", {**TARGETS, "a directory": "folder"}[path])


# --- what options are given

# A command that does what it is asked, quickly, and each of its options in turn with what it can hardly use.
DOES: dict[str, list[str]] = {
    "run": ["tiny.toml", "--out", "out"],
    "plan": ["tiny.toml"],
    "compare": ["results"],
    "list": [],
    "simulate": ["tiny.toml"],
    "trace": ["tiny.toml", "--out", "out", "--run", "7"],
    "gallery": ["tiny.toml", "results", "--out", "out"],
    "calibrate": ["--backend", "none"],
    "stall": ["--port", "1"],
    "kernel build": ["0"],
}
# Those that do much before an option is looked at.
SLOW = {"gallery", "compare"}
FEW = ["", "-1", "[/x]", UNDECODABLE]
PATHS_OF = {"--out", "--csv", "--record"}
NUMBERS = ["-1", "nan", "1e400", "9" * 30, "9" * 5000, "", "1.5", "\u0663", "--", UNDECODABLE]
TEXTS = ["", "\n", "$x$", "Grüße 漢字 🦈", "[/x]", "=", "=a", "1e400 s", "-5 s", "[" * 100_000, UNDECODABLE, "\x1b[2J"]


def _options() -> Iterator[tuple[str, str, bool]]:
    """Every option of every command that takes a value: command, option, and whether that is a number."""
    commands: Any = dict(COMMAND.commands)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
    kernel = commands.pop("kernel").commands
    commands |= {f"kernel {name}": each for name, each in kernel.items()}
    for name in DOES:
        for option in commands[name].params:
            if option.param_type_name == "option" and not option.is_flag and option.opts[0] not in PATHS_OF:
                yield name, option.opts[0], "int" in str(option.type_descriptor.annotation)


OPTIONS = list(_options())


def test_every_option_is_known() -> None:
    assert ("simulate", "--seed", True) in OPTIONS
    assert ("compare", "--tolerance", False) in OPTIONS
    assert len(OPTIONS) > 40


@pytest.mark.parametrize(("name", "option", "number"), OPTIONS, ids=str)
def test_an_option_with_what_it_cannot_use_is_told(name: str, option: str, number: bool, call: Callable[..., Ended]) -> None:
    for value in FEW if name in SLOW else NUMBERS if number else TEXTS:
        ended = call(*name.split(), *DOES[name], f"{option}={value}", code=(2,) if number else (0, 2))
        assert "\x1b" not in ended.err


COMMANDS = ["run", "plan", "report", "compare", "simulate", "trace", "stall", "kernel remove"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_without_its_argument_is_told(name: str, call: Callable[..., Ended]) -> None:
    call(*name.split())


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["--nonsense"],
        ["plan", "tiny.toml", "--retry-failed"],
        ["plan", "tiny.toml", "another"],
        ["list", "cc", "queue"],
        ["list", "\n"],
        ["list", "c" * 5000],
        ["report", "results", "--short"],
        ["simulate", "tiny.toml", "--seed"],
        ["simulate", "tiny.toml", "--table", "none"],
        ["compare", "results", "results", "results"],
        ["doctor", "--clean", "now"],
        ["doctor", "--fidelity"],
        ["doctor", "--fidelity", "tiny.tml"],
        ["doctor", "--fidelity", "binary"],
        ["doctor", "--fidelity", "folder"],
        ["doctor", "--fidelity", "tiny.toml", "--clean"],
        ["doctor", "--fidelity", "tiny.toml", "--set", "stack=linx"],
        ["doctor", "--short"],
        ["kernel"],
        ["kernel", "nonsense"],
        ["kernel", "remove", "../../etc"],
        ["kernel", "remove", ""],
        ["kernel", "remove", "n" * 5000],
        ["stall"],
        ["stall", "--port", "0"],
        ["stall", "--all", "--port", "1"],
        ["stall", "--pid", "9" * 30],
        ["stall", "--peer", "192.0.2.7:99999", "--once"],
        ["calibrate", "--shaper", "none"],
    ],
    ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode(),
)
def test_a_command_that_cannot_be_is_told(words: list[str], call: Callable[..., Ended]) -> None:
    call(*words)


def test_of_an_option_given_twice_the_last_holds(call: Callable[..., Ended]) -> None:
    assert call("simulate", "tiny.toml", "--table", "none", "--table", "links", "--json", code=0).out.startswith("[")


def test_what_a_study_calls_things_is_text_in_its_plan(call: Callable[..., Ended]) -> None:
    assert "tiny: [red]What[/x] of $x$ :smile:?" in call("plan", "tiny.toml", code=0).out


# --- where it is said

PRINTERS = [["list", "cc"], ["list", "--json"], ["doctor", "--fidelity", "tiny.toml"], ["plan", "tiny.toml"], ["simulate", "tiny.toml"], ["compare", "results"], ["compare", "results", "--json"],
            ["--help"], ["--version"], ["kernel", "list", "--json"]]  # fmt: skip


def _without_note(text: str) -> str:
    """Without what the linter says of a study."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("note: the linter has warnings"))


@pytest.mark.parametrize("words", PRINTERS, ids=" ".join)
def test_output_that_cannot_be_written_is_told(words: list[str], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with Path("/dev/full").open("w") as full:
        ended = command(*words, out=full)
    expected = "error: cannot write the output: No space left on device\nhint: send it elsewhere, or make room and do the same again\n"
    assert (ended.code, _without_note(ended.err)) == (2, expected)
    closed = command(*words, out=None)
    assert (closed.code, _without_note(closed.err)) == (2, "error: standard output is closed\nhint: send it somewhere, also to /dev/null\n")


def test_a_command_that_prints_nothing_needs_no_output(place: Path, tmp_path: Path) -> None:
    ended = command("run", str(place / "tiny.toml"), "--out", str(tmp_path / "out"), out=None)
    assert ended.code == 0
    assert "4 runs in" in ended.err


def test_a_mistake_that_nobody_can_be_told_is_an_exit_code(place: Path) -> None:
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        assert command("run", str(place / "none.toml"), err=full) == Ended(2, "", "")
    assert command("run", str(place / "none.toml"), err=None) == Ended(2, "", "")
    assert command("list", "nonsense", err=None) == Ended(2, "", "")


def test_letters_that_the_output_has_not_are_escaped(tmp_path: Path) -> None:
    study = tmp_path / "Grüße.toml"
    study.write_text(STUDY.replace('"tiny"', '"größe"').replace("What", "Wie groß, 漢字"), encoding="utf-8")
    out = _memory("ascii")
    assert command("plan", str(study), out=out).code == 0
    assert "gr\\xf6\\xdfe" in _written(out)
    assert command("simulate", str(study), out=_memory("latin-1")).code == 0


# --- around it

SURROUNDINGS: dict[str, dict[str, str | None]] = {
    "no home": {"HOME": None, "XDG_CACHE_HOME": None},
    "a home that is none": {"HOME": "/dev/null", "XDG_CACHE_HOME": None},
    "a dumb terminal": {"TERM": "dumb", "NO_COLOR": "1"},
    "20 columns": {"COLUMNS": "20", "LINES": "5"},
    "one column": {"COLUMNS": "1", "LINES": "1"},
    "no columns": {"COLUMNS": "0", "LINES": "0"},
    "a time zone": {"TZ": "Nowhere/None"},
    "colours": {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_no_surroundings_end_a_command(name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for key, value in SURROUNDINGS[name].items():
        monkeypatch.delenv(key, raising=False) if value is None else monkeypatch.setenv(key, value)
    for words in (["list", "cc"], ["plan", "tiny.toml"], ["simulate", "tiny.toml"], ["compare", "results"], ["kernel", "list"], ["--help"],
                  ["run", "tiny.toml", "--out", str(tmp_path / "out")]):  # fmt: skip
        ended = command(*words)
        assert ended.code == 0, (words, ended)
    assert command("plan", "none.toml").code == 2


def test_a_directory_that_is_not_to_be_written_or_not_there_is_told(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    study = str(place / "tiny.toml")
    for directory in (Path("/proc"), gone):
        monkeypatch.chdir(directory)
        if directory == gone:
            gone.rmdir()
        for words in (["run", study], ["trace", study], ["gallery", study], ["run", study, "--out", "."]):
            _is_told(command(*words))
        for words in (["plan", study], ["simulate", study], ["compare", str(place / "results")], ["list", "study"]):
            assert command(*words).code == 0


# What is decided before Python's first line: the encoding of a locale, and streams that are closed.
STARTS = {
    "the locale C": ('LC_ALL=C "$@" simulate tiny.toml', 0),
    "a stream of ASCII": ('PYTHONIOENCODING=ascii PYTHONUTF8=0 "$@" plan tiny.toml', 0),
    "nothing around it": ('env -i "$@" plan tiny.toml', 0),
    "all streams closed": ('"$@" plan tiny.toml <&- >&- 2>&-', 2),
}


@pytest.mark.parametrize("start", STARTS)
def test_a_process_ends_as_it_should_however_it_is_started(start: str, place: Path) -> None:
    script, code = STARTS[start]
    done = subprocess.run(["sh", "-c", script, "sh", sys.executable, "-m", "sawtooth.cli"], cwd=place, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done


def test_a_table_that_was_not_recorded_is_told_with_what_records_it(call: Callable[..., Ended]) -> None:
    Path("unsampled.toml").write_text(STUDY.replace('sample = "50 ms"\n', ""))
    said = call("simulate", "unsampled.toml", "--table", "queues").err
    assert "hint: add sample = \"100 ms\" to the scenario, or --set sample='100 ms' to this command" in said
    call("simulate", "unsampled.toml", "--set", "sample=100 ms", "--table", "queues", code=0)


def test_a_backend_is_blamed_as_it_was_written(call: Callable[..., Ended]) -> None:
    assert call("plan", "tiny.toml", "--backend", "um").err == "error: unknown backend `um`\nhint: did you mean `uml`?\n"


def test_who_names_a_study_for_its_results_is_told_where_they_are(call: Callable[..., Ended]) -> None:
    call("run", "tiny.toml", code=0)
    name = next(Path("results").iterdir()).name
    for said in (name, "tiny.toml"):
        assert call("report", said).err.endswith(f"hint: did you mean results/{name}?\n")
