"""What `sawtooth` alone says: what to do next in this folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sawtooth
from sawtooth.cli.next import advice
from tests.conftest import STUDY


def test_an_empty_folder_is_shown_where_to_begin(tmp_path: Path) -> None:
    lines = advice(tmp_path)
    assert lines[0].startswith("  sawtooth run hstcp --short")
    assert lines[-1].startswith("  sawtooth serve")


def test_studies_and_results_have_their_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "pair.toml").write_text(STUDY)
    assert advice(tmp_path)[0].startswith("  sawtooth plan studies/pair.toml  then run: ")
    sawtooth.run(tmp_path / "studies" / "pair.toml", tmp_path / "results" / "pair")
    assert advice(tmp_path)[0].startswith("  sawtooth report results/pair")
    for part in (tmp_path / "results" / "pair" / "parts").iterdir():
        part.unlink()
    monkeypatch.chdir(tmp_path)
    assert advice(Path())[0].startswith("  sawtooth run studies/pair.toml --out results/pair  goes on: 0 of ")
    (tmp_path / "studies" / "broken.toml").write_text("[scenario")
    assert advice(tmp_path)[0].startswith("  sawtooth lint studies/broken.toml")


def test_the_command_alone_says_so(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "sawtooth.cli"], cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.startswith("What to do next here:\n  sawtooth run hstcp --short")
    assert "sawtooth --help" in done.stdout
