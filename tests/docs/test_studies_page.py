"""The page of the five studies names nothing that is not there: studies, figures and findings by their words, files, commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sawtooth.cli import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/studies.md"
STUDIES = ROOT / "python/sawtooth/studies"
TEXT = PAGE.read_text(encoding="utf-8")
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
_NAMED = re.compile(r"`([a-z-]+(?:/[a-z-]+)?)#([^`]+)`")
_STUDY = re.compile(r"`((?:hstcp|stall|tahoe-vs-reno|testbed|self-similar-background)(?:/[a-z-]+)?)`")


def file_of(study: str) -> Path:
    folder, _, name = study.partition("/")
    return STUDIES / folder / f"{name or 'study'}.toml"


def words_of(study: str) -> str:
    """All that a study says itself: its file, and the analysis beside it."""
    path = file_of(study)
    text = path.read_text(encoding="utf-8")
    beside = re.search(r'^analysis = "([^"]+)"', text, re.MULTILINE)
    return text + ((path.parent / beside[1]).read_text(encoding="utf-8") if beside else "")


def test_all_five_documents_and_their_studies_are_on_the_page() -> None:
    assert len(re.findall(r"^## [1-5]\. ", TEXT, re.MULTILINE)) == 5
    for folder in ("hstcp", "stall", "tahoe-vs-reno", "testbed", "self-similar-background"):
        for path in (STUDIES / folder).glob("*.toml"):
            name = folder if path.stem == "study" else f"{folder}/{path.stem}"
            beside = (STUDIES / folder / "README.md").read_text(encoding="utf-8")
            assert f"`{name}`" in TEXT or path.name in beside, f"{name} is on neither the page nor its README"


@pytest.mark.parametrize("target", sorted({link for link in _LINK.findall(TEXT) if "://" not in link}))
def test_each_file_that_is_named_is_there(target: str) -> None:
    assert (PAGE.parent / target).exists()


@pytest.mark.parametrize("study", sorted(set(_STUDY.findall(TEXT)) | {study for study, _ in _NAMED.findall(TEXT)}))
def test_each_study_that_is_named_is_there(study: str) -> None:
    assert file_of(study).exists()


@pytest.mark.parametrize(("study", "name"), sorted(set(_NAMED.findall(TEXT))))
def test_each_figure_and_claim_that_is_named_is_the_studys(study: str, name: str) -> None:
    # A claim that is made for several interfaces, flows or stacks is there by what they have in common.
    assert name in words_of(study)


def test_each_command_is_one_of_the_command_line() -> None:
    commands = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    named = set(re.findall(r"`sawtooth ([a-z]+)", TEXT))
    assert named and named <= commands


def test_each_row_says_done_partly_or_why_not() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", TEXT.split("## The verdicts")[0], re.MULTILINE)
    items = [row for row in rows if row[0] not in ("The document", "---")]
    assert len(items) > 50
    for item, state, where in items:
        assert re.match(r"done|partly|not here|missing|an input|none", state), item
        assert len(where) > 3, item
