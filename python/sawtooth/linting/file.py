"""Rules about the file as a whole: that it can be used at all, what is written in it whatever runs, and what the core says that has no rule of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sawtooth import _core
from sawtooth.hints import did_you_mean
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Subject

_BYTES_PER_SECOND = re.compile(r"(\d+(?:\.\d+)?) ?([kMGT]?i?)B/s")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_KINDS = {"cc": ["cc"], "receiver_cc": ["cc"], "queue": ["queue"], "source": ["source", "packet_source"]}
"""Keys of a scenario that name a row of the registry, and of which kinds."""


def _in_bytes(subject: Subject) -> Iterator[Hit]:
    for path, value in _written(subject):
        if found := _BYTES_PER_SECOND.search(value):
            number, prefix = found[1], found[2]
            yield Hit(
                f"`{found[0]}` are bytes, {float(number) * 8:g} {prefix}bit/s: rates of networks are given in bits",
                path,
                hint=f"write `{number} {prefix}bit/s` if bits are meant, and else `{float(number) * 8:g} {prefix}bit/s`, which says so",
            )


def _written(subject: Subject) -> Iterator[tuple[str, str]]:
    """Texts of the scenario, the sweep and the arms, with their places in the file."""
    study = subject.study
    yield from _texts(study.scenario, "scenario")
    levels = [assignment for block in study.sweep for level in block for assignment in level]
    for each in (*levels, *(assignment for arm in study.arms.values() for assignment in arm)):
        yield from _texts(each.value, each.origin)


def _texts(tree: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield path, tree
    elif isinstance(tree, Mapping):
        for key, value in cast(Mapping[str, Any], tree).items():
            yield from _texts(value, f"{path}.{key}")
    elif isinstance(tree, Sequence):
        for at, value in enumerate(cast(Sequence[Any], tree)):
            yield from _texts(value, f"{path}[{at}]")


def _replaced(subject: Subject) -> Iterator[Hit]:
    """A name that there is not, of which the plan says nothing: so no run has it."""
    registry = _core.registry()
    variables = {*subject.study.scenario.get("vars", {}), *subject.study.draws}
    for path, name in _texts(subject.study.scenario, "scenario"):
        parts = path.removesuffix(".name").split(".")
        kinds = _KINDS.get(parts[-1], [])
        known = [row["name"] for kind in kinds for row in registry[kind]]
        # A queue may be its limit alone, and an algorithm one of a kernel: those are no names of a table.
        if kinds and _NAME.fullmatch(name) and name not in known and name not in variables:
            yield Hit(
                f"there is no `{name}`; every run has another `{parts[-1]}` in its place, so that no run fails",
                path,
                hint=did_you_mean(name, known),
            )


RULES = (
    Rule(
        "SW001", "unusable", "error", "a study that no run could use: a misspelt key, a unit that does not fit, a value outside its range",
        "Nothing runs. Among what is refused so are a Hurst exponent outside [0.5, 1) (the published study of self-similar background says H = 1, "
        "which no stationary traffic has), a load of one or more, and a queue that holds less than a packet.",
        "Follow the hint; `sawtooth list key` shows what a scenario can say.",
    ),
    Rule(
        "SW002", "hardly-meant", "warning", "what can be run and is hardly meant, of a kind that has no rule of its own",
        "The simulator does what the study says, which is not what its author will read into the result.",
        "Follow the hint, or say in `[lint]`, `ignore = { SW002 = \"why\" }` why it is meant.",
    ),
    Rule(
        "SW003", "rate-in-bytes", "warning", "a rate in bytes per second, such as `10 MB/s`",
        "It is eight times the rate of `10 Mbit/s`, which is usually meant: links are sold and published in bits.",
        "Write the rate in bits, `80 Mbit/s`, which nobody misreads.",
        check=_in_bytes,
    ),
    Rule(
        "SW004", "misspelt-and-replaced", "warning", "a name that there is not, shared by flows that each have another one of their own",
        "No run fails, and the study says something that it does not do; the next flow that is added makes the mistake one of its runs.",
        "Write a name that there is, or leave it out.",
        check=_replaced,
    ),
)  # fmt: skip
