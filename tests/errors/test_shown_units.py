"""The unit that a study asks to see numbers in."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.execute import execute
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
repeat = 2

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "1 ms" }
flows = [{ path = ["l"], start = "start * 10 ms" }]

[[figures]]
name = "goodput"
metric = "METRIC"
unit = "UNIT"

[[findings]]
claim = "c"
metric = "METRIC"
unit = "UNIT"
is = "above"
than = "THAN"
"""


def study(folder: Path, unit: str, metric: str = "goodput_bps", than: str = "200 kB/s") -> Study:
    (folder / "s.toml").write_text(STUDY.replace("UNIT", unit).replace("METRIC", metric).replace("THAN", than))
    return Study.load(folder / "s.toml")


def test_figures_and_verdicts_are_in_the_unit_that_is_asked_for(tmp_path: Path) -> None:
    plan = make_plan(study(tmp_path, "kB/s"))
    execute(plan, Dataset.create(tmp_path / "out", plan))
    answers = Answers(Dataset.open(tmp_path / "out"))
    (plot,) = answers.plots()[0]
    assert plot.figure.axes[0].get_ylabel().endswith("(kB/s)")
    drawn = plot.figure.axes[0].lines[0].get_ydata()
    assert plot.numbers is not None
    # Tables keep the unit of results.
    assert float(plot.numbers["estimate"][0]) / 8000 == pytest.approx(float(drawn[0]))
    assert plot.numbers["unit"][0] == "bit/s"
    (verdict,) = answers.verdicts()
    assert "from 200 kB/s it is" in verdict.numbers


@pytest.mark.parametrize(
    ("metric", "unit", "message", "hint"),
    [
        ("goodput_bps", "ms", "`ms` is no unit of a rate, as `goodput_bps` is", 'such as unit = "kB/s"'),
        ("goodput_bps", "2 kB/s", "`2 kB/s` is no unit of a rate, as `goodput_bps` is", 'such as unit = "kB/s"'),
        ("goodput_bps", "bps", "`bps` is no unit of a rate, as `goodput_bps` is", 'such as unit = "kB/s"'),
        ("srtt_mean_ns", "kB", "`kB` is no unit of a time, as `srtt_mean_ns` is", 'such as unit = "ms"'),
        ("retransmits / sent_packets", "s", "`s` is no unit of a plain number, as `retransmits / sent_packets` is", "leave it out"),
    ],
)
def test_what_is_no_unit_of_a_measure_is_refused(metric: str, unit: str, message: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as found:
        make_plan(study(tmp_path, unit, metric))
    assert (found.value.message, found.value.hint) == (message, hint)
    place = found.value.place
    assert place is not None
    assert place.text[place.column - 1 : place.end_column - 1] == f'"{unit}"'
