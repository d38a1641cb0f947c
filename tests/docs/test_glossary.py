"""Names of the glossary are those of the code."""

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
