"""Pictures of whole studies can be drawn again: each is a figure that its study has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import pictures
from docs.pictures import GALLERY, IMAGES, PICTURES, draw
from docs.worked import PAGES
from sawtooth.presentation import presentation
from sawtooth.study import Study

ELSEWHERE = {
    "animation": "docs/guides/animate.md", "explorer": "bench/session.py", "fit-namespaces": "bench/fit_namespaces.py", "layers": "docs/guides/trace.md",
}  # fmt: skip
"""By what the others are made."""


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_figure_of_its_study(name: str) -> None:
    shown = PICTURES[name]
    backend = [f"backend={value}" for key, value in zip(shown.options[::2], shown.options[1::2], strict=True) if key == "--backend"]
    assert shown.figure in {figure.name for figure in presentation(Study.load(shown.study, options=backend)).figures}


def test_every_picture_has_something_that_makes_it() -> None:
    there = {path.stem for path in IMAGES.glob("*.png")}
    assert there == {*PICTURES, GALLERY, *(Path(page).stem for page in PAGES), *ELSEWHERE}
    root = IMAGES.parents[1]
    for name, program in ELSEWHERE.items():
        text = (root / program).read_text(encoding="utf-8")
        assert re.search(rf"{name}\.png", text), (name, program)


def test_the_explorers_pages_are_pictured_and_small() -> None:
    page = (IMAGES.parent / "guides/explorer-pictures.md").read_text(encoding="utf-8")
    shown = re.findall(r"images/explorer/([\w-]+)\.webp", page)
    assert {each.stem for each in (IMAGES / "explorer").glob("*.webp")} == {*shown} <= {*pictures.PAGES}
    assert max((IMAGES / "explorer" / f"{name}.webp").stat().st_size for name in shown) <= 150_000


def test_a_picture_is_drawn_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.pictures.IMAGES", tmp_path)
    monkeypatch.setattr("docs.pictures.PICTURES", {"latency": PICTURES["stall-latency"]})
    draw(["latency"], tmp_path / "results")
    assert (tmp_path / "latency.png").read_bytes().startswith(b"\x89PNG")
