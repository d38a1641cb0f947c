"""A study that nobody trusts may name no file: whatever way it finds, nothing is opened."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth import _core, reference_files
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study, keys

# Each key that names a file: where it is written in the scenario, or as a draw, and what such a file may hold.
WAYS = {
    "links.NAME.trace.file": ("links.radio", '{ trace = { file = "FILE" } }', "1\n2\n"),
    "links.NAME.changes.file": ("links.radio.changes", '{ file = "FILE" }', "at,rate\n1,1000000\n"),
    "links.NAME.jitter.file": ("links.radio.jitter", '{ name = "table", file = "FILE" }', "1\n2\n"),
    "a distribution.file": ("flows[0].arrivals.size", '{ name = "empirical", file = "FILE" }', "1000 1\n"),
    "draws.table.file": (None, '{ distribution = "table", file = "FILE", row = "cell", column = "x", unit = "" }', "cell,x\n1,2\n"),
    "analysis": ("", "FILE", "def sections(dataset):\n    return []\n"),
    "references.file": ("", '{ name = "paper", file = "FILE" }', "cell,x\n1,2\n"),
}
SCENARIO = """
[scenario]
duration = "1 s"
links.radio = { rate = "1 Mbit/s" }
[[scenario.flows]]
path = ["radio"]
"""
ARRIVALS = 'arrivals = { rate = 1, size = "1 kB" }\n'


def in_the_scenario(path: str, value: str) -> str:
    if path == "flows[0].arrivals.size":
        return SCENARIO + f"arrivals = {{ rate = 1, size = {value} }}\n"
    if path == "links.radio":
        return SCENARIO.replace('{ rate = "1 Mbit/s" }', value)
    return SCENARIO.replace('"1 Mbit/s" }', f'"1 Mbit/s", {path.rpartition(".")[2]} = {value} }}')


def of_the_reverse(path: str, value: str) -> str:
    if not path.startswith("links."):
        return in_the_scenario(path, value)
    own = value if path == "links.radio" else f"{{ {path.rpartition('.')[2]} = {value} }}"
    return SCENARIO.replace('"1 Mbit/s" }', f'"1 Mbit/s", reverse = {own} }}')


def assigned(template: str) -> Callable[[str, str], str]:
    def made(path: str, value: str) -> str:
        base = SCENARIO + (ARRIVALS if "arrivals" in path else "")
        return template.replace("PATH", path).replace("VALUE", value).replace("BASE", base)

    return made


# Where a study can write it.
PLACES: dict[str, Callable[[str, str], str]] = {
    "scenario": in_the_scenario,
    "reverse": of_the_reverse,
    "sweep": assigned('BASE\n[sweep]\n"PATH" = [VALUE]\n'),
    "zip": assigned('BASE\n[[sweep]]\nzip = { "PATH" = [VALUE] }\n'),
    "cases": assigned('BASE\n[[sweep]]\ncases = [{ "PATH" = VALUE }]\n'),
    "arm": assigned('BASE\n[arms]\na = { "PATH" = VALUE }\n'),
    "short": assigned('BASE\n[short]\n"PATH" = VALUE\n'),
}


def study(way: str, place: str, name: str) -> str:
    path, value, _ = WAYS[way]
    value = value.replace("FILE", name)
    if path is None:
        return f"[draws]\nx = {value}\n{SCENARIO}"
    if way == "analysis":
        return f'analysis = "{value}"\n{SCENARIO}'
    if not path:
        return f"references = [{value}]\n{SCENARIO}"
    return PLACES[place](path, value)


CASES = [(way, place) for way, (path, *_) in WAYS.items() for place in PLACES if path or place == "scenario"]


@contextmanager
def opened() -> Iterator[list[str]]:
    """What is opened meanwhile, or asked about."""
    names: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | Path):
            names.append(str(arguments[0]))

    sys.addaudithook(hook)
    try:
        yield names
    finally:
        watching = False


def test_all_keys_that_name_files_are_tried() -> None:
    of_the_scenario = {row["name"] for row in _core.registry()["key"] if row["kind"] == "name of a file"}
    of_draws = {
        f"draws.{name}.{key.name}"
        for name, draw in keys.DRAWS.items()
        for key in (*draw.needed, *draw.optional)
        if key.kind == "name of a file"
    }
    of_references = {f"references.{key.name}" for key in reference_files.KEYS if key.kind == "name of a file"}
    of_the_study = {key.name for key in keys.STUDY if key.kind == "name of a file"}
    elsewhere = [key.name for key in keys.STUDY if "file" in key.kind and key.kind != "name of a file"]
    assert of_the_scenario | of_draws | of_references | of_the_study == set(WAYS) and not elsewhere


@pytest.mark.parametrize(("way", "place"), CASES)
@pytest.mark.parametrize("form", ["relative", "absolute", "above", "link"])
def test_a_study_without_files_opens_none_however_it_names_it(way: str, place: str, form: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(WAYS[way][2])
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.txt").symlink_to(secret)
    (home / "near.txt").write_text(WAYS[way][2])
    name = {"relative": "near.txt", "absolute": str(secret), "above": "../secret.txt", "link": "link.txt"}[form]
    text = study(way, place, name)
    short = place == "short"
    with opened() as names:
        make_plan(Study.parse(text, home / "s.toml", short=short))
    assert any(each.endswith((".txt",)) for each in names), "where it may, it reads the file"
    with opened() as names, pytest.raises(StudyError) as caught:
        make_plan(Study.parse(text, home / "s.toml", short=short, files=False))
    assert not [each for each in names if each.endswith(".txt")]
    assert caught.value.message == f"this study names the file `{name}`, and may name none"
    assert caught.value.place is not None and name in caught.value.place.text
    assert "--no-files" in str(caught.value.hint)


def test_the_error_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(study("links.NAME.trace.file", "scenario", "/etc/hostname"))
    for command in (["run", "--out", str(tmp_path / "out")], ["plan"], ["simulate"], ["trace", "--out", str(tmp_path / "out")]):
        ran = CliRunner().invoke(app, [command[0], str(path), *command[1:], "--no-files"])
        assert isinstance(ran.exception, StudyError), command
        assert str(ran.exception) == (
            "error: this study names the file `/etc/hostname`, and may name none\n"
            f" --> {path}:4:34\n"
            "  |\n"
            '4 | links.radio = { trace = { file = "/etc/hostname" } }\n'
            "  |                                  ^^^^^^^^^^^^^^^\n"
            "hint: write into the study what the file holds; or leave out `--no-files` (`files=False`), if you trust it with every file that you can read"
        )
        assert not (tmp_path / "out").exists()


def test_every_command_that_takes_a_study_can_refuse_its_files(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(study("links.NAME.changes.file", "scenario", "near.csv"))
    ran = CliRunner().invoke(app, ["gallery", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--no-files"])
    assert isinstance(ran.exception, StudyError)
    for command in ("run", "plan", "simulate", "trace", "gallery"):
        helped = CliRunner(env={"COLUMNS": "200"}).invoke(app, [command, "--help"])
        assert "--no-files" in helped.output, command
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        if "STUDY" in CliRunner(env={"COLUMNS": "200"}).invoke(app, [name, "--help"]).output.split("Options")[0].split("\n")[1]:
            assert name in ("run", "plan", "simulate", "trace", "gallery"), name


def test_an_option_of_the_command_line_names_no_file_either(tmp_path: Path) -> None:
    text = study("links.NAME.trace.file", "scenario", "near.txt").replace('{ trace = { file = "near.txt" } }', '{ rate = "1 Mbit/s" }')
    given = ['links.radio.changes={ file = "/etc/hostname" }']
    with pytest.raises(StudyError, match="may name none"):
        make_plan(Study.parse(text, tmp_path / "s.toml", options=given, files=False))


def test_python_can_refuse_files_too(tmp_path: Path) -> None:
    text = study("links.NAME.changes.file", "scenario", "/etc/hostname")
    (tmp_path / "s.toml").write_text(text)
    tree = {
        "duration": "1 s",
        "links": {"l": {"rate": "1 Mbit/s", "changes": {"file": "/etc/hostname"}}},
        "flows": [{"path": ["l"]}],
    }
    for scenario in (tree, text, tmp_path / "s.toml"):
        with pytest.raises(StudyError, match="may name none"):
            sawtooth.simulate(scenario, files=False)
    with pytest.raises(StudyError, match="may name none"):
        sawtooth.run(tmp_path / "s.toml", tmp_path / "out", files=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["5", '""', '"a\\u0000b"', "[]", "true"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_name_of_a_file_is_told(way: str, name: str, tmp_path: Path) -> None:
    text = study(way, "scenario", "FILE").replace('"FILE"', name)
    with pytest.raises(StudyError, match=r"`(file|analysis)` must be the name of a file") as caught:
        make_plan(Study.parse(text, tmp_path / "s.toml"))
    assert caught.value.place is not None
