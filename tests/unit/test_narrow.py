"""Terminals of few columns: what is printed stays in words, and nothing is drawn in place that the terminal folds."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import streams
from sawtooth.cli import app
from sawtooth.progress import LineReporter, TerminalReporter, reporter_for


@pytest.mark.parametrize("columns", ["1", "5", "20"])
def test_tables_and_sentences_keep_their_words(columns: str) -> None:
    for command in (["plan", "hstcp"], ["list", "cc"]):
        asked = CliRunner(env={"COLUMNS": columns}).invoke(app, command)
        assert asked.exit_code == 0
        assert asked.output == CliRunner(env={"COLUMNS": "40"}).invoke(app, command).output


@pytest.mark.parametrize(("columns", "kind"), [("39", LineReporter), ("40", TerminalReporter)])
def test_a_bar_is_for_terminals_that_do_not_fold_it(columns: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    console = streams.Console(file=io.StringIO(), force_terminal=True)
    assert isinstance(reporter_for(console), kind)
    assert console.width == 40


def test_a_width_that_is_set_is_kept(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        console = streams.Console(file=file, width=1000)
        assert console.width == 1000 and not console.redraws
