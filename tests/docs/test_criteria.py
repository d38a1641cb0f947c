"""What docs/development/criteria.md says of the sources is so: its evidence is there, its figures are within their bounds, its sum is right."""

from __future__ import annotations

import pytest

from tests.docs.criteria import FIGURES, PAGE, bounds, evidence, scores, total

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_line_that_is_named_is_there() -> None:
    found = [*evidence(TEXT)]
    assert len(found) >= 17
    assert [f"{each.path}: {each.words}" for each in found if not each.line] == [], "name a line that is there"


def test_a_line_that_is_not_there_is_found() -> None:
    lines = [
        each.line
        for each in evidence(
            "`tests/guards/sizes.py`\n(`LIMIT = 600`), `tests/guards/sizes.py` (`LIMIT = 599`), `tests/guards/size.py` (`LIMIT`)"
        )
    ]
    assert lines[0] > 0 and lines[1:] == [0, 0]


def test_seventeen_criteria_are_scored_and_their_sum_is_right() -> None:
    assert len(scores(TEXT)) == 17 and max(scores(TEXT)) <= 3
    assert total(TEXT) == (sum(scores(TEXT)), 3 * 17)


def test_what_keeps_a_criterion_from_three_is_said_and_of_no_other() -> None:
    sections = TEXT.split("\n## ")[1:18]
    assert [("*What is missing:*" in section) for section in sections] == [score < 3 for score in scores(TEXT)]


def test_every_figure_of_the_page_is_measured() -> None:
    assert bounds(TEXT).keys() == FIGURES.keys()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_within_its_bound_which_is_near(name: str) -> None:
    kind, bound = bounds(TEXT)[name]
    measured = FIGURES[name]()
    assert measured <= bound if kind == "at most" else measured >= bound, f"{measured:g}: is the change meant? Then change the page"
    # A bound that says little is no figure.
    assert abs(measured - bound) <= max(0.35 * bound, 10), f"{measured:g}: bring the bound nearer"
