"""What a study shows: its figures and findings, as the study file names them.

    [[figures]]
    name = "delay"
    metric = "srtt_mean_ns"
    of = ["call"]
    x = "limit"

    [[findings]]
    claim = "FQ-CoDel keeps the call's round-trip time below 50 ms"
    metric = "srtt_mean_ns"
    of = "call"
    arm = "fq_codel"
    is = "below"
    than = "50 ms"

They are read and checked when a study is planned, so that a misspelt name is found before anything runs, and drawn and computed by reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from sawtooth import _core, measures
from sawtooth.errors import DatasetError, StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.measures import HOWS, Metric
from sawtooth.study import Study, keys
from sawtooth.study.assign import Tree
from sawtooth.study.sweep import axis_names, cells

KINDS = ("levels", "plane", "cdf", "time")
OWN_FIGURES = {"generic": "throughput", "latency": "latency_by_layer"}
"""Figures of a kind of report that stand beside those of the study: files of the same name would be theirs."""
_LONGEST_NAME = 100
THROUGHPUT = "throughput_bps"
"""What figures over samples can show beside the columns of the tables: what arrived in order in each second."""


@dataclass(frozen=True)
class FigureSpec:
    """A figure.

    Attributes:
        name: of its files.
        kind: `levels`: means with intervals over the levels of `x`; `plane`: means with intervals of `metric` and of `against`, a point each;
            `cdf`: distribution of a sampled column; `time`: such a column over time, of the first replicate.
        caption: below it; empty for one that says what is shown.
        metric: of `levels` and `plane`. table, column: of the other two. against: what `plane` has on its horizontal axis.
        of: items that are shown; all if empty. flows: how the flows of a block are taken together.
        x, curves, panels: what the axis, the curves and the panels stand for: a factor, `arm` or `item`.
        scale: of the measure, `linear` or `log`; in a plane of both.
        label, x_label: what the measure is called on its axis, and what the other axis has; empty for the names in the study.
        path: where it is in the study.

    """

    name: str
    kind: str
    caption: str
    metric: Metric | None
    table: str
    column: str
    of: Sequence[str]
    flows: str
    x: str | None
    curves: str
    panels: str | None
    scale: str
    against: Metric | None = None
    label: str = ""
    x_label: str = ""
    path: str = ""


@dataclass(frozen=True)
class Side:
    """Which values a finding speaks of; what is None may be any."""

    of: str | None
    arm: str | None
    where: Mapping[str, str]


@dataclass(frozen=True)
class FindingSpec:
    """A claim about a measure: `is` below or above a number (`bound`), or `times` what it is on the `other` side; at `path` in the study."""

    claim: str
    metric: Metric
    flows: str
    side: Side
    below: bool
    bound: float | None = None
    other: Side | None = None
    times: float = 1.0
    path: str = ""


@dataclass(frozen=True)
class Presentation:
    """Figures and findings of a study."""

    figures: Sequence[FigureSpec] = field(default_factory=list[FigureSpec])
    findings: Sequence[FindingSpec] = field(default_factory=list[FindingSpec])


def presentation(study: Study) -> Presentation:
    """What the study shows.

    Raises:
        StudyError: with its place, for what is no name of the study or no measure.

    """
    reader = _Reader(study)
    return Presentation(
        reader.figures(),
        [finding for tree, path in reader.entries("findings") if reader.is_told(finding := reader.finding(tree, path))],
    )


class _Reader:
    """Reads the tables `figures` and `findings` of a study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        # The short form has fewer levels, and a finding about the others is no mistake.
        every = [*cells(study), *cells(replace(study, sweep=study.full_sweep))]
        paths = dict.fromkeys(path for cell in every for path in cell.factors)
        self.levels: dict[str, set[str]] = {}
        for path, name in axis_names(list(paths)).items():
            values = (cell.factors.get(path) for cell in every)
            self.levels[name] = {str(value) for value in values if value is not None}

    def entries(self, key: str) -> Iterable[tuple[Tree, str]]:
        entries = self.study.tree.get(key, [])
        if not isinstance(entries, list):
            raise self.error(f"`{key}` is a list of tables", key, f"write [[{key}]] above each")
        for at, entry in enumerate(cast(list[Any], entries)):
            if not isinstance(entry, dict):
                raise self.error(f"`{key}` is a list of tables", f"{key}[{at}]", f"write [[{key}]] above each")
            yield cast(Tree, entry), f"{key}[{at}]"

    def figures(self) -> list[FigureSpec]:
        """The figures, each with a name of its own: it is that of its files."""
        found: dict[str, FigureSpec] = {}
        for tree, path in self.entries("figures"):
            figure = self.figure(tree, path)
            if figure.name in found:
                raise self.error(f"two figures are called `{figure.name}`", f"{path}.name", "give this one another name: its files have it")
            if figure.name == OWN_FIGURES.get(self.study.report):
                raise self.error(
                    f"the report `{self.study.report}` has a figure `{figure.name}` of its own", f"{path}.name",
                    "give this one another name: its files have it",
                )  # fmt: skip
            found[figure.name] = figure
        return list(found.values())

    def figure(self, tree: Tree, path: str) -> FigureSpec:
        self.known(tree, keys.names(keys.FIGURE), path)
        name = self.text(tree, "name", path)
        if not re.fullmatch(r"\w[\w-]*", name):
            raise self.error(f"`{cut(name)}` cannot name a file", f"{path}.name", "use letters, digits, `-` and `_`")
        if len(name.encode()) > _LONGEST_NAME:
            raise self.error(f"`{cut(name)}` is too long to name a file", f"{path}.name", f"{_LONGEST_NAME} bytes are room for a name")
        kind = self.choice(tree, "kind", path, KINDS, "levels")
        metric: Metric | None = None
        table = column = ""
        against: Metric | None = None
        x: str | None = None
        if kind == "plane":
            metric, against = self.metric(tree, path), self.metric(tree, path, "against")
        elif "against" in tree:
            raise self.error(f"a figure of kind `{kind}` has one metric", f"{path}.against", 'kind = "plane" has two', key=True)
        if kind in ("cdf", "time") and "x_label" in tree:
            raise self.error(f"a figure of kind `{kind}` has no choice of x", f"{path}.x_label", "leave it out", key=True)
        if kind == "levels":
            metric = self.metric(tree, path)
            x = self.choice(tree, "x", path, [*self.levels, "arm", "item"], next(reversed(self.levels), "arm"))
        elif "x" in tree:
            raise self.error(f"a figure of kind `{kind}` has no choice of x", f"{path}.x", "leave it out", key=True)
        if kind in ("cdf", "time"):
            table, column = self.sampled(tree, path)
        dimensions = [*self.levels, "arm", "item"]
        panels = self.choice(tree, "panels", path, dimensions, "") or None
        by_arm = bool(self.study.arms) and "arm" not in (x, panels)
        return FigureSpec(
            name, kind, self.text(tree, "caption", path, ""), metric, table, column,
            of=self.items(tree, path),
            flows=self.choice(tree, "flows", path, HOWS, "mean"),
            x=x,
            curves=self.choice(tree, "curves", path, dimensions, "arm" if by_arm else "item"),
            panels=panels,
            scale=self.choice(tree, "scale", path, ("linear", "log"), "linear"),
            against=against,
            label=self.text(tree, "label", path, ""),
            x_label=self.text(tree, "x_label", path, ""),
            path=path,
        )  # fmt: skip

    def finding(self, tree: Tree, path: str) -> FindingSpec:
        self.known(tree, keys.names(keys.FINDING), path)
        claim, metric = self.text(tree, "claim", path), self.metric(tree, path)
        side = self.side(tree, path)
        below = self.choice(tree, "is", path, ("below", "above"), None) == "below"
        how = self.choice(tree, "flows", path, HOWS, "mean")
        than = tree.get("than")
        if isinstance(than, dict):
            where = f"{path}.than"
            other = cast(Tree, than)
            self.known(other, keys.names(keys.THAN), where)
            times = other.get("times", 1.0)
            if not isinstance(times, int | float) or isinstance(times, bool) or times <= 0:
                raise self.error(f"`times` must be a number above 0, found {times!r}", f"{where}.times")
            stated = self.side(other, where)
            # What the other side does not say is as on the first.
            full = Side(stated.of or side.of, stated.arm or side.arm, {**side.where, **stated.where})
            if full.arm is not None and side.arm is None:
                raise self.error("the finding compares with an arm and names none itself", path, 'add arm = "..." above `than`')
            if full == side:
                raise self.error("both sides of the finding are the same", where, "name another arm, item or level")
            return FindingSpec(claim, metric, how, side, below, other=full, times=float(times), path=path)
        if than is None or isinstance(than, bool | list):
            raise self.error("a finding needs `than`: a quantity, or a table that names the other side", path)
        return FindingSpec(claim, metric, how, side, below, bound=self.bound(than, metric, f"{path}.than"), path=path)

    def is_told(self, finding: FindingSpec) -> bool:
        """Whether the arms that it speaks of are for this backend."""
        arms = [side.arm for side in (finding.side, finding.other) if side is not None]
        return not any(arm in self.study.other_arms for arm in arms)

    # --- parts

    def side(self, tree: Tree, path: str) -> Side:
        arm = self.choice(tree, "arm", path, [*self.study.arms, *self.study.other_arms], "") or None
        where: dict[str, str] = {}
        given = tree.get("where", {})
        if not isinstance(given, dict):
            raise self.error("`where` is a table of factors and levels", f"{path}.where")
        for factor, level in cast(Tree, given).items():
            place = f"{path}.where.{factor}"
            if factor not in self.levels:
                raise self.error(f"the sweep has no factor `{factor}`", place, did_you_mean(factor, self.levels), key=True)
            if str(level) not in self.levels[factor]:
                raise self.error(f"`{factor}` has no level `{level}`", place, f"it has {', '.join(sorted(self.levels[factor]))}")
            where[factor] = str(level)
        return Side(self.text(tree, "of", path, "") or None, arm, where)

    def metric(self, tree: Tree, path: str, key: str = "metric") -> Metric:
        try:
            return measures.metric(self.text(tree, key, path))
        except DatasetError as error:
            raise self.error(error.message, f"{path}.{key}", error.hint) from None

    def sampled(self, tree: Tree, path: str) -> tuple[str, str]:
        """A column of the tables that have a row per sample."""
        name = self.text(tree, "metric", path)
        table, _, column = name.rpartition(".")
        table = table or "series"
        known = [
            f"{each}.{spec['name']}"
            for each in ("series", "queues")
            for spec in _core.schema()[each]["columns"]
            if spec["type"] != "str" and spec["name"] != "t_ns"
        ] + [f"series.{THROUGHPUT}"]
        if f"{table}.{column}" not in known:
            hint = did_you_mean(name, [each.removeprefix("series.") for each in known])
            raise self.error(f"`{name}` is not sampled", f"{path}.metric", hint)
        if "sample" not in self.study.scenario:
            raise self.error("this figure needs samples", path, 'write sample = "100 ms" in [scenario]')
        return table, column

    def bound(self, than: Any, metric: Metric, path: str) -> float:
        """A quantity in the metric's unit."""
        try:
            value, kind = _core.evaluate(str(than), {})
            one, wanted = _core.evaluate(f"1 {metric.unit}" if metric.unit else "1", {})
        except _core.ScenarioError as error:
            raise self.error(error.message, path, error.hint) from None
        if kind != wanted:
            raise self.error(f"`{than}` is no {wanted}, as `{metric.name}` is", path, f"its unit is {metric.unit or 'a plain number'}")
        return value / one

    def items(self, tree: Tree, path: str) -> list[str]:
        given = tree.get("of", [])
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, list) or not all(isinstance(item, str) for item in cast(list[Any], given)):
            raise self.error("`of` is the name of a flow, of a link's direction, or a list of such names", f"{path}.of")
        return cast(list[str], given)

    # --- values

    def known(self, tree: Tree, keys: Sequence[str], path: str) -> None:
        for key in tree:
            if key not in keys:
                raise self.error(f"unknown key `{key}`", f"{path}.{key}", did_you_mean(key, keys), key=True)

    def text(self, tree: Tree, key: str, path: str, default: str | None = None) -> str:
        value = tree.get(key, default)
        if value is None:
            raise self.error(f"`{path}` lacks `{key}`", path)
        if not isinstance(value, str):
            raise self.error(f"`{key}` must be a text", f"{path}.{key}")
        return value

    def choice(self, tree: Tree, key: str, path: str, known: Sequence[str], default: str | None) -> str:
        value = self.text(tree, key, path, default)
        if key in tree and value not in known:
            raise self.error(f"`{key}` cannot be `{value}`", f"{path}.{key}", did_you_mean(value, known) if known else "the study has none")
        return value

    @property
    def error(self) -> Callable[..., StudyError]:
        return self.study.document.error
