"""Of which cells that figures and findings speak of a reference has no number: told at the plan, and beside what was drawn or decided of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sawtooth.design import varying
from sawtooth.measures import Measure
from sawtooth.measures.resolve import Referred
from sawtooth.recognise import written
from sawtooth.references import Reference, recognised

_MOST_TOLD = 3


@dataclass(frozen=True)
class Lack:
    """What a column of a reference has no number of.

    Attributes:
        term: which column.
        labels: the cells in words.
        asked: of how many cells it was asked for.

    """

    term: Referred
    labels: Sequence[str]
    asked: int

    @property
    def words(self) -> str:
        """As a part of a sentence."""
        shown = "; ".join(self.labels[:_MOST_TOLD]) + ("; ..." if len(self.labels) > _MOST_TOLD else "")
        return f"`{self.term.reference}` has no `{self.term.column}` of {len(self.labels)} of {self.asked} cells ({shown})"


def lacks(terms: Iterable[Referred], references: Mapping[str, Reference], asked: pl.DataFrame) -> list[Lack]:
    """What columns of references have no number of.

    Args:
        terms: the columns.
        references: by name.
        asked: of what they are asked: factors, arm and item, in any number of rows.

    """
    found: list[Lack] = []
    for term in dict.fromkeys(terms):
        reference = references[term.reference]
        on = [name for name in reference.keys if name in asked.columns]
        if not on:
            continue
        # What tells the cells apart names them, and what the reference is looked up by.
        names = [name for name in asked.columns if name in {*on, *varying(asked, [each for each in asked.columns if each != "item"])}]
        cells = asked.select(names).unique(maintain_order=True)
        keyed = cells.with_columns((pl.col(name) if name in ("arm", "item") else recognised(name)).alias(f"{name} of key") for name in on)
        left = keyed.join(
            reference.table(term.column), left_on=[f"{name} of key" for name in on], right_on=on, how="anti", maintain_order="left"
        )
        if left.height:
            labels = [", ".join(str(row[name]) if name in ("arm", "item") else f"{name} {written(str(row[name]))}" for name in names) for row in left.to_dicts()]  # fmt: skip
            found.append(Lack(term, labels, cells.height))
    return found


def terms(measures: Iterable[object], options: Mapping[str, object]) -> list[Referred]:
    """The columns of references that measures are made of, or options name."""
    made = [term for measure in measures if isinstance(measure, Measure) for term in measure.referred]
    return [*made, *(value for value in options.values() if isinstance(value, Referred))]
