"""Rules about what a study takes."""

from __future__ import annotations

from collections.abc import Iterator

from sawtooth.linting.each import size
from sawtooth.linting.rule import Hit, Rule
from sawtooth.linting.setup import Subject

_ROW_BYTES = 40.0
"""Of a row on disk, about: a row of `series` of a CUBIC flow that is sampled at random times."""
_MANY_BYTES = 1e9


def _gigabytes(subject: Subject) -> Iterator[Hit]:
    rows = subject.plan.demand.rows
    if rows * _ROW_BYTES > _MANY_BYTES:
        named = "sample" if any("sample" in setup.tree for setup in subject.setups) else "duration"
        yield Hit(f"results will be about {rows:,.0f} rows, {size(rows * _ROW_BYTES)} on disk", f"scenario.{named}")


RULES = (
    Rule(
        "SW601", "gigabytes", "warning", "results of a gigabyte or more",
        "A sample of every millisecond of every flow fills disks and takes hours to read, for a figure of a thousand points.",
        "Sample less often (`sample`), or record fewer tables (`record`).",
        check=_gigabytes,
    ),
)  # fmt: skip
