"""A stretch: one process that tries inputs of one kind for a time, with bounded memory, and whoever watches it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

from tests.fuzz import attempt
from tests.fuzz.kinds import Kind
from tests.fuzz.tally import Failure, Tally

GIBIBYTES = 3
"""Of address space, beyond what the process has when it begins."""
_ENDING = 60.0
"""Seconds that a stretch may take beyond its time: to start, to make what it damages, to make smaller what failed."""
# Processes stand side by side, and each tries one input at a time.
_ENVIRONMENT = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


# --- the process --------------------------------------------------------------------------------------------------------


def stretch(kind: Kind, seed: int, seconds: float, work: Path) -> int:
    """Tries inputs, and leaves what came of them in `work`."""
    bound_memory()
    # Nobody may be there any more to end what hangs.
    limit = int(seconds + 2 * _ENDING)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    found = asdict(kind.fuzz(seed, seconds, work))
    (work / "tally.json").write_text(json.dumps(found, default=str))
    return 0


def bound_memory() -> None:
    """An input that takes memory without end ends its process, not the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + GIBIBYTES * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# --- who watches it -----------------------------------------------------------------------------------------------------


def watched(name: str, seed: int, seconds: float, work: Path, patience: float, stop: threading.Event) -> Tally:
    """A stretch in a process of its own, and what it left when it died, hung or was stopped."""
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", str(seconds), "--stretch", name, str(seed), str(work)]
    told = work / "told.txt"
    with told.open("wb") as output:
        # In a session of its own: it is ended with all that it has started, and from here alone, also when somebody presses Ctrl-C.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, **_ENVIRONMENT},
        )  # fmt: skip
    hung = False
    watch = _Watch(process.pid, work, patience, seconds)
    while (ended := _ended(process)) is None:
        hung = hung or watch.hung()
        if hung or stop.wait(0.1):
            _end(process)
    code, usage = ended
    tally = _left(name, work, code, hung, patience, stopped=stop.is_set())
    tally.memory = 1024 * usage.ru_maxrss
    return tally


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, resource.struct_rusage] | None:
    """Its exit code and what it has used."""
    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        return None
    # What it has started goes with it, while its number is still its own.
    _end(process)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class _Watch:
    """Whether a process is still with the input that it was with some time ago.

    On a busy machine an input may take long and do little: what counts is the time that it had a processor, or that it did not want one.
    """

    def __init__(self, session: int, work: Path, patience: float, seconds: float) -> None:
        self._session, self._work, self._patience = session, work, patience
        self._seen, self._since = -1, time.monotonic()
        self._overdue: tuple[float, float] | None = None
        # A kind that does not say what it tries has to end in time.
        self._deadline = self._since + seconds + max(10 * patience, 10 * _ENDING)

    def hung(self) -> bool:
        now, seen = time.monotonic(), attempt.read(self._work)
        if seen is None or seen[0] != self._seen or not seen[2]:
            self._seen, self._since, self._overdue = seen[0] if seen else -1, now, None
        if now > self._deadline:
            return True
        if now - self._since <= self._patience:
            return False
        used = _processor_seconds(self._session)
        self._overdue = self._overdue or (now, used)
        since, before = self._overdue
        return used - before > self._patience or (now - since > self._patience and used - before < (now - since) / 100)


def _processor_seconds(session: int) -> float:
    """Of all processes of a session that live."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            if int(words[3]) == session:
                ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _left(name: str, work: Path, code: int, hung: bool, patience: float, stopped: bool) -> Tally:
    if code == 0 and (work / "tally.json").exists():
        found = json.loads((work / "tally.json").read_text())
        failures = [Failure(each["kind"], each["what"], Path(each["saved"])) for each in found["failures"]]
        return Tally(**{**found, "failures": failures})
    inputs, reached, data = attempt.read(work) or (0, 0, b"")
    failures = attempt.leavings(name, work)
    if stopped and not hung:
        return Tally(inputs - bool(data), reached, failures=failures)
    saved = work / "fatal"
    saved.write_bytes(data)
    tail = (work / "told.txt").read_text(errors="replace")[-4000:]
    if hung:
        what = f"an input took more than {patience:g} s of a processor, or waited for as long"
    elif code < 0:
        what = f"killed by {signal.Signals(-code).name}{_reason(tail)}"
    else:
        what = f"exit code {code}{_reason(tail)}"
    return Tally(inputs, reached, failures=[*failures, Failure(name, f"{what}\n{tail}", saved)])


def _reason(tail: str) -> str:
    """Of what a process said last, what tells its end from others: how it ended, and where in the core."""
    lines = [line.strip() for line in tail.splitlines() if line.strip() and not line.lstrip().startswith("note:")]
    ends = [line for line in lines if "memory allocation of" in line or "panicked at" in line]
    frames = [line.partition(": ")[2] for line in lines if re.match(r"\d+: .*sawtooth_core::", line)]
    said = [*(ends or lines)[-1:], *frames[:2]]
    return f": {' in '.join(said)[:200]}" if said else ""
