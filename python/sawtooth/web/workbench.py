"""A figure of kind `levels` as the workbench draws it: points with their intervals as the report makes them, and every replicate.

Nothing is left to the browser but where ink goes. What would take together what are no replicates is refused as in a study file, with the same words.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import polars as pl

from sawtooth import analysis, estimates, figures
from sawtooth.design import MixedError
from sawtooth.errors import DatasetError, StudyError
from sawtooth.estimates import Estimate
from sawtooth.figures import shown
from sawtooth.figures.data import Data, Runs, in_order
from sawtooth.figures.spec import FigureSpec
from sawtooth.plots import shifts, ticks
from sawtooth.plots.ticks import Ticks
from sawtooth.recognise import level, written
from sawtooth.report.answers import Answers
from sawtooth.report.document import Plot
from sawtooth.study.written import written as toml

_MOST_PANELS, _MOST_POINTS, _MOST_ITEMS = 200, 20_000, 400


@dataclass(frozen=True)
class Side:
    """One of the datasets of a figure: what its curves are called after, empty where there is no other, and its values."""

    label: str
    data: Data


def laid_out(answers: Answers, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The figure that the keys of a `[[figures]]` block ask for.

    Args:
        answers: over the results.
        keys: of the block, of kind `levels`.

    Returns:
        `x`: its dimension, label, and levels with their names on the axis, without the unit that is in its label; whether points are
        `joined`, and how far each curve stands `beside` its levels. `y`: label, scale and the axis with its ticks; values are
        in that unit, which is so many times the measure's (`divisor`).
        `places`: where each dimension went. `panels`: each with `row`, `column`, why it is `empty` (no text if it is not) and curves; a curve has `points`, one per level (null without a run), and its runs as
        columns: `at` (number of the level), `value`, `run`; `side` is the number of the dataset that these are of. `caption`, and `toml`: the lines of a study file that make
        the figure.

    Raises:
        StudyError: if what is asked makes no sense.
        DatasetError: if these results do not hold it.

    """
    with _without_text():
        return analysis.laid_out(answers, {**keys, "kind": "levels"}, lambda spec: on_page([Side("", _data(answers, spec))], spec, keys))


def beside(first: Answers, second: Answers, labels: Sequence[str], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The same figure of two datasets of a study, each with curves of its own: nothing of one is taken together with anything of the other.

    Args:
        first: over the results that say which levels there are, and where dimensions go.
        second: over those that stand beside them.
        labels: what the two are called.
        keys: as for `laid_out`, whose result this has, too.

    Raises:
        StudyError: as for `laid_out`, and of which side it is.
        DatasetError: likewise.

    """
    spec, sides = sides_of(first, second, labels, keys)
    return on_page(sides, spec, keys)


def sides_of(first: Answers, second: Answers, labels: Sequence[str], keys: Mapping[str, Any]) -> tuple[FigureSpec, list[Side]]:
    """What `beside` shows, and how, before it is laid out."""
    asked = {**keys, "kind": "levels"}
    with _of_side(labels[0]):
        spec, mine = analysis.laid_out(first, asked, lambda spec: (spec, _data(first, spec)))
    with _of_side(labels[1]):
        theirs = analysis.laid_out(second, {**asked, **mine.places}, lambda spec: _data(second, spec))
    return spec, [Side(labels[0], mine), Side(labels[1], theirs)]


def drawn(answers: Answers, keys: Mapping[str, Any]) -> Plot:
    """The same figure as the report draws it, on the axis of values that the page has: what is published beside it is there, too.

    Raises:
        StudyError: as for `laid_out`.
        DatasetError: likewise.

    """
    from sawtooth.plots import levels

    asked = {**keys, "kind": "levels"}
    with _without_text():
        made, page = analysis.drawn(answers, asked), laid_out(answers, keys)["y"]
    levels.on_axis(made.figure, Ticks(**page["axis"]), page["scale"])
    return made


@contextlib.contextmanager
def _without_text() -> Generator[None]:
    """Leaves out where a mistake stands: whoever asked with a page's controls has written no text in which that would be."""
    try:
        yield
    except StudyError as error:
        raise StudyError(error.message, hint=error.hint) from None


@contextlib.contextmanager
def _of_side(label: str) -> Generator[None]:
    """Says of which side it is what cannot be shown."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{label}: {error.message}", hint=error.hint) from None
    except DatasetError as error:
        raise DatasetError(f"{label}: {error.message}", error.hint) from None


def _data(answers: Answers, spec: FigureSpec) -> Data:
    """The values of a figure, if a page can show it.

    Raises:
        DatasetError: if it has more panels or points.

    """
    try:
        data = Data(answers.evaluator, spec, figures.TABLE["levels"], answers.shown.references, answers.arms)
    except MixedError as error:
        # Who looks at a page has no study file to add something to.
        raise DatasetError(f"the figure cannot be drawn: {error}", _choose(error)) from None
    number = {place: data.frame[dimension].n_unique() for place, dimension in data.places.items()}
    panels = number.get("panels", 1) * number.get("rows", 1)
    for count, most, what in ((panels, _MOST_PANELS, "panels"), (panels * number.get("curves", 1) * number["x"], _MOST_POINTS, "points")):
        if count > most:
            raise DatasetError(
                f"this figure would have {count:,} {what}, and a page shows {most:,}",
                "keep one dimension at a level, or let one with many levels go along x; a figure of kind `heatmap` or `cells` in the study shows more",
            )
    return data


def _choose(error: MixedError) -> str:
    """What to choose at a page so that nothing is mixed."""
    if "cell" in error.levels:
        return "the cells differ in nothing that has a name: the study would have to give them factors"
    names = " and ".join({"item": "the items", "arm": "the arms"}.get(name, f"`{name}`") for name in error.levels)
    return f"choose a place for {names} above, or one of the levels"


def on_page(sides: Sequence[Side], spec: FigureSpec, keys: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of one or several datasets as `laid_out` tells it."""
    data = sides[0].data
    divisor, unit = data.spec.unit or data.scaled(data.measure, pl.concat(side.data.frame.select("low", "high") for side in sides))
    levels = levels_of(sides)
    at = {level(each): number for number, each in enumerate(levels)}
    panels: dict[tuple[str, str], dict[str, Any]] = {}
    drawn: dict[tuple[str, str], list[Estimate | None]] = {}
    values: list[float] = []
    for number, side in enumerate(sides):
        for laid in side.data.laid():
            here = panels.setdefault((level(laid.row), level(laid.column)), {"row": laid.row, "column": laid.column, "curves": []})
            for name, own in laid.curves.items():
                points: list[Estimate | None] = [None] * len(levels)
                for each, point in own.items():
                    points[at[level(each)]] = point.estimate.over(divisor)
                drawn.setdefault((level(laid.row), level(laid.column)), []).extend(points)
                runs = _runs({at[level(each)]: point.runs for each, point in own.items()}, side.data.range, divisor)
                values += [value for value in runs["value"] if value is not None]
                here["curves"].append(
                    {
                        "name": called(sides, side, name),
                        "points": [point and _point(point) for point in points],
                        "runs": runs,
                        "side": number,
                    }
                )
    every = [point for points in drawn.values() for point in points if point is not None]
    scale, note = shown.scale(data, [value for point in every for value in point.values])
    lacking = [text if len(sides) == 1 else f"{side.label}: {text}" for side in sides if (text := shown.without_value(side.data))]
    values += [value for point in every for value in (point.interval.low, point.interval.high, *point.values)]
    axis = ticks.of_values(values, scale, counts=data.measure.counts)
    for place, panel in panels.items():
        panel["empty"] = empty(drawn.get(place, []), scale)
    words, common = ticks.of_levels([written(each) for each in levels])
    caption = shown.sentences(spec.caption, estimates.said(every, spec.statistic), note, shown.pooling(data), *lacking, shown.chosen(spec))
    names = [[called(sides, side, name) for name in side.data.curve_names()] for side in sides]
    curves = [name for beside in zip_longest(*names) for name in beside if name is not None]
    joined = shifts.numbers_first(levels)
    return {
        "x": {
            "dimension": data.places["x"],
            "label": ticks.label(data.x_label, common),
            "levels": [written(each) for each in levels],
            "names": words,
            "joined": joined,
            "beside": [shifts.dodge(at, len(curves), joined=joined) for at in range(len(curves))],
        },
        "y": {"label": data.label(spec.label, data.measure, unit), "unit": unit, "divisor": divisor, "scale": scale, "axis": asdict(axis)},
        "curves": curves,
        "places": data.places,
        "items": _items(data),
        "panels": [*panels.values()],
        "caption": caption,
        "toml": as_toml(keys),
    }


def empty(points: Sequence[Estimate | None], scale: str) -> str:
    """Why nothing of a panel has a place on its axis; empty if something has."""
    if not points:
        return "no run tells it"
    beyond = scale == "log" and not any(value > 0 for point in points if point for value in point.values)
    return estimates.without_value(points) or ("nothing is above 0, and the scale is logarithmic" if beyond else "")


def _items(data: Data) -> list[str]:
    """All items that the measure is of, as far as a list can have them."""
    found = data.every_item()
    return found if len(found) <= _MOST_ITEMS else []


def levels_of(sides: Sequence[Side]) -> list[str]:
    """The levels along x of all sides, in the words of the first that has them."""
    found: dict[str, str] = {}
    for side in sides:
        for each in side.data.levels():
            found.setdefault(level(each), each)
    own = sides[0].data.levels()
    return own if len(found) == len(own) else in_order([*found.values()])


def called(sides: Sequence[Side], side: Side, name: str) -> str:
    """What a curve is called: of several datasets after its own, and by its level only where there are others."""
    if len(sides) == 1:
        return name
    return f"{side.label}: {name}" if any(len(each.data.curve_names()) > 1 for each in sides) else side.label


def as_toml(keys: Mapping[str, Any]) -> str:
    """The lines of a study file that make a figure."""
    return toml({"figures": [{"name": "figure", **keys}]})


def _point(point: Estimate) -> dict[str, Any]:
    interval = point.interval
    return {
        "estimate": finite(interval.estimate),
        "low": finite(interval.low),
        "high": finite(interval.high),
        "n": point.n,
        "unfinished": point.unfinished,
        "bound": point.bound,
        "most": finite(point.most),
        "interval": interval.kind,
    }


def _runs(by_level: Mapping[int, Runs], within: tuple[float, float], divisor: float) -> dict[str, list[Any]]:
    """Every run of a curve by itself, by the number of its level: what it is, or the bound that is known of it."""
    found: dict[str, list[Any]] = {"at": [], "value": [], "run": []}
    for at, runs in by_level.items():
        told = ~np.isnan(runs.low)
        values, _ = estimates.of_runs(runs.low[told], runs.high[told], within)
        found["at"] += [at] * len(values)
        found["value"] += [finite(value) for value in (values / divisor).tolist()]
        found["run"] += runs.run[told].tolist()
    return found


def finite(value: float | None) -> float | None:
    """A number that JSON has: null for what is none."""
    return value if value is not None and math.isfinite(value) else None
