"""`alike`: that all levels of a factor, arms or items come to the same: none is further than a margin from the mean over all of them.

Equivalence, by two one-sided tests of each: it is shown only by data that could have shown the contrary. One that is beyond the margin, at a level
adjusted for their number, shows the contrary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from sawtooth.findings import compare
from sawtooth.findings.average import averaged
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.ranking import every
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key

ALONG = Key("along", 'factor, `"arm"` or `"item"`', '`"arm"`', "what is alike")


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> dict[str, Any]:
    """What is alike, and how far it may be from the mean."""
    along = reader.one_of(dict(tree), "along", path, [*reader.levels, "arm", "item"], "arm")
    if along in reader.levels and len(reader.levels[along]) < 2:
        raise reader.error(f"`{along}` has one level", f"{path}.along", "what is alike are two or more")
    return {"along": along, **compare.read_margin(reader, tree, path, spec), "times": 1.0}


def weigh(data: Data) -> list[Evidence]:
    """Of each cell, or of the mean over them, whether every level is near the mean over levels."""
    along = str(data.spec.options["along"])
    levels: list[str] = data.frame.sort("cell", maintain_order=True)[along].unique(maintain_order=True).to_list()
    cells = [replace(cell, values=cell.values.select("replicate", along, "low", "high")) for cell in data.groups()]
    if data.spec.wanted.average and cells:
        cells = [averaged(cells, data.spec.statistic, [along])]
    return [_evidence(cell, along, levels, data) for cell in cells]


def _evidence(cell: Cell, along: str, levels: list[str], data: Data) -> Evidence:
    if len(levels) < 2:
        return cell.untold(f"the runs have one level of `{along}` only")
    apart = {level: cell.values.filter(pl.col(along) == level).drop(along) for level in levels}
    over = averaged([Cell(level, values, cell.plan) for level, values in apart.items()], data.spec.statistic).values
    if over.is_empty():
        return cell.untold("no replicate has a value at every level")
    steps = [
        compare.near(
            f"{written(level)} against the mean of all", values.join(over.select("replicate"), on="replicate", how="semi"), over, data
        )
        for level, values in apart.items()
    ]
    return every(cell.name, steps)


KIND = Kind(
    ("alike",),
    "that levels of a factor, arms or items are no further than `margin` from the mean over all of them",
    weigh,
    (ALONG, compare.MARGIN),
    read,
    spans=("along",),
    averages=True,
    bounds=True,
)
