"""Which factor matters: the analysis of variance of a full factorial, of the measure that the report shows first."""

from __future__ import annotations

import polars as pl

from sawtooth import figures
from sawtooth.design import varying
from sawtooth.errors import DatasetError
from sawtooth.figures import effects
from sawtooth.figures.data import Data
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Measure, View, factors
from sawtooth.questions import Choice
from sawtooth.report.answers import Answers
from sawtooth.report.document import Grid, Plot, Section
from sawtooth.report.sensible import Shown
from sawtooth.scales import p_value
from sawtooth.stats.factorial import Factorial

_MOST_FACTORS = 5
"""More have more interactions than anybody reads."""
_MOST_ITEMS = 4
_MOST_TOLD = 3


def section(answers: Answers, first: Shown | None, *, drawn: bool) -> Section | None:
    """The table of effects, and its figure if it is `drawn`; None of what is no full factorial of two factors or more with replicates."""
    spec = _asked(answers, first)
    if spec is None:
        return None
    kind = figures.TABLE["effects"]
    try:
        data = Data(answers.evaluator, spec, kind, answers.shown.references, answers.arms)
    except DatasetError:
        return None
    dimensions = varying(data.frame, [*factors(answers.dataset), "arm"])
    if not 2 <= len(dimensions) <= _MOST_FACTORS or data.frame["item"].n_unique() > _MOST_ITEMS:
        return None
    try:
        found = {
            str(item): effects.analysed(part, dimensions, data.measure.name)
            for (item,), part in data.frame.group_by(["item"], maintain_order=True)
        }
        plots = [_plot(data)] if drawn else []
    except DatasetError:
        return None
    what = spec.label or data.measure.words
    told = [f"{f'{item}: ' if len(found) > 1 else ''}{_words(each)}" for item, each in found.items()]
    caption = f"Effects on {what}. {effects.said(next(iter(found.values())))}"
    table = pl.concat(_table(each, item if len(found) > 1 else "") for item, each in found.items())
    return Section(f"What matters for {what}", told, plots=plots, grids=[Grid("effects", table, caption)])


def _asked(answers: Answers, first: Shown | None) -> FigureSpec | None:
    """The measure that is shown first: the study's, or that of its kind of traffic."""
    places = {"panels": "item"}
    for spec in answers.shown.figures:
        if spec.kind == "effects":
            return None
        if isinstance(spec.measure, Measure) and not spec.several:
            # Of all cells, whatever the figure chooses.
            return FigureSpec(
                "effects",
                "effects",
                "",
                spec.measure,
                spec.view,
                Choice(of=spec.choice.of),
                places,
                label=spec.label,
                options={"show": "shares"},
            )
    if first is None or first.by:
        return None
    return FigureSpec(
        "effects", "effects", "", first.measure, View(), Choice(of=first.of), places, label=first.label, options={"show": "shares"}
    )


def _plot(data: Data) -> Plot:
    made = data.kind.draw(data)
    return Plot("effects", made.figure, made.note, made.numbers)


def _words(found: Factorial) -> str:
    """What matters most, in a sentence."""
    clear = sorted((source for source in found.sources if effects.clear(source)), key=lambda source: -source.share)
    if not clear:
        return "No factor or interaction is told from chance."
    named = [f"{source.name} ({100 * source.share:.3g} %)" for source in clear[:_MOST_TOLD]]
    rest = len(clear) - len(named)
    more = f", and {rest} smaller {'effect is' if rest == 1 else 'effects are'} told from chance, too" if rest else ""
    return f"Of the variance most goes with {', '.join(named)}{more}; {100 * found.error[0]:.3g} % is left to chance."


def _table(found: Factorial, item: str) -> pl.DataFrame:
    rows = [
        {
            "effect": source.name, "share (%)": 100 * source.share, "degrees of freedom": source.freedom, "F": source.f,
            "p (Holm)": p_value(source.p_holm).removeprefix("p ").removeprefix("= "), "told from chance": "yes" if effects.clear(source) else "no",
        }
        for source in found.sources
    ]  # fmt: skip
    rest = {
        "effect": "left to chance",
        "share (%)": 100 * found.error[0],
        "degrees of freedom": found.error[1],
        "F": None,
        "p (Holm)": None,
        "told from chance": None,
    }
    made = pl.DataFrame([*rows, rest], infer_schema_length=None)
    return made.select(pl.lit(item).alias("item"), pl.all()) if item else made
