"""The figures that a study asks for, read and checked when it is planned."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sawtooth import figures
from sawtooth.errors import cut
from sawtooth.figures.places import MEASURE
from sawtooth.figures.several import several as several_measures
from sawtooth.figures.spec import COMMON, PLACES, FigureSpec, Kind
from sawtooth.hints import did_you_mean
from sawtooth.measures import Measure, Samples, View, tables
from sawtooth.questions import Reader
from sawtooth.study.assign import Tree

_LONGEST_NAME = 100


def read(reader: Reader) -> list[FigureSpec]:
    """The figures, each with a name of its own: it is that of its files.

    Args:
        reader: of the study.

    Raises:
        StudyError: with its place, for what is no name of the study or no measure.

    """
    found: dict[str, FigureSpec] = {}
    for tree, path in reader.entries("figures"):
        spec = figure(reader, tree, path)
        if spec.name in found:
            raise reader.error(f"two figures are called `{spec.name}`", f"{path}.name", "give this one another name: its files have it")
        found[spec.name] = spec
    return list(found.values())


def figure(reader: Reader, tree: Tree, path: str) -> FigureSpec:
    """One of them."""
    kind = figures.TABLE[reader.one_of(tree, "kind", path, figures.KINDS, "levels")]
    _known_keys(reader, tree, path, kind)
    name = _file_name(reader, tree, path)
    caption = reader.text(tree, "caption", path, "")
    options = kind.read(reader, tree, path)
    if not kind.measured:
        return FigureSpec(name, kind.name, caption, options=options, path=path)
    several = several_measures(reader, tree, path, kind)
    alone = reader.samples if kind.samples else reader.measure
    measure: Measure | Samples = next(iter(several.values())) if several else alone(tree, path)
    if kind.timed and not all(tables.SHAPES[table].when for table in measure.tables):
        hint = "a figure over time is of samples and events, such as series.cwnd_bytes or queues.backlog_packets"
        raise reader.error(f"`{measure.name}` has no time", f"{path}.metric", hint)
    measured = [measure, *several.values(), *(value for value in options.values() if isinstance(value, Measure))]
    fixed = kind.fixed(options)
    by: list[str] = []
    places: dict[str, str] = {}
    for place in kind.places:
        if place not in tree:
            continue
        dimension = reader.text(tree, place, path)
        columns = telling(measured)
        taken = {**fixed, **places}
        if dimension in taken.values():
            other = next(each for each, held in taken.items() if held == dimension)
            raise reader.error(f"`{dimension}` has a place already: `{other}`", f"{path}.{place}", "one place is enough for a dimension")
        if several and dimension == MEASURE:
            places[place] = dimension
            continue
        if dimension in columns and dimension not in reader.levels:
            by.append(dimension)
        elif dimension not in reader.levels and dimension not in ("arm", "item"):
            raise reader.error(
                f"`{place}` cannot be `{cut(dimension)}`",
                f"{path}.{place}",
                did_you_mean(dimension, [*reader.levels, "arm", "item", *([MEASURE] if several else []), *columns]),
            )
        places[place] = dimension
    view = View(reader.how(tree, path, kind.flows), reader.rows(tree, path, measured), tuple(by))
    return FigureSpec(
        name, kind.name, caption, measure, view, reader.choice(tree, path, measured), places,
        statistic=reader.statistic(tree, path),
        scale=reader.one_of(tree, "scale", path, ("linear", "log", *(["symlog"] if kind.symlog else [])), "linear"),
        label=reader.text(tree, "label", path, ""),
        x_label=reader.text(tree, "x_label", path, ""),
        unit=reader.shown_in(tree, path, measure),
        options=options, path=path, several=several,
    )  # fmt: skip


def _known_keys(reader: Reader, tree: Tree, path: str, kind: Kind) -> None:
    """Refuses keys that no figure has, and those that only others have."""
    every = (
        {key.name for each in figures.TABLE.values() for key in each.keys} | {key.name for key in COMMON} | {*PLACES, "statistic", "scale"}
    )
    for key in tree:
        if key in kind.known:
            continue
        if key in every:
            raise reader.error(f"a figure of kind `{kind.name}` has no `{key}`", f"{path}.{key}", "leave it out", key=True)
        raise reader.error(f"unknown key `{key}`", f"{path}.{key}", did_you_mean(key, kind.known), key=True)


def _file_name(reader: Reader, tree: Tree, path: str) -> str:
    name = reader.text(tree, "name", path)
    if not re.fullmatch(r"\w[\w-]*", name):
        raise reader.error(f"`{cut(name)}` cannot name a file", f"{path}.name", "use letters, digits, `-` and `_`")
    if len(name.encode()) > _LONGEST_NAME:
        raise reader.error(f"`{cut(name)}` is too long to name a file", f"{path}.name", f"{_LONGEST_NAME} bytes are room for a name")
    return name


def telling(measured: Sequence[Measure | Samples]) -> list[str]:
    """Columns of the tables that tell rows apart, besides the item."""
    found: dict[str, None] = {}
    for measure in measured:
        for table in measure.tables:
            shape = tables.SHAPES[table]
            found.update(dict.fromkeys([*shape.keys, *shape.orders, *tables.text_columns(table)]))
            item = ("link", "direction") if shape.item == tables.LINK else (shape.item,)
            for name in item:
                if name not in shape.keys:
                    found.pop(name, None)
    return list(found)
