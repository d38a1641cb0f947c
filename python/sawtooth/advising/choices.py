"""What is compared: congestion controls by queues, each an arm beside the present choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sawtooth import _core
from sawtooth.advising.setting import PRESENT, Setting, as_text
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting.setup import default, named
from sawtooth.study.assign import Tree

CONTROLS = ("reno", "cubic", "bbr", "bbr3", "vegas", "htcp", "westwood", "illinois")
"""Congestion controls that are compared unless others are named: those that senders have, and that need nothing of the network."""
WITH_MARKS = ("dctcp", "prague")
"""Those that are compared, too, where flows and queues mark."""
QUEUES = ("drop_tail", "ared", "codel", "pie", "fq_codel")
"""Queues that are compared unless others are named: those that need no tuning."""
_NO_CHOICE = ("token_bucket",)
"""Rows of the table of queues that shape rather than queue."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A congestion control and a queue.

    Attributes:
        name: of its arm.
        cc: None for what each flow has at present.
        queue: None for the present one.

    """

    name: str
    cc: Tree | None
    queue: Tree | None

    def arm(self, setting: Setting) -> Tree:
        """What it sets in the scenario."""
        made: Tree = {}
        if self.cc is not None:
            made |= {f"{flow.at}.cc": _short(self.cc) for flow in setting.flows}
        return {**made, **queue_of(setting, self.queue)}


def queue_of(setting: Setting, queue: Tree | None) -> Tree:
    """What sets a queue at the bottleneck. Unless it says how much it holds, it holds what the present one does."""
    if queue is None:
        return {}
    place = f"links.{setting.link}.queue"
    if len(queue) == 1 and setting.queue.keys() == {"name", "limit"}:
        # Also where a sweep sets the limit.
        return {f"{place}.name": queue["name"]}
    return {place: {"limit": setting.limit, **queue} if setting.limit and _has_limit(queue["name"]) else queue}


def choices(setting: Setting, controls: Sequence[str] = (), queues: Sequence[str] = ()) -> list[Choice]:
    """The present choice first, and then every other combination.

    Args:
        setting: of which study.
        controls: names of congestion controls, tables in TOML, or `present`; the usual ones if empty.
        queues: likewise.

    Raises:
        StudyError: for what is no congestion control or queue, or if nothing is left to compare.

    """
    ccs = [_part("cc", each) for each in controls] or [{"name": name} for name in _usual(setting)]
    at_hand = [_part("queue", each) for each in queues] or [None, *({"name": name} for name in QUEUES)]
    found = {_key(setting, None, None): Choice(present_name(setting), None, None)}
    for cc in ccs:
        for queue in at_hand:
            name = f"{_control_name(setting, cc)}, {queue_name(setting, queue)}"
            found.setdefault(_key(setting, cc, queue), Choice(name, cc, queue))
    made = list(found.values())
    if len(made) < 2:
        raise StudyError(
            "there is nothing to compare with the present choice",
            hint="name another congestion control with --cc, or another queue with --queue",
        )
    return made


def present_name(setting: Setting) -> str:
    """What the present choice is called."""
    return f"{PRESENT} ({_control_name(setting, None)}, {queue_name(setting, None)})"


def own_kind(setting: Setting, neighbour: str, queue: Tree | None) -> Choice:
    """The choice in which a neighbour meets its own congestion control."""
    return Choice(f"{neighbour} itself, {queue_name(setting, queue)}", {"name": neighbour}, queue)


def require_control(name: str) -> None:
    """Refuses what is no congestion control.

    Raises:
        StudyError: that says so.

    """
    _known("cc", name)


def _usual(setting: Setting) -> list[str]:
    marks = any(flow.tcp("ecn") not in ("off", "none", "false") for flow in setting.flows)
    return [*CONTROLS, *(WITH_MARKS if marks else ())]


def _part(kind: str, text: str) -> Tree | None:
    """A part by its name, or as a table in TOML; None for what there is at present."""
    if text == PRESENT:
        return None
    if not text.lstrip().startswith("{"):
        _known(kind, text)
        return {"name": text}
    try:
        tree, _ = _core.parse_toml(f"part = {text}")
    except _core.TomlError as error:
        raise StudyError(f"`{text}` is no table: {error.message}", hint=f"such as {_SUCH[kind]}") from None
    part: Any = tree["part"]
    if not isinstance(part.get("name"), str):
        raise StudyError(f"`{text}` has no name", hint=f"such as {_SUCH[kind]}")
    _known(kind, part["name"])
    return part


_SUCH = {"cc": "'{ name = \"cubic\", beta = 0.8 }'", "queue": '\'{ name = "codel", target = "15 ms" }\''}
_WORDS = {"cc": "congestion control", "queue": "queue"}


def _known(kind: str, name: str) -> None:
    rows = [row["name"] for row in _core.registry()[kind] if row["name"] not in _NO_CHOICE]
    if name not in rows:
        raise StudyError(f"unknown {_WORDS[kind]} `{name}`", hint=f"{did_you_mean(name, rows)}; `sawtooth list {kind}` shows all")


def _has_limit(name: str) -> bool:
    return default("queue", name, "limit") != ""


def _short(cc: Tree) -> Any:
    return cc["name"] if len(cc) == 1 else cc


def _control_name(setting: Setting, cc: Tree | None) -> str:
    return as_text(cc) if cc is not None else " + ".join(dict.fromkeys(map(as_text, setting.controls)))


def queue_name(setting: Setting, queue: Tree | None) -> str:
    """A queue in words; the present one without how much it holds, as the others hold as much."""
    return as_text(queue if queue is not None else {key: value for key, value in setting.queue.items() if key != "limit"})


def _key(setting: Setting, cc: Tree | None, queue: Tree | None) -> str:
    """What is the same choice has the same."""
    controls = setting.controls if cc is None else [cc] * len(setting.flows)
    full = {"limit": setting.limit, **(setting.queue if queue is None else queue)}
    return repr(([sorted(named(each).items()) for each in controls], sorted((key, str(each)) for key, each in full.items())))
