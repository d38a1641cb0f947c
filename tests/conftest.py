"""Fixtures shared by all tests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app

ROOT = Path(__file__).resolve().parents[1]

PATIENCE = 60_000
"""Milliseconds that a page has on a machine that does other things, too."""

STUDY = """\
name = "pair"
question = "Who gets more?"
repeat = 2
seed = 7

[vars]
Tp = "20 ms"
N = 2

[draws]
S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms" }

[scenario]
duration = "3 s"
stack = "ns2"
links.bottleneck = { rate = "1 Mbit/s", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }

[[scenario.flows]]
path = ["bottleneck"]
count = "N"
start = "S / N * i"
cc = { name = "reno" }

[sweep]
"vars.Tp" = ["10 ms", "40 ms"]
"vars.N" = [1, 2]

[arms]
newreno = { "tcp.recovery" = "newreno" }
sack = { "tcp.recovery" = "sack" }

[short]
repeat = 1
"vars.N" = [2]
"scenario.duration" = "1 s"
"""


def parts(directory: Path) -> dict[str, str]:
    """The files of results that have records, each with a hash of its bytes."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (directory / "parts").iterdir()}


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """A directory that whoever asks for it first fills, for all tests of all processes (xdist's workers); nobody writes into it afterwards."""
    mine = tmp_path_factory.getbasetemp()
    everybodys = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "once"
    everybodys.mkdir(exist_ok=True)

    def directory(name: str, fill: Callable[[Path], None]) -> Path:
        made, full = everybodys / name, everybodys / f"{name}.full"
        with (everybodys / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not full.exists():
                fill(made)
                full.touch()
        return made

    return directory


@pytest.fixture(scope="session")
def short_form(once: Callable[[str, Callable[[Path], None]], Path]) -> Callable[[str], Path]:
    """The results of a study's short form, with its report."""

    def results(study: str) -> Path:
        def fill(out: Path) -> None:
            with pytest.MonkeyPatch.context() as patch:
                # What a study holds its results against comes along, too.
                patch.chdir(out.parent)
                for command in (["run", study, "--short", "--out", str(out)], ["report", str(out)]):
                    done = CliRunner().invoke(app, command)
                    assert done.exit_code == 0, done.output

        return once(f"short-{study.replace('/', '-')}", fill)

    return results


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield made
        made.close()
