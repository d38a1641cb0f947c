"""One side of a comparison: what a metric is in every run of a dataset.

Cells of two sides are recognised by their factors, not by numbers: quantities by what they amount to (`10 ms` is `0.01 s`), names as
text, where a kernel's algorithm (`kernel:reno`) is the one of that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import polars as pl

from sawtooth import measures, reference_files
from sawtooth.errors import DatasetError
from sawtooth.measures import Asked, Context, Evaluator, ExpressionError, Measure, View, factors, undefined
from sawtooth.measures.blocks import block, blocks
from sawtooth.questions import Choice
from sawtooth.questions import require_items as require_some
from sawtooth.recognise import level
from sawtooth.results.dataset import Dataset

__all__ = ["chosen", "chosen_measure", "context", "factors", "level", "observe", "require_items", "transfers"]


def chosen_measure(name: str, context: Context | None = None) -> Measure:
    """The measure that an expression names; `context` has the arms and references that it may ask for.

    Raises:
        DatasetError: if there is none.

    """
    try:
        return measures.measure(name, context)
    except ExpressionError as error:
        pointed = (
            f"{error.message} (at characters {error.span[0] + 1} to {error.span[1]})" if error.span != (0, len(name)) else error.message
        )
        raise DatasetError(pointed, error.hint) from None


def context(dataset: Dataset) -> Context:
    """What expressions over a dataset may name: the arms and the references of its study."""
    study = dataset.study if dataset.has_study else None
    return Context(reference_files.of_results(dataset, factors(dataset)), [*study.arms, *study.other_arms] if study else [])


def observe(dataset: Dataset, chosen: Measure, how: str, arm: str | None = None) -> pl.DataFrame:
    """One row per finished run and item: run, cell, factors, arm, replicate, seed, item, cc, low, high, value, why; see `sawtooth.measures.observe`.

    `why` says of what is not known the cause, where the expression is it (`sawtooth.measures.undefined`).

    Args:
        dataset: whose runs.
        chosen: the measure; what a run does not tell is null, what it has not finished lies between low and high.
        how: `mean`, `sum`, `max` or `min` over the flows of a block, or `each` flow by itself.
        arm: of this arm only.

    """
    evaluator, asked = Evaluator(dataset, reference_files.of_results(dataset, factors(dataset))), Asked(chosen, View(how))
    found = undefined.explained(evaluator, asked, evaluator.observe(asked))
    if arm is not None:
        found = found.filter(arm=arm)
    if chosen.kind == "flow":
        item = pl.col("flow") if how == "each" else block(pl.col("flow"))
        names = (
            dataset.flows().group_by("run", item=item, maintain_order=True).agg(cc=pl.col("cc").unique().sort().str.join(", ")).collect()
        )
        found = found.join(names, on=["run", "item"], how="left", maintain_order="left")
    else:
        found = found.with_columns(cc=pl.lit(None, pl.String))
    return found


def chosen(found: pl.DataFrame, of: Sequence[str]) -> pl.DataFrame:
    """The rows of these items, or blocks of flows by their name; of none all."""
    return Choice(of=tuple(of)).select(found)


def require_items(found: Sequence[tuple[Measure, Sequence[pl.DataFrame]]], of: Sequence[str], *, each: bool) -> None:
    """Refuses items that no side has.

    Args:
        found: measures, each with what it is on every side.
        of: the items.
        each: whether each measure must have them; else it is enough that one of them does.

    Raises:
        DatasetError: that says which there are.

    """
    observed = [(measure.name, pl.concat([frame.select("item") for frame in frames])) for measure, frames in found]
    if not each:
        observed = [(", ".join(name for name, _ in observed), pl.concat([frame for _, frame in observed]))]
    for name, frame in observed:
        # Of sides without a finished run nothing can be said.
        if not frame.is_empty():
            require_some(frame, of, name)


def transfers(dataset: Dataset) -> set[str]:
    """The blocks of flows that send so much and no more: those of which one completed, or whose source has a size."""
    flows = dataset.flows().filter(pl.col("completion_ns").is_not_null()).select(item=blocks(pl.col("flow"))).collect()
    return {*flows["item"], *_sized(dataset)}


def _sized(dataset: Dataset) -> set[str]:
    given = cast(list[Mapping[str, Any]], dataset.study.scenario.get("flows", [])) if dataset.planned else []
    sources = {str(flow.get("name", "flow")): flow.get("source") for flow in given}
    return {
        name for name, source in sources.items()
        if isinstance(source, dict) and "size" in source and cast(Mapping[str, Any], source).get("name", "bulk") == "bulk"
    }  # fmt: skip
