"""A second process that draws figures while the first goes on: of a report, drawing is half of the work."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Images = tuple[str, bytes]
"""A figure as SVG text and as PNG."""


class Aside:
    """Draws figures in a process of its own, which is there from the first figure until this is left.

    It imports the program's main module, which therefore has to do nothing when it is imported: it is for the command line, not for a
    user's script.
    """

    def __init__(self) -> None:
        # A fork would share the threads' locks of what reads tables.
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _prepared)

    def __enter__(self) -> Aside:
        """Nothing is started yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Figures that nobody waits for any more are not begun."""
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def begin(self, picture: Callable[[], Figure]) -> Future[Images]:
        """The figure that a function makes, made and drawn some time: the function, and what it takes, are sent as they are now."""
        return self._pool.submit(_drawn, picture)


def _prepared() -> None:
    # Ctrl-C ends the program, and this with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seldom_swept()


def seldom_swept() -> None:
    """Rubbish is looked for seldom in this process, which ends soon: a figure is tens of thousands of objects, all of them in use, and looking at them anew took a seventh of its drawing."""
    gc.set_threshold(200_000, 20, 20)


def _drawn(picture: Callable[[], Figure]) -> Images:
    from sawtooth.plots import style

    figure = picture()
    return style.svg(figure), style.png(figure)
