"""The HighSpeed TCP study: what its runs say is what its verdicts say, and of other runs they say something else."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sawtooth
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.results.tables import with_factors
from sawtooth.study import shipped

# What is run for all of it is run once.
pytestmark = pytest.mark.xdist_group("hstcp")

SPECIFIED = shipped.studies()
ROOT = Path(__file__).parents[2]
FACTORS = ("Bw", "Tp", "D", "N")
NAMES = {"sack": "SACK", "highspeed": "HighSpeed TCP"}
GROWS = {"Bw": "bandwidth", "Tp": "propagation delay", "N": "the number of flows"}
ANSWERS = {"Bw": "yes", "Tp": "yes", "N": "no", "D": "yes"}
CONTRARY = {"yes": "no", "no": "yes"}


def trend(factor: str, arm: str) -> str:
    """The claim that a gain grows."""
    return f"A larger D raises {NAMES[arm]}'s gain" if factor == "D" else f"{NAMES[arm]}'s gain grows with {GROWS[factor]}"


MORE = "HighSpeed TCP carries more than NewReno, in the mean over experiments"
THAN_SACK = "HighSpeed TCP carries more than SACK, in the mean over experiments"
FAIRNESS = "At 1 kbit/s fairness falls as N grows (NewReno)"
ALIKE = [f"At low Tp and N, {name} and NewReno are alike, within 5 %, at every bandwidth" for name in NAMES.values()]
LITTLE = [
    f"D matters little for {name}'s gain: less than 5 % of throughput, which is 0.0212 in log10, in the mean over experiments"
    for name in NAMES.values()
]
NEAR = "With two flows fairness is near 1: Jain's index of a run above 0.9 in 95 % of experiments and arms"
ASKED = [*(trend(factor, arm) for arm in NAMES for factor in FACTORS), FAIRNESS, MORE, THAN_SACK]


def answers(dataset: Dataset, asked: Sequence[str] = ASKED) -> dict[str, str]:
    """The verdicts on some claims, decided together."""
    made = Answers(dataset)
    specs = [spec for spec in made.shown.findings if spec.claim in asked]
    assert len(specs) == len(asked)
    return {verdict.claim: verdict.answer for verdict in made.decided([made.claimed(spec) for spec in specs], specs)}


def small(folder: Path, seed: int, repeat: int) -> Dataset:
    """The whole study with random starts and few replicates: of four or fewer the fall with N is often left open."""
    folder.mkdir()
    shutil.copy(shipped.table("hstcp", "published.csv"), folder)
    text = SPECIFIED["hstcp/random"].read_text()
    text, changes = re.subn(r"(?m)^repeat = 30", f"repeat = {repeat}\nseed = {seed}", text)
    assert changes == 1
    (folder / "s.toml").write_text(text)
    return sawtooth.run(folder / "s.toml", folder / "out")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small(tmp_path_factory.mktemp("hstcp") / "one", 1, 5)


@pytest.fixture(scope="module")
def found(runs: Dataset) -> dict[str, str]:
    return answers(runs)


def altered(dataset: Dataset, runs: pl.DataFrame) -> Dataset:
    """The same records as if they were of other runs."""
    other = copy.copy(dataset)
    vars(other)["runs"] = runs
    return other


def swapped(dataset: Dataset, arm: str) -> Dataset:
    """NewReno's records as the arm's, and the other way round."""
    return altered(dataset, dataset.runs.with_columns(pl.col("arm").replace({"newreno": arm, arm: "newreno"})))


def shuffled(dataset: Dataset, factor: str, seed: int = 5) -> Dataset:
    """The cells that differ in one factor alone changed among each other at random, in each stratum anew.

    One shuffle in twenty says something by chance; that of this seed does not.
    """
    generator = np.random.default_rng(seed)
    of_cell = ["cell", *FACTORS, *(f"{name}_value" for name in FACTORS)]
    cells = dataset.runs.select(of_cell).unique(maintain_order=True)
    others = [name for name in FACTORS if name != factor]
    parts: list[pl.DataFrame] = []
    for _, group in cells.group_by(others, maintain_order=True):
        parts.append(group.with_columns(old=pl.Series(generator.permutation(group["cell"].to_numpy()), dtype=cells["cell"].dtype)))
    runs = dataset.runs.rename({"cell": "old"}).drop(of_cell[1:]).join(pl.concat(parts), on="old", maintain_order="left")
    return altered(dataset, runs.select(dataset.runs.columns))


def test_the_files_ask_for_the_same_figures_and_nearly_the_same_findings() -> None:
    published, random = (tomllib.loads(SPECIFIED[name].read_text()) for name in ("hstcp", "hstcp/random"))
    for part in ("scenario", "sweep", "arms", "references", "figures", "caveats"):
        assert published[part] == random[part], part
    alike = [[each for each in study["findings"] if each["is"] != "reproduced"] for study in (published, random)]
    assert alike[0] == alike[1]


@pytest.mark.parametrize("arm", NAMES)
@pytest.mark.parametrize("factor", FACTORS)
def test_what_a_gain_grows_with(factor: str, arm: str, found: Mapping[str, str]) -> None:
    assert found[trend(factor, arm)] == ANSWERS[factor]


@pytest.mark.parametrize("arm", NAMES)
def test_with_arms_swapped_gains_go_the_other_way(arm: str, runs: Dataset, found: Mapping[str, str]) -> None:
    other = answers(swapped(runs, arm))
    for factor in FACTORS:
        assert other[trend(factor, arm)] == CONTRARY[found[trend(factor, arm)]]
    if arm == "highspeed":
        assert (found[MORE], other[MORE]) == ("yes", "no")


@pytest.mark.parametrize("factor", FACTORS)
def test_with_levels_shuffled_nothing_grows_with_them(factor: str, runs: Dataset, found: Mapping[str, str]) -> None:
    other = answers(shuffled(runs, factor))
    for arm in NAMES:
        assert other[trend(factor, arm)] == "cannot distinguish"
        assert found[trend(factor, arm)] != "cannot distinguish"


def test_fairness_does_not_fall_with_flows_that_are_shuffled(runs: Dataset, found: Mapping[str, str]) -> None:
    assert found[FAIRNESS] == "yes"
    assert answers(shuffled(runs, "N"))[FAIRNESS] == "cannot distinguish"


def test_what_highspeed_tcp_adds_is_lost_if_its_runs_are_sacks(runs: Dataset, found: Mapping[str, str]) -> None:
    assert found[THAN_SACK] == "yes"
    other = altered(runs, runs.runs.with_columns(pl.col("arm").replace({"sack": "highspeed", "highspeed": "sack"})))
    assert answers(other)[THAN_SACK] == "no"


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Another seed. Of fewer replicates what D and N do may be open: it is weaker than what chance does among them."""
    return small(tmp_path_factory.mktemp("hstcp") / "again", 2, 8)


def test_another_seed_has_other_numbers_and_the_same_verdicts(again: Dataset, runs: Dataset, found: Mapping[str, str]) -> None:
    assert not again.measure("throughput_bps").equals(runs.measure("throughput_bps"))
    assert answers(again) == found


class OneArm(Dataset):
    """Results in which the runs of every arm are those of NewReno."""

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        found = super().table(name)
        of = self.runs.filter(arm="newreno").select("cell", "replicate", source="run")
        sources = self.runs.join(of, on=["cell", "replicate"]).select("run", "source").lazy()
        made = (
            found.rename({"run": "source"})
            .join(sources, on="source")
            .sort("run", maintain_order=True)
            .select(found.collect_schema().names())
        )
        return with_factors(made, self.runs) if factors else made


class Fair(Dataset):
    """Results in which the flows of a run share what it carried."""

    def table(self, name: str, *, factors: bool = False) -> pl.LazyFrame:
        found = super().table(name, factors=factors)
        return found.with_columns(pl.col("throughput_bps").mean().over("run")) if name == "flows" else found


def test_what_is_of_one_arm_is_alike_and_gains_nothing(again: Dataset, runs: Dataset) -> None:
    after = answers(OneArm(again.directory), [*ALIKE, *LITTLE, *ASKED])
    assert set(answers(runs, ALIKE).values()) == {"mixed"} and {after[claim] for claim in (*ALIKE, *LITTLE)} == {"yes"}
    assert {after[claim] for claim in ASKED if claim != FAIRNESS} == {"cannot distinguish"}


def test_flows_that_share_alike_are_fair_whatever_they_are_asked(again: Dataset) -> None:
    asked = [NEAR, FAIRNESS]
    assert answers(again, asked) == {NEAR: "no", FAIRNESS: "yes"}
    assert answers(Fair(again.directory), asked) == {NEAR: "yes", FAIRNESS: "cannot distinguish"}


def test_with_levels_of_d_shuffled_d_matters_little(again: Dataset) -> None:
    assert list(answers(again, LITTLE).values()) == ["cannot distinguish", "no"]
    assert list(answers(shuffled(again, "D"), LITTLE).values()) == ["yes", "yes"]


def test_published_sums_are_not_where_the_other_arms_runs_would_be(again: Dataset) -> None:
    asked = [spec.claim for spec in Answers(again).shown.findings if spec.kind == "reproduced"]
    assert len(asked) == 2
    assert set(answers(again, asked).values()) == {"cannot distinguish"}
    assert set(answers(swapped(again, "sack"), asked).values()) == {"no"}


# --- at gigabit rates, in the short form


def test_at_gigabit_rates_arms_that_are_swapped_lose(short_form: Callable[[str], Path]) -> None:
    few = Dataset.open(short_form("hstcp/gigabit"))
    before, after = every(few), every(swapped(few, "highspeed"))
    claim = "With the published window limit and queues, HighSpeed TCP carries more than NewReno, in the mean over experiments"
    assert (before[claim], after[claim]) == ("yes", "no")
    # Two replicates of one rate and delay tell nothing of what a gain grows with, and are not taken to do so.
    grows = [name for name in before if "gain grows with" in name]
    assert len(grows) == 6 and {each[name] for each in (before, after) for name in grows} == {"cannot distinguish"}


@pytest.mark.long
def test_the_readme_says_what_the_runs_say() -> None:
    done = subprocess.run([sys.executable, "-m", "docs.hstcp", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- the published numbers


SUMS = 'All 32 published sums of throughput come out again to the printed digit, the "HighSpeed" column\'s with SACK'
INDICES = 'All 32 published indices of fairness come out again to the printed digit, the "HighSpeed" column\'s with SACK'
OURS = 'The published "HighSpeed" column is SACK: its sums are reproduced to the printed digit'
NEWRENO = "NewReno's published sums of throughput are reproduced to the printed digit"


def every(dataset: Dataset) -> dict[str, str]:
    """The verdicts on all claims, those of the study's own analysis, too."""
    return {verdict.claim: verdict.answer for verdict in Answers(dataset).verdicts()}


@pytest.fixture(scope="module")
def short(short_form: Callable[[str], Path]) -> Dataset:
    return Dataset.open(short_form("hstcp"))


def test_the_short_form_agrees_to_the_digit(short: Dataset, short_form: Callable[[str], Path]) -> None:
    found = every(short)
    assert [found[claim] for claim in (SUMS, INDICES, OURS, NEWRENO)] == ["yes"] * 4
    agreement = pl.read_csv(short_form("hstcp") / "report/tables/agreement.csv")
    for arm in ("newreno", "sack"):
        row = agreement.row(by_predicate=pl.col("arm") == arm, named=True)
        assert row["experiments"] == row["sums_as_printed"] == row["jain_as_printed"] == 16


def test_the_published_index_is_that_of_flows_averaged_over_replicates(short: Dataset, short_form: Callable[[str], Path]) -> None:
    table = pl.read_csv(short_form("hstcp") / "report/tables/experiments.csv")
    row = table.row(
        by_predicate=(pl.col("Tp") == "500 ms") & (pl.col("N") == 16) & (pl.col("D") == "100 ms") & (pl.col("Bw") == "56 kbit/s"),
        named=True,
    )
    flows = short.flows(factors=True).collect().filter(Tp="500 ms", N="16", D="100 ms", Bw="56 kbit/s", arm="sack")
    means = flows.group_by("flow").agg(pl.col("throughput_bps").mean())["throughput_bps"].to_numpy()
    assert len(means) == 16
    assert row["sack_jain"] == pytest.approx(means.sum() ** 2 / (16 * (means**2).sum()))
    assert row["sack_bps"] == pytest.approx(means.sum())
    per_run = [
        group.sum() ** 2 / (16 * (group**2).sum())
        for _, part in flows.group_by("replicate") for group in [part["throughput_bps"].to_numpy()]
    ]  # fmt: skip
    assert row["sack_jain_per_run"] == pytest.approx(np.mean(per_run))


@pytest.mark.parametrize(("column", "claims"), [(5, (SUMS, NEWRENO)), (6, (SUMS, OURS)), (7, (INDICES,)), (8, (INDICES,))])
def test_one_other_digit_in_the_published_table_is_seen(column: int, claims: tuple[str, ...], short: Dataset) -> None:
    text = str(short.manifest["references"]["published"]["text"])
    lines = text.splitlines()
    # An experiment of the short form: 56 kbit/s, 50 ms, 0 ms, 2 flows.
    at = next(number for number, line in enumerate(lines) if line.split(",")[1:5] == ["56", "50", "0", "2"])
    cells = lines[at].split(",")
    cells[column] = f"{float(cells[column]) + 0.01:.2f}"
    lines[at] = ",".join(cells)
    other = copy.copy(short)
    vars(other)["manifest"] = {
        **short.manifest,
        "references": {"published": {**short.manifest["references"]["published"], "text": "\n".join(lines)}},
    }
    found = every(other)
    for claim in (SUMS, INDICES, OURS, NEWRENO):
        assert found[claim] == ("mixed" if claim in claims else "yes"), claim


def test_with_arms_swapped_the_published_numbers_do_not_come_out(short: Dataset) -> None:
    found = every(swapped(short, "sack"))
    assert {found[claim] for claim in (SUMS, INDICES, OURS, NEWRENO)} <= {"no", "mixed"}
