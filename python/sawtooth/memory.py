"""What a run gives back is kept for the next one.

The memory allocator of the GNU C library asks the system for every large piece anew, and gives it back when it is freed, unless it has found out by itself that this does not
pay. It does not find out where somebody has set one of its numbers, as Dask does for workers (`MALLOC_TRIM_THRESHOLD_`). A batch is many runs that need the same again: asked for anew,
its pages cost 4 to 7 % of its time.
"""

from __future__ import annotations

import ctypes
import functools
import sys

# Of `mallopt`(3): its names, and what is set. Larger pieces than 32 MiB cannot be kept.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_KEPT = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 256 << 20, _TOP_PAD: 16 << 20}


@functools.cache
def keep() -> bool:
    """Has this process keep up to 256 MiB that it does not need at the moment; whether it does, as other libraries than GNU's cannot be told."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(name, value) for name, value in _KEPT.items())
