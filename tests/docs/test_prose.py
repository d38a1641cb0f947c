"""Sentences in prose whose numbers are what a run, a plan, a table, a constant or arithmetic says today."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.accounted import text_of
from tests.docs.facts import FACTS
from tests.docs.fillings import Fill


@pytest.mark.parametrize(("page", "sentence", "holes"), FACTS, ids=[f"{page}: {sentence[:40]}" for page, sentence, _ in FACTS])
def test_a_number_in_prose_is_what_it_says(page: str, sentence: str, holes: Fill, tmp_path: Path) -> None:
    text = " ".join(text_of(page).split())
    assert sentence.format(*holes(tmp_path / "out")) in text
