"""What `sawtooth conform` prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True)
class Which:
    """Which endpoint.

    Args:
        backend: one of `_BACKENDS`.
        stack: the simulated endpoint's.
        hz: its ticks a second, if not those of the stack.
        image: the kernel of a guest, if not the packaged one.

    """

    backend: str = "sim"
    stack: str = "linux"
    hz: int | None = None
    image: str = ""


def show(paths: Sequence[Path], which: Which, tolerance: float, given: Sequence[str], *, as_json: bool) -> int:
    """Runs scripts and prints what has become of each; the exit code."""
    outcomes = run(paths, which, tolerance, _defined(given))
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


def _defined(given: Sequence[str]) -> dict[str, str]:
    wrong = [each for each in given if "=" not in each]
    if wrong:
        raise PlainError(f"`--define {wrong[0]}` has no value", f"write --define {wrong[0]}=VALUE")
    return {name: value for name, _, value in (each.partition("=") for each in given)}


def run(paths: Sequence[Path], which: Which, tolerance: float, defined: Mapping[str, str]) -> list[told.Told]:
    """What has become of each script."""
    if which.image and which.backend != "uml":
        raise PlainError(f"`--backend {which.backend}` has no kernel of an image", "use `--backend uml`")
    if which.hz is not None and which.backend != "sim":
        raise PlainError(
            f"`--backend {which.backend}` has ticks of its own", "use `--backend uml` with an image of other ticks: --image 6.1-hz1000"
        )
    if which.backend == "uml":
        from sawtooth.conformance import in_guest

        _, outcomes = in_guest.run(_scripts(paths), tolerance, which.image, defined)
        return outcomes
    make = _maker(which)
    return [told.of_path(path, make, tolerance, defined) for path in _scripts(paths)]


def _maker(which: Which) -> Callable[[Script], Endpoint]:
    backend, stack = which.backend, which.stack
    if backend == "sim":
        from sawtooth.conformance.simulated import SimulatedEndpoint

        names = [row["name"] for row in _core.registry()["stack"]]
        if stack not in names:
            raise PlainError(f"there is no stack `{stack}`", did_you_mean(stack, names) or f"they are {', '.join(names)}")
        return lambda script: SimulatedEndpoint(script, stack, which.hz)
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
