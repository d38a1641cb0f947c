"""The section "What matters": its table is always there, its bars where the study asks for none, and its shares are the whole variance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sawtooth.report import generic
from sawtooth.report.document import Section
from sawtooth.results.dataset import Dataset
from tests.unit.figure_runs import loaded, made


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("section"))


def section(runs: Dataset, folder: Path, *figures: str) -> Section:
    text = "".join(f"\n[[figures]]\n{each}\n" for each in figures)
    shown = runs.shown_as(loaded(folder, f"{runs.study.document.text}{text}"))
    return next(each for each in generic.build(shown).sections if each.title.startswith("What matters"))


LEVELS = 'name = "levels"\nmetric = "goodput_bps"\nof = "long"\nx = "delay"\npanels = "rate"'
BARS = 'name = "bars"\nkind = "effects"\nmetric = "srtt_mean_ns"\nof = "long"'


def test_of_a_study_that_asks_for_effects_there_is_the_table_of_those_and_no_second_figure(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path, LEVELS, BARS)
    assert found.title == "What matters for srtt mean"
    assert not found.plots
    assert found.grids[0].frame["effect"].to_list()[:3] == ["rate", "delay", "arm"]


def test_the_table_is_of_the_cells_that_the_figure_chooses(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path, f'{BARS}\nwhere = {{ rate = "1 Mbit/s" }}')
    assert found.grids[0].frame["effect"].to_list()[:3] == ["delay", "arm", "delay x arm"]
    assert "Shown: rate 1 Mbit/s" in found.grids[0].caption


def test_of_one_factor_there_is_a_table_if_it_is_asked_for(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path, f'{BARS}\nwhere = {{ rate = "1 Mbit/s" }}\narm = "reno"')
    assert found.grids[0].frame["effect"].to_list() == ["delay", "between replicates", "left to chance"]


def test_panels_of_the_figure_are_those_of_the_table(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path, f'{BARS}\npanels = "arm"')
    assert found.grids[0].frame["arm"].unique(maintain_order=True).to_list() == ["reno", "cubic"]
    assert [text.partition(":")[0] for text in found.paragraphs] == ["reno", "cubic"]


def test_a_study_with_other_figures_gets_the_bars_under_a_name_of_their_own(runs: Dataset, tmp_path: Path) -> None:
    assert [plot.name for plot in section(runs, tmp_path, LEVELS).plots] == ["effects"]
    named = LEVELS.replace('"levels"', '"effects"')
    assert [plot.name for plot in section(runs, tmp_path, named).plots] == ["effects_"]


def test_shares_of_the_variance_add_up_to_all_of_it(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path)
    table = found.grids[0].frame
    assert table["effect"].to_list()[-2:] == ["between replicates", "left to chance"]
    assert table["share (%)"].sum() == pytest.approx(100)
    # 36 runs.
    assert table["degrees of freedom"].sum() == 35
    assert "% lies between replicates, " in found.paragraphs[0]
    assert "% of the variance lies between replicates, " in found.grids[0].caption


def test_what_matters_says_how_large_an_effect_is_in_the_unit_of_the_measure_and_of_its_mean(runs: Dataset, tmp_path: Path) -> None:
    found = section(runs, tmp_path, LEVELS)
    values = runs.flows(factors=True).filter(pl.col("flow") == "long").select("rate", mbps=pl.col("goodput_bps") / 1e6).collect()
    means = values.group_by("rate").agg(pl.col("mbps").mean())["mbps"].to_numpy()
    apart, over_all = float(np.ptp(means)), values.select(pl.col("mbps").mean()).item()
    told = f"; means up to {apart:.4g} Mbit/s apart, {float(f'{100 * apart / over_all:.2g}'):.4g} % of the mean over all)"
    assert found.paragraphs[0].startswith("Of the variance most goes with rate (") and told in found.paragraphs[0]
    assert found.grids[0].frame["largest difference (Mbit/s)"][0] == pytest.approx(apart)
