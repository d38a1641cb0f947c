"""Dips: sizes at which throughput falls although it is higher at smaller and at larger ones.

A curve of throughput over message size rises while fixed costs are spread over more bytes, and then stays. What lies far below is a dip: the study
of data-stream stall found its dips by eye; here they are those below a share of a baseline. The baseline is a curve known to be free of dips, as of a
corrected kernel, or else the curve's own surface (`surface`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sawtooth.stats.interval import Vector

BELOW = 0.5


@dataclass(frozen=True)
class Dip:
    """Neighbouring sizes at which throughput is below its share of the baseline.

    Args:
        first: the smallest of them, bytes.
        last: the largest of them, bytes.
        deepest: that with the least share of the baseline, bytes.
        share: throughput there over the baseline, 0 to 1.
        stall: mean over the sizes of what `find` was given as stall; not a number if it was given none.

    """

    first: float
    last: float
    deepest: float
    share: float
    stall: float


@dataclass(frozen=True)
class Agreement:
    """How well the dips of two curves over the same sizes agree.

    Args:
        theirs: how many sizes are dips in the reference.
        found: the share of those that are dips in ours; not a number if there are none.
        ours: how many sizes are dips in ours.
        surplus: the share of those that are none in the reference; not a number if there are none.

    """

    theirs: int
    found: float
    ours: int
    surplus: float


def surface(throughput: Vector) -> Vector:
    """The level to which a curve's dips would fill: at each size the lesser of the highest at no larger and the highest at no smaller sizes.

    Args:
        throughput: in order of size, shape (n,).

    """
    from_left = np.maximum.accumulate(throughput)
    from_right = np.maximum.accumulate(throughput[::-1])[::-1]
    return np.minimum(from_left, from_right)


def below(throughput: Vector, baseline: Vector | None = None, share: float = BELOW) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """At which sizes there is a dip, shape (n,).

    Args:
        throughput: in order of size, shape (n,).
        baseline: without dips, same unit and shape; by default the curve's surface.
        share: below which part of the baseline it is one.

    """
    return np.asarray(throughput < share * (surface(throughput) if baseline is None else baseline))


def find(sizes: Vector, throughput: Vector, baseline: Vector | None = None, stall: Vector | None = None, share: float = BELOW) -> list[Dip]:
    """The dips in order of size.

    Args:
        sizes: of messages, ascending, bytes, shape (n,).
        throughput: shape (n,), any unit.
        baseline: as of `below`.
        stall: of each size, for instance as a share of the time, shape (n,).
        share: as of `below`.

    """
    level = surface(throughput) if baseline is None else baseline
    inside = np.flatnonzero(below(throughput, level, share))
    runs = np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1) if inside.size else []
    made: list[Dip] = []
    for run in runs:
        part = throughput[run] / level[run]
        at = run[int(np.argmin(part))]
        mean = float("nan") if stall is None else float(np.mean(stall[run]))
        made.append(Dip(float(sizes[run[0]]), float(sizes[run[-1]]), float(sizes[at]), float(part.min()), mean))
    return made


def agreement(ours: np.ndarray[tuple[int], np.dtype[np.bool_]], theirs: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Agreement:
    """How the dips `ours` agree with those of a reference, both as `below` gives them."""
    found, surplus = shares(ours, theirs)
    return Agreement(int(theirs.sum()), float(found), int(ours.sum()), float(surplus))


def shares(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """The shares found and surplus of an `Agreement`, of many curves at once: `ours` has the shape (..., n), `theirs` (n,)."""
    both, mine = np.sum(ours & theirs, axis=-1), ours.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return both / np.float64(theirs.sum()), (mine - both) / np.float64(mine)
