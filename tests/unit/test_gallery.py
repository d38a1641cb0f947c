"""Several studies on one page, and their figures on one sheet."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from matplotlib import image
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import DatasetError, StudyError
from sawtooth.plots import sheet, style
from sawtooth.results.dataset import Dataset

STUDY = """
name = "{name}"
question = "Is {name} fast & fair?"
caveats = ["The link is assumed."]
repeat = 2

[draws]
start = { distribution = "uniform", low = "0", high = "100" }

[scenario]
duration = "1 s"
links.l = { rate = "2 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"], name = "f", start = "start * 1 ms" }]

[sweep]
"links.l.rate" = ["1 Mbit/s", "2 Mbit/s"]

[[figures]]
name = "goodput"
metric = "goodput_bps"

[[findings]]
claim = "It carries less than 20 Mbit/s"
metric = "goodput_bps"
of = "f"
is = "below"
than = "20 Mbit/s"
refuted_by = "A link that is ten times as fast."

[short]
"scenario.duration" = "500 ms"
"""


def studies(directory: Path, *names: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / f"{name}.toml").write_text(STUDY.replace("{name}", name))
    return directory


def gallery(*words: str | Path) -> dict[str, object]:
    ran = CliRunner().invoke(app, ["gallery", *map(str, words), "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_a_directory_of_studies_becomes_a_page_and_a_sheet(tmp_path: Path) -> None:
    found = gallery(studies(tmp_path / "s", "one", "two"), "--out", tmp_path / "g", "--short")
    assert [entry["name"] for entry in found["studies"]] == ["one", "two"]  # type: ignore[attr-defined]
    page = (tmp_path / "g/index.html").read_text()
    assert page.count("<svg") == 2
    assert page.count('class="yes">yes</dt>') == 2
    assert "Is one fast &amp; fair?" in page
    # What is to be known before the verdicts, and what would have refuted them, stand there, too.
    assert page.count("The link is assumed.") == 2
    assert page.count("Refuted by: A link that is ten times as fast.") == 2
    # The studies' own reports are where the page says.
    assert all((tmp_path / "g" / link).is_file() for link in re.findall(r'href="([^#"]*report\.html)"', page))
    # The sheet's drawing holds both figures' drawings.
    assert (tmp_path / "g/contact-sheet.svg").read_text().count("<svg") == 3
    assert image.imread(tmp_path / "g/contact-sheet.png").shape[1] == 16 * 130


def test_what_is_there_is_not_run_again_and_gives_the_same_sheet(tmp_path: Path) -> None:
    words = (studies(tmp_path / "s", "one"), "--out", tmp_path / "g")
    gallery(*words)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "g/one/parts").iterdir()}
    drawn = (tmp_path / "g/contact-sheet.svg").read_text()
    gallery(*words)
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "g/one/parts").iterdir()}
    assert (tmp_path / "g/contact-sheet.svg").read_text() == drawn


def test_results_that_are_there_stand_beside_studies(tmp_path: Path) -> None:
    gallery(studies(tmp_path / "s", "one"), "--out", tmp_path / "results")
    # `results` is a directory of results directories.
    found = gallery(tmp_path / "results", studies(tmp_path / "t", "two") / "two.toml", "--out", tmp_path / "g", "--title", "Both")
    assert [entry["directory"] for entry in found["studies"]] == [str(tmp_path / "results/one"), str(tmp_path / "g/two")]  # type: ignore[attr-defined]
    assert "<h1>Both</h1>" in (tmp_path / "g/index.html").read_text()
    assert Dataset.open(tmp_path / "g/two").complete


def test_a_mistake_in_the_last_study_is_found_before_the_first_is_run(tmp_path: Path) -> None:
    directory = studies(tmp_path / "s", "one", "two")
    (directory / "two.toml").write_text(STUDY.replace("{name}", "two").replace("goodput_bps", "godput_bps"))
    ran = CliRunner().invoke(app, ["gallery", str(directory), "--out", str(tmp_path / "g")])
    assert isinstance(ran.exception, StudyError)
    assert "two.toml:" in str(ran.exception)
    assert not (tmp_path / "g").exists()


def test_what_cannot_be_shown_is_said_with_what_to_do(tmp_path: Path) -> None:
    def error(*words: str | Path) -> str:
        ran = CliRunner().invoke(app, ["gallery", *map(str, words), "--out", str(tmp_path / "g")])
        assert isinstance(ran.exception, StudyError | DatasetError)
        return str(ran.exception)

    (tmp_path / "empty").mkdir()
    assert (
        error(tmp_path / "empty")
        == f"error: {tmp_path / 'empty'} holds neither study files nor results directories\nhint: name one that does"
    )
    twice = studies(tmp_path / "a", "one") / "one.toml"
    again = studies(tmp_path / "b", "one") / "one.toml"
    assert error(twice, again) == "error: two of these studies are called `one`\nhint: their results would go to one directory"
    assert error(twice, "--figure", "godput") == "error: no study has a figure `godput`\nhint: did you mean `goodput`?"


def test_rows_fill_the_width_and_keep_proportions_and_order() -> None:
    # Twelve figures of 5 x 3 inches on 15.3 of width: three in a row, each enlarged by (15.3 - 2 x 0.3) / 15 = 0.98.
    tiles = [sheet.Tile(str(at), "", style.figure(5.0, 3.0)[0]) for at in range(12)]
    placed = sheet.sheet("title", tiles).placed
    assert [each.figure for each in placed] == [tile.figure for tile in tiles]
    assert len({round(each.y, 6) for each in placed}) == 4
    for each in placed:
        assert each.width / each.height == pytest.approx(5 / 3)
        assert each.width == pytest.approx(4.9)
    assert max(each.x + each.width for each in placed) == pytest.approx(16 - 0.35)


def test_long_texts_are_broken_within_the_width_of_their_figure() -> None:
    remark = sheet.Remark("yes", "green", "a claim of very many words " * 10)
    tile = sheet.Tile("title", "a question of very many words " * 10, style.figure(5.0, 3.0)[0], [remark])
    made = sheet.sheet("sheet", [tile])
    (placed,) = made.placed
    assert max(line.x + style.extent(line.text, line.size, bold=line.bold) for line in made.lines) <= placed.x + placed.width + 0.01
    # What stands above the figure ends there, what stands below begins there.
    assert not [line for line in made.lines if placed.y < line.y < placed.y + placed.height]


def test_a_legend_that_is_wider_than_its_figure_takes_more_lines() -> None:
    made, axes = style.figure(4.5, 3.2)
    for name in ("drop-tail", "adaptive RED", "PIE", "CoDel", "FQ-CoDel"):
        axes[0].plot([0, 1], label=name)
    style.legend_above(made, axes[0])
    made.draw_without_rendering()
    box = made.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= made.bbox.width
