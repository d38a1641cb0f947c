"""Findings that what was published comes out again: what is shown is what decides, and it is said whether the published spread counts."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import sawtooth
from sawtooth import stats
from sawtooth.errors import StudyError
from sawtooth.plots import forest
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset

STUDY = """\
repeat = 4
[draws]
start = { distribution = "uniform", low = "0", high = "1" }
[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
[[scenario.flows]]
name = "f"
path = ["l"]
start = "start * 500 ms"
[sweep]
"links.l.rate" = RATES
"""
REFERENCES = """\
[[references]]
name = "paper"
file = "paper.csv"
[references.columns]
exact = { column = "thr", unit = "Mbit/s", digits = 1 }
sd = { column = "thr", unit = "Mbit/s", sd = "sd", n = "n" }
ci = { column = "thr", unit = "Mbit/s", ci = "ci" }
"""
TABLE = "rate_mbps,thr,sd,ci,n\n2,1.5,0.2,0.1,10\n4,2.9,,,\n"


def claim(column: str, by: str) -> str:
    margin = 'margin = "50 %"\n' if by == "margin" else ""
    return f'''[[findings]]
claim = "{column} {by}"
metric = "goodput_bps"
is = "reproduced"
reference = "paper.{column}"
by = "{by}"
{margin}'''


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("reproduced")
    (folder / "paper.csv").write_text(TABLE)
    claims = [claim(column, by) for column in ("exact", "sd", "ci") for by in ("digits", "margin", "prediction")]
    (folder / "s.toml").write_text(STUDY.replace("RATES", '["2 Mbit/s", "4 Mbit/s"]') + REFERENCES + "".join(claims))
    return sawtooth.run(folder / "s.toml", folder / "out")


@pytest.fixture(scope="module")
def verdicts(results: Dataset) -> dict[str, Verdict]:
    return {verdict.claim: verdict for verdict in Answers(results).verdicts()}


SAID = {
    "exact digits": "The digits of the mean decide, and no interval",
    "sd digits": "The digits of the mean decide, and no interval: the published `sd` and `n` do not count",
    "ci digits": "The digits of the mean decide, and no interval: the published `ci` does not count",
    "exact margin": "The published values are taken as exact: neither `sd` nor `ci` of them is told",
    "sd margin": "The published `sd` and `n` count in the interval of 1 of 2 values; of the others, which have none, nothing is decided",
    "ci margin": "The published `ci` counts in the interval of 1 of 2 values; of the others, which have none, nothing is decided",
    "exact prediction": "Each published value is taken for that of one run: no `n` is told",
    "sd prediction": "The published values are taken for means of so many runs as their `n` of 1 of 2 values, each of the others for that of one run; the published `sd` does not count",
    "ci prediction": "Each published value is taken for that of one run: no `n` is told, and the published `ci` does not count",
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_verdict_says_whether_the_published_spread_counts(name: str, verdicts: dict[str, Verdict]) -> None:
    assert verdicts[name].numbers.endswith(f". {SAID[name]}")


def ours(results: Dataset, rate: str) -> list[float]:
    return results.measure("goodput_bps").filter(rate=rate)["value"].to_list()


@pytest.mark.parametrize(
    ("column", "error", "freedom"), [("exact", 0.0, math.inf), ("sd", 0.2e6 / 10**0.5, 9.0), ("ci", 0.1e6 / 1.959964, math.inf)]
)
def test_the_interval_of_a_margin_is_that_which_decides(
    column: str, error: float, freedom: float, results: Dataset, verdicts: dict[str, Verdict]
) -> None:
    found = verdicts[f"{column} margin"].evidence[0]
    wanted = stats.difference_interval(stats.means_against(ours(results, "2 Mbit/s"), 1.5e6, error, freedom))
    assert found.interval is not None and found.limits == pytest.approx((-0.75e6, 0.75e6))
    assert (found.interval.estimate, found.interval.low, found.interval.high) == pytest.approx((wanted.estimate, wanted.low, wanted.high), rel=1e-6)  # fmt: skip
    assert f"difference {wanted.over(1e6).words('+.3g', 'Mbit/s')}" in found.words


@pytest.mark.parametrize("column", ["sd", "ci"])
def test_what_has_no_spread_while_others_have_is_not_decided(column: str, verdicts: dict[str, Verdict]) -> None:
    found = verdicts[f"{column} margin"]
    assert found.answer == "cannot distinguish" and found.evidence[1].interval is not None
    assert found.evidence[1].interval.kind == "no published spread: no interval"


@pytest.mark.parametrize(("column", "of", "said"), [("exact", 1, "one run"), ("sd", 10, "a mean of 10 runs")])
def test_what_is_predicted_is_of_as_many_runs_as_were_published(
    column: str, of: int, said: str, results: Dataset, verdicts: dict[str, Verdict]
) -> None:
    found = verdicts[f"{column} prediction"].evidence[0]
    predicted = stats.prediction_interval(ours(results, "2 Mbit/s"), of)
    assert found.interval is not None and found.interval.kind == f"95% prediction interval of {said}"
    assert found.limits == pytest.approx((predicted.estimate - predicted.high, predicted.estimate - predicted.low))
    assert found.interval.low == found.interval.high == pytest.approx(predicted.estimate - 1.5e6)
    # Whether it lies within the limits is the answer of the cell.
    assert found.shows(0.95) == (found.limits[0] <= found.interval.estimate <= found.limits[1])


def test_digits_have_no_level(tmp_path: Path) -> None:
    rates = range(2, 7)
    (tmp_path / "paper.csv").write_text("rate_mbps,thr,sd,ci,n\n" + "".join(f"{rate},{rate * 0.75:.1f},0.1,0.1,3\n" for rate in rates))
    text = STUDY.replace("RATES", str([f"{rate} Mbit/s" for rate in rates]).replace("'", '"'))
    (tmp_path / "s.toml").write_text(text + REFERENCES + claim("exact", "digits") + claim("exact", "margin"))
    digits, margin = Answers(sawtooth.run(tmp_path / "s.toml", tmp_path / "out")).verdicts()
    assert "of 5 cells show it" in digits.numbers and "95" not in digits.numbers
    assert "each by itself at 95 %" in margin.numbers
    intervals = [each.interval for each in digits.evidence]
    assert {interval.kind for interval in intervals if interval} == {"the digits of the mean decide, no interval"}
    assert "95" not in forest.said([digits])
    assert all(each["interval"]["method"] == "the digits of the mean decide, no interval" for each in digits.facts()["evidence"])


def test_a_share_of_nothing_is_no_margin(tmp_path: Path) -> None:
    (tmp_path / "paper.csv").write_text(TABLE.replace("4,2.9", "4,0"))
    (tmp_path / "s.toml").write_text(STUDY.replace("RATES", '["2 Mbit/s", "4 Mbit/s"]') + REFERENCES + claim("exact", "margin"))
    (verdict,) = Answers(sawtooth.run(tmp_path / "s.toml", tmp_path / "out")).verdicts()
    assert verdict.answer == "cannot distinguish" and "; a share of 0 is no margin" in verdict.numbers


def test_by_prediction_a_finding_may_say_of_how_many_runs_a_published_value_is(results: Dataset) -> None:
    said = results.finding(claim="c", metric="goodput_bps", is_="reproduced", reference="paper.exact", by="prediction", n=30)
    found = said.evidence[0]
    predicted = stats.prediction_interval(ours(results, "2 Mbit/s"), 30)
    assert found.interval is not None and found.interval.kind == "95% prediction interval of a mean of 30 runs"
    assert found.limits == pytest.approx((predicted.estimate - predicted.high, predicted.estimate - predicted.low))
    assert "Each published value is taken for the mean of 30 runs" in said.numbers


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({"by": "digits", "n": 30}, '`by = "digits"` has no `n`', 'by = "prediction" has one'),
        ({"by": "prediction", "n": 0}, "`n` is a whole number of runs from 1", "such as n = 30"),
        ({"by": "prediction", "n": 3, "reference": "paper.sd"}, "`paper.sd` tells its `n` already", "leave it out"),
    ],
)
def test_a_number_of_runs_that_is_none_or_not_wanted_is_refused(results: Dataset, keys: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(StudyError) as caught:
        results.finding(**{"claim": "c", "metric": "goodput_bps", "is_": "reproduced", "reference": "paper.exact", **keys})
    assert (caught.value.message, caught.value.hint) == (message, hint)
