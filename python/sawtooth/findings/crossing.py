"""`crossing`: that one side is above the other at one level of a factor and below it at another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from sawtooth.findings import compare
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key

ALONG = Key("along", "factor", "needed", "the factor along which they cross")
BETWEEN = Key("between", "list of two levels", "needed", "it is above at the first and below at the second")


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """The factor, the two levels, and the other side."""
    along = reader.one_of(dict(tree), "along", path, list(reader.levels), None)
    given = tree.get("between")
    if not isinstance(given, list) or len(given) != 2:  # pyright: ignore[reportUnknownArgumentType]
        raise reader.error(
            "a crossing is between two levels",
            f"{path}.between",
            f'such as between = ["{next(iter(reader.levels.get(along, {"A": None})))}", "..."]',
        )
    levels = [reader.level(along, each, f"{path}.between[{at}]") for at, each in enumerate(given)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if levels[0] == levels[1]:
        raise reader.error("both levels are the same", f"{path}.between", "name two")
    return {**compare.against(reader, tree, path, spec), "along": along, "between": levels}


def weigh(data: Data) -> list[Evidence]:
    """Of each cell of the other factors, whether it is above at the first level and below at the second: both must be shown."""
    along, levels = str(data.spec.options["along"]), data.spec.options["between"]
    other = data.spec.options.get("other")
    found: list[Evidence] = []
    for cell in data.groups():
        ends: list[Evidence] = []
        lacking: list[str] = []
        for level, below in zip(levels, (False, True), strict=True):
            mine = cell.values.filter(pl.col(along) == level)
            there = data.side(other).filter(pl.col(along) == level) if other is not None else None
            evidence = compare.one(written(level), mine, there, data, below=below)
            if evidence is not None:
                ends.append(evidence)
            else:
                lacking.append(written(level))
        found.append(
            cell.untold(f"no replicate tells it at {along} {lacking[0]}") if lacking else _both(cell.name, ends[0], ends[1], along)
        )
    return found


def _both(name: str, first: Evidence, second: Evidence, along: str) -> Evidence:
    # Both must hold, each at the level itself; the contrary is that one does not, of two that were looked at.
    return Evidence(
        name,
        lambda level: first.shows(level) and second.shows(level),
        lambda level: first.denies(1 - (1 - level) / 2) or second.denies(1 - (1 - level) / 2),
        f"at {along} {first.cell}: {first.words}; at {second.cell}: {second.words}",
        doubt="; ".join(part for part in (first.doubt, second.doubt) if part),
        steps=[replace(end, cell=f"{along} {end.cell}") for end in (first, second)],
    )


KIND = Kind(
    ("crossing",), "that it is above the other side at one level of a factor and below it at another", weigh,
    (compare.THAN_KEY, ALONG, BETWEEN), read, spans=("along",), bounds=True,
)  # fmt: skip
