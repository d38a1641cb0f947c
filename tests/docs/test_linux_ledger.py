"""What the page beside Linux says of its bar for goodput is what its table has, of the statistic that the bar was set for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl

from tests.conftest import ROOT

PAGE = ROOT / "docs/validation/linux.md"


def restated(folder: Path, table: pl.DataFrame) -> str:
    copy = folder / "linux.md"
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    table.write_csv(copy.with_suffix(".csv"))
    subprocess.run([sys.executable, str(ROOT / "bench/linux/validate.py"), "--restate", "--out", str(copy)], check=True)
    return copy.read_text(encoding="utf-8")


def test_the_bar_is_told_of_single_runs_with_its_first_measure(tmp_path: Path) -> None:
    table = pl.read_csv(PAGE.with_suffix(".csv"))
    assert restated(tmp_path, table) == PAGE.read_text(encoding="utf-8")
    assert "Its first measure was 9.6%, which missed it" in PAGE.read_text(encoding="utf-8")
    assert "the 90th percentile is 1.4% today, and meets it: 11 of 187" in PAGE.read_text(encoding="utf-8")
    # Means decide nothing: single runs that are five times as far apart do.
    assert "and meets it: 11 of 187" in restated(tmp_path, table.with_columns(pl.col("goodput") * 100))
    assert "and misses it" in restated(tmp_path, table.with_columns(pl.col("first_goodput") * 5))
