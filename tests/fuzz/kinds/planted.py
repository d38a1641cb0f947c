"""What the runner has to notice, planted: a kind for its own tests, which is there when `PLANTED` names a directory.

The seed says what a stretch does: nothing wrong, a failure, a crash, no end, memory without end, or inputs for as long as nobody stops it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.fuzz.attempt import Attempts
from tests.fuzz.tally import Tally

PLANTED = "SAWTOOTH_FUZZ_PLANTED"

NAME = "planted"
SUMMARY = "faults of the runner's tests"
WEIGHT = 1.0

DEEDS = ("nothing", "failure", "crash", "no end", "memory", "busy")


def fuzz(seed: int, seconds: float, work: Path) -> Tally:
    """Tries one input, or as many as there is time for."""
    deed = DEEDS[seed % len(DEEDS)]
    with Attempts(NAME, work) as attempts:
        while True:
            attempts.begin(deed.encode())
            if deed == "failure":
                attempts.fail("it is wrong", deed.encode())
                return attempts.tally()
            _do(deed)
            attempts.end(reached=True)
            if deed != "busy" or attempts.seconds > seconds:
                return attempts.tally()
            if attempts.inputs == 100:
                told = Path(os.environ[PLANTED], "busy.new")
                told.write_text(str(os.getpid()))
                told.rename(told.with_name("busy"))


def replay(saved: Path, work: Path) -> None:  # noqa: ARG001
    """Does it once more."""
    _do(saved.read_text())


def _do(deed: str) -> None:
    match deed:
        case "failure":
            raise AssertionError("it is wrong")
        case "crash":
            os.abort()
        case "no end":
            while True:
                time.sleep(1)
        case "memory":
            taken: list[bytes] = []
            while True:
                taken.append(bytes(2**24))
        case _:
            time.sleep(0.001)
