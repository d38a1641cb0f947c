"""What a study's rule for its replicates came to: how many each cell got, and what the rule's interval was then."""

from __future__ import annotations

from typing import cast

import numpy as np
import polars as pl

from sawtooth import near_zero
from sawtooth.design import NOT_SET
from sawtooth.measures import factors, undefined
from sawtooth.report.answers import Answers
from sawtooth.report.document import Grid, Section
from sawtooth.scales import scale
from sawtooth.stats import sequential
from sawtooth.stopping import read_facts


def section(answers: Answers) -> Section | None:
    """The rule, and a row for each cell, arm and item; None if the number of replicates was fixed."""
    facts = answers.dataset.manifest.get("until")
    if facts is None:
        return None
    stopping = read_facts(facts, answers.reader)
    rule = stopping.rule
    of = f"`{rule.of}`"
    observed = answers.evaluator.observe(stopping.asked)
    frame = observed.filter(pl.col("low").is_not_null())
    names = factors(answers.dataset)
    frame = frame.with_columns(pl.col(name).fill_null(NOT_SET) for name in names)
    divisor, unit = scale(stopping.measure.unit, frame["low"].to_numpy())
    planned = dict(answers.dataset.runs.group_by("cell", maintain_order=True).agg(pl.col("replicate").max()).iter_rows())
    rows: list[dict[str, object]] = []
    lacking: set[int] = set()
    for (cell, *key), group in answers.in_order(frame).group_by("cell", *names, "arm", "item", maintain_order=True):
        # The rule looks at replicates in their order, whatever the order of the runs.
        low = group.sort("replicate")["low"].to_numpy()
        unfinished = int((group["low"] != group["high"]).sum())
        seen = sequential(low, rule.share, rule.confidence, rule.least, rule.most)
        met = not unfinished and seen.met
        if not met:
            lacking.add(cast(int, cell))
        found = seen.interval.over(divisor)
        known = not unfinished and np.isfinite(found.high - found.low)
        share = near_zero.share(found)
        rows.append({
            **dict(zip([*names, "arm", "item"], key, strict=True)), "runs": len(low), "runs counted": None if unfinished else seen.n,
            f"mean ({unit})" if unit else "mean": None if unfinished else found.estimate,
            "low": found.low if known else None, "high": found.high if known else None,
            "within (%)": 100 * share if known and share is not None else None, "interval": "unfinished runs have no upper end" if unfinished else found.kind,
            "met": "yes" if met else f"no: {unfinished} unfinished" if unfinished else "no",
        })  # fmt: skip
    caption = (
        f"{of} where the rule stopped: mean and {100 * rule.confidence:.4g} % sequential interval that decided it, of the first replicates (`runs counted`) "
        "of all that were made: a cell has more if another of its arms or items needed them."
    )
    silent = planned.keys() - set(frame["cell"])
    why = undefined.words(undefined.explained(answers.evaluator, stopping.asked, observed.filter(pl.col("cell").is_in(list(silent)))))
    came_to = _came_to(
        sum(planned[cell] >= rule.most for cell in lacking), sum(planned[cell] < rule.most for cell in lacking), len(planned), rule.most,
        len(silent), _silent(len(silent), why),
    )  # fmt: skip
    text = (
        f"Replicates by a rule that was fixed before the first run: {rule.words.replace(rule.of, of)}, at three looks in a row and in every arm. {came_to} Intervals elsewhere on "
        "this page are those of a fixed number of replicates; what they cover after such a rule was measured (docs/validation/statistics.md)."
    )
    if not rows:
        return Section("Replicates", [text])
    table = pl.DataFrame(rows, infer_schema_length=None)
    table = table.drop([name for name in ("arm", "item") if table[name].n_unique() == 1])
    return Section("Replicates", [text], grids=[Grid("replicates", table, caption)])


def _silent(cells: int, why: str) -> str:
    """What is said of cells of which no run tells what the rule looks at."""
    text = f"{cells} {'tells' if cells == 1 else 'tell'} nothing of it"
    return f"{text}: {why}. {undefined.advice(why).capitalize()}." if why else f"{text}."


def _came_to(without: int, yet: int, cells: int, most: int, silent: int, told: str) -> str:
    """How many cells met the rule; `silent` of them tell nothing of it."""
    met = cells - without - yet - silent
    parts = ["It was met in all cells." if met == cells else f"It was met in {met} of {cells} cells."]
    if silent:
        parts.append(told)
    if without:
        parts.append(f"{without} came to {most} without it: what is said of those is less exact than was asked for.")
    if yet:
        parts.append(f"{yet} have not come to an end yet: the same `sawtooth run` goes on with them.")
    return " ".join(parts)
