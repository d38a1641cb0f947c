"""`ranked`: that arms, items or levels stand in an order, from the largest to the smallest; each neighbour must be told from the next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

import polars as pl

from sawtooth.findings import compare
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.hints import did_you_mean
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key

ALONG = Key("along", 'factor, `"arm"` or `"item"`', '`"arm"`', "what is ranked")
ORDER = Key("order", "list of arms, items or levels", "needed", "from the largest to the smallest")


def read(reader: Reader, tree: Mapping[str, Any], path: str, _spec: FindingSpec) -> dict[str, Any]:
    """What is ranked, and how."""
    along = reader.one_of(dict(tree), "along", path, [*reader.levels, "arm", "item"], "arm")
    given = tree.get("order")
    if not isinstance(given, list) or len(cast(list[Any], given)) < 2:
        raise reader.error("`ranked` needs an order of two or more", f"{path}.order", 'such as order = ["bbr", "cubic", "reno"]')
    order: list[str] = []
    for at, each in enumerate(cast(list[Any], given)):
        place = f"{path}.order[{at}]"
        if along in reader.levels:
            order.append(reader.level(along, each, place))
            continue
        if not isinstance(each, str) or (along == "arm" and each not in reader.study.arms and each not in reader.study.other_arms):
            known = (
                did_you_mean(str(each), reader.context.arms or ())
                if along == "arm"
                else "items are texts: the names of flows or of links' directions"
            )
            raise reader.error(f"there is no {along} `{each}`", place, known)
        order.append(each)
    if len(set(order)) < len(order):
        raise reader.error("one of the order is there twice", f"{path}.order", "name each once")
    return {"along": along, "order": order}


def weigh(data: Data) -> list[Evidence]:
    """Of each cell, whether every neighbour is above the next."""
    along, order = str(data.spec.options["along"]), cast(list[str], data.spec.options["order"])
    found: list[Evidence] = []
    for cell in data.groups():
        steps: list[Evidence] = []
        lacking: list[str] = []
        for first, second in pairwise(order):
            mine, there = (cell.values.filter(pl.col(along) == level) for level in (first, second))
            evidence = compare.one(f"{written(first)} against {written(second)}", mine, there, data, below=False, paired=True)
            if evidence is not None:
                steps.append(evidence)
            else:
                lacking.append(f"{written(first)} and {written(second)}")
        found.append(
            cell.untold("" if cell.values.is_empty() else f"no replicate has values of both {lacking[0]}")
            if lacking
            else _all(cell.name, steps)
        )
    return found


def _all(name: str, steps: list[Evidence]) -> Evidence:
    return Evidence(
        name,
        lambda level: all(step.shows(level) for step in steps),
        lambda level: any(step.denies(1 - (1 - level) / len(steps)) for step in steps),
        "; ".join(f"{step.cell}: {step.words}" for step in steps),
        doubt="; ".join(step.doubt for step in steps if step.doubt),
        steps=steps,
    )


KIND = Kind(
    ("ranked",),
    "that arms, items or levels stand in an order, from the largest to the smallest",
    weigh,
    (ALONG, ORDER),
    read,
    spans=("along",),
    bounds=True,
)
