"""What a figure is: the kinds are rows of a table, and what a study asks for is one of them with a measure, a choice of values and places for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sawtooth.measures import Measure, Samples, View
from sawtooth.questions import Choice, Reader
from sawtooth.stats import Centre
from sawtooth.study.keys import Key

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from sawtooth.figures.data import Data

_DIMENSION = 'factor, `"arm"`, `"item"` or a column that tells rows apart'
PLACES: Mapping[str, Key] = {
    "x": Key("x", _DIMENSION, 'the last factor, else `"arm"`', "what the horizontal axis stands for"),
    "y": Key("y", _DIMENSION, 'the factor before that, else `"arm"` or `"item"`', "what the vertical axis stands for"),
    "parts": Key("parts", f'{_DIMENSION}, or `"measure"`', '`"measure"` of several, else `"item"`', "what a whole is made of"),
    "curves": Key("curves", _DIMENSION, '`"arm"` if there are several, else `"item"`', "what the curves, or colours, stand for"),
    "panels": Key("panels", _DIMENSION, "one panel", "what the panels stand for, one beside the other"),
    "rows": Key("rows", _DIMENSION, "one row", "what the rows of panels stand for; `panels` are then its columns"),
}
"""What a dimension can be in a figure."""

COMMON = (
    Key("name", "text", "needed", "of the figure's files"),
    Key("kind", "[kind](#kinds-of-figures)", "`\"levels\"`", "how it is shown"),
    Key("caption", "text", "what is shown", "below the figure"),
    Key(
        "metric",
        "[measure](measures.md)",
        "needed",
        "what is shown; of `cdf`, `time` and `lanes` a column with a value per row, such as a sample; of `shares` also a list, or a table of names and measures",
    ),
    Key("flows", '`"mean"`, `"sum"`, `"max"`, `"min"`, `"each"`', '`"mean"`; of `shares` `"sum"`', "how the flows of a block are taken together within a run"),
    Key("of", "item or list of items", "all", "flows, blocks of flows by their name, or directions of links"),
    Key("arm", "arm or list of arms", "all", "of which alternatives"),
    Key("where", "table of factors and levels, or columns and values", "all", "which cells; of a column which rows, also `\"< 100 kB\"`; of a factor also `\"<= 8 kB\"`, or another factor: `\"<= queue\"`"),
    Key("window", "list of two times", "the whole run", "the part of each run that counts, of measures of samples and events"),
    Key("warm_up", "time, share such as `\"10 %\"` of samples, or `\"mser-5\"`", "none", "the beginning that is left out; MSER-5 finds it in each run"),
    Key("width", "time", "`\"1 s\"`", "of the windows in which `series.throughput_bps` is taken"),
    Key("unit", "unit", "what suits the values", "in which it is shown, such as `kB/s`; tables keep those of measures"),
    Key("label", "text", "the measure", "what the measure is called on its axis, without a unit"),
    Key("x_label", "text", "the factor", "what the other axis is called"),
)  # fmt: skip
STATISTIC = Key("statistic", '`"mean"`, `"median"`, `"geometric mean"`', '`"mean"`', "what is made of replicates")
SCALE = Key(
    "scale",
    '`"linear"`, `"log"`, of `cells` also `"symlog"`',
    '`"linear"`',
    "of the measure's axis; `symlog` is logarithmic on both sides of 0",
)


@dataclass(frozen=True)
class FigureSpec:
    """A figure that is asked for.

    Attributes:
        name: of its files.
        kind: which.
        caption: below it; empty for one that says what is shown.
        measure: what is shown; of kinds that show each row, of each row; of kinds that show several, the first.
        view: how rows become values.
        choice: which values.
        places: place to dimension, as the study has them.
        statistic: what is made of replicates.
        scale: of the measure's axis.
        label, x_label: of the axes; empty for the names in the study.
        unit: that values are shown in, and what they are divided by for that; None for one that suits them.
        options: what else the kind has read.
        path: where it is in the study; empty if the study has not asked for it.
        several: all measures by their names, the levels of the dimension `measure`; empty for one measure without a name.

    """

    name: str
    kind: str
    caption: str = ""
    measure: Measure | Samples | None = None
    view: View = field(default_factory=View)
    choice: Choice = field(default_factory=Choice)
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    statistic: Centre = "mean"
    scale: str = "linear"
    label: str = ""
    x_label: str = ""
    unit: tuple[float, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    path: str = ""
    several: Mapping[str, Measure] = field(default_factory=dict[str, Measure])

    @property
    def base(self) -> tuple[str, str] | None:
        """What others are held against: the dimension and its level."""
        along, to = self.options.get("along"), self.options.get("to")
        return (str(along), str(to)) if along and to else None

    @property
    def needed(self) -> Choice:
        """What is chosen, and what it is held against."""
        return self.choice.including(*self.base) if self.base else self.choice

    @property
    def measures(self) -> list[Measure | Samples]:
        """All measures that it needs."""
        first = [] if self.several or self.measure is None else [self.measure]
        return [*first, *self.several.values(), *(value for value in self.options.values() if isinstance(value, Measure))]


@dataclass(frozen=True)
class Drawn:
    """A figure: what makes its picture, what is to be said of its points, and the numbers in it.

    Attributes:
        picture: a function of `sawtooth.plots` with all that it takes: another process can make it, too, but that of evidence, which has functions.

    """

    picture: Callable[[], Figure]
    note: str
    numbers: pl.DataFrame

    @cached_property
    def figure(self) -> Figure:
        """The picture, made when it is first asked for."""
        return self.picture()


def no_options(_reader: Reader, _tree: Mapping[str, Any], _path: str) -> dict[str, Any]:
    """Of a kind that has no keys of its own."""
    return {}


def nothing_fixed(_options: Mapping[str, Any]) -> dict[str, str]:
    """Of a kind whose places are all for the study to fill."""
    return {}


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes:
        name: as a study writes it.
        summary: what it shows.
        places: which dimensions it has a place for, in the order in which they are offered.
        draw: draws it.
        keys: keys that only it has.
        read: reads them.
        fixed: places that its own keys fill, to their dimensions.
        several: whether `metric` may be several measures of one unit, which the dimension `measure` tells apart.
        percentiles: whether `metric` is what rows have a value of, and shown are percentiles of it: `several` of them.
        samples: whether it shows each row of a table rather than one number per run.
        timed: whether it shows when each row is.
        base_apart: whether what others are held against is no value of its own, so that it needs no place.
        each_run: whether it shows every cell, arm and item by itself wherever it stands, so that nothing can be mixed.
        along: whether all factors together are its horizontal axis.
        flows: how the flows of a block are taken together where the figure does not say it.
        statistic, scale: whether it has these keys.
        symlog: whether its scale may be logarithmic on both sides of 0.
        measured: whether it shows a measure at all.

    """

    name: str
    summary: str
    places: Sequence[str]
    draw: Callable[[Data], Drawn]
    keys: Sequence[Key] = ()
    read: Callable[[Reader, Mapping[str, Any], str], dict[str, Any]] = no_options
    fixed: Callable[[Mapping[str, Any]], dict[str, str]] = nothing_fixed
    several: bool = False
    percentiles: bool = False
    samples: bool = False
    timed: bool = False
    base_apart: bool = False
    each_run: bool = False
    along: bool = False
    flows: str = "mean"
    statistic: bool = True
    scale: bool = True
    symlog: bool = False
    measured: bool = True

    @property
    def known(self) -> list[str]:
        """The keys of a figure of this kind."""
        common = [key.name for key in COMMON if self.measured or key.name in ("name", "kind", "caption")]
        if self.samples:
            # The horizontal axis is the measure, or time.
            common.remove("x_label")
        own = [key.name for key in self.keys]
        return [*common, *self.places, *(["statistic"] if self.statistic else []), *(["scale"] if self.scale else []), *own]
