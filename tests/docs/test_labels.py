"""Units of labels stand in round brackets: in what is drawn, and in the pictures of the documentation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.conftest import ROOT

_SQUARE = re.compile(r"\w \[(?:[kMG]?(?:bit/s|B/s|B)|[mµun]?s|packets|%|\{\w+\})\]$")
_TEXT = re.compile(r"<!-- (.*?) -->")


def labels(path: Path) -> list[str]:
    """Texts of a module, and those that have values in them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    whole = [ast.unparse(node)[2:-1] for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return whole + [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_no_label_has_its_unit_in_square_brackets() -> None:
    modules = [path for part in ("plots", "report", "figures") for path in (ROOT / "python/sawtooth" / part).glob("*.py")]
    assert len(modules) > 30
    assert not [(path.name, text) for path in modules for text in labels(path) if _SQUARE.search(text)]


def test_pictures_of_the_documentation_have_the_labels_that_are_drawn_now() -> None:
    pictures = list((ROOT / "docs/images").rglob("*.svg"))
    assert pictures
    for path in pictures:
        texts = _TEXT.findall(path.read_text(encoding="utf-8"))
        assert "time (s)" in texts, path.name
        assert not [text for text in texts if _SQUARE.search(text)], path.name
