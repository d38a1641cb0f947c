"""Figures and findings that a study file names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sawtooth
from sawtooth import measures, scales, stats
from sawtooth.errors import DatasetError, StudyError
from sawtooth.execute import execute
from sawtooth.figures.spec import FigureSpec
from sawtooth.plan import make_plan
from sawtooth.plots import style
from sawtooth.questions import Choice
from sawtooth.report import answers, report
from sawtooth.report.document import Section
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
question = "Which is faster?"
repeat = 3

[draws]
start = { distribution = "uniform", low = "0", high = "100" }

[scenario]
duration = "5 s"
sample = "50 ms"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"], name = "f", start = "start * 1 ms" }]

[sweep]
"links.l.rate" = ["2 Mbit/s", "10 Mbit/s"]

[arms]
one = { cc = "reno" }
two = { cc = "cubic" }

"""


def loaded(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "s.toml"
    path.write_text(STUDY + text)
    return Study.load(path)


def ran(tmp_path: Path, text: str) -> Dataset:
    plan = make_plan(loaded(tmp_path, text))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    return dataset


def answered(dataset: Dataset) -> Section | None:
    return answers.section(answers.Answers(dataset))


def finding(text: str) -> str:
    return f'[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nof = "f"\n{text}\n'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('is = "below"\nthan = "20 Mbit/s"', "yes"),
        ('is = "above"\nthan = "20 Mbit/s"', "no"),
        # True at 10 Mbit/s, false at 2: a finding must hold in every cell.
        ('is = "above"\nthan = "4 Mbit/s"', "mixed"),
        ('is = "above"\nthan = "4 Mbit/s"\nwhere = { rate = "10 Mbit/s" }', "yes"),
        ('is = "above"\nthan = { where = { rate = "2 Mbit/s" }, times = 3 }\nwhere = { rate = "10 Mbit/s" }', "yes"),
        ('is = "above"\nthan = { where = { rate = "2 Mbit/s" }, times = 7 }\nwhere = { rate = "10 Mbit/s" }', "no"),
        ('is = "above"\narm = "two"\nthan = { arm = "one", times = 0.5 }', "yes"),
        ('is = "below"\narm = "two"\nthan = { arm = "one", times = 0.5 }', "no"),
    ],
)  # fmt: skip
def test_a_finding_is_answered_from_intervals_over_all_cells(text: str, answer: str, tmp_path: Path) -> None:
    arm = "" if "arm" in text else 'arm = "one"\n'
    section = answered(ran(tmp_path, finding(arm + text)))
    assert section is not None
    assert [verdict.answer for verdict in section.verdicts] == [answer]
    assert "Mbit/s" in section.verdicts[0].numbers


def test_without_an_arm_a_finding_speaks_of_each_arm_by_itself(tmp_path: Path) -> None:
    section = answered(ran(tmp_path, finding('where = { rate = "2 Mbit/s" }\nis = "below"\nthan = "20 Mbit/s"')))
    assert section is not None
    (verdict,) = section.verdicts
    assert verdict.answer == "yes"
    assert verdict.numbers.startswith("one: ")
    assert "; two: " in verdict.numbers


def test_one_replicate_decides_nothing(tmp_path: Path) -> None:
    text = STUDY.replace("repeat = 3", "repeat = 1") + finding('arm = "one"\nis = "below"\nthan = "20 Mbit/s"')
    (tmp_path / "s.toml").write_text(text)
    plan = make_plan(Study.load(tmp_path / "s.toml"))
    dataset = Dataset.create(tmp_path / "out", plan)
    execute(plan, dataset)
    section = answered(dataset)
    assert section is not None
    assert section.verdicts[0].answer == "cannot distinguish"
    assert "n = 1" in section.verdicts[0].numbers


def test_figures_of_each_kind_are_drawn_as_asked(tmp_path: Path) -> None:
    dataset = ran(
        tmp_path,
        """
[[figures]]
name = "rates"
metric = "goodput_bps"
x = "rate"
[[figures]]
name = "delays"
kind = "cdf"
metric = "srtt_ns"
panels = "rate"
[[figures]]
name = "windows"
kind = "time"
metric = "cwnd_bytes"
panels = "rate"
[[figures]]
name = "queue"
kind = "time"
metric = "queues.backlog_packets"
of = ["l forward"]
panels = "rate"
[[figures]]
name = "both"
kind = "plane"
metric = "goodput_bps"
against = "srtt_mean_ns"
panels = "rate"
x_label = "delay"
label = "got"
[[figures]]
name = "marks"
metric = "links.marked_packets"
panels = "item"
scale = "log"
[[figures]]
name = "both-marks"
kind = "plane"
metric = "links.marked_packets"
against = "links.utilisation"
scale = "log"
[[figures]]
name = "seconds"
kind = "time"
metric = "throughput_bps"
panels = "rate"
""",
    )
    made = report(dataset)
    plots = {plot.name: plot for plot in made.sections[0].plots}
    rates = plots["rates"].figure.axes[0]
    assert (rates.get_xlabel(), rates.get_ylabel()) == ("rate (Mbit/s)", "goodput (Mbit/s)")
    assert [tick.get_text() for tick in rates.get_xticklabels()] == ["2", "10"]
    assert [axis.get_title() for axis in plots["delays"].figure.axes] == ["rate = 2 Mbit/s", "rate = 10 Mbit/s"]
    assert plots["delays"].figure.axes[0].get_xlabel() == "srtt (ms)"
    assert len(plots["windows"].figure.axes) == 2
    both = plots["both"].figure.axes
    assert [axis.get_title() for axis in both] == ["rate = 2 Mbit/s", "rate = 10 Mbit/s"]
    assert (both[0].get_xlabel(), both[0].get_ylabel()) == ("delay (ms)", "got (Mbit/s)")
    # A point with both intervals for each arm, at what the figure of one measure shows of it.
    for axis, level in zip(both, (0, 1), strict=True):
        assert [container.lines[0].get_ydata() for container in axis.containers] == [
            container.lines[0].get_ydata()[level] for container in rates.containers
        ]
    # Five seconds, of which the first is not whole: the flow starts within it. The link carries 10 Mbit/s at most.
    curve = plots["seconds"].figure.axes[1].get_lines()[0]
    assert list(curve.get_xdata()) == [1, 2, 3, 4]
    assert all(0 < y <= 10 for y in curve.get_ydata())
    assert plots["seconds"].figure.axes[1].get_ylabel() == "rate = 10 Mbit/s\nthroughput (Mbit/s)"
    # Nothing was marked, and nothing is no point of a logarithmic axis.
    for name in ("marks", "both-marks"):
        assert plots[name].figure.axes[0].get_yscale() == "linear"
        assert plots[name].caption.endswith("Nothing is above 0: the scale is linear.")
    assert plots["queue"].figure.axes[0].get_ylabel() == "rate = 2 Mbit/s\nbacklog (packets)"
    page = made.write(tmp_path / "report")
    assert "Which is faster?" in page.read_text()
    assert {path.name for path in (tmp_path / "report/figures").glob("*.svg")} >= {f"{name}.svg" for name in plots}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[figures]]\nname = "a"\nmetric = "godput_bps"', "there is no measure `godput_bps`"),
        ('[[figures]]\nname = "a"\nmetric = "goodput_bps"\nx = "delay"', "`x` cannot be `delay`"),
        ('[[figures]]\nname = "a b"\nmetric = "goodput_bps"', "`a b` cannot name a file"),
        ('[[figures]]\nname = "a"\nkind = "cdf"\nmetric = "p95(goodput_bps)"', "this is one number per run"),
        ('[[figures]]\nname = "a"\nmetric = "goodput_bps"\ncolour = "red"', "unknown key `colour`"),
        ('[[figures]]\nname = "a"\nmetric = "goodput_bps"\nagainst = "srtt_mean_ns"', "a figure of kind `levels` has no `against`"),
        ('[[figures]]\nname = "a"\nkind = "plane"\nmetric = "goodput_bps"', "`figures[0]` lacks `against`"),
        ('[[figures]]\nname = "a"\nkind = "cdf"\nmetric = "srtt_ns"\nx_label = "b"', "a figure of kind `cdf` has no `x_label`"),
        ('[[figures]]\nname = "a"\nmetric = "goodput_bps"\n' * 2, "two figures are called `a`"),
        (
            '[[figures]]\nname = "a"\nmetric = "goodput_bps"\nx = "arm"\ncurves = "item"',
            "it would take 2 levels of `rate` (2 Mbit/s, 10 Mbit/s) together",
        ),
        (
            '[[figures]]\nname = "a"\nkind = "cdf"\nmetric = "goodput_bps"\ncurves = "arm"\nof = "f"',
            "it would take 2 levels of `rate` (2 Mbit/s, 10 Mbit/s) together as if they were replicates",
        ),
        (f'[[figures]]\nname = "{"n" * 300}"\nmetric = "goodput_bps"', f"`{'n' * 36}...` is too long to name a file"),
        ("figures = 3", "`figures` is a list of tables"),
        (finding('is = "below"\nthan = "20 ms"'), "`20 ms` is no rate, as `goodput_bps` is"),
        (finding('is = "under"\nthan = "20 Mbit/s"'), "`is` cannot be `under`"),
        (finding('than = "20 Mbit/s"'), "`findings[0]` lacks `is`"),
        (finding('is = "below"'), "a finding needs `than`"),
        (finding('is = "below"\nthan = { arm = "two" }'), "the finding compares with an arm and names none itself"),
        (finding('is = "below"\nthan = { arm = "three" }'), "there is no arm `three`"),
        (finding('is = "below"\narm = "one"\nthan = { arm = "one" }'), "both sides of the finding are the same"),
        (finding('is = "below"\nwhere = { rate = "3 Mbit/s" }\nthan = "1 Mbit/s"'), "`rate` has no level `3 Mbit/s`"),
        (finding('is = "below"\nwhere = { rat = "2 Mbit/s" }\nthan = "1 Mbit/s"'), "the sweep has no factor `rat`"),
        (finding('is = "below"\nthan = { arm = "two", times = -1 }'), "`times` must be a number above 0"),
    ],
)
def test_what_a_study_cannot_show_is_said_when_it_is_planned(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text + "\n" + STUDY if text.startswith("figures =") else STUDY + text)
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert message in caught.value.message
    assert caught.value.place is not None


def test_ratios_and_p_values_are_said_with_the_digits_they_need() -> None:
    def said(first: list[float], second: list[float]) -> str:
        return scales.ratio(stats.ratio_interval(stats.means_of_pairs(first, second)))

    assert said([0.0, 0.0], [0.0, 0.0]) == "second mean is 0: no ratio"
    assert said([1.0, 1.0], [0.0, 0.0]) == "second mean is 0: no ratio"
    assert said([99.0, 99.0], [100.0, 100.0]) == "ratio 0.99 (0.99 to 0.99, 95% Fieller interval)"
    assert said([99.0, 99.001], [100.0, 100.0]) == "ratio 0.99 (0.9899 to 0.9901, 95% Fieller interval)"
    assert said([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).startswith("ratio 0.667 (")
    assert [scales.p_value(p) for p in (1e-9, 0.0, 0.0006, 0.04)] == ["p < 0.001", "p < 0.001", "p = 0.001", "p = 0.040"]


def test_an_item_that_no_run_has_is_named_with_those_there_are(tmp_path: Path) -> None:
    found = answers.Answers(ran(tmp_path, ""))
    spec = FigureSpec("g", "levels", measure=measures.measure("goodput_bps"), choice=Choice(("f", "g")))
    with pytest.raises(DatasetError, match="no run has an item `g` of `goodput_bps`") as caught:
        found.plot(spec)
    assert "there is only f" in str(caught.value)


def test_flows_of_one_run_are_no_replicates(tmp_path: Path) -> None:
    text = STUDY.replace('name = "f",', 'name = "f", count = 2,')
    (tmp_path / "s.toml").write_text(text + '[[figures]]\nname = "a"\nmetric = "goodput_bps"\nx = "rate"\ncurves = "arm"\nflows = "each"\n')
    with pytest.raises(StudyError) as caught:
        make_plan(Study.load(tmp_path / "s.toml"))
    assert caught.value.message == "the figure `a` cannot be drawn: it would take 2 items (f[1], f[2]) together as if they were replicates"
    assert caught.value.place is not None


MANY = ["reno", "cubic", "bic", "vegas", "htcp", "westwood", "illinois", "scalable", "hybla", "highspeed"]
FIGURES = """
[[figures]]
name = "levels"
metric = "goodput_bps"
x = "rate"
curves = "arm"
[[figures]]
name = "distribution"
kind = "cdf"
metric = "srtt_ns"
curves = "arm"
panels = "rate"
scale = "log"
"""


def test_points_of_many_arms_stay_beside_their_level_and_distributions_say_how_many_runs(tmp_path: Path) -> None:
    arms = "".join(f'{name} = {{ cc = "{name}" }}\n' for name in MANY)
    (tmp_path / "s.toml").write_text(STUDY.partition("one =")[0] + arms + FIGURES)
    dataset = sawtooth.run(tmp_path / "s.toml", tmp_path / "out")
    section = answered(dataset)
    assert section is not None
    levels, distribution = (plot.figure for plot in section.plots[:2])
    axis = levels.axes[0]
    places = [np.asarray(container.lines[0].get_xdata(), dtype=float) for container in axis.containers]
    assert len(places) == len(MANY)
    # Each curve has a point at 0 and at 1, and none is nearer to another level than to its own.
    assert max(abs(x[at] - at) for x in places for at in (0, 1)) < 0.4
    assert len({round(float(x[0]), 6) for x in places}) == len(MANY)
    looks = {(handle.lines[0].get_color(), handle.lines[0].get_linestyle(), handle.lines[0].get_marker()) for handle in axis.containers}
    assert len(looks) == len(MANY)
    # A distribution says of each curve of how many runs it is, and has a band.
    assert [text.get_text() for text in distribution.legends[0].get_texts()] == [f"{name} (n = 3)" for name in MANY]
    for axis in distribution.axes:
        assert len(axis.collections) >= len(MANY)
        assert axis.get_xscale() == "log"
    with style.laid_out(distribution):
        written = [[text.get_text() for text in axis.get_xticklabels()] for axis in distribution.axes]
    assert all(len([text for text in texts if text]) >= 3 for texts in written)
