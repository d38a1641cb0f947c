"""The cells behind a verdict as a table: of each both sides, how far they are apart, and what it says by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from sawtooth.findings.verdict import Evidence, weighed
from sawtooth.report.document import Grid, Verdict


def table(verdict: Verdict) -> Grid | None:
    """A row for each cell, or for each comparison that one consists of; None of a single cell, which words tell."""
    if len(verdict.evidence) < 2:
        return None
    from sawtooth.plots.forest import numbers

    rows = [*_rows(verdict.evidence)]
    units = {each.read_in[1] for each in rows if each.read_in is not None}
    unit = f" ({next(iter(units))})" if len(units) == 1 and "" not in units else ""
    quantity = next((each.quantity for each in rows if each.quantity), "numbers")

    def apart(each: Evidence) -> str:
        if each.interval is None or not math.isfinite(each.interval.estimate):
            return each.words
        return numbers(each, (each.read_in[0] if each.read_in else 1.0, "" if unit or each.read_in is None else each.read_in[1]))

    has_sides = any(each.sides for each in rows)
    sides = [each.sides or ("", "") for each in rows]
    doubts = ["" if _answer(each) in ("yes", "no") or verdict.answer != "cannot distinguish" else each.doubt for each in rows]
    columns = {
        "cell": [each.cell for each in rows],
        **({f"value{unit}": [side[0] for side in sides], f"against{unit}": [side[1] for side in sides]} if has_sides else {}),
        f"{quantity}{unit}": [apart(each) for each in rows],
        "by itself, at 95 %" if any(each.chance for each in rows) else "holds": [_answer(each) for each in rows],
        **({"what would tell": doubts} if any(doubts) else {}),
    }
    return Grid("cells", pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), "")


def _rows(evidence: Sequence[Evidence]) -> Iterator[Evidence]:
    for each in evidence:
        yield from weighed([each]) or [each]


def _answer(each: Evidence) -> str:
    if each.silent:
        return "not told"
    return "yes" if each.shows(0.95) else "no" if each.denies(0.95) else "cannot distinguish"
