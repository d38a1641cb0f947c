"""What an explorer answers of results is what the report says of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import sawtooth
from sawtooth.results.dataset import Dataset

OF = {"of": "lab/results/queues"}


def figure(client: TestClient, **keys: Any) -> Any:
    return client.post("/api/results/figure", params=OF, json=keys)


def test_the_list_says_what_there_is(client: TestClient) -> None:
    found = client.get("/api/results").json()
    assert found["complete"]
    (entry,) = found["results"]
    assert entry["address"] == "lab/results/queues"
    assert (entry["planned"], entry["done"], entry["failed"]) == (24, 24, 0)


def test_verdicts_and_factors_are_those_of_the_report(client: TestClient) -> None:
    head = client.get("/api/results/head", params=OF).json()
    judged = client.get("/api/results/verdicts", params=OF).json()
    assert [verdict["answer"] for verdict in judged["verdicts"]] == ["yes"]
    # What the page writes at the axis of its intervals.
    assert {each["interval"]["of"] for each in judged["verdicts"][0]["evidence"]} == {"difference"}
    assert [level["level"] for level in head["factors"]["limit"]] == ["0.25 bdp", "1 bdp", "4 bdp"]
    assert head["arms"] == ["reno", "cubic"]


def test_points_are_those_of_the_same_figure_in_python_and_runs_are_all_there(client: TestClient, made: Path) -> None:
    found = figure(client, metric="goodput_bps", x="limit", curves="arm").json()
    numbers = sawtooth.Dataset(made / "results" / "queues").figure(metric="goodput_bps", x="limit", curves="arm").numbers
    assert numbers is not None
    (panel,) = found["panels"]
    assert found["y"]["unit"] == "Mbit/s"
    shown = [
        (curve["name"], point["estimate"], point["low"], point["high"], point["n"])
        for curve in panel["curves"]
        for point in curve["points"]
    ]
    wanted = numbers.select("arm", pl.col("estimate", "low", "high") / 1e6, "n").rows()
    assert [each[0] for each in shown] == [each[0] for each in wanted]
    for mine, theirs in zip(shown, wanted, strict=True):
        assert mine[1:] == pytest.approx(theirs[1:])
    for curve in panel["curves"]:
        assert sorted(curve["runs"]["at"]) == [0] * 4 + [1] * 4 + [2] * 4
        assert len(set(curve["runs"]["run"])) == 12


def test_what_would_be_pooled_is_refused_with_what_to_add(client: TestClient) -> None:
    answer = figure(client, metric="goodput_bps", x="arm", curves="item")
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "as if they were replicates" in error["message"]
    assert "limit" in error["hint"]


def test_a_measure_that_is_misspelt_is_told_without_a_place_in_a_text_that_nobody_wrote(client: TestClient) -> None:
    error = figure(client, metric="godput_bps", x="limit").json()["error"]
    assert "godput_bps" in error["message"]
    assert "goodput_bps" in error["hint"]
    assert error["place"] is None


def test_the_lines_that_it_gives_make_the_same_figure(client: TestClient, folder: Path) -> None:
    keys = {"metric": "srtt_mean_ns", "x": "limit", "curves": "arm", "where": {"limit": ["1 bdp", "4 bdp"]}, "statistic": "median"}
    lines = figure(client, **keys).json()["toml"]
    study = folder / "studies" / "queues.toml"
    study.write_text(f"{study.read_text()}\n{lines}")
    assert [each.rule.code for each in sawtooth.lint(study) if each.severity == "error"] == []
    assert 'x = "limit"' in lines


@pytest.mark.parametrize(("way", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b"arm,limit"), ("toml", b"\n[[figures]]")])
def test_figures_are_given_as_files(client: TestClient, way: str, begins: bytes) -> None:
    answer = client.get("/api/results/export", params={**OF, "as": way, "keys": '{"metric": "goodput_bps", "x": "limit", "curves": "arm"}'})
    assert answer.status_code == 200
    assert answer.content.lstrip().startswith(begins.lstrip())


@pytest.mark.parametrize("on", [{}, {"on": "page"}])
@pytest.mark.parametrize(("more", "name"), [({}, "figure"), ({"kind": "levels"}, "figure"), ({"name": "mine"}, "mine")])
def test_a_figure_without_a_name_is_called_as_the_pages_button_calls_it(
    client: TestClient, on: dict[str, str], more: dict[str, str], name: str
) -> None:
    keys = {"metric": "goodput_bps", "x": "limit", "curves": "arm", **more}
    for way in ("svg", "png", "csv", "toml"):
        answer = client.get("/api/results/export", params={**OF, "as": way, "keys": json.dumps(keys), **on})
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.{way}"'
    assert f'name = "{more.get("name", name)}"' in answer.text
    for way in ("svg", "png", "csv"):
        keys["metric"] = "godput_bps"
        answer = client.get("/api/results/export", params={**OF, "as": way, "keys": json.dumps(keys), **on})
        assert "<figure>" not in answer.text
        place = answer.json()["error"]["place"]
        if not on:
            # The lines that are given as a file are those in which the mistake stands.
            lines = client.get("/api/results/export", params={**OF, "as": "toml", "keys": json.dumps(keys)}).text.splitlines()
            assert place["name"] == f"{more.get('name', name)}.toml"
            assert lines[place["line"] - 1] == place["text"] == 'metric = "godput_bps"'


def test_rows_are_sorted_and_come_a_page_at_a_time(client: TestClient) -> None:
    asked = {**OF, "table": "flows", "by": "goodput_bps", "descending": "1", "limit": "5"}
    found = client.get("/api/results/table", params=asked).json()
    goodput = [row[found["columns"].index("goodput_bps")] for row in found["rows"]]
    assert len(goodput) == 5
    assert found["total"] == 24
    assert goodput == sorted(goodput, reverse=True)


@pytest.mark.parametrize("keys", ["", "[]", "{", '"x"'])
def test_keys_that_are_none_are_told(client: TestClient, keys: str) -> None:
    answer = client.get("/api/results/export", params={**OF, "as": "svg", "keys": keys})
    assert answer.status_code == 400
    assert "keys" in answer.json()["error"]["message"]


def test_a_seed_is_told_with_all_its_digits(client: TestClient, made: Path) -> None:
    """JavaScript has no whole numbers above 2^53, and a seed is there to be copied."""
    answer = client.get("/api/results/run", params={"of": "lab/results/queues", "run": "3"}).json()
    rows = client.get("/api/results/table", params={"of": "lab/results/queues", "table": "runs"}).json()
    seed = answer["run"]["seed"]
    assert seed == str(Dataset(made / "results/queues").runs["seed"][3]) and int(seed) > 2**53
    assert rows["rows"][3][rows["columns"].index("seed")] == seed


def test_of_some_runs_what_they_differ_by_comes_first_and_seeds_last(client: TestClient) -> None:
    found = client.get("/api/results/table", params={**OF, "table": "runs", "runs": "5,4,7"}).json()
    columns = found["columns"]
    assert columns[0] == "run" and columns[-1] == "seed" and [row[0] for row in found["rows"]] == [5, 4, 7]
    assert "limit" in columns and "limit_value" not in columns
    # All are of one cell.
    assert columns.index("replicate") < min(columns.index("limit"), columns.index("cell"))
    every = client.get("/api/results/table", params={**OF, "table": "runs"}).json()["columns"]
    assert {"limit", "limit_value"} <= set(every)


def test_tables_in_memory_give_what_files_give(made: Path) -> None:
    from sawtooth.report.answers import Answers
    from sawtooth.report.validity import validity
    from sawtooth.web.remembered import Remembered
    from sawtooth.web.workbench import laid_out

    path = made / "results" / "queues"
    stored, held = Dataset(path), Remembered(path)
    held.read_ahead()
    one, other = Answers(stored), Answers(held)
    for metric in ("goodput_bps", "srtt_mean_ns / min_rtt_ns", "links.utilisation", "p95(series.cwnd_bytes)"):
        keys = {"metric": metric, "x": "limit", "curves": "arm", **({"panels": "item"} if metric.startswith("links") else {})}
        assert laid_out(one, keys) == laid_out(other, keys)
    assert validity(held) == validity(stored)
    held.forget()
    assert laid_out(Answers(held), {"metric": "timeouts", "x": "limit", "curves": "arm"}) == laid_out(
        one, {"metric": "timeouts", "x": "limit", "curves": "arm"}
    )


DRAWN = """
name = "drawn"
repeat = 2

[vars]
gap = "10 ms"

[scenario]
duration = "100 ms"
links.l = { rate = "5 Mbit/s", delay = "1 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], start = "S + starts[1]" }]

[draws]
S = { distribution = "uniform", low = "0 s", high = "2 * gap" }
starts = { distribution = "uniform_integer", low = "0 ms", high = "5 ms", unit = "ms", count = 2 }
share = { distribution = "uniform", low = "0", high = "1" }

[sweep]
"links.l.delay" = ["1 ms", "0.002 s"]
"links.l.queue.limit" = ["10 packets", "20 kB"]
"""


def test_columns_that_a_study_names_have_their_units(tmp_path: Path, asked: Callable[..., TestClient]) -> None:
    (tmp_path / "drawn.toml").write_text(DRAWN)
    sawtooth.run(tmp_path / "drawn.toml", tmp_path / "drawn")
    with asked(tmp_path) as client:
        for table in ("runs", "flows"):
            found = client.get("/api/results/table", params={"of": f"{tmp_path.name}/drawn", "table": table}).json()
            units = dict(zip(found["columns"], found["units"], strict=True))
            assert units["delay_value"] == "s" and units["limit_value"] == "" and units["cell"] == ""
            if table == "runs":
                assert (units["draw_S"], units["draw_starts[1]"], units["draw_share"]) == ("s", "s", "")


def test_errors_name_files_as_pages_do(client: TestClient, made: Path) -> None:
    error = client.get("/api/results/head", params={"of": "lab/studies"}).json()["error"]
    assert error["message"] == "lab/studies is no results directory"
    assert str(made) not in str(error)
