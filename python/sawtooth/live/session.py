"""One watch from beginning to end: whoever looks at it is told, and what was gathered is kept however it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from sawtooth.errors import ReaderGone
from sawtooth.live.causes import Look, look
from sawtooth.live.exact import Exact, Stall
from sawtooth.live.netlink import LiveError, SockDiag
from sawtooth.live.record import Recorder
from sawtooth.live.targets import Target
from sawtooth.live.watch import Spells, Watch


@dataclass(frozen=True)
class Asked:
    """What is asked of a watch.

    Attributes:
        target: which connections.
        interval: seconds between two reports.
        total: seconds until it ends; without an end if None.
        record: directory to keep it in.
        exact: whether stalls are measured at tracepoints.

    """

    target: Target
    interval: float = 1.0
    total: float | None = None
    record: Path | None = None
    exact: bool = False


@dataclass(frozen=True)
class Report:
    """One interval.

    Attributes:
        spells: what the connections did. stalls: exact ones that ended in it.
        elapsed: seconds since the watch began.
        note: what else is to be said.

    """

    spells: Spells
    stalls: list[Stall]
    elapsed: float
    note: str = ""


@dataclass(frozen=True)
class Ending:
    """How a watch ended.

    Attributes:
        totals: of every connection.
        why: in words; empty if its time was over.
        interrupted: whether somebody stopped it.

    """

    totals: Spells
    why: str = ""
    interrupted: bool = False

    @property
    def hidden(self) -> bool:
        """Whether there are connections of other users whose processes this one may not see."""
        user = os.geteuid()
        return user != 0 and any(each.pid is None and each.uid != user for each in self.totals.connections)


class _Stopped(Exception):
    """Ctrl-C, a request to terminate, or a terminal that is closed."""


def watch(asked: Asked, show: Callable[[Report], None]) -> Ending:
    """Watches until the time is over, the connections have ended or somebody stops it.

    Raises:
        LiveError: if nothing can be seen, with why. What was seen before is kept.
        DatasetError: if it cannot be kept.

    """
    diag = SockDiag()
    recorder: Recorder | None = None
    exact: Exact | None = None
    with contextlib.closing(diag):
        watching = Watch(asked.target, diag)
        _require_something(asked.target, watching)
        if asked.exact:
            everything = not (asked.target.ports or asked.target.pids or asked.target.peers)
            cookies = [] if everything else watching.cookies
            # Of new connections tracepoints see the ports, not whose they are.
            exact = Exact(cookies, asked.target.ports if not asked.target.pids and not asked.target.peers else ())
            watching.restart()
            exact.begin(_waits(watching.cookies, look(watching.now)), watching.looked_ns)
        try:
            if asked.record is not None:
                recorder = Recorder(asked.record, asked.target)
            return _watch(asked, watching, show, recorder, exact)
        finally:
            if recorder:
                recorder.close()
            if exact:
                exact.close()


def _watch(asked: Asked, watching: Watch, show: Callable[[Report], None], recorder: Recorder | None, exact: Exact | None) -> Ending:
    began = time.monotonic()
    why, interrupted = "", False
    seen = watching.count > 0

    def all_of() -> Spells:
        totals = watching.totals()
        _make_exact(totals, exact.told() if exact else None)
        return totals

    def tell(spells: Spells) -> None:
        stalls = _exact(watching, spells, exact)
        if recorder:
            recorder.add(spells, stalls)
            if recorder.due:
                recorder.flush(all_of(), "still watching when this was written")
        note = f"bpftrace could not keep up: {exact.lost} stalls are not listed" if exact and exact.lost else ""
        show(Report(spells, stalls, time.monotonic() - began, note))

    try:
        with _stoppable():
            for spells in watching.intervals(asked.interval, asked.total):
                tell(spells)
                seen = seen or bool(spells)
                if seen and not watching.count and not _may_come(asked.target, watching):
                    why = f"every connection of {asked.target} has ended"
                    break
    except _Stopped:
        why, interrupted = "stopped", True
        rest = watching.finish()
        if rest:
            tell(rest)
    except (BrokenPipeError, ReaderGone):
        # Whoever read it (`| head`) has seen enough.
        pass
    except LiveError as error:
        # A process that ends takes its connections along: that is an end, not a mistake, once there was something.
        if not (seen and asked.target.pids):
            raise
        why = error.message
        rest = watching.finish()
        if rest:
            tell(rest)
    finally:
        totals = all_of()
        if recorder:
            recorder.flush(totals, why)
    return Ending(totals, why, interrupted)


def _require_something(target: Target, watching: Watch) -> None:
    said = target.check(watching.listeners(), watching.count)
    if said and not _may_come(target, watching):
        raise LiveError(said, "`ss -t` lists the connections there are; a server's port may be watched before anybody connects")


def _may_come(target: Target, watching: Watch) -> bool:
    """Whether new connections are to be expected: somebody listens on the port, a process lives, or all are meant."""
    if target.pids:
        return True
    if target.ports:
        return bool(set(target.ports) & {listener.port for listener in watching.listeners()})
    return not target.peers


def _exact(watching: Watch, spells: Spells, exact: Exact | None) -> list[Stall]:
    if exact is None:
        return []
    cookies = [connection.cookie for connection in spells.connections]
    spells.rows["stall_ns"] = exact.account(_waits(cookies, look(spells.rows["after"])), watching.looked_ns)
    stalls: list[Stall] = []
    for cookie, start, end, cause in exact.listed():
        connection = watching.connection(cookie)
        if connection:
            stalls.append(Stall(cookie, connection.name, watching.since_began(start), watching.since_began(end), cause))
    return stalls


def _waits(cookies: list[int], seen: Look) -> dict[int, bool]:
    return dict(zip(cookies, (seen.waiting & seen.idle_device).tolist(), strict=True))


def _make_exact(spells: Spells, stalls: dict[int, int] | None) -> None:
    if stalls is not None:
        spells.rows["stall_ns"] = [float(stalls.get(connection.cookie, 0)) for connection in spells.connections]


@contextlib.contextmanager
def _stoppable() -> Generator[None]:
    """Ctrl-C, termination and a closed terminal become `_Stopped`, so that what was gathered is kept; what is ignored (nohup) stays so."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _Stopped

    wanted = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    previous = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
