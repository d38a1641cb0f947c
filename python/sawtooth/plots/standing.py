"""Verdicts under other assumptions: of each claim bars of the shares of combinations that say what, all below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sawtooth.plots.forest import ANSWERS, Judged
from sawtooth.plots.style import extent, figure, legend_above, plain, wrapped

_WIDTH, _MARGIN, _GAP = 6.4, 0.08, 0.1
_LINE = 0.2
"""Height of a line, in inches."""
_HEAD, _NAME, _NUMBER = 8.5, 7.5, 7.0
"""Size of a claim, of a bar's name and of the numbers in it, in points."""
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
    """A bar is a whole, whatever its number of combinations; the numbers in it are combinations.

    Args:
        claims: each to its bars; a bar's name to how many combinations have which answer.

    """
    heads = {claim: wrapped(plain(claim, 400), _HEAD, 0.94 * (_WIDTH - 2 * _MARGIN), bold=True) for claim in claims}
    lines = sum(len(heads[claim]) + len(own) + 0.6 for claim, own in claims.items())
    names = [_named(name, own) for every in claims.values() for name, own in every.items()]
    left = _MARGIN + max(extent(name, _NAME) for name in names) + _GAP
    height = _LINE * lines + 0.35
    made, (axis,) = figure(_WIDTH, height)
    made.set_layout_engine("none")
    width = _WIDTH - left - _MARGIN
    axis.set_position((left / _WIDTH, 0.02, width / _WIDTH, 1 - 0.35 / height - 0.02))
    at = 0.0
    for claim, own in claims.items():
        for line in heads[claim]:
            _text(axis, line, at, (_MARGIN - left) * 72, _HEAD, bold=True)
            at += 1
        for name, counts in own.items():
            _text(axis, _named(name, counts), at, (_MARGIN - left) * 72, _NAME)
            _bar(axis, counts, at, width)
            at += 1
        at += 0.6
    axis.set_xlim(0, 1)
    axis.set_ylim(lines - 0.5, -0.6)
    axis.set_axis_off()
    present = [answer for answer in ANSWERS if any(counts.get(answer) for own in claims.values() for counts in own.values())]
    legend_above(made, axis, [(Patch(**_look(answer)), answer) for answer in present])
    return made


def _named(name: str, counts: Mapping[str, int]) -> str:
    return plain(f"{name} ({sum(counts.values())})")


def _text(axis: Any, text: str, at: float, right: float, size: float, *, bold: bool = False) -> None:
    axis.annotate(text, (0, at), xycoords=("axes fraction", "data"), xytext=(right, 0), textcoords="offset points", ha="left", va="center",
                  fontsize=size, fontweight="bold" if bold else "normal")  # fmt: skip


def _bar(axis: Any, counts: Mapping[str, int], at: float, width: float) -> None:
    whole, before = sum(counts.values()), 0.0
    for answer in ANSWERS:
        share = counts.get(answer, 0) / whole
        if not share:
            continue
        axis.barh(at, share, 0.76, left=before, **_look(answer))
        number = str(counts[answer])
        if extent(number, _NUMBER) + 0.06 < share * width:
            axis.annotate(number, (before + share / 2, at), ha="center", va="center", fontsize=_NUMBER,
                          bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "linewidth": 0})  # fmt: skip
        before += share


def _look(answer: str) -> dict[str, Any]:
    colour = ANSWERS[answer][0]
    hatch = _HATCHES[answer]
    return {"facecolor": "white" if hatch else colour, "edgecolor": colour, "hatch": hatch, "linewidth": 0.8,
            **({"alpha": 0.35} if answer == "cannot distinguish" else {})}  # fmt: skip
