"""How a verdict comes about: one function decides for all findings.

A finding speaks of cells, and of each there is evidence: whether it shows the claim, or the contrary, at a level of confidence. Claimed is that at
least k of m cells hold (all: k = m; any: k = 1).

- `yes`: k cells show it, each at 1 - a/(m - k + 1). For all cells that is each at 1 - a: all must be shown, so nothing is added up by chance
  (intersection-union test: Berger, Technometrics 24, 1982); for fewer it is the partial conjunction of Benjamini and Heller (Biometrics 64, 2008).
- `no`: so many show the contrary that k cannot hold, m - k + 1 of them, each at 1 - a/k.
- `mixed`: of a claim about all cells some show the contrary and others show the claim, each at 1 - a/m.
- `cannot distinguish`: neither.

The share of errors a is 5 % for all findings of a study together: Holm's procedure (Scandinavian Journal of Statistics 6, 1979). It tests all at
a/m', m' being how many are not decided yet, and goes on with the others as long as one is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sawtooth.stats import Interval

Answer = Literal["yes", "no", "mixed", "cannot distinguish"]
ANSWERS: tuple[Answer, ...] = ("yes", "no", "mixed", "cannot distinguish")
ERRORS = 0.05
"""The share of false verdicts that is allowed, of all findings of a study together."""

AT_A_TIME = 4096
"""So many claims are made ready together: fewer than there are intervals that are kept."""

DIFFERENCE = "difference"
"""What most intervals are of: from the other side, or from a bound."""


@dataclass(frozen=True)
class Evidence:
    """What one cell says of a claim.

    Attributes:
        cell: its factors in words; empty if there is one cell only.
        shows: whether it shows the claim at a confidence, and denies: whether it shows the contrary.
        words: the numbers.
        interval: what is held against the limits, at 95 %; None if it is no number.
        limits: between which the claim holds of it; infinite where there is none.
        unit: of the interval. read_in: what that is divided by to be read, and the unit that it then has, the same of all cells of a finding; None
            if nothing says it. sides: both that are held against each other, in that unit; None if there are no two.
        doubt: what would have been needed to tell; empty if it is clear.
        steps: what it consists of, if that is several comparisons, each with an interval.
        chance: whether an interval decides, so that a level of confidence says something.
        brief: the number that decides, with what it is, for lists; empty for that of the interval.
        quantity: what the interval is of, such as a difference; empty of a value itself.

    """

    cell: str
    shows: Callable[[float], bool] = field(repr=False)
    denies: Callable[[float], bool] = field(repr=False)
    words: str
    interval: Interval | None = None
    limits: tuple[float, float] = (float("-inf"), float("inf"))
    unit: str = ""
    doubt: str = ""
    steps: Sequence[Evidence] = ()
    chance: bool = True
    brief: str = ""
    quantity: str = ""
    read_in: tuple[float, str] | None = None
    sides: tuple[str, str] | None = None

    @property
    def silent(self) -> bool:
        """Whether there was nothing that could have told it."""
        return self.chance and self.interval is None and not self.steps


def weighed(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Evidence that has an interval, for figures and tables of them: in the place of one of several steps these."""
    found: list[Evidence] = []
    for each in evidence:
        if each.interval is not None:
            found.append(each)
        found += [replace(step, cell=f"{each.cell}: {step.cell}" if each.cell else step.cell) for step in weighed(each.steps)]
    return found


@dataclass(frozen=True)
class Wanted:
    """How many of the cells must hold: `at_least` of them, or that share of them; all if both are None. Or it is claimed of their `average`."""

    at_least: int | None = None
    share: float | None = None
    average: bool = False

    def of(self, cells: int) -> int:
        """The number, of so many cells."""
        if self.at_least is not None:
            return self.at_least
        if self.share is not None:
            return max(1, min(cells, -int(-(self.share * cells - 1e-9) // 1)))
        return cells

    def words(self, cells: int) -> str:
        """What it says of so many cells; empty of all of them."""
        if self.at_least is not None:
            return f"{'any' if self.at_least == 1 else f'at least {self.at_least}'} of {cells} cells"
        return f"at least {100 * self.share:.4g} % of {cells} cells" if self.share is not None else ""


@dataclass(frozen=True)
class Claimed:
    """A claim with its evidence: what is decided."""

    claim: str
    evidence: Sequence[Evidence]
    wanted: Wanted = Wanted()
    why_none: str = ""
    parts: Sequence[int] = field(default_factory=tuple[int, ...])
    every: bool = True
    remark: str = ""
    caveat: str = ""
    refuted_by: str = ""


def decide(
    claims: Sequence[Claimed],
    errors: float = ERRORS,
    *,
    together: bool = True,
    ready: Callable[[Sequence[int], float], None] = lambda _, __: None,
) -> list[Answer]:
    """The answers to claims, in their order.

    Args:
        claims: with their evidence. One that is made of `parts` (numbers of others) follows from their answers.
        errors: the share of false verdicts that is allowed.
        together: of all claims (Holm); else of each.
        ready: is told which claims are asked next, and with which share of errors: for whoever makes the evidence of many at once.

    """
    answers: list[Answer] = ["cannot distinguish"] * len(claims)
    open_ones = [at for at, claim in enumerate(claims) if claim.evidence and not claim.parts]
    # What is open by itself is open with others, too: it counts, and need not be asked again.
    hopeful = [at for at in open_ones if answer_of(claims[at], errors) != "cannot distinguish"]
    while open_ones:
        share = errors / len(open_ones) if together else errors
        decided: dict[int, Answer] = {}
        for start in range(0, len(hopeful), AT_A_TIME):
            some = hopeful[start : start + AT_A_TIME]
            ready(some, share)
            decided |= {at: answer for at in some if (answer := answer_of(claims[at], share)) != "cannot distinguish"}
        for at, answer in decided.items():
            answers[at] = answer
        if not decided or not together:
            break
        open_ones, hopeful = ([at for at in those if at not in decided] for those in (open_ones, hopeful))
    for at, claim in enumerate(claims):
        if claim.parts:
            answers[at] = combined([answers[part] for part in claim.parts], every=claim.every)
    return answers


def answer_of(claim: Claimed, errors: float) -> Answer:
    """The answer to one claim with this share of errors."""
    cells = len(claim.evidence)
    k = claim.wanted.of(cells)
    if k > cells:
        # So many were not looked at, as in the short form of a study.
        return "cannot distinguish"
    denied = sum(each.denies(1 - errors / k) for each in claim.evidence)
    if denied >= cells - k + 1:
        shown = any(each.shows(1 - errors / cells) for each in claim.evidence)
        return "mixed" if k == cells and cells > 1 and shown else "no"
    shown = sum(each.shows(1 - errors / (cells - k + 1)) for each in claim.evidence)
    return "yes" if shown >= k else "cannot distinguish"


def combined(answers: Sequence[Answer], *, every: bool) -> Answer:
    """The answer to a claim that all of others hold, or any of them."""
    if every:
        if any(answer in ("no", "mixed") for answer in answers):
            return "mixed" if "yes" in answers or "mixed" in answers else "no"
        return "yes" if all(answer == "yes" for answer in answers) else "cannot distinguish"
    if "yes" in answers:
        return "yes"
    return "no" if all(answer in ("no", "mixed") for answer in answers) else "cannot distinguish"
