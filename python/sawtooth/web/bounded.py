"""The simulator for questions of pages: whatever is asked, it takes no longer than a limit."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from sawtooth import _core
from sawtooth.backends import sim
from sawtooth.backends.batch import Batch
from sawtooth.errors import RunFailed

MOST_SECONDS = 60.0
"""That a run may take: who wants to wait longer has `sawtooth trace`."""


class Bounded:
    """The simulator, of which a batch takes no longer than a limit."""

    def __init__(self, most_seconds: float = MOST_SECONDS) -> None:
        self._most = most_seconds

    def run_batch(self, scenarios: Sequence[str], seeds: Sequence[int], captures: Sequence[_core.CaptureRequest] = ()) -> Batch:
        """As every backend has it.

        Raises:
            RunFailed: if it takes longer.

        """
        stop = _core.StopRequest()
        timer = threading.Timer(self._most, stop.set)
        timer.daemon = True
        timer.start()
        try:
            outcomes = sim.run_share(scenarios, seeds, stop, captures)
        finally:
            timer.cancel()
        if outcomes is None:
            raise RunFailed(f"the run takes longer than {self._most:g} s, and was ended", "`sawtooth trace` has no such limit")
        return sim.gather([outcomes])
