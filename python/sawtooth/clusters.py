"""Workers of a Dask cluster: of one that is there already, or of one made of processes of this machine.

Scheduling is Dask's: a batch is a task, and one whose worker died is done by another. Records go from a worker to the results, never through
the scheduler. Dask is imported when it is asked for.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sawtooth.errors import ClusterError
from sawtooth.jobs import Terms, require

if TYPE_CHECKING:
    from distributed import Client

_ANSWER = "5 s"
"""So long a scheduler may take to answer."""
_LOCAL = re.compile(r"local:(?P<number>[1-9]\d{0,3})")
# Of each thread of the workers so many batches are with the scheduler, so that none waits for the client; and so many at least, for workers that come.
_PER_THREAD, _LEAST = 3, 16
# What Dask looks at many times a second of processes that have nothing to say: together a tenth of a processor, which two workers on two of them lack.
_CALM = {
    "distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s", "distributed.admin.system-monitor.interval": "2s",
    "distributed.worker.memory.monitor-interval": "1s", "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing-interval": "1s",
}  # fmt: skip
# Those that have levels of their own, by Dask's settings.
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")
# How often the workers are counted, and after how long without any the user hears of it. Seconds.
_COUNTING, _PATIENCE = 1.0, 10.0


class Workers:
    """The workers of a cluster, as `execute` asks for them.

    Attributes:
        executor: where batches go.
        deaths: see `Crew`.
        dashboard: the address of a page that shows what they do.

    """

    def __init__(self, client: Client, say: Callable[[str], None], end: Callable[[], None]) -> None:
        from distributed import KilledWorker

        self.executor = cast(Executor, client.get_executor())
        self.deaths: tuple[type[BaseException], ...] = (KilledWorker,)
        self.dashboard = client.dashboard_link
        self._client, self._say, self._end = client, say, end
        self._threads, self._counted, self._seen, self._told = 0, 0.0, time.monotonic(), False

    def check(self, terms: Terms) -> None:
        """Looks at all workers that are there; those that come later, perhaps because there are batches, are looked at before their first one.

        Raises:
            ClusterError: if one has no Sawtooth or another version of it, or does not see where results go.

        """
        if not self._count():
            self._say("no worker is there yet: waiting for the first one")
            self._told = True
            return
        versions = self._ask(importlib.metadata.version, "sawtooth")
        for worker, found in versions.items():
            if isinstance(found, BaseException):
                raise ClusterError(
                    f"the worker at {worker} has no Sawtooth", "install the same version there as here: workers need its wheel alone"
                )
        for worker, found in self._ask(require, terms).items():
            if isinstance(found, ClusterError):
                raise found
            if isinstance(found, BaseException):
                raise ClusterError(
                    f"the worker at {worker} cannot be asked what it has: {type(found).__name__}: {found}",
                    "install the same version of Sawtooth there as here",
                )

    def ahead(self) -> int:
        """See `Crew`; the user hears of it when no worker is there for long."""
        now = time.monotonic()
        if now - self._counted >= _COUNTING:
            self._counted, self._threads = now, self._count()
            if self._threads:
                self._seen, self._told = now, False
            elif not self._told and now - self._seen >= _PATIENCE:
                self._told = True
                self._say("no worker is there any more: waiting for one")
        return max(_PER_THREAD * self._threads, _LEAST)

    def leave(self) -> None:
        """See `Crew`: what workers elsewhere are at they store, those of this process end."""
        self._end()

    def _count(self) -> int:
        """Threads of all workers that are there; as many as before while the scheduler does not answer."""
        try:
            scheduler: Any = self._client.scheduler
            if scheduler is None:
                return 0
            return sum(cast(Mapping[str, int], self._client.sync(scheduler.ncores, callback_timeout=_ANSWER)).values())
        except (OSError, TimeoutError, ValueError):
            return self._threads

    def _ask(self, call: Callable[..., Any], *given: Any) -> dict[str, Any]:
        """What every worker that is there answers; an error where it cannot."""
        try:
            return cast(dict[str, Any], self._client.run(call, *given, on_error="return"))
        except OSError as error:
            raise ClusterError(f"the workers cannot be asked: {error}", "run the same command again") from None


def require_address(address: str) -> None:
    """Raises `ClusterError` if nothing can be asked at an address: it is none, or Dask is not installed."""
    local = _LOCAL.fullmatch(address)
    if not local and (address.startswith("local:") or not re.fullmatch(r"(\w+://)?[^\s/]+:\d+|.*\.json", address)):
        raise ClusterError(
            f"`{address}` is no address of a Dask scheduler",
            "write tcp://HOST:8786, the scheduler's file such as scheduler.json, or local:4",
        )
    if importlib.util.find_spec("distributed") is None:
        raise ClusterError(
            "--dask needs the package `distributed`, which is not installed", 'install it: pip install "$(ls sawtooth-*.whl)[cluster]"'
        )


@contextlib.contextmanager
def connected(address: str, say: Callable[[str], None]) -> Generator[Workers]:
    """The workers at an address: `tcp://host:8786`, a scheduler's file (`scheduler.json`), or `local:N` for N processes of this machine.

    Args:
        address: where.
        say: is told what the user should know.

    Raises:
        ClusterError: if Dask is not installed, the address is none, or nobody answers there.

    """
    require_address(address)
    import distributed

    local = _LOCAL.fullmatch(address)
    with contextlib.ExitStack() as stack:
        stack.callback(_quiet())
        if local:
            client, end = stack.enter_context(_processes(distributed, int(local["number"])))
        else:
            client, end = stack.enter_context(_scheduler(distributed, address)), _nothing
        workers = Workers(client, say, end)
        say(f"dashboard: {workers.dashboard}")
        yield workers


@contextlib.contextmanager
def _processes(distributed: Any, number: int) -> Generator[tuple[Client, Callable[[], None]]]:
    """Worker processes of this machine, which hear of nobody else; and what ends them at once."""
    import dask.config

    with contextlib.ExitStack() as stack:
        # A batch is given up when this many workers have died of it; here whoever ends workers is more likely to be the cause than the batch.
        stack.enter_context(
            dask.config.set({**_CALM, "distributed.scheduler.allowed-failures": 10})  # pyright: ignore[reportUnknownMemberType]
        )
        with _unheard(signal.SIGINT):
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=number, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
                )
            )
        client = stack.enter_context(distributed.Client(cluster))

        def end() -> None:
            # In order they would come to the end of their batches before.
            for nanny in cluster.workers.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(nanny.pid, signal.SIGKILL)

        yield client, end


@contextlib.contextmanager
def _unheard(number: signal.Signals) -> Generator[None]:
    """What is started meanwhile, also later by threads that are, never hears of a signal: Ctrl-C is for this process, and the terminal sends it to all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _scheduler(distributed: Any, address: str) -> Generator[Client]:
    hint = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
    named: dict[str, str] = {"address": address}
    if address.endswith(".json"):
        if not Path(address).is_file():
            raise ClusterError(
                f"there is no file {address}: no Dask scheduler has written it", f"{hint}; `dask scheduler --scheduler-file {address}`"
            )
        named = {"scheduler_file": address}
    try:
        client = distributed.Client(**named, timeout=_ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError):
        raise ClusterError(f"no Dask scheduler answers at {address}", hint) from None
    try:
        yield client
    finally:
        # One that is gone does not answer to a farewell either.
        client.close(timeout=1)


def _nothing() -> None:
    """Workers elsewhere are not this process's to end."""


def _quiet() -> Callable[[], None]:
    """Keeps what Dask logs from the terminal, where what matters of it is said in other words; what is returned undoes it."""
    before = [(logger, logger.level) for logger in map(logging.getLogger, _LOGGERS)]
    if not sys.warnoptions:
        for logger, _ in before:
            logger.setLevel(logging.CRITICAL + 1)

    def undo() -> None:
        for logger, level in before:
            logger.setLevel(level)

    return undo
