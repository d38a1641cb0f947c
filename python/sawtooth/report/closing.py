"""What a report found, told briefly: of each verdict the number that decides, and all of them in a few sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from sawtooth.counted import form
from sawtooth.estimates import covers
from sawtooth.findings.verdict import ANSWERS, Evidence
from sawtooth.report.document import UNTOLD, Report, Verdict
from sawtooth.scales import scale
from sawtooth.stats.interval import signed

_LEADS = {
    "yes": "Shown", "no": "The contrary is shown of", "mixed": "Some cells show it and others the contrary", "cannot distinguish": "Left open",
    UNTOLD: "Not told by the runs that were made",
}  # fmt: skip
_MOST = 12
"""Claims of one answer that are told in words."""
_ALIKE, _APART = 3, 5
"""Claims that begin with so many words alike, and then have at most so many of their own, are told together."""


def whole(report: Report) -> list[str]:
    """The summary with all numbers: a verdict on several cells has a line for each of them."""
    lines = {verdict.line: verdict.lines for section in report.sections for verdict in section.verdicts}
    return [each for line in report.summary for each in lines.get(line, [line])]


def number(verdict: Verdict) -> str:
    """The number that decides: that of the only cell, or how many cells show the claim and how many the contrary, each by itself at 95 %.

    Where the verdict is another one than that number says by itself, since it is one of many, that is said, too.
    """
    cells = verdict.evidence
    if not cells:
        return _first(verdict.numbers)
    if len(cells) == 1:
        told = _of(cells[0])
    else:
        shown, denied = sum(each.shows(0.95) for each in cells), sum(each.denies(0.95) for each in cells)
        told = f"{shown} of {len(cells)} cells{f', {denied} contrary' if denied else ''}"
    return f"{told}; {verdict.alone}" if verdict.alone else told


def found(verdicts: Sequence[Verdict]) -> list[str]:
    """All verdicts in sentences: how many there are of each answer, and then which."""
    by: dict[str, list[Verdict]] = {answer: [each for each in verdicts if each.answer == answer and not each.untold] for answer in ANSWERS}
    by[UNTOLD] = [each for each in verdicts if each.untold]
    counted = ", ".join(f"{len(those)} {answer}{_qualified(those)}" for answer, those in by.items() if those)
    told = [f"Of {len(verdicts):,} {form(len(verdicts), 'claim', 'claims together')}: {counted}."]
    for answer, those in by.items():
        # What chance has no part in comes first: it is how far the published comes out again.
        exact = [f"{verdict.claim} ({number(verdict)})" for verdict in those if _counts(verdict)]
        others = [verdict for verdict in those if not _counts(verdict)]
        plain, qualified = (together([each.claim for each in others if bool(each.caveat) == has]) for has in (False, True))
        said = [*exact, *plain, *(f"{claim} [with a caveat]" for claim in qualified)]
        more = f"; and {len(said) - _MOST} more" if len(said) > _MOST else ""
        if said:
            told.append(f"{_LEADS[answer]}: {'; '.join(said[:_MOST])}{more}.")
    return told


def _qualified(those: Sequence[Verdict]) -> str:
    """How many of some verdicts have a caveat beside them: what was fitted, or put in, is not to be counted for more than it is."""
    number = sum(bool(each.caveat) for each in those)
    if not number:
        return ""
    return f" ({'each' if number == len(those) else number} with a caveat)"


def together(claims: Sequence[str]) -> list[str]:
    """Claims, those that follow each other and differ only in their last words joined."""
    groups: list[tuple[list[str], list[list[str]]]] = []
    for claim in claims:
        words = claim.split()
        if groups and (start := _start(*groups[-1], words)):
            before, ends = groups[-1]
            groups[-1] = before[:start], [before[start:] + end for end in ends] + [words[start:]]
        else:
            groups.append((words, [[]]))
    return [" ".join([*start, _listed([" ".join(end) for end in ends])]).strip() for start, ends in groups]


def _start(before: list[str], ends: list[list[str]], words: list[str]) -> int:
    """With how many words a claim begins like those of a group, if it is told with them; else none."""
    alike = next((at for at, pair in enumerate(zip(before, words, strict=False)) if pair[0] != pair[1]), min(len(before), len(words)))
    if len(ends) > 1:
        alike = alike if alike == len(before) else 0
    own = [words[alike:], *([before[alike:]] if len(ends) == 1 else [])]
    fits = all(0 < len(each) <= _APART and not any("," in word for word in each) for each in own)
    return alike if alike >= _ALIKE and fits else 0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _counts(verdict: Verdict) -> bool:
    """Whether it is of values that are as published or not, without chance."""
    return len(verdict.evidence) > 1 and not any(each.chance for each in verdict.evidence)


def _of(each: Evidence) -> str:
    interval = each.interval
    if each.brief or interval is None or not math.isfinite(interval.estimate):
        return each.brief or _first(each.words)
    divisor, unit = each.read_in or scale(each.unit, [abs(interval.estimate)])
    shown = interval.over(divisor)
    ends = f" ({signed(shown.low)} to {signed(shown.high)})" if covers(interval) else ""
    return f"{signed(shown.estimate)}{f' {unit}' if unit else ''}{ends}"


def _first(words: str) -> str:
    """The beginning of what is said, without what is in brackets."""
    return re.split(r"; | \(|\. ", words, maxsplit=1)[0].rstrip(".")
