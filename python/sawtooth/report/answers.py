"""The figures and findings that a study names, drawn and decided over its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import polars as pl

from sawtooth import analyses, coverage, figures, findings
from sawtooth.coverage import Lack
from sawtooth.design import NOT_SET, MixedError, advice
from sawtooth.errors import DatasetError
from sawtooth.figures.data import Data as FigureData
from sawtooth.figures.shown import chosen, resolution, sentences, without_value
from sawtooth.figures.spec import Drawn, FigureSpec
from sawtooth.findings import assumed
from sawtooth.findings.assumed import Standing
from sawtooth.findings.data import Data as FindingData
from sawtooth.findings.resolution import resolved
from sawtooth.findings.spec import FindingSpec
from sawtooth.findings.verdict import ERRORS, Answer, Claimed, answer_of, decide
from sawtooth.measures import Asked, Evaluator, Measure, factors
from sawtooth.presentation import Presentation, presentation
from sawtooth.questions import Reader
from sawtooth.report import analysed, common_links
from sawtooth.report.behind import alone, counted, of_cell, sources, together, with_source, words
from sawtooth.report.document import Plot, Section, Verdict
from sawtooth.results.dataset import Dataset

if TYPE_CHECKING:
    from sawtooth.plots.aside import Aside


class Answers:
    """What a study's figures and findings come to over a dataset.

    Attributes:
        shown: what the study asks for.
        run_analysis: whether the study's own analysis may run if it does not come along with this installation.
        weighed_so_far: is told how many claims were looked at, of how many, while verdicts are made.

    """

    def __init__(self, dataset: Dataset, *, run_analysis: bool = False, aside: Aside | None = None) -> None:
        self.dataset = dataset
        self.run_analysis = run_analysis
        self.weighed_so_far: Callable[[int, int], None] = lambda done, of: None  # noqa: ARG005
        self._aside = aside
        study = dataset.study
        stored = cast(dict[str, dict[str, str]], dataset.manifest.get("references", {}))
        self.shown: Presentation = presentation(study, {name: entry["text"] for name, entry in stored.items()})
        self.arms = list(study.arms)
        self.evaluator = Evaluator(dataset, self.shown.references)

    @cached_property
    def tables(self) -> list[str]:
        """Names of the tables that the results had when they were first asked for."""
        return self.dataset.tables

    @property
    def reader(self) -> Reader:
        """Reads what is asked of these results."""
        return Reader(self.dataset.study, self.shown.references)

    def in_order(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame by cells, and in each the arms as the study has them."""
        order = {arm: at for at, arm in enumerate(self.arms)}
        return frame.sort("cell", pl.col("arm").replace_strict(order, default=len(order), return_dtype=pl.Int64), maintain_order=True)

    # --- findings

    def verdicts(self) -> list[Verdict]:
        """The verdicts on the study's claims and on those of its own analysis, decided together."""
        return self._verdicts

    @cached_property
    def _verdicts(self) -> list[Verdict]:
        own = [claim for section in self.analysed for claim in section.claims]
        claims: list[Claimed] = []
        of = len(self.shown.findings) + len(own)
        for done, spec in enumerate(self.shown.findings, len(own)):
            self.weighed_so_far(done, of)
            claims.append(self.claimed(spec))
        self.weighed_so_far(of, of)
        return self.decided([*claims, *own], self.shown.findings)

    @cached_property
    def analysed(self) -> list[Section]:
        """What the study's own analysis adds; nothing if it has none."""
        analysis = analyses.stored(self.dataset.manifest)
        return [] if analysis is None else analysed.sections(self.dataset, analysis, run=self.run_analysis)

    def decided(self, claims: Sequence[Claimed], specs: Sequence[FindingSpec]) -> list[Verdict]:
        """The verdicts on claims with their evidence, decided together; those that are made of others name them among `specs`, which are of the first."""
        numbers = {spec.name: at for at, spec in enumerate(specs) if spec.name}
        of: list[FindingSpec | None] = [*specs, *[None] * (len(claims) - len(specs))]
        claims = [
            Claimed(claim.claim, (), parts=[numbers[name] for name in spec.options["findings"]], every=bool(spec.options["every"]), caveat=spec.caveat)
            if spec is not None and "findings" in spec.options else claim
            for claim, spec in zip(claims, of, strict=True)
        ]  # fmt: skip
        answers, each_alone = decide(claims), decide(claims, together=False)
        tested = sum(bool(claim.evidence) and not claim.parts for claim in claims)
        found: list[Verdict] = []
        for claim, spec, answer, by_itself in zip(claims, of, answers, each_alone, strict=True):
            others = together(answer, by_itself, tested) if claim.evidence else ""
            numbers, short = words(claim, spec, answer, others), counted(claim, answer, others)
            source = "" if spec is None else sources(spec, self.shown.references)
            standing = None if spec is None or not spec.assumptions else self.standing(spec)
            if standing is not None:
                numbers, short = (text and f"{text.rstrip('.')}; {standing.words}" for text in (numbers, short))
            told_alone = alone(answer, by_itself, tested) if claim.evidence else ""
            refuted_by = (spec or claim).refuted_by
            found.append(
                Verdict(
                    claim.claim,
                    answer,
                    with_source(numbers, source),
                    list(claim.evidence),
                    claim.caveat,
                    refuted_by,
                    standing,
                    told_alone,
                    short and with_source(short, source),
                )
            )
        return found

    def standing(self, spec: FindingSpec) -> Standing | None:
        """What the verdict on a finding would be in each combination of what it assumes; None if not even two of them tell anything."""
        found: dict[tuple[str, ...], Answer] = {}
        for levels, there in assumed.combinations(spec, self.evaluator.plan):
            claim = self.claimed(there)
            if claim.evidence:
                found[levels] = answer_of(claim, ERRORS)
        return Standing(spec.assumptions, found) if len(found) > 1 else None

    @cached_property
    def coarse(self) -> Evaluator:
        """Evaluates measures to the least and the most that stored percentiles may stand for."""
        return Evaluator(self.dataset, self.shown.references, coarse=True)

    def weighed(self, spec: FindingSpec) -> Claimed:
        """A finding with its evidence.

        Raises:
            DatasetError, MixedError: if the results do not tell it.

        """
        kind = findings.kind(spec.kind)
        if not kind.measured:
            return Claimed(spec.claim, (), caveat=spec.caveat)
        data = FindingData(self.evaluator, spec, kind, self.shown.references, self.arms)
        evidence = kind.weigh(data)
        if kind.bounds and evidence and spec.measure is not None and spec.measure.coarse:
            evidence = resolved(evidence, kind.weigh(FindingData(self.coarse, spec, kind, self.shown.references, self.arms)))
        lacking = [each.words for each in self.lacking(spec, data.frame)]
        if all(each.silent for each in evidence):
            nothing = [of_cell(each.cell, each.words, "") for each in evidence[:1]] or ["the runs that were made do not tell it"]
            return Claimed(
                spec.claim,
                (),
                spec.wanted,
                "; ".join(part for part in (*lacking, data.untold(advised=True)) if part) or nothing[0],
                caveat=spec.caveat,
            )
        remarks = [f"{remark[0].upper()}{remark[1:]}" for remark in (kind.remark(data), *lacking, data.untold()) if remark]
        return Claimed(spec.claim, evidence, spec.wanted, remark=". ".join(remarks), caveat=spec.caveat)

    def lacking(self, spec: FigureSpec | FindingSpec, known: pl.DataFrame) -> list[Lack]:
        """Of which cells that a figure or finding speaks of a reference has no number.

        Args:
            spec: which.
            known: the values that it is made of.

        """
        measures = spec.measures if isinstance(spec, FigureSpec) else [spec.measure]
        found = coverage.lacks(coverage.terms([], spec.options), self.shown.references, self._asked(known))
        for measure in measures:
            if isinstance(measure, Measure) and measure.referred:
                asked = self._asked(self.evaluator.observe(Asked(measure.unreferred, spec.view)).filter(pl.col("low").is_not_null()))
                for choice in [spec.needed] if isinstance(spec, FigureSpec) else spec.choices:
                    found += coverage.lacks(measure.referred, self.shown.references, choice.select(asked))
        return list({each.words: each for each in found}.values())

    def _asked(self, frame: pl.DataFrame) -> pl.DataFrame:
        names = factors(self.dataset)
        return frame.select(*(pl.col(name).fill_null(NOT_SET) for name in names), "arm", "item")

    def claimed(self, spec: FindingSpec) -> Claimed:
        """A finding with its evidence; with none if the results do not tell it, and why."""
        spec = replace(spec, caveat=" ".join(filter(None, (spec.caveat, common_links.caveat(spec, self.dataset)))))
        try:
            return self.weighed(spec)
        except DatasetError as error:
            return Claimed(
                spec.claim, (), spec.wanted, f"{error.message}: {error.hint}" if error.hint else error.message, caveat=spec.caveat
            )
        except MixedError as error:
            return Claimed(spec.claim, (), spec.wanted, f"{error}: {advice(error, [])}", caveat=spec.caveat)

    # --- figures

    def plots(self) -> tuple[list[Plot], list[str]]:
        """The figures; and of those that these results do not hold, why not."""
        made: list[Plot] = []
        notes: list[str] = []
        for spec in self.shown.figures:
            try:
                made.append(self.plot(spec))
            except DatasetError as error:
                notes.append(f"The figure {spec.name} is not here: {error.message}{f' ({error.hint})' if error.hint else ''}.")
            except MixedError as error:
                notes.append(f"The figure {spec.name} is not here: {error} ({advice(error, [])}).")
        return made, notes

    def plot(self, spec: FigureSpec) -> Plot:
        """One figure."""
        drawn = self.drawn(spec)
        caption = " ".join(part for part in (spec.caption, drawn.note, sources(spec, self.shown.references)) if part)
        return Plot(spec.name, drawn.picture, caption, drawn.numbers, self._aside and self._aside.begin(drawn.picture))

    def drawn(self, spec: FigureSpec) -> Drawn:
        """One figure, drawn.

        Raises:
            DatasetError: if these results do not hold it.

        """
        kind = figures.TABLE[spec.kind]
        data = FigureData(self.evaluator, spec, kind, self.shown.references, self.arms, self.verdicts)
        found = kind.draw(data)
        # A heat map has a place for what is not known, and says there what lacks.
        lacking = [] if kind.name == "heatmap" or not kind.measured else [f"{each.words}." for each in self.lacking(spec, data.frame)]
        return replace(
            found,
            note=sentences(
                found.note, *lacking, without_value(data), common_links.caveat(spec, self.dataset), chosen(spec), resolution(spec)
            ),
        )


def section(answers: Answers, *, drawn: bool = True) -> Section | None:
    """What the study asks to be shown, without its figures if they are not `drawn`; None if it asks for nothing."""
    if not answers.shown.figures and not answers.shown.findings and not any(section.claims for section in answers.analysed):
        return None
    plots, notes = answers.plots() if drawn else ([], [])
    return Section("Answer", [*notes], verdicts=answers.verdicts(), plots=plots, missing=notes)


def summary(found: Section) -> list[str]:
    """The verdicts in plain text."""
    return [verdict.line for verdict in found.verdicts]
