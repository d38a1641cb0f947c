"""Measures: what expressions stand for, and what they are over runs, held against tables by themselves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
import pytest

import sawtooth
from sawtooth import _core, measures
from sawtooth.execute import execute
from sawtooth.measures import Asked, Condition, ExpressionError, Rows, View, units
from sawtooth.measures.evaluate import truncation
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from sawtooth.tables import total_goodput

STUDY = """
repeat = 3
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "4 s"
sample = "20 ms"
record = ["waits", "episodes", "transfers"]
stack = "linux"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "30 packets" } }
[[scenario.flows]]
name = "bulk"
count = 2
path = ["l"]
start = "start * 1 ms"
[[scenario.flows]]
name = "call"
path = ["l"]
transport = "udp"
source = { name = "constant_rate", rate = "64 kbit/s", size = "160 B" }
[[scenario.flows]]
name = "file"
path = ["l"]
source = { name = "bulk", size = "400 kB" }
[[scenario.flows]]
name = "large"
path = ["l"]
source = { name = "bulk", size = "40 MB" }
[[scenario.flows]]
name = "web"
path = ["l"]
arrivals = { rate = 5, size = "20 kB" }
[sweep]
"links.l.delay" = ["10 ms", "30 ms"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("measures")
    (folder / "s.toml").write_text(STUDY)
    plan = make_plan(Study.load(folder / "s.toml"))
    made = Dataset.create(folder / "out", plan)
    execute(plan, made)
    return made


def seen(dataset: Dataset, text: str, view: View | None = None) -> pl.DataFrame:
    return measures.observe(dataset, Asked(measures.measure(text), view or View()))


def values(frame: pl.DataFrame, item: str) -> list[float]:
    return frame.filter(item=item).sort("run")["value"].to_list()


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("goodput_bps", "bit/s"),
        ("delivered_bytes / lifetime_ns", "bit/s"),
        ("p99(datagrams.delay_ns) - 15 ms", "ns"),
        ("limited_rwnd_ns / lifetime_ns", ""),
        ("log2(throughput_bps)", ""),
        ("goodput_bps * srtt_mean_ns", "B"),
        ("retransmits / lifetime_ns", "packets/s"),
        ('goodput_bps / arms."BBR v1".goodput_bps', ""),
        ("count(series.t_ns)", ""),
        ("mean(series.throughput_bps)", "bit/s"),
        ("goodput_bps - 50 % * goodput_bps", "bit/s"),
    ],
)
def test_an_expression_has_the_unit_of_its_parts(text: str, unit: str) -> None:
    assert measures.measure(text).unit == unit


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        ("gootput_bps", "gootput_bps", "there is no measure `gootput_bps`"),
        ("goodput_bps + srtt_mean_ns", "goodput_bps + srtt_mean_ns", "a sum of bit/s and ns"),
        ("series.srtt_ns", "series.srtt_ns", "has many values in a run"),
        ("datagrams.delay_ns", "datagrams.delay_ns", "is a distribution"),
        ("p90(datagrams.delay_ns)", "datagrams.delay_ns", "`datagrams` has no p90"),
        ("men(goodput_bps)", "men", "there is no function `men`"),
        ("goodput_bps / (2", "(", "this ( is not closed"),
        ("goodput_bps goodput_bps", "goodput_bps", "unexpected `goodput_bps`"),
        ("2 * ", "", "ends where a value was expected"),
        ("goodput_bps - 3 bananas", "3 bananas", "bananas"),
        ("goodput_bps # 2", "#", "is no part of an expression"),
        ("cc", "cc", "`cc` is no number"),
        ("p50(dely)", "dely", "there is no measure `dely`"),
        ("reference.goodput_bps", "reference.goodput_bps", "the study has no reference"),
        ("quantile(completion_ns, 2)", "quantile(completion_ns, 2)", "a share between 0 and 1"),
        ("share_above(completion_ns)", "share_above(completion_ns)", "takes values and a quantity"),
        ("share_above(completion_ns, 3 kB)", "3 kB", "the values are in ns, the quantity is not"),
        ("share_above(dely, 3 kB)", "dely", "there is no measure `dely`"),
        ("share_above(p95(completion_ns), 1 s)", "p95(completion_ns)", "one number per run already"),
        ("mean(mean(series.srtt_ns))", "mean(series.srtt_ns)", "one number per run already"),
        ("arms.reno", "arms.reno", "says of which, and not what"),
        ("srtt_mean_ns - links.wait_mean_ns", "srtt_mean_ns - links.wait_mean_ns", "have nothing in common"),
        ("1 / 0", "0", "division by zero"),
        ("goodput_bps / 0", "0", "division by zero"),
        ("max(goodput_bps) / (3 - 3)", "3 - 3", "division by zero"),
        ("mean(series.srtt_ns / 0 ms)", "0 ms", "division by zero"),
        ("-" * 3 + "goodput_bps", "-", "unexpected `-`"),
        ("(" * 80 + "1" + ")" * 80, "(", "nested too deeply"),
    ],
)
def test_what_is_no_measure_is_told_at_its_characters(text: str, marked: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        measures.measure(text)
    assert message in caught.value.message
    start, end = caught.value.span
    assert text[start:end].strip() == marked


def test_what_counts_events_or_packets_is_told_from_what_measures() -> None:
    asked = ["timeouts", "retransmits", "links.dropped_packets", "goodput_bps", "delivered_bytes", "srtt_mean_ns", "timeouts / 2", "jain"]
    assert [name for name in asked if measures.measure(name).counts] == ["timeouts", "retransmits", "links.dropped_packets"]


def test_a_column_is_what_the_table_has(dataset: Dataset) -> None:
    flows = dataset.flows().collect()
    found = seen(dataset, "goodput_bps", View("each"))
    joined = found.join(flows.select("run", item="flow", stored="goodput_bps"), on=["run", "item"])
    assert joined.height == flows.height == found.height
    assert joined.filter(pl.col("value") != pl.col("stored")).is_empty()
    links = seen(dataset, "links.dropped_packets")
    assert set(links["item"]) == {"l forward", "l reverse"}


@pytest.mark.parametrize("how", ["mean", "sum", "max", "min"])
def test_flows_of_a_block_are_taken_together_as_is_said(dataset: Dataset, how: str) -> None:
    flows = dataset.flows().filter(pl.col("flow").str.starts_with("bulk")).sort("run")
    expected = flows.group_by("run", maintain_order=True).agg(getattr(pl.col("goodput_bps"), how)()).collect()
    assert values(seen(dataset, "goodput_bps", View(how)), "bulk") == pytest.approx(expected["goodput_bps"].to_list(), rel=1e-12)


def test_functions_take_rows_together(dataset: Dataset) -> None:
    series = dataset.series().filter(pl.col("srtt_ns") >= 0, pl.col("flow") == "file").sort("run").collect()
    for text, made in (
        ("mean", np.mean),
        ("max", np.max),
        ("median", np.median),
        ("p95", lambda x: np.quantile(x, 0.95, method="inverted_cdf")),
        ("share_above", lambda x: np.mean(x > 25e6)),
    ):
        expected = [float(made(group["srtt_ns"].to_numpy())) for _, group in series.group_by("run", maintain_order=True)]
        assert values(seen(dataset, f"{text}(series.srtt_ns{', 25 ms' * (text == 'share_above')})"), "file") == pytest.approx(
            expected, rel=1e-12
        )


def test_a_share_of_rows_is_0_where_none_is_above_and_open_where_they_did_not_finish(dataset: Dataset) -> None:
    found = seen(dataset, "share_above(completion_ns, 1 h)")
    # What was still under way after 4 s may take more than an hour, or not.
    bounds = {item: set(found.filter(pl.col("item") == item).select("low", "high").rows()) for item in ("file", "large")}
    assert bounds["large"] == {(0.0, 1.0)}
    assert (0.0, 0.0) in bounds["file"]
    assert set(values(seen(dataset, "share_above(completion_ns, 1 s)"), "large")) == {1.0}


def test_an_expression_is_computed_with_its_units(dataset: Dataset) -> None:
    flows = dataset.flows().filter(pl.col("flow") == "file").sort("run").collect()
    rate = values(seen(dataset, "delivered_bytes / lifetime_ns"), "file")
    assert rate == pytest.approx((flows["delivered_bytes"] * 8e9 / flows["lifetime_ns"]).to_list(), rel=1e-12)
    late = values(seen(dataset, "15 ms - srtt_mean_ns"), "file")
    assert late == pytest.approx((15e6 - flows["srtt_mean_ns"]).to_list(), rel=1e-12)
    shares = seen(dataset, "log2(goodput_bps) - log2(items.file.goodput_bps)")
    assert values(shares, "file") == pytest.approx([0.0] * flows.height)
    # A logarithm is that of the number as it is shown, whatever units a quotient is kept in.
    seconds = (flows["srtt_mean_ns"] / 1e9).log(2.0).to_list()
    for text in ("log2(srtt_mean_ns / 1 s)", "log2(lifetime_ns / 1 s) + log2(srtt_mean_ns / lifetime_ns)", "0 - log2(1 s / srtt_mean_ns)"):
        assert values(seen(dataset, text), "file") == pytest.approx(seconds, rel=1e-12)
    assert values(seen(dataset, "max(ln(srtt_mean_ns / 1 s))"), "file") == pytest.approx((flows["srtt_mean_ns"] / 1e9).log().to_list())
    assert values(seen(dataset, "items.file.log2(srtt_mean_ns / 1 s) + 0 * goodput_bps / 1 bit/s"), "file") == pytest.approx(
        seconds, rel=1e-12
    )
    delay = dataset.table("datagrams").sort("run").collect()["delay_p99_ns"].to_list()
    assert values(seen(dataset, "p99(datagrams.delay_ns) - 15 ms"), "call") == pytest.approx([x - 15e6 for x in delay])


def test_another_arm_is_of_the_same_cell_and_replicate(dataset: Dataset) -> None:
    own, ratio = seen(dataset, "goodput_bps"), seen(dataset, "goodput_bps / arms.reno.goodput_bps")
    reno = own.filter(arm="reno").select("cell", "replicate", "item", reno="value")
    joined = own.join(reno, on=["cell", "replicate", "item"]).join(ratio.select("run", "item", ratio="value"), on=["run", "item"])
    expected = joined.filter(pl.col("reno") > 0)
    assert expected.height > 20
    assert np.allclose(expected["ratio"].to_numpy(), (expected["value"] / expected["reno"]).to_numpy())
    # Nothing over nothing, as of the call, which is no flow of TCP, is no number.
    assert joined.filter(reno=0)["ratio"].null_count() == joined.filter(reno=0).height


def test_what_did_not_finish_is_at_least_what_it_had_come_to(dataset: Dataset) -> None:
    flows = dataset.flows().filter(pl.col("flow") == "large").sort("run").collect()
    assert flows["completion_ns"].is_null().all()
    found = seen(dataset, "completion_ns").filter(item="large").sort("run")
    assert found["low"].to_list() == flows["lifetime_ns"].to_list()
    assert found["high"].is_infinite().all() and found["value"].is_null().all()
    # The reciprocal is at most that of the bound, and 0 at least; a sum with it stays a bound.
    rate = seen(dataset, "40 MB / completion_ns").filter(item="large").sort("run")
    assert rate["low"].to_list() == [0.0] * flows.height
    assert rate["high"].to_list() == pytest.approx((40e6 * 8e9 / flows["lifetime_ns"]).to_list())
    more = seen(dataset, "completion_ns + 1 s").filter(item="large").sort("run")
    assert more["low"].to_list() == (flows["lifetime_ns"] + 1e9).to_list() and more["high"].is_infinite().all()


def test_arrivals_that_did_not_end_count_as_the_longest(dataset: Dataset) -> None:
    rows = dataset.table("arrivals").sort("run").collect()
    found = seen(dataset, "p50(arrivals.completion_ns)").sort("run")
    for row, low, high in zip(rows.to_dicts(), found["low"], found["high"], strict=True):
        if row["completed"] == row["started"]:
            assert low == high == row["completion_p50_ns"]
        elif row["completed"] >= 0.56 * row["started"]:
            assert row["completion_p50_ns"] < low < row["completion_p90_ns"] and low == high
    mean = seen(dataset, "mean(arrivals.completion_ns)").sort("run")
    open_ones = (rows["completed"] < rows["started"]).to_list()
    assert any(open_ones)
    assert [high == float("inf") for high in mean["high"]] == open_ones
    # So does the column by its name, alone and in an expression.
    for text, same in (
        ("arrivals.completion_mean_ns", mean),
        ("arrivals.completion_p50_ns", found),
        ("arrivals.completion_p50_ns * 1", found),
    ):
        assert seen(dataset, text).sort("run").select("low", "high").equals(same.select("low", "high"))


def test_a_transfer_that_did_not_end_has_taken_until_the_run_ended(dataset: Dataset) -> None:
    rows = dataset.table("transfers").filter(pl.col("completion_ns").is_null()).sort("run").collect()
    assert rows.height
    found = seen(dataset, "max(transfers.completion_ns)").sort("run")
    for (run,), group in rows.group_by("run", maintain_order=True):
        (low,) = found.filter(run=run)["low"]
        # Flows without an end are there until it does.
        assert low >= 4e9 - cast(int, group["start_ns"].min()) - 1


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ("3 packets/s", 3.0, "packets/s"),
        ("2 kB/s", 16_000.0, "bit/s"),
        ("5 packets/ms", 5000.0, "packets/s"),
        ("10 %", None, ""),
        ("5 foo/s", None, ""),
    ],
)
def test_a_quantity_may_be_of_one_unit_per_another(text: str, value: float | None, name: str) -> None:
    if value is None:
        with pytest.raises(_core.ScenarioError):
            units.of_quantity(text)
        return
    found, unit = units.of_quantity(text)
    assert (found * unit.factor(unit.natural), unit.name) == (pytest.approx(value), name)


def test_rows_without_a_value_choose_nothing(dataset: Dataset) -> None:
    series = dataset.series().filter(flow="file").sort("run").collect()
    assert series["srtt_ns"].null_count() > 0
    expected = [
        group.filter(srtt_ns=group["srtt_ns"].max()).row(0, named=True)["cwnd_bytes"]
        for _, group in series.group_by("run", maintain_order=True)
    ]
    assert values(seen(dataset, "at_max(series.cwnd_bytes, series.srtt_ns)"), "file") == expected


def test_rows_windows_and_columns_are_chosen(dataset: Dataset) -> None:
    late = View(rows=Rows(start_ns=2e9, end_ns=3e9))
    series = dataset.series().filter(pl.col("flow") == "file", pl.col("t_ns") >= 2e9, pl.col("t_ns") < 3e9).sort("run")
    expected = series.group_by("run", maintain_order=True).agg(pl.col("cwnd_bytes").mean()).collect()["cwnd_bytes"].to_list()
    assert values(seen(dataset, "mean(series.cwnd_bytes)", late), "file") == pytest.approx(expected)
    small = View(rows=Rows((Condition("delivered_bytes", (), ">", 3000.0),)))
    counts = dataset.table("transfers").filter(pl.col("delivered_bytes") > 3000).group_by("run").len().sort("run").collect()["len"]
    assert values(seen(dataset, "count(transfers.size_bytes)", small), "web") == counts.to_list()
    bins = seen(dataset, "completions.completed", View(by=("size_from_bytes",)))
    stored = dataset.table("completions").collect()
    assert bins.height == stored.height
    assert all(cast(str, name).endswith(("B", "kB", "MB")) for name in bins["size_from_bytes"])


def test_fairness_is_of_flows_of_tcp(dataset: Dataset) -> None:
    flows = dataset.flows().filter(pl.col("cc") != "").sort("run").collect()
    assert set(flows["flow"]) == {"bulk[1]", "bulk[2]", "file", "large"}
    expected = [
        float(x.sum() ** 2 / (len(x) * (x**2).sum()))
        for _, group in flows.group_by("run", maintain_order=True)
        for x in [group["goodput_bps"]]
    ]
    assert values(seen(dataset, "jain"), "flows") == pytest.approx(expected)


def test_every_listed_measure_is_one_or_says_what_it_needs(dataset: Dataset) -> None:
    for name in measures.listed():
        try:
            found = seen(dataset, name, View(by=("variable", "quantity", "link", "direction", "counter", "size_from_bytes")))
        except ExpressionError as error:
            assert "has many values in a run" in error.message
            found = seen(dataset, f"mean({name})", View(by=("variable",)))
        assert {"run", "item", "low", "high", "value"} <= set(found.columns)


def test_the_warm_up_of_mser_5_ends_where_the_mean_settles() -> None:
    rng = np.random.default_rng(1)
    settled = rng.normal(10, 1, 600)
    rising = np.linspace(0, 10, 100)
    assert 80 <= truncation(np.concatenate([rising, settled])) <= 130
    assert truncation(settled[:49]) == 0
    assert truncation(np.full(200, 3.0)) == 0


def test_tables_of_shapes_are_those_of_the_schema() -> None:
    from sawtooth import _core
    from sawtooth.measures.tables import RECORDED, SHAPES

    assert set(SHAPES) - set(RECORDED) == set(_core.schema())
    assert set(RECORDED.values()) < set(_core.schema())


def test_a_page_of_an_expression_in_a_study_is_pointed_at(tmp_path: Path) -> None:
    from sawtooth.errors import StudyError

    (tmp_path / "s.toml").write_text(STUDY + '[[figures]]\nname = "a"\nmetric = "goodput_bps / lifetime_nx"\n')
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(tmp_path / "s.toml"))
    place = caught.value.place
    assert place is not None
    assert place.text[place.column - 1 : place.end_column - 1] == "lifetime_nx"


STARTS = """
repeat = 3
[draws]
starts = { distribution = "uniform", low = "0", high = "1", count = 4 }
[scenario]
duration = "5 s"
links.l = { rate = "4 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"], name = "f", count = 4, start = "starts[i] * 1 s" }]
[[figures]]
name = "order"
metric = "goodput_bps"
x = "start_order"
"""


def test_what_a_value_is_in_the_row_that_another_chooses_and_flows_in_the_order_of_their_start(tmp_path: Path) -> None:
    plan = make_plan(Study.parse(STARTS, Path("s.toml")))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    flows = dataset.flows().select("run", "flow", "start_ns", "goodput_bps").collect().sort("run", "start_ns")
    # The draws put the flows into different orders.
    assert flows.group_by("run", maintain_order=True).agg("flow")["flow"].n_unique() > 1
    earliest = flows.group_by("run", maintain_order=True).first()["goodput_bps"].to_list()
    latest = flows.group_by("run", maintain_order=True).last()["goodput_bps"].to_list()
    assert measures.observe(dataset, Asked(measures.measure("at_min(goodput_bps, start_ns)")))["value"].to_list() == earliest
    assert measures.observe(dataset, Asked(measures.measure("at_max(goodput_bps, start_ns)")))["value"].to_list() == latest
    share = measures.observe(dataset, Asked(measures.measure("at_min(goodput_bps, start_ns) / max(goodput_bps)")))["value"]
    assert 0 < float(share.min()) <= float(share.max()) <= 1  # pyright: ignore[reportArgumentType]
    ordered = measures.observe(dataset, Asked(measures.measure("goodput_bps"), View(by=("start_order",))))
    assert ordered["start_order"].to_list() == ["1", "2", "3", "4"] * 3
    assert ordered["value"].to_list() == flows["goodput_bps"].to_list()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at_min(goodput_bps)", "takes a value and what chooses its row"),
        ("at_min(goodput_bps, links.dropped_packets)", "have rows of their own"),
        ("at_min(goodput_bps, 3)", "one number per run already"),
        ("at_min(goodput_bps, strat_ns)", "no measure `strat_ns`"),
    ],
)
def test_what_chooses_no_row_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        measures.measure(text)


@pytest.mark.parametrize(
    ("text", "range_"),
    [
        ("goodput_bps", (0.0, math.inf)), ("jain", (0.0, 1.0)), ("jain(goodput_bps)", (0.0, 1.0)), ("share_above(completion_ns, 1 s)", (0.0, 1.0)), ("p95(completion_ns)", (0.0, math.inf)),
        ("links.dropped_packets / links.arrived_packets", (0.0, 1.0)), ("stall_ns / completion_ns", (0.0, 1.0)), ("completion_ns / stall_ns", (0.0, math.inf)), ("goodput_bps - 1 Mbit/s", (-math.inf, math.inf)),
        ("log2(goodput_bps)", (-math.inf, math.inf)),
    ],
)  # fmt: skip
def test_what_a_measure_can_be_is_known(text: str, range_: tuple[float, float]) -> None:
    assert measures.measure(text).within("mean") == range_


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("p99(arms.idle.datagrams.delay_ns)", "arms.idle.p99(datagrams.delay_ns)"),
        ("quantile(arms.idle.completion_ns, 0.9)", "arms.idle.quantile(completion_ns, 0.9)"),
        ("share_above(arms.idle.completion_ns, 1 s)", "arms.idle.share_above(completion_ns, 1 s)"),
        ("log2(arms.idle.goodput_bps)", "arms.idle.log2(goodput_bps)"),
        ('p95(items."a b".completion_ns)', 'items."a b".p95(completion_ns)'),
    ],
)
def test_what_rows_come_to_elsewhere_may_be_said_in_either_order(text: str, same: str) -> None:
    assert measures.measure(text).term == measures.measure(same).term


def test_what_is_infinite_in_a_row_is_not_averaged(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        """repeat = 1
[scenario]
duration = "4 s"
sample = "10 ms"
links.l = { rate = "5 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"] }]
"""
    )
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    stored = dataset.table("series").collect()["ssthresh_bytes"]
    finite = stored.filter(stored < 1e15)
    # Before the first loss it is arbitrarily high.
    assert 0 < finite.len() < stored.len()
    asked = measures.measure("mean(series.ssthresh_bytes)")
    assert measures.observe(dataset, Asked(asked))["value"].to_list() == [pytest.approx(finite.mean())]
    assert asked.pooling("mean", several=False) == "mean over the rows of `series` in which it is finite, within each run"


def test_another_arms_percentile_is_the_one_that_it_has(dataset: Dataset) -> None:
    arm = str(dataset.runs["arm"][-1])
    there = measures.observe(dataset, Asked(measures.measure(f"arms.{arm}.p95(completion_ns)"))).filter(arm=arm)
    own = measures.observe(dataset, Asked(measures.measure("p95(completion_ns)"))).filter(arm=arm)
    assert there["low"].to_list() == own["low"].to_list() != []


@pytest.mark.parametrize(
    ("text", "found"),
    [("arms.idle.men(goodput_bps)", "`men`"), ("flows.p95(completion_ns)", "`flows.p95`"), ("arms.p95(rtt_ns)", "`arms.p95`")],
)
def test_a_function_that_is_none_is_told_by_its_name(text: str, found: str) -> None:
    with pytest.raises(ExpressionError, match=f"there is no function {found}"):
        measures.measure(text)


@pytest.mark.parametrize("start", [0, 25])
def test_flows_together_get_no_more_than_their_link_carries_also_if_one_starts_late(start: int, tmp_path: Path) -> None:
    flows = f'[{{ name = "a", path = ["l"] }}, {{ name = "b", path = ["l"], start = "{start} s" }}]'
    text = f'[scenario]\nduration = "30 s"\nlinks.l = {{ rate = "10 Mbit/s", delay = "10 ms" }}\nflows = {flows}\n'
    dataset = sawtooth.run(Study.parse(text), out=tmp_path / "late", jobs=1)
    rows = dataset.flows().collect()
    (total,) = dataset.measure("total_goodput_bps")["value"]
    assert total == pytest.approx(rows["delivered_bytes"].sum() * 8 / 30)
    assert total < 10e6
    # Flows of one span add up to the bit, as before.
    assert (total == rows["goodput_bps"].sum()) == (start == 0)


def test_flows_of_a_block_that_are_added_up_get_no_more_than_their_link_carries(tmp_path: Path) -> None:
    flows = '[{ name = "f", path = ["l"], count = 2, start = "(i - 1) * 25 s" }, { name = "alone", path = ["l"], start = "20 s" }]'
    text = f'[scenario]\nduration = "30 s"\nlinks.l = {{ rate = "10 Mbit/s", delay = "10 ms" }}\nflows = {flows}\n'
    dataset = sawtooth.run(Study.parse(text), out=tmp_path / "late", jobs=1)
    rows = dict(dataset.flows().select("flow", "delivered_bytes", "goodput_bps").collect().rows_by_key("flow", unique=True))
    block = [rows[f"f[{number}]"] for number in (1, 2)]
    found = dict(dataset.measure("goodput_bps", flows="sum").select("item", "value").rows())
    assert found["f"] == pytest.approx(sum(each[0] for each in block) * 8 / 30)
    # Another block has another time, what is alone its own.
    assert found["alone"] == rows["alone"][1]
    assert dict(dataset.measure("goodput_bps / 2", flows="sum").select("item", "value").rows())["f"] == pytest.approx(found["f"] / 2)
    assert dict(dataset.measure("sum(goodput_bps)").select("item", "value").rows())["f"] == pytest.approx(sum(each[1] for each in block))
    published = tmp_path / "published.csv"
    published.write_text(f"item,cell,total\nf,1,{found['f']!r}\n")
    (compared,) = dataset.compare(published, metric="goodput_bps", flows="sum", value="total", unit="bit/s").numbers["ratio"]
    assert compared == pytest.approx(1.0)


def test_of_flows_that_all_start_late_the_time_is_theirs_and_one_without_bytes_adds_none() -> None:
    rows = {"goodput_bps": [3e6, 5e6, 0.0], "delivered_bytes": [3_000_000, 5_000_000, 0], "start_ns": [int(2e9)] * 3}
    assert pl.DataFrame(rows).select(total_goodput()).item() == 8e6
    waiting = pl.DataFrame(rows | {"start_ns": [int(2e9), int(2e9), 0]})
    assert waiting.select(total_goodput()).item() == pytest.approx(8e6 * 8 / 10)
