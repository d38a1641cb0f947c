"""Which flows of TCP a study's links bring together: only these can be fair to each other, and of others an index of fairness compares links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Measure

if TYPE_CHECKING:
    from sawtooth.findings.spec import FindingSpec
    from sawtooth.results.dataset import Dataset
    from sawtooth.study import Study

_OWN = re.compile(r"\[.*\bi\b.*\]$")
"""A link of which each flow of a block has its own."""


def apart(dataset: Dataset) -> tuple[str, str] | None:
    """Two flows that no link, nor other flows with links of both, bring together; None if there are no such, or nobody can tell."""
    if not dataset.planned or not _is_as_written(dataset.study):
        return None
    given = cast(list[dict[str, Any]], dataset.study.scenario.get("flows", []))
    groups: list[tuple[list[str], set[str]]] = []
    for at, flow in enumerate(given):
        if flow.get("transport", "tcp") != "tcp":
            continue
        name = str(flow.get("name", "flow" if len(given) == 1 else f"flow{at + 1}"))
        path = [str(link) for link in flow.get("path", [])]
        if str(flow.get("count", 1)) not in ("0", "1") and all(_OWN.search(link) for link in path):
            return f"{name}[1]", f"{name}[2]"
        met = [group for group in groups if group[1] & {*path}]
        groups = [group for group in groups if group not in met]
        groups.append(([*(each for names, _ in met for each in names), name], {*path}.union(*(links for _, links in met))))
    return (groups[0][0][0], groups[1][0][0]) if len(groups) > 1 else None


def caveat(spec: FigureSpec | FindingSpec, dataset: Dataset) -> str:
    """What is to be known of a figure or finding about how flows share, of flows that do not; empty if it is not about that, or they do."""
    measures = spec.measures if isinstance(spec, FigureSpec) else [spec.measure]
    shared = any(each.shared for measure in measures if isinstance(measure, Measure) for each in measure.computed.values())
    found = apart(dataset) if shared else None
    return f"{found[0]} and {found[1]} share no link: this compares what their links carry, and no fairness between them." if found else ""


def _is_as_written(study: Study) -> bool:
    """Whether neither a sweep nor an arm says which flows there are, or which links they cross."""
    levels = [level for block in study.sweep for level in block]
    assigned = [assignment.path for some in (*levels, *study.arms.values()) for assignment in some]
    return not any(path == "flows" or path.endswith((".path", ".count")) for path in assigned)
