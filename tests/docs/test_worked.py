"""Pages that show what comes out of a study show what comes out of it."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TABLE = ROOT / "python/sawtooth/studies/hstcp/published.csv"


@pytest.mark.parametrize("program", ["docs.worked", "docs.captured"])
def test_what_pages_show_is_what_their_studies_and_captures_say(program: str) -> None:
    checked = subprocess.run([sys.executable, "-m", program, "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_published_numbers_of_the_guide_are_of_the_publication() -> None:
    page = (ROOT / "docs/guides/published-table.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"(?s)```csv\n(.*?)```", page)
    rows = list(csv.DictReader(io.StringIO(text)))
    with TABLE.open(encoding="utf-8", newline="") as file:
        published = {
            row["bandwidth_kbps"]: row
            for row in csv.DictReader(file)
            if (row["propagation_ms"], row["access_delay_step_ms"], row["flows"]) == ("50", "0", "2")
        }
    assert len(rows) == 5
    for row in rows:
        assert row == {name: published[row["bandwidth_kbps"]][name] for name in row}


def test_the_first_figure_is_of_the_first_study() -> None:
    page = (ROOT / "docs/start/first-finding.md").read_text(encoding="utf-8")
    first = (ROOT / "docs/start/first-study.md").read_text(encoding="utf-8")
    (study, *_), (again, *_) = (re.findall(r"(?s)```toml\n(.*?)```", text) for text in (first, page))
    assert again.startswith(study.rstrip())


@pytest.mark.long
def test_what_the_guide_to_the_gallery_says_is_what_its_studies_find() -> None:
    checked = subprocess.run([sys.executable, "-m", "docs.gallery", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
