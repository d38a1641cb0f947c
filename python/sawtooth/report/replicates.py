"""What a study's rule for its replicates came to: how many each cell got, and what the rule's interval was then."""

from __future__ import annotations

import polars as pl

from sawtooth.design import NOT_SET
from sawtooth.measures import factors
from sawtooth.report.answers import Answers
from sawtooth.report.document import Grid, Section
from sawtooth.scales import scale
from sawtooth.stats import Interval, sequential
from sawtooth.stopping import read_facts


def section(answers: Answers) -> Section | None:
    """The rule, and a row for each cell, arm and item; None if the number of replicates was fixed."""
    facts = answers.dataset.manifest.get("until")
    if facts is None:
        return None
    stopping = read_facts(facts, answers.reader)
    rule = stopping.rule
    frame = answers.evaluator.observe(stopping.asked).filter(pl.col("low").is_not_null())
    names = factors(answers.dataset)
    frame = frame.with_columns(pl.col(name).fill_null(NOT_SET) for name in names)
    divisor, unit = scale(stopping.measure.unit, frame["low"].to_numpy())
    rows: list[dict[str, object]] = []
    lacking: set[object] = set()
    for key, group in answers.in_order(frame).group_by("cell", *names, "arm", "item", maintain_order=True):
        low, high = group["low"].to_numpy(), group["high"].to_numpy()
        unfinished = int((low != high).sum())
        if unfinished:
            met, share, interval = False, None, Interval(float("nan"), float("nan"), float("nan"), len(low), "")
        else:
            found = sequential(low, rule.share, rule.confidence, rule.least, rule.most)
            met, share, interval = found.met, found.share, found.interval
        if not met:
            lacking.add(key[0])
        name = f"mean ({unit})" if unit else "mean"
        rows.append({
            **dict(zip([*names, "arm", "item"], key[1:], strict=True)), "runs": len(low), name: interval.estimate / divisor, "low": interval.low / divisor,
            "high": interval.high / divisor, "within (%)": None if share is None else 100 * share, "met": "yes" if met else f"no: {unfinished} unfinished" if unfinished else "no",
        })  # fmt: skip
    table = pl.DataFrame(rows, infer_schema_length=None)
    table = table.drop([name for name in ("arm", "item") if name in table.columns and table[name].n_unique() == 1])
    cells = frame["cell"].n_unique()
    text = (
        f"Replicates by a rule that was fixed before the first run: {rule.words}, at three looks in a row and in every arm. "
        + (
            f"It was met in all {cells} cells."
            if not lacking
            else f"{len(lacking)} of {cells} cells came to {rule.most} without it: what is said of those is less exact than was asked for."
        )
        + " Intervals elsewhere on this page are those of a fixed number of replicates; what they cover after such a rule was measured (docs/validation/statistics.md)."
    )
    caption = f"Where the rule stopped: {rule.of}, mean and {100 * rule.confidence:.4g} % sequential interval"
    return Section("Replicates", [text], grids=[Grid("replicates", table, caption)])
