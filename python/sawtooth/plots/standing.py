"""Verdicts under other assumptions: a row per claim, in it bars of the shares of combinations that say what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sawtooth.plots.forest import ANSWERS, Judged
from sawtooth.plots.style import extent, figure, legend_above, plain, wrapped

_TEXT, _WIDTH, _NARROWEST = 3.5, 4.0, 0.62
"""Widths in inches: of claims, of all bars of a claim if they have room in it, and the least of one."""
_MARGIN, _GAP, _LEGEND = 0.08, 0.09, 0.35
_LINE, _NAME_LINE, _BAR = 0.14, 0.13, 1.4
"""Heights in inches, of a line of a claim and of a column's name; and of a bar, in lines."""
_CLAIM, _NAME, _NUMBER = 7.5, 7.0, 6.5
"""Size of a claim, of a column's name and of the numbers in bars, in points."""
_HATCHES = {"yes": "", "no": "////", "mixed": "xxxx", "cannot distinguish": ""}
"""Answers are told apart also in grey."""


class Standing(Protocol):
    """What a verdict is under other assumptions: `sawtooth.findings.assumed.Standing`."""

    @property
    def factors(self) -> Sequence[str]:
        """That were assumed."""
        ...

    @property
    def answers(self) -> Mapping[tuple[str, ...], str]:
        """Levels of the factors to the answer there."""
        ...


class Decided(Judged, Protocol):
    """A verdict: `sawtooth.report.document.Verdict`."""

    @property
    def standing(self) -> Standing | None:
        """What it would be had something else been assumed."""
        ...


def bars(claims: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Figure:
    """A row per claim, a column per name of bars. A bar is a whole, whatever its number of combinations; the numbers in it are combinations.

    Args:
        claims: each to its bars; a bar's name to how many combinations have which answer.

    """
    names = list(dict.fromkeys(name for own in claims.values() for name in own))
    column = max(_NARROWEST, _WIDTH / len(names))
    texts = {claim: wrapped(plain(claim, 400), _CLAIM, 0.96 * _TEXT) for claim in claims}
    heads = {name: wrapped(plain(_headed(name, claims)), _NAME, column - _GAP) for name in names}
    tops = [0.0]
    for lines in texts.values():
        tops.append(tops[-1] + _LINE * max(len(lines), _BAR) + _GAP)
    head = _NAME_LINE * max(map(len, heads.values())) + _GAP
    width, height = 3 * _MARGIN + _TEXT + column * len(names), tops[-1] + head + _LEGEND
    made, (axis,) = figure(width, height)
    made.set_layout_engine("none")
    axis.set_position((0, 0, 1, 1))
    # In inches, from the upper left.
    axis.set_xlim(0, width)
    axis.set_ylim(height, 0)
    axis.set_axis_off()
    left = 2 * _MARGIN + _TEXT
    for at, name in enumerate(names):
        axis.text(left + at * column, _LEGEND + head - _GAP, "\n".join(heads[name]), fontsize=_NAME, ha="left", va="bottom")
    for (claim, own), top, after in zip(claims.items(), tops, tops[1:], strict=False):
        middle = _LEGEND + head + (top + after - _GAP) / 2
        axis.text(_MARGIN, middle, "\n".join(texts[claim]), fontsize=_CLAIM, ha="left", va="center", linespacing=1.15)
        for at, name in enumerate(names):
            if own.get(name):
                _bar(axis, own[name], middle, left + at * column, column - _GAP)
    present = [answer for answer in ANSWERS if any(counts.get(answer) for own in claims.values() for counts in own.values())]
    legend_above(made, axis, [(Patch(**_look(answer)), answer) for answer in present])
    return made


def _headed(name: str, claims: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """A column's name, with the number of its combinations if all claims have as many."""
    numbers = {sum(own[name].values()) for own in claims.values() if name in own}
    return f"{name} ({numbers.pop()})" if len(numbers) == 1 else name


def _bar(axis: Any, counts: Mapping[str, int], middle: float, left: float, width: float) -> None:
    whole, before = sum(counts.values()), left
    for answer in ANSWERS:
        share = counts.get(answer, 0) / whole * width
        if not share:
            continue
        axis.barh(middle, share, _BAR * _LINE, left=before, **_look(answer))
        number = str(counts[answer])
        if extent(number, _NUMBER) + 0.06 < share:
            axis.annotate(number, (before + share / 2, middle), ha="center", va="center", fontsize=_NUMBER,
                          bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "linewidth": 0})  # fmt: skip
        before += share


def _look(answer: str) -> dict[str, Any]:
    colour = ANSWERS[answer][0]
    hatch = _HATCHES[answer]
    return {"facecolor": "white" if hatch else colour, "edgecolor": colour, "hatch": hatch, "linewidth": 0.8,
            **({"alpha": 0.35} if answer == "cannot distinguish" else {})}  # fmt: skip
