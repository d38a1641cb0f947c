"""Directories of guests: whose they are is known from their first moment to their last."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sawtooth.backends import processes


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed(before: str, temporary: Path) -> None:
    """A laboratory that is killed as soon as it calls a function that is given by its name, for the directory of a guest."""
    program = f"""
import os, pathlib, signal
from sawtooth.backends import processes
{before} = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
with processes.scratch("uml"):
    processes._remove(pathlib.Path())
"""
    environment = os.environ | {"TMPDIR": str(temporary)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == -9
    assert len(list(temporary.iterdir())) == 1


@pytest.mark.parametrize("before", ["pathlib.Path.write_text", "pathlib.Path.rename", "processes._remove"])
def test_a_directory_whose_laboratory_was_killed_at_any_step_is_found_and_removed(before: str, temporary: Path) -> None:
    killed(before, temporary)
    assert processes.leftovers() == 1
    assert len(processes.clean()) == 1
    assert not list(temporary.iterdir())


def test_a_directory_in_use_and_one_of_somebody_else_are_left_alone(temporary: Path) -> None:
    (temporary / "sawtooth-notes").mkdir()
    with processes.scratch("uml") as used:
        assert used.name.startswith("sawtooth-uml-")
        assert (processes.leftovers(), processes.clean()) == (0, [])
        assert used.is_dir()
    assert [path.name for path in temporary.iterdir()] == ["sawtooth-notes"]


def test_what_cannot_be_removed_still_says_whose_it_was(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed("processes._remove", temporary)
    (left,) = temporary.iterdir()
    (left / "memory").write_text("written by a process that is ending")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        assert processes.clean() == []
    assert (left / "owner").is_file()
    assert len(processes.clean()) == 1
    assert not list(temporary.iterdir())
