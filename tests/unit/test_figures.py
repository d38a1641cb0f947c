"""What stands at the ticks of figures as they are drawn: numbers as numbers, names as they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure

from sawtooth.estimates import Estimate
from sawtooth.plots import cells, style
from sawtooth.stats import Interval

LEVELS = ["$x$ of a_b", "_c", "10^8 \\d"]


@dataclass(frozen=True)
class Group:
    size: int
    name: str


def differences() -> Figure:
    """As the study of HighSpeed TCP has them: logarithmic on both sides of zero, from bit/s to Gbit/s."""
    values = [-1e9, -1e4, 0.0, 5.0, 1e6, 3e9]
    points = [(at, Estimate(Interval(value, value, value, 2, "no variation"), 2)) for at, value in enumerate(values)]
    panel = cells.Panel({"highspeed": points}, groups=[Group(2, level) for level in LEVELS])
    return cells.draw([panel], ([""], [""]), ["highspeed"], ("cells", "difference (bit/s)"), scale="symlog", trend=3)


def logarithmic() -> Figure:
    """Powers of ten on one axis; numbers within a decade, which are at minor ticks, on the other."""
    made, (axes,) = style.figure(4, 3)
    axes.set_xscale("log")
    axes.set_xlim(1e-3, 1e9)
    axes.set_yscale("log")
    axes.set_ylim(20, 70)
    return made


@pytest.mark.parametrize("make", [differences, logarithmic])
def test_powers_of_ten_at_ticks_are_drawn_as_numbers_and_names_as_they_are_written(
    make: Callable[[], Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    letters: set[str] = set()
    formulas: set[str] = set()
    draw = RendererSVG.draw_text

    def seen(
        self: RendererSVG, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None
    ) -> None:
        (formulas if ismath else letters).add(s)
        draw(self, gc, x, y, s, prop, angle, ismath, mtext)

    monkeypatch.setattr(RendererSVG, "draw_text", seen)
    style.svg(make())
    assert len(formulas) > 8
    assert all("mathdefault" in number for number in formulas)
    names = set(LEVELS) if make is differences else set[str]()
    assert names <= letters
    assert not [text for text in letters - names if "mathdefault" in text or "$" in text]
