"""Processes that the explorer starts, and that end with it, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_TIED = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15); os.getppid() == int(sys.argv[1]) and os.execv(sys.argv[2], sys.argv[2:])"
"""Has the system send SIGTERM (15) when the thread that started it ends (PR_SET_PDEATHSIG), and then is the command; it does not begin if that has happened."""


def tied(module: str, words: Sequence[str]) -> list[str]:
    """The command of a module of this program, which ends with the thread that starts it.

    Args:
        module: as `python -m` calls it.
        words: that follow.

    """
    # The folder in which it is run is no place to import from (-P).
    return [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), sys.executable, "-P", "-m", module, *words]
