"""Rules about what befalls packets of a link: outages, changes and losses that do not do what they say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

from sawtooth.linting.each import of_setups, time
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Setup
from sawtooth.study.assign import Tree


def _sides(setup: Setup) -> Iterator[tuple[Tree, str]]:
    """The tables of links and of their other directions, with their paths."""
    for name, link in cast(Tree, setup.tree["links"]).items():
        yield link, f"links.{name}"
        if isinstance(link.get("reverse"), dict):
            yield link["reverse"], f"links.{name}.reverse"


def _seconds(setup: Setup, value: Any) -> float | None:
    found = setup.quantity(value)
    return found.value if found else None


def _outages(setup: Setup, side: Tree) -> list[tuple[int, float, float, Tree]]:
    """The outages of which it is known when they are: number, from, until, table."""
    found: list[tuple[int, float, float, Tree]] = []
    for at, each in enumerate(cast("list[Tree]", side.get("outages", []))):
        begin, end = _seconds(setup, each.get("from")), _seconds(setup, each.get("until"))
        if begin is not None and end is not None:
            found.append((at, begin, end, each))
    return found


def _late(setup: Setup) -> Iterator[Hit]:
    end = setup.duration_s
    for side, path in _sides(setup):
        for at, begin, _, _ in _outages(setup, side):
            if begin >= end:
                yield Hit(f"the run ends after {time(end)}, and this outage begins at {time(begin)}", f"{path}.outages[{at}].from", setup)
        changes = side.get("changes")
        rows = cast("list[Tree]", changes.get("rows", []) if isinstance(changes, dict) else changes or [])
        first = _seconds(setup, rows[0].get("at")) if rows else None
        if first is not None and first >= end:
            yield Hit(f"the run ends after {time(end)}, and the first change is at {time(first)}", f"{path}.changes", setup)


def _overlapping(setup: Setup) -> Iterator[Hit]:
    for side, path in _sides(setup):
        # One that comes again may meet another at any time; that is not looked for.
        once = sorted((begin, end, at) for at, begin, end, each in _outages(setup, side) if "every" not in each)
        for (since, until, _), (begin, _, at) in pairwise(once):
            if begin < until:
                yield Hit(
                    f"the link is down already: another outage lasts from {time(since)} to {time(until)}",
                    f"{path}.outages[{at}]",
                    setup,
                )


def _again(setup: Setup) -> Iterator[Hit]:
    for side, path in _sides(setup):
        drops = side.get("drop")
        numbers = [found.value for each in cast("list[Any]", drops) if (found := setup.quantity(each))] if isinstance(drops, list) else []
        repeated = next((number for at, number in enumerate(numbers) if number in numbers[:at]), None)
        if repeated is not None:
            yield Hit(f"packet {repeated:.0f} is dropped twice, which is once", f"{path}.drop", setup)
        elif numbers != sorted(numbers):
            yield Hit("the packets that are dropped are not in their order", f"{path}.drop", setup)


def _nothing_left(setup: Setup) -> Iterator[Hit]:
    for side, path in _sides(setup):
        loss = side.get("loss")
        found = None if isinstance(loss, dict) else setup.quantity(loss)
        if found is not None and found.value >= 1:
            yield Hit("every packet is lost: nothing ever arrives", f"{path}.loss", setup)


RULES = (
    Rule(
        "SW310", "after-the-end", "warning", "an outage, or changes of a link, that begin when the run is over",
        "No run has them, and the study says that it does.",
        "Make the run longer, or what is to happen earlier.",
        check=of_setups(_late),
    ),
    Rule(
        "SW311", "overlapping-outages", "warning", "outages of a link that overlap",
        "A link that is down cannot go down: the later one begins unseen, and where packets of one wait and of the other are lost, which it is is hard to say.",
        "Write them one after the other, or as one.",
        check=of_setups(_overlapping),
    ),
    Rule(
        "SW312", "disordered-drops", "warning", "numbers of packets to drop that are there twice, or in no order",
        "A packet is lost once. A number that is there twice is mostly a slip of another.",
        "Write each number once, in ascending order.",
        check=of_setups(_again),
    ),
    Rule(
        "SW313", "all-lost", "warning", "a link that loses every packet",
        "No connection opens, and a loss of 1 is mostly meant as one percent.",
        "Write one percent as `0.01`; for a link that is down for some time use `outages`.",
        check=of_setups(_nothing_left),
    ),
)  # fmt: skip
