"""What Python raises speaks of arguments, not of options of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sawtooth
from sawtooth.spoken import of_arguments

ONE = 'scenario = { duration = "1 s", links = { l = { rate = "10 Mbit/s", delay = "20 ms" } }, flows = [{ path = ["l"] }] }'


@pytest.fixture
def dataset(once: Callable[[str, Callable[[Path], None]], Path]) -> sawtooth.Dataset:
    def fill(made: Path) -> None:
        sawtooth.run(ONE, made)

    return sawtooth.Dataset(once("python-words", fill))


def test_a_directory_that_cannot_be_used_names_the_argument(tmp_path: Path) -> None:
    (tmp_path / "theirs").touch()
    with pytest.raises(sawtooth.DatasetError) as raised:
        sawtooth.run(ONE, tmp_path)
    assert str(raised.value) == f"error: {tmp_path} is not empty and is no results directory\nhint: name another directory with `out`"
    with pytest.raises(sawtooth.DatasetError) as raised:
        sawtooth.Dataset.open(tmp_path)
    assert str(raised.value) == f"error: {tmp_path} is no results directory\nhint: `sawtooth.run(study, out)` makes one"


def test_options_are_called_so(tmp_path: Path) -> None:
    with pytest.raises(sawtooth.StudyError) as raised:
        sawtooth.run(ONE, tmp_path / "out", options=["figures=3"])
    assert str(raised.value) == (
        "error: `figures` is of the study, not of the scenario\n --> options:1:1\n  |\n1 | figures=3\n  | ^^^^^^^\n"
        "hint: `options` changes values of the scenario, and repeat, seed, backend and limits; for all else change the file"
    )
    (told,) = sawtooth.lint(ONE, options=["figures=3"])
    assert (str(told.place), told.hint) == ("options:1:1", raised.value.hint)


def test_a_comparison_names_arguments(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("cell,goodput_bps,other_bps\n1,2,3\n")
    wrong: list[dict[str, object]] = [
        {"value": "goodput_bps", "sd": "other_bps"}, {"factors": {"dela": "cell"}}, {"metric": "goodput_bps", "value": "nothing"},
        {"metric": ["goodput_bps", "jain"]}, {"metric": "completion_ns", "value": "other_bps"}, {"sd": "x"}, {"n": 3},
    ]  # fmt: skip
    for arguments in wrong:
        with pytest.raises(sawtooth.SawtoothError) as raised:
            dataset.compare(tmp_path / "t.csv", **arguments)  # type: ignore[arg-type]
        assert "--" not in str(raised.value), arguments


@pytest.mark.parametrize(
    ("said", "here"),
    [
        ("name another directory with --out, or remove this one", "name another directory with `out`, or remove this one"),
        ("options (`--set`) were none", "options were none"),
        ("(--short, or a file that it names has changed)", "(`short`, or a file that it names has changed)"),
        ("--metric COLUMN names it, such as completion_ns", "`metric` names it, such as completion_ns"),
        ("use `--backend uml`", 'use `options=["backend=uml"]`'),
        ("say of how many by `n` (`--n`): a number", "say of how many by `n`: a number"),
        ("`keys`, or `--factor NAME=COLUMN`, says which is which", "`keys`, or `factors`, says which is which"),
        ("--factor item=COLUMN does", '`factors={"item": "COLUMN"}` does'),
        ("or leave out `--no-files` (`files=False`), if you trust it", "or leave out `files=False`, if you trust it"),
        (
            "raise the limit: memory = 3 under [limits], or --set limits.memory=3",
            'raise the limit: memory = 3 under [limits], or `options=["limits.memory=3"]`',
        ),
        ("`N` is [1] here, from --set:1:8", "`N` is [1] here, from `options`:1:8"),
        ("`sawtooth doctor --clean` removes them", "`sawtooth doctor --clean` removes them"),
    ],
)
def test_options_are_said_as_arguments_and_commands_as_they_are(said: str, here: str) -> None:
    assert of_arguments(said) == here


def test_no_hint_that_python_can_raise_is_left_with_an_option() -> None:
    modules = Path(sawtooth.__file__).parent
    places = [
        *modules.glob("report/compare*.py"),
        *modules.glob("results/*.py"),
        *modules.glob("study/*.py"),
        modules / "reference_files.py",
    ]
    texts = [text for path in places for text in re.findall(r'"([^"\n]*--[a-z][^"\n]*)"', path.read_text())]
    assert len(texts) > 15
    assert not [text for text in texts if re.search(r"(?<!-)--[a-z]", re.sub(r"`sawtooth [^`]*`", "", of_arguments(text)))]
