"""What a study calls things is text wherever it is shown: in figures, pages and tables, whatever letters it has."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import sawtooth
from sawtooth import called, trace
from sawtooth.backends.registry import BACKENDS
from sawtooth.errors import DatasetError
from sawtooth.plan import make_plan
from sawtooth.plots import style
from sawtooth.report import compare, compare_page, report
from sawtooth.report import gallery as page
from sawtooth.study import Study

NASTY = (
    "$x",
    "$x$",
    "_y",
    "<b>&amp;",
    "{{ 7919 * 7907 }}",
    "\\frac{1}{0}",
    "w" * 300,
    "Grüße 漢字 🦈",
    "two\nlines",
    "=1+1",
    '"quoted"',
    "%s %d",
    "]]>--",
)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def study_text() -> str:
    # Congestion controls by these names, so that arms differ.
    arms = "\n".join(f'{quoted(name)} = {{ "tcp.initial_window" = "{at + 1} packets" }}' for at, name in enumerate(NASTY[:6]))
    flows = "\n".join(f'[[scenario.flows]]\nname = {quoted(name)}\npath = ["l $1"]' for name in NASTY)
    figures = "\n".join(
        f"[[figures]]\nname = \"figure-{at}\"\ncaption = {quoted(' '.join(NASTY))}\nlabel = {quoted(NASTY[at % len(NASTY)])}\n{keys}"
        for at, keys in enumerate((
            'metric = "goodput_bps"\ncurves = "item"\npanels = "arm"\nx = "name"\nx_label = "$x$ _y"',
            'metric = "goodput_bps"\ncurves = "arm"\npanels = "item"\nx = "name"',
            'metric = "goodput_bps"\nx = "arm"\ncurves = "item"\npanels = "name"',
            'metric = "goodput_bps"\nx = "item"\nscale = "log"\npanels = "name"',
            'kind = "plane"\nmetric = "goodput_bps"\nagainst = "srtt_mean_ns"\npanels = "name"',
            'kind = "cdf"\nmetric = "srtt_ns"\ncurves = "item"\npanels = "arm"\nrows = "name"',
            'kind = "time"\nmetric = "cwnd_bytes"\ncurves = "item"\npanels = "arm"\nrows = "name"',
        ))
    )  # fmt: skip
    return f"""\
name = "nasty"
question = {quoted(" ".join(NASTY))}
repeat = 2
{figures}
[[findings]]
claim = {quoted(" ".join(NASTY))}
metric = "goodput_bps"
of = {quoted(NASTY[1])}
arm = {quoted(NASTY[0])}
is = "above"
than = {{ arm = {quoted(NASTY[2])} }}
[scenario]
duration = "0.3 s"
sample = "50 ms"
links."l $1" = {{ rate = "9 Mbit/s", delay = "5 ms" }}
{flows}
[sweep]
"flows[0].name" = ["$x", "_z$"]
[arms]
{arms}
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> sawtooth.Dataset:
    directory = tmp_path_factory.mktemp("nasty")
    path = directory / "nasty.toml"
    path.write_text(study_text(), encoding="utf-8")
    return sawtooth.run(path, directory / "out")


class Words(HTMLParser):
    """The text of a page, and its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.bold = 0

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(key.startswith("on") for key, _ in attrs)
        self.bold += tag == "b"


def words(html: str) -> Words:
    parser = Words()
    parser.feed(html)
    return parser


def test_a_page_shows_names_as_they_are_written(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    made = report(dataset)
    html = made.write(tmp_path / "report").read_text(encoding="utf-8")
    shown = words(html)
    text = "".join(shown.text)
    assert " ".join(NASTY) in text
    assert shown.bold == 0
    assert str(7919 * 7907) not in text
    drawn = {plot.name for section in made.sections for plot in section.plots}
    assert {f"figure-{at}" for at in range(7)} <= drawn
    for section in made.sections:
        for grid in section.grids:
            # A table read again is the same: nothing is put before what a spreadsheet would take for a formula.
            again = pl.read_csv(tmp_path / "report" / "tables" / f"{grid.name}.csv", infer_schema_length=0)
            assert again.height == grid.frame.height
            for column in again.columns:
                if grid.frame[column].dtype == pl.String:
                    assert again[column].to_list() == grid.frame[column].to_list()


def test_every_name_is_in_the_legends_of_a_report(dataset: sawtooth.Dataset) -> None:
    figures = {plot.name: plot.figure for section in report(dataset).sections for plot in section.plots}
    style.svg(figures["figure-6"])
    shown = [text.get_text() for legend in figures["figure-6"].legends for text in legend.get_texts()]
    for name in NASTY:
        if name != NASTY[0]:
            # What could be a level of another dimension says of which it is one, and is cut with that.
            assert any(style.plain(name, 60)[:40] in text for text in shown)


def test_a_comparison_of_arms_shows_names_as_they_are_written(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    asked = compare.Question((), 0.05)
    made = compare.compare(dataset.directory, [], asked)
    html = compare_page.page(made, dataset.directory, [], asked).write(tmp_path).read_text(encoding="utf-8")
    text = "".join(words(html).text)
    assert "$x" in text and "{{ 7919 * 7907 }}" in text


def test_a_trace_shows_names_as_they_are_written(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    plan = make_plan(Study.load(dataset.directory.parent / "nasty.toml"))
    run = trace.choose(plan, trace.Which(0, None, None, None))
    taken = trace.take(plan, run, BACKENDS["sim"].load())
    drawn = trace.figure(taken, called.title(plan, run), NASTY[1:], (), trace.span("0 s", None, run))
    style.write(drawn, tmp_path, "trace")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.png", "trace.svg"]


@pytest.mark.long
def test_a_gallery_shows_names_as_they_are_written(dataset: sawtooth.Dataset, tmp_path: Path) -> None:
    made = report(dataset)
    entry = page.Entry(made, made.write(tmp_path / "report"))
    html = page.Gallery(" ".join(NASTY), [entry], ()).write(tmp_path).read_text(encoding="utf-8")
    assert " ".join(NASTY) in "".join(words(html).text)


@pytest.mark.parametrize("name", [*NASTY, "", "_", "_nolegend_", "\x00\x07"], ids=ascii)
def test_a_figure_takes_any_text_for_any_of_its_names(name: str) -> None:
    made, axes = style.figure(4, 3, columns=2)
    for axis in axes:
        axis.plot([1, 10], [1, 1000], label=style.named(name))
        axis.set_yscale("log")
        axis.set_title(name)
        axis.set_xlabel(name)
        axis.set_ylabel(name)
        axis.set_xticks([1, 10], [name, "b"])
        axis.annotate(name, (1, 1))
    style.legend_above(made, axes[0])
    first = style.svg(made)
    assert [text.get_text() for legend in made.legends for text in legend.get_texts()] == [style.named(name)]
    # Numbers at ticks are matplotlib's own formulas.
    assert "mathdefault" in first or "10^" in first


def test_every_figure_labels_curves_by_the_one_function() -> None:
    """A name that is a variable goes through `named`: others would vanish."""
    for path in sorted(Path(style.__file__).parent.glob("*.py")):
        for label in re.findall(r"\blabels?=([^\n]*)", path.read_text(encoding="utf-8")):
            assert re.match(r'f?"|named\(|\[named\(|label,|.* if ', label), f"{path.name}: label={label}"


def test_a_figure_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = style.figure(2, 2)
    style.write(made, tmp_path, "a")
    before = (tmp_path / "a.svg").read_bytes(), (tmp_path / "a.png").read_bytes()

    def full(*_args: object, **_kept: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DatasetError, match="no space left"):
        style.write(made, tmp_path, "a")
    assert before == ((tmp_path / "a.svg").read_bytes(), (tmp_path / "a.png").read_bytes())
    assert len(list(tmp_path.iterdir())) == 2
