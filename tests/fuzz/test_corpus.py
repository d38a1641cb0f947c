"""Inputs that fuzzing has found are tried again, and the runner itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.kinds import table

CORPUS = Path(__file__).parent / "corpus"
FOUND = sorted((path.parent.name, path.name) for path in CORPUS.glob("*/*") if path.name != "README.md")


@pytest.mark.parametrize(("kind", "name"), FOUND)
def test_an_input_that_was_found_does_no_harm_any_more(kind: str, name: str, tmp_path: Path) -> None:
    table()[kind].replay(CORPUS / kind / name, tmp_path)
