"""Valid scenarios of everything that the tables name: what must hold of every run holds.

They are made, run and judged in Rust (`crates/sawtooth-core/tests/fuzz`), by a program that is built once. Of each, two runs have to agree: the same again, or
one without some of the simulator's shortcuts. What fails is saved as JSON, as small as it goes.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.fuzz.tally import Failure, Tally

NAME = "scenario"
SUMMARY = (
    "a valid scenario of anything that the tables name is run: packets are conserved, no link is faster than it is, shares add up, times ascend, quantiles are in order, and a "
    "second run, the same again or without some of the simulator's shortcuts, has the same records. Reached: the simulator, twice."
)
WEIGHT = 4.0

_ROOT = Path(__file__).resolve().parents[3]

_BUILT = "SAWTOOTH_FUZZ_PROGRAM"
"""Names the program in the environment of the processes that try scenarios."""


def prepare() -> None:
    """Builds the program, before the time runs."""
    os.environ[_BUILT] = str(_program())


def fuzz(seed: int, seconds: float, work: Path) -> Tally:
    """Tries scenarios for `seconds`."""
    told = _run("valid_scenarios_break_no_rule", work, FUZZ_SEED=str(seed), FUZZ_SECONDS=str(seconds), FUZZ_OUT=str(work))
    line = next(line for line in told.splitlines() if line.startswith("fuzz: "))
    counts: dict[str, Any] = json.loads(line.removeprefix("fuzz: "))
    failures = [Failure(NAME, failure["what"], Path(failure["saved"])) for failure in counts["failures"]]
    return Tally(counts["inputs"], counts["reached"], counts["slowest_seconds"], failures)


def replay(saved: Path, work: Path) -> None:
    """Tries one scenario, with each of the shortcuts left out."""
    _run("the_saved_scenario_breaks_no_rule", work, FUZZ_REPLAY=str(saved.resolve()))


def _run(test: str, work: Path, **asked: str) -> str:
    """What a test of the program tells; raises if it fails."""
    environment = {**os.environ, **{f"SAWTOOTH_{key}": value for key, value in asked.items()}}
    done = subprocess.run(
        [_program(), "--exact", test, "--nocapture"], env=environment, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    told = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise AssertionError(f"{test}: exit code {done.returncode}\n{told}\n{done.stderr.decode(errors='replace')}")
    return told


@functools.cache
def _program() -> Path:
    """The tests that make scenarios, built as `cargo test` builds them."""
    if built := os.environ.get(_BUILT):
        return Path(built)
    command = ["cargo", "test", "--locked", "-p", "sawtooth-core", "--test", "fuzz", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=_ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace"))
    messages = (json.loads(line) for line in done.stdout.splitlines())
    programs = [message["executable"] for message in messages if message.get("executable") and message["target"]["name"] == "fuzz"]
    return Path(programs[-1])
