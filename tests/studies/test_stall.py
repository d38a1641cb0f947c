"""The whole data-stream-stall study, which takes some seconds: its verdicts, and that they come out otherwise of other data."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.report import report
from sawtooth.study import Study, shipped

pytestmark = pytest.mark.xdist_group("stall")

FOLDER = shipped.studies()["stall"].parent
FAULTY = 'faulty = { "tcp.partial" = "linux-2.0.29" }'
CORRECTED = 'corrected = { "tcp.partial" = "minshall" }'
Answers = dict[str, str]


def answers(folder: Path, change: Callable[[str], str] = str, published: Callable[[pl.DataFrame], pl.DataFrame] | None = None) -> Answers:
    """The verdicts of the study after a change of its text or of the published table."""
    study = folder / "study"
    shutil.copytree(FOLDER, study)
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(change(text))
    assert change is str or change(text) != text
    if published is not None:
        published(pl.read_csv(study / "published.csv", comment_prefix="#")).write_csv(study / "published.csv")
    dataset = sawtooth.run(Study.load(study / "study.toml"), out=folder / "out", jobs=1)
    return {verdict.claim: verdict.answer for verdict in report(dataset, figures=False, run_analysis=True).verdicts}


GUIDE = FOLDER.resolve().parents[3] / "docs/guides/stall-study.md"


def test_the_numbers_of_the_guide_are_those_of_the_report(tmp_path: Path) -> None:
    dataset = sawtooth.run(Study.load("stall"), out=tmp_path / "out", jobs=1)
    made, lines = report(dataset, figures=False), GUIDE.read_text().splitlines()
    (bars,) = [grid.frame for section in made.sections for grid in section.grids if grid.name == "bars"]
    for row in bars.filter(pl.col("form").is_in(["corrected", "faulty"])).iter_rows(named=True):
        begin, end = f"| {row['bar']} {row['asked']} | {row['of']} |", f"| {row['value']:.3g} |"
        assert [line for line in lines if line.startswith(begin) and line.endswith(end)], (begin, end)
    for verdict in made.verdicts:
        if verdict.answer == "no":
            assert f"| {verdict.claim} | no | {verdict.numbers} |" in lines


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return answers(tmp_path_factory.mktemp("usual"))


def changed(usual: Answers, other: Answers) -> Answers:
    """What comes out otherwise."""
    assert usual.keys() >= other.keys()
    return {claim: answer for claim, answer in other.items() if usual[claim] != answer}


def test_what_holds_and_what_does_not(usual: Answers) -> None:
    assert {claim for claim, answer in usual.items() if answer == "no"} >= {
        "Published, ATM, with stall: the faulty kernel is nowhere more than 5% faster than the corrected one",
        "Published, ATM, with stall: where nothing dips beyond the window the stall is less than half of what it is at dips",
        "Published, Fast Ethernet, with stall: rank correlation of throughput with stall at all sizes at most -0.8",
    }
    assert usual["Dips are only in the faulty configuration, and only beyond the window"] == "yes"
    assert usual["TCP_NODELAY removes the dips"] == "yes"


def test_kernels_that_are_exchanged_refute_the_fault_and_the_calibration(usual: Answers, tmp_path: Path) -> None:
    found = changed(usual, answers(tmp_path, lambda text: text.replace(FAULTY, FAULTY.replace("faulty", "CORRECTED")).replace(
        CORRECTED, CORRECTED.replace("corrected", "faulty")).replace("CORRECTED", "corrected")))  # fmt: skip
    assert found["The corrected kernel has no dip: at no size less than 90 % of what it has at smaller and at larger ones"] == "no"
    assert found["corrected: median absolute error at most 0.05"] in ("no", "mixed")
    assert found["faulty: share of published dips that are dips here at least 0.6"] == "no"
    assert found["Dips are only in the faulty configuration, and only beyond the window"] != "yes"
    # Nothing of the published numbers alone.
    assert not [claim for claim in found if claim.startswith("Published") and "same scale" not in claim and "nothing dips" not in claim]


def test_a_kernel_without_the_fault_has_none_of_its_verdicts(usual: Answers, tmp_path: Path) -> None:
    found = changed(usual, answers(tmp_path, lambda text: text.replace(FAULTY, 'faulty = { "tcp.partial" = "nodelay" }')))
    assert (
        found[
            "The faulty kernel's throughput dips to less than half of the corrected kernel's at some size beyond the window, on every interface"
        ]
        == "no"
    )
    assert found["faulty: lowest throughput, ours to published, a factor of at most 1.5"] == "no"
    assert found["Here, Fast Ethernet: throughput falls by as much as 80 %"] == "no"


def test_published_sizes_that_are_shuffled_are_not_met(usual: Answers, tmp_path: Path) -> None:
    def shuffled(table: pl.DataFrame) -> pl.DataFrame:
        order = table["message_bytes"].unique().shuffle(seed=1)
        mixed = dict(zip(order.sort().to_list(), order.to_list(), strict=True))
        return table.with_columns(
            pl.when(kernel="stopwatch").then(pl.col("message_bytes").replace(mixed)).otherwise("message_bytes").alias("message_bytes")
        )

    found = changed(usual, answers(tmp_path, published=shuffled))
    assert found["faulty: share of published dips that are dips here at least 0.6"] in ("no", "mixed")
    assert found["faulty: share of dips here that are none there at most 0.25"] in ("no", "mixed")
    assert "Dips are only in the faulty configuration, and only beyond the window" not in found


def test_a_published_stall_in_another_order_tracks_nothing(usual: Answers, tmp_path: Path) -> None:
    def backwards(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns(pl.col("stall").reverse().over("kernel", "host"))

    found = changed(usual, answers(tmp_path, published=backwards))
    assert found["Published, ATM, with stall: rank correlation of throughput with stall beyond the window at most -0.8"] == "no"
    assert found["Published, Fast Ethernet, with stall: rank correlation of throughput with stall beyond the window at most -0.8"] == "no"


def test_what_is_said_of_switches_comes_out_otherwise_of_others(tmp_path: Path) -> None:
    slower, elsewhere = "A message takes longer through a switch than over a cable", "What a switch adds is all on the way"
    text = (FOLDER / "latency.toml").read_text().replace('analysis = "latency_analysis.py"\n', "")

    def told(name: str, old: str, new: str) -> list[str]:
        (tmp_path / name).mkdir()
        study = tmp_path / name / "latency.toml"
        study.write_text(text.replace(old, new))
        assert old == new or old in text
        dataset = sawtooth.run(Study.load(study), out=tmp_path / name / "out", jobs=1)
        return [verdict.answer for verdict in report(dataset, figures=False).verdicts if verdict.claim.startswith((slower, elsewhere))]

    assert told("usual", "", "") == ["yes", "yes"]
    assert told(
        "exchanged",
        '\ndirect = { "flows[0].path" = ["lan[1]"] }\nswitched = {',
        '\nswitched = { "flows[0].path" = ["lan[1]"] }\ndirect = {',
    ) == ["no", "yes"]
    # A receiver that takes longer behind a switch than behind a cable.
    assert told("receiver", '["lan[1]", "lan[2]"] }', '["lan[1]", "lan[2]"], "hosts.fe1.receive_delay" = "90 us" }')[1] in ("no", "mixed")


def test_all_studies_of_the_hosts_have_the_same() -> None:
    studies = [tomllib.loads(shipped.studies()[name].read_text()) for name in ("stall", "stall/latency")]
    assert studies[0]["scenario"]["hosts"] == studies[1]["scenario"]["hosts"]
