"""What a peer is: a program that runs cases with algorithms of its own, each beside one of ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dumbbells import Case


@dataclass(frozen=True)
class Twin:
    """An algorithm of the peer, and ours that is to do the same."""

    name: str
    """As the peer has it."""
    cc: str
    """As the simulator has it."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of the peer."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of our congestion control, where the peer's defaults are others than ours and its documentation leaves them to the user."""
    tcp: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of our TCP."""

    @property
    def ours(self) -> dict[str, Any]:
        return {"name": self.cc, **self.parameters}


@dataclass(frozen=True)
class Run:
    """What a run came to."""

    packets: list[float]
    """Full segments that each flow had delivered (or, where the peer says no more, acknowledged) at the end."""
    window: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """The first flow's congestion window after each change: seconds, segments; only if it was traced."""


class Peer(Protocol):
    """One program, in one configuration of its TCP."""

    name: str
    title: str
    missing: Mapping[str, str]
    """Our algorithms that it lacks, with words; those that nobody has are not listed."""
    twins: tuple[Twin, ...]
    sources: tuple[Path, ...]
    """Files of ours that the peer runs."""

    def version(self) -> str: ...

    def command(self, case: Case, twin: Twin, trace: bool) -> Any:
        """All that decides the result, as JSON."""
        ...

    def run(self, command: Any) -> Run: ...

    def scenario(self, case: Case, twin: Twin) -> dict[str, Any]:
        """The simulator's tree for the same case."""
        ...

    def delivered(self, flow: Mapping[str, Any]) -> float:
        """Of a row of our table `flows`: what `Run.packets` counts."""
        ...


class PeerError(RuntimeError):
    """A peer is missing, failed or took too long."""


def kept(peer: Peer, case: Case, twin: Twin, keep: Path | None, trace: bool = False) -> Run:
    """The peer's run, from the folder `keep` if it is there: what a peer does never changes."""
    command = peer.command(case, twin, trace)
    if keep is None:
        return peer.run(command)
    digest = hashlib.sha256(json.dumps([peer.version(), command], sort_keys=True).encode())
    for source in peer.sources:
        digest.update(source.read_bytes())
    path = keep / f"{peer.name}-{digest.hexdigest()[:20]}.json"
    if not path.exists():
        keep.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(peer.run(command))), encoding="utf-8")
    found = json.loads(path.read_text(encoding="utf-8"))
    return Run(found["packets"], [(t, w) for t, w in found["window"]])


def thinned(window: Sequence[tuple[float, float]], every_s: float = 0.001) -> list[tuple[float, float]]:
    """At most one point a millisecond: the last of each."""
    last: dict[int, tuple[float, float]] = {}
    for t, value in window:
        last[int(t / every_s)] = (t, value)
    return list(last.values())
