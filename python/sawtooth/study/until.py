"""Replicates by a rule that is fixed beforehand: `repeat = { until = "5 %", of = "goodput_bps", confidence = "95 %", min = 5, max = 200 }`.

A cell gets replicates until the interval of the mean of `of` is, of each of its arms, within `until` of that mean; `stats.sequential` is the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sawtooth.hints import did_you_mean
from sawtooth.study import keys, mistakes
from sawtooth.study.document import Document, shown

_VIEW = ("window", "warm_up")
_EXAMPLE = 'for example repeat = { until = "5 %", of = "goodput_bps" }'


@dataclass(frozen=True)
class Until:
    """When a cell has replicates enough.

    Attributes:
        share: half the interval's width over the mean's absolute value, at most.
        of: the measure, as the study writes it.
        confidence: of the interval, between 0 and 1.
        least, most: replicates at the first look, and after which it stops in any case.
        origin: where it is written.
        view: which part of a run counts, as the study writes it: `window`, `warm_up`.

    """

    share: float
    of: str
    confidence: float
    least: int
    most: int
    origin: str
    view: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def words(self) -> str:
        """The rule in words."""
        return f"{self.least} to {self.most} in each cell, until the {_percent(self.confidence)} interval of the mean of {self.of} is within {_percent(self.share)} of it"

    @property
    def facts(self) -> dict[str, Any]:
        """What a manifest tells of it, and what tells it from other rules."""
        return {"share": self.share, "of": self.of, "confidence": self.confidence, "min": self.least, "max": self.most, **self.view}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> Until:
        """The rule that a manifest tells of."""
        view = {key: facts[key] for key in _VIEW if key in facts}
        return cls(facts["share"], facts["of"], facts["confidence"], facts["min"], facts["max"], "repeat", view)


def read(table: Mapping[str, Any], origin: str, document: Document) -> Until:
    """The rule that a table says.

    Raises:
        StudyError: with its place.

    """
    known = keys.names(keys.REPEAT)
    for key in table:
        if key not in known:
            raise document.error(f"unknown key `{key}`", f"{origin}.{key}", did_you_mean(key, known), key=True)
    for key in ("until", "of"):
        if key not in table:
            raise document.error(f"`repeat` lacks `{key}`", origin, _EXAMPLE)
    if not isinstance(table["of"], str):
        raise document.error(f"`of` is the measure that is looked at, found {shown(table['of'])}", f"{origin}.of", _EXAMPLE)
    least, most = (_whole(table.get(key, default), key, origin, document) for key, default in (("min", 5), ("max", 200)))
    if most < least:
        raise document.error(
            f"at most {most} replicates are less than the {least} before the first look",
            f"{origin}.{'max' if 'max' in table else 'min'}",
            "let `max` be above `min`",
        )
    return Until(
        _share(table["until"], "until", f"{origin}.until", document), table["of"],
        _share(table.get("confidence", 0.95), "confidence", f"{origin}.confidence", document), least, most, origin,
        {key: table[key] for key in _VIEW if key in table},
    )  # fmt: skip


def _whole(value: Any, key: str, origin: str, document: Document) -> int:
    # An interval is of two numbers at least.
    if not isinstance(value, int) or isinstance(value, bool) or value < 2:
        message, hint = mistakes.no_whole(key, 2, value)
        raise document.error(message, f"{origin}.{key}", hint)
    return value


def _share(value: Any, key: str, origin: str, document: Document) -> float:
    """A part of a whole, more than nothing and less than all: `5 %` or 0.05."""
    text = value.strip() if isinstance(value, str) else value
    try:
        if isinstance(text, bool):
            raise TypeError
        number = float(text[:-1]) / 100 if isinstance(text, str) and text.endswith("%") else float(text)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < 1:
        raise document.error(
            f"`{key}` is a share between 0 and 100 %, found {shown(value)}",
            origin,
            f'for example {key} = "{"95 %" if key == "confidence" else "5 %"}"',
        )
    return number


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
