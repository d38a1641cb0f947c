"""What the files of rules share: rules of one setup or one flow as rules of a study, and numbers as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sawtooth.linting.rule import Hit
from sawtooth.linting.setup import Flow, Setup, Subject


def of_setups(check: Callable[[Setup], Iterable[Hit]]) -> Callable[[Subject], Iterator[Hit]]:
    """A rule that looks at the scenario of a cell and arm."""

    def of_all(subject: Subject) -> Iterator[Hit]:
        for setup in subject.setups:
            yield from check(setup)

    return of_all


def of_flows(check: Callable[[Flow], Hit | None]) -> Callable[[Subject], Iterator[Hit]]:
    """A rule that looks at a flow; of those that are declared together the first that breaks it is told."""

    def of_setup(setup: Setup) -> Iterator[Hit]:
        told: set[str] = set()
        for flow in setup.flows:
            if flow.at not in told and (hit := check(flow)):
                told.add(flow.at)
                yield hit

    return of_setups(of_setup)


def rate(bps: float) -> str:
    """A rate with three digits: 297 Mbit/s."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= factor:
            return f"{bps / factor:.3g} {unit}"
    return f"{bps:.3g} bit/s"


def time(seconds: float) -> str:
    """A time with three digits: 20 ms."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return (
                f"{seconds / factor:.3g} {unit}"
                if seconds < 1000
                else f"{seconds:.0f} s"
                if seconds < 1e6
                else f"{seconds:.2e} s".replace("e+0", "e")
            )
    return f"{seconds / 1e-9:.3g} ns"


def size(number: float) -> str:
    """Bytes with three digits: 3.15 MB."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number:.0f} B"
