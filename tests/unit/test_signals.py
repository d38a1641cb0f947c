"""Signals that are ignored where the tests are started, as under nohup."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


INTERRUPTED_RUN = """
import os, signal, sys, threading, time
import sawtooth

scenario = {
    "links": {"bottleneck": {"rate": "10 Gbit/s", "delay": "20 ms"}},
    "flows": [{"path": ["bottleneck"], "count": int(sys.argv[1]), "start": "i * 0.00001 s"}],
    "duration": "10000 s",
}
sent = []

def interrupt():
    time.sleep(float(sys.argv[2]))
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

sawtooth.simulate({**scenario, "duration": "1 us", "flows": [{"path": ["bottleneck"]}]})
threading.Thread(target=interrupt, daemon=True).start()
try:
    sawtooth.simulate(scenario)
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""


@pytest.mark.parametrize(("flows", "after"), [(1, 0.3), (200_000, 0.05), (200_000, 0.5), (200_000, 1.5)])
def test_a_run_is_interrupted_within_a_second_also_while_it_is_read_and_set_up(flows: int, after: float) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_RUN, str(flows), str(after)], capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert done.stdout and float(done.stdout) < 1.0, done.stderr
