"""What rules look at: the scenario of each cell and arm in base units, as far as that can be said before it runs.

A rule must be certain, so what cannot be told beforehand is None here: the rate of a link that changes, the window of a real kernel.
Of many flows that are declared together (`count`) some are looked at, evenly spaced, and stand for the others.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import StudyWarning
from sawtooth.plan import Plan
from sawtooth.study import Assignment, Study
from sawtooth.study.assign import Tree

_MOST = 8
"""Of flows that are declared together so many are looked at."""
MOST_SETUPS = 2000
"""Of cells and arms so many, evenly spaced: a study of a million is told in seconds what is wrong with it, too."""
_INDEXED = re.compile(r"^(.*?)\[(.*)\]$")
_VARYING = ("trace", "changes", "walk")


@dataclass(frozen=True)
class Quantity:
    """A value in base units (s, bit/s, B), and what it is of: time, rate, bytes, packets, bdp or number."""

    value: float
    of: str


@dataclass(eq=False)
class Link:
    """A link, one of those declared together.

    Attributes:
        name: as the scenario declares it.
        label: with its number.
        rate_bps: forward; None if it changes.
        mtu: the largest packet; None if nothing says.
        crossing: flows that cross it.

    """

    name: str
    label: str
    rate_bps: float | None
    reverse_bps: float | None
    delay_s: float
    reverse_delay_s: float
    queue: Tree
    tree: Tree
    mtu: float | None = None
    crossing: float = 0.0

    @property
    def path(self) -> str:
        """In the scenario's tree."""
        return f"links.{self.name}"


@dataclass(eq=False)
class Flow:
    """A flow, one of those declared together.

    Attributes:
        at: its block's path in the scenario's tree.
        name: of the block.
        number: how many flows it stands for.
        size_bytes: of a transfer that ends; None of one that does not, or of which it is not known.
        endless: whether it sends as much as it can until the end.

    """

    at: str
    name: str
    number: float
    links: Sequence[Link]
    tree: Tree
    start_s: float | None
    delay_s: float
    source: Tree
    size_bytes: float | None
    setup: Setup
    variables: dict[str, float | str]

    @property
    def udp(self) -> bool:
        """Whether nothing controls it."""
        return self.tree.get("transport") == "udp"

    @property
    def endless(self) -> bool:
        """Whether it sends all that TCP lets it, until the run ends."""
        return not self.udp and "arrivals" not in self.tree and self.source["name"] == "bulk" and self.source.get("size") in (None, "none")

    @property
    def finite(self) -> bool:
        """Whether it is one transfer of a known size."""
        return not self.udp and "arrivals" not in self.tree and self.source["name"] == "bulk" and self.size_bytes is not None

    @property
    def cc(self) -> Tree:
        """Its congestion control, with parameters that are set."""
        return named(self.tree.get("cc", self.setup.tree.get("cc", "reno")))

    def tcp(self, name: str) -> Quantity | str:
        """A TCP parameter: a quantity, or a word such as `none` or `true`."""
        value = self.tree.get("tcp", {}).get(name, self.setup.tree.get("tcp", {}).get(name))
        if value is None:
            stack = _stacks().get(self.setup.tree.get("stack", "rfc"), {})
            value = stack.get(name, _defaults().get(name, "none"))
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.setup.quantity(value, self.variables) or str(value)

    def bytes_of(self, name: str) -> float | None:
        """A TCP parameter in bytes, if it is one of bytes or packets."""
        found = self.tcp(name)
        if isinstance(found, str) or found.of not in ("bytes", "packets", "number"):
            return None
        return found.value if found.of == "bytes" else found.value * self.smss

    @functools.cached_property
    def smss(self) -> float:
        """Application bytes of a full segment: as set, or what the least MTU of the path leaves where that decides."""
        found = self.tcp("smss")
        own = found.value if isinstance(found, Quantity) else 1460.0
        least = min((link.mtu for link in self.links if link.mtu), default=None)
        if least is None:
            return own
        if self.tcp("mss_from_mtu") == "true":
            return max(least - self.header, 1.0)
        return max(min(own, least - self.header), 1.0) if self.tcp("path_mtu_discovery") == "true" else own

    @functools.cached_property
    def header(self) -> float:
        """Bytes of headers of a segment."""
        found = self.tcp("header")
        return found.value if isinstance(found, Quantity) else 40.0

    @functools.cached_property
    def rate_bps(self) -> float | None:
        """Of the slowest link of its path; None if one changes."""
        rates = [link.rate_bps for link in self.links]
        return None if not rates or None in rates else min(cast(list[float], rates))

    @functools.cached_property
    def rtt_s(self) -> float:
        """Shortest round trip of a full segment and its acknowledgement: propagation and transmission, no waiting."""
        propagation = sum(link.delay_s + link.reverse_delay_s for link in self.links) + 2 * self.delay_s
        bits = 8 * (self.smss + self.header)
        sending = sum(bits / link.rate_bps for link in self.links if link.rate_bps)
        return propagation + sending + sum(320 / link.reverse_bps for link in self.links if link.reverse_bps)

    @property
    def life_s(self) -> float | None:
        """From its start to the run's end."""
        return None if self.start_s is None else max(self.setup.duration_s - self.start_s, 0.0)

    @functools.cached_property
    def bottleneck(self) -> Link | None:
        """The link of its path that has least for each flow; the first of several; None if a rate is not known."""
        if self.rate_bps is None:
            return None
        return min(self.links, key=lambda link: (link.rate_bps or 0.0) / max(link.crossing, 1.0))

    @functools.cached_property
    def share_bps(self) -> float | None:
        """What the bottleneck has for each of its flows, headers left out."""
        link = self.bottleneck
        if link is None or link.rate_bps is None:
            return None
        return link.rate_bps / max(link.crossing, 1.0) * self.smss / (self.smss + self.header)

    @functools.cached_property
    def window_bytes(self) -> tuple[float, str] | None:
        """The most that may be outstanding whatever the path, and the parameter that says so; None if nothing does."""
        if self.setup.study.on_kernels:
            return None
        bounds: list[tuple[float, str]] = []
        if (limit := self.bytes_of("window_limit")) is not None:
            bounds.append((limit, "window_limit"))
        for side in ("receive", "send"):
            default, tuned = self.bytes_of(f"{side}_buffer_default"), self.tcp(f"{side}_auto_tuning") == "true"
            if default is None:
                continue
            most = self.bytes_of(f"{side}_buffer_max") or default
            size = max(most, default) if tuned else default
            if side == "receive":
                size *= self._window_share()
            bounds.append((size, f"{side}_buffer_{'max' if tuned else 'default'}"))
        if self.tcp("window_scaling") == "false":
            bounds.append((65535.0, "window_scaling"))
        return min(bounds) if bounds else None

    def _window_share(self) -> float:
        scale = self.tcp("adv_win_scale")
        n = scale.value if isinstance(scale, Quantity) else 1.0
        return 1 - 2**-n if n > 0 else 2**n


@dataclass(eq=False)
class Setup:
    """The scenario of one cell and arm, as its first replicate has it."""

    study: Study
    cell: int
    arm: str
    tree: Tree
    applied: Sequence[Assignment]
    _links: dict[str, Link] = field(default_factory=dict[str, Link])

    @functools.cached_property
    def duration_s(self) -> float:
        """Of the run."""
        found = self.quantity(self.tree["duration"])
        return found.value if found else 0.0

    @functools.cached_property
    def variables(self) -> dict[str, float | str]:
        """For expressions; lists are left to `quantity`."""
        declared: Tree = self.tree.get("vars", {})
        return {
            name: value if isinstance(value, str) else float(value)
            for name, value in declared.items()
            if isinstance(value, str | int | float)
        }

    def quantity(self, value: Any, variables: dict[str, float | str] | None = None) -> Quantity | None:
        """A value in base units; None of what is no quantity."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        text = str(value)
        known = self.variables if variables is None else variables
        for name in self.lists:
            if name in text:
                text = re.sub(rf"\b{re.escape(name)}\[([^\]]+)\]", lambda found, name=name: self._item(name, found[1], known), text)
        return _evaluated(text, tuple((name, known[name]) for name in _names(text) if name in known))

    @functools.cached_property
    def lists(self) -> Mapping[str, list[Any]]:
        """Variables that are lists."""
        declared: Tree = self.tree.get("vars", {})
        return {name: cast(list[Any], value) for name, value in declared.items() if isinstance(value, list)}

    def _item(self, name: str, index: str, known: dict[str, float | str]) -> str:
        found = self.quantity(index, known)
        at, items = int(found.value) if found else 0, self.lists[name]
        return f"({items[at - 1]})" if 1 <= at <= len(items) else "?"

    @functools.cached_property
    def flows(self) -> Sequence[Flow]:
        """Flows of TCP and UDP; of many alike some."""
        found = [*self._flows()]
        for flow in found:
            for link in flow.links:
                # A link with a number is crossed by those of its own; one without by all that a flow stands for.
                link.crossing += 1.0 if link.label != link.name else flow.number
        return found

    @property
    def links(self) -> Sequence[Link]:
        """Links that flows cross."""
        return list(dict.fromkeys(link for flow in self.flows for link in flow.links))

    def _flows(self) -> Iterator[Flow]:
        trees = cast(list[Tree], self.tree["flows"])
        for at, tree in enumerate(trees):
            name = str(tree.get("name", "flow" if len(trees) == 1 else f"flow{at + 1}"))
            found = self.quantity(tree["count"]) if "count" in tree else None
            count = max(int(found.value), 1) if found else 1
            # The first two are next to each other, the last is the last.
            numbers = range(1, count + 1) if count <= _MOST else [1, *(2 + round(k * (count - 2) / (_MOST - 2)) for k in range(_MOST - 1))]
            for i in numbers:
                known = {**self.variables, "i": float(i)}
                start, delay = self.quantity(tree.get("start", "0 s"), known), self.quantity(tree.get("delay", "0 s"), known)
                links = [self.link(str(each), known) for each in tree["path"]]
                source = named(tree.get("source", "bulk"))
                size = self.quantity(source["size"], known) if source["name"] == "bulk" and "size" in source else None
                yield Flow(
                    f"flows[{at}]", name, count / len(numbers), [link for link in links if link], tree, start.value if start else None,
                    delay.value if delay else 0.0, source, size.value if size else None, self, known,
                )  # fmt: skip

    def link(self, text: str, known: dict[str, float | str]) -> Link | None:
        """The link that an entry of a path names."""
        name, index = (found[1], found[2]) if (found := _INDEXED.match(text)) else (text, "")
        tree: Tree | None = self.tree["links"].get(name)
        if tree is None:
            return None
        number = self.quantity(index, known) if index else None
        label = f"{name}[{int(number.value)}]" if number else name
        if label not in self._links:
            own = {**known, "i": number.value} if number else known
            back: Tree = tree.get("reverse", {})
            delay = self._value(tree.get("delay", "0 s"), own) or 0.0
            rate = None if any(key in tree for key in _VARYING) else self._value(tree.get("rate"), own)
            same = rate if "rate" not in back else self._value(back["rate"], own)
            reverse = None if any(key in back for key in _VARYING) else same
            reverse_delay = self._value(back["delay"], own) if "delay" in back else delay
            self._links[label] = Link(
                name, label, rate, reverse, delay, reverse_delay or 0.0, named(tree.get("queue", "drop_tail")), tree, self._mtu(tree, own)
            )
        return self._links[label]

    def _mtu(self, tree: Tree, known: dict[str, float | str]) -> float | None:
        medium = named(tree.get("medium", "none"))
        return self._value(tree.get("mtu", medium.get("mtu", _parameters("medium", medium["name"]).get("mtu"))), known)

    def _value(self, value: Any, known: dict[str, float | str]) -> float | None:
        found = self.quantity(value, known)
        return found.value if found else None

    def queue_limit(self, link: Link) -> Quantity | None:
        """How much may wait in a link's queue, in packets or bytes."""
        text = link.queue.get("limit", _parameters("queue", link.queue["name"]).get("limit"))
        number = re.findall(r"\[(\d+)\]$", link.label)
        found = self.quantity(text, {**self.variables, "i": float(number[0])} if number else None)
        if found is None or found.of != "bdp":
            return found
        # Of this link's rate and the shortest round-trip propagation time of the flows across it.
        trips = [
            sum(each.delay_s + each.reverse_delay_s for each in flow.links) + 2 * flow.delay_s for flow in self.flows if link in flow.links
        ]
        return Quantity(found.value * link.rate_bps * min(trips) / 8, "bytes") if link.rate_bps and trips else None

    def queue_bytes(self, link: Link, packet: float) -> float | None:
        """The same in bytes, of packets of so many."""
        found = self.queue_limit(link)
        return None if found is None else found.value * packet if found.of == "packets" else found.value


@dataclass(eq=False)
class Subject:
    """A study that is looked at: its plan, and a setup for each cell and arm."""

    plan: Plan

    @property
    def study(self) -> Study:
        """The study."""
        return self.plan.study

    @property
    def warnings(self) -> Sequence[StudyWarning]:
        """What the plan says of the study."""
        return self.plan.warnings

    @functools.cached_property
    def setups(self) -> Sequence[Setup]:
        """One for each cell and arm, in the plan's order."""
        cells = {cell.number: cell for cell in self.plan.cells}
        found: list[Setup] = []
        runs = sorted((run for run in self.plan.runs if run.replicate == 1), key=lambda run: run.cell)
        if len(runs) > MOST_SETUPS:
            runs = [runs[at * len(runs) // MOST_SETUPS] for at in range(MOST_SETUPS)]
        for run in runs:
            applied = [*self.study.base, *cells[run.cell].assignments, *self.study.arms.get(run.arm, ())]
            found.append(Setup(self.study, run.cell, run.arm, json.loads(run.scenario), applied))
        return found

    def varied(self, *names: str) -> list[str]:
        """Paths that an axis of the sweep, or an arm, sets and whose last words are one of `names`."""
        blocks = [assignment for block in self.study.sweep for level in block for assignment in level]
        arms = [assignment for arm in self.study.arms.values() for assignment in arm] if len(self.study.arms) > 1 else []
        return list(dict.fromkeys(each.path for each in [*blocks, *arms] if set(each.path.split(".")[-2:]) & set(names)))


# Cells differ in a few variables, and most expressions name one or none of them: an expression is made once for what it names.
@functools.lru_cache(maxsize=1 << 14)
def _evaluated(text: str, known: tuple[tuple[str, float | str], ...]) -> Quantity | None:
    """An expression's value, given the variables that it names; None of what is none."""
    try:
        return Quantity(*_core.evaluate(text, dict(known)))
    except _core.ScenarioError:
        return None


@functools.lru_cache(maxsize=1 << 12)
def _names(text: str) -> tuple[str, ...]:
    """What may be variables in an expression."""
    return tuple(dict.fromkeys(re.findall(r"[^\W\d]\w*", text)))


def named(value: Any) -> Tree:
    """A part as a table with its `name`, however it is written."""
    return cast(Tree, value) if isinstance(value, dict) else {"name": str(value)}


@functools.cache
def _stacks() -> Mapping[str, Mapping[str, str]]:
    return {row["name"]: row["values"] for row in _core.registry()["stack"]}


@functools.cache
def _defaults() -> Mapping[str, str]:
    return {row["name"]: row["default"] for row in _core.registry()["tcp"]}


@functools.cache
def _parameters(kind: str, name: str) -> Mapping[str, str]:
    """Defaults of a part's parameters."""
    for row in _core.registry()[kind]:
        if row["name"] == name:
            return {param["name"]: param["default"] for param in row["params"]}
    return {}


def default(kind: str, name: str, parameter: str) -> str:
    """The default of a parameter of a part; empty if it has none of that name."""
    return _parameters(kind, name).get(parameter, "")
