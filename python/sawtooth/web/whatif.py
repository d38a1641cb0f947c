"""What would have been, if at a moment something else had happened: the scenario of a run with one change.

A run is forked by doing it again from its beginning: it is deterministic, so both futures are equal to the bit until the moment, and nothing has to be kept of the state
that they share. What can change in the middle of a run is what scenarios can say of links: `changes`, `outages` and `drop`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.quantities import seconds

QUANTITIES = {"rate": "10 Mbit/s", "delay": "20 ms", "loss": "0.01"}
"""What a link has that can change, each with an example."""
OUTAGE, DROP = "outage", "drop"
KINDS = (*QUANTITIES, OUTAGE, DROP)


@dataclass(frozen=True)
class Change:
    """What happens otherwise.

    Attributes:
        kind: which of `KINDS`.
        at: the moment, seconds.
        link: at which link.
        value: the new rate, delay or probability of losses, or how long the outage lasts; of `drop` nothing.
        flow: of `drop` whose packet; anybody's if it is empty.
        number: of `drop` which segment of that flow, counted from 0; any if it is None.

    """

    kind: str
    at: float
    link: str
    value: str = ""
    flow: str = ""
    number: int | None = None

    @property
    def told(self) -> str:
        """In words."""
        if self.kind == DROP:
            which = (
                f"segment {self.number:,} of {self.flow}"
                if self.number is not None
                else f"a packet of {self.flow}"
                if self.flow
                else "a packet"
            )
            return f"{self.link} loses {which} at {self.at:.9g} s"
        if self.kind == OUTAGE:
            return f"{self.link} is down from {self.at:.6g} s for {self.value}"
        return f"{self.link} has {self.kind} {self.value} from {self.at:.6g} s"


def read(keys: Mapping[str, Any], duration: float) -> Change:
    """A change as it is asked for.

    Raises:
        StudyError: for what cannot happen in a run that takes so many seconds.

    """
    kind, at, link, value, flow = (str(keys.get(name, "")) for name in ("kind", "at", "link", "value", "flow"))
    if kind not in KINDS:
        raise StudyError(f"`{kind[:40]}` is nothing that can change", hint=did_you_mean(kind[:40], list(KINDS)))
    moment = seconds(at)
    if not 0 <= moment < duration:
        raise StudyError(f"{at} is no moment of the run", hint=f"it takes {duration:g} s")
    if kind == OUTAGE and not seconds(value) > 0:
        raise StudyError("an outage lasts longer than no time", hint="such as 200 ms")
    if kind in QUANTITIES and not value.strip():
        raise StudyError(f"the new {kind} of `{link}` is not said", hint=f"such as {QUANTITIES[kind]}")
    number = keys.get("number")
    if number is not None and (not isinstance(number, int) or number < 0 or not flow):
        raise StudyError("a segment is named by its flow and its number, from 0", hint="leave `number` out for the next one")
    return Change(kind, moment, link, value.strip(), flow, number)


def changed(scenario: str, change: Change, packet: int | None = None) -> str:
    """The scenario of a run, as text, in which it happens.

    Args:
        scenario: as it was.
        change: what happens.
        packet: of `drop` which one, counted from 1 as packets come to the link.

    Raises:
        StudyError: if the link is none, or cannot change so.

    """
    tree: dict[str, Any] = json.loads(scenario)
    links = cast(dict[str, dict[str, Any]], tree["links"])
    if change.link not in links or "count" in links[change.link]:
        single = [name for name, link in links.items() if "count" not in link]
        hint = did_you_mean(change.link, single) if single else "all links of this run are several alike, which only change together"
        raise StudyError(f"no single link of the run is `{change.link[:60]}`", hint=hint)
    link = links[change.link]
    at = f"{change.at:.9f} s"
    if change.kind == DROP:
        link["drop"] = sorted({*cast(list[int], link.get("drop", [])), cast(int, packet)})
    elif change.kind == OUTAGE:
        link["outages"] = [*link.get("outages", []), {"from": at, "until": f"{change.at + seconds(change.value):.9f} s"}]
    else:
        value: float | str = change.value
        if change.kind == "loss":
            value = _probability(change.value)
        link["changes"] = _with(link.get("changes", []), {"at": at, change.kind: value}, change, tree.get("vars", {}))
    text = json.dumps(tree)
    try:
        _core.check(text)
    except _core.ScenarioError as error:
        raise StudyError(f"{change.told}: {error.message}", hint=error.hint) from None
    return text


def _with(changes: Any, row: dict[str, Any], change: Change, variables: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes of a link with one more, in the order of time; what it said of later times holds no longer, or else the change would end with it."""
    table = cast(dict[str, Any], {"rows": changes} if isinstance(changes, list) else changes)
    if "rows" not in table or "every" in table:
        raise StudyError(
            f"`{change.link}` already changes as a table says that starts again and again, or is a file",
            hint="choose an outage, or another link",
        )
    early: list[dict[str, Any]] = []
    late: list[dict[str, Any]] = []
    for each in cast(list[dict[str, Any]], table["rows"]):
        if _core.evaluate(str(each["at"]), variables)[0] < change.at:
            early.append(each)
        elif len(rest := {key: value for key, value in each.items() if key != change.kind}) > 1:
            late.append(rest)
    # Rows stand in the order of their times.
    return [*early, row, *late]


def _probability(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise StudyError(f"`{text[:40]}` is no probability of losses", hint="it is a number from 0 to 1, such as 0.01") from None
