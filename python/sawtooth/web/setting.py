"""A setting of the playground: a chain of links and groups of flows across it, as an address has it and as a study has it.

    v=1&d=30&l=100,20,1bdp,0,drop_tail&f=cubic,2,0-1&f=bbr,1,0-1,40,5

`v` is the version of the form. `d`: seconds. Each `l` is a link of the chain: Mbit/s (or, of a wireless link, Mbit/s of each second of a lap, as `12/6/1/8`), one-way delay in ms,
buffer, losses in per cent, queue. Each `f` is a group of flows: congestion control, how many, from which node to which, further one-way delay in ms, start in s, and what each sends:
nothing for without end, or kB. What is left out at the end has its default. A group whose nodes go down sends against the chain.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.study.written import written
from sawtooth.web.sampling import Sampling, sampling

VERSION = "1"
MOST_LINKS, MOST_GROUPS, MOST_FLOWS, MOST_TEXT = 4, 8, 64, 2000
_LAP_MOST = 30
"""Seconds of a lap of a wireless link."""
_BUFFER = re.compile(r"(\d+(?:\.\d+)?)(bdp|p)")


@dataclass(frozen=True)
class Limit:
    """From what to what a number may go, and its unit."""

    least: float
    most: float
    unit: str


LIMITS: Mapping[str, Limit] = {
    "duration": Limit(0.1, 120, "s"),
    "rate": Limit(0.1, 1000, "Mbit/s"),
    "delay": Limit(0, 500, "ms"),
    "loss": Limit(0, 50, "%"),
    "count": Limit(1, MOST_FLOWS, "flows"),
    "start": Limit(0, 120, "s"),
    "size": Limit(1, 1_000_000, "kB"),
    "window": Limit(1, 100_000, "kB"),
    "memory": Limit(1, 100_000, "kB"),
    "seed": Limit(0, 2**32 - 1, ""),
}


@dataclass(frozen=True)
class Link:
    """A link of the chain. rates: Mbit/s, of each second of a lap if they are several. buffer: such as `1bdp` or `50p`. loss: in per cent."""

    rates: Sequence[float] = (10.0,)
    delay: float = 20.0
    buffer: str = "1bdp"
    loss: float = 0.0
    queue: str = "drop_tail"


@dataclass(frozen=True)
class Group:
    """Flows that are alike. begin, end: nodes, from 0; against the chain if the end comes first. delay in ms, start in s; size in kB, None without end."""

    cc: str = "cubic"
    count: int = 1
    begin: int = 0
    end: int = 1
    delay: float = 0.0
    start: float = 0.0
    size: float | None = None


@dataclass(frozen=True)
class Setting:
    """What is simulated. stack, partial, ecn: of TCP, nothing for the stack's own; window in kB that receivers offer; memory in kB that sockets of hosts have, None without hosts."""

    duration: float = 30.0
    links: Sequence[Link] = (Link(),)
    groups: Sequence[Group] = (Group(),)
    stack: str = "linux"
    ecn: str = ""
    partial: str = ""
    window: float | None = None
    memory: float | None = None
    seed: int = 1

    @property
    def names(self) -> list[str]:
        """Of the groups, as results call them: the algorithm, with a number where two have the same."""
        kinds = [group.cc for group in self.groups]
        return [kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: at + 1].count(kind)}" for at, kind in enumerate(kinds)]

    @property
    def sampling(self) -> Sampling:
        """How often it is looked at."""
        trips = [
            2 * (group.delay + sum(link.delay for link in self.links[slice(*sorted((group.begin, group.end)))])) for group in self.groups
        ]
        return sampling(self.duration, min(trips) / 1e3, sum(group.count for group in self.groups) + 2 * len(self.links))

    def text(self, name: str = "playground") -> str:
        """The study that it is, which its results are called by."""
        return written(
            {
                "name": name,
                "question": "What does this setting of the playground do?",
                "seed": self.seed,
                "repeat": 1,
                "scenario": self._scenario(),
            }
        )

    def address(self) -> str:
        """The query that means it."""
        return "&".join(
            [
                f"v={VERSION}",
                f"d={_short(self.duration)}",
                *(f"l={_trimmed(_link_fields(link), _link_fields(Link()))}" for link in self.links),
                *(f"f={_trimmed(_group_fields(group), _group_fields(Group(end=len(self.links))))}" for group in self.groups),
                *(f"{name}={_short(value)}" for name, value in self._rest().items()),
            ]
        )

    def facts(self) -> dict[str, Any]:
        """As a page reads it."""
        return asdict(self) | {"names": self.names, "address": self.address()}

    def _rest(self) -> dict[str, Any]:
        usual = Setting()
        return {key: getattr(self, name) for key, name in _REST.items() if getattr(self, name) not in (getattr(usual, name), None)}

    def _scenario(self) -> dict[str, Any]:
        tree: dict[str, Any] = {
            "duration": f"{_short(self.duration)} s",
            "sample": f"{_short(self.sampling.period * 1e3)} ms",
            "stack": self.stack,
        }
        tcp: dict[str, Any] = {}
        if self.ecn:
            tcp["ecn"] = self.ecn
        if self.partial:
            tcp["partial"] = self.partial
        if self.window is not None:
            tcp["window_limit"] = f"{_short(self.window)} kB"
        if tcp:
            tree["tcp"] = tcp
        if self.memory is not None:
            tree["host"] = "machine"
            tree["hosts"] = {"machine": {"socket_memory": f"{_short(self.memory)} kB"}}
        tree["links"] = {f"link{at}": _of_link(link) for at, link in enumerate(self.links, 1)}
        tree["flows"] = [_of_group(group, name) for group, name in zip(self.groups, self.names, strict=True)]
        return tree


_REST = {"stack": "stack", "ecn": "ecn", "partial": "partial", "window": "window", "memory": "memory", "seed": "seed"}
"""Keys of an address for what is of all flows, by the attribute that each sets."""
LESSON = "lesson"
"""Key of an address that says nothing of the setting: the lesson that it is from."""


def _of_link(link: Link) -> dict[str, Any]:
    amount, unit = _buffer(link.buffer)
    limit = f"{_short(amount)} {'bdp' if unit == 'bdp' else 'packets'}"
    tree: dict[str, Any] = {
        "rate": f"{_short(link.rates[0])} Mbit/s",
        "delay": f"{_short(link.delay)} ms",
        "queue": {"name": link.queue, "limit": limit},
    }
    if len(link.rates) > 1:
        rows = [{"at": f"{second} s", "rate": f"{_short(rate)} Mbit/s"} for second, rate in enumerate(link.rates)]
        tree["changes"] = {"rows": rows, "every": f"{len(link.rates)} s"}
    return tree | ({"loss": float(f"{link.loss / 100:.9g}")} if link.loss else {})


def _of_group(group: Group, name: str) -> dict[str, Any]:
    first, last = sorted((group.begin, group.end))
    path = [f"link{at}" for at in range(first + 1, last + 1)]
    source: dict[str, Any] = {"name": "bulk"} if group.size is None else {"name": "bulk", "size": f"{_short(group.size)} kB"}
    tree: dict[str, Any] = {"name": name, "path": path, "cc": group.cc, "source": source}
    if group.end < group.begin:
        tree["direction"] = "reverse"
    if group.delay:
        tree["delay"] = f"{_short(group.delay)} ms"
    if group.start:
        tree["start"] = f"{_short(group.start)} s"
    return tree | ({"count": group.count} if group.count > 1 else {})


TOPOLOGIES: Mapping[str, str] = {
    "dumbbell": "v=1&d=30&l=10&f=cubic,2&f=reno",
    "parking lot": "v=1&d=30&l=10&l=10&l=10&f=cubic&f=reno,1,0-1&f=reno,1,1-2&f=reno,1,2-3",
    "two-way": "v=1&d=30&l=10,20,20p&f=cubic&f=reno,1,1-0,0,10",
    "wireless": "v=1&d=30&l=24/30/18/6/2/8/20/12,20,2bdp&f=cubic&f=bbr",
}
"""Settings to begin with."""


# --- an address as a setting


def parse(query: str) -> Setting:
    """What an address means.

    Args:
        query: without its question mark.

    Raises:
        DatasetError: if it means nothing; says which part, and what is expected there.

    """
    if len(query) > MOST_TEXT:
        raise DatasetError(f"the address of a playground has {MOST_TEXT} characters at most", "it may have been pasted twice")
    pairs = parse_qsl(query, keep_blank_values=True)
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    if not found:
        return Setting()
    if (version := found.pop("v", [""])[-1]) != VERSION:
        said = f"says version `{version[:20]}`" if version else "says no version"
        raise DatasetError(f"the address of a playground {said}, and this explorer reads version {VERSION}", f"it begins with v={VERSION}")
    links = [_link(text) for text in found.pop("l", [])] or [Link()]
    if len(links) > MOST_LINKS:
        raise DatasetError(f"a playground has {MOST_LINKS} links at most, and the address has {len(links)}")
    groups = [_group(text, len(links)) for text in found.pop("f", [])] or [Group(end=len(links))]
    if len(groups) > MOST_GROUPS:
        raise DatasetError(f"a playground has {MOST_GROUPS} groups of flows at most, and the address has {len(groups)}")
    if (flows := sum(group.count for group in groups)) > MOST_FLOWS:
        raise DatasetError(
            f"a playground has {MOST_FLOWS} flows at most, and the address has {flows}", "a study may have as many as you like"
        )
    # From which lesson it is, the page reads.
    found.pop(LESSON, None)
    rest: dict[str, Any] = {}
    for key, texts in found.items():
        if key == "d":
            rest["duration"] = _number(texts[-1], "duration", "d")
        elif key in ("window", "memory"):
            rest[key] = _number(texts[-1], key, key)
        elif key == "seed":
            rest[key] = int(_number(texts[-1], key, key))
        elif key in _REST:
            rest[key] = _one_of(texts[-1], key, key)
        else:
            known = ["v", "d", "l", "f", *_REST, LESSON]
            raise DatasetError(f"the address of a playground has no `{key[:40]}`", did_you_mean(key[:40], known))
    return Setting(links=tuple(links), groups=tuple(groups), **rest)


@cache
def choices() -> Mapping[str, Mapping[str, str]]:
    """What may be named, with what it is: of each kind those rows of the registry that need no parameters."""
    registry = _core.registry()
    kinds = {kind: {row["name"]: row["summary"] for row in registry[kind]} for kind in ("cc", "queue", "stack", "partial")}
    kinds["queue"] = {name: summary for name, summary in kinds["queue"].items() if _works_alone(name)}
    kinds["ecn"] = {
        "off": "packets are dropped only",
        "classic": "RFC 3168",
        "dctcp": "RFC 8257",
        "accurate": "RFC 9768",
    }
    return kinds


def _works_alone(queue: str) -> bool:
    try:
        _core.check(json.dumps({"duration": "1 s", "links": {"l": {"rate": "1 Mbit/s", "queue": queue}}, "flows": [{"path": ["l"]}]}))
    except _core.ScenarioError:
        return False
    return True


def _link(text: str) -> Link:
    usual = _link_fields(Link())
    rate, delay, buffer, loss, queue = _fields(
        text, "l", usual, "a link is RATE,DELAY,BUFFER,LOSS,QUEUE, such as l=100,20,1bdp,0,drop_tail"
    )
    rates = [_number(each, "rate", "l") for each in rate.split("/")]
    if len(rates) > _LAP_MOST:
        raise DatasetError(f"a lap of a wireless link has {_LAP_MOST} seconds at most, and the address has {len(rates)}")
    _buffer(buffer)
    return Link(tuple(rates), _number(delay, "delay", "l"), buffer, _number(loss, "loss", "l"), _one_of(queue, "queue", "l"))


def _group(text: str, links: int) -> Group:
    shape = "flows are ALGORITHM,COUNT,FROM-TO,DELAY,START,SIZE, such as f=cubic,2,0-1"
    cc, count, way, delay, start, size = _fields(text, "f", _group_fields(Group(end=links)), shape)
    nodes = re.fullmatch(r"(\d)-(\d)", way)
    begin, end = (int(nodes[1]), int(nodes[2])) if nodes else (0, 0)
    if begin == end or max(begin, end) > links:
        raise DatasetError(f"`{way[:40]}` is no way through the links (in `f={text[:60]}`)", f"nodes are 0 to {links}, such as 0-{links}")
    number = _number(count, "count", "f")
    if number != int(number):
        raise DatasetError(f"`{count}` is no whole number of flows (in `f={text[:60]}`)")
    return Group(
        _one_of(cc, "cc", "f"),
        int(number),
        begin,
        end,
        _number(delay, "delay", "f"),
        _number(start, "start", "f"),
        _number(size, "size", "f") if size else None,
    )


def _fields(text: str, key: str, usual: Sequence[str], shape: str) -> list[str]:
    given = text.split(",")
    if len(given) > len(usual):
        raise DatasetError(f"`{key}={text[:60]}` has {len(given)} parts", shape)
    return [each or usual[at] for at, each in enumerate(given)] + list(usual[len(given) :])


def _number(text: str, name: str, key: str) -> float:
    limit = LIMITS[name]
    try:
        value = float(text) if re.fullmatch(r"\d+(\.\d+)?([eE][+-]?\d+)?", text) else math.nan
    except ValueError:
        value = math.nan
    if not limit.least <= value <= limit.most:
        unit = f" {limit.unit}" if limit.unit else ""
        raise DatasetError(
            f"`{text[:40]}` is no {name} of a playground (at `{key}` of the address)",
            f"a number from {_short(limit.least)} to {_short(limit.most)}{unit}",
        )
    return value


def _buffer(text: str) -> tuple[float, str]:
    found = _BUFFER.fullmatch(text)
    amount = float(found[1]) if found else math.nan
    most = 100 if found and found[2] == "bdp" else 100_000
    if found is None or not 0 < amount <= most:
        raise DatasetError(
            f"`{text[:40]}` is no buffer of a playground (at `l` of the address)",
            "such as 1bdp, in products of rate and round-trip time, or 50p, in packets",
        )
    return amount, found[2]


def _one_of(text: str, kind: str, key: str) -> str:
    known = choices()[kind]
    if text not in known:
        raise DatasetError(f"there is no `{text[:40]}` for {kind} (at `{key}` of the address)", did_you_mean(text[:40], list(known)))
    return text


def _link_fields(link: Link) -> list[str]:
    return ["/".join(_short(rate) for rate in link.rates), _short(link.delay), link.buffer, _short(link.loss), link.queue]


def _group_fields(group: Group) -> list[str]:
    size = "" if group.size is None else _short(group.size)
    return [group.cc, str(group.count), f"{group.begin}-{group.end}", _short(group.delay), _short(group.start), size]


def _trimmed(fields: Sequence[str], usual: Sequence[str]) -> str:
    """Without what has its default at the end; the algorithm and the rate are always said."""
    last = max((at for at, (is_, default) in enumerate(zip(fields, usual, strict=True)) if is_ != default), default=0)
    return ",".join(fields[: max(last, 0) + 1])


def _short(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
