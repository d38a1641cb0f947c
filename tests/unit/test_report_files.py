"""A report removes what earlier reports made and it has not any more, and nothing that is somebody's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.plots import style
from sawtooth.report.document import Grid, Plot, Report, Section

STUDY = """\
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
"""
NUMBERS = pl.DataFrame({"a": [1]})


@pytest.fixture
def report(once: Callable[[str, Callable[[Path], None]], Path]) -> Callable[..., Report]:
    """A report with figures and tables of these names."""

    def fill(made: Path) -> None:
        sawtooth.run(STUDY, made)

    dataset = sawtooth.Dataset(once("report-files", fill))

    def made(*names: str) -> Report:
        plots = [Plot(name, style.figure(2, 2)[0], "A figure.", NUMBERS) for name in names]
        grids = [Grid(name, NUMBERS, "A table.") for name in names]
        return Report(dataset, [Section("All", plots=plots, grids=grids)], [])

    return made


def files(directory: Path) -> set[str]:
    found = {path.relative_to(directory).as_posix() for path in directory.glob("*/*")}
    return {name for name in found if not name.startswith("tables/validity")}


def of(*names: str) -> set[str]:
    return {f"figures/{name}.{ending}" for name in names for ending in ("svg", "png", "csv")} | {f"tables/{name}.csv" for name in names}


def test_figures_and_tables_that_are_no_longer_asked_for_are_removed(report: Callable[..., Report], tmp_path: Path) -> None:
    report("one", "two").write(tmp_path)
    assert files(tmp_path) == of("one", "two")
    report("two", "three").write(tmp_path)
    assert files(tmp_path) == of("two", "three")


def test_files_of_the_user_stay(report: Callable[..., Report], tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "tables").mkdir()
    for name in ("figures/mine.svg", "tables/mine.csv", "figures/old.svg"):
        (tmp_path / name).write_text("mine")
    report("one", "two").write(tmp_path)
    # Of what a report made what was changed since, or replaced by a link, is the user's.
    (tmp_path / "figures/one.svg").write_text("edited")
    (tmp_path / "figures/one.png").unlink()
    (tmp_path / "figures/one.png").symlink_to(tmp_path / "figures/mine.svg")
    for _ in range(2):
        report("two").write(tmp_path)
        assert files(tmp_path) == of("two") | {
            "figures/mine.svg",
            "tables/mine.csv",
            "figures/old.svg",
            "figures/one.svg",
            "figures/one.png",
        }
    assert (tmp_path / "figures/mine.svg").read_text() == "mine"


def test_other_formats_of_what_is_still_shown_stay(report: Callable[..., Report], tmp_path: Path) -> None:
    report("one", "two").write(tmp_path)
    report("two").write(tmp_path, ["csv"])
    # Tables alone were written: nothing is known of figures.
    assert files(tmp_path) == of("one", "two") - {"tables/one.csv"}
    report("two").write(tmp_path, ["md"])
    assert files(tmp_path) == of("two")


def test_a_list_that_is_damaged_or_leads_elsewhere_removes_nothing(report: Callable[..., Report], tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    mine.write_text("mine")
    report("one").write(out)
    listed = (out / "files.sha256").read_text()
    assert "  figures/one.svg\n" in listed
    (out / "files.sha256").write_text(
        "nonsense\n\x00" + listed.replace("figures/one.svg", "figures/../../mine").replace("  tables/", " tables/")
    )
    report("two").write(out)
    assert mine.read_text() == "mine" and {"figures/one.svg", "tables/one.csv"} < files(out)
