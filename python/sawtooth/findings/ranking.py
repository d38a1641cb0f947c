"""`ranked`: that arms, items or levels stand in an order, from the largest to the smallest; each neighbour must be told from the next.

An entry of the order may be a list of some that have a place together: each of them must be above each of the next entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, cast

import polars as pl

from sawtooth.findings import compare
from sawtooth.findings.average import averaged
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.hints import did_you_mean
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key

_MOST_TOLD = 4
"""Comparisons whose numbers are told."""
ALONG = Key("along", 'factor, `"arm"` or `"item"`', '`"arm"`', "what is ranked")
ORDER = Key(
    "order",
    "list of arms, items or levels, or of lists of them",
    "needed",
    "from the largest to the smallest; of those in a list each is above each of the next",
)


def read(reader: Reader, tree: Mapping[str, Any], path: str, _spec: FindingSpec) -> dict[str, Any]:
    """What is ranked, and how."""
    along = reader.one_of(dict(tree), "along", path, [*reader.levels, "arm", "item"], "arm")
    given = tree.get("order")
    if not isinstance(given, list) or len(cast(list[Any], given)) < 2:
        raise reader.error("`ranked` needs an order of two or more", f"{path}.order", 'such as order = ["bbr", "cubic", "reno"]')
    order: list[tuple[str, ...]] = []
    for at, each in enumerate(cast(list[Any], given)):
        place = f"{path}.order[{at}]"
        if not isinstance(each, list):
            order.append((one_of(reader, along, each, place),))
            continue
        if not each:
            raise reader.error("a place of the order is empty", place, 'such as order = [["bbr", "cubic"], "reno"]')
        order.append(tuple(one_of(reader, along, name, f"{place}[{of}]") for of, name in enumerate(cast(list[Any], each))))
    every = [name for place in order for name in place]
    if len(set(every)) < len(every):
        raise reader.error("one of the order is there twice", f"{path}.order", "name each once")
    return {"along": along, "order": order}


def one_of(reader: Reader, along: str, given: object, place: str) -> str:
    """An arm, item or level that is named."""
    if along in reader.levels:
        return reader.level(along, given, place)
    if not isinstance(given, str) or (along == "arm" and given not in reader.study.arms and given not in reader.study.other_arms):
        known = (
            did_you_mean(str(given), reader.context.arms or ())
            if along == "arm"
            else "items are texts: the names of flows or of links' directions"
        )
        raise reader.error(f"there is no {along} `{given}`", place, known)
    return given


def weigh(data: Data) -> list[Evidence]:
    """Of each cell, or of the mean over them, whether every neighbour is above the next."""
    along, order = str(data.spec.options["along"]), cast(list[tuple[str, ...]], data.spec.options["order"])
    cells = list(data.groups())
    if data.spec.wanted.average and cells:
        named = [name for place in order for name in place]
        # Others are not ranked: that a cell lacks one of them costs nothing.
        cells = [averaged([replace(cell, values=_few(cell, along, named)) for cell in cells], data.spec.statistic, [along])]
    found: list[Evidence] = []
    for cell in cells:
        steps: list[Evidence] = []
        lacking: list[str] = []
        for first, second in _neighbours(order):
            mine, there = (cell.values.filter(pl.col(along) == level) for level in (first, second))
            evidence = compare.one(f"{written(first)} against {written(second)}", mine, there, data, below=False, paired=True)
            if evidence is not None:
                steps.append(evidence)
            else:
                lacking.append(f"{written(first)} and {written(second)}")
        found.append(
            cell.untold("" if cell.values.is_empty() else f"no replicate has values of both {lacking[0]}")
            if lacking
            else every(cell.name, steps)
        )
    return found


def _few(cell: Cell, along: str, named: Sequence[str]) -> pl.DataFrame:
    return cell.values.filter(pl.col(along).is_in(named)).select("replicate", along, "low", "high")


def _neighbours(order: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for place, following in pairwise(order):
        yield from product(place, following)


def every(name: str, steps: list[Evidence]) -> Evidence:
    """The evidence of several comparisons all of which must hold."""
    return Evidence(
        name,
        lambda level: all(step.shows(level) for step in steps),
        lambda level: any(step.denies(1 - (1 - level) / len(steps)) for step in steps),
        _words(steps),
        doubt="; ".join([step.doubt for step in steps if step.doubt][:_MOST_TOLD]),
        steps=steps,
    )


def _words(steps: Sequence[Evidence]) -> str:
    """The numbers of each comparison; of many, how many show it, and those that show the contrary, or do not tell."""
    if len(steps) <= _MOST_TOLD:
        return "; ".join(f"{step.cell}: {step.words}" for step in steps)
    shown = [step for step in steps if step.shows(0.95)]
    denied = [step for step in steps if step.denies(0.95)]
    open_ones = [step for step in steps if step not in shown and step not in denied]
    counts = f"{len(shown)} of {len(steps)} comparisons show it, {len(denied)} the contrary, each by itself at 95 %"
    told = [*denied, *open_ones][:_MOST_TOLD] or steps[:1]
    left = len(denied) + len(open_ones) - len(told)
    return "; ".join([counts, *(f"{step.cell}: {step.words}" for step in told), *([f"and {left} more"] if left > 0 else [])])


KIND = Kind(
    ("ranked",),
    "that arms, items or levels stand in an order, from the largest to the smallest",
    weigh,
    (ALONG, ORDER),
    read,
    spans=("along",),
    averages=True,
    bounds=True,
)
