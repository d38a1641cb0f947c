"""Flows and links that figures and findings name, held against what runs will have; so that hours of runs are not followed by a report that cannot be made."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sawtooth import _core
from sawtooth.hints import did_you_mean
from sawtooth.measures import OVER_TIME, TOGETHER, Metric
from sawtooth.presentation import FigureSpec, FindingSpec, Presentation, Side
from sawtooth.study import Study
from sawtooth.study.effects import Built
from sawtooth.study.sweep import Cell, axis_names

_Runs = Iterable[tuple[int, str]]
_NUMBER = re.compile(r"\[\d+\]$")


def block(item: str) -> str:
    """The block of the scenario that an item is of: `flow` for `flow[2]`."""
    return _NUMBER.sub("", item)


def check_items(study: Study, shown: Presentation, cells: Sequence[Cell], built: Built) -> None:
    """Refuses figures and findings that no run could fill.

    Raises:
        StudyError: with its place, for what no run has, and for a finding that must say of what.

    """
    _Items(study, cells, built).check(shown)


class _Items:
    """The items of the runs of one study."""

    def __init__(self, study: Study, cells: Sequence[Cell], built: Built) -> None:
        self.study, self.cells, self.built = study, cells, built
        self.names = {name: path for path, name in axis_names(list(dict.fromkeys(path for cell in cells for path in cell.factors))).items()}
        self.of_run = functools.cache(self._of_run)

    def check(self, shown: Presentation) -> None:
        for figure in shown.figures:
            self._figure(figure)
        for finding in shown.findings:
            self._side(finding, finding.side, finding.path)
            if finding.other is not None:
                self._side(finding, finding.other, f"{finding.path}.than")

    def _figure(self, figure: FigureSpec) -> None:
        metrics = [metric for metric in (figure.metric, figure.against) if metric is not None]
        for metric in metrics:
            self._require_any(metric, figure.path, list(self.built))

        def of(run: tuple[int, str], metric: Metric | None) -> Sequence[str]:
            if metric is not None:
                items = self._of_metric(run, metric, figure.flows)
            else:
                items = self.of_run(run)["links" if figure.table == "queues" else "flows"]
            # A block's name is that of all its flows.
            return [*items, *map(block, items)]

        for number, item in enumerate(figure.of):
            for metric in metrics or [None]:
                name = metric.name if metric else figure.column
                self._require(item, name, functools.partial(of, metric=metric), self.built, f"{figure.path}.of[{number}]")

    def _side(self, finding: FindingSpec, side: Side, path: str) -> None:
        metric, runs = finding.metric, list(self._spoken_of(side))

        def of(run: tuple[int, str]) -> Sequence[str]:
            return self._of_metric(run, metric, finding.flows)

        self._require_any(metric, finding.path, runs)
        if side.of is not None:
            own = self.study.document.spans.get(f"{path}.of")
            self._require(side.of, metric.name, of, runs, f"{path}.of" if own else f"{finding.path}.of")
        elif runs and len(items := of(runs[0])) > 1:
            raise self.study.document.error(
                f"a finding about `{metric.name}` must say of what", f"{finding.path}.metric", f"add of = one of {_some(items)}"
            )

    def _require(self, item: str, metric: str, of: Callable[[tuple[int, str]], Sequence[str]], runs: _Runs, origin: str) -> None:
        known: dict[str, None] = {}
        for run in runs:
            items = of(run)
            if item in items:
                return
            known.update(dict.fromkeys(items))
        if known:
            hint = did_you_mean(item, known) if len(known) < _MOST else f"there are {_some(list(known))}"
            raise self.study.document.error(f"no run has an item `{item}` of `{metric}`", origin, hint)

    def _require_any(self, metric: Metric, path: str, runs: Sequence[tuple[int, str]]) -> None:
        """Of the tables that not every run has."""
        if metric.table == "exchanges" and runs and not any(self.of_run(run)["exchanges"] for run in runs):
            hint = 'give a flow source = { name = "request_response" }, or take another metric'
            raise self.study.document.error(f"no run has `{metric.name}`: no flow asks and is answered", f"{path}.metric", hint)
        if metric.table == OVER_TIME and runs and not any("sample" in json.loads(self.built[run]) for run in runs):
            hint = 'write sample = "100 ms" in [scenario]'
            raise self.study.document.error(f"`{metric.name}` needs samples", f"{path}.metric", hint)

    def _of_metric(self, run: tuple[int, str], metric: Metric, how: str) -> Sequence[str]:
        if metric.name in TOGETHER:
            return ["flows"]
        items = self.of_run(run)["flows" if metric.table == OVER_TIME else metric.table]
        return items if how == "each" else list(dict.fromkeys(map(block, items)))

    def _of_run(self, run: tuple[int, str]) -> dict[str, list[str]]:
        return _core.items(self.built[run], kernel=self.study.backend != "sim")

    def _spoken_of(self, side: Side) -> Iterator[tuple[int, str]]:
        for at, arm in self.built:
            factors = self.cells[at].factors
            there = all(str(factors.get(self.names.get(name, ""))) == level for name, level in side.where.items())
            if there and side.arm in (None, arm):
                yield at, arm


_MOST = 12
"""So many names are told."""


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST]) + (f" and {len(items) - _MOST} more" if len(items) > _MOST else "")
