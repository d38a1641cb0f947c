"""The testbed studies: their published tables, and verdicts that come out otherwise on altered data.

Each study is simulated once, with fewer clients or downloads than it has; what is altered are its download times.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study, shipped

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/linux"))
import testbed_tables  # noqa: E402 - a script

FOLDER = shipped.DIRECTORY / "testbed"
OPTIONS = {
    "testbed": ["backend=sim", 'receiver_cc=["bic", "cubic"]'],
    "testbed/fit": ["backend=sim"],
    "testbed/guest-resources": ["backend=sim"],
    "testbed/future": ["repeat=3", "vars.fetches=1"],
    "testbed/neighbours": ["repeat=5"],
}
RECEIVER, FASTEST, SLOWEST, LP = (
    "The receiver's algorithm does not matter: none changes the time by more than 5 %",
    "BIC and YeAH are the fastest",
    "LP, Reno, Westwood and HighSpeed are the slowest",
    "LP is the slowest",
)
LONGER, DUPACKS, AGAIN, SHARE = (
    "An inherited threshold makes fetches longer",
    "The longest fetch of a block has more duplicate acknowledgements than the mean of its fetches",
    "The longest fetch of a block sends more segments again than the mean of its fetches",
    "Less than half of what tells the algorithms apart is an inherited threshold",
)
SHAPER, REPRODUCED = (
    "The shaper delays as it was set, at every fetch",
    "The published mean times come out again within 10 %, in nine of ten cells",
)
SCALABLE, VENO, HYBLA = (
    f"{words}, against the mean of all algorithms ({{}})"
    for words in ("Scalable degrades with delay", "Veno gets better with delay", "Hybla gets better with delay")
)
BEST = [
    f"The best setting of {which} explains the table better than one time per delay, alike for all algorithms"
    for which in ("all", "cache", "no-cache")
]
NOISE = "The best setting of all explains the table within three times the noise of its means"
MEMORY, PROCESSORS = (
    f"The guest's {what} has no clear effect: none changes the time by more than 10 %" for what in ("memory", "number of processors")
)
JITTER, FASTER, TENTH, SIZES, FUTURE = (
    "Jitter makes a download longer",
    "With these losses bandwidth from 480 Mbit/s on does not matter to a megabyte: 1 Gbit/s changes its time by less than 5 %",
    "A tenth of the bandwidth makes a megabyte's download longer",
    "YeAH is faster than Reno with files of every size",
    "BIC and YeAH are the fastest of a megabyte, at every bandwidth and jitter",
)
ONE, MORE, DEEP, OWN, BESIDE, FASTEST_BESIDE = (
    "Through one shaper with a queue of 10 packets, one other guest makes a download longer",
    "Through one shaper with a queue of 10 packets, a download gets longer with the number of other guests",
    "Through one shaper with a deep queue and without loss, three other guests make a download longer by less than 10 %",
    "With a shaper for each guest and a bridge of 1 Gbit/s, three other guests change a download's time by less than 5 %",
    "YeAH is faster than Reno beside three other guests, too",
    "BIC and YeAH are the fastest beside three other guests",
)


class Made(NamedTuple):
    """A study that was run, and its answers."""

    study: Study
    tables: dict[str, pl.DataFrame]
    status: pl.DataFrame
    today: dict[str, str]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """Runs a study when it is first asked for."""
    done: dict[str, Made] = {}

    def of(name: str) -> Made:
        if name not in done:
            study = Study.load(name, options=OPTIONS[name])
            plan = make_plan(study)
            dataset = Dataset.create(tmp_path_factory.mktemp("testbed") / "sim", plan)
            execute(plan, dataset)
            tables = {table: dataset.table(table).collect() for table in dataset.tables}
            done[name] = Made(study, tables, dataset.status(), answers(dataset))
        return done[name]

    return of


def answers(dataset: Dataset) -> dict[str, str]:
    return {verdict.claim: verdict.answer for verdict in Answers(dataset).verdicts()}


def altered(made: Made, folder: Path, *changes: pl.Expr) -> dict[str, str]:
    """The answers over these runs, with the columns of flows that `changes` make of them; factors are `at_NAME`."""
    plan = make_plan(made.study)
    dataset = Dataset.create(folder / "altered", plan)
    runs = dataset.runs.select("run", pl.exclude("run").name.prefix("at_"))
    flows = made.tables["flows"].join(runs, on="run", maintain_order="left").with_columns(*changes)
    flows = flows.select(made.tables["flows"].columns).cast(dict(made.tables["flows"].schema))
    dataset.write_batch(0, {**made.tables, "flows": flows}, made.status.select("run", "status", "message"))
    return answers(Dataset.open(folder / "altered"))


def where(**levels: str | list[str]) -> pl.Expr:
    """Runs with one of these levels each."""
    return pl.all_horizontal(
        pl.col(f"at_{name}").cast(pl.String).is_in([level] if isinstance(level, str) else level) for name, level in levels.items()
    )


def longer(*cases: tuple[pl.Expr, float]) -> pl.Expr:
    """Downloads of some runs take so many times as long."""
    time = pl.col("completion_ns").cast(pl.Float64)
    for runs, times in cases:
        time = time * pl.when(runs).then(times).otherwise(1.0)
    return time.alias("completion_ns")


def by_delay(name: str, *times: float) -> list[tuple[pl.Expr, float]]:
    """A server that takes so many times as long, by delay."""
    return [(where(cc=name, delay=delay), each) for delay, each in zip(("5 ms", "10 ms", "20 ms"), times, strict=True)]


def as_published(noise: float = 1e-5) -> pl.Expr:
    """Each server's published mean at this delay, with a little noise, as runs have."""
    table = pl.read_csv(FOLDER / "published-b-by-server.csv", comment_prefix="#")
    known = {f"{row['delay_ms']:g} ms/{row['server_cc']}": row["mean_s"] * 1e9 for row in table.to_dicts()}
    key = pl.concat_str(pl.col("at_delay"), pl.lit("/"), pl.col("at_cc"))
    return (key.replace_strict(known, return_dtype=pl.Float64) * (1 + noise * (pl.col("run").hash(1) % 1000).cast(pl.Float64))).alias(
        "completion_ns"
    )


BIC_AND_YEAH, FOUR = ["bic", "yeah"], ["lp", "reno", "westwood", "highspeed"]
TIME, WITHOUT = pl.col("completion_ns"), ", without an inherited threshold"
World = tuple[str, list[pl.Expr], dict[str, str]]
OTHERWISE: dict[str, World] = {
    "a client that slows its server down": ("testbed", [longer((where(receiver_cc="bic"), 1.3))], {RECEIVER: "no", RECEIVER + WITHOUT: "no"}),
    "BIC and YeAH in a third of the time": ("testbed", [longer((where(cc=BIC_AND_YEAH), 1 / 3))], {FASTEST: "yes", FASTEST + WITHOUT: "yes"}),
    "four slow ones": ("testbed", [longer((where(cc=FOUR), 4))], {SLOWEST: "yes", SLOWEST + WITHOUT: "yes"}),
    "LP slow, arms exchanged": ("testbed", [longer((where(cc="lp"), 4), (where(arm="cache"), 0.5))], {LP: "yes", LP + WITHOUT: "yes", LONGER: "no"}),
    "few acknowledged or sent twice where it took long, a path twice as long": (
        "testbed", [(10**12 // TIME).alias("dupacks_in"), (10**12 // TIME).alias("retransmits"), (pl.col("min_rtt_ns") * 2).alias("min_rtt_ns")],
        {DUPACKS: "no", AGAIN: "no", SHAPER: "no"},
    ),
    "no differences without the cache": ("testbed", [pl.when(where(arm="no-cache")).then(10**9).otherwise(TIME).alias("completion_ns")], {SHARE: "no"}),
    "Scalable and Veno better with delay, Hybla worse": (
        "testbed", [longer(*by_delay("scalable", 4, 1, 0.25), *by_delay("veno", 4, 1, 0.25), *by_delay("hybla", 0.25, 1, 4))],
        {claim.format(arm): answer for claim, answer in ((SCALABLE, "no"), (VENO, "yes"), (HYBLA, "no")) for arm in ("cache", "no-cache")},
    ),
    "published times": ("testbed/fit", [as_published()], {**dict.fromkeys(BEST, "yes"), NOISE: "yes"}),
    "memory that matters": ("testbed/guest-resources", [longer((where(memory="6 GB"), 1.5))], {MEMORY: "no"}),
    "processors that matter": ("testbed/guest-resources", [longer((where(cpus="3"), 1.5))], {PROCESSORS: "no"}),
    "jitter that costs, YeAH slow": (
        "testbed/future", [longer((where(jitter="1 ms"), 10), (where(jitter="5 ms"), 100), (where(cc="yeah"), 20))], {JITTER: "yes", SIZES: "no"},
    ),
    "bandwidth that costs, BIC and YeAH fast": (
        "testbed/future", [longer((where(rate="1 Gbit/s"), 0.25), (where(rate="48 Mbit/s"), 4), (where(cc=BIC_AND_YEAH), 0.02))],
        {FASTER: "no", TENTH: "yes", FUTURE: "yes"},
    ),
    "others that cost the more the more they are": (
        "testbed/neighbours", [longer((where(neighbours="1"), 2), (where(neighbours="3"), 4), (where(cc=BIC_AND_YEAH), 0.1))],
        {ONE: "yes", MORE: "yes", DEEP: "no", OWN: "no", FASTEST_BESIDE: "yes"},
    ),
    "others that help, but for YeAH": (
        "testbed/neighbours", [longer((where(neighbours="0"), 4), (where(neighbours="1"), 2), (where(cc="yeah"), 20))], {ONE: "no", MORE: "no", BESIDE: "no"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_verdicts_come_out_otherwise_on_altered_data(name: str, simulated: Callable[[str], Made], tmp_path: Path) -> None:
    study, changes, expected = OTHERWISE[name]
    made = simulated(study)
    found = altered(made, tmp_path, *changes)
    assert {claim: found[claim] for claim in expected} == expected
    assert [claim for claim, answer in expected.items() if made.today[claim] == answer] == []


@pytest.mark.parametrize("study", OPTIONS)
def test_no_claim_of_a_study_is_left_out_above(study: str, simulated: Callable[[str], Made]) -> None:
    """But for what is asked of the published table, which no run alters."""
    asked = {claim for name, _, expected in OTHERWISE.values() if name == study for claim in expected} | {REPRODUCED}
    assert {claim for claim in simulated(study).today if claim not in asked and "(published)" not in claim} == set()


def test_times_that_are_the_published_ones_are_said_to_be(simulated: Callable[[str], Made], tmp_path: Path) -> None:
    table = pl.read_csv(FOLDER / "published-b.csv", comment_prefix="#")
    key = pl.concat_str(pl.col("at_delay"), pl.lit("/"), pl.col("at_cc"), pl.lit("/"), pl.col("at_receiver_cc"))
    known = {f"{row['delay_ms']:g} ms/{row['server_cc']}/{row['client_cc']}": row["mean_s"] * 1e9 for row in table.to_dicts()}
    # A little noise, as runs have.
    noise = 1 + (pl.col("run").hash(1) % 1000).cast(pl.Float64) / 1e5
    change = (key.replace_strict(known, return_dtype=pl.Float64) * noise).alias("completion_ns")
    made = simulated("testbed")
    assert made.today[REPRODUCED] == "no"
    found = altered(made, tmp_path, change)
    assert (found[FASTEST], found[LP]) == ("yes", "yes")
    assert found[REPRODUCED] != "no"


@pytest.mark.long
def test_the_guide_says_what_the_simulator_does() -> None:
    done = subprocess.run([sys.executable, "-m", "docs.testbed", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- the published tables


def test_exchanged_rows_of_the_published_tables_are_found_and_put_right() -> None:
    means, tables = testbed_tables.read("published-b-means.csv"), testbed_tables.read("published-b-stats.csv")
    state = testbed_tables.compare_tables(means, tables)
    assert dict(state["details"].value_counts().rows()) == {
        testbed_tables.AS_PRINTED: 9,
        testbed_tables.EXCHANGED: 20,
        testbed_tables.OTHER: 1,
    }
    assert state.filter(details=testbed_tables.OTHER).select("server_cc", "delay_ms").rows() == [("cubic", "20")]
    # The file's row "20,lp,scalable" is 2.90,3.57,2.19,...: its mean is that of client reno.
    mended = testbed_tables.mended(means, tables).filter(delay_ms="20", server_cc="lp", client_cc="reno")
    assert mended.select("mean_s", "stdev_s", "cov").rows() == [("2.90", "0.30", "0.10")]


def test_tables_that_agree_are_not_called_exchanged() -> None:
    means = pl.DataFrame(
        {"delay_ms": ["5"] * 3, "server_cc": ["x"] * 3, "client_cc": ["reno", "scalable", "bic"], "mean_s": ["1", "2", "3"]}
    )

    def state(order: list[str]) -> str:
        return str(testbed_tables.compare_tables(means, means.with_columns(mean_s=pl.Series(order)))["details"][0])

    assert state(["1", "2", "3"]) == testbed_tables.AS_PRINTED
    assert state(["2", "1", "3"]) == testbed_tables.EXCHANGED
    assert state(["1", "2", "3.1"]) == testbed_tables.OTHER


def test_the_mended_tables_are_what_the_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["testbed_tables.py", "--out", str(tmp_path)])
    testbed_tables.main()
    for name in ("published-b.csv", "published-b-by-server.csv"):
        assert (tmp_path / name).read_text() == (FOLDER / name).read_text()
