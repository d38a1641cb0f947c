"""Watching connections: the kernel's counters at both ends of an interval, and looks in between for what they do not tell apart.

Of an interval the kernel says how long a connection was busy, and for how long of it the receiver's window and the send buffer held it back,
in steps of its clock tick. The rest of the busy time is divided as often as looks found each of the other causes. Looks are taken as often as
a small share of a processor allows.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sawtooth.live import causes
from sawtooth.live.causes import CAUSES, Cause, Measured
from sawtooth.live.netlink import Listener, SockDiag
from sawtooth.live.targets import Target, address, owners
from sawtooth.live.tcp_info import MEASURED, Sockets, join, pick, raw, unchanged

_BUDGET, _LEAST = 0.01, 0.002
"""Share of a processor for everything, of which looks get what the reports (screen, JSON, files) leave, and what they get at the least."""
_SMOOTHING = 0.2
_SHORTEST = 0.01
"""Seconds between two looks: about the kernel's own tick, so more would tell nothing new."""
_DUMP_FACTOR = 3
"""Asking for one connection by its name costs about as much as three in a list of all."""
_OWNERS_EVERY = 5.0
_K = len(CAUSES)
_COUNTERS = ("busy_us", "rwnd_limited_us", "sndbuf_limited_us")
_COUNTED = list(causes.COUNTED)
_WAITS = np.array([cause.stalls for cause in CAUSES], dtype=float)
_SUMS: list[Any] = [("busy_ns", "f8"), ("limited_ns", "f8", (_K,)), ("stall_ns", "f8")]
SPELL = np.dtype([("start_ns", "i8"), ("end_ns", "i8"), *_SUMS, ("before", MEASURED), ("after", MEASURED), ("ended", "?")])
"""A stretch of time of a connection; see `Spell`."""
# `met` and the sums are of the whole watch; `first` and what looks found of the stretch that `take` ends.
_STATE = np.dtype([
    ("met", MEASURED), ("met_ns", "i8"), *_SUMS, ("first", MEASURED), ("first_ns", "i8"), ("last", MEASURED), ("last_ns", "i8"),
    ("found", "f8", (_K,)), ("still", "f8", (_K,)),
])  # fmt: skip


@dataclass(frozen=True)
class Connection:
    """Who a connection is.

    Attributes:
        cookie: the kernel's name of it, never used twice.
        name: the peer's address and the service's port, the same for every connection of the service, with a number behind it.
        pid, process: who has it open, if that may be seen.

    """

    cookie: int
    name: str
    local: str
    remote: str
    uid: int
    pid: int | None
    process: str | None


class Spell:
    """What a connection did in a stretch of time; from a row of `SPELL`.

    Attributes:
        connection: whose.
        start_ns, end_ns: since the watch began.
        busy_ns: time in which something was sent and not acknowledged, or waited.
        limited_ns: by cause, shape (causes,); they add up to the whole.
        stall_ns: time in which something waited and the device had nothing of it, as far as looks tell.
        ended: whether the connection was gone afterwards.

    """

    def __init__(self, connection: Connection, row: Any) -> None:
        self.connection = connection
        self.start_ns, self.end_ns, self.busy_ns, self.stall_ns = (
            row[name].item() for name in ("start_ns", "end_ns", "busy_ns", "stall_ns")
        )
        self.limited_ns: NDArray[np.float64] = row["limited_ns"]
        self.ended = bool(row["ended"])
        self._row = row

    @functools.cached_property
    def before(self) -> Measured:
        """What the kernel said at the beginning."""
        return _measured(self._row["before"])

    @functools.cached_property
    def after(self) -> Measured:
        """What the kernel said at the end."""
        return _measured(self._row["after"])

    @property
    def wall_ns(self) -> int:
        """Its length."""
        return self.end_ns - self.start_ns

    @functools.cached_property
    def cause(self) -> Cause:
        """What took most of the time."""
        return CAUSES[int(np.argmax(self.limited_ns))]

    def share(self, name: str) -> float:
        """Of the time, by a cause."""
        return float(self.limited_ns[causes.NAMES.index(name)]) / max(self.wall_ns, 1)

    @property
    def sent_bps(self) -> float:
        """Bytes acknowledged, as a rate."""
        return (self.after["bytes_acked"] - self.before["bytes_acked"]) * 8e9 / max(self.wall_ns, 1)


class Spells(Sequence[Spell]):
    """What connections did; each `Spell` is made when it is asked for, since of a thousand few are looked at.

    Attributes:
        connections: whose, one for each row; the same list as long as they are the same.
        rows: of type `SPELL`.

    """

    def __init__(self, connections: list[Connection], rows: NDArray[Any]) -> None:
        self.connections = connections
        self.rows = rows

    def __len__(self) -> int:
        return len(self.connections)

    @overload
    def __getitem__(self, index: int) -> Spell: ...
    @overload
    def __getitem__(self, index: slice) -> Spells: ...
    def __getitem__(self, index: int | slice) -> Spell | Spells:
        if isinstance(index, slice):
            return Spells(self.connections[index], self.rows[index])
        return Spell(self.connections[index], self.rows[index])

    def some(self, which: Sequence[int]) -> Spells:
        """Those of these numbers."""
        return Spells([self.connections[at] for at in which], pick(self.rows, np.array(which, dtype=np.intp)))

    @property
    def quiet(self) -> NDArray[np.bool_]:
        """Whether nothing happened, neither sent nor received nor waited for: then all that is said of it is what was said of the one before."""
        return unchanged(self.rows["before"], self.rows["after"]) & (self.rows["stall_ns"] == 0) & ~self.rows["ended"]

    @property
    def wall_ns(self) -> NDArray[np.float64]:
        """Their lengths, never 0; shape (spells,), as the others."""
        return np.maximum(self.rows["end_ns"] - self.rows["start_ns"], 1).astype(float)

    @property
    def causes(self) -> NDArray[np.int64]:
        """Index into `CAUSES` of what took most of the time."""
        return np.argmax(self.rows["limited_ns"], axis=1)

    @property
    def sent_bps(self) -> NDArray[np.float64]:
        """Bytes acknowledged, as rates."""
        return (self.rows["after"]["bytes_acked"] - self.rows["before"]["bytes_acked"]) * 8e9 / self.wall_ns


def _measured(row: Any) -> Measured:
    return dict(zip(MEASURED.names or (), row.tolist(), strict=True))


class Watch:
    """Connections that are watched.

    Args:
        target: which.
        diag: the channel to the kernel.

    """

    def __init__(self, target: Target, diag: SockDiag) -> None:
        self.target = target
        self._diag = diag
        self._services = {listener.port for listener in diag.listeners()}
        self._numbers: dict[str, int] = {}
        self._connections: dict[int, Connection] = {}
        self._last_cookies: list[int] = []
        self._last: list[Connection] = []
        self._owners: dict[int, tuple[int, str]] = {}
        self._owners_at = -_OWNERS_EVERY
        self._began = time.monotonic_ns()
        self._looks = _Looks()
        # Processor time of a look, and share of a processor that goes into reports.
        self._cost = self._reports = 0.0
        self._seen = 0
        self._full_look()

    @property
    def count(self) -> int:
        """Connections at the last look."""
        return len(self._looks.known)

    @property
    def cookies(self) -> list[int]:
        """Those of the connections at the last look."""
        return self._looks.known["cookie"].tolist()

    @property
    def now(self) -> Sockets:
        """The connections as the last look saw them."""
        return self._looks.known

    @property
    def looked_ns(self) -> int:
        """When the last look was, on the monotonic clock."""
        return self._diag.read_ns

    def listeners(self) -> list[Listener]:
        """What listens on this machine now."""
        return self._diag.listeners()

    def restart(self) -> None:
        """Begins anew."""
        self._looks = _Looks()
        self._began = time.monotonic_ns()
        self._full_look()

    def since_began(self, monotonic_ns: int) -> int:
        """A time of the monotonic clock as one of this watch, ns."""
        return monotonic_ns - self._began

    def connection(self, cookie: int) -> Connection | None:
        """The connection the kernel calls so, if it was met."""
        return self._connections.get(cookie)

    def intervals(self, seconds: float, total: float | None) -> Iterator[Spells]:
        """What every connection did in one interval after another, those that ended in it last.

        Args:
            seconds: length of an interval.
            total: when to end; never if None.

        Raises:
            LiveError: if the kernel or a process can no longer be asked.

        """
        start = time.monotonic()
        number = 0
        while total is None or number * seconds < total - 1e-9:
            number += 1
            end = start + (number * seconds if total is None else min(number * seconds, total))
            self._until(end)
            before = time.process_time()
            yield self._take()
            # Whoever asked for the interval is done with it.
            self._reports += _SMOOTHING * ((time.process_time() - before) / seconds - self._reports)

    def finish(self) -> Spells:
        """What was seen since the last interval, for a watch that is cut short."""
        return self._take()

    def totals(self) -> Spells:
        """What was seen of every connection, from the first look at it to the end of the last interval."""
        return self._spells(self._looks.totals())

    def _until(self, end: float) -> None:
        while True:
            pause = max(_SHORTEST, self._cost / max(_BUDGET - self._reports, _LEAST))
            now = time.monotonic()
            # A look that would come close before the last one is not worth it.
            if now + 1.5 * pause >= end:
                time.sleep(max(0.0, end - now))
                self._full_look()
                return
            time.sleep(pause)
            self._look(self._again())

    def _again(self) -> Sockets:
        known = self._looks.known
        if len(known) * _DUMP_FACTOR < self._seen:
            return self._diag.again(known)
        everything = self._diag.connections()
        return pick(everything, np.isin(everything["cookie"], known["cookie"]))

    def _full_look(self) -> None:
        """Also at connections that are new."""
        before = time.process_time()
        everything = self._diag.connections()
        self._seen = len(everything)
        self._look(self.target.choose(everything), before)

    def _look(self, sockets: Sockets, before: float | None = None) -> None:
        before = time.process_time() if before is None else before
        self._looks.add(self._diag.read_ns - self._began, sockets)
        spent = time.process_time() - before
        self._cost = spent if self._cost == 0 else self._cost + _SMOOTHING * (spent - self._cost)

    def _take(self) -> Spells:
        return self._spells(self._looks.take())

    def _spells(self, rows: NDArray[Any]) -> Spells:
        """Rows of `SPELL` with their names."""
        known = self._connections
        cookies: list[int] = rows["after"]["cookie"].tolist()
        if cookies != self._last_cookies:
            for at, cookie in enumerate(cookies):
                if cookie not in known:
                    self._introduce(_measured(rows[at]["after"]))
            self._last_cookies, self._last = cookies, [known[cookie] for cookie in cookies]
        return Spells(self._last, rows)

    def _introduce(self, seen: Measured) -> None:
        """A connection's names, when it is met."""
        local, remote = (address(seen["family"], seen[end]) for end in ("source", "destination"))
        sport, dport = seen["sport"], seen["dport"]
        base = f"{_host(remote)} at :{sport}" if sport in self._services else f"{_host(remote)}:{dport}"
        number = self._numbers[base] = self._numbers.get(base, 0) + 1
        owner = self._owner(seen["inode"])
        made = Connection(
            seen["cookie"], f"{base}[{number}]", f"{_host(local)}:{sport}", f"{_host(remote)}:{dport}", seen["uid"],
            owner[0] if owner else None, owner[1] if owner else None,
        )  # fmt: skip
        self._connections[made.cookie] = made

    def _owner(self, inode: int) -> tuple[int, str] | None:
        # A socket without an inode has been closed by its process and sends what is left.
        if inode and inode not in self._owners and time.monotonic() - self._owners_at >= _OWNERS_EVERY:
            self._owners, self._owners_at = owners(), time.monotonic()
        return self._owners.get(inode)


def _host(found: object) -> str:
    text = str(found)
    return f"[{text}]" if ":" in text else text


def divide(spells: NDArray[Any], found: NDArray[np.float64], still: NDArray[np.float64]) -> None:
    """Divides stretches of time by what held connections back in them: fills in `busy_ns`, `limited_ns` and `stall_ns`.

    Args:
        spells: of type `SPELL`, with their ends and what the kernel said at both.
        found: shape (spells, causes): time that lay next to looks that found each cause.
        still: of the same shape: the part of it in which something waited and the device had nothing of it.

    """
    wall = (spells["end_ns"] - spells["start_ns"]).astype(float)
    before, after = spells["before"], spells["after"]
    counted = [(after[name].astype(np.int64) - before[name].astype(np.int64)) * 1000.0 for name in _COUNTERS]
    busy = np.minimum(counted[0], wall)
    limited = np.zeros((len(spells), _K))
    limited[:, causes.RWND] = np.minimum(counted[1], busy)
    limited[:, causes.SEND_BUFFER] = np.minimum(counted[2], busy - limited[:, causes.RWND])
    rest = busy - limited.sum(axis=1)
    # The kernel does not count every such wait (on 6.18 not that of a writer whose buffer one large piece has overfilled), so what looks found
    # beyond its count is kept; what it explains is not divided once more.
    weights = found * np.divide(busy, found.sum(axis=1), out=np.zeros(len(spells)), where=found.any(axis=1))[:, None]
    weights[:, _COUNTED] = np.maximum(weights[:, _COUNTED] - limited[:, _COUNTED], 0)
    weights[~weights.any(axis=1), causes.SOURCE] = 1
    limited += rest[:, None] * weights / weights.sum(axis=1)[:, None]
    # What the kernel counted and no look met is taken for a wait: the device needs a moment, a window a round trip.
    unseen = np.broadcast_to(np.isin(np.arange(_K), _COUNTED), found.shape).astype(float)
    share = np.divide(still, found, out=unseen.copy(), where=found > 0)
    spells["stall_ns"] = (limited * _WAITS * share).sum(axis=1)
    limited[:, causes.SOURCE] += wall - busy
    spells["busy_ns"], spells["limited_ns"] = busy, limited


class _Looks:
    """Looks at connections, each added to what was found since the last `take` and since the connection was met."""

    def __init__(self) -> None:
        self._state = np.zeros(0, dtype=_STATE)
        self._look = causes.look(self.known)
        self._gone: list[NDArray[Any]] = []
        self.ended: list[NDArray[Any]] = []

    @property
    def known(self) -> Sockets:
        """The connections at the last look, as it saw them."""
        return self._state["last"]

    def add(self, now_ns: int, sockets: Sockets) -> None:
        """One more look; connections that are not in it any more have ended."""
        sockets = pick(sockets, np.argsort(sockets["cookie"]))
        before = self._state
        if not np.array_equal(sockets["cookie"], before["last"]["cookie"]):
            before = self._align(now_ns, sockets)
        look = causes.look(sockets)
        # Half of the time between two looks belongs to what each of them found.
        half = (now_ns - before["last_ns"]) / 2
        rows = np.arange(len(sockets))
        for seen in (self._look, look):
            before["found"][rows, seen.cause] += half
            before["still"][rows, seen.cause] += half * (seen.waiting & seen.idle_device)
        _copy(before["last"], sockets)
        before["last_ns"] = now_ns
        self._state, self._look = before, look

    def _align(self, now_ns: int, sockets: Sockets) -> NDArray[Any]:
        """The state with the rows of `sockets`: those that have ended are put aside, new ones begin."""
        old = self._state
        staying = np.isin(old["last"]["cookie"], sockets["cookie"])
        if not staying.all():
            self._close(pick(old, ~staying))
        state = np.zeros(len(sockets), dtype=_STATE)
        for name in ("met", "first", "last"):
            _copy(state[name], sockets)
        state["met_ns"] = state["first_ns"] = state["last_ns"] = now_ns
        places = np.flatnonzero(np.isin(sockets["cookie"], old["last"]["cookie"]))
        raw(state)[places] = raw(old)[staying]
        self._look = causes.look(state["last"])
        return state

    def take(self) -> NDArray[Any]:
        """What was seen of each connection since the last time, as rows of `SPELL`, those that ended last; a new stretch begins."""
        state = self._state
        spells = _divided(state)
        _add_up(state, spells)
        _copy(state["first"], state["last"])
        state["first_ns"] = state["last_ns"]
        state["found"] = state["still"] = 0
        gone, self._gone = self._gone, []
        passed = spells["end_ns"] > spells["start_ns"]
        return join([spells if passed.all() else pick(spells, passed), *gone])

    def totals(self) -> NDArray[Any]:
        """What was seen of every connection since it was met, up to the last `take`, as rows of `SPELL`."""
        return join([*self.ended, _totals(self._state)])

    def _close(self, state: NDArray[Any]) -> None:
        spells = _divided(state)
        spells["ended"] = True
        self._gone.append(spells)
        _add_up(state, spells)
        _copy(state["first"], state["last"])
        state["first_ns"] = state["last_ns"]
        totals = _totals(state)
        totals["ended"] = True
        self.ended.append(totals)


def _copy(target: Sockets, source: Sockets) -> None:
    raw(target)[:] = raw(source)


def _divided(state: NDArray[Any]) -> NDArray[Any]:
    spells = np.zeros(len(state), dtype=SPELL)
    spells["start_ns"], spells["end_ns"] = state["first_ns"], state["last_ns"]
    _copy(spells["before"], state["first"])
    _copy(spells["after"], state["last"])
    divide(spells, state["found"], state["still"])
    return spells


def _add_up(state: NDArray[Any], spells: NDArray[Any]) -> None:
    for name in ("busy_ns", "limited_ns", "stall_ns"):
        state[name] += spells[name]


def _totals(state: NDArray[Any]) -> NDArray[Any]:
    totals = np.zeros(len(state), dtype=SPELL)
    totals["start_ns"], totals["end_ns"] = state["met_ns"], state["first_ns"]
    _copy(totals["before"], state["met"])
    _copy(totals["after"], state["first"])
    for name in ("busy_ns", "limited_ns", "stall_ns"):
        totals[name] = state[name]
    return totals
