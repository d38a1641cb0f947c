"""Inputs that fuzzing has found, and some that stand for a class, are tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.kinds import named

CORPUS = Path(__file__).parent / "corpus"
FOUND = sorted((path.parent.name, path.name) for path in CORPUS.glob("*/*"))


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


@pytest.mark.parametrize(("kind", "name"), FOUND)
def test_an_input_that_was_found_does_no_harm_any_more(kind: str, name: str, work: Path) -> None:
    named(kind).replay(CORPUS / kind / name, work)
