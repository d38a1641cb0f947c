"""Assumptions: whether a claim's verdict would be another one had something else been assumed.

What a publication does not say, a study must assume. A finding that names such factors is decided where they have the levels that its `where` gives,
and then again in every other combination of their levels that was run, each by itself at 95 %: no more is claimed of all of them together than how
many say what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sawtooth.design import NOT_SET
from sawtooth.findings.spec import FindingSpec
from sawtooth.findings.verdict import ANSWERS, Answer
from sawtooth.hints import did_you_mean
from sawtooth.questions import Choice, Reader
from sawtooth.recognise import written


@dataclass(frozen=True)
class Standing:
    """What a claim's verdict is in each combination of what was assumed.

    Attributes:
        factors: that were assumed.
        answers: levels of the factors, in their order, to the answer there.

    """

    factors: Sequence[str]
    answers: Mapping[tuple[str, ...], Answer]

    @property
    def counts(self) -> dict[Answer, int]:
        """In how many combinations each answer is given: those that are."""
        found = Counter(self.answers.values())
        return {answer: found[answer] for answer in ANSWERS if found[answer]}

    @property
    def unanimous(self) -> bool:
        """Whether it is the same in all."""
        return len(self.counts) <= 1

    @property
    def words(self) -> str:
        """In how many combinations each answer is given, in words."""
        of = f"{len(self.answers)} combinations of {', '.join(self.factors)} that were run"
        told = "; ".join(f"{answer} in {number}" for answer, number in self.counts.items())
        return f"of {of}, each by itself at 95 %: {told}"

    def facts(self) -> dict[str, Any]:
        """For programs."""
        return {
            "factors": list(self.factors),
            "combinations": [{**dict(zip(self.factors, levels, strict=True)), "answer": answer} for levels, answer in self.answers.items()],
        }


def read(reader: Reader, tree: Mapping[str, Any], path: str, spec: FindingSpec) -> tuple[str, ...]:
    """The factors that a finding assumes a level of.

    Raises:
        StudyError: if one is no factor, or it is not said which level is assumed.

    """
    names = reader.names(dict(tree), "assumptions", path, "a factor, or a list of factors")
    for at, name in enumerate(names):
        place = f"{path}.assumptions" if isinstance(tree["assumptions"], str) else f"{path}.assumptions[{at}]"
        if name not in reader.levels:
            raise reader.error(f"the sweep has no factor `{name}`", place, did_you_mean(name, reader.levels))
        for choice in spec.choices:
            levels = choice.where.get(name, ())
            if len(levels) != 1:
                some = next(iter(reader.levels[name]))
                raise reader.error(
                    f"an assumption has one level, and the finding speaks of {len(levels) or 'all'} of `{name}`", place,
                    f"say which is assumed, such as where = {{ {name} = \"{written(some)}\" }}",
                )  # fmt: skip
            if levels != spec.choice.where[name]:
                raise reader.error(f"`{name}` is what the two sides of the finding differ in", place, "it cannot be assumed, too")
    return tuple(dict.fromkeys(names))


def combinations(spec: FindingSpec, plan: pl.DataFrame) -> Iterator[tuple[tuple[str, ...], FindingSpec]]:
    """The finding in each combination of the levels of what it assumes, in the order of the plan.

    Args:
        spec: the finding.
        plan: runs with their factors and arms.

    """
    names = list(spec.assumptions)
    filled = plan.with_columns(pl.col(names).fill_null(NOT_SET))
    for levels in _free(replace(spec.choice, of=()), names).select(filled).select(names).unique(maintain_order=True).rows():
        held = dict(zip(names, levels, strict=True))
        other = spec.options.get("other")
        options = {**spec.options, "other": _at(other, held)} if isinstance(other, Choice) else spec.options
        yield levels, replace(spec, choice=_at(spec.choice, held), options=options, assumptions=())


def _free(choice: Choice, names: Sequence[str]) -> Choice:
    return replace(choice, where={name: levels for name, levels in choice.where.items() if name not in names})


def _at(choice: Choice, held: Mapping[str, str]) -> Choice:
    return replace(choice, where={**choice.where, **{name: (level,) for name, level in held.items()}})
