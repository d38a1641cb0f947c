"""What is said of a verdict: the numbers behind it, what the other claims make of it, and where published numbers are from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sawtooth.figures.spec import FigureSpec
from sawtooth.findings.spec import FindingSpec
from sawtooth.findings.verdict import Claimed, Evidence
from sawtooth.measures import Measure
from sawtooth.measures.named import references_of
from sawtooth.measures.resolve import Referred
from sawtooth.references import Reference
from sawtooth.report.document import FOLLOWS

_MOST_CELLS = 4
"""Of which each is told; of more it is counted."""


def words(claim: Claimed, spec: FindingSpec | None, answer: str, together: str = "") -> str:
    """The numbers behind a verdict: of every cell, or of those that matter if there are many; and what the other claims make of it."""
    if claim.parts and spec is not None:
        return f"{FOLLOWS} {', '.join(spec.options['findings'])}"
    if not claim.evidence:
        return claim.why_none
    cells = claim.evidence
    if len(cells) <= _MOST_CELLS:
        text = "; ".join(of_cell(each.cell, each.words, each.doubt if answer == "cannot distinguish" else "") for each in cells)
    else:
        least = _example(cells, answer)
        text = f"{_count(claim, answer)}; for example {of_cell(least.cell, least.words, least.doubt)}"
    return _with_rest(text, claim, together)


def counted(claim: Claimed, answer: str, together: str = "") -> str:
    """As `words`, with cells counted that are told by themselves in a table beside it; empty of a single one."""
    return _with_rest(_count(claim, answer), claim, together) if len(claim.evidence) > 1 and not claim.parts else ""


def _with_rest(text: str, claim: Claimed, together: str) -> str:
    if claimed_of := claim.wanted.words(len(claim.evidence)):
        text = f"{text}; claimed of {claimed_of}"
    return f"{text}{together}. {claim.remark}" if claim.remark else f"{text}{together}"


def _count(claim: Claimed, answer: str) -> str:
    """How many cells show it, how many the contrary, and how many cannot tell."""
    cells = claim.evidence
    shown = sum(each.shows(0.95) for each in cells)
    denied = sum(each.denies(0.95) for each in cells)
    text = f"{shown} of {len(cells)} cells show it, {denied} the contrary{', each by itself at 95 %' if any(each.chance for each in cells) else ''}"
    if answer == "no" and shown and claim.wanted.of(len(cells)) == len(cells):
        # Else it would be `mixed`.
        text += "; of the former none does at the level that is adjusted for their number"
    if silent := [each for each in cells if each.silent and not (each.shows(0.95) or each.denies(0.95))]:
        neither = len(cells) - shown - denied - len(silent)
        text += f", {neither} neither" if neither else ""
        text += f", {len(silent)} cannot tell ({of_cell(silent[0].cell, silent[0].words, '')})"
    return text


def together(answer: str, by_itself: str, tested: int) -> str:
    """What is said of a verdict that would be another one if it were the only one; empty if it would not."""
    if answer == by_itself:
        return ""
    # `no` may stay where `mixed` would have needed cells that show the claim at the smaller share of errors.
    stays = "left open" if answer == "cannot distinguish" else f"`{answer}`"
    return f"; by itself this would be `{by_itself}`: with all {tested} claims of the study together (Holm) it is {stays}"


def alone(answer: str, by_itself: str, tested: int) -> str:
    """As `together`, in a few words, for lists."""
    return "" if answer == by_itself else f"`{by_itself}` before correction for {tested} claims"


def sources(spec: FigureSpec | FindingSpec, references: Mapping[str, Reference]) -> str:
    """Where the published numbers are from that a figure or finding shows, as a sentence; empty if there are none, or nothing tells it."""
    held: list[object] = [spec.measure, *(spec.several.values() if isinstance(spec, FigureSpec) else []), *spec.options.values()]
    named: list[str] = []
    for each in held:
        named += each.references if isinstance(each, Measure) else references_of(each) if isinstance(each, Referred) else []
    told: dict[str, dict[str, None]] = {}
    for name in named:
        if source := references[name].source.strip().rstrip("."):
            told.setdefault(references[name].called, {})[source] = None
    # In an expression it is a number; findings that reproduce it, and `compare`, count its spread.
    terms = [term for each in held if isinstance(each, Measure) for term in each.referred]
    spread = dict.fromkeys(term.reference for term in terms if references[term.reference].quantities[term.column].spread)
    exact = [f"In the measure the numbers of `{name}` count as exact, without their published spread." for name in spread]
    return " ".join([*exact, *(f"{called[0].upper()}{called[1:]}: {'; '.join(each)}." for called, each in told.items())])


def with_source(words: str, source: str) -> str:
    """Words with what is told of where numbers are from, as sentences of their own."""
    return f"{words}{'' if words.endswith('.') else '.'} {source}" if source else words


def of_cell(cell: str, words: str, doubt: str) -> str:
    """What a cell tells, and what would have been needed to tell more."""
    text = f"{words}; {doubt}" if doubt else words
    return f"{cell}: {text}" if cell else text


def _example(cells: Sequence[Evidence], answer: str) -> Evidence:
    """The cell to quote: one that shows what the verdict says, or of `mixed` and `cannot distinguish` what stands against it."""
    contrary = [each for each in cells if each.denies(0.95)]
    shown = [each for each in cells if each.shows(0.95)]
    unclear = [each for each in cells if not each.shows(0.95)]
    return (shown if answer == "yes" else contrary or unclear or cells)[0]
