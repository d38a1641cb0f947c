"""The page of a comparison says where the numbers of each side are from, published ones included."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

import sawtooth

TABLE = "delay_ms,goodput_bps\n5,9e6\n20,8e6\n"
STUDY = """\
name = "cited"
repeat = 1
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[sweep]
"links.l.delay" = ["5 ms", "20 ms"]
[[references]]
name = "paper"
file = "table.csv"
source = "A. Author, A Title, 2003, table 2"
"""


@pytest.fixture
def dataset(tmp_path: Path) -> sawtooth.Dataset:
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return sawtooth.run(tmp_path / "study.toml", tmp_path / "out")


def told(dataset: sawtooth.Dataset, reference: str, out: Path) -> dict[str, str]:
    dataset.compare(reference=reference).report().write(out)
    frame = pl.read_csv(out / "tables/reference.csv", infer_schema=False)
    return dict(frame.iter_rows())


def test_a_reference_of_the_study_has_its_file_source_and_hash(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    found = told(dataset, "paper", tmp_path / "page")
    assert Path(found["file"]).name == "table.csv"
    assert found["source"] == "A. Author, A Title, 2003, table 2"
    assert found["SHA-256"] == hashlib.sha256(TABLE.encode()).hexdigest()
    page = (tmp_path / "page/report.html").read_text()
    assert "A. Author, A Title, 2003, table 2" in page and found["SHA-256"] in page and dataset.digest in page


def test_a_file_that_no_study_names_has_its_hash_and_says_that_no_source_is_told(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    table = tmp_path / "other.csv"
    table.write_text(TABLE)
    found = told(dataset, str(table), tmp_path / "page")
    assert found == {
        "file": str(table), "source": "not told", "SHA-256": hashlib.sha256(TABLE.encode()).hexdigest(), "rows": "2", "columns": "goodput_bps",
    }  # fmt: skip
