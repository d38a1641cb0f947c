"""What `sawtooth conform` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from sawtooth import _core
from sawtooth.cli.output import print_json
from sawtooth.conformance import told
from sawtooth.conformance.endpoint import Endpoint
from sawtooth.conformance.running import FAILED, NOT_APPLICABLE, PASSED
from sawtooth.conformance.script import Script
from sawtooth.errors import PlainError
from sawtooth.hints import did_you_mean

_VERDICTS = (PASSED, FAILED, NOT_APPLICABLE, told.INVALID)
_BACKENDS = ("sim", "uml", "netns")


def show(paths: Sequence[Path], backend: str, stack: str, image: str, tolerance: float, *, as_json: bool) -> int:
    """Runs scripts and prints what has become of each; the exit code."""
    outcomes = _outcomes(paths, backend, stack, image, tolerance)
    if as_json:
        print_json([asdict(each) for each in outcomes])
    else:
        for each in outcomes:
            print(each)
        counts = {verdict: sum(each.verdict == verdict for each in outcomes) for verdict in _VERDICTS}
        print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
    if any(each.verdict == told.INVALID for each in outcomes):
        return 2
    return 1 if any(each.verdict == FAILED for each in outcomes) else 0


def _outcomes(paths: Sequence[Path], backend: str, stack: str, image: str, tolerance: float) -> list[told.Told]:
    if image and backend != "uml":
        raise PlainError(f"`--backend {backend}` has no kernel of an image", "use `--backend uml`")
    if backend == "uml":
        from sawtooth.conformance import in_guest

        return in_guest.run(_scripts(paths), tolerance, image)
    make = _maker(backend, stack)
    return [told.of_path(path, make, tolerance) for path in _scripts(paths)]


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
    raise PlainError(f"scripts cannot be run with `--backend {backend}`", f"use {', '.join(_BACKENDS[:-1])} or {_BACKENDS[-1]}")


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
