"""What a run gives back is kept for the next one, also where somebody has set otherwise."""

import os
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
from sawtooth import memory
if "keep" in sys.argv:
    assert memory.keep()
faults = []
for _ in range(20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    piece = bytearray(4 << 20)
    del piece
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(sum(faults[1:]))
"""


def faults(*arguments: str) -> int:
    """Pages that a process as Dask starts them has to be given, to use 4 MiB nineteen times more."""
    told = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    found = subprocess.run([sys.executable, "-c", FAULTS, *arguments], env=told, capture_output=True, text=True, check=True)
    return int(found.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of the GNU C library")
def test_pages_of_a_run_are_kept_for_the_next_one() -> None:
    pages = (4 << 20) // os.sysconf("SC_PAGE_SIZE")
    assert faults("keep") < pages
    assert faults() > 15 * pages
