"""Reading a study file: all is checked that is not the core's to check."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import itertools
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sawtooth import _core
from sawtooth.backends.registry import NAMES as BACKENDS
from sawtooth.errors import StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.study import keys, mistakes, until
from sawtooth.study.assign import Assignment, Tree, assign, expand
from sawtooth.study.document import Document, shown
from sawtooth.study.folder import Folder
from sawtooth.study.levels import first_repeated
from sawtooth.study.mistakes import Said
from sawtooth.study.paths import PATH, normal, quoted
from sawtooth.study.until import Until

if TYPE_CHECKING:
    from sawtooth.study.model import Study

_NO_AXES = 'write paths and their values, such as "vars.N" = [1, 2], or leave the sweep out'
_NO_VALUES = "write its values between the brackets, or leave the axis out"
_DRAW_EXAMPLES = {
    "row": 'the column that names the rows, for example row = "cell"',
    "column": 'for example column = "s{replicate}_ms"',
    "unit": 'for example unit = "ms"; "" for plain numbers',
}


def read(make: type[Study], document: Document, path: Path, tree: Tree, folder: Folder, *, short: bool) -> Study:
    """The study, as an object of the class `make`, that a document says.

    Args:
        make: what is made.
        document: the text with its places.
        path: of the file.
        tree: what the text says.
        folder: where the files are that it names.
        short: take the `[short]` form.

    Raises:
        StudyError: with file, line, column and a hint.

    """
    return _Reader(document, path, tree).study(make, folder, short=short)


class _Reader:
    """Makes a study of a parsed file, checking everything that is not the core's to check."""

    def __init__(self, document: Document, path: Path, tree: Tree) -> None:
        self.document = document
        self.path = path
        self.tree = tree

    def study(self, make: type[Study], folder: Folder, *, short: bool) -> Study:
        tree = self.tree
        self.known_keys(tree, keys.names(keys.STUDY), "")
        scenario = self.scenario()
        raised = self.raised(short=short)
        self.limits = self.limits_of(raised)
        full_sweep = self.sweep(scenario)
        arms, backends, counts = self.arms(scenario)
        # A mistake in the short form is told by the long one, too.
        settings = self.short(scenario)[: None if short else 0]
        settings += self.options(scenario)
        repeat, seed = self.repeats(self.tree.get("repeat", 1), "repeat"), self.whole("seed", 1, 0)
        if counts and isinstance(repeat, Until):
            raise self.document.error(
                "an arm cannot have a number of replicates of its own where a rule decides: all arms of a cell have the same then",
                f"arms.{quoted(next(iter(counts)))}.repeat", "leave it out, or write the study's `repeat` as a number", key=True,
            )  # fmt: skip
        backend = self.backend(self.tree.get("backend", "sim"), "backend")
        sweep: list[list[list[Assignment]]] = [[list(level) for level in block] for block in full_sweep]
        base: list[Assignment] = []
        repeat_origin = "repeat"
        for setting in settings:
            if setting.path.startswith("limits."):
                continue
            if setting.path == "backend":
                backend = self.backend(setting.value, setting.origin)
            elif setting.path == "repeat":
                # Of all arms: what is tried out, or set by hand, is of one size.
                repeat, repeat_origin, counts = self.repeats(setting.value, setting.origin), setting.origin, {}
            elif setting.path == "seed":
                seed = self.whole_value(setting.value, "seed", 0, setting.origin)
            elif isinstance(setting.value, list):
                self.narrow(sweep, setting)
            elif not self.fix_axis(sweep, setting):
                base.append(setting)
        for assignment in base:
            assign(scenario, assignment, self.document)
        if arms and not any(backend in known for known in backends.values()):
            raise self.document.error(
                f"no arm is for the backend `{backend}`", "arms", "name it in the `backends` of those that can be run there"
            )
        return make(
            document=self.document,
            path=self.path,
            folder=dataclasses.replace(folder, most=self.limits["file"]),
            name=self.name(),
            question=self.text("question", ""),
            backend=backend,
            repeat=repeat.least if isinstance(repeat, Until) else repeat,
            until=repeat if isinstance(repeat, Until) else None,
            seed=seed,
            order=self.order(),
            report=self.text("report", "generic"),
            scenario=scenario,
            draws=self.draws(scenario),
            sweep=sweep,
            full_sweep=full_sweep,
            arms={name: arm for name, arm in arms.items() if backend in backends[name]},
            other_arms={name: known for name, known in backends.items() if backend not in known},
            own_repeats={name: number for name, number in counts.items() if backend in backends[name]},
            base=base,
            tree=tree,
            limits=self.limits,
            raised={name: value for name, (value, _) in raised.items()},
            repeat_origin=repeat_origin,
            short=short and "short" in tree,
        )

    # --- single values

    def text(self, key: str, default: str) -> str:
        value = self.tree.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(mistakes.no_text(key, value), key)
        return value

    def name(self) -> str:
        name = self.text("name", self.path.stem.strip("<>"))
        if "name" in self.tree and not re.fullmatch(r"\w[\w.+-]*", name):
            one = unicodedata.normalize("NFC", name)
            joined = f"; the marks of `{one}` are letters of their own here: write each letter as one" if one != name else ""
            raise self.document.error(f"`{name}` cannot name a directory", "name", f"use letters, digits, `-`, `_`, `.` and `+`{joined}")
        return name

    def whole(self, key: str, default: int, minimum: int) -> int:
        return self.whole_value(self.tree.get(key, default), key, minimum, key)

    def whole_value(self, value: Any, key: str, minimum: int, origin: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            raise self.wrong(mistakes.no_whole(key, minimum, value), origin)
        return value

    def repeats(self, value: Any, origin: str) -> int | Until:
        """How many replicates, or the rule that says it."""
        if isinstance(value, dict):
            return until.read(cast(Tree, value), origin, self.document)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.document.error(
                f"`repeat` must be a whole number of at least 1, or a rule, found {shown(value)}",
                origin,
                'such as repeat = 10; a rule is { until = "5 %", of = "goodput_bps" }',
            )
        return value

    def backend(self, value: Any, origin: str) -> str:
        if not isinstance(value, str):
            raise self.wrong(mistakes.no_text("backend", value), origin)
        if value not in BACKENDS:
            raise self.document.error(f"unknown backend `{value}`", origin, did_you_mean(value, BACKENDS))
        return value

    def order(self) -> str:
        order = self.tree.get("order", keys.ORDERS[0])
        if order not in keys.ORDERS:
            raise self.document.error(f"unknown order `{order}`", "order", f"there are {' and '.join(keys.ORDERS)}")
        return str(order)

    def wrong(self, said: Said, path: str) -> StudyError:
        """An error of a message and a hint."""
        message, hint = said
        return self.document.error(message, path, hint)

    def known_keys(self, table: Tree, known: Iterable[str], path: str) -> None:
        known = list(known)
        for key in table:
            if key not in known:
                full = f"{path}.{quoted(key)}" if path else quoted(key)
                if not path and key in _scenario_keys():
                    written = f"[[scenario.{key}]]" if isinstance(table[key], list) else f"scenario.{key}, or {key} below [scenario]"
                    raise self.document.error(f"`{key}` is a key of the scenario", full, f"write {written}", key=True)
                raise self.document.error(f"unknown key `{key}`", full, did_you_mean(key, known), key=True)

    def table(self, value: Any, path: str) -> Tree:
        if not isinstance(value, dict):
            raise self.wrong(mistakes.no_table(path, value), path)
        return cast(Tree, value)

    # --- limits

    def raised(self, *, short: bool) -> dict[str, tuple[Any, str]]:
        """The limits that the study or an option sets: value, and where it is written."""
        found = {name: (value, f"limits.{quoted(name)}") for name, value in self.table(self.tree.get("limits", {}), "limits").items()}
        for path, value in self.table(self.tree.get("short", {}), "short").items() if short else ():
            if path.startswith("limits."):
                found[path.removeprefix("limits.")] = (value, f"short.{quoted(path)}")
        for index, option in enumerate(self.document.options):
            path, _, text = option.partition("=")
            if path.startswith("limits."):
                found[path.removeprefix("limits.")] = (_option_value(text), f"--set {index}")
        return found

    def limits_of(self, raised: Mapping[str, tuple[Any, str]]) -> Mapping[str, float]:
        for name, (value, origin) in raised.items():
            try:
                _core.limits(json.dumps({name: value}))
            except _core.ScenarioError as error:
                key = error.at_key and not origin.startswith("--set")
                hint = error.hint or f"a limit is a number, such as {name} = 1e7"
                raise StudyError(error.message, self.document.place(origin, key=key, within=error.span), hint) from None
        return _core.limits(json.dumps({name: value for name, (value, _) in raised.items()}))

    # --- parts

    def scenario(self) -> Tree:
        if "scenario" not in self.tree:
            raise StudyError(
                "a study needs a [scenario]",
                self.document.start,
                "`sawtooth list study` shows complete ones that come along",
            )
        scenario = copy.deepcopy(self.table(self.tree["scenario"], "scenario"))
        if "limits" in scenario:
            raise self.document.error("limits are those of the whole study", "scenario.limits", "write [limits]", key=True)
        own = self.table(scenario.get("vars", {}), "scenario.vars")
        shared = self.table(self.tree.get("vars", {}), "vars")
        if shared or own:
            scenario["vars"] = {**shared, **own}
        return scenario

    def draws(self, scenario: Tree) -> dict[str, Tree]:
        draws = self.table(self.tree.get("draws", {}), "draws")
        for name, value in draws.items():
            path = f"draws.{name}"
            draw = self.table(value, path)
            known = f"there are {', '.join(keys.DRAWS)}"
            if "distribution" not in draw:
                raise self.document.error(f"`{path}` lacks a distribution", path, known)
            kind = draw["distribution"]
            if not isinstance(kind, str) or kind not in keys.DRAWS:
                raise self.document.error(f"unknown distribution `{shown(kind)}`", f"{path}.distribution", known)
            needed, optional = (keys.names(each) for each in (keys.DRAWS[kind].needed, keys.DRAWS[kind].optional))
            self.known_keys(draw, ("distribution", *needed, *optional), path)
            if "count" in draw:
                self.whole_value(draw["count"], "count", 1, f"{path}.count")
            missing = set(needed) - draw.keys()
            if missing:
                such = f"a draw of `{kind}` has {', '.join(f'`{key}`' for key in needed)}"
                raise self.document.error(f"`{path}` lacks {', '.join(sorted(missing))}", path, such)
            for key in sorted(draw.keys() & {"row", "column", "unit"}):
                if not isinstance(draw[key], str):
                    raise self.document.error(f"`{key}` must be a text, found {shown(draw[key])}", f"{path}.{key}", _DRAW_EXAMPLES[key])
            for key in sorted(draw.keys() & {"low", "high"}):
                if not isinstance(draw[key], int | float | str) or isinstance(draw[key], bool):
                    raise self.document.error(
                        f"`{key}` must be a number, a quantity or an expression, found {shown(draw[key])}", f"{path}.{key}",
                        f'for example {key} = "20 ms"',
                    )  # fmt: skip
            if name in scenario.get("vars", {}):
                raise self.document.error(f"`{name}` is both a variable and a draw", path, key=True)
        return draws

    def sweep(self, scenario: Tree) -> list[list[list[Assignment]]]:
        sweep = self.tree.get("sweep", {})
        if isinstance(sweep, dict):
            return self.axes(cast(Tree, sweep), "sweep", scenario) if "sweep" in self.tree else []
        if not isinstance(sweep, list):
            raise self.document.error(
                f"`sweep` is a table of axes, found {shown(sweep)}", "sweep", 'for example [sweep] and below it "vars.N" = [1, 2]'
            )
        if not sweep:
            raise self.document.error("the sweep is an empty list: nothing is varied", "sweep", _NO_AXES)
        blocks: list[list[list[Assignment]]] = []
        for index, entry in enumerate(cast(list[Any], sweep)):
            path = f"sweep[{index}]"
            block = self.table(entry, path)
            self.known_keys(block, ("grid", "grids", "zip", "cases"), path)
            if len(block) != 1:
                hint = "write a [[sweep]] for each: blocks are crossed" if block else 'such as grid = { "vars.N" = [1, 2] }'
                raise self.document.error("a sweep block is one of grid, grids, zip or cases", path, hint)
            (kind, content), *_ = block.items()
            where = f"{path}.{kind}"
            if kind == "grid":
                blocks += self.axes(self.table(content, where), where, scenario)
            elif kind == "grids":
                blocks.append(self.grids(content, where, scenario))
            elif kind == "zip":
                blocks.append(self.zip(self.table(content, where), where, scenario))
            else:
                blocks.append(self.cases(content, where, scenario))
        return blocks

    def assignment(self, path: str, value: Any, origin: str, scenario: Tree, where: str | None = None) -> list[Assignment]:
        """One setting; more than one where its path has a `[*]`."""
        if not PATH.fullmatch(normal(path)):
            hint = "a path is keys with dots between them, such as links.bottleneck.rate or flows[0].cc"
            raise self.document.error(f"`{cut(path)}` is no path into the scenario", where or origin, hint, key=True)
        first = path.partition(".")[0].partition("[")[0]
        if first in keys.names(keys.STUDY) and first not in ("scenario", *_scenario_keys()):
            hint = "what the scenario holds is varied and set, and variables: vars.NAME"
            raise self.document.error(f"`{cut(path)}` is of the study, not of the scenario", where or origin, hint, key=True)
        made = [Assignment(concrete, value, origin) for concrete in expand(scenario, normal(path), self.document, where or origin)]
        # The path must lead somewhere: misspelt paths are found before anything runs.
        trial = {key: copy.copy(part) for key, part in scenario.items()}
        for assignment in made:
            assign(copy.deepcopy(trial), assignment, self.document, where or origin)
        return made

    def grid(self, table: Tree, origin: str, scenario: Tree) -> list[list[list[Assignment]]]:
        if not table:
            raise self.document.error("the sweep has no axis: nothing is varied", origin, _NO_AXES)
        blocks: list[list[list[Assignment]]] = []
        for path, values in table.items():
            where = f"{origin}.{quoted(path)}"
            if isinstance(values, dict):
                # `links.l.delay = [...]` is a table in a table.
                hint = f"a path with dots is in quotes, such as {shown(_dotted(path, cast(Tree, values)))} = [...]"
                raise self.document.error(f"`{path}` must be swept over a list of values, found a table", where, hint, key=True)
            if not isinstance(values, list) or not values:
                hint = (
                    f"such as {quoted(path)} = [{shown(values)}, ...]; what has one value stands in the scenario"
                    if values != []
                    else _NO_VALUES
                )
                raise self.document.error(f"`{path}` must be swept over a list of values, found {shown(values)}", where, hint)
            levels = [
                self.assignment(path, value, f"{where}[{index}]", scenario, where=where)
                for index, value in enumerate(cast(list[Any], values))
            ]
            blocks.append(levels)
        return blocks

    def axes(self, table: Tree, origin: str, scenario: Tree) -> list[list[list[Assignment]]]:
        """A grid of which no axis has a level twice; what is zipped may."""
        return [self.once(axis, [level[0].origin for level in axis]) for axis in self.grid(table, origin, scenario)]

    def once(self, levels: list[list[Assignment]], origins: Sequence[str]) -> list[list[Assignment]]:
        """Levels, if no two are the same; `origins` is where each is written."""
        found = first_repeated([(each.path, each.value) for each in level] for level in levels)
        if found is None:
            return levels
        again, earlier = (origins[index] for index in found)
        place = self.document.place(earlier)
        where = f", at {place}" if place else ""
        raise self.document.error(
            f"this level is there already{where}: its runs would be made twice", again,
            "leave one of the two out; `repeat` makes more replicates of each",
        )  # fmt: skip

    def grids(self, content: Any, origin: str, scenario: Tree) -> list[list[Assignment]]:
        """Several grids of the same axes, one after another; what an earlier one has is not repeated."""
        if not isinstance(content, list) or not content:
            raise self.document.error("grids are a list of tables", origin, 'such as grids = [{ "vars.N" = [1, 2] }, { "vars.N" = [8] }]')
        cases: list[list[Assignment]] = []
        first: Sequence[str] = ()
        for index, entry in enumerate(cast(list[Any], content)):
            where = f"{origin}[{index}]"
            table = self.table(entry, where)
            first = first or list(table)
            if set(table) != set(first):
                odd = next(path for path in (*table, *first) if (path in table) != (path in first))
                raise self.document.error(
                    f"grids have the same axes; not all of these have `{odd}`", where, "an axis may have a single value"
                )
            axes = dict(zip(table, self.axes(table, where, scenario), strict=True))
            self.check_runs(math.prod(len(axis) for axis in axes.values()) + len(cases), where)
            combinations = itertools.product(*(axes[path] for path in first))
            cases += [[assignment for level in levels for assignment in level] for levels in combinations]
        return _distinct(cases)

    def check_runs(self, cells: int, origin: str) -> None:
        """Refuses more cells than there may be runs, before they are made."""
        if cells > self.limits["runs"]:
            raise self.document.exceeds("runs", cells, self.limits["runs"], f"these are {cells:,} cells", origin)

    def zip(self, table: Tree, origin: str, scenario: Tree) -> list[list[Assignment]]:
        axes = self.grid(table, origin, scenario)
        if len({len(axis) for axis in axes}) > 1:
            lengths = ", ".join(f"{path} has {len(axis)}" for path, axis in zip(table, axes, strict=True))
            raise self.document.error(
                f"axes that are zipped must be of one length: {lengths}",
                origin,
                "the first values go together, then the second; a grid has all combinations",
            )
        rows = [[assignment for level in levels for assignment in level] for levels in zip(*axes, strict=True)]
        return self.once(rows, [row[0].origin for row in rows])

    def cases(self, content: Any, origin: str, scenario: Tree) -> list[list[Assignment]]:
        if not isinstance(content, list) or not content:
            raise self.document.error(
                "cases are a list of tables", origin, 'such as cases = [{ "cc.name" = "reno" }, { "cc.name" = "cubic" }]'
            )
        cases: list[list[Assignment]] = []
        for index, entry in enumerate(cast(list[Any], content)):
            where = f"{origin}[{index}]"
            table = self.table(entry, where)
            cases.append([
                assignment
                for path, value in table.items()
                for assignment in self.assignment(path, value, f"{where}.{quoted(path)}", scenario)
            ])  # fmt: skip
        return self.once(cases, [f"{origin}[{index}]" for index in range(len(cases))])

    def arms(self, scenario: Tree) -> tuple[dict[str, list[Assignment]], dict[str, list[str]], dict[str, int]]:
        """The arms; of each the backends that it is for; and of those that say it how many replicates."""
        arms: dict[str, list[Assignment]] = {}
        backends: dict[str, list[str]] = {}
        counts: dict[str, int] = {}
        for name, entry in self.table(self.tree.get("arms", {}), "arms").items():
            where = f"arms.{quoted(name)}"
            if not name.strip():
                raise self.document.error(
                    "an arm needs a name", where, 'what the report calls it, such as reno = { cc = "reno" }', key=True
                )
            settings = dict(self.table(entry, where))
            backends[name] = self.backends(settings.pop("backends", list(BACKENDS)), f"{where}.backends")
            if "repeat" in settings:
                counts[name] = self.count(settings.pop("repeat"), f"{where}.repeat")
            for key in settings:
                self.known_of_arm(key, f"{where}.{quoted(key)}")
            arms[name] = [
                assignment
                for path, value in settings.items()
                for assignment in self.assignment(path, value, f"{where}.{quoted(path)}", scenario)
            ]
        return arms, backends, counts

    def known_of_arm(self, key: str, origin: str) -> None:
        """Raises for a single word that is no key of the scenario, and not one of the two that only arms have."""
        scenario = _scenario_keys()
        if re.fullmatch(r"\w+", key) and key not in (*scenario, *keys.names(keys.STUDY)):
            raise self.document.error(f"unknown key `{key}`", origin, did_you_mean(key, ["repeat", "backends", *scenario]), key=True)

    def count(self, value: Any, origin: str) -> int:
        """How many replicates an arm has."""
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.document.error(
                f"`repeat` of an arm must be a whole number of at least 1, found {shown(value)}", origin,
                "such as repeat = 10; a rule is for all arms: write it as the study's `repeat`" if isinstance(value, dict) else "such as repeat = 10",
            )  # fmt: skip
        return value

    def backends(self, value: Any, origin: str) -> list[str]:
        if not isinstance(value, list) or not value:
            raise self.document.error("`backends` is a list of backends", origin, 'for example backends = ["sim"]')
        return [self.backend(each, f"{origin}[{index}]") for index, each in enumerate(cast(list[Any], value))]

    def short(self, scenario: Tree) -> list[Assignment]:
        made: list[Assignment] = []
        for path, value in self.table(self.tree.get("short", {}), "short").items():
            origin = f"short.{quoted(path)}"
            if path in ("repeat", "seed", "backend") or path.startswith("limits."):
                made.append(Assignment(path, value, origin))
            else:
                made += self.assignment(path, value, origin, scenario, where=origin)
        return made

    def options(self, scenario: Tree) -> list[Assignment]:
        made: list[Assignment] = []
        for index, option in enumerate(self.document.options):
            origin = f"--set {index}"
            path, equals, text = option.partition("=")
            if not equals or not path:
                raise StudyError(f"`--set {option}` is not of the form PATH=VALUE", hint="for example --set vars.Tp='20 ms'")
            first = path.partition(".")[0]
            of_study = first in keys.names(keys.STUDY) and first not in ("repeat", "seed", "backend", "scenario", "vars")
            if of_study and not path.startswith("limits."):
                hint = "--set changes values of the scenario, and repeat, seed, backend and limits; for all else change the file"
                raise self.document.error(f"`{cut(path)}` is of the study, not of the scenario", origin, hint, key=True)
            value = _option_value(text)
            if path in ("repeat", "seed", "backend") or path.startswith("limits."):
                made.append(Assignment(path, value, origin))
            else:
                made += self.assignment(path, value, origin, scenario)
        return made

    def narrow(self, sweep: list[list[list[Assignment]]], setting: Assignment) -> None:
        """A list in `[short]` takes the place of an axis of the grid; of grids, zips and cases it keeps what has one of its values."""
        for block in sweep:
            if all(len(level) == 1 and level[0].path == setting.path for level in block):
                values = cast(list[Any], setting.value)
                if not values:
                    raise self.document.error(f"`{setting.path}` must be swept over a list of values", setting.origin, _NO_VALUES)
                levels = [[Assignment(setting.path, value, f"{setting.origin}[{index}]")] for index, value in enumerate(values)]
                block[:] = self.once(levels, [level.origin for (level,) in levels])
                return
            if all(any(each.path == setting.path for each in level) for level in block):
                kept = [
                    level
                    for level in block
                    if any(each.path == setting.path and each.value in cast(list[Any], setting.value) for each in level)
                ]
                if not kept:
                    raise self.document.error(
                        f"no combination of the sweep has one of these values of `{setting.path}`",
                        setting.origin,
                        "name values that the sweep has",
                    )
                block[:] = kept
                return
        raise self.document.error(
            f"`{setting.path}` is no axis of the sweep, so it takes one value, not a list",
            setting.origin,
            "write one value, or add the axis to the sweep",
        )

    def fix_axis(self, sweep: list[list[list[Assignment]]], setting: Assignment) -> bool:
        """A single value takes the place of a whole axis; false if there is no such axis."""
        for block in sweep:
            if all(len(level) == 1 and level[0].path == setting.path for level in block):
                block[:] = [[setting]]
                return True
            if all(any(each.path == setting.path for each in level) for level in block):
                block[:] = _distinct([[setting if each.path == setting.path else each for each in level] for level in block])
                return True
        return False


@functools.cache
def _scenario_keys() -> tuple[str, ...]:
    return tuple(row["name"] for row in _core.registry()["key"] if "." not in row["name"])


def _dotted(path: str, table: Tree) -> str:
    """The path that dotted keys without quotes were meant to be: as far as tables have one key."""
    while len(table) == 1:
        ((key, value),) = table.items()
        path = f"{path}.{key}"
        table = cast(Tree, value) if isinstance(value, dict) else {}
    return path


def _distinct(levels: Iterable[list[Assignment]]) -> list[list[Assignment]]:
    """Levels that set something else than those before them."""
    found: dict[str, list[Assignment]] = {}
    for level in levels:
        found.setdefault(json.dumps([(each.path, each.value) for each in level], sort_keys=True, default=str), level)
    return list(found.values())


def _option_value(text: str) -> Any:
    """A value on the command line: JSON, or as in a study file, or else the text itself."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    with contextlib.suppress(_core.TomlError):
        return _core.parse_toml(f"value = {text}")[0]["value"]
    return text
