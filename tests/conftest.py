"""Fixtures shared by all tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

# Under nohup, or in the background of a script, signals are ignored, and whatever is started from here would ignore them, too: not those that are heard, if
# only to do nothing. So tests that stop a program do so wherever they are run.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
# Nobody could wait for a process.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)

ROOT = Path(__file__).resolve().parents[1]

STUDY = """\
name = "pair"
question = "Who gets more?"
repeat = 2
seed = 7

[vars]
Tp = "20 ms"
N = 2

[draws]
S = { distribution = "uniform_integer", low = "0 ms", high = "12 * Tp", unit = "ms" }

[scenario]
duration = "3 s"
stack = "ns2"
links.bottleneck = { rate = "1 Mbit/s", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }

[[scenario.flows]]
path = ["bottleneck"]
count = "N"
start = "S / N * i"
cc = { name = "reno" }

[sweep]
"vars.Tp" = ["10 ms", "40 ms"]
"vars.N" = [1, 2]

[arms]
newreno = { "tcp.recovery" = "newreno" }
sack = { "tcp.recovery" = "sack" }

[short]
repeat = 1
"vars.N" = [2]
"scenario.duration" = "1 s"
"""


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(STUDY)
    return path
