"""What stands at the ticks of figures as they are drawn: numbers as numbers, names as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure

from sawtooth.plots import difference, style

LEVELS = ["$x$ of a_b", "_c", "10^8 \\d"]


def differences() -> Figure:
    """As the report on HighSpeed TCP has them: logarithmic on both sides of zero, from bit/s to Gbit/s."""
    values = np.array([-1e9, -1e4, 0.0, 5.0, 1e6, 3e9])
    return difference.by_level({"highspeed": dict.fromkeys(LEVELS, values)}, "level", "difference (bit/s)")


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
