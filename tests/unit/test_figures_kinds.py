"""Kinds of figures: the numbers in them are those that the records say, and what is unfinished, missing or mixed is seen."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sawtooth import estimates, figures, stats
from sawtooth.errors import DatasetError, StudyError
from sawtooth.estimates import Estimate
from sawtooth.execute import execute
from sawtooth.figures.cdf import _of_runs  # pyright: ignore[reportPrivateUsage]
from sawtooth.figures.data import Data
from sawtooth.figures.spec import Drawn, FigureSpec
from sawtooth.findings.verdict import Evidence
from sawtooth.measures import measure
from sawtooth.plan import make_plan
from sawtooth.plots import bands, forest, heatmap, lanes, replicates, shares
from sawtooth.plots.style import figure, legend_above, svg
from sawtooth.presentation import presentation
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval
from sawtooth.study import Study
from tests.conftest import ROOT
from tests.unit.figure_runs import STUDY, drawn, loaded, made, refused, without

FINDINGS = """
[[findings]]
claim = "The long flow gets more than a megabit"
metric = "goodput_bps"
of = "long"
arm = "reno"
is = "above"
than = "1 Mbit/s"

[[findings]]
claim = "The short one takes less than ten seconds"
metric = "completion_ns"
of = "short"
arm = "reno"
where = { rate = "5 Mbit/s", delay = "10 ms" }
is = "below"
than = "10 s"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    text = STUDY.replace("repeat = 3", "repeat = 1").partition("[arms]")[0].replace('["10 ms", "20 ms", "40 ms"]', '["10 ms"]')
    return made(tmp_path_factory.mktemp("single"), text.replace('["1 Mbit/s", "5 Mbit/s"]', '["5 Mbit/s"]'))


def records(dataset: Dataset) -> pl.DataFrame:
    """The flows' records beside the plan: what figures are held against, read without any of their code."""
    plan = dataset.runs.select("run", "cell", "rate", "delay", "arm", "replicate")
    return plan.join(dataset.flows().collect(), on="run")


def close(found: object, expected: float) -> bool:
    return bool(np.isclose(cast(float, found), expected, rtol=1e-9))


def limits(norm: Any) -> tuple[float, float]:
    """Of a scale of colours."""
    return float(norm.vmin), float(norm.vmax)


def texts(figure: Drawn) -> str:
    """All that is written in a figure."""
    return " ".join(text.get_text() for axis in figure.figure.axes for text in axis.texts)


# --- heatmap


def test_a_heat_map_has_the_mean_of_each_cell(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, 'kind = "heatmap"\nmetric = "goodput_bps"\nof = "long"\npanels = "arm"')
    rows = records(runs).filter(flow="long")
    assert found.numbers.height == 12
    for row in found.numbers.to_dicts():
        own = rows.filter(rate=row["rate"], delay=row["delay"], arm=row["arm"])["goodput_bps"].to_numpy()
        assert close(row["estimate"], own.mean())
        assert close(row["low"], stats.mean(own).low) or not np.isfinite(row["low"])
        assert (row["n"], row["interval"]) == (3, stats.mean(own).kind)
    image = found.figure.axes[0].images[0].get_array()
    assert image is not None
    reno = found.numbers.filter(arm="reno", rate="5 Mbit/s", delay="40 ms")["estimate"][0]
    # Rows are rates, columns delays, in the order of the study; colours are of what is written.
    assert close(image[1, 2], reno / 1e6)
    assert f"{reno / 1e6:.2f}" in texts(found)
    assert found.note.startswith("Means of 3 runs with 95 % intervals (t or log-scale)")


def test_colours_of_differences_and_ratios_are_symmetrical_around_their_centre(runs: Dataset, tmp_path: Path) -> None:
    less = drawn(runs, tmp_path, 'kind = "heatmap"\nmetric = "goodput_bps - arms.reno.goodput_bps"\nof = "long"\narm = "cubic"\ncentre = 0')
    norm = less.figure.axes[0].images[0].norm
    low, high = limits(norm)
    assert close(low, -high)
    assert "Colours are symmetrical around 0." in less.note
    ratio = drawn(
        runs, tmp_path, 'kind = "heatmap"\nmetric = "goodput_bps / arms.reno.goodput_bps"\nof = "long"\narm = "cubic"\ncentre = 1'
    )
    norm = ratio.figure.axes[0].images[0].norm
    low, high = limits(norm)
    assert close(low * high, 1.0)
    assert "Colours are symmetrical around 1, in logarithms." in ratio.note
    # Brackets are around what cannot be told from the centre.
    held = sum(row["low"] <= 1 <= row["high"] for row in ratio.numbers.to_dicts())
    assert held > 0
    assert f"In brackets: {held} of 6 cells" in ratio.note
    assert texts(ratio).count("(") == held


def test_a_heat_map_shows_bounds_as_bounds_and_hatches_what_is_unknown(runs: Dataset, tmp_path: Path) -> None:
    text = 'kind = "heatmap"\nmetric = "completion_ns"\nof = "short"\narm = "reno"'
    found = drawn(runs, tmp_path, text)
    slow = found.numbers.filter(rate="1 Mbit/s")
    assert slow["unfinished"].to_list() == [3, 3, 3]
    assert texts(found).count("≥") == 3
    assert "Hatched thinly, with ≥: 9 of 18 runs did not finish it" in found.note
    some = drawn(without(runs, rate="5 Mbit/s", delay="20 ms"), tmp_path, text)
    # The cell that has no run is there, and the order of the others is that of the study.
    assert [label.get_text() for label in some.figure.axes[0].get_xticklabels()] == ["10 ms", "20 ms", "40 ms"]
    assert [patch.get_hatch() for patch in some.figure.axes[0].patches].count("xxxx") == 1
    assert "Grey and hatched: 1 cell of which no run tells it." in some.note


def test_a_heat_map_of_one_run_has_no_interval(single: Dataset, tmp_path: Path) -> None:
    found = drawn(single, tmp_path, 'kind = "heatmap"\nmetric = "goodput_bps"\nof = "long"')
    assert found.numbers.height == 1
    assert found.note.startswith("A single run each: no interval.")
    svg(found.figure)


def test_a_heat_map_of_many_levels_has_no_numbers_and_names_what_there_is_room_for() -> None:
    def cell(value: float) -> Estimate:
        return Estimate(Interval(value, value, value, 5, "t"), 5)

    names = [str(at) for at in range(200)], [f"an arm with a very long name, the one with the number {at}" for at in range(80)]
    made_of = heatmap.estimates(
        [[[cell(float(x * y)) for x in range(200)] for y in range(80)]], ([""], [""]), names, ("x", "y", "z"), heatmap.Colours()
    )
    svg(made_of)
    assert not made_of.axes[0].texts
    assert len(made_of.axes[0].get_xticklabels()) < 100
    assert max(made_of.get_size_inches()) < 20


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ('kind = "heatmap"\nmetric = "goodput_bps"\nof = "long"', "it would take 2 arms (reno, cubic) together as if they were replicates"),
        ('kind = "heatmap"\nmetric = "goodput_bps"\nof = "long"\npanels = "arm"\ncentre = "5 ms"', "`5 ms` is no rate"),
        ('kind = "heatmap"\nmetric = "goodput_bps"\nof = "long"\npanels = "arm"\ncentre = 0\nscale = "log"', "no centre at 0"),
        ('kind = "shares"\nmetric = "goodput_bps"\nx = "rate"\npanels = "arm"', "it would take 3 levels of `delay`"),
        ('kind = "shares"\nmetric = ["goodput_bps", "srtt_mean_ns"]\nof = "long"', "the measures of a figure have one unit"),
        ('kind = "shares"\nmetric = ["goodput_bps", "goodput_bps"]', "a measure stands in `metric` twice"),
        ('kind = "shares"\nmetric = []', "`metric` has no measure"),
        ('kind = "shares"\nmetric = [3]', "`metric[0]` must be a text, found 3"),
        ('kind = "levels"\nmetric = ["goodput_bps", "transfer_rate_bps"]', "`metric` must be a text"),
        ('kind = "paired"\nmetric = "goodput_bps"\nof = "long"\npanels = "rate"', "it would take 3 levels of `delay`"),
        ('kind = "paired"\nmetric = "goodput_bps"\nof = "long"\nalong = "rate"', "levels of `rate` are no pairs"),
        ('kind = "paired"\nmetric = "goodput_bps"\nof = "long"\npanels = "arm"', "`arm` has a place already: `x`"),
        ('kind = "paired"\nmetric = "goodput_bps"\nof = "long"\nto = "bbr"', "there is no arm `bbr`"),
        ('kind = "box"\nmetric = "goodput_bps"\nof = "long"\nx = "rate"', "it would take 3 levels of `delay`"),
        ('kind = "violin"\nmetric = "goodput_bps"\nx = "rate"\npanels = "delay"', "it would take 3 items"),
        ('kind = "lanes"\nmetric = "episodes.retransmits"\npanels = "arm"', "it would take 3 levels of `delay`"),
        ('kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\nx = "rate"', "2 arms (reno, cubic) together"),
        ('kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\npercentiles = [0]', "`percentiles` is a list of numbers in per cent"),
        ('kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\npercentiles = [42]', "p42"),
        ('kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\nbase = "5 Mbit/s"\nx = "delay"\npanels = "arm"\nrows = "rate"', "`5 Mbit/s` is no time"),
        ('kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\nbase = "rno"\nx = "arm"', "`arm` has no level `rno`"),
        ('kind = "latency_under_load"\nmetric = "goodput_bps"\nx = "rate"\npanels = "delay"\nrows = "arm"', "a run has one value of `goodput_bps`"),
        ('kind = "scatter"\nmetric = "goodput_bps"', "lacks `against`"),
        ('kind = "forest"\nmetric = "goodput_bps"', "a figure of kind `forest` has no `metric`"),
    ],
)  # fmt: skip
def test_what_a_figure_cannot_show_is_said_when_it_is_planned(figure: str, message: str, tmp_path: Path) -> None:
    error = refused(tmp_path, figure)
    assert message in error.message
    if "would take" in error.message:
        # What to add is said, and with it the study is planned or says the next one.
        assert error.hint is not None
        assert error.hint.startswith("add ")


# --- shares


def test_shares_of_items_are_those_of_each_run_and_add_up(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(
        runs, tmp_path, 'kind = "shares"\nmetric = "goodput_bps"\nof = ["long", "short"]\nx = "rate"\npanels = "arm"\nrows = "delay"'
    )
    rows = records(runs)
    for row in found.numbers.to_dicts():
        here = rows.filter(rate=row["rate"], delay=row["delay"], arm=row["arm"]).sort("replicate")
        both = [here.filter(flow=flow)["goodput_bps"].to_numpy() for flow in ("long", "short")]
        own = here.filter(flow=row["item"])["goodput_bps"].to_numpy()
        assert close(row["estimate"], (own / (both[0] + both[1])).mean())
    sums = found.numbers.group_by("rate", "delay", "arm").agg(pl.col("estimate").sum())["estimate"]
    assert all(close(each, 1.0) for each in sums)
    assert found.note.startswith("Mean shares of 3 runs with 95 % intervals (t or log-scale)")
    assert "Lines: the interval of each part's own share" in found.note


def test_an_item_of_what_all_flows_have_together_is_advised_to_be_left_out(tmp_path: Path) -> None:
    error = refused(
        tmp_path, 'metric = "items.long.goodput_bps / total_goodput_bps"\nof = "long"\nx = "rate"\npanels = "delay"\ncurves = "arm"'
    )
    assert error.message == "no run has an item `long` of `items.long.goodput_bps / total_goodput_bps`"
    assert error.hint == "it is one number of all flows together: leave the item out"


def test_lanes_whose_arms_are_panels_are_drawn(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(
        runs,
        tmp_path,
        'kind = "lanes"\nmetric = "episodes.retransmits"\nof = "long"\nwhere = { delay = "10 ms", rate = "1 Mbit/s" }\npanels = "arm"',
    )
    assert len(found.figure.axes) == 2


def test_shares_of_blocks_are_of_all_their_flows(tmp_path: Path) -> None:
    several = STUDY.replace('name = "long", start', 'name = "long", count = 3, start').replace('"10 ms", "20 ms", "40 ms"', '"10 ms"')
    found = drawn(made(tmp_path, several), tmp_path / "f", 'kind = "shares"\nmetric = "goodput_bps"\nx = "rate"\npanels = "arm"')
    assert "What the flows of a block delivered over one time, from the first start to the last end, within each run" in found.note
    rows = records(made(tmp_path, several)).with_columns(block=pl.col("flow").str.replace(r"\[.*", ""))
    for row in found.numbers.filter(item="long").to_dicts():
        runs = rows.filter(rate=row["rate"], arm=row["arm"]).group_by("run", maintain_order=True)
        shares = [group.filter(block="long")["goodput_bps"].sum() / group["goodput_bps"].sum() for _, group in runs]
        assert close(row["estimate"], np.mean(shares))


def test_shares_of_several_measures_leave_the_rest_of_a_whole(runs: Dataset, tmp_path: Path) -> None:
    names = 'metric = { window = "limited_cwnd_ns", recovery = "limited_recovery_ns" }'
    found = drawn(
        runs, tmp_path, f'kind = "shares"\n{names}\nwhole = "lifetime_ns"\nof = "long"\nx = "delay"\npanels = "arm"\nrows = "rate"'
    )
    rows = records(runs).filter(flow="long")
    for row in found.numbers.to_dicts():
        here = rows.filter(rate=row["rate"], delay=row["delay"], arm=row["arm"])
        column = {"window": "limited_cwnd_ns", "recovery": "limited_recovery_ns"}[row["measure"]]
        assert close(row["estimate"], (here[column] / here["lifetime_ns"]).mean())  # pyright: ignore[reportArgumentType]
    legend = found.figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()][:2] == ["window", "recovery"]


def test_what_is_not_known_of_shares_is_hatched(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(
        runs,
        tmp_path,
        'kind = "shares"\nmetric = "completion_ns"\nof = "short"\nwhole = "lifetime_ns"\nx = "delay"\npanels = "arm"\nrows = "rate"',
    )
    assert found.numbers.filter(rate="1 Mbit/s")["unfinished"].to_list() == [3] * 6
    assert "Hatched: what is not known of 6 of 12 bars" in found.note
    slow = found.figure.axes[0]
    assert [patch.get_hatch() for patch in slow.patches].count("////") == 3
    assert not any(patch.get_hatch() for patch in found.figure.axes[2].patches)


def test_bars_of_many_parts_and_levels_without_runs_are_drawn() -> None:
    part = Estimate(Interval(0.1, 0.05, 0.15, 5, "t"), 5)
    names = [f"a flow with quite a long name {at}" for at in range(10)]
    stacks = [shares.Stack([part] * 10), None, *[shares.Stack([part] * 10)] * 38]
    svg(shares.bars([stacks], ([""], [""]), [f"{at} ms" for at in range(40)], names, ("x", "y")))


# --- scatter


def test_every_run_is_a_point_of_a_scatter(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, 'kind = "scatter"\nmetric = "completion_ns"\nagainst = "goodput_bps"\nof = "short"\ncurves = "arm"')
    rows = records(runs).filter(flow="short")
    assert found.numbers.height == rows.height == 36
    both = found.numbers.join(rows, on=["cell", "arm", "replicate"])
    assert np.allclose(both["x"].to_numpy(), both["goodput_bps"].to_numpy())
    done = both.filter(pl.col("completion_ns") >= 0)
    assert np.allclose(done["y"].to_numpy(), done["completion_ns"].to_numpy())
    assert found.numbers["y_unfinished"].sum() == 36 - done.height == 18
    assert found.note.startswith("n = 36 runs, each by itself: no interval. Arrows: 18 did not finish")
    drawn_points = [line.get_xdata() for line in found.figure.axes[0].get_lines()]
    assert sum(len(cast(Any, each)) for each in drawn_points) == 36
    assert sum(bool(text.arrow_patch) for text in cast(Any, found.figure.axes[0].texts)) == 18


def test_a_scatter_of_one_run_has_one_point(single: Dataset, tmp_path: Path) -> None:
    found = drawn(single, tmp_path, 'kind = "scatter"\nmetric = "goodput_bps"\nagainst = "srtt_mean_ns"\nof = "long"\nscale = "log"')
    assert found.note.startswith("n = 1 run, by itself: no interval.")
    svg(found.figure)


# --- paired


def test_pairs_differ_by_what_replicates_differ_by(runs: Dataset, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, 'kind = "paired"\nmetric = "goodput_bps"\nof = "long"\npanels = "rate"\nrows = "delay"\nto = "cubic"')
    rows = records(runs).filter(flow="long").sort("replicate")
    for row in found.numbers.to_dicts():
        mine, theirs = (rows.filter(rate=row["rate"], delay=row["delay"], arm=arm)["goodput_bps"].to_numpy() for arm in ("reno", "cubic"))
        expected = stats.difference(mine, theirs)
        assert close(row["estimate"], (mine - theirs).mean())
        assert (row["arm"], row["to"], row["n"], row["interval"]) == ("reno", "cubic", 3, expected.kind)
    first = found.figure.axes[0]
    lines = [line for line in first.get_lines() if len(cast(Any, line.get_xdata())) == 2 and line.get_marker() == "o"]
    assert len(lines) == 3
    assert "At the right: mean difference of 3 pairs of runs, each less `cubic`" in found.note


def test_pairs_that_did_not_finish_are_drawn_and_what_nothing_bounds_is_marked(runs: Dataset, tmp_path: Path) -> None:
    text = 'kind = "paired"\nmetric = "completion_ns"\nof = "short"\nform = "ratio"\nwhere = { delay = "10 ms" }\npanels = "rate"'
    found = drawn(runs, tmp_path, text)
    slow, fast = found.numbers.filter(rate="1 Mbit/s").to_dicts()[0], found.numbers.filter(rate="5 Mbit/s").to_dicts()[0]
    assert (slow["unfinished"], slow["bound"]) == (3, "not bounded")
    rows = records(runs).filter(flow="short", rate="5 Mbit/s", delay="10 ms").sort("replicate")
    reno, cubic = (rows.filter(arm=arm)["completion_ns"].to_numpy() for arm in ("reno", "cubic"))
    assert close(fast["estimate"], cubic.mean() / reno.mean())
    assert "1 point (↕) of runs that did not finish, which nothing bounds. Of 3 of 6 pairs a run did not finish." in found.note
    assert texts(found).count("↕") == 1
    assert sum(bool(text.arrow_patch) for text in cast(Any, found.figure.axes[0].texts)) == 6
    with pytest.raises(DatasetError, match="there is nothing to hold against `reno`"):
        drawn(without(runs, arm="cubic"), tmp_path, text)


def test_a_caption_names_the_kind_of_an_interval_whole() -> None:
    def bounds(ends: list[float]) -> Estimate:
        return estimates.of_bounds(np.array([1.0, 2.0, 4.0, 7.0, 9.0]), np.array(ends), "mean")

    known, late = bounds([1.0, 2.0, 4.0, 7.0, 9.0]), bounds([1.0, 2.0, 4.0, 7.0, np.inf])
    whole = Estimate(Interval(1.0, 0.5, 1.5, 11, "95% t, log-scale and bootstrap-t interval"), 11)
    assert "95 % intervals (t, log-scale or bootstrap-t)." in estimates.said([whole], "mean")
    # What is unfinished is counted once, and is no other kind.
    assert (
        estimates.said([known, late], "mean")
        == "Means of 5 runs; of 2 points n = 5 does not suffice. Arrows: 1 of 10 runs did not finish it, the value is at least that."
    )


# --- box and violin


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    text = STUDY.replace("repeat = 3", "repeat = 12").replace('["10 ms", "20 ms", "40 ms"]', '["10 ms"]')
    return made(tmp_path_factory.mktemp("many"), text)


@pytest.mark.parametrize("kind", ["box", "violin"])
def test_boxes_have_the_quartiles_of_runs_and_every_run(kind: str, many: Dataset, tmp_path: Path) -> None:
    found = drawn(many, tmp_path, f'kind = "{kind}"\nmetric = "goodput_bps"\nof = "long"\nx = "rate"\ncurves = "arm"')
    rows = records(many).filter(flow="long")
    assert found.numbers.height == 48
    for (rate, arm), group in found.numbers.group_by("rate", "arm"):
        own = rows.filter(rate=rate, arm=arm)["goodput_bps"].to_numpy()
        assert sorted(group["value"]) == sorted(own)
        for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75)):
            assert close(group[name][0], float(np.quantile(own, share)))
    assert "medians of 12 runs with 95 % intervals (order-statistic)" in found.note
    assert ("Violins: density by a Gaussian kernel" in found.note) == (kind == "violin")
    points = [line for line in found.figure.axes[0].get_lines() if line.get_marker() == "o"]
    assert sum(len(cast(Any, line.get_xdata())) for line in points) == 48
    svg(found.figure)


def test_there_is_no_box_of_few_runs_and_no_violin_of_unfinished_ones(runs: Dataset, many: Dataset, tmp_path: Path) -> None:
    few = drawn(runs, tmp_path, 'kind = "violin"\nmetric = "goodput_bps"\nof = "long"\ncurves = "arm"\npanels = "rate"')
    assert "No box of fewer than 5 runs." in few.note
    assert "Violins" not in few.note
    late = drawn(many, tmp_path, 'kind = "violin"\nmetric = "completion_ns"\nof = "short"\nx = "rate"\ncurves = "arm"')
    slow = late.numbers.filter(rate="1 Mbit/s")
    # More than half did not finish: the median has no end.
    assert slow["unfinished"].all()
    assert np.isinf(slow["median"].to_numpy()).all()
    assert "Arrows: 24 of 48 runs did not finish it" in late.note
    svg(late.figure)


def test_quartiles_between_finished_and_unfinished_runs_have_no_end() -> None:
    from sawtooth.figures.box import _quartiles  # pyright: ignore[reportPrivateUsage]

    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert _quartiles(values, values).tolist() == [2.0, 3.0, 4.0]
    late = np.array([1.0, 2.0, 3.0, np.inf, np.inf])
    assert _quartiles(values, late).tolist() == [2.0, 3.0, np.inf]
    assert _quartiles(-late, -values).tolist() == [-np.inf, -3.0, -2.0]
    assert _quartiles(values[:4], np.array([1.0, 2.0, np.inf, np.inf])).tolist() == [1.75, np.inf, np.inf]


def test_points_of_one_run_and_long_names_are_drawn() -> None:
    one = replicates.Group(np.array([3.0]), [""], None, Estimate(Interval(3.0, -np.inf, np.inf, 1, "n = 1"), 1))
    names = [f"an arm with a name that is much too long for any legend, number {at}" for at in range(9)]
    svg(replicates.groups([{name: [one, None] for name in names}], ([""], [""]), ["a", "b"], names, ("x", "y"), scale="log"))


# --- latency under load


def test_percentiles_stand_beside_what_they_are_without_load(runs: Dataset, tmp_path: Path) -> None:
    text = 'kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\nx = "rate"\npanels = "arm"\nrows = "delay"\nbase = "5 Mbit/s"'
    found = drawn(runs, tmp_path, text)
    rows = runs.runs.select("run", "rate", "delay", "arm").join(runs.table("datagrams").collect(), on="run")
    columns = {"median": "delay_p50_ns", "95th percentile": "delay_p95_ns", "99th percentile": "delay_p99_ns"}
    for row in found.numbers.to_dicts():
        here = rows.filter(delay=row["delay"], arm=row["arm"])
        own, base = (here.filter(rate=rate)[columns[row["measure"]]].to_numpy().mean() for rate in (row["rate"], "5 Mbit/s"))
        assert close(row["estimate"], own)
        assert abs(row["added"] - (own - base)) < 1.0
    assert found.numbers.height == 36
    assert found.note.startswith("Median, 95th percentile and 99th percentile within each run. Means of 3 runs with")
    assert "Dashed: `5 Mbit/s`." in found.note
    known = drawn(runs, tmp_path, text.replace('"5 Mbit/s"', '"30 ms"').replace('rows = "delay"', 'rows = "delay"\npercentiles = [95]'))
    assert all(close(each, 30e6) for each in known.numbers["base"])
    assert known.numbers["measure"].unique().to_list() == ["95th percentile"]


# --- lanes


def test_lanes_have_the_episodes_of_one_replicate(runs: Dataset, tmp_path: Path) -> None:
    text = 'kind = "lanes"\nmetric = "episodes.end_ns - episodes.start_ns"\nwhere = { delay = "10 ms" }\ncurves = "cause"\nrows = "rate"\npanels = "arm"'
    found = drawn(runs, tmp_path, f"{text}\nreplicate = 2")
    chosen = runs.runs.filter(delay="10 ms", replicate=2).select("run")
    rows = runs.table("episodes").collect().join(chosen, on="run", how="semi").filter(pl.col("end_ns") >= 0)
    assert found.numbers.height == rows.height > 0
    assert sorted(found.numbers["t_ns"]) == sorted(rows["start_ns"])
    assert sorted(found.numbers["value"]) == sorted((rows["end_ns"] - rows["start_ns"]).cast(pl.Float64))
    assert found.note.startswith(f"Replicate 2 of 3: {rows.height} rows of `episodes`.")
    svg(found.figure)
    marks = drawn(
        runs, tmp_path, 'kind = "lanes"\nmetric = "episodes.retransmits"\nwhere = { delay = "10 ms", rate = "5 Mbit/s" }\narm = "reno"'
    )
    assert marks.numbers.height > 0
    with pytest.raises(StudyError, match="has no time"):
        drawn(
            runs, tmp_path, 'kind = "lanes"\nmetric = "flows.completion_ns"\nwhere = { delay = "10 ms", rate = "5 Mbit/s" }\narm = "reno"'
        )


def test_what_had_not_ended_is_open_at_the_right() -> None:
    events = [lanes.Events(at, "stall", np.array([1.0, 2.0]), np.array([0.5, 1e-9]), np.array([False, True])) for at in range(40)]
    made_of = lanes.draw([events], ([""], [""]), [f"a flow with a long name, number {at}" for at in range(40)], ["stall"], (0.0, 3.0))
    assert sum(line.get_marker() == ">" for line in made_of.axes[0].get_lines()) == 40
    svg(made_of)


# --- forest


def test_a_forest_has_the_evidence_of_all_verdicts(tmp_path: Path) -> None:
    dataset = made(tmp_path, STUDY + FINDINGS + '[[figures]]\nname = "all"\nkind = "forest"\n')
    answers = Answers(dataset)
    (plot,), notes = answers.plots()
    assert not notes
    assert plot.numbers is not None
    verdicts = answers.verdicts()
    rows = records(dataset).filter(flow="long", arm="reno")
    for row in plot.numbers.filter(claim="The long flow gets more than a megabit").to_dicts():
        rate, delay = row["cell"].removeprefix("rate ").split(", delay ")
        assert close(row["estimate"], rows.filter(rate=rate, delay=delay)["goodput_bps"].to_numpy().mean() - 1e6)
        assert (row["limit_low"], row["limit_high"], row["answer"]) == (0.0, np.inf, verdicts[0].answer)
    assert plot.numbers.height == 7
    assert plot.caption.startswith(f"2 claims: {'1 yes, ' if verdicts[1].answer == 'yes' else ''}1 {verdicts[0].answer}")
    written = {text.get_text() for text in plot.figure.axes[0].texts}
    assert {verdict.answer for verdict in verdicts} <= written


def test_a_study_without_findings_has_no_forest(runs: Dataset, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="the study has no findings"):
        drawn(runs, tmp_path, 'kind = "forest"')


def test_a_forest_copes_with_no_evidence_no_ends_and_many_cells() -> None:
    def evidence(cell: str, interval: Interval | None, limits: tuple[float, float] = (0.0, np.inf)) -> Evidence:
        return Evidence(cell, lambda _: False, lambda _: False, "words", interval, limits, "bit/s")

    many_cells = [evidence(f"cell {at}", Interval(float(at), at - 1.0, at + 1.0, 5, "t")) for at in range(100)]
    verdicts = [
        Verdict("none", "cannot distinguish", "the runs that were made do not tell it"),
        Verdict("open", "no", "", [evidence("", Interval(1e6, -np.inf, 2e6, 3, "at least"))]),
        Verdict("unknown", "cannot distinguish", "", [evidence("", Interval(np.nan, -np.inf, np.inf, 0, "nothing is known"))]),
        Verdict("within", "yes", "", [evidence("a", Interval(0.1, -0.1, 0.3, 5, "t"), (-1.0, 1.0)), evidence("b", None)]),
        Verdict(f"a claim {'that goes on and on ' * 12}", "mixed", "", many_cells),
    ]
    made_of = forest.forest(verdicts)
    svg(made_of)
    written = [text.get_text() for text in made_of.axes[0].texts]
    assert "the runs that were made do not tell it" in written
    assert "nothing is known" in written
    # Of many cells those that are nearest to the limit, in their order.
    assert [text for text in written if text.startswith("cell ")] == [f"cell {at}" for at in range(forest.MOST_CELLS)]
    assert f"{100 - forest.MOST_CELLS} cells that are furthest from their limits are not drawn" in forest.said(verdicts)
    svg(forest.forest([]))


# --- the guide


def test_every_figure_of_the_guide_is_drawn(tmp_path: Path) -> None:
    text = (ROOT / "docs/guides/figures.md").read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    answers = Answers(made(tmp_path, text.replace("repeat = 5", "repeat = 2").replace('duration = "5 s"', 'duration = "2500 ms"')))
    plots, notes = answers.plots()
    assert not notes
    assert {spec.kind for spec in answers.shown.figures} | {"levels", "plane", "cdf", "time", "difference"} == set(figures.KINDS)
    kinds = {spec.name: spec.kind for spec in answers.shown.figures}
    for plot in plots:
        assert plot.svg.startswith("<svg")
        assert callable(plot.picture)
        # Another process draws the same; evidence has functions, which are not sent.
        if kinds[plot.name] != "forest":
            assert svg(pickle.loads(pickle.dumps(plot.picture))()) == plot.svg, plot.name
        assert plot.numbers is not None
        assert plot.numbers.height > 0, plot.name


# --- two measures of unlike kinds


@pytest.mark.parametrize("kind", ["plane", "scatter"])
def test_what_a_run_has_one_of_stands_against_every_item_of_the_other_side(kind: str, runs: Dataset, tmp_path: Path) -> None:
    keys = f'kind = "{kind}"\nmetric = "goodput_bps"\nagainst = "total_goodput_bps"\ncurves = "item"'
    assert set(drawn(runs, tmp_path, keys).numbers["item"]) == {"long", "short", "call"}
    turned = f'kind = "{kind}"\nmetric = "total_goodput_bps"\nagainst = "links.wait_mean_ns"\nof = "l forward"\ncurves = "arm"'
    found = drawn(runs, tmp_path, turned)
    assert set(found.numbers["item"]) == {"l forward"}
    named = drawn(
        runs, tmp_path, f'kind = "{kind}"\nmetric = \'items."l forward".links.wait_mean_ns\'\nagainst = "goodput_bps"\ncurves = "arm"'
    )
    assert set(named.numbers["item"]) == {"long", "short", "call"}
    svg(named.figure)
    of_call = drawn(runs, tmp_path, f'kind = "{kind}"\nmetric = "datagrams.delay_mean_ns"\nagainst = "total_goodput_bps"\nof = "call"')
    assert set(of_call.numbers["item"]) == {"call"}
    ends = pl.col("start_ns") + pl.col("delivered_bytes") * 8e9 / pl.col("goodput_bps")
    together = pl.col("delivered_bytes").sum() * 8e9 / (ends.max() - pl.col("start_ns").min())
    total = records(runs).filter(pl.col("flow") != "call").group_by("rate", "delay", "arm", "replicate").agg(goodput_bps=together)
    if kind == "scatter":
        both = of_call.numbers.join(total, on=["rate", "delay", "arm", "replicate"])
        assert both.height == 36
        assert np.allclose(both["x"].to_numpy(), both["goodput_bps"].to_numpy())
    else:
        assert of_call.numbers.height == 12
        assert close(of_call.numbers["x_estimate"].mean(), cast(float, total["goodput_bps"].mean()))


@pytest.mark.parametrize("kind", ["plane", "scatter"])
def test_several_items_on_both_sides_and_none_in_common_are_refused_when_planned(kind: str, runs: Dataset, tmp_path: Path) -> None:
    keys = f'kind = "{kind}"\nmetric = "links.wait_mean_ns"\nagainst = "goodput_bps"\n'
    error = refused(tmp_path, keys)
    assert "none is of both" in error.message
    assert error.hint is not None
    assert 'of = "l forward"' in error.hint
    with pytest.raises(StudyError, match="no run has an item `shrt`"):
        loaded_plan(tmp_path, keys + 'of = "shrt"\n')
    spec = FigureSpec("a", kind, "", measure("links.wait_mean_ns"), options={"against": measure("goodput_bps")})
    with pytest.raises(DatasetError, match="none is of both"):
        Answers(runs).drawn(spec)


def test_a_legend_of_nothing_has_no_lines() -> None:
    made, axes = figure(3, 3)
    assert legend_above(made, axes[0]) == 0


# --- differences


def test_the_base_of_a_difference_needs_no_place_and_is_not_chosen_away(runs: Dataset, tmp_path: Path) -> None:
    keys = 'kind = "difference"\nmetric = "goodput_bps"\nof = "long"\nx = "delay"\ncurves = "rate"\n'
    found = drawn(runs, tmp_path, keys)
    chosen = drawn(runs, tmp_path, keys + 'arm = "cubic"')
    assert found.numbers.equals(chosen.numbers)
    assert found.numbers.height == 6
    rows = records(runs).filter(flow="long").sort("replicate")
    for row in found.numbers.to_dicts():
        mine, theirs = (rows.filter(rate=row["rate"], delay=row["delay"], arm=arm)["goodput_bps"].to_numpy() for arm in ("cubic", "reno"))
        assert close(row["estimate"], stats.difference(mine, theirs).estimate)
    error = refused(tmp_path, keys + 'arm = "reno"')
    assert "there is nothing to hold against `reno`" in error.message
    along = 'kind = "difference"\nmetric = "goodput_bps"\nof = "long"\nalong = "delay"\nx = "arm"\ncurves = "rate"\n'
    assert drawn(runs, tmp_path, along + 'where = { delay = "40 ms" }').numbers.height == 4
    assert drawn(runs, tmp_path, along + 'panels = "delay"').numbers.height == 8
    # Two levels besides the base do need a place.
    assert 'where = { delay = "20 ms" }' in str(refused(tmp_path, along).hint)


# --- distributions


def test_a_distribution_rises_from_0_and_goes_on_at_1_to_the_end_of_the_axis() -> None:
    alike, other = (_of_runs(np.array(values), np.ones(4, dtype=np.bool_), "") for values in ([2.0] * 4, [3.0, 5.0, 5.0, 9.0]))
    late = _of_runs(np.array([1.0, 4.0, 6.0, 6.0]), np.array([True, True, False, False]), "")
    found = bands.draw([{"alike": alike, "other": other, "late": late}], ([""], [""]), ["alike", "other", "late"], ("x (s)", "share"))
    lines = {line.get_label(): np.asarray(line.get_xydata()) for line in found.axes[0].get_lines()}
    end = found.axes[0].get_xlim()[1]
    assert lines["alike"].tolist() == [[2.0, 0.0], [2.0, 1.0], [end, 1.0]]
    assert lines["other"][[0, 1, -1]].tolist() == [[3.0, 0.0], [3.0, 0.25], [end, 1.0]]
    # What did not end never comes to 1.
    assert lines["late"][[0, -1]].tolist() == [[1.0, 0.0], [6.0, 0.5]]


@pytest.mark.parametrize(("rate", "own"), [("1 Mbit/s", False), ("64 kbit/s", True)])
def test_rows_of_distributions_have_axes_of_their_own_where_one_would_hide_some(rate: str, own: bool, tmp_path: Path) -> None:
    text = STUDY.replace('"links.l.rate" = ["1 Mbit/s", "5 Mbit/s"]', f'"links.l.rate" = ["{rate}", "5 Mbit/s"]')
    found = drawn(
        made(tmp_path / "out", text),
        tmp_path,
        'kind = "cdf"\nmetric = "series.throughput_bps"\nof = "long"\ncurves = "arm"\npanels = "delay"\nrows = "rate"',
    )
    figure = found.picture()
    limits = [axis.get_xlim() for axis in figure.axes]
    assert len(set(limits[:3])) == len(set(limits[3:])) == 1 and (limits[0] != limits[3]) is own
    assert ("Each row has a horizontal axis of its own: their ranges" in found.note) is own
    # A study may say it: then that is how it is, and nothing about ranges.
    for axes in ("own", "common"):
        asked = drawn(
            made(tmp_path / "out", text),
            tmp_path,
            f'kind = "cdf"\nmetric = "series.throughput_bps"\nof = "long"\ncurves = "arm"\npanels = "delay"\nrows = "rate"\naxes = "{axes}"',
        )
        limits = [axis.get_xlim() for axis in asked.picture().axes]
        assert (limits[0] != limits[3]) is (axes == "own")
        assert ("Each row has a horizontal axis of its own." in asked.note) is (axes == "own") and "ranges" not in asked.note


# --- what was chosen


@pytest.mark.parametrize("kind", ["levels", "cdf", "heatmap", "box", "scatter", "plane"])
def test_a_caption_says_what_was_chosen(kind: str, runs: Dataset, tmp_path: Path) -> None:
    against = 'against = "srtt_mean_ns"\n' if kind in ("scatter", "plane") else ""
    keys = f'kind = "{kind}"\nmetric = "goodput_bps"\n{against}of = "long"\narm = "cubic"\n'
    found = drawn(runs, tmp_path, keys + 'where = { rate = "1 Mbit/s", delay = ["10 ms", "40 ms"] }\npanels = "delay"\n')
    assert found.note.endswith(" Shown: rate 1 Mbit/s; delay 10 ms, 40 ms; cubic; long.")
    assert "Shown" not in drawn(runs, tmp_path, 'metric = "total_goodput_bps"\nx = "delay"\npanels = "rate"').note


def test_a_caption_says_which_rows_count(runs: Dataset, tmp_path: Path) -> None:
    keys = 'kind = "scatter"\nmetric = "mean(series.srtt_ns)"\nagainst = "mean(series.throughput_bps)"\nwarm_up = "1 s"\n'
    found = drawn(runs, tmp_path, keys + 'where = { delay = "< 40 ms", srtt_ns = "> 20 ms" }')
    assert "without the first 1 s." in found.note
    assert found.note.endswith("Shown: delay 10 ms, 20 ms; srtt_ns > 20 ms.")


# --- parts of runs that are not there


def test_a_part_of_the_run_that_is_after_its_end_is_refused_when_planned(tmp_path: Path) -> None:
    keys = 'metric = "mean(series.throughput_bps)"\nof = "long"\nx = "delay"\npanels = "rate"\n'
    for part, key in (('warm_up = "40 s"', "40 s"), ('window = ["3 s", "5 s"]', "3 s")):
        error = refused(tmp_path, keys + part)
        assert error.message == f"nothing is left of a run: it ends at 3 s, and counts from {key}"
        assert error.place is not None
    with pytest.raises(StudyError, match="nothing is left of a run"):
        text = '[[findings]]\nclaim = "c"\nis = "above"\nthan = "1 Mbit/s"\nof = "long"\nmetric = "mean(series.throughput_bps)"\nwarm_up = "3 s"'
        make_plan(loaded(tmp_path, f"{STUDY}\n{text}\n"))


def test_conditions_that_leave_no_row_are_told(runs: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        drawn(runs, tmp_path, 'metric = "goodput_bps"\nof = "long"\nx = "delay"\npanels = "rate"\nwhere = { goodput_bps = "> 100 Gbit/s" }')
    assert caught.value.message == "no run has a row of `goodput_bps` that counts"
    assert caught.value.hint == "`where`, `window` and `warm_up` leave none"


def test_percentiles_are_in_per_cent(tmp_path: Path) -> None:
    error = refused(tmp_path, 'kind = "latency_under_load"\nmetric = "datagrams.delay_ns"\npercentiles = [0.5, 0.95]')
    assert error.message == "percentiles are in per cent: 50, 95"


# --- levels and items


def test_flows_of_a_block_stand_by_their_numbers() -> None:
    class _Items(Data):
        def __init__(self, items: list[str]) -> None:
            self.spec, self.factors, self.frame = FigureSpec("a", "levels"), [], pl.DataFrame({"item": items})

    assert _Items(["page[1]", "page[10]", "page[2]", "call"]).order("item") == ["page[1]", "page[2]", "page[10]", "call"]


def test_a_trend_along_one_level_says_so(runs: Dataset, tmp_path: Path) -> None:
    text = 'claim = "c"\nis = "rising"\nalong = "rate"\nof = "long"\narm = "reno"\nwhere = { delay = "10 ms" }\nmetric = "goodput_bps"'
    study = loaded(tmp_path, f"{STUDY}\n[[findings]]\n{text}\n")
    (spec,) = presentation(study).findings
    claimed = Answers(without(runs, rate="1 Mbit/s")).weighed(spec)
    assert claimed.why_none == "the runs have one level of `rate` only: 5 Mbit/s"


def loaded_plan(directory: Path, keys: str) -> None:
    """Plans the study with a figure of these keys."""
    make_plan(loaded(directory, f'{STUDY}\n[[figures]]\nname = "a"\n{keys}'))


TWO = """
repeat = 2
[vars]
window = "8 kB"
queue = "8 kB"
flows = 1
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "2 s"
tcp.window_limit = "window"
links.l = { rate = "4 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "queue" } }
flows = [{ path = ["l"], name = "f", count = "flows", start = "start * 1 ms" }]
[sweep]
"vars.flows" = [1, 4]
"vars.window" = ["4 kB", "64 kB"]
"vars.queue" = ["8 kB", "64 kB"]
[[figures]]
name = "share"
kind = "difference"
along = "flows"
to = "1"
form = "ratio"
metric = "goodput_bps"
x = "window"
curves = "arm"
panels = "queue"
"""


def test_of_two_levels_there_is_one_difference_and_panels_say_which_size_they_are_of(tmp_path: Path) -> None:
    plan = make_plan(Study.parse(TWO, Path("s.toml")))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    answers = Answers(dataset)
    drawn = answers.drawn(answers.shown.figures[0])
    assert drawn.numbers.height == 4
    assert "divided by `1`" in drawn.note
    # `64 kB` is a window and a queue.
    titles = [axes.get_title() for axes in drawn.figure.axes]
    assert titles == ["queue = 8 kB", "queue = 64 kB"]
    three = TWO.replace("[1, 4]", "[1, 2, 4]")
    with pytest.raises(StudyError, match="levels of `flows`"):
        make_plan(Study.parse(three, Path("s.toml")))


def test_a_forest_of_usual_claims_fits_a_phone_and_no_text_of_it_hides_another() -> None:
    def shown(cell: str, estimate: float) -> Evidence:
        interval = Interval(estimate, estimate - 0.3e6, estimate + 0.3e6, 9, "95% t interval")
        return Evidence(cell, lambda _: True, lambda _: False, "", interval, (0.0, np.inf), "bit/s")

    long = "A tenth of a bandwidth-delay product costs Reno a tenth of the link, whatever the delay and the number of flows beside it"
    cells = [shown(f"limit {at} packets, delay 100 ms, loss 0.001, cubic against reno", 1e6 * at) for at in range(6)]
    verdicts = [
        Verdict(long, "mixed", "", cells),
        Verdict("It is fast", "yes", "", [shown("", 2e6)]),
        Verdict("None", "no", "no run tells it", []),
    ]
    made_of = forest.forest(verdicts)
    assert made_of.get_figwidth() <= 4.1
    FigureCanvasAgg(made_of).draw()
    (axis,) = made_of.axes
    boxes = [text.get_window_extent() for text in axis.texts]
    # Lines touch; letters do not.
    boxes = [box.padded(0, -1) for box in boxes]
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    assert all(box.x0 >= 0 and box.x1 <= made_of.bbox.x1 for box in boxes)


def test_an_interval_has_nothing_that_cannot_be() -> None:
    frame = pl.DataFrame({"low": [0.999, 1.0, 0.98, 0.995]}).with_columns(high="low")
    assert estimates.of_frame(frame, "mean").interval.high > 1
    shown = estimates.of_frame(frame, "mean", (0.0, 1.0)).interval
    assert shown.high == 1
    assert shown.low == estimates.of_frame(frame, "mean").interval.low
    few = estimates.of_frame(frame.head(1), "mean", (0.0, 1.0)).interval
    assert (few.low, few.high) == (-np.inf, np.inf)


def test_an_arm_without_a_name_gives_the_axis_no_name(tmp_path: Path) -> None:
    alone = made(tmp_path / "alone", STUDY.partition("[sweep]")[0])
    figure = drawn(alone, tmp_path, 'of = "long"\nmetric = "goodput_bps"').picture()
    assert [axis.get_xlabel() for axis in figure.axes] == [""]


@pytest.mark.parametrize(("form", "how"), [("ratio", "ratio to reno"), ("difference", "difference to reno (Mbit/s)")])
def test_the_only_arm_that_is_held_against_another_is_named(runs: Dataset, tmp_path: Path, form: str, how: str) -> None:
    found = drawn(
        runs, tmp_path, f'kind = "difference"\nmetric = "goodput_bps"\nof = "long"\nx = "delay"\npanels = "rate"\nform = "{form}"'
    )
    assert found.picture().axes[0].get_ylabel() == f"goodput of cubic: {how}"
    assert f"pairs of runs, `cubic` {'divided by' if form == 'ratio' else 'less'} `reno`" in found.note
    named = drawn(
        runs,
        tmp_path,
        f'kind = "difference"\nmetric = "goodput_bps"\nof = "long"\nx = "arm"\npanels = "rate"\nrows = "delay"\nform = "{form}"',
    )
    assert named.picture().axes[0].get_ylabel() == f"goodput: {how}"
