"""Verdicts with their evidence: of every claim and cell how far the interval is from what was claimed.

Claims are of different units, and no scale would suit all. Each claim has one of its own, which its cells share: it holds estimates, limits and most
of its intervals, and the numbers stand at the right. What lengths say within a claim they do not say from one to the other.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sawtooth.estimates import LEAST, MOST
from sawtooth.plots.style import extent, figure, plain, wrapped
from sawtooth.scales import scale
from sawtooth.stats import Interval

ANSWERS = {"yes": ("#1a7f37", "o"), "no": ("#b42318", "X"), "mixed": ("#7a3fc4", "D"), "cannot distinguish": ("#7d5200", "s")}
"""Colour and marker of each answer: the colours are those of the word on pages, the markers tell them apart also in grey."""
_WIDTH = 4.0
"""Room of a claim's lines, in inches: as wide as a phone shows."""
_LEFT, _AXIS, _GAP = 0.08, 2.0, 0.11
"""Left margin, width of the intervals, and what is between these and their numbers, in inches."""
_NUMBERS, _MOST_NUMBERS = 7.5, 2.2
"""Size of numbers, in points; width at which they go on in the next line, in inches."""
_FARTHEST = 4.0
"""The scale is no wider than so many times what most intervals need: of one that is far wider the others would be points."""
_HEAD, _CELL = 8.5, 7.5
"""Size of a claim and of a cell's name, in points."""
_CODE = re.compile(r"`([^`]+)`")
"""What a page shows as code; a figure has no such letters."""
_LINE = 0.19
"""Height of a line, in inches."""
MOST_CELLS = 24
"""Of a claim; of more, those are drawn that are nearest to its limits, and it is said how many are not."""


class Weighed(Protocol):
    """What one cell says of a claim: `sawtooth.findings.verdict.Evidence`."""

    @property
    def cell(self) -> str:
        """Its factors in words; empty if there is one cell only."""
        ...

    @property
    def interval(self) -> Interval | None:
        """What is held against the limits; None if it is no number."""
        ...

    @property
    def limits(self) -> tuple[float, float]:
        """Between which the claim holds."""
        ...

    @property
    def unit(self) -> str:
        """Of the interval."""
        ...

    @property
    def read_in(self) -> tuple[float, str] | None:
        """What that is divided by to be read, and the unit that it then has; None if nothing says it."""
        ...

    @property
    def quantity(self) -> str:
        """What the interval is of; empty of a value itself."""
        ...


class Judged(Protocol):
    """A verdict: `sawtooth.report.document.Verdict`."""

    @property
    def claim(self) -> str:
        """In words."""
        ...

    @property
    def answer(self) -> str:
        """One of `ANSWERS`."""
        ...

    @property
    def numbers(self) -> str:
        """In words."""
        ...

    @property
    def weighed(self) -> Sequence[Weighed]:
        """Of each cell, and each step of what several decide."""
        ...


@dataclass(frozen=True)
class _Row:
    """A line of the figure: of a claim, of a cell's name, or an interval."""

    text: str = ""
    answer: str = ""
    head: bool = False
    evidence: Weighed | None = None
    reach: float = 1.0
    numbers: str = ""


def forest(verdicts: Sequence[Judged]) -> Figure:
    """Of each claim its answer and its lines, and below them an interval for each cell, with its limits, on a scale of the claim.

    The middle is the limit, or between both limits; where the claim holds is shaded. An end without an arrow head is an end of the interval; an
    arrow says that there is none, or that it is beyond the scale: the numbers tell which. All stands below each other, so that a phone shows it.

    Args:
        verdicts: in the order in which they are shown.

    """
    rows = [row for verdict in verdicts for row in _rows(verdict)]
    right = max((extent(row.numbers, _NUMBERS) for row in rows), default=0.5)
    width = max(_WIDTH, _LEFT + _AXIS + _GAP + right + _LEFT)
    made, (axis,) = figure(width, _LINE * len(rows) + 0.45)
    # By hand: claims are wider than the axes that they stand above.
    made.set_layout_engine("none")
    height = made.get_figheight()
    axis.set_position((_LEFT / width, 0.42 / height, _AXIS / width, 1 - 0.45 / height))
    for at, row in enumerate(rows):
        _draw(axis, at, row)
    axis.set_xlim(-1.08, 1.08)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)
    axis.annotate(
        "each claim on a scale of its own; shaded: where it holds; line: its limit", (0, 0), xycoords="axes fraction", xytext=(0, -8), textcoords="offset points",
        ha="left", va="top", fontsize=7.5,
    )  # fmt: skip
    return made


def said(verdicts: Sequence[Judged]) -> str:
    """What a caption says of it."""
    intervals = [each.interval for verdict in verdicts for each in verdict.weighed if each.interval is not None]
    n = {interval.n for interval in intervals}
    kinds = list(dict.fromkeys(interval.kind for interval in intervals if math.isfinite(interval.high - interval.low)))
    runs = f"n = {min(n)} to {max(n)}" if len(n) > 1 else f"n = {max(n, default=0)}"
    counts = ", ".join(f"{count} {answer}" for answer in ANSWERS if (count := sum(verdict.answer == answer for verdict in verdicts)))
    what = "claims" if len(verdicts) != 1 else "claim"
    text = f"{len(verdicts)} {what}: {counts or 'none'}; {'; '.join([runs, *kinds[:3]])}."
    text += " Each claim has a scale of its own, which its cells share: lengths of different claims do not compare."
    if any(_goes_on(end, each, _reach(cells)) for cells in map(_cells, verdicts) for each in cells for end in _ends(each)):
        text += " An arrow: the interval has no end there, or one beyond the scale; the numbers tell which."
    left_out = sum(max(len(verdict.weighed) - MOST_CELLS, 0) for verdict in verdicts)
    if left_out:
        text += f" {left_out} cells that are furthest from their limits are not drawn; all are in the CSV."
    return text


def _rows(verdict: Judged) -> list[_Row]:
    """Of one claim: its verdict, its lines, what its intervals are of, and a line for each cell."""
    cells = _cells(verdict)
    lines = wrapped(plain(_CODE.sub(r"\1", verdict.claim), 400), _HEAD, _WIDTH - 0.1, bold=True) or [""]
    rows = [_Row(verdict.answer, verdict.answer, head=True), *(_Row(line, head=True) for line in lines)]
    if not cells:
        return [*rows, *(_Row(line) for line in wrapped(plain(verdict.numbers, 400), _CELL, _WIDTH - 0.1)), _Row()]
    reach = _reach(cells)
    divided = cells[0].read_in or scale(cells[0].unit, [_largest(each) for each in cells])
    alone = len(cells) == 1 and not cells[0].cell
    rows.append(_Row(f"{cells[0].quantity or 'value'}{f' ({divided[1]})' if divided[1] else ''}"))
    for each in cells:
        rows += [] if alone else [_Row(line) for line in wrapped(plain(each.cell or "all", 200), _CELL, _WIDTH - 0.1)]
        first, *others = wrapped(numbers(each, divided), _NUMBERS, _MOST_NUMBERS) or [""]
        rows.append(_Row("", verdict.answer if alone else "", False, each, reach, first))
        rows += [_Row(numbers=line) for line in others]
    return [*rows, _Row()]


def _cells(verdict: Judged) -> list[Weighed]:
    """Those that are drawn."""
    every = [each for each in verdict.weighed if each.interval is not None]
    # From no limit a distance is infinite.
    nearest = sorted(every, key=_distance)[:MOST_CELLS]
    return [each for each in every if any(each is kept for kept in nearest)]


def _middle(each: Weighed) -> float:
    """What stands in the middle: the limit, or what is between both."""
    low, high = each.limits
    finite = [end for end in (low, high) if math.isfinite(end)]
    return sum(finite) / len(finite) if finite else 0.0


def _distance(each: Weighed) -> float:
    """How far the interval is from the nearest limit: 0 if it holds one."""
    assert each.interval is not None
    finite = [end for end in each.limits if math.isfinite(end)]
    if not finite:
        return math.inf
    return min(max(end - each.interval.high, each.interval.low - end, 0.0) for end in finite)


def _reach(cells: Sequence[Weighed]) -> float:
    """From the middle to the edge of the scale that the cells of a claim share, in their unit."""
    held: list[float] = [0.0]
    ends: list[float] = [0.0]
    for each in cells:
        assert each.interval is not None
        middle = _middle(each)
        held += [abs(value - middle) for value in (each.interval.estimate, *each.limits) if math.isfinite(value)]
        ends += [abs(end - middle) for end in _ends(each) if math.isfinite(end)]
    return min(max(*held, *ends), _FARTHEST * max(*held, statistics.median(ends))) or 1.0


def _ends(each: Weighed) -> tuple[float, float]:
    assert each.interval is not None
    return each.interval.low, each.interval.high


def _goes_on(end: float, each: Weighed, reach: float) -> bool:
    """Whether an interval, of which this is an end, is drawn as one that goes on."""
    assert each.interval is not None
    return math.isfinite(each.interval.estimate) and abs(end - _middle(each)) > 1.05 * reach


def _signed(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:+,.0f}" if 999.5 <= abs(value) < 1e9 else f"{value:+.3g}"


def _largest(each: Weighed) -> float:
    """The largest number of an interval, for its unit."""
    assert each.interval is not None
    return max((abs(end) for end in (each.interval.estimate, each.interval.low, each.interval.high) if math.isfinite(end)), default=0.0)


def numbers(each: Weighed, divided: tuple[float, str]) -> str:
    """Estimate, interval and unit: the same of all cells of a claim."""
    interval, (divisor, unit) = each.interval, divided
    assert interval is not None
    if not math.isfinite(interval.estimate):
        return interval.kind
    bound = "≥ " if interval.kind.endswith(LEAST) else "≤ " if interval.kind.endswith(MOST) else ""
    shown = f"{bound}{_signed(interval.estimate / divisor)}"
    if interval.low == interval.high:
        return f"{shown} {unit}".strip()
    if math.isfinite(interval.low) or math.isfinite(interval.high):
        ends = ["no end" if not math.isfinite(end) else _signed(end / divisor) for end in (interval.low, interval.high)]
        shown += f" ({ends[0]} to {ends[1]})"
    else:
        shown += " (no interval)"
    return f"{shown} {unit}".strip()


def _draw(axis: Axes, at: int, row: _Row) -> None:
    colour, marker = ANSWERS.get(row.answer, ("0.2", "o"))
    if row.text:
        said_by = colour if row.answer else "black" if row.head else "0.25"
        axis.annotate(plain(row.text, 200), (0, at), xycoords=("axes fraction", "data"), ha="left", va="center", color=said_by,
                      fontsize=_HEAD if row.head else _CELL, fontweight="bold" if row.head else "normal")  # fmt: skip
    if row.numbers:
        axis.annotate(row.numbers, (1, at), xycoords=("axes fraction", "data"), xytext=(8, 0), textcoords="offset points", ha="left", va="center",
                      fontsize=_NUMBERS)  # fmt: skip
    if row.evidence is not None:
        _interval(axis, at, row.evidence, row.reach, colour if row.answer else "0.2", marker)


def _interval(axis: Axes, at: int, each: Weighed, reach: float, colour: str, marker: str) -> None:
    """Limits, the side where the claim holds, estimate and interval."""
    interval, middle = each.interval, _middle(each)
    assert interval is not None

    def place(value: float) -> float:
        return max(-1.05, min(1.05, (value - middle) / reach))

    low, high = each.limits
    if math.isfinite(low) or math.isfinite(high):
        axis.fill_between([place(low), place(high)], at - 0.42, at + 0.42, color=ANSWERS["yes"][0], alpha=0.13, linewidth=0)
        for end in (low, high):
            if math.isfinite(end):
                axis.plot([place(end)] * 2, [at - 0.42, at + 0.42], color="0.3", linewidth=0.9)
    if not math.isfinite(interval.estimate):
        return
    for end in (interval.low, interval.high):
        axis.plot([place(interval.estimate), place(end)], [at, at], color=colour, linewidth=1.3, solid_capstyle="butt")
        if _goes_on(end, each, reach):
            axis.plot(place(end), at, "<" if end < interval.estimate else ">", color=colour, markersize=4)
        else:
            axis.plot([place(end)] * 2, [at - 0.16, at + 0.16], color=colour, linewidth=1.0)
    axis.plot(place(interval.estimate), at, marker, color=colour, markersize=5, zorder=4)
