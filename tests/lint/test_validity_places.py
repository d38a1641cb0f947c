"""Where a rule marks results: what an entry joins is marked in all its combinations."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth import Study
from sawtooth.report.validity import validity

STUDY = """
name = "places"
[scenario]
duration = "2 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"], name = "dl", source = { name = "bulk", size = "1 MB" } }]
[sweep]
"links.l.rate" = ["1 Mbit/s", "10 Mbit/s"]
[arms]
clean = { "links.l.loss" = 0.0 }
"""


@pytest.mark.parametrize(
    ("dead", "where"),
    [
        (1, "In 1 of 2 cells of arm clean, all 2 cells of arm dead0, flow dl, in 1 of 1 runs"),
        (3, "In 7 of 8 cells and arms, flow dl, in 1 of 1 runs"),
    ],
)
def test_cells_and_arms_that_are_not_all_marked_are_told_apart_or_counted(dead: int, where: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + "".join(f'dead{at} = {{ "links.l.loss" = 0.{6 + at} }}\n' for at in range(dead)))
    found = validity(sawtooth.run(Study.load(tmp_path / "s.toml"), out=tmp_path / "out", jobs=1))
    assert found is not None
    # The arm without losses finishes at the higher rate: of both arms and both cells it would be said falsely.
    assert next(entry.where for entry in found.entries if entry.rule.code == "SW707") == where


def test_the_only_cell_is_no_example_of_itself(tmp_path: Path) -> None:
    text = STUDY.partition("[sweep]")[0].replace('"1 MB"', '"1 kB"').replace("[scenario]", "repeat = 3\n[scenario]")
    (tmp_path / "s.toml").write_text(text)
    found = validity(sawtooth.run(Study.load(tmp_path / "s.toml"), out=tmp_path / "out", jobs=1))
    assert found is not None
    entry = next(entry for entry in found.entries if entry.rule.code == "SW709")
    assert (entry.where, entry.example) == ("In the only cell, in 3 of 3 runs: all replicates are the same run", "")
