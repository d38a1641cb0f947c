"""What figures and findings have in common: a measure, of which arms, cells and items, over which rows; read from a study with places of mistakes."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import polars as pl

from sawtooth import _core, measures
from sawtooth.errors import DatasetError, StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.measures import Condition, Context, ExpressionError, Measure, Rows, Samples, tables, units
from sawtooth.measures.blocks import block
from sawtooth.measures.expression import parse
from sawtooth.measures.functions import HOWS
from sawtooth.measures.rows import MSER, SIGNS
from sawtooth.recognise import called, level, written
from sawtooth.references import Reference
from sawtooth.sheets import number
from sawtooth.stats import Centre
from sawtooth.study import Study, mistakes
from sawtooth.study.assign import Tree
from sawtooth.study.document import shown
from sawtooth.study.mistakes import Said
from sawtooth.study.paths import quoted
from sawtooth.study.sweep import axis_names, samples

COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<=": lambda a, b: a <= b * (1 + 1e-12), ">=": lambda a, b: a >= b * (1 - 1e-12), "<": lambda a, b: a < b * (1 - 1e-12),
    ">": lambda a, b: a > b * (1 + 1e-12),
}  # fmt: skip
STATISTICS: tuple[Centre, ...] = ("mean", "median", "geometric mean")
"""What is made of replicates."""
_EXAMPLE = {units.TIME.powers: "10 ms", units.RATE.powers: "10 Mbit/s", units.DATA.powers: "64 kB", units.PACKETS.powers: "50 packets"}
_UNIT = re.compile(r"[^\W\d]+(/[^\W\d]+)?")
_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(frozen=True)
class Relation:
    """Cells in which one factor stands in a relation to another, such as a window that is no larger than the queue.

    Attributes:
        factor, other: of which factors.
        pairs: the levels of both that do.
        sign: which relation.

    """

    factor: str
    other: str
    pairs: frozenset[tuple[str, str]]
    sign: str = ""


@dataclass(frozen=True)
class Choice:
    """Which values are spoken of; what is empty may be any.

    Attributes:
        of: items, or blocks of flows by their name.
        arms: arms.
        where: factor to levels.
        relations: that factors stand in.

    """

    of: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    relations: tuple[Relation, ...] = ()

    def select(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Those of a frame with the factors, arm and item; in the order in which items and arms are named."""
        for factor, levels in self.where.items():
            frame = frame.filter(pl.col(factor).is_in(levels))
        for relation in self.relations:
            pairs = pl.DataFrame(
                sorted(relation.pairs),
                schema=[relation.factor, relation.other],
                orient="row",
                schema_overrides=dict.fromkeys([relation.factor, relation.other], pl.String),
            )
            frame = frame.join(pairs, on=[relation.factor, relation.other], how="semi", maintain_order="left")
        if self.arms:
            frame = pl.concat([frame.filter(arm=arm) for arm in self.arms])
        if self.of and "item" in frame.columns:
            frame = pl.concat([frame.filter((pl.col("item") == item) | (block(pl.col("item")) == item)) for item in self.of])
        return frame

    def including(self, dimension: str, level: str) -> Choice:
        """The same and a level of a dimension, which what was chosen is held against."""
        if dimension == "arm":
            return dataclasses.replace(self, arms=_with(self.arms, level))
        if dimension == "item":
            return dataclasses.replace(self, of=_with(self.of, level))
        if dimension not in self.where:
            return self
        return dataclasses.replace(self, where={**self.where, dimension: _with(self.where[dimension], level)})


Found = TypeVar("Found")


class Reader:
    """Reads tables of a study that ask for something of its runs."""

    def __init__(self, study: Study, references: Mapping[str, Reference]) -> None:
        self.study = study
        self.references = references
        # The short form has fewer levels, and what speaks of the others is no mistake.
        every = samples(study)
        paths = dict.fromkeys(path for cell in every for path in cell.factors)
        self.levels: dict[str, dict[str, None]] = {}
        for path, name in axis_names(list(paths)).items():
            values = (cell.factors.get(path) for cell in every)
            self.levels[name] = {_text(value): None for value in values if value is not None}
        self.context = Context(references, [*study.arms, *study.other_arms])

    @property
    def error(self) -> Callable[..., StudyError]:
        """Makes an error of a message, a path and a hint."""
        return self.study.document.error

    def wrong(self, said: Said, path: str) -> StudyError:
        """An error of a message and a hint."""
        message, hint = said
        return self.study.document.error(message, path, hint)

    def entries(self, key: str) -> list[tuple[Tree, str]]:
        """The tables of the list `key`, each with its path."""
        entries = self.study.tree.get(key, [])
        if not isinstance(entries, list):
            raise self.wrong(mistakes.no_list_of_tables(key), key)
        found: list[tuple[Tree, str]] = []
        for at, entry in enumerate(cast(list[Any], entries)):
            if not isinstance(entry, dict):
                raise self.wrong(mistakes.no_list_of_tables(key), f"{key}[{at}]")
            found.append((cast(Tree, entry), f"{key}[{at}]"))
        return found

    # --- measures

    def measure(self, tree: Tree, path: str, key: str = "metric") -> Measure:
        """The measure that an expression names."""
        return self._expression(tree, path, key, lambda text: measures.measure(text, self.context))

    def samples(self, tree: Tree, path: str, key: str = "metric") -> Samples:
        """What an expression is of each row of a table."""
        return self._expression(tree, path, key, lambda text: measures.samples(text, self.context))

    def expression(self, tree: Tree, path: str, key: str = "metric") -> None:
        """Refuses what is no expression, whatever its names mean."""
        self._expression(tree, path, key, parse)

    def _expression(self, tree: Tree, path: str, key: str, read: Callable[[str], Found]) -> Found:
        text = self.text(tree, key, path)
        try:
            return read(text)
        except ExpressionError as error:
            place = self.study.document.place(f"{path}.{key}", within=error.span)
            raise StudyError(error.message, place, error.hint) from None

    def rows(self, tree: Tree, path: str, of: Sequence[Measure | Samples]) -> Rows:
        """The rows that count: `window`, `warm_up`, and those conditions of `where` that are on columns."""
        start, end = self.window(tree, path)
        warm_up = tree.get("warm_up")
        if warm_up is not None and "window" in tree:
            raise self.error("`warm_up` and `window` both say where the run begins to count", f"{path}.warm_up", "leave one out", key=True)
        chosen, share = None, None
        if warm_up == MSER:
            chosen = MSER
        elif isinstance(warm_up, str) and warm_up.strip().endswith("%"):
            share = self.warm_up_share(warm_up, f"{path}.warm_up", of)
        elif warm_up is not None:
            start = self.time(warm_up, f"{path}.warm_up", f'such as "5 s", "10 %", or "{MSER}"')
        made = Rows(tuple(self.conditions(tree, path, of)), start, end, chosen, share, self.width(tree, path, of))
        if made.of_time:
            self.require_times(of, "warm_up" if warm_up is not None else "window", path)
        return made

    def warm_up_share(self, given: str, path: str, of: Sequence[Measure | Samples]) -> float:
        """The share of each run that is left out at its beginning; of samples only, which are taken until a run's end."""
        share = self.share(given, path, "warm_up")
        if share >= 1:
            raise self.error(f"`{given}` leaves nothing of a run", path, 'such as warm_up = "10 %"')
        for measure in of:
            if any(tables.SHAPES[table].when not in (None, "t_ns") or table == tables.MESSAGES for table in measure.tables):
                raise self.error(f"`{measure.name}` is of events, which do not tell when a run ended", path, 'name a time, such as "5 s"')
        return share

    def width(self, tree: Tree, path: str, of: Sequence[Measure | Samples]) -> float | None:
        """The width of the windows in which throughput over time is taken, in ns."""
        if "width" not in tree:
            return None
        place = f"{path}.width"
        width = self.time(tree["width"], place, 'such as width = "100 ms"')
        if width <= 0:
            raise self.error("windows have a width above 0", place, 'such as width = "100 ms"')
        if not any(tables.WINDOWS in measure.tables for measure in of):
            raise self.error("`width` is of windows in which throughput is taken", place, "only series.throughput_bps has them")
        return width

    def require_times(self, of: Sequence[Measure | Samples], key: str, path: str) -> None:
        """Refuses a part of the run of what is of a whole run."""
        for measure in of:
            whole = [table for table in measure.tables if tables.SHAPES[table].when is None] or list(measure.computed)
            if whole:
                raise self.error(
                    f"`{measure.name}` is of a whole run, so no part of it can be chosen", f"{path}.{key}",
                    "take samples together, such as mean(series.throughput_bps), mean(queues.backlog_packets)", key=True,
                )  # fmt: skip

    def window(self, tree: Tree, path: str) -> tuple[float | None, float | None]:
        """The part of a run that counts, in ns."""
        given = tree.get("window")
        if given is None:
            return None, None
        if not isinstance(given, list) or len(cast(list[Any], given)) != 2:
            raise self.error("`window` is two times from the run's start", f"{path}.window", 'such as window = ["5 s", "30 s"]')
        start, end = (self.time(each, f"{path}.window[{at}]") for at, each in enumerate(cast(list[Any], given)))
        if end <= start:
            raise self.error("the window ends before it begins", f"{path}.window", "the first time is the earlier one")
        return start, end

    def time(self, given: object, path: str, hint: str = 'such as "5 s"') -> float:
        """A time, in ns."""
        value, unit = self.quantity(given, path, hint)
        if unit.powers != units.TIME.powers or value < 0:
            raise self.error(f"`{given}` is {'no time' if unit.powers != units.TIME.powers else 'below 0'}", path, hint)
        return value * unit.factor(units.TIME)

    def quantity(self, given: object, path: str, hint: str = 'such as "10 ms", "5 Mbit/s", 0.5') -> tuple[float, units.Unit]:
        """A number with a unit; `hint` says what else could be meant where it is none at all."""
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise self.error(f"a quantity was expected, found {shown(given)}", path, hint)
        text = str(given).strip()
        if _NAME.fullmatch(text):
            # Measures are held against what is written here: there are no variables.
            raise self.error(f"`{text}` is no quantity: a number with a unit was expected", path, hint)
        if text.endswith("%"):
            share = number(text[:-1].strip())
            if share is None:
                raise self.error(f"`{cut(text)}` is no share", path, 'such as "5 %"')
            return share / 100, units.PLAIN
        try:
            return units.of_quantity(text)
        except _core.ScenarioError as error:
            within = getattr(error, "span", None) if text == given else None
            place = self.study.document.place(path, within=within)
            raise StudyError(getattr(error, "message", str(error)), place, getattr(error, "hint", None) or hint) from None

    def share(self, given: object, path: str, key: str) -> float:
        """A share above 0, where a plain number from 1 on is hardly one: 5 may be meant as 5 %."""
        value, unit = self.quantity(given, path, f'such as {key} = "5 %"')
        if not unit.plain or value <= 0:
            raise self.error(f"`{key}` is a share above 0, found {shown(given)}", path, f'such as {key} = "5 %"')
        if value >= 1 and not str(given).strip().endswith("%"):
            raise self.error(
                f"`{key}` = {shown(given)} is {100 * value:g} % without a sign of it", path,
                f'write "{value:g} %", or "{100 * value:g} %" if that is meant',
            )  # fmt: skip
        return value

    def in_unit(self, given: object, of: Measure | Samples, path: str, hint: str | None = None) -> float:
        """A quantity in the unit of a measure."""
        wanted = measures.unit(of)
        such = f'such as "{_EXAMPLE[wanted.powers]}"' if wanted.powers in _EXAMPLE else "such as 0.5" if wanted.plain else ""
        value, unit = self.quantity(given, path, hint or such or f"its unit is {of.unit}")
        if unit.powers != wanted.powers:
            told = f"its unit is {of.unit or 'a plain number'}"
            raise self.error(f"`{given}` is no {_kind(wanted)}, as `{of.name}` is", path, f"{told}, {such}" if such else told)
        return value * unit.factor(wanted.natural)

    def shown_in(self, tree: Tree, path: str, of: Measure | Samples) -> tuple[float, str] | None:
        """The unit that values are to be shown in: what those of results are divided by, and its name; None if none is asked for."""
        if "unit" not in tree:
            return None
        text, wanted = self.text(tree, "unit", path), measures.unit(of)
        try:
            size, unit = units.of_quantity(f"1 {text}") if _UNIT.fullmatch(text) else (0.0, units.PLAIN)
        except _core.ScenarioError:
            size, unit = 0.0, units.PLAIN
        if unit.plain or unit.powers != wanted.powers:
            such = {units.TIME.powers: "ms", units.RATE.powers: "kB/s", units.DATA.powers: "kB"}.get(wanted.powers)
            message = f"`{cut(text)}` is no unit of a {_kind(wanted)}, as `{of.name}` is"
            raise self.error(message, f"{path}.unit", f'such as unit = "{such}"' if such else "leave it out")
        return size * unit.factor(wanted.natural), text

    # --- which values

    def choice(self, tree: Tree, path: str, of: Sequence[Measure | Samples]) -> Choice:
        """Items, arms and levels of factors."""
        arms = self.names(tree, "arm", path, "an arm, or a list of arms")
        known = [*self.study.arms, *self.study.other_arms]
        for at, arm in enumerate(arms):
            if arm not in known:
                place = f"{path}.arm" if isinstance(tree["arm"], str) else f"{path}.arm[{at}]"
                raise self.error(f"there is no arm `{arm}`", place, did_you_mean(arm, known) if known else "the study has none")
        where: dict[str, tuple[str, ...]] = {}
        relations: list[Relation] = []
        for name, value, place in self.where(tree, path):
            if name in self.levels and (sign := _sign(value)):
                found = self.related(name, sign, str(value)[len(sign) :].strip(), place)
                if isinstance(found, Relation):
                    relations.append(found)
                else:
                    where[name] = found
            elif name in self.levels:
                where[name] = tuple(self.level(name, each, at) for each, at in _each(value, place))
            elif not self.is_column(name, of):
                columns = [
                    each
                    for measure in of
                    for table in measure.tables
                    for each in (*tables.text_columns(table), *tables.numeric_columns(table))
                ]
                raise self.error(f"the sweep has no factor `{name}`", place, did_you_mean(name, [*self.levels, *columns]), key=True)
        return Choice(
            tuple(self.names(tree, "of", path, "the name of a flow, of a link's direction, or a list of such names")), tuple(arms), where,
            tuple(relations),
        )  # fmt: skip

    def where(self, tree: Tree, path: str) -> Iterator[tuple[str, Any, str]]:
        """What `where` says: of each factor or column its name, what is chosen of it, and where that is written."""
        for name, value in self.table(tree, "where", path, "factors and levels, or columns and values").items():
            place = f"{path}.where.{quoted(name)}"
            if value == []:
                raise self.wrong(mistakes.nothing_chosen(name), place)
            yield name, value, place

    def related(self, factor: str, sign: str, than: str, path: str) -> tuple[str, ...] | Relation:
        """The levels of a factor that are below or above a quantity, or its levels and those of another factor that stand in that relation."""
        mine = {text: self.amount(text, path, factor) for text in self.levels[factor]}
        if than in self.levels and than != factor:
            theirs = {text: self.amount(text, path, than) for text in self.levels[than]}
            kinds = {kind for _, kind in (*mine.values(), *theirs.values())}
            if len(kinds) > 1:
                raise self.error(
                    f"`{factor}` and `{than}` are no quantities of one kind", path, f"they are of {' and '.join(sorted(kinds))}"
                )
            pairs = {(a, b) for a, (x, _) in mine.items() for b, (y, _) in theirs.items() if COMPARED[sign](x, y)}
            if not pairs:
                raise self.error(f"no level of `{factor}` is {sign} one of `{than}`", path)
            return Relation(factor, than, frozenset(pairs), sign)
        bound, kind = self.amount(than, path, None)
        if {each for _, each in mine.values()} != {kind}:
            raise self.error(f"`{than}` is not of the kind of `{factor}`'s levels", path, f"they are {self.named(factor)}")
        levels = tuple(text for text, (value, _) in mine.items() if COMPARED[sign](value, bound))
        if not levels:
            raise self.error(f"`{factor}` has no level {sign} {than}", path, f"it has {self.named(factor)}")
        return levels

    def amount(self, text: str, path: str, factor: str | None) -> tuple[float, str]:
        """A level, or what one is held against, in base units, and of which kind it is."""
        if factor is None and _NAME.fullmatch(text):
            raise self.error(f"`{text}` is no factor of the sweep, and no quantity", path, did_you_mean(text, self.levels))
        try:
            return _core.evaluate(text, {})
        except _core.ScenarioError as error:
            if factor is not None:
                told = f"`{factor}` has levels that are no quantities, such as `{written(text)}`"
                raise self.error(told, path, f"name the levels: {self.named(factor)}") from None
            hint = error.hint or f"a quantity or another factor: {', '.join(self.levels)}"
            raise self.error(error.message, path, hint) from None

    def level(self, factor: str, given: object, path: str) -> str:
        """A level of a factor, as the plan has it: `10 ms` also where the sweep says `0.01 s`, and a table by its name."""
        text, same = _text(given), self.same(factor, given)
        if len(same) > 1:
            told = f"`{factor}` has {len(same)} levels called `{text}`"
            raise self.error(told, path, f"name one as it is shown: {_quoted(written(each) for each in same)}")
        if not same:
            raise self.error(f"`{factor}` has no level `{text}`", path, f"it has {self.named(factor)}")
        return same[0]

    def same(self, factor: str, given: object) -> list[str]:
        """The levels of a factor that are what is given, as the plan has them: several if they are tables of one name."""
        text, known = _text(given), self.levels[factor]
        if text in known:
            return [text]
        return [each for each in known if level(each) == level(text)][:1] or [each for each in known if called(each, given)]

    def named(self, factor: str) -> str:
        """The levels of a factor, as they may be written."""
        return ", ".join(map(written, self.levels[factor]))

    def is_column(self, name: str, of: Sequence[Measure | Samples]) -> bool:
        """Whether a table of one of the measures has a column of this name."""
        return any(
            name in tables.text_columns(table) or name in tables.numeric_columns(table) for measure in of for table in measure.tables
        )

    def conditions(self, tree: Tree, path: str, of: Sequence[Measure | Samples]) -> list[Condition]:
        """What `where` says of columns."""
        found: list[Condition] = []
        for name, value, place in self.where(tree, path):
            if name in self.levels or not self.is_column(name, of):
                continue
            numeric = [
                tables.numeric_columns(table)[name][0]
                for measure in of
                for table in measure.tables
                if name in tables.numeric_columns(table)
            ]
            if not numeric:
                found.append(Condition(name, tuple(_text(each) for each in mistakes.listed(value))))
                continue
            such = f'such as {name} = "< {_EXAMPLE.get(units.of_column(numeric[0]).powers, "10")}"'
            if isinstance(value, list):
                raise self.error(f"`{name}` is a number: one value or bound is chosen, found {shown(value)}", place, such)
            text = _text(value)
            sign = next((sign for sign in SIGNS if text.startswith(sign)), "")
            number, unit = self.quantity(text[len(sign) :], place, such)
            wanted = units.of_column(numeric[0])
            if unit.powers != wanted.powers:
                raise self.error(f"`{text}` is no {_kind(wanted)}, as `{name}` is", place, f"its unit is {numeric[0] or 'a plain number'}")
            found.append(Condition(name, (), sign or "=", number * unit.factor(wanted)))
        return found

    # --- values

    def known(self, tree: Tree, keys: Sequence[str], path: str) -> None:
        """Refuses keys that are not there."""
        for key in tree:
            if key not in keys:
                raise self.error(f"unknown key `{key}`", f"{path}.{key}", did_you_mean(key, keys), key=True)

    def text(self, tree: Tree, key: str, path: str, default: str | None = None) -> str:
        """A text; needed if there is no default."""
        value = tree.get(key, default)
        if value is None:
            raise self.wrong(mistakes.lacks(path, key), path)
        if not isinstance(value, str):
            raise self.wrong(mistakes.no_text(key, value), f"{path}.{key}")
        return value

    def one_of(self, tree: Tree, key: str, path: str, known: Sequence[str], default: str | None) -> str:
        """One of some words."""
        if key not in tree and default is None:
            raise self.error(f"`{path}` lacks `{key}`", path, f"add {key} = one of {_quoted(known)}" if known else "the study has none")
        value = self.text(tree, key, path, default)
        if key in tree and value not in known:
            raise self.error(
                f"`{key}` cannot be `{cut(value)}`", f"{path}.{key}", did_you_mean(value, known) if known else "the study has none"
            )
        return value

    def names(self, tree: Tree, key: str, path: str, what: str) -> list[str]:
        """A name or a list of names; none are chosen only by saying nothing."""
        given = tree.get(key, [])
        named = mistakes.listed(given)
        if key in tree and not named:
            raise self.wrong(mistakes.nothing_chosen(key), f"{path}.{key}")
        for each, place in _each(given, f"{path}.{key}"):
            if not isinstance(each, str):
                raise self.wrong(mistakes.no_texts(key, what, each), place)
        return named

    def table(self, tree: Tree, key: str, path: str, what: str) -> Tree:
        """A table; empty if it is not there."""
        given = tree.get(key, {})
        if not isinstance(given, dict):
            raise self.wrong(mistakes.no_table(key, given, what), f"{path}.{key}")
        return cast(Tree, given)

    def number(self, tree: Tree, key: str, path: str, default: float) -> float:
        """A number above 0."""
        value = tree.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise self.wrong(mistakes.no_number(key, value), f"{path}.{key}")
        return float(value)

    def truth(self, tree: Tree, key: str, path: str, *, default: bool) -> bool:
        """True or false."""
        value = tree.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(mistakes.no_truth(key, value), f"{path}.{key}")
        return value

    def statistic(self, tree: Tree, path: str) -> Centre:
        """What is made of replicates."""
        chosen = self.one_of(tree, "statistic", path, STATISTICS, "mean")
        return next(each for each in STATISTICS if each == chosen)

    def how(self, tree: Tree, path: str, usual: str = "mean") -> str:
        """How the flows of a block are taken together."""
        if isinstance(named := tree.get("flows"), str) and named not in HOWS:
            raise self.wrong(mistakes.no_way_of_flows(named, HOWS), f"{path}.flows")
        return self.one_of(tree, "flows", path, HOWS, usual)


def require_items(frame: pl.DataFrame, of: Sequence[str], name: str) -> None:
    """Refuses items that no run has.

    Raises:
        DatasetError: that says which there are.

    """
    if of and frame.is_empty():
        raise DatasetError(f"no run has a row of `{name}` that counts", "`where`, `window` and `warm_up` leave none")
    items = frame["item"].unique(maintain_order=True).to_list()
    blocks = frame.select(block(pl.col("item")).unique())["item"].to_list()
    for item in of:
        if item not in items and item not in blocks:
            raise DatasetError(
                f"no run has an item `{item}` of `{name}`", f"there {'is only' if len(items) == 1 else 'are'} {', '.join(items[:12])}"
            )


def _with(chosen: tuple[str, ...], level: str) -> tuple[str, ...]:
    """Some names and another; of none, which are all, all."""
    return chosen if not chosen or level in chosen else (*chosen, level)


def _text(value: object) -> str:
    """A level as tables and figures have it."""
    return value if isinstance(value, str) else json.dumps(value)


def _sign(value: object) -> str:
    """The relation that a text begins with; empty if it is a level."""
    return next((sign for sign in SIGNS if isinstance(value, str) and value.startswith(sign)), "")


def _each(value: object, path: str) -> list[tuple[Any, str]]:
    """A value, or the values of a list, each with its path."""
    return [(each, f"{path}[{at}]") for at, each in enumerate(cast(list[Any], value))] if isinstance(value, list) else [(value, path)]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _kind(unit: units.Unit) -> str:
    return {units.TIME.powers: "time", units.RATE.powers: "rate", units.DATA.powers: "size", units.PACKETS.powers: "number of packets"}.get(
        unit.powers, f"{unit.name or 'plain number'}"
    )
