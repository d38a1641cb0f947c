"""Rules about statistics: what a study can tell from chance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Flow, Link, Setup, Subject, named

DETECTABLE = {2: 11.5, 3: 3.26, 4: 2.13}
"""By replicates: the difference of pairs, in their standard deviations, that a t test at 5 % finds in 80 % of studies. A test computes them."""

_STEADY_CC = ("reno", "cubic", "highspeed", "scalable", "bic", "htcp", "vegas", "veno", "westwood", "yeah", "hybla", "illinois")
_STEADY_LINK = {
    "rate", "delay", "queue", "loss", "drop", "mtu", "medium", "forwarding", "keep_order", "outages", "changes", "trace", "count", "reverse",
}  # fmt: skip

_TIMED = {"outages", "changes", "trace"}
"""What a link does at moments of its own: a flow that starts later meets something else."""


def _once(subject: Subject) -> Iterator[Hit]:
    for origin, number in subject.study.repeat_origins.items():
        if number == 1:
            yield Hit("each cell is run once: no interval, no test, and no way to tell a difference from chance", origin)


def _copies(subject: Subject) -> Iterator[Hit]:
    study = subject.study
    if study.planned < 2 or study.draws or study.on_kernels:
        return
    steady = [setup for setup in subject.setups if all(map(_steady_flow, setup.flows)) and all(_steady_link(link) for link in setup.links)]
    if steady and len(steady) == len(subject.setups):
        for origin, number in study.repeat_origins.items():
            if number > 1:
                yield Hit(f"nothing in a run is random: its {number} replicates will be copies of each other", origin)


def _shifted(subject: Subject) -> Iterator[Hit]:
    """One flow alone, of which only the start is drawn: all replicates are one run, begun at other moments."""
    study = subject.study
    if study.planned < 2 or not study.draws or study.on_kernels or not subject.setups:
        return
    if all(map(_only_start, subject.setups)):
        names = ", ".join(f"`{name}`" for name in study.draws)
        for origin, number in study.repeat_origins.items():
            if number > 1:
                yield Hit(
                    f"only the start of a flow that is alone is drawn ({names}): its {number} replicates are one run, begun at other moments",
                    origin,
                )


def _only_start(setup: Setup) -> bool:
    """Whether all that is drawn is when the only flow starts, on a path that is the same at any time."""
    if len(setup.flows) != 1 or not _steady_flow(setup.flows[0]):
        return False
    if not all(_steady_link(link) and not _TIMED & {*link.tree, *link.tree.get("reverse", {})} for link in setup.links):
        return False
    declared: dict[str, Any] = setup.tree.get("vars", {})
    drawn = {*setup.study.draws}
    while more := {name for name, value in declared.items() if name not in drawn and _names(value) & drawn}:
        drawn |= more
    (flow,) = cast(list[dict[str, Any]], setup.tree["flows"])
    rest: dict[str, Any] = {**setup.tree, "vars": {}, "flows": [{key: value for key, value in flow.items() if key != "start"}]}
    return bool(_names(flow.get("start", "")) & drawn) and not _names(rest) & drawn


def _names(value: Any) -> set[str]:
    """All names in all texts in a value."""
    if isinstance(value, dict):
        return set[str]().union(*map(_names, cast(dict[str, Any], value).values()))
    if isinstance(value, list):
        return set[str]().union(*map(_names, cast(list[Any], value)))
    return set(re.findall(r"[^\W\d]\w*", value)) if isinstance(value, str) else set()


def _steady_flow(flow: Flow) -> bool:
    if flow.udp or "arrivals" in flow.tree or flow.tree.get("host", flow.setup.tree.get("host", "none")) != "none":
        return False
    steady = flow.source["name"] == "bulk" and not isinstance(flow.source.get("size"), dict)
    return steady and flow.cc["name"] in _STEADY_CC and flow.tcp("tick_phase") == "zero"


def _steady_link(link: Link) -> bool:
    return _steady(link.tree) and _steady(link.tree.get("reverse", {}))


def _steady(tree: dict[str, Any]) -> bool:
    tail = named(tree.get("queue", "drop_tail"))["name"] == "drop_tail"
    return set(tree) <= _STEADY_LINK and tail and tree.get("loss", 0) in (0, "0")


def _few(subject: Subject) -> Iterator[Hit]:
    study = subject.study
    if study.until is not None or not study.tree.get("findings"):
        return
    for origin, number in study.repeat_origins.items():
        if number in DETECTABLE:
            yield Hit(
                f"{number} replicates tell a difference of arms from chance in four of five studies if it is {DETECTABLE[number]} of its standard deviations, not a smaller one",
                origin,
            )


RULES = (
    Rule(
        "SW201", "one-replicate", "warning", "a study that runs each cell once",
        "A difference between two runs may be the seed's. The published study of Tahoe and Reno has one seed and 192 cells.",
        "Write `repeat = 10` or more, and draw the starts of flows so that the replicates differ.",
        check=_once,
    ),
    Rule(
        "SW202", "copies", "warning", "replicates in which nothing is random",
        "They are the same run several times: intervals have no width, and any difference is significant.",
        "Draw the flows' starts (`[draws]`), or write `repeat = 1` and claim no interval.",
        check=_copies,
    ),
    Rule(
        "SW203", "few-replicates", "warning", "findings that are to be decided by two to four replicates",
        "Only differences of several standard deviations are found then, and a study ends with `cannot distinguish`: one published study does, after nine cells.",
        "Raise `repeat` before the study is run, not until a claim holds.",
        check=_few,
    ),
    Rule(
        "SW204", "one-run-shifted", "warning", "replicates in which only the start of a flow is drawn that has the network to itself",
        "Nothing else varies, so each is the run before, a little sooner or later: counts are the same in all, and intervals say how little a phase matters, not how sure an answer is.",
        "Let something vary that matters: another flow whose start is drawn, losses (`loss`), a queue that drops by chance; or write `repeat = 1` and claim no interval.",
        check=_shifted,
    ),
)  # fmt: skip
