"""What threads of a batch share is ready before they begin."""

from __future__ import annotations

import subprocess
import sys

SEVERAL = """
import sys, threading, polars as pl
import sawtooth.backends.sim, numpy as np
from polars import _dependencies
assert _dependencies.numpy is np, "polars still has a stand-in for numpy"
sys.setswitchinterval(1e-6)
begin, made = threading.Barrier(8), []
def make():
    begin.wait()
    made.append(pl.Series("a", np.frombuffer(bytes(80), dtype=np.float64)).len())
threads = [threading.Thread(target=make) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
assert made == [10] * 8, made
"""


def test_threads_that_make_their_first_tables_at_once_do_not_meet_a_half_imported_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", SEVERAL], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
