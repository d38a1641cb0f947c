"""Names of the glossary and of the page on how Sawtooth is built are those of the code."""

from __future__ import annotations

import re

from tests.conftest import ROOT

SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("crates", "python")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".rs", ".py")
)


def test_names_in_code_are_those_of_the_code() -> None:
    page = (ROOT / "docs/concepts/glossary.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ") and not line.startswith("| Here")]
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(names) >= 15
    missing = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", SOURCES)]
    assert missing == []


def test_files_that_the_page_names_are_there() -> None:
    page = (ROOT / "docs/development/architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:rs|toml|py))`", page)
    folders = re.findall(r"`((?:[a-z_-]+/)+)`", page)
    assert len(files) > 8
    roots = (ROOT, ROOT / "crates/sawtooth-core/src", ROOT / "python/sawtooth")
    missing = [name for name in [*files, *folders] if not any((root / name).exists() for root in roots)]
    assert missing == []
