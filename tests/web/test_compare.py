"""Two results beside each other are what `sawtooth compare` says of them, and a figure of both has what each has by itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from tests.web.conftest import asking

BOTH = {"of": "lab/before", "beside": "lab/after"}
KEYS = {"metric": "goodput_bps", "x": "limit", "curves": "arm"}


@pytest.fixture
def client(sides: Path) -> Iterator[TestClient]:
    """Who may ask, of a folder with results that can be compared."""
    with asking(sides) as client:
        yield client


def figure(client: TestClient, path: str, of: dict[str, str], **keys: Any) -> Any:
    return client.post(path, params=of, json=keys)


def test_it_says_what_the_command_says(client: TestClient, sides: Path) -> None:
    found = client.get("/api/compare", params=BOTH).json()
    made = sawtooth.Dataset(sides / "before").compare(sides / "after")
    assert found["sides"] == ["before", "after"]
    assert found["verdicts"] == made.verdicts
    assert found["metrics"] == ["goodput_bps"]
    assert any("another text of the study" in note for note in found["notes"])
    assert {each["where"] for each in found["unmatched"]} == {"only before", "only after"}


@pytest.mark.parametrize(("where", "names"), [("..", "lab/before lab/after"), (".", "before after"), ("before", ". ../after")])
def test_its_command_can_be_typed_where_the_explorer_was_started(
    client: TestClient, sides: Path, monkeypatch: pytest.MonkeyPatch, where: str, names: str
) -> None:
    monkeypatch.chdir(sides / where)
    found = client.get("/api/compare", params=BOTH).json()
    assert found["command"] == f"sawtooth compare {names}"
    assert CliRunner().invoke(app, found["command"].split()[1:]).exit_code == 0


def test_rows_are_those_of_python_a_page_at_a_time(client: TestClient, sides: Path) -> None:
    found = client.get("/api/compare/rows", params={**BOTH, "by": "ratio", "limit": "2"}).json()
    numbers = sawtooth.Dataset(sides / "before").compare(sides / "after").numbers
    assert found["total"] == numbers.height == 4
    ratios = [row[found["columns"].index("ratio")] for row in found["rows"]]
    assert ratios == pytest.approx(numbers["ratio"].sort().to_list()[:2])
    # As people read them: in the unit behind the measure, and under the names of both.
    assert {row[found["columns"].index("metric")] for row in found["rows"]} == {"goodput_bps (Mbit/s)"}
    named = dict(zip(found["titles"], found["rows"][0], strict=True))
    least = numbers.sort("ratio").row(0, named=True)
    assert (named["before"], named["after"]) == pytest.approx((least["first"] / 1e6, least["second"] / 1e6))
    assert named["difference"] == pytest.approx(least["difference"] / 1e6)
    assert named["before, low"] == pytest.approx(least["first_low"] / 1e6)
    assert (named["n, before"], named["unfinished, after"]) == (least["n_first"], least["unfinished_second"])
    assert {"ratio, low", "ratio, high", "difference, low"} <= set(found["titles"]) and not any("_" in title for title in found["titles"])
    assert not any("first" in title or "second" in title for title in found["titles"])
    assert {"difference", "difference_low", "difference_high", "ratio_low", "ratio_high"} <= set(found["columns"])


def test_the_csv_file_is_the_commands(client: TestClient, sides: Path) -> None:
    content = client.get("/api/compare/csv", params=BOTH).content
    assert content == sawtooth.Dataset(sides / "before").compare(sides / "after").comparison.every_cell().write_csv().encode()


def test_what_is_asked_is_passed_on(client: TestClient, sides: Path) -> None:
    asked = {**BOTH, "metric": "srtt_mean_ns", "arm": "reno", "tolerance": "50 %"}
    found = client.get("/api/compare", params=asked).json()
    made = sawtooth.Dataset(sides / "before").compare(sides / "after", metric="srtt_mean_ns", arm="reno", tolerance="50 %")
    assert found["verdicts"] == made.verdicts
    assert found["summary"] == made.summary
    assert found["command"].endswith("--metric srtt_mean_ns --tolerance '50 %' --arm reno")


def test_a_figure_of_both_has_the_points_and_runs_of_each_in_curves_of_its_own(client: TestClient) -> None:
    both = figure(client, "/api/compare/figure", BOTH, **KEYS).json()
    assert both["curves"] == ["before: reno", "after: reno", "before: cubic", "after: cubic"]
    assert both["x"]["levels"] == ["0.25 bdp", "1 bdp", "4 bdp", "8 bdp"]
    (panel,) = both["panels"]
    curves = {curve["name"]: curve for curve in panel["curves"]}
    for side, name in enumerate(("before", "after")):
        alone = figure(client, "/api/results/figure", {"of": f"lab/{name}"}, **KEYS).json()
        assert alone["y"]["unit"] == both["y"]["unit"]
        for curve in alone["panels"][0]["curves"]:
            mine = curves[f"{name}: {curve['name']}"]
            assert mine["side"] == side
            assert [point for point in mine["points"] if point] == curve["points"]
            assert mine["runs"]["value"] == curve["runs"]["value"]
            assert [both["x"]["levels"][at] for at in mine["runs"]["at"]] == [alone["x"]["levels"][at] for at in curve["runs"]["at"]]
    # Neither has runs of what only the other was run with.
    assert curves["before: reno"]["points"][3] is None
    assert curves["after: reno"]["points"][2] is None


def test_nothing_of_one_is_pooled_in_a_figure_of_both(client: TestClient) -> None:
    answer = figure(client, "/api/compare/figure", BOTH, metric="goodput_bps", x="arm", curves="item")
    assert answer.status_code == 400
    assert "as if they were replicates" in answer.json()["error"]["message"]


def test_what_one_side_cannot_tell_says_which(client: TestClient) -> None:
    error = figure(client, "/api/compare/figure", BOTH, metric="goodput_bps", x="limit", curves="arm", where={"limit": "4 bdp"}).json()[
        "error"
    ]
    assert error["message"].startswith("after: ")


def test_figures_are_those_of_the_commands_page(client: TestClient) -> None:
    plots = client.get("/api/compare/plots", params=BOTH).json()["plots"]
    assert [plot["name"] for plot in plots] == ["goodput_bps_against", "goodput_bps_ratios"]
    drawn = client.get("/api/compare/plot", params={**BOTH, "name": plots[0]["name"]})
    assert drawn.content.lstrip().startswith(b"<svg")
    missing = client.get("/api/compare/plot", params={**BOTH, "name": "goodput_bps_again"})
    assert missing.status_code == 400


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"of": "lab/before", "beside": "lab/other"}, "lab/before holds results of `queues`, lab/other of `others`"),
        ({"of": "lab/before", "beside": "lab/before"}, "these are the same results twice"),
        ({"of": "lab/before"}, "the address has to say `beside`"),
        ({"of": "lab/before", "beside": "lab/elsewhere"}, "there is no `lab/elsewhere`"),
        ({**BOTH, "tolerance": "much"}, "`much` is no tolerance"),
        ({**BOTH, "metric": "godput_bps"}, "godput_bps"),
        ({**BOTH, "arm": "vegas"}, "has no arm `vegas`"),
        ({**BOTH, "flows": "all"}, "there is no way `all`"),
    ],
)
def test_mistakes_are_told_in_words(client: TestClient, asked: dict[str, str], said: str) -> None:
    answer = client.get("/api/compare", params=asked)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


@pytest.mark.parametrize(("way", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("toml", b"[[figures]]")])
def test_a_figure_of_both_is_a_file_too(client: TestClient, way: str, begins: bytes) -> None:
    answer = client.get("/api/compare/export", params={**BOTH, "keys": json.dumps({**KEYS, "panels": "arm", "curves": "item"}), "as": way})
    assert answer.status_code == 200, answer.text
    assert answer.content.startswith(begins)
    assert answer.headers["content-disposition"] == f'attachment; filename="figure-of-both.{way}"'


def test_the_numbers_of_a_figure_of_both_are_those_of_each_by_itself(client: TestClient) -> None:
    asked = {"keys": json.dumps(KEYS), "as": "csv"}
    both = pl.read_csv(client.get("/api/compare/export", params={**BOTH, **asked}).content)
    assert both["results"].unique(maintain_order=True).to_list() == ["before", "after"]
    for name in ("before", "after"):
        alone = pl.read_csv(client.get("/api/results/export", params={"of": f"lab/{name}", **asked}).content)
        assert both.filter(results=name).drop("results").select(alone.columns).rows() == alone.rows()


def test_each_figure_of_the_comparison_is_a_picture_of_either_kind(client: TestClient) -> None:
    name = client.get("/api/compare/plots", params=BOTH).json()["plots"][0]["name"]
    assert client.get("/api/compare/plot", params={**BOTH, "name": name, "as": "png"}).content.startswith(b"\x89PNG")
    assert client.get("/api/compare/plot", params={**BOTH, "name": name}).content.startswith(b"<svg")
    refused = client.get("/api/compare/plot", params={**BOTH, "name": name, "as": "exe"})
    assert "there are svg, png" in refused.text
