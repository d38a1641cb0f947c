"""The look of all figures, and how they are written."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.category import StrCategoryFormatter
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedFormatter, Formatter, FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

from sawtooth import outputs
from sawtooth.recognise import written

mpl.use("Agg")

# Okabe and Ito's palette: told apart by colour-blind readers, and in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")

_FAMILY, _LEGEND_SIZE = "DejaVu Sans", 8
_LONGEST, _LONGEST_NAME = 200, 60
_DPI = 160
_NOTHING = "\u200b"
"""A letter without width."""
_SETTINGS: dict[Any, Any] = {
    "font.family": _FAMILY,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": _LEGEND_SIZE,
    "svg.fonttype": "path",
    "svg.hashsalt": "sawtooth",
    "figure.constrained_layout.use": True,
}


def figure(
    width: float,
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    share_x: bool | Literal["row"] = False,
    share_y: bool = False,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure of `width` x `height` inches with its axes in reading order; `heights` of the rows are relative."""
    with mpl.rc_context(_SETTINGS):
        made = Figure(figsize=(width, height))
        axes = made.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y, height_ratios=heights)
        return made, [axis for row in axes for axis in row]


def legend_above(made: Figure, axis: Axes, chosen: Sequence[tuple[Any, str]] | None = None) -> int:
    """A legend above all panels, where it hides nothing, in as few lines as the figure has room for; the names are those of `axis`, or `chosen`.

    Returns how many lines it has.
    """
    handles, labels = axis.get_legend_handles_labels() if chosen is None else ([each for each, _ in chosen], [name for _, name in chosen])
    if not labels:
        return 0
    # Beside a name there are the sample of its curve and the room to the next: 2 + 0.8 + 2 letters' heights. In lines below each other all
    # columns are taken to be as wide as the widest.
    widths = [4.8 * _LEGEND_SIZE / 72 + extent(label, _LEGEND_SIZE) for label in labels]
    room = made.get_figwidth()
    columns = len(labels) if sum(widths) <= room else max(1, int(room / max(widths)))
    made.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=_LEGEND_SIZE)
    return -(-len(labels) // columns)


def extent(text: str, size: float, *, bold: bool = False) -> float:
    """A text's width in inches, with the spaces at its end."""
    with _any_letter():
        width, _, _ = text_to_path.get_text_width_height_descent(text.replace("\n", " "), font(size, bold=bold), ismath=False)
    return float(width) / 72


def wrapped(text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """The text in lines that are no wider than `width` inches; words that are wider are cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and extent(f"{lines[-1]} {word}", size, bold=bold) <= width:
            lines[-1] += f" {word}"
            continue
        while len(word) > 1 and extent(word, size, bold=bold) > width:
            room = max(1, int(len(word) * width / extent(word, size, bold=bold)) - 1)
            lines.append(word[:room])
            word = word[room:]
        lines.append(word)
    return lines


def font(size: float, *, bold: bool = False) -> FontProperties:
    """The font of all figures."""
    return FontProperties(family=_FAMILY, size=size, weight="bold" if bold else "normal")


def plain_ticks(axis: Axis) -> None:
    """Ticks of a logarithmic axis as people read them, 20 50 100 200: as many as there is room for, of a short stretch those of a linear axis."""
    low, high = axis.get_view_interval()
    fitting = (each for each in _LOCATORS if low > 0 and len(places := _within(each, low, high)) >= 2 and _have_room(axis, places))
    axis.set_major_locator(copy(next(fitting, MaxNLocator(1) if 0 < high < 10 * low else LogLocator())))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())


_LOCATORS = (
    *(LogLocator(subs=subs, numticks=100) for subs in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))),
    *(LogLocator(base=10.0**decades, numticks=100) for decades in (2, 3, 4, 5, 6)),
    *(MaxNLocator(most) for most in (4, 3, 2, 1)),
)
"""Where ticks may be, those with the most names first."""


def _within(locator: Locator, low: float, high: float) -> list[float]:
    """The ticks that are between two values."""
    return [float(place) for place in locator.tick_values(low, high) if low <= place <= high]


def _have_room(axis: Axis, places: Sequence[float]) -> bool:
    """Whether the names of ticks stand beside each other, one letter apart."""
    made = axis.get_figure()
    assert made is not None
    size, width, height = 9.0, *(made.get_size_inches() if isinstance(made, Figure) else (0.0, 0.0))
    box = axis.axes.get_position()
    if axis is axis.axes.yaxis:
        return len(places) * 1.6 * size / 72 <= box.height * height
    widest = max(extent(_plain(place, None), size) for place in places) + size / 72
    low, high = axis.get_view_interval()
    least = min((math.log(b / a) for a, b in pairwise(places)), default=math.inf)
    return widest <= least / math.log(high / low) * box.width * width


def _plain(value: float, _place: int | None) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def named(name: str) -> str:
    """A name as the label of a curve: matplotlib leaves those that are empty or begin with `_` out of legends."""
    name = plain(name, _LONGEST_NAME)
    return name if name and not name.startswith("_") else _NOTHING + name


def plain(text: str, longest: int = _LONGEST) -> str:
    """A text without what no page can hold, its lines not longer than a figure can hold."""
    lines = ("".join(letter if letter.isprintable() or letter == _NOTHING else " " for letter in line) for line in text.split("\n"))
    return "\n".join(line if len(line) <= longest else f"{line[: longest - 3]}..." for line in lines)


class _Written(FuncFormatter):
    """Names at ticks, as they are written, whichever formatter has them."""

    def __init__(self, names: Formatter) -> None:
        def shown(value: float, place: int | None = None) -> str:
            return plain(written(names(value, place)), _LONGEST_NAME).replace("$", r"\$")

        super().__init__(shown)


def _as_written(made: Figure) -> None:
    """What a study calls things is text, and no formula, whatever signs of one it has; only numbers at ticks are matplotlib's own."""
    # Ticks are made when they are asked for, here: only then is known which texts are theirs.
    texts: list[Text] = made.findobj(Text)
    of_ticks: set[int] = set()
    for axis in [each for axes in made.axes for each in (axes.xaxis, axes.yaxis)]:
        for tick in [*axis.majorTicks, *axis.minorTicks]:
            of_ticks |= {id(tick.label1), id(tick.label2)}
        names = axis.get_major_formatter()
        if isinstance(names, FixedFormatter | FuncFormatter | StrCategoryFormatter) and not isinstance(names, _Written):
            axis.set_major_formatter(_Written(names))
    for text in texts:
        if id(text) not in of_ticks:
            text.set_parse_math(False)
            text.set_text(plain(text.get_text()))


@contextmanager
def drawing(made: Figure) -> Generator[None]:
    """Within it a figure is drawn: with the settings of all, and every text of it as it is written."""
    _as_written(made)
    with mpl.rc_context(_SETTINGS), _any_letter():
        # Names that leave no room for curves are seen to.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        yield


@contextmanager
def _any_letter() -> Generator[None]:
    """Within it a letter that the font has not is a box, without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from font")
        yield


def svg(made: Figure) -> str:
    """The figure as SVG text; the same figure gives the same text."""
    with laid_out(made), io.StringIO() as buffer:
        FigureCanvasSVG(made).print_svg(buffer, metadata={"Date": None, "Creator": "sawtooth"})
        text = buffer.getvalue()
    return text[text.index("<svg") :]


def png(made: Figure) -> bytes:
    """The figure as PNG."""
    before = made.dpi
    with laid_out(made), io.BytesIO() as buffer:
        made.set_dpi(_DPI)
        try:
            FigureCanvasAgg(made).print_png(buffer)
        finally:
            made.set_dpi(before)
        return buffer.getvalue()


def pdf(made: Figure) -> bytes:
    """The figure as PDF; the same figure gives the same bytes."""
    with laid_out(made), io.BytesIO() as buffer:
        FigureCanvasPdf(made).print_pdf(buffer, metadata={"CreationDate": None, "Creator": "sawtooth"})
        return buffer.getvalue()


@contextmanager
def laid_out(made: Figure) -> Generator[None]:
    """Within it a figure is drawn, its parts placed once for all formats: finding places takes longer than drawing."""
    with drawing(made):
        if isinstance(engine := made.get_layout_engine(), ConstrainedLayoutEngine):
            _fit_labels(made)
            # With many dots letters are as wide as in print; with few they are fitted to dots, and narrower.
            before = made.dpi
            made.set_dpi(_DPI)
            # Twice: what stands beside axes has its room when those have theirs. Nothing is drawn for it.
            engine.execute(made)
            engine.execute(made)
            made.set_dpi(before)
            made.set_layout_engine("none")
        yield


def _fit_labels(made: Figure) -> None:
    """A name of a vertical axis that is longer than its panel is high stands in two lines, if that is enough."""
    for axes in made.axes:
        place, label = axes.get_subplotspec(), axes.yaxis.label
        rows = 1 if place is None else place.get_gridspec().nrows
        room, size = 0.85 * made.get_figheight() / rows, float(label.get_fontsize())
        if extent(label.get_text(), size) > room and len(lines := wrapped(label.get_text(), size, room)) == 2:
            label.set_text("\n".join(lines))


def files_of(made: Figure, name: str) -> dict[str, bytes]:
    """A figure as the contents of `name`.svg and `name`.png."""
    return {f"{name}.svg": svg(made).encode(), f"{name}.png": png(made)}


def write(made: Figure, directory: Path, name: str) -> None:
    """Writes `name`.svg and `name`.png, each whole or not at all.

    Raises:
        DatasetError: if they cannot be written.

    """
    outputs.write_all(directory, files_of(made, name))
