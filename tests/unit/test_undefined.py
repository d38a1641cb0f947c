"""What an expression has no value of says why, in how many runs, and what to do: reports, verdicts, `compare` and rules for replicates."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth.cli import main
from sawtooth.errors import DatasetError
from sawtooth.measures import Asked, Evaluator, measure, undefined
from sawtooth.report import generic
from sawtooth.report.compare import Question, compare
from sawtooth.results.dataset import Dataset

STUDY = """
repeat = 3
[scenario]
duration = "600 ms"
links.l = { rate = "5 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "2000 packets" } }
flows = [{ name = "f", path = ["l"] }]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""
SHORT = '[sweep]\n"links.l.queue.limit" = ["10 packets", "2000 packets"]\n'
ASKED = """
[[figures]]
name = "a"
metric = "goodput_bps / retransmits"
x = "arm"
[[findings]]
claim = "More for each"
metric = "goodput_bps / retransmits"
arm = "cubic"
is = "above"
than = { arm = "reno" }
"""
NONE, SOME = "division by zero in 6 of 6 runs (`retransmits` is 0)", "division by zero in 6 of 12 runs (`retransmits` is 0)"
ADVICE = "turn the ratio round, show its parts by themselves, or choose runs in which the divisor is above 0"


def made(folder: Path, text: str) -> Dataset:
    (folder / "s.toml").write_text(text)
    return sawtooth.run(folder / "s.toml", folder / "out")


@pytest.fixture(scope="module")
def none(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("none"), STUDY + ASKED)


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("some"), STUDY + SHORT + ASKED.replace('x = "arm"', 'x = "limit"'))


def test_the_report_and_the_verdict_name_the_division_by_zero_and_what_to_do(none: Dataset) -> None:
    (section, *_) = generic.build(none).sections
    assert section.paragraphs == [
        f"The figure a is not here: no run tells `goodput_bps / retransmits` of what was chosen: {NONE} ({ADVICE})."
    ]
    (verdict,) = section.verdicts
    assert verdict.answer == "cannot distinguish"
    assert verdict.numbers == f"no value of `goodput_bps / retransmits`: {NONE}; {ADVICE}"


def test_the_command_says_which_figures_are_not_in_the_report(
    none: Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sawtooth", "report", str(none.directory), "--format", "svg"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.splitlines() == [
        f"note: The figure a is not here: no run tells `goodput_bps / retransmits` of what was chosen: {NONE} ({ADVICE})."
    ]


def test_a_divisor_that_is_0_in_every_run_is_an_error_of_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.toml").write_text(f'{STUDY}[[figures]]\nname = "g"\nmetric = "goodput_bps / 0"\n')
    monkeypatch.setattr(sys, "argv", ["sawtooth", "plan", str(tmp_path / "s.toml")])
    with pytest.raises(SystemExit):
        main()
    assert (
        capsys.readouterr().err.strip()
        == f"""\
error: division by zero
  --> {tmp_path}/s.toml:12:25
   |
12 | metric = "goodput_bps / 0"
   |                         ^
hint: divide by what is above 0 in some run"""
    )


def test_runs_that_have_no_value_are_counted_beside_those_that_have(some: Dataset) -> None:
    (section, *_) = generic.build(some).sections
    assert f"Without a value: {SOME}." in section.plots[0].caption
    assert section.verdicts[0].numbers.endswith(f". No value of `goodput_bps / retransmits`: {SOME}")


def test_compare_names_it(none: Dataset, some: Dataset) -> None:
    with pytest.raises(DatasetError) as caught:
        compare(none.directory, [], Question(("goodput_bps / retransmits",)))
    assert caught.value.message == f"no run has a value of `goodput_bps / retransmits`: {NONE}"
    assert caught.value.hint == ADVICE
    (entry,) = compare(some.directory, [], Question(("goodput_bps / retransmits",))).unmatched
    assert entry.why == "no run of either side tells it: division by zero (`retransmits` is 0)"


def test_a_rule_for_replicates_that_cannot_be_met_says_so(tmp_path: Path) -> None:
    rule = 'repeat = { until = "5 %", of = "goodput_bps / retransmits", max = 8 }'
    for name, sweep, met in (("all", "", "0 of 1"), ("one", SHORT, "1 of 2")):
        (tmp_path / name).mkdir()
        dataset = made(tmp_path / name, STUDY.replace("repeat = 3", rule) + sweep)
        text = generic.build(dataset, drawn=False).sections[-1].paragraphs[0]
        assert f"It was met in {met} cells. 1 tells nothing of it: division by zero in 10 of 10 runs (`retransmits` is 0)." in text


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("retransmits / arms.reno.retransmits", "division by zero in 6 of 6 runs (`arms.reno.retransmits` is 0)"),
        ("mean(goodput_bps / (retransmits * retransmits))", "division by zero in 6 of 6 runs (`retransmits * retransmits` is 0)"),
        ("jain / links.dropped_packets", "division by zero in 6 of 6 runs (`links.dropped_packets` is 0)"),
        ("log10(retransmits)", "logarithm of what is not above 0 in 6 of 6 runs (`retransmits` is 0 or less)"),
        ("2 / log10(max(sent_packets) / max(sent_packets))", "division by zero in 6 of 6 runs (`log10(sent_packets / sent_packets)` is 0)"),
        ("completion_ns", ""),
        ("goodput_bps / sent_packets", ""),
    ],
)
def test_the_cause_is_found_wherever_it_stands_in_an_expression(none: Dataset, expression: str, said: str) -> None:
    evaluator, asked = Evaluator(none, {}), Asked(measure(expression))
    found = undefined.explained(evaluator, asked, evaluator.observe(asked))
    if "links" in expression:
        found = found.filter(pl.col("item") == "l forward")
    assert undefined.words(found) == said
