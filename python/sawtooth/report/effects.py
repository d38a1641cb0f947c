"""Which factor matters: the analysis of variance of a full factorial, of the measure that the report shows first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from sawtooth import figures
from sawtooth.errors import DatasetError
from sawtooth.figures import effects, shown
from sawtooth.figures.data import Data
from sawtooth.figures.spec import FigureSpec
from sawtooth.measures import Measure, View
from sawtooth.questions import Choice
from sawtooth.report.answers import Answers
from sawtooth.report.document import Grid, Plot, Section
from sawtooth.report.sensible import Shown
from sawtooth.scales import number, p_value
from sawtooth.stats.factorial import Factorial, Source

_MOST_FACTORS = 5
"""More have more interactions than anybody reads."""
_MOST_PANELS = 4
_MOST_TOLD = 3


def section(answers: Answers, first: Shown | None, *, drawn: bool) -> Section | None:
    """The table of effects, and bars of its own if figures are `drawn` and the study asks for none of this kind.

    None of what is no full factorial with replicates, and unless the study asks for effects of what has one factor or very many.
    """
    asked = any(spec.kind == "effects" for spec in answers.shown.figures)
    spec = _spec(answers, first)
    if spec is None:
        return None
    try:
        data = Data(answers.evaluator, spec, figures.TABLE["effects"], answers.shown.references, answers.arms)
        if len(data.panels()) == 1:
            # The only item needs no title.
            spec = replace(spec, places={})
            data = Data(answers.evaluator, spec, figures.TABLE["effects"], answers.shown.references, answers.arms)
        panels, dimensions = data.panels(), effects.dimensions_of(data)
        if not asked and (not 2 <= len(dimensions) <= _MOST_FACTORS or len(panels) > _MOST_PANELS):
            return None
        found = [effects.analysed(panel.frame, dimensions, data.measure.name) for panel in panels]
        plots = [_plot(data)] if drawn and not asked else []
    except DatasetError:
        return None
    what = spec.label or data.measure.words
    places = [shown.place(data, panel, "") if len(panels) > 1 else {} for panel in panels]
    told = [": ".join([*filter(None, [", ".join(place.values())]), _words(each, data)]) for place, each in zip(places, found, strict=True)]
    caption = shown.sentences(f"Effects on {what}.", *dict.fromkeys(effects.said(each) for each in found), shown.chosen(spec))
    table = pl.concat(_table(each, place, data.unit) for place, each in zip(places, found, strict=True))
    return Section(f"What matters for {what}", told, plots=plots, grids=[Grid("effects", table, caption)])


def _spec(answers: Answers, first: Shown | None) -> FigureSpec | None:
    """Of what the study asks for the effects on; else of the measure that is shown first: the study's, or that of its kind of traffic."""
    measured = [spec for spec in answers.shown.figures if isinstance(spec.measure, Measure) and not spec.several]
    for spec in measured:
        if spec.kind == "effects":
            return replace(spec, options={"show": "shares"})
    name = "effects"
    while any(spec.name == name for spec in answers.shown.figures):
        # Its files would be those of the study's figure.
        name += "_"
    places, options = {"panels": "item"}, {"show": "shares"}
    if measured:
        # Of all cells, whatever the figure chooses.
        spec = measured[0]
        return FigureSpec(
            name, "effects", "", spec.measure, spec.view, Choice(of=spec.choice.of), places, label=spec.label, options=options
        )
    if first is None or first.by:
        return None
    return FigureSpec(name, "effects", "", first.measure, View(), Choice(of=first.of), places, label=first.label, options=options)


def _plot(data: Data) -> Plot:
    made = data.kind.draw(data)
    return Plot(data.spec.name, made.picture, made.note, made.numbers)


def _words(found: Factorial, data: Data) -> str:
    """What matters most, in a sentence, and how much it does: nearly all of a variance may be a small difference."""
    clear = sorted((source for source in found.sources if effects.clear(source)), key=lambda source: -source.share)
    if not clear:
        return "No factor or interaction is told from chance."
    named = [f"{source.name} ({100 * source.share:.3g} %; {_reach(source, found, data, of)})"
             for source, of in zip(clear[:_MOST_TOLD], (" of the mean over all", "", ""), strict=False)]  # fmt: skip
    rest = len(clear) - len(named)
    more = f", and {rest} smaller {'effect is' if rest == 1 else 'effects are'} told from chance, too" if rest else ""
    return (
        f"Of the variance most goes with {', '.join(named)}{more}; {100 * found.blocks:.3g} % lies between replicates, "
        f"{100 * found.error[0]:.3g} % is left to chance."
    )


def _reach(source: Source, found: Factorial, data: Data, of: str) -> str:
    """How far a term's effects are apart; as a share of the mean over all, too, where 0 is the least that the measure can be."""
    divisor, unit = data.unit
    what = "means" if len(source.factors) == 1 else "what it adds is"
    share = f", {number(float(f'{100 * source.reach / found.mean:.2g}'))} %{of}" if data.range[0] >= 0 and found.mean > 0 else ""
    return f"{what} up to {number(source.reach / divisor)}{f' {unit}' if unit else ''} apart{share}"


def _table(found: Factorial, place: Mapping[str, str], unit: tuple[float, str]) -> pl.DataFrame:
    """A row for each effect, for replicates and for chance: their shares are the whole variance."""
    divisor, name = unit
    apart = f"largest difference{f' ({name})' if name else ''}"
    rows = [
        {
            "effect": source.name, apart: source.reach / divisor, "share (%)": 100 * source.share, "degrees of freedom": source.freedom, "F": source.f,
            "p (Holm)": p_value(source.p_holm).removeprefix("p ").removeprefix("= "), "told from chance": "yes" if effects.clear(source) else "no",
        }
        for source in found.sources
    ]  # fmt: skip
    rest = [
        {
            "effect": name,
            apart: None,
            "share (%)": 100 * share,
            "degrees of freedom": freedom,
            "F": None,
            "p (Holm)": None,
            "told from chance": None,
        }
        for name, share, freedom in (
            ("between replicates", found.blocks, effects.replicates(found) - 1),
            ("left to chance", *found.error),
        )
    ]
    made = pl.DataFrame([*rows, *rest], infer_schema_length=None)
    return made.select(*(pl.lit(level).alias(name) for name, level in place.items()), pl.all())
