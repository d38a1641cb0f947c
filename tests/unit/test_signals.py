"""Signals that are ignored where the tests are started, as under nohup."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

IGNORED = ["sh", "-c", "trap '' HUP INT QUIT PIPE TERM CHLD; exec \"$@\"", "sh"]
CHILD = "import signal; print([name for name in ('SIGHUP', 'SIGQUIT', 'SIGTERM', 'SIGCHLD') if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN])"
INTERRUPTED = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
PARENT = f"""
import signal, subprocess, sys
import tests
print(subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True).stdout.strip())
print(subprocess.run([sys.executable, "-c", {INTERRUPTED!r}], stderr=subprocess.DEVNULL).returncode == -signal.SIGINT)
signal.raise_signal(signal.SIGHUP)
signal.raise_signal(signal.SIGINT)
print("still here")
"""


def test_programs_that_tests_start_hear_them_and_the_tests_do_not() -> None:
    done = subprocess.run([*IGNORED, sys.executable, "-c", PARENT], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["[]", "True", "still here"], done.stderr
