"""`assumptions`: in which share of the combinations of what a study assumes each verdict stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.study.keys import Key
from sawtooth.study.mistakes import listed

if TYPE_CHECKING:
    from sawtooth.plots.standing import Standing

BY = Key("by", "factor or list of factors", "all together", "assumed factors whose levels have a bar each")


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The factors whose levels are told apart."""
    names = reader.names(dict(tree), "by", path, "a factor, or a list of factors")
    assumed = {str(name) for each, _ in reader.entries("findings") for name in listed(each.get("assumptions", []))}
    if not assumed:
        raise reader.error(
            "no finding of the study assumes anything", f"{path}.kind", 'write assumptions = ["..."] in a finding, or leave it out'
        )
    for at, name in enumerate(names):
        if name not in assumed:
            place = f"{path}.by" if isinstance(tree["by"], str) else f"{path}.by[{at}]"
            raise reader.error(f"no finding of the study assumes `{name}`", place, f"they assume {', '.join(sorted(assumed))}")
    return {"by": names}


def draw(data: Data) -> Drawn:
    """The figure.

    Raises:
        DatasetError: if no finding assumes anything that these runs vary.

    """
    from sawtooth.plots import standing

    found = {verdict.claim: verdict.standing for verdict in data.verdicts() if verdict.standing is not None}
    if not found:
        raise DatasetError(
            "no finding was decided under more than one combination of assumptions", 'write assumptions = ["..."] in a finding, and sweep that factor'
        )  # fmt: skip
    claims = {claim: _bars(each, data.spec.options["by"]) for claim, each in found.items()}
    rows = [
        {"claim": claim, **dict(zip(each.factors, levels, strict=True)), "answer": answer}
        for claim, each in found.items() for levels, answer in each.answers.items()
    ]  # fmt: skip
    note = (
        f"Of {len(found)} claims the share of combinations of what is assumed in which the verdict is which, each combination decided by itself at "
        "95 %: descriptions, and no test of all together. Numbers are combinations."
    )
    return Drawn(partial(standing.bars, claims), note, pl.DataFrame(rows, infer_schema_length=None))


def _bars(of: Standing, by: list[str]) -> dict[str, Mapping[str, int]]:
    """A bar of all combinations, and one of each level of some factors: its name to how many there say what."""
    made: dict[str, Mapping[str, int]] = {"all": Counter(of.answers.values())}
    for name in by:
        if name in of.factors:
            at = list(of.factors).index(name)
            for level in dict.fromkeys(levels[at] for levels in of.answers):
                made[f"{name} {written(level)}"] = Counter(answer for levels, answer in of.answers.items() if levels[at] == level)
    return made


KIND = Kind(
    "assumptions", "the share of the combinations of what findings assume in which each verdict stands", (), draw, (BY,), read,
    statistic=False, scale=False, measured=False,
)  # fmt: skip
