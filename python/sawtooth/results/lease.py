"""One command at a time writes to a URL: object stores have no locks, so each puts a claim there, and whoever sees another's takes its own back.

A claim is an object in the folder `locks`. It is written first, and only then are the others looked at: of two commands at least one sees the other, as
stores list what was written before. Its holder writes it anew every few seconds; one that was not written for a minute, by the store's clock, is of a command
that is gone, and so is at once one of a process of this machine that has ended.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import random
import re
import secrets
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

from sawtooth.errors import DatasetError
from sawtooth.results.folder import Objects
from sawtooth.results.sums import digest
from sawtooth.storage import lives

# How often a claim is written anew, and after how long without that it is nobody's any more. Seconds.
_EVERY, _GONE = 10.0, 60.0
# Those who wait look again after so long, each another time, so that no two go on taking back their claims for each other.
_AGAIN = 0.5, 2.0
_CLAIMS = "locks"
_CLAIM = re.compile(r"(?P<where>[0-9a-f]{16})-(?P<process>\d+)-[0-9a-f]{16}")


@contextlib.contextmanager
def lease(place: Objects, *, wait: bool = True) -> Generator[None]:
    """Makes this command the only one that writes to a URL.

    Raises:
        DatasetError: if another does and `wait` is false, or the URL cannot be written.

    """
    name = f"{_here()}-{os.getpid()}-{secrets.token_hex(8)}"
    since = f"process {os.getpid()} on {platform.node()} since {time.strftime('%Y-%m-%d %H:%M:%S')} ({' '.join(sys.argv)})"
    content = since.encode(errors="replace")
    ended = threading.Event()
    beats = threading.Thread(target=_beat, args=(place, name, content, ended), daemon=True)
    try:
        _take(place, name, content, wait=wait)
        beats.start()
        yield
    finally:
        ended.set()
        if beats.is_alive():
            beats.join()
        # Where that fails it is nobody's in a minute.
        with contextlib.suppress(DatasetError):
            place.remove(f"{_CLAIMS}/{name}")


def _take(place: Objects, name: str, content: bytes, *, wait: bool) -> None:
    told = False
    while True:
        place.write(f"{_CLAIMS}/{name}", content)
        others = _others(place, name)
        if not others:
            return
        holder = place.read(f"{_CLAIMS}/{others[0]}").decode(errors="replace") or "another command"
        place.remove(f"{_CLAIMS}/{name}")
        if not wait:
            raise DatasetError(f"{place} is in use by {holder}", "wait for its end, or name another place")
        if not told:
            print(f"{place} is in use by {holder}: waiting for its end", file=sys.stderr, flush=True)
            told = True
        time.sleep(random.uniform(*_AGAIN))


def _others(place: Objects, name: str) -> list[str]:
    """The claims of other commands; what is of none any more is removed."""
    written = (place / _CLAIMS).times()
    found: list[str] = []
    for other, at in written.items():
        claim = _CLAIM.fullmatch(other)
        if claim is None or other == name:
            continue
        # Both times are the store's.
        old = name in written and written[name] - at > _GONE
        if old or (claim["where"] == _here() and not lives(int(claim["process"]))):
            place.remove(f"{_CLAIMS}/{other}")
        else:
            found.append(other)
    return found


def _beat(place: Objects, name: str, content: bytes, ended: threading.Event) -> None:
    while not ended.wait(_EVERY):
        # What fails now may work the next time; a store that is gone is told by whoever writes results to it.
        with contextlib.suppress(DatasetError):
            place.write(f"{_CLAIMS}/{name}", content)


@functools.cache
def _here() -> str:
    """Where numbers of processes mean the same: this kernel since it was started, and this namespace of processes."""
    with contextlib.suppress(OSError):
        return digest(Path("/proc/sys/kernel/random/boot_id").read_bytes() + str(Path("/proc/self/ns/pid").readlink()).encode())[:16]
    return secrets.token_hex(8)
