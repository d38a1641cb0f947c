"""What `sawtooth conform` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sawtooth import _core
from sawtooth.cli.output import print_json
from sawtooth.conformance.endpoint import Endpoint
from sawtooth.conformance.parse import load
from sawtooth.conformance.running import FAILED, NOT_APPLICABLE, PASSED, Outcome, run
from sawtooth.conformance.script import Script
from sawtooth.errors import PlainError, StudyError
from sawtooth.hints import did_you_mean

_INVALID = "has a mistake"
_VERDICTS = (PASSED, FAILED, NOT_APPLICABLE, _INVALID)
_BACKENDS = ("sim", "netns")


def show(paths: Sequence[Path], backend: str, stack: str, tolerance: float, *, as_json: bool) -> int:
    """Runs scripts and prints what has become of each; the exit code."""
    maker = _maker(backend, stack)
    outcomes = [_outcome(path, maker, tolerance) for path in _scripts(paths)]
    if as_json:
        print_json([_facts(each) for each in outcomes])
    else:
        for each in outcomes:
            print(_told(each))
        counts = {verdict: sum(each.verdict == verdict for each in outcomes) for verdict in _VERDICTS}
        print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
    if any(each.verdict == _INVALID for each in outcomes):
        return 2
    return 1 if any(each.verdict == FAILED for each in outcomes) else 0


def _maker(backend: str, stack: str) -> Callable[[Script], Endpoint]:
    if backend == "sim":
        from sawtooth.conformance.simulated import SimulatedEndpoint

        names = [row["name"] for row in _core.registry()["stack"]]
        if stack not in names:
            raise PlainError(f"there is no stack `{stack}`", did_you_mean(stack, names) or f"they are {', '.join(names)}")
        return lambda script: SimulatedEndpoint(script, stack)
    if backend == "netns":
        from sawtooth.conformance.kernel import KernelEndpoint, require

        require()
        return KernelEndpoint
    raise PlainError(f"scripts cannot be run with `--backend {backend}`", f"use {' or '.join(_BACKENDS)}")


def _scripts(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        within = sorted(path.rglob("*.pkt"))
        if not within:
            raise PlainError(f"{path} has no script", "scripts of a folder end in .pkt")
        found += within
    return found


def _outcome(path: Path, maker: Callable[[Script], Endpoint], tolerance: float) -> Outcome:
    try:
        script = load(path)
    except StudyError as error:
        if error.place is None:
            raise  # There is no such file.
        return Outcome(str(path), _INVALID, str(error))
    return run(script, lambda: maker(script), tolerance)


def _told(outcome: Outcome) -> str:
    if outcome.verdict == _INVALID:
        return f"{outcome.script}: {_INVALID}\n{outcome.reason}"
    reason = f": {outcome.reason}" if outcome.reason else ""
    place = str(outcome.event.place) if outcome.event else outcome.script
    line = f"{place}: {outcome.verdict}{reason}"
    if outcome.verdict != FAILED:
        return line
    return f"{line}\n  expected: {outcome.expected}\n  came:     {outcome.came}"


def _facts(outcome: Outcome) -> dict[str, str | int | None]:
    place = outcome.event.place if outcome.event else None
    return {
        "script": outcome.script,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "expected": outcome.expected,
        "came": outcome.came,
    }
