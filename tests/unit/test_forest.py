"""The forest of verdicts holds all of its text, whatever the intervals are, and shades where a claim holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

import sawtooth
from sawtooth.findings.verdict import Evidence
from sawtooth.plots import forest
from sawtooth.report.document import Verdict
from sawtooth.stats import Interval
from tests.conftest import ROOT

NOTHING = "of 4 of 10 runs that did not finish nothing is known: no upper bound, and none below"


def evidence(cell: str, estimate: float, low: float, high: float, kind: str = "95% t interval", unit: str = "bit/s") -> Evidence:
    return Evidence(cell, lambda _: True, lambda _: False, "", Interval(estimate, low, high, 4, kind), (0.0, math.inf), unit)


def drawn(cells: Sequence[Evidence]) -> Axes:
    made = forest.forest([Verdict("A claim", "cannot distinguish", "", cells)])
    FigureCanvasAgg(made).draw()
    return made.axes[0]


@pytest.mark.parametrize(
    "cells",
    [
        [evidence("", math.nan, -math.inf, math.inf, NOTHING)],
        [evidence("a " * 90, math.nan, -math.inf, math.inf, NOTHING.replace(" ", "_"))],
        [
            evidence("wide", -123456.7e6, -999999e6, 9999999e6),
            evidence("open", 1.0, -math.inf, math.inf),
            evidence("above", 5e6, 4e6, math.inf),
        ],
    ],
    ids=["long", "one word", "wide"],
)
def test_no_text_of_a_forest_is_cut(cells: Sequence[Evidence]) -> None:
    axis = drawn(cells)
    assert axis.figure is not None
    boxes = [text.get_window_extent() for text in axis.texts]
    assert all(box.x0 >= 0 and box.x1 <= axis.figure.bbox.x1 for box in boxes)
    # As wide as a phone can show in letters that can be read.
    assert axis.figure.bbox.width / axis.figure.dpi <= 4.6  # type: ignore[union-attr]
    letters = "".join(text.get_text().replace(" ", "") for text in axis.texts)
    assert all(not math.isnan(each.interval.estimate) or each.interval.kind.replace(" ", "") in letters for each in cells if each.interval)


def test_one_interval_that_is_far_wider_than_the_others_goes_on_beyond_the_scale() -> None:
    cells = [evidence(str(at), 1e6, 0.5e6, 1.5e6) for at in range(3)]
    wide = evidence("wide", 1e6, -1e9, 2e9)
    axis = drawn([*cells, wide])
    heads = [line.get_marker() for line in axis.lines if line.get_marker() in ("<", ">")]
    assert heads == ["<", ">"]
    # What the others show is still seen: the estimate is a good part of the scale away from the limit.
    places = [float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() == "s" or line.get_marker() == "o"]  # type: ignore[index]
    assert min(places) > 0.15
    told = "An arrow: the interval has no end there, or one beyond the scale; the numbers tell which."
    assert told in forest.said([Verdict("c", "yes", "", [*cells, wide])])
    assert told not in forest.said([Verdict("c", "yes", "", cells)])


def test_a_scale_says_what_it_is_of_and_in_which_unit() -> None:
    cells = [replace(evidence(name, 5e6, 4e6, 6e6), quantity="difference") for name in ("near", "far")]
    told = [text.get_text() for text in drawn(cells).texts]
    assert "difference (Mbit/s)" in told
    assert told[-1] == "each claim on a scale of its own; shaded: where it holds; line: its limit"
    # Of a value itself, which has no unit.
    assert "value" in [text.get_text() for text in drawn([evidence("", 0.5, 0.4, 0.6, unit="")]).texts]


STUDY = """\
name = "predicted"
repeat = 4
[draws]
S = { distribution = "uniform", low = "0 ms", high = "300 ms" }
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"], start = "S" }]
[sweep]
"links.l.delay" = ["5 ms", "20 ms"]
[[references]]
name = "paper"
file = "paper.csv"
"""


def test_where_a_prediction_holds_is_shaded(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text("delay_ms,goodput_bps\n5,7e6\n20,6e6\n")
    (tmp_path / "study.toml").write_text(STUDY)
    dataset = sawtooth.run(tmp_path / "study.toml", tmp_path / "out")
    found = dataset.finding(claim="c", metric="goodput_bps", is_="reproduced", reference="paper.goodput_bps", by="prediction")
    assert {each.quantity for each in found.evidence} == {"difference"}
    for each in found.evidence:
        assert each.interval is not None
        low, high = each.limits
        # Around 0, as far as runs like these would lie around their mean.
        assert low < 0 < high and low == pytest.approx(-high)
        # The claim is shown where what the mean is above the published value is within.
        assert each.shows(0.95) == (low <= each.interval.estimate <= high)
    assert {each.shows(0.95) for each in found.evidence} == {True, False}
    assert len(drawn(found.evidence).collections) == 2


def test_the_word_for_an_answer_has_one_colour_in_figures_and_on_pages() -> None:
    report, explorer = ((ROOT / path).read_text() for path in ("python/sawtooth/report/templates/style.css", "web/src/style.css"))
    for answer, (colour, _) in forest.ANSWERS.items():
        name = f"--{answer.split()[0]}"
        # White and paper; figures are drawn for these.
        assert report.count(f"{name}: {colour};") == 2
        assert f"{name}: light-dark({colour}, " in explorer
