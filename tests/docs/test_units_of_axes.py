"""Units stand in one style in all figures: after the name of what is measured, in round brackets."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNIT = re.compile(r"\w \[(ns|µs|ms|s|[kMG]?B|[kMG]?bit/s|[kMG]?B/s|packets|segments|bdp|%)\]")
SOURCES = sorted(each for folder in ("python/sawtooth", "docs") for each in (ROOT / folder).rglob("*.py"))
"""Where figures are made; scripts of `bench` have headings of tables, and their pictures are below."""
STUDIES = sorted((ROOT / "python/sawtooth/studies").rglob("*.toml"))
DRAWN = sorted((ROOT / "docs").rglob("*.svg"))


def test_no_label_of_an_axis_has_its_unit_in_square_brackets() -> None:
    assert len(SOURCES) > 100
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and UNIT.search(node.value)
    ]
    assert not found


@pytest.mark.parametrize("files", [STUDIES, DRAWN], ids=["studies", "drawn"])
def test_neither_do_studies_nor_figures_that_are_drawn(files: list[Path]) -> None:
    # Matplotlib tells each text of a picture in a comment.
    assert files
    assert not [path.name for path in files if UNIT.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("label", "wrong"), [("median [ms]", True), ("median (ms)", False), ("flow[1]", False), ("rate [Mbit/s]", True)])
def test_the_pattern_finds_them(label: str, wrong: bool) -> None:
    assert bool(UNIT.search(label)) == wrong
