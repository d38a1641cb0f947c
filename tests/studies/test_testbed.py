"""The testbed study: its published tables, and verdicts that come out otherwise on altered data.

The simulator's matrix of two clients is stored once; what is altered are its download times.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

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
RECEIVER, FASTEST, SLOWEST, LP = (
    "The receiver's algorithm does not matter: none changes the time by more than 5 %",
    "BIC and YeAH are the fastest",
    "LP, Reno, Westwood and HighSpeed are the slowest",
    "LP is the slowest",
)
LONGER, DUPACKS, SHARE = (
    "An inherited threshold makes fetches longer",
    "The longest fetch of a block has more duplicate acknowledgements than the mean of its fetches",
    "Less than half of what tells the algorithms apart is an inherited threshold",
)
SHAPER, REPRODUCED = (
    "The shaper delays as it was set, at every fetch",
    "The published mean times come out again within 10 %, in nine of ten cells",
)
MOVE = "{} against the mean of all algorithms (cache)"
Altered = Callable[[pl.DataFrame], pl.Expr]


@pytest.fixture(scope="module")
def plan_and_tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, dict[str, pl.DataFrame], pl.DataFrame]:
    options = ["backend=sim", 'receiver_cc=["bic", "cubic"]']
    study = Study.load(FOLDER / "study.toml", options=options)
    plan = make_plan(study)
    dataset = Dataset.create(tmp_path_factory.mktemp("testbed") / "sim", plan)
    execute(plan, dataset)
    return study, {name: dataset.table(name).collect() for name in dataset.tables}, dataset.status()


def verdicts(made: tuple[Study, dict[str, pl.DataFrame], pl.DataFrame], folder: Path, change: pl.Expr | None = None) -> dict[str, str]:
    """The answers over these runs, with the columns of flows that `change` makes of them, the factors beside."""
    study, tables, status = made
    dataset = Dataset.create(folder / "altered", make_plan(study))
    if change is not None:
        runs = dataset.runs.select("run", "arm", "delay", factor="cc", client="receiver_cc", set_s="delay_value")
        flows = tables["flows"].join(runs, on="run", maintain_order="left").with_columns(change)
        tables = {**tables, "flows": flows.select(tables["flows"].columns).cast(dict(tables["flows"].schema))}
    dataset.write_batch(0, tables, status.select("run", "status", "message"))
    return {verdict.claim: verdict.answer for verdict in Answers(Dataset.open(folder / "altered")).verdicts()}


@pytest.fixture(scope="module")
def today(plan_and_tables: tuple[Study, dict[str, pl.DataFrame], pl.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return verdicts(plan_and_tables, tmp_path_factory.mktemp("as-run"))


def slower(names: list[str], times: float) -> pl.Expr:
    """These servers' fetches take so many times as long."""
    return (
        pl.when(pl.col("factor").is_in(names))
        .then(pl.col("completion_ns") * times)
        .otherwise(pl.col("completion_ns"))
        .alias("completion_ns")
    )


def by_delay(name: str, factors: tuple[float, float, float]) -> pl.Expr:
    """A server that takes so many times as long, by delay."""
    time = pl.col("completion_ns")
    here = [
        pl.when(pl.col("factor") == name, pl.col("delay") == delay).then(time * times)
        for delay, times in zip(("5 ms", "10 ms", "20 ms"), factors, strict=True)
    ]
    return pl.coalesce(*here, time).alias("completion_ns")


OTHERWISE: dict[str, tuple[str, pl.Expr, str]] = {
    "a client that slows its server down": (RECEIVER, pl.when(pl.col("client") == "bic").then(pl.col("completion_ns") * 1.3).otherwise(pl.col("completion_ns")).alias("completion_ns"), "no"),
    "BIC and YeAH in a third of the time": (FASTEST, slower(["bic", "yeah"], 1 / 3), "yes"),
    "four slow ones": (SLOWEST, slower(["lp", "reno", "westwood", "highspeed"], 4), "yes"),
    "LP slow": (LP, slower(["lp"], 4), "yes"),
    "arms exchanged": (LONGER, pl.when(pl.col("arm") == "cache").then(pl.col("completion_ns") / 2).otherwise(pl.col("completion_ns")).alias("completion_ns"), "no"),
    "few duplicate acknowledgements where it took long": (DUPACKS, (10**12 // pl.col("completion_ns")).alias("dupacks_in"), "no"),
    "no differences without the cache": (SHARE, pl.when(pl.col("arm") == "no-cache").then(10**9).otherwise(pl.col("completion_ns")).alias("completion_ns"), "no"),
    "a path twice as long": (SHAPER, (pl.col("min_rtt_ns") * 2).alias("min_rtt_ns"), "no"),
    "Scalable better with delay": (MOVE.format("Scalable degrades with delay,"), by_delay("scalable", (4, 1, 0.25)), "no"),
    "Veno better with delay": (MOVE.format("Veno gets better with delay,"), by_delay("veno", (4, 1, 0.25)), "yes"),
    "Hybla worse with delay": (MOVE.format("Hybla gets better with delay,"), by_delay("hybla", (0.25, 1, 4)), "no"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_verdict_comes_out_otherwise_on_altered_data(
    name: str, plan_and_tables: tuple[Study, dict[str, pl.DataFrame], pl.DataFrame], today: dict[str, str], tmp_path: Path
) -> None:
    claim, change, answer = OTHERWISE[name]
    assert today[claim] != answer
    assert verdicts(plan_and_tables, tmp_path, change)[claim] == answer


def test_times_that_are_the_published_ones_are_said_to_be(
    plan_and_tables: tuple[Study, dict[str, pl.DataFrame], pl.DataFrame], today: dict[str, str], tmp_path: Path
) -> None:
    table = pl.read_csv(FOLDER / "published-b.csv", comment_prefix="#")
    key = pl.concat_str(pl.col("delay"), pl.lit("/"), pl.col("factor"), pl.lit("/"), pl.col("client"))
    known = {f"{row['delay_ms']:g} ms/{row['server_cc']}/{row['client_cc']}": row["mean_s"] * 1e9 for row in table.to_dicts()}
    # A little noise, as runs have.
    noise = 1 + (pl.col("run").hash(1) % 1000).cast(pl.Float64) / 1e5
    change = (key.replace_strict(known, return_dtype=pl.Float64) * noise).alias("completion_ns")
    assert today[REPRODUCED] == "no"
    found = verdicts(plan_and_tables, tmp_path, change)
    assert (found[FASTEST], found[LP]) == ("yes", "yes")
    assert found[REPRODUCED] != "no"


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
