"""Where nodes and links are drawn: senders left, receivers right, what is between them in the order in which packets pass it.

**Model.** A link has two ends. On a path the end of one link is where the next one begins, so both are one node; where a path begins and ends are
hosts. A node's column is the longest way to it from a host; hosts that only send stand just before what they send to. Within a column nodes are in
the order of their neighbours to the left, or of their flows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sawtooth.counted import counted

WIDTH = 960.0
_MARGIN_X, _MARGIN_TOP, _MARGIN_BOTTOM = 70.0, 60.0, 46.0
_CROWDED, _ROOMY = 24.0, 60.0
"""Between nodes of one column: at least, and if there is room."""
_TALLEST_QUEUE = 90.0
_BESIDE = 16.0
"""Between links that join the same two nodes."""


@dataclass(frozen=True)
class Line:
    """A link as it is drawn, from where data enter it to where they leave it.

    Attributes:
        name: of the link. tail, head: numbers of nodes.
        x1, y1, x2, y2: in units of the picture.
        ways: of each direction its rate in bit/s and its delay in s.
        room: how high a queue may be drawn at its ends.

    """

    name: str
    tail: int
    head: int
    x1: float
    y1: float
    x2: float
    y2: float
    ways: Sequence[tuple[float, float]]
    room: float

    @property
    def length(self) -> float:
        """In units of the picture."""
        return math.hypot(self.x2 - self.x1, self.y2 - self.y1)

    def at(self, share: float) -> tuple[float, float]:
        """The point so far from its tail."""
        return self.x1 + share * (self.x2 - self.x1), self.y1 + share * (self.y2 - self.y1)


@dataclass(frozen=True)
class Node:
    """Where links meet, or a flow begins or ends.

    Attributes:
        x, y: in units of the picture.
        sends, receives: flows that begin and end here.

    """

    x: float
    y: float
    sends: Sequence[str]
    receives: Sequence[str]

    @property
    def label(self) -> str:
        """Whose host it is; empty of a router."""
        names = [*self.sends, *(name for name in self.receives if name not in self.sends)]
        return names[0] if len(names) == 1 else counted(len(names), "flow") if names else ""


@dataclass(frozen=True)
class Network:
    """What is drawn.

    Attributes:
        nodes: all. lines: the links, in the order of the scenario. height: of the picture, whose width is `WIDTH`.

    """

    nodes: list[Node]
    lines: list[Line]
    height: float


@dataclass
class _Ends:
    """Ends of links that are one node: a tail is `2 * link`, a head `2 * link + 1`."""

    parent: list[int] = field(default_factory=list[int])

    def find(self, end: int) -> int:
        while self.parent[end] != end:
            end = self.parent[end]
        return end

    def join(self, one: int, other: int) -> None:
        self.parent[self.find(other)] = self.find(one)


def lay_out(links: Sequence[tuple[str, Sequence[tuple[float, float]]]], flows: Sequence[tuple[str, Sequence[int]]]) -> Network:
    """Nodes and links of flows with these paths, which are numbers of ports (`_core.network`); links that none crosses are left out."""
    used = sorted({port // 2 for _, path in flows for port in path})
    ends = _Ends(list(range(2 * len(links))))
    for _, path in flows:
        # Ends of links have the numbers of the ports that stand there: a packet enters at its port's, and leaves at the other.
        for port, after in pairwise(path):
            # A link whose head were its tail could not be drawn.
            if ends.find(after) != ends.find(port) and ends.find(port ^ 1) != ends.find(after ^ 1):
                ends.join(port ^ 1, after)
    roots = sorted({ends.find(end) for link in used for end in (2 * link, 2 * link + 1)})
    number = {root: at for at, root in enumerate(roots)}
    arcs = {link: (number[ends.find(2 * link)], number[ends.find(2 * link + 1)]) for link in used}
    sends: list[list[str]] = [[] for _ in roots]
    receives: list[list[str]] = [[] for _ in roots]
    for name, path in flows:
        if path:
            sends[number[ends.find(path[0])]].append(name)
            receives[number[ends.find(path[-1] ^ 1)]].append(name)
    columns = _columns(len(roots), list(arcs.values()))
    places, height, spacings = _places(columns, list(arcs.values()), [name for name, _ in flows], sends, receives)
    nodes = [Node(*places[at], sends[at], receives[at]) for at in range(len(roots))]
    between: dict[frozenset[int], int] = {}
    lines: list[Line] = []
    for link, (tail, head) in arcs.items():
        pair = frozenset((tail, head))
        beside = between.get(pair, 0)
        between[pair] = beside + 1
        shift = _BESIDE * ((beside + 1) // 2) * (-1 if beside % 2 else 1)
        (x1, y1), (x2, y2) = places[tail], places[head]
        room = min(_TALLEST_QUEUE, 0.7 * min(spacings[columns[tail]], spacings[columns[head]]))
        name, ways = links[link]
        lines.append(Line(name, tail, head, x1, y1 + shift, x2, y2 + shift, ways, room))
    return Network(nodes, lines, height)


def _columns(nodes: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Of each node its column, from the left."""
    columns = [0] * nodes
    # What goes round in circles has no longest way: as many steps as there are nodes are enough for all else.
    for _ in range(nodes):
        longer = {head: columns[tail] + 1 for tail, head in arcs if columns[head] < columns[tail] + 1 < nodes}
        if not longer:
            break
        for head, column in longer.items():
            columns[head] = max(columns[head], column)
    heads = {head for _, head in arcs}
    for node in range(nodes):
        after = [columns[head] for tail, head in arcs if tail == node]
        if node not in heads and after:
            columns[node] = min(after) - 1
    order = sorted(set(columns))
    return [order.index(column) for column in columns]


def _places(
    columns: Sequence[int],
    arcs: Sequence[tuple[int, int]],
    flows: Sequence[str],
    sends: Sequence[Sequence[str]],
    receives: Sequence[Sequence[str]],
) -> tuple[list[tuple[float, float]], float, list[float]]:
    """Of each node its place; the height of the picture; and of each column how far its nodes are apart."""
    order = {name: at for at, name in enumerate(flows)}
    most = max(columns, default=0) + 1
    members = [[node for node, column in enumerate(columns) if column == at] for at in range(most)]
    spacing = _CROWDED if max(map(len, members), default=1) > 8 else _ROOMY
    inner = max(2.2 * _TALLEST_QUEUE, spacing * (max(map(len, members), default=1) - 1))
    height = _MARGIN_TOP + inner + _MARGIN_BOTTOM
    places = [(0.0, 0.0)] * len(columns)
    spacings: list[float] = []
    for at, nodes in enumerate(members):
        before = {node: [places[tail][1] for tail, head in arcs if head == node and columns[tail] < at] for node in nodes}

        def rank(node: int, before: dict[int, list[float]] = before) -> tuple[float, float]:
            mine = [order[name] for name in (*sends[node], *receives[node])]
            above = before[node]
            return (sum(above) / len(above) if above else 0.0, min(mine, default=0))

        apart = inner / len(nodes) if nodes else inner
        spacings.append(apart)
        x = _MARGIN_X + (WIDTH - 2 * _MARGIN_X) * (at / (most - 1) if most > 1 else 0.5)
        for row, node in enumerate(sorted(nodes, key=rank)):
            places[node] = (x, _MARGIN_TOP + apart * (row + 0.5))
    return places, height, spacings
