"""How the work of a plan is shared out: runs that are stored together are a batch, and what one worker does of a batch is a share.

Batches are decided by the plan alone, so that files do not depend on the workers, and are large, so that little is written. Shares are decided by
the number of workers: the longest runs are done first (Graham 1969, LPT), and the less is left, the smaller are the shares (guided
self-scheduling, Polychronopoulos and Kuck 1987), so that all workers end at nearly the same time. How long a run takes is not known before, but
at most about how much there is to do in it.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sawtooth.errors import PlainError

RUN_WORK, ROW_WORK = 2e3, 40.0
"""What a run takes besides its events, and what a row of its tables does, a flow or a link that is built or what was sampled: in events.

Measured of the dumbbell of `bench/stacks.py`, for one to a thousand flows."""

# Of what is left a worker takes one in so many parts of what it would have to do of it.
_SHARES = 8
# Smaller ones, a hundredth of a second, are not worth their call.
_LEAST_WORK = 2e5


@dataclass(frozen=True)
class Share:
    """Some of the runs of a batch, by their positions in it."""

    batch: int
    runs: range


@dataclass(frozen=True)
class Shard:
    """One of several parts of a plan that are done apart, such as 3/10: the third of ten that take about as long, see `assigned`."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads `3/10`.

        Raises:
            PlainError: if it is none.

        """
        found = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
        if found is None or int(found[1]) > int(found[2]):
            raise PlainError(f"`{text}` is no shard", "write which of how many, such as 3/10: from 1/10 to 10/10")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def assigned(amounts: Sequence[float], shards: int) -> list[int]:
    """In which of so many shards, from 1, each batch is: the longest first, each in the one that has least (Graham 1969, LPT)."""
    has = [(0.0, number) for number in range(1, shards + 1)]
    found = [0] * len(amounts)
    for batch in sorted(range(len(amounts)), key=lambda batch: (-amounts[batch], batch)):
        total, number = has[0]
        found[batch] = number
        heapq.heapreplace(has, (total + amounts[batch], number))
    return found


def work(events: float, rows: float) -> float:
    """What a run takes, at most about, in events: of packets at what links, windows and sources let through, of timers and samples; and besides."""
    return events + RUN_WORK + ROW_WORK * rows


def cut(amounts: Sequence[float], most: float, number: int | None = None) -> list[range]:
    """Consecutive ones, as many as together are not more than `most`, at least one, and no more than a number."""
    pieces: list[range] = []
    start = 0
    while start < len(amounts):
        end = _end(amounts, start, most, number)
        pieces.append(range(start, end))
        start = end
    return pieces


def _end(amounts: Sequence[float], start: int, most: float, number: int | None = None) -> int:
    """Where the piece ends that begins at `start`."""
    last = len(amounts) if number is None else min(start + number, len(amounts))
    end, total = start + 1, amounts[start]
    while end < last and total + amounts[end] <= most:
        total += amounts[end]
        end += 1
    return end


def shares(batches: Mapping[int, Sequence[float]], workers: int, rounds: Mapping[int, int] | None = None) -> list[Share]:
    """In which order, and in which pieces, so many workers do batches, of which the work of each run is given.

    Batches with the longest runs come first, and the pieces become smaller as less is left. Those of a batch follow each other, so that few batches
    are in progress at a time. Of batches whose longest runs take about as long, within a factor of two, those of the first replicates are first, of all arms of all cells: so what is
    done of a study tells something about each.

    Args:
        batches: the work of each run, by the number of the batch.
        workers: how many there are.
        rounds: of each batch the first replicate that is in it.

    """
    early = rounds or {}
    found: list[Share] = []
    left = sum(sum(batch) for batch in batches.values())
    for number in sorted(batches, key=lambda number: _place(batches[number], early.get(number, 0), number)):
        batch, start = batches[number], 0
        while start < len(batch):
            most = max(left / (workers * _SHARES), _LEAST_WORK) if workers > 1 else math.inf
            end = _end(batch, start, most)
            left -= sum(batch[start:end])
            found.append(Share(number, range(start, end)))
            start = end
    return found


def _place(batch: Sequence[float], first: int, number: int) -> tuple[float, ...]:
    """Where a batch is in the order in which they are done: how long runs take is known to within such a factor anyway."""
    longest = max(batch)
    return -math.floor(math.log2(max(longest, 1.0))), first, -longest, -sum(batch), number


@dataclass(frozen=True)
class Ends:
    """When workers end who began together, each taking the next of a list as soon as it can: the first and the last of them, and their mean."""

    first: float
    last: float
    mean: float

    @property
    def spread(self) -> float:
        """How much earlier than the last one the first ends, as a share."""
        return 1.0 - self.first / self.last if self.last else 0.0


def replay(seconds: Iterable[float], workers: int) -> Ends:
    """What becomes of a list of shares that took so long, in order."""
    ends = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(ends, ends[0] + each)
    return Ends(min(ends), max(ends), sum(ends) / workers)
