"""What a verdict's numbers say of many cells, and which one they quote."""

from __future__ import annotations

import pytest

from sawtooth.findings.spec import FindingSpec
from sawtooth.findings.verdict import Claimed, Evidence, Wanted
from sawtooth.report import behind

SHOWN, DENIED, OPEN = "shown", "denied", "open"


def cells(*kinds: str) -> list[Evidence]:
    """Evidence at every level, each of a cell called as what it says."""

    def of(kind: str) -> Evidence:
        return Evidence(
            kind, lambda _level: kind == SHOWN, lambda _level: kind == DENIED, "1 ms", doubt="" if kind != OPEN else "who knows"
        )

    return [of(kind) for kind in kinds]


def words(evidence: list[Evidence], answer: str, wanted: Wanted) -> str:
    return behind.words(Claimed("c", evidence, wanted), FindingSpec("c", "", "above", wanted=wanted), answer)


def test_yes_of_most_cells_quotes_one_that_shows_it() -> None:
    text = words(cells(OPEN, DENIED, *[SHOWN] * 10), "yes", Wanted(share=0.8))
    assert "for example shown: 1 ms; claimed of at least 80 % of 12 cells" in text


@pytest.mark.parametrize(("answer", "quoted"), [("no", "denied"), ("mixed", "denied"), ("cannot distinguish", "denied")])
def test_other_answers_quote_what_stands_against_it(answer: str, quoted: str) -> None:
    assert f"for example {quoted}: 1 ms" in words(cells(SHOWN, OPEN, DENIED, *[SHOWN] * 5), answer, Wanted())
    assert "for example open: 1 ms; who knows" in words(cells(SHOWN, OPEN, *[SHOWN] * 5), "cannot distinguish", Wanted())


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(share=0.9), "at least 90 % of 12 cells"),
        (Wanted(share=0.33), "at least 33 % of 12 cells"),
        (Wanted(at_least=5), "at least 5 of 12 cells"),
        (Wanted(at_least=1), "any of 12 cells"),
        (Wanted(), ""),
    ],
)
def test_of_how_many_cells_it_is_claimed_reads_as_it_was_written(wanted: Wanted, said: str) -> None:
    assert wanted.words(12) == said
