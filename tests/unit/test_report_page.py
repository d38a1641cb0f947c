"""What a report is written as: the page, Markdown, PDF, tables, and what of it is for programs."""

from __future__ import annotations

import filecmp
import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib import image
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from typer.testing import CliRunner

import sawtooth
from sawtooth import _core
from sawtooth.backends import sim
from sawtooth.cli import app
from sawtooth.errors import DatasetError, StudyError
from sawtooth.plots.aside import Aside
from sawtooth.report import cells, origin, page, report, words
from sawtooth.report.document import FORMATS, Grid, Plot, Report, Section, Verdict
from tests.conftest import ROOT

STUDY = """
name = "answers"
question = "Which is `faster`?"
repeat = 3
[draws]
start = { distribution = "uniform", low = "0", high = "100" }
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "20 ms" }
flows = [{ path = ["l"], start = "start * 1 ms" }]
[arms]
zeta = { cc = "cubic" }
alpha = { cc = "reno" }
"""
SHOWN = """
[[figures]]
name = "rates"
metric = "goodput_bps"
x = "arm"
caption = "What `goodput` there is."
[[findings]]
claim = "The line is not full"
metric = "goodput_bps"
is = "below"
than = "10 Mbit/s"
"""
REFERENCE = """
[[references]]
name = "paper"
file = "paper.csv"
source = "Author, Title, 2003"
keys = { arm = "who" }
columns = { rate = { column = "mbps", unit = "Mbit/s" } }
"""


def write(directory: Path, text: str = STUDY + SHOWN, name: str = "s.toml") -> Path:
    (directory / name).write_text(text)
    return directory / name


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("page")
    return sawtooth.run(write(directory), directory / "out").directory


@pytest.fixture(scope="module")
def made(results: Path) -> Report:
    return report(sawtooth.Dataset.open(results))


def command(*words: str | Path) -> tuple[int, str, str]:
    """A command's exit code, what it prints, and what it says beside that."""
    code = "import sys\nfrom sawtooth import cli\nsys.argv[0] = 'sawtooth'\ncli.main()"
    ended = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, cwd=ROOT, check=False)
    return ended.returncode, ended.stdout, ended.stderr


# --- the page


def test_the_answer_comes_first_and_once_then_figures_tables_and_provenance(made: Report) -> None:
    html = made.html()
    # A figure says beside its letters, which are curves, what they are.
    html = re.sub(r"(?s)<!--.*?-->", "", html)
    assert html.count("The line is not full") == 1
    order = [html.index(part) for part in ("The line is not full", 'id="rates"', 'id="table-goodput"', 'id="provenance"', "Run it again")]
    assert order == sorted(order)
    assert "summary" not in re.sub(r"(?s)<style>.*?</style>", "", html)


def test_many_claims_are_told_in_a_few_sentences_before_they_are_listed(made: Report, tmp_path: Path) -> None:
    assert made.short == []  # one claim says it itself
    claims = "".join(
        f'[[findings]]\nclaim = "It carries more than {rate} Mbit/s"\nmetric = "goodput_bps"\nis = "above"\nthan = "{rate} Mbit/s"\n'
        for rate in range(1, 7)
    )
    many = report(sawtooth.run(write(tmp_path, 'caveats = ["It is short."]\n' + STUDY + SHOWN + claims), tmp_path / "out"))
    assert many.short[0].startswith("Of 7 claims together: ")
    for text in (many.html(), many.write(tmp_path / "r", ["md"]).read_text()):
        order = [text.index(part) for part in ("It is short.", many.short[0], "rates")]
        assert order == sorted(order)


def test_a_report_without_findings_says_its_summary_first(tmp_path: Path) -> None:
    made = report(sawtooth.run(write(tmp_path, STUDY), tmp_path / "out"))
    html = made.html()
    assert made.told == made.summary and all(line in html for line in made.summary)
    assert 0 < html.index('<ul class="summary">') < html.index("<h2")


def test_every_figure_is_an_image_whose_text_is_its_caption(made: Report) -> None:
    html = made.html()
    figures = re.findall(r"<svg [^>]*>", html)
    assert figures and all('role="img"' in each and 'aria-label="' in each for each in figures)
    assert any("What `goodput` there is." in each for each in figures)


def test_words_between_backticks_are_code_and_what_users_wrote_is_text(made: Report) -> None:
    text = re.sub(r'(?s)<style>.*?</style>|aria-label="[^"]*"|<title>.*?</title>|<script>.*?</script>', "", made.html())
    assert "<code>goodput</code>" in text and "`" not in text
    assert words.html("a `<b>` c") == "a <code>&lt;b&gt;</code> c"
    assert words.html("<b>`") == "&lt;b&gt;`"
    assert words.markdown("*a* `x|y` <b> | 1.5 [c](d)") == "\\*a\\* `x¦y` \\<b\\> \\| 1.5 \\[c\\](d)"
    assert words.markdown("1. one") == "1\\. one" and words.markdown("- one") == "\\- one" and words.markdown("1.5 Mbit/s") == "1.5 Mbit/s"


def test_numbers_and_quantities_stand_at_the_right_in_si_units_and_no_p_is_nought() -> None:
    frame = pl.DataFrame({
        "arm": ["a", "b"], "delay": ["5 ms", "10 ms"], "rtt_ns": [2e6, 4e6], "p": [1e-9, 0.25], "done": [True, False], "none": [None, float("nan")],
        "n": [30, 4], "large": [123456.0, 0.5],
    })  # fmt: skip
    found = {column.heading: column for column in cells.columns(Grid("g", frame, "c"))}
    assert [heading for heading, column in found.items() if column.right] == ["delay", "rtt (ms)", "p", "none", "n", "large"]
    assert [[cell.text for cell in column.cells] for column in found.values()] == [
        ["a", "b"], ["5 ms", "10 ms"], ["2", "4"], ["< 0.001", "0.25"], ["yes", "no"], ["", "-"], ["30", "4"], ["123,456", "0.5"],
    ]  # fmt: skip
    rows = str(page.rows(list(found.values())))
    assert "<td class=text>a</td>" in rows and "<td data-value=2000000.0>2</td>" in rows


def test_tables_have_arms_in_the_order_of_the_study(made: Report) -> None:
    assert next(grid for grid in made.grids if grid.name == "goodput").frame["arm"].to_list() == ["zeta", "alpha"]


def test_provenance_says_what_the_results_are_and_how_to_make_them_again(made: Report) -> None:
    found = origin.origin(made.dataset)
    assert {"results", "plan", "study file"} == found.hashes.keys() and all(value in made.html() for value in found.hashes.values())
    assert found.facts["seed"] == "1, of which 3 seeds of runs are made (`seed` in runs.parquet)"
    told = ["sawtooth", "run", "my study.toml", "--short"]
    assert origin.rerun({"command": told, "study_path": "s"}) == "sawtooth run 'my study.toml' --short"
    made_by_program = {"command": ["program.py"], "options": ["vars.N=2"], "study_path": "s.toml"}
    assert origin.rerun(made_by_program) == "sawtooth run s.toml --set vars.N=2"
    assert origin.rerun(made_by_program | {"short": True}) == "sawtooth run s.toml --short --set vars.N=2"


def test_the_hash_of_results_is_of_what_was_recorded_and_not_of_when(results: Path, tmp_path: Path) -> None:
    again = sawtooth.run(write(tmp_path), tmp_path / "out")
    other = sawtooth.run(write(tmp_path, STUDY.replace("20 ms", "21 ms")), tmp_path / "other")
    assert again.digest == sawtooth.Dataset.open(results).digest != other.digest


def test_a_page_stacks_verdicts_on_narrow_screens_and_cuts_nothing_in_print(made: Report) -> None:
    style_sheet = re.sub(r"\s+", " ", made.html())
    narrow = style_sheet[style_sheet.index("(max-width: 640px)") :]
    assert "dl.verdicts, dl.facts { display: block; }" in narrow
    printed = style_sheet[style_sheet.index("@media print") :]
    assert ".scroll { max-height: none; overflow: visible;" in printed and "table-header-group" in printed
    assert "@page across" in printed and "h1, h2 { break-after: avoid; }" in printed
    assert "prefers-color-scheme: dark" in style_sheet


def test_a_table_of_many_columns_is_printed_across(made: Report) -> None:
    wide = Grid("wide", pl.DataFrame({f"c{at}": [1.0] for at in range(page.MOST_COLUMNS + 1)}), "Wide.")
    found = Report(made.dataset, [Section("T", grids=[wide, *made.grids])], []).html()
    assert found.count('<div class="across"') == 1 and re.search(r'<div class="across" id="table-wide">', found)


def test_verdicts_of_many_cells_list_them(made: Report) -> None:
    evidence = [each for section in made.sections for verdict in section.verdicts for each in verdict.evidence]
    verdict = Verdict("Many", "yes", "n", evidence * 5)
    assert "<details><summary>all 10 cells" in Report(made.dataset, [Section("A", verdicts=[verdict])], []).html()


def test_verdicts_are_a_figure_unless_they_are_of_many_cells_or_the_study_draws_it(made: Report, tmp_path: Path) -> None:
    assert made.shown_plots[0].name == "forest-of-verdicts"
    html = made.html()
    assert html.index("The line is not full") < html.index('id="forest-of-verdicts"') < html.index('id="rates"')
    many = [Verdict("Many", "yes", "n", list(made.verdicts[0].evidence) * 30)]
    assert Report(made.dataset, [Section("A", verdicts=many)], []).forest is None
    own = write(tmp_path, STUDY + SHOWN + '[[figures]]\nname = "own"\nkind = "forest"\n')
    assert [plot.name for plot in report(sawtooth.run(own, tmp_path / "out")).shown_plots] == ["rates", "own"]


# --- formats


@pytest.mark.parametrize(
    ("formats", "files"),
    [
        ("html", {"report.html", "figures/rates.svg", "figures/rates.png", "figures/rates.csv", "tables/goodput.csv"}),
        ("md", {"report.md", "figures/rates.svg", "figures/rates.csv", "tables/goodput.csv"}),
        ("csv", {"tables/goodput.csv"}),
        ("svg", {"figures/rates.svg"}),
        ("pdf", {"report.pdf"}),
        ("csv,svg", {"tables/goodput.csv", "figures/rates.svg"}),
    ],
)
def test_a_format_writes_its_files_and_no_others(formats: str, files: set[str], made: Report, tmp_path: Path) -> None:
    first = made.write(tmp_path / "r", formats.split(","))
    found = {path.relative_to(tmp_path / "r").as_posix() for path in (tmp_path / "r").rglob("*") if path.is_file()}
    kept = {name for name in found if "rates" in name or "goodput" in name or name.startswith("report.")}
    assert kept == files
    assert first.name == next((name for name in sorted(files) if name.startswith("report.")), "r")


def test_markdown_has_the_answer_tables_and_links(made: Report, tmp_path: Path) -> None:
    text = made.write(tmp_path, ["md"]).read_text()
    assert text.startswith("# Which is `faster`?\n")
    assert "- **yes**: The line is not full (" in text
    assert "](figures/rates.svg)" in text and "([CSV](tables/goodput.csv))" in text
    assert re.search(r"\| arm \| .*\n\| :--- \| ---: ", text)
    assert all((tmp_path / name).is_file() for name in re.findall(r"\]\((\S+?)\)", text))


def test_a_pdf_is_the_same_each_time_and_has_a_page_for_each_figure(made: Report) -> None:
    from sawtooth.report import pdf

    first = pdf.document(made)
    assert first == pdf.document(made) and first.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", first)) >= 2 + len(made.shown_plots)


def test_a_format_that_there_is_not_is_named_before_anything_is_made(made: Report, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="a report cannot be written as `htm`") as raised:
        made.write(tmp_path / "r", ["htm"])
    assert raised.value.hint == "did you mean `html`?"
    assert not (tmp_path / "r").exists()


def test_each_figure_is_drawn_once_per_format_and_laid_out_for_all_of_them(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    for owner, name in ((FigureCanvasSVG, "print_svg"), (image, "imsave")):
        honest = getattr(owner, name)

        def drawn(*given: object, _honest: Any = honest, _name: str = name, **kept: object) -> object:
            counted[_name] += 1
            return _honest(*given, **kept)

        monkeypatch.setattr(owner, name, drawn)
    laid_out: Any = ConstrainedLayoutEngine.execute

    def execute(*given: object) -> object:
        counted["layout"] += 1
        return laid_out(*given)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", execute)
    made = report(sawtooth.Dataset.open(results))
    made.write(tmp_path, FORMATS)
    figures = len(made.shown_plots)
    # The forest has no layout to be found: it is placed by hand.
    assert counted == {"print_svg": figures, "imsave": figures, "layout": 2 * len(made.plots)}


def test_figures_that_are_drawn_aside_are_the_same_files(results: Path, tmp_path: Path) -> None:
    dataset = sawtooth.Dataset.open(results)
    with Aside() as aside:
        made = report(dataset, aside=aside)
        assert all(plot.begun is not None for plot in made.plots)
        made.write(tmp_path / "aside")
    report(dataset).write(tmp_path / "here")
    files = sorted(each.name for each in (tmp_path / "here/figures").iterdir())
    assert files and filecmp.cmpfiles(tmp_path / "here/figures", tmp_path / "aside/figures", files, shallow=False)[0] == files


def test_a_figure_that_another_process_cannot_have_is_drawn_here(made: Report) -> None:
    alone = made.plots[0]
    with Aside() as aside:
        begun = aside.begin(lambda: Figure())
        assert begun.exception(60) is not None
        assert replace(alone, begun=begun).svg == alone.svg


def test_tables_alone_load_nothing_that_draws(tmp_path: Path) -> None:
    results = sawtooth.run(write(tmp_path, STUDY + SHOWN[SHOWN.index("[[findings]]") :]), tmp_path / "out").directory
    code = (
        "import sys\nfrom sawtooth import cli\nsys.argv[0] = 'sawtooth'\ntry:\n    cli.main()\n"
        "except SystemExit as ended:\n    assert not ended.code\nassert not {'matplotlib', 'jinja2'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code, "report", str(results), "--format", "csv"], check=True, cwd=ROOT)
    assert (results / "report/tables/goodput.csv").is_file() and not (results / "report/figures").exists()


# --- the command


def test_json_tells_verdicts_with_their_numbers_figures_and_tables(results: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["report", str(results), "--json", "--format", "md", "--out", str(tmp_path)])
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    (verdict,) = told["verdicts"]
    assert (verdict["claim"], verdict["answer"]) == ("The line is not full", "yes")
    assert [each["cell"] for each in verdict["evidence"]] == ["zeta", "alpha"]
    interval = verdict["evidence"][0]["interval"]
    assert interval["low"] <= interval["estimate"] <= interval["high"] and interval["runs"] == 3
    assert "rates" in [each["name"] for each in told["figures"]]
    assert told["question"] == "Which is `faster`?" and told["tables"][0]["rows"] == 2 and told["runs"]["failed"] == 0


def test_an_empty_name_of_a_directory_is_refused(results: Path) -> None:
    code, _, said = command("report", results, "--out", "")
    assert (code, said) == (
        2,
        "error: `--out` is given nothing\nhint: write a value, or leave it out; is a variable of the shell not set?\n",
    )


def test_a_report_says_that_runs_failed_on_the_console_and_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sim.run_share

    def failing(
        scenarios: list[str], seeds: list[int], stop: _core.StopRequest, captures: list[_core.CaptureRequest]
    ) -> _core.Outcomes | None:
        return honest(["{}" if at == 1 else scenario for at, scenario in enumerate(scenarios)], seeds, stop, captures)

    monkeypatch.setattr(sim, "run_share", failing)
    out = sawtooth.run(write(tmp_path), tmp_path / "out", jobs=1).directory
    code, _, said = command("report", out)
    assert code == 0 and "note: 1 run of 6 failed and is left out; the first: a scenario needs a `duration`" in said
    assert "<strong>Runs failed.</strong> 1 run of 6 failed" in (out / "report/report.html").read_text()


# --- an edited study


def test_run_takes_over_what_a_study_shows_and_runs_nothing_again(tmp_path: Path) -> None:
    """Edits to figures and findings were ignored after a run."""
    study, out = write(tmp_path), tmp_path / "out"
    assert command("run", study, "--out", out)[0] == 0
    before = {path: path.read_bytes() for path in (out / "parts").iterdir()}
    write(tmp_path, STUDY + SHOWN.replace("The line is not full", "It is not").replace('"rates"', '"speeds"'))
    code, _, said = command("run", study, "--out", out)
    assert code == 0 and f"note: what {study} shows was edited, and is taken over" in said and "6 were there" in said
    assert before == {path: path.read_bytes() for path in (out / "parts").iterdir()}
    made = report(sawtooth.Dataset.open(out))
    assert [verdict.claim for verdict in made.verdicts] == ["It is not"] and made.plots[0].name == "speeds"
    assert "edited" not in command("run", study, "--out", out)[2]


def test_report_shows_what_another_version_of_the_study_asks_for_and_leaves_the_results(results: Path, tmp_path: Path) -> None:
    kept = {path.name: path.read_bytes() for path in results.iterdir() if path.is_file()}
    other = write(tmp_path, STUDY + SHOWN.replace("The line is not full", "It is not"))
    code, printed, _ = command("report", results, "--study", other, "--out", tmp_path / "r")
    assert code == 0 and "yes: It is not (" in printed
    assert kept == {path.name: path.read_bytes() for path in results.iterdir() if path.is_file()}
    assert [verdict.claim for verdict in report(sawtooth.Dataset.open(results)).verdicts] == ["The line is not full"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("20 ms", "30 ms", 'these are not the runs in DIR: `scenario.links.l.delay` was "20 ms"\n --> s.toml:9:41'),
        ("repeat = 3", "repeat = 4", "these are not the runs in DIR: `repeat` was 3\n --> s.toml:4:10"),
        ("repeat = 3\n", "", "these are not the runs in DIR: `repeat` was 3 and is not set"),
        ("repeat = 3", "repeat = 3\nseed = 2", "these are not the runs in DIR: `seed` was not set\n --> s.toml:5:1"),
    ],
)
def test_a_study_of_other_runs_is_refused_with_what_differs(old: str, new: str, message: str, results: Path, tmp_path: Path) -> None:
    from sawtooth.report.edited import shown_as

    other = write(tmp_path, STUDY.replace(old, new) + SHOWN)
    with pytest.raises(StudyError) as raised:
        shown_as(sawtooth.Dataset.open(results), other)
    told = str(raised.value).replace(str(results), "DIR").replace(f"{tmp_path}/", "")
    assert message in told
    assert f"run it into another directory: `sawtooth run {other} --out DIR`" in str(raised.value)


def test_a_short_form_is_recognised(tmp_path: Path) -> None:
    from sawtooth.report.edited import shown_as

    text = STUDY + "[short]\nrepeat = 2\n" + SHOWN
    dataset = sawtooth.run(write(tmp_path, text), tmp_path / "out", short=True)
    assert dataset.runs.height == 4
    other = write(tmp_path, text.replace("not full", "full"), "other.toml")
    assert [verdict.claim for verdict in report(shown_as(dataset, other)).verdicts] == ["The line is full"]


# --- references


def test_references_are_kept_with_the_results_and_stand_in_the_provenance(tmp_path: Path) -> None:
    csv = tmp_path / "paper.csv"
    csv.write_text("who,mbps\nzeta,9\nalpha,8\n")
    study, out = write(tmp_path, STUDY + REFERENCE + SHOWN), tmp_path / "out"
    dataset = sawtooth.run(study, out)
    entry = dataset.manifest["references"]["paper"]
    assert entry["text"] == csv.read_text() and (entry["file"], entry["source"]) == ("paper.csv", "Author, Title, 2003")
    csv.write_text("who,mbps\nzeta,7\nalpha,6\n")
    again = sawtooth.run(study, out)
    changed = again.manifest["references"]["paper"]
    assert again.edited and changed["text"] == csv.read_text() and changed["sha256"] != entry["sha256"]
    assert again.manifest["plan_hash"] == dataset.manifest["plan_hash"]
    csv.unlink()
    html = report(sawtooth.Dataset.open(out)).html()
    assert changed["sha256"] in html and "Author, Title, 2003" in html


def test_a_reference_whose_file_is_missing_stops_a_run_at_its_place(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY + REFERENCE + SHOWN)
    code, _, said = command("run", study, "--out", tmp_path / "out")
    line = 1 + next(at for at, text in enumerate(study.read_text().splitlines()) if text.startswith("file"))
    assert code == 2 and f"s.toml:{line}:8" in said and "paper.csv" in said and not (tmp_path / "out").exists()


def test_a_figure_that_the_other_process_has_not_begun_is_drawn_by_the_one_that_would_wait() -> None:
    waiting = Future[tuple[str, bytes]]()
    plot = Plot("one", Figure(), "", begun=waiting)
    assert plot.svg.startswith("<svg")
    assert plot.png.startswith(b"\x89PNG")
    assert waiting.cancelled()
    done = Future[tuple[str, bytes]]()
    done.set_result(("<svg of the other>", b"png of the other"))
    assert Plot("two", Figure(), "", begun=done).svg == "<svg of the other>"
